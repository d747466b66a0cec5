//! Catalogs from a registry server and from a ConfigMap: other kinds of CatalogSources, the same job.

use std::fs;

use super::quay::{NAMESPACE, Quay, Setup, TIDE_1_0, catalog, quickstart, source, subscription};
use crate::harbour::Following;

/// Where a server that was just begun listens.
fn address(serving: &Following) -> String {
    serving.wait_for("\n", 1);
    let log = serving.log();
    let (_, rest) = log.split_once("listening at ").unwrap_or_default();
    rest.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_server_is_asked_for_its_catalog_and_may_come_later() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    let image = format!("{}/catalog:latest", registry.host);
    let serving = quay.begin("serve", &["serve", &image, "--address", "127.0.0.1:0"]);
    let server = address(&serving);
    serving.wait_for("serving 2 packages", 1);
    let spec = format!("{{sourceType: grpc, address: '{server}'}}");
    let manifests =
        NAMESPACE.to_owned() + &source("chandler", &spec) + &subscription("beacon", "chandler");
    quay.write("up/cluster.yaml", &manifests);
    let up = quay.up();
    assert!(up.ends_with("2 running\n[exit code 0]"), "{up}");
    let status = quay.get("catsrc", "chandler");
    assert!(status.contains("lastObservedState: READY") && status.contains(&server), "{status}");

    // While it is gone a new cluster can do nothing; it says so, and goes on when the server is back.
    assert_eq!(serving.interrupt(), 0);
    fs::rename(quay.path("up"), quay.path("up-before")).expect("moved");
    quay.write("up/cluster.yaml", &manifests);
    let following = quay.begin("follow", &["up", "--follow", "up"]);
    following.wait_for("catalog   chandler      broken", 1);
    let status = quay.get("catsrc", "chandler");
    assert!(status.contains("TRANSIENT_FAILURE") && status.contains(&server), "{status}");
    let _serving = quay.begin("again", &["serve", &image, "--address", &server]);
    following.wait_for("operator  beacon        1.0.0            Succeeded", 1);
    assert_eq!(following.interrupt(), 0);
}

#[test]
fn a_server_that_comes_a_little_late_is_waited_for_once_and_one_that_never_comes_is_given_up() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    let image = format!("{}/catalog:latest", registry.host);
    let serving = quay.begin("serve", &["serve", &image, "--address", "127.0.0.1:0"]);
    let server = address(&serving);
    serving.wait_for("serving 2 packages", 1);
    assert_eq!(serving.interrupt(), 0);
    let spec = format!("{{sourceType: grpc, address: '{server}'}}");
    let manifests =
        NAMESPACE.to_owned() + &source("chandler", &spec) + &subscription("beacon", "chandler");
    quay.write("up/cluster.yaml", &manifests);

    let mut once = quay.begin("once", &["up", "--once", "up"]);
    once.wait_for(&format!("waiting for catalog chandler: cannot connect to `{server}`"), 1);
    let _serving = quay.begin("again", &["serve", &image, "--address", &server]);
    once.wait_for("2 running\n", 1);
    assert_eq!(once.child.wait().expect("it ends").code(), Some(0), "{}", once.log());
    assert_eq!(once.log().matches("waiting for catalog").count(), 1, "{}", once.log());

    quay.write("never/cluster.yaml", &manifests.replace(&server, "127.0.0.1:1"));
    let told = quay.operon(&["up", "--once", "never"]);
    assert!(told.contains("waiting for catalog chandler: "), "{told}");
    assert!(told.contains("catalog chandler is broken: cannot connect"), "{told}");
    assert!(told.ends_with("[exit code 1]"), "{told}");
}

/// The way through a proxy is tested where connections are made; here, that the environment is read.
#[test]
fn the_environment_names_a_proxy_for_servers_and_those_who_need_none() {
    let Some(quay) = Quay::new() else { return };
    let proxied = "the proxy `127.0.0.1:1` cannot be reached";
    let questions: [&[&str]; 2] = [
        &["registry", "query", "catalog.invalid:50051", "packages"],
        &["catalog", "list", "packages", "grpc://catalog.invalid:50051"],
    ];
    for question in questions {
        for (exempt, is_proxied) in [("", true), ("elsewhere.invalid", true), (".invalid", false)] {
            let mut command = quay.command(question);
            command.env("GRPC_PROXY", "http://127.0.0.1:1").env("NO_PROXY", exempt);
            let output = command.output().expect("it runs");
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{told}");
            assert!(told.contains("cannot connect to `catalog.invalid:50051`"), "{told}");
            assert_eq!(told.contains(proxied), is_proxied, "{exempt}: {told}");
        }
    }
}

#[test]
fn a_server_answers_as_soon_as_it_can_and_follows_its_catalog() {
    let Some(quay) = Quay::new() else { return };
    quay.write("catalog/catalog.yaml", &catalog("quay.example.com", &TIDE_1_0, &[]));
    let serving =
        quay.begin("serve", &["serve", "catalog", "--address", "127.0.0.1:0", "--follow"]);
    let server = address(&serving);
    serving.wait_for("serving 2 packages", 1);
    let ask =
        |question: &[&str]| quay.operon(&[&["registry", "query", &server], question].concat());
    let claims: [(&[&str], &str); 7] = [
        (&["health"], "SERVING\n[exit code 0]"),
        (&["packages"], "tide"),
        (&["package", "tide"], "tide.v1.0.0"),
        (&["head", "beacon", "stable"], "beacon.v1.0.0"),
        (&["bundle", "tide", "stable", "tide.v1.0.0"], "quay.example.com/tide:v1.0.0"),
        (&["providers", "tide.example.com", "v1", "Tide"], "tide.v1.0.0"),
        (&["package", "tied"], "[exit code 1]"),
    ];
    for (question, expected) in claims {
        let answer = ask(question);
        assert!(answer.contains(expected), "{question:?}: {answer}");
    }
    quay.write("catalog/catalog.yaml", &catalog("quay.example.com", &super::quay::TIDE_1_1, &[]));
    serving.wait_for("serving 2 packages", 2);
    let answer = ask(&["head", "tide", "stable"]);
    assert!(answer.contains("tide.v1.1.0"), "{answer}");
    quay.write("catalog/catalog.yaml", "schema: [");
    serving.wait_for("warning: ", 1);
    let answer = ask(&["head", "tide", "stable"]);
    assert!(answer.contains("tide.v1.1.0"), "{answer}");
    assert_eq!(serving.interrupt(), 0);
}

#[test]
fn a_config_map_is_a_catalog_too() {
    let Some(quay) = Quay::new() else { return };
    let spec = "{sourceType: configmap, configMap: wares}";
    let manifests =
        NAMESPACE.to_owned() + &source("chandler", spec) + &subscription("tide", "chandler");
    quay.write("up/cluster.yaml", &manifests);
    let up = quay.up();
    assert!(up.contains("there is no ConfigMap of that name"), "{up}");
    assert!(quay.get("catsrc", "chandler").contains("ConfigMapError"), "{up}");
    quay.write("up/wares.yaml", &config_map());
    let up = quay.up();
    assert!(up.contains("tide          1.0.0            Succeeded"), "{up}");
    assert!(up.ends_with("1 running\n[exit code 0]"), "{up}");
}

/// The operator `tide` in a ConfigMap of the older form.
pub(crate) fn config_map() -> String {
    let manifest = |name: &str| {
        let path = quickstart().join("bundles/tide.v1.0.0/manifests").join(name);
        let text = fs::read_to_string(path).expect("the quickstart");
        let lines = text.lines().map(|line| format!("      {line}\n")).collect::<String>();
        lines.replacen("      ", "    - ", 1)
    };
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: wares, namespace: harbour}}\ndata:\n  \
         packages: |\n    - packageName: tide\n      channels:\n      \
         - {{name: stable, currentCSV: tide.v1.0.0}}\n      defaultChannel: stable\n  \
         clusterServiceVersions: |\n{}  customResourceDefinitions: |\n{}",
        manifest("tide.clusterserviceversion.yaml"),
        manifest("tides.tide.example.com.crd.yaml")
    )
}
