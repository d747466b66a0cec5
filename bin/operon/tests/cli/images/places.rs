//! Everywhere a catalog is named it may lie anywhere: the answers are the same.

use super::{
    quay::{NAMESPACE, Quay, Setup, TIDE_1_0, catalog, run, source, subscription},
    servers::config_map,
};

/// Every way to name the same catalog answers every question alike.
#[test]
fn a_catalog_may_lie_anywhere() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    let host = &registry.host;
    quay.write("plain/catalog.yaml", &catalog(host, &TIDE_1_0, &[]));
    let layout = quay.text("layout");
    let archive = quay.text("catalog.tar");
    let from = format!("oci:{layout}:first");
    run(
        "skopeo",
        &["--insecure-policy", "copy", "-q", &from, &format!("oci-archive:{archive}:first")],
    );
    let serving = quay.begin("serve", &["serve", "plain", "--address", "127.0.0.1:0"]);
    serving.wait_for("serving 2 packages", 1);
    let log = serving.log();
    let address = log.split_once("listening at ").and_then(|(_, rest)| rest.lines().next());
    let places = [
        from.clone(),
        "oci:layout:first".to_owned(),
        format!("oci-archive:{archive}"),
        format!("docker://{host}/catalog:latest"),
        format!("{host}/catalog:latest"),
        format!("grpc://{}", address.unwrap_or_default()),
    ];
    let questions: [&[&str]; 7] = [
        &["catalog", "list", "packages", "PLACE"],
        &["catalog", "list", "bundles", "PLACE"],
        &["catalog", "show", "PLACE", "tide"],
        &["catalog", "path", "PLACE", "tide"],
        &["catalog", "diff", "plain", "PLACE"],
        &["plan", "--catalog", "wares=PLACE", "--subscribe", "beacon"],
        &["why", "tide", "--catalog", "wares=PLACE", "--subscribe", "beacon"],
    ];
    for question in questions {
        let ask = |place: &str| {
            let arguments: Vec<String> =
                question.iter().map(|word| word.replace("PLACE", place)).collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            comparable(&quay.operon(&arguments))
        };
        let expected = ask("plain");
        for place in &places {
            assert_eq!(ask(place), expected, "{question:?} of {place}");
        }
    }
    for place in &places {
        let told = quay.operon(&["catalog", "validate", place]);
        assert!(told.ends_with("[exit code 0]"), "{place}: {told}");
    }
}

/// Takes away what must differ: the name of the file, and what is made from the digest of the content.
fn comparable(answer: &str) -> String {
    let lines = answer.lines().filter(|line| !line.starts_with("File:"));
    let word = |word: &str| match word.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => word.to_owned(),
    };
    let line = |line: &str| match line.trim_start().strip_prefix("Plan ") {
        Some(plan) => plan.split_once(':').map_or("", |(_, rest)| rest).to_owned(),
        None => line.split(' ').map(word).collect::<Vec<_>>().join(" "),
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_config_map_in_a_file_is_a_catalog() {
    let Some(quay) = Quay::new() else { return };
    quay.write("wares.yaml", &config_map());
    let claims: [(&[&str], &str); 5] = [
        (&["catalog", "list", "packages", "configmap:wares.yaml"], "tide"),
        (&["catalog", "validate", "configmap:wares.yaml"], "[exit code 0]"),
        (&["catalog", "show", "configmap:wares.yaml", "tide"], "Knows when the water comes"),
        (
            &["plan", "--catalog", "wares=configmap:wares.yaml", "--subscribe", "tide"],
            "1 to install",
        ),
        (&["catalog", "list", "packages", "configmap:absent.yaml"], "`absent.yaml`"),
    ];
    for (question, expected) in claims {
        let told = quay.operon(question);
        assert!(told.contains(expected), "{question:?}: {told}");
    }
}

/// What cannot be had is said with the place, the answer and what to do.
#[test]
fn what_cannot_be_had_is_explained() {
    let Some(quay) = Quay::new() else { return };
    let mut registry = quay.stocked(Setup::default());
    let host = registry.host.clone();
    let list = |place: &str| quay.operon(&["catalog", "list", "packages", place]);
    let claims = [
        (format!("{host}/catalog:lates"), format!("`{host}` has no `{host}/catalog:lates`")),
        (format!("{host}/catalog:lates"), "latest".to_owned()),
        (format!("{host}/tide:v1.0.0"), "is a bundle".to_owned()),
        ("oci:layout:third".to_owned(), "first".to_owned()),
        ("oci-archive:absent.tar".to_owned(), "absent.tar".to_owned()),
        ("grpc://127.0.0.1:1".to_owned(), "127.0.0.1:1".to_owned()),
        ("Not A Place".to_owned(), "Not A Place".to_owned()),
    ];
    for (place, expected) in claims {
        let told = list(&place);
        assert!(told.contains(&expected) && !told.ends_with("[exit code 0]"), "{place}: {told}");
    }
    registry.stop();
    let told = list(&format!("{host}/other:v1"));
    assert!(told.contains(&host) && told.ends_with("[exit code 1]"), "{told}");
}

/// Paths in a CatalogSource count from its directory, wherever the program is run.
#[test]
fn a_layout_beside_the_manifests_is_found_from_anywhere() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    std::fs::rename(quay.path("layout"), quay.path("up/wares")).expect("moved");
    let spec = "{sourceType: grpc, image: 'oci:./wares:first'}";
    let manifests =
        NAMESPACE.to_owned() + &source("chandler", spec) + &subscription("beacon", "chandler");
    quay.write("up/cluster.yaml", &manifests);
    let up = quay.up();
    assert!(up.ends_with("2 running\n[exit code 0]"), "{up}");
    let mut elsewhere = quay.command(&["up", "--once", &quay.text("up")]);
    let output = elsewhere.current_dir("/").output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.ends_with("2 running\n"), "{told}");
    drop(registry);
}
