//! `operon bundle validate --select-optional name=multiarch`: promises, and what registries say of images.

use operon_docker_registry::has;

use super::{dock::Dock, mirroring::two_platforms};

const SERVICE_VERSION: &str = "kiosk/manifests/kiosk.clusterserviceversion.yaml";

#[test]
fn promises_are_compared_with_what_registries_have() {
    if !has(&["docker-registry", "skopeo"]) {
        return;
    }
    let dock = Dock::new();
    let registry = dock.registry("registry");
    let index = two_platforms(&dock, &registry, "shop/kiosk");
    let program = format!("{}/shop/kiosk", registry.host);
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    let original = dock.read(SERVICE_VERSION);
    let validate = |main: &str, more: &[&str]| {
        let labels = "labels: {operatorframework.io/arch.arm64: supported, operatorframework.io/arch.amd64: supported}";
        let changed = original
            .replace("metadata:\n  name: kiosk", &format!("metadata:\n  {labels}\n  name: kiosk"))
            .replace("registry.example.com/kiosk:1.0.0", main);
        assert!(changed.contains(labels) && changed.contains(main), "{changed}");
        dock.write(SERVICE_VERSION, changed);
        let arguments = ["bundle", "validate", "kiosk", "--select-optional", "name=multiarch"];
        dock.operon(&[&arguments[..], more].concat())
    };

    // An index says what it is for: no configuration is fetched.
    let whole = validate(&format!("{program}@{index}"), &[]).done();
    assert!(!whole.contains("multiarch-platform") && !whole.contains("multiarch-image"), "{whole}");
    let asked = registry.requests();
    let wanted = format!("GET /v2/shop/kiosk/manifests/{index}");
    assert_eq!(asked.iter().filter(|request| **request == wanted).count(), 1, "{asked:?}");

    // An image alone is known by its configuration.
    let told = validate(&format!("{program}:arm64"), &[]).refused();
    assert!(told.contains("multiarch-platform-missing"), "{told}");
    assert!(
        told.contains(&format!(
            "the image `{program}:arm64` is not made for `linux/amd64`, which the bundle promises"
        )),
        "{told}"
    );
    assert!(told.contains("it is made for `linux/arm64`"), "{told}");

    // What cannot be looked at is said, and everything else goes on.
    let told = validate(&format!("{program}:absent"), &[]).done();
    assert!(told.contains("warning[multiarch-image-unknown]"), "{told}");
    assert!(told.contains(&format!("`{}` has no `{program}:absent`", registry.host)), "{told}");
    let told = validate(&format!("{program}@{index}"), &["--offline"]).done();
    assert!(told.contains("multiarch-image-unknown"), "{told}");
}
