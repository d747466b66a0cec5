//! A registry that is gone, and a bundle that was never pushed: what is there is used, what is missing is named.

use super::quay::{
    NAMESPACE, Quay, Registry, Setup, TIDE_1_0, bundle, bundle_name, catalog, package, source,
    subscription,
};

fn manifests(registry: &Registry) -> String {
    let spec = format!("{{sourceType: grpc, image: '{}/catalog:latest'}}", registry.host);
    NAMESPACE.to_owned() + &source("chandler", &spec) + &subscription("beacon", "chandler")
}

#[test]
fn without_the_registry_the_last_good_content_is_used_and_its_age_is_told() {
    let Some(quay) = Quay::new() else { return };
    let mut registry = quay.stocked(Setup::default());
    quay.write("up/cluster.yaml", &manifests(&registry));
    let up = quay.up();
    assert!(up.ends_with("2 running\n[exit code 0]"), "{up}");

    // Another cluster that shares nothing but the cache.
    registry.stop();
    std::fs::rename(quay.path("up"), quay.path("up-before")).expect("moved");
    quay.write("up/cluster.yaml", &manifests(&registry));
    let up = quay.up();
    assert!(up.ends_with("[exit code 0]") && up.contains("2 running"), "{up}");
    let stale = format!("`{}/catalog:latest` as of ", registry.host);
    assert!(up.contains(&stale) || up.contains(&stale.replace('`', "")), "{up}");
    let status = quay.get("catsrc", "chandler");
    for part in
        ["lastObservedState: TRANSIENT_FAILURE", " as of 20", "what was read before is used"]
    {
        assert!(status.contains(part), "`{part}`: {status}");
    }
    let offline =
        quay.operon(&["catalog", "list", "packages", "--offline", &catalog_of(&registry)]);
    assert!(offline.contains("tide") && offline.contains("[exit code 0]"), "{offline}");

    // It comes back, and nobody has to do anything.
    let following = quay.begin("follow", &["up", "--follow", "up"]);
    following.wait_for("catalog   chandler      broken", 1);
    registry.start_again();
    following.wait_for("catalog   chandler      ready", 1);
    let status = quay.get("catsrc", "chandler");
    assert!(status.contains("lastObservedState: READY") && !status.contains("message"), "{status}");
}

fn catalog_of(registry: &Registry) -> String {
    format!("{}/catalog:latest", registry.host)
}

#[test]
fn a_bundle_that_is_missing_is_named_and_comes_by_itself_when_it_is_pushed() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    let host = &registry.host;
    let foghorn =
        [package("foghorn", &["foghorn.v0.9.0"]), bundle(host, "foghorn.v0.9.0", None, "Foghorn")];
    quay.catalog_image("second", &catalog(host, &TIDE_1_0, &foghorn));
    quay.push("second", &registry, "catalog:latest");
    quay.write("up/cluster.yaml", &(manifests(&registry) + &subscription("foghorn", "chandler")));

    // The rest is installed; the image and the registry's answer are told.
    let up = quay.up();
    assert!(up.contains("operator  tide          1.0.0            Succeeded"), "{up}");
    assert!(up.contains("operator  beacon        1.0.0            Succeeded"), "{up}");
    let missing = format!("`{host}` has no `{host}/foghorn:v0.9.0`: ");
    assert!(up.contains(&missing) && up.ends_with("[exit code 1]"), "{up}");
    let status = quay.get("sub", "foghorn");
    for part in ["type: BundleUnpackFailed", &missing] {
        assert!(status.contains(part), "`{part}`: {status}");
    }

    let following = quay.begin("follow", &["up", "--follow", "up"]);
    following.wait_for(&missing, 1);
    quay.bundle_image("foghorn.v0.9.0");
    quay.push("foghorn.v0.9.0", &registry, &bundle_name("foghorn.v0.9.0"));
    following.wait_for("operator  foghorn       0.9.0            Succeeded", 1);
    let status = quay.get("sub", "foghorn");
    assert!(!status.contains("BundleUnpackFailed"), "{status}");
}
