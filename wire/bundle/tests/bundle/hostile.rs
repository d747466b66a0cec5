//! Files that no author meant: they end in errors or findings, never in a panic.

use operon_bundle::{
    BundleError, BundleFile, MAX_BUNDLE_FILES, Migration, RenderOptions, read_bundle, render,
    template::{expand, semver},
};

use crate::fixture::{ANNOTATIONS_PATH, CRD_PATH, CSV, CSV_PATH, describe, files, options, read};

#[test]
fn what_a_bundle_cannot_be_without() {
    let refused = |changes: &[(&str, &str)]| read(changes).bundle.unwrap_err().to_string();
    let cases = [
        refused(&[(CSV_PATH, "")]),
        refused(&[(CSV_PATH, "a: [")]),
        refused(&[(CSV_PATH, &CSV.replace("  name: kiosk.v1.2.0\n", ""))]),
        refused(&[(CSV_PATH, &CSV[..CSV.find("spec:").unwrap()])]),
        refused(&[(ANNOTATIONS_PATH, "annotations: {a: b}")]),
        refused(&[(ANNOTATIONS_PATH, "annotations: {")]),
        refused(&[(
            ANNOTATIONS_PATH,
            "\nannotations:\n  operators.operatorframework.io.bundle.channels.v1: a\n",
        )]),
        read_bundle(&[]).bundle.unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(cases.join("\n"), @"
    no manifest in `manifests/` is a ClusterServiceVersion
    no manifest in `manifests/` is a ClusterServiceVersion; could not be read: manifests/kiosk.clusterserviceversion.yaml
    manifests/kiosk.clusterserviceversion.yaml:1:1: the ClusterServiceVersion has no `metadata.name`
    manifests/kiosk.clusterserviceversion.yaml:1:1: the ClusterServiceVersion has no `spec`
    no file in `metadata/` has bundle annotations; `metadata/annotations.yaml` must name the package
    no file in `metadata/` has bundle annotations; `metadata/annotations.yaml` must name the package; could not be read: metadata/annotations.yaml
    metadata/annotations.yaml:3:3: the annotation `operators.operatorframework.io.bundle.package.v1`, which names the package, is missing or empty
    the bundle has no file in `manifests/`; a registry+v1 bundle holds its manifests there and its annotations in `metadata/`
    ");
    let one = BundleFile { path: "manifests/a".into(), content: Vec::new() };
    let many = vec![one; MAX_BUNDLE_FILES + 1];
    assert!(matches!(read_bundle(&many).bundle, Err(BundleError::TooManyFiles { .. })));
}

#[test]
fn every_truncation_of_a_bundle_is_survived() {
    for path in [CSV_PATH, CRD_PATH, ANNOTATIONS_PATH] {
        let whole = files(&[]);
        let whole = whole.iter().find(|file| file.path == path).unwrap();
        for length in 0..whole.content.len() {
            let text = std::str::from_utf8(&whole.content[..length]).unwrap();
            let reading = read(&[(path, text)]);
            if let Ok(source) = reading.bundle {
                render(&source, &options(Migration::None)).unwrap();
                let _ = render(&source, &options(Migration::BundleObjectToCsvMetadata));
            }
        }
    }
}

#[test]
fn every_value_of_a_service_version_may_have_the_wrong_type() {
    let lines: Vec<&str> = CSV.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(':') else {
            continue;
        };
        for value in ["null", "[]", "{}", "[null, 1]", "12", "true", "{a: {b: c}}", "''"] {
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            changed[index] = format!("{key}: {value}");
            let indent = line.len() - line.trim_start().len();
            while changed
                .get(index + 1)
                .is_some_and(|next| next.len() - next.trim_start().len() > indent)
            {
                changed.remove(index + 1);
            }
            let reading = read(&[(CSV_PATH, &changed.join("\n"))]);
            if let Ok(source) = reading.bundle {
                render(&source, &options(Migration::None)).unwrap();
                let _ = render(&source, &options(Migration::BundleObjectToCsvMetadata));
            }
        }
    }
}

#[test]
fn deep_and_binary_files_are_findings() {
    let deep_yaml = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_json =
        format!("{{\"kind\":\"Secret\",\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let described =
        describe(&[("manifests/deep.yaml", &deep_yaml), ("manifests/deep.json", &deep_json)]);
    assert_eq!(described.matches("bundle-manifest-unreadable").count(), 2, "{described}");
    let allowed = format!("kind: Secret\na: {}1{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let reading = read(&[("manifests/deep.yaml", &allowed)]);
    let source = reading.bundle.unwrap();
    let image = RenderOptions { image: String::new(), migrate: Migration::None };
    assert!(render(&source, &image).is_ok());
    let mut binary = files(&[]);
    binary.push(BundleFile {
        path: "manifests/logo.png".into(),
        content: b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe".to_vec(),
    });
    let reading = read_bundle(&binary);
    assert!(reading.bundle.is_ok());
    assert_eq!(reading.findings[0].rule_id, "bundle-manifest-unreadable");
}

#[test]
fn aliases_do_not_eat_the_memory() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", below.trim_end_matches(", ")));
    }
    bomb.push_str("kind: Secret\n");
    assert!(describe(&[("manifests/bomb.yaml", &bomb)]).contains("bundle-manifest-unreadable"));
}

#[test]
fn broken_templates_are_errors() {
    let whole =
        "schema: olm.semver\nGenerateMajorChannels: true\nStable:\n  Bundles:\n  - Image: x\n";
    let mut render = |image: &str| Err(format!("{image} is nowhere"));
    for length in 0..=whole.len() {
        assert!(expand(&whole.as_bytes()[..length], &mut render).is_err());
        assert!(semver(&whole.as_bytes()[..length], &mut render).is_err());
    }
    let deep = format!("schema: olm.template.basic\nentries: {}", "[".repeat(100_000));
    assert!(expand(deep.as_bytes(), &mut render).is_err());
    assert!(expand(b"\x00\xff\xfe", &mut render).is_err());
}
