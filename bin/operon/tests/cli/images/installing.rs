//! Operators are installed and updated from images, also from a registry that wants to know who asks.

use super::quay::{NAMESPACE, Quay, Setup, TIDE_1_1, bundle_name, catalog, source, subscription};

/// A catalog image that is looked at again every second.
fn polled(host: &str) -> String {
    let spec = format!(
        "{{sourceType: grpc, image: '{host}/catalog:latest', updateStrategy: {{registryPoll: {{interval: 1s}}}}}}"
    );
    NAMESPACE.to_owned() + &source("chandler", &spec) + &subscription("beacon", "chandler")
}

#[test]
fn operators_are_installed_from_images_and_updated_when_the_tag_moves() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    quay.write("up/cluster.yaml", &polled(&registry.host));
    let up = quay.up();
    assert!(up.ends_with("2 running\n[exit code 0]"), "{up}");
    let status = quay.get("catsrc", "chandler");
    for part in [
        "lastObservedState: READY",
        &format!("address: {}/catalog:latest", registry.host),
        "latestImageRegistryPoll: ",
    ] {
        assert!(status.contains(part), "`{part}`: {status}");
    }
    let plan = quay.operon(&["get", "--dir", "up", "ip", "-n", "harbour", "-o", "yaml"]);
    assert!(plan.contains(&format!("{}/tide:v1.0.0", registry.host)), "{plan}");

    // The same tag stands for another catalog now: it is noticed while nobody does anything.
    let following = quay.begin("follow", &["up", "--follow", "up"]);
    following.wait_for("settled", 1);
    quay.bundle_image("tide.v1.1.0");
    quay.push("tide.v1.1.0", &registry, &bundle_name("tide.v1.1.0"));
    quay.catalog_image("second", &catalog(&registry.host, &TIDE_1_1, &[]));
    quay.push("second", &registry, "catalog:latest");
    following.wait_for("operator  tide          1.1.0            Succeeded", 1);
    assert_eq!(following.interrupt(), 0);
}

#[test]
fn a_pull_secret_is_needed_and_used() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup { tls: true, login: Some(("keeper", "lantern")) });
    let host = &registry.host;
    let up = || quay.operon(&["up", "--once", "up", "--ca-file", "ca.crt"]);
    let spec = format!("{{sourceType: grpc, image: '{host}/catalog:latest', secrets: [keys]}}");
    let manifests =
        NAMESPACE.to_owned() + &source("chandler", &spec) + &subscription("beacon", "chandler");

    // Without the Secret, with one that opens nothing, and without trust in the registry's certificate.
    quay.write("up/cluster.yaml", &manifests);
    let refused = format!("`{host}` refuses access to `{host}/catalog:latest`");
    let told = up();
    assert!(told.contains(&refused) && told.ends_with("[exit code 1]"), "{told}");
    // keeper:hairpin
    quay.write("up/secret.yaml", &secret(host, "a2VlcGVyOmhhaXJwaW4="));
    let told = up();
    assert!(told.contains(&refused) && !told.contains("hairpin"), "{told}");
    let told = quay.up();
    assert!(told.contains("shows a certificate that is not trusted"), "{told}");

    // keeper:lantern
    quay.write("up/secret.yaml", &secret(host, "a2VlcGVyOmxhbnRlcm4="));
    let told = up();
    assert!(told.ends_with("2 running\n[exit code 0]"), "{told}");
}

/// A pull secret with a user and a password, as base64.
fn secret(host: &str, login: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: keys, namespace: harbour}}\n\
         type: kubernetes.io/dockerconfigjson\nstringData:\n  \
         .dockerconfigjson: '{{\"auths\": {{\"{host}\": {{\"auth\": \"{login}\"}}}}}}'\n"
    )
}
