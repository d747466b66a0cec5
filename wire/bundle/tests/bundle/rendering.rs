//! What a bundle becomes.

use operon_bundle::{Migration, RelatedImage, RenderOptions, render};

use crate::fixture::{CSV, CSV_PATH, options, properties, source};

#[test]
fn a_small_bundle_becomes_one_document() {
    let rendered = render(&source(&[]), &options(Migration::BundleObjectToCsvMetadata)).unwrap();
    insta::assert_snapshot!(rendered.json, @r#"{"image":"example.com/kiosk-bundle:1.2.0","name":"kiosk.v1.2.0","package":"kiosk","properties":[{"type":"olm.gvk","value":{"group":"shop.example.com","kind":"Kiosk","version":"v1"}},{"type":"olm.gvk","value":{"group":"shop.example.com","kind":"Kiosk","version":"v1alpha1"}},{"type":"olm.gvk.required","value":{"group":"store.example.com","kind":"Database","version":"v1beta1"}},{"type":"olm.package","value":{"packageName":"kiosk","version":"1.2.0"}},{"type":"olm.csv.metadata","value":{"annotations":{"olm.skipRange":">=1.0.0 <1.2.0"},"apiServiceDefinitions":{},"crdDescriptions":{"owned":[{"kind":"Kiosk","name":"kiosks.shop.example.com","version":"v1"}],"required":[{"kind":"Database","name":"databases.store.example.com","version":"v1beta1"}]},"description":"Sells <things> & more","displayName":"Kiosk","installModes":[{"supported":true,"type":"AllNamespaces"}],"minKubeVersion":"1.25.0","provider":{}}}],"relatedImages":[{"image":"example.com/init@sha256:aa","name":""},{"image":"example.com/kiosk-bundle:1.2.0","name":""},{"image":"example.com/kiosk:1.2.0","name":"main"}],"schema":"olm.bundle"}"#);
    assert_eq!(
        (rendered.name.as_str(), rendered.package.as_str(), rendered.version.as_str()),
        ("kiosk.v1.2.0", "kiosk", "1.2.0")
    );
    assert_eq!(
        (rendered.channels.join(" "), rendered.default_channel.as_str()),
        ("stable beta".into(), "stable")
    );
    assert_eq!(
        (rendered.replaces.as_str(), rendered.skips.join(" ")),
        ("kiosk.v1.1.0", "kiosk.v1.0.0".into())
    );
    assert_eq!(rendered.skip_range, ">=1.0.0 <1.2.0");
    let icon = rendered.icon.unwrap();
    assert_eq!(
        (icon.data.as_slice(), icon.media_type.as_str()),
        (b"GIF89a".as_slice(), "image/gif")
    );
}

#[test]
fn manifests_are_inlined_last_as_upstream_prints_them() {
    let rendered = render(&source(&[]), &options(Migration::None)).unwrap();
    insta::assert_snapshot!(properties(&rendered.json), @r#"
    olm.gvk {"group":"shop.example.com","kind":"Kiosk","version":"v1"}
    olm.gvk {"group":"shop.example.com","kind":"Kiosk","version":"v1alpha1"}
    olm.gvk.required {"group":"store.example.com","kind":"Database","version":"v1beta1"}
    olm.package {"packageName":"kiosk","version":"1.2.0"}
    olm.bundle.object {"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"kiosks.shop.example.com"},"spec":{"group":"shop.example.com","names":{"kind":"Kiosk","plural":"kiosks"},"versions":[{"maximum":9223372036854775807,"name":"v1"},{"name":"v1alpha1"}]}}
    olm.bundle.object {"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"annotations":{"olm.skipRange":"\u003e=1.0.0 \u003c1.2.0"},"name":"kiosk.v1.2.0"},"spec":{"customresourcedefinitions":{"owned":[{"kind":"Kiosk","name":"kiosks.shop.example.com","version":"v1"}],"required":[{"kind":"Database","name":"databases.store.example.com","version":"v1beta1"}]},"description":"Sells \u003cthings\u003e \u0026 more","displayName":"Kiosk","icon":[{"base64data":"R0lGODlh","mediatype":"image/gif"}],"install":{"spec":{"deployments":[{"name":"kiosk","spec":{"template":{"spec":{"containers":[{"image":"example.com/kiosk:1.2.0","name":"main"}],"initContainers":[{"image":"example.com/init@sha256:aa","name":"first"}]}}}}]},"strategy":"deployment"},"installModes":[{"supported":true,"type":"AllNamespaces"}],"minKubeVersion":"1.25.0","relatedImages":[{"image":"example.com/kiosk:1.2.0","name":"main"}],"replaces":"kiosk.v1.1.0","skips":["kiosk.v1.0.0"],"version":"1.2.0"}}
    "#);
}

#[test]
fn a_bundle_without_an_image_keeps_its_manifests() {
    let image =
        RenderOptions { image: String::new(), migrate: Migration::BundleObjectToCsvMetadata };
    let rendered = render(&source(&[]), &image).unwrap();
    assert!(rendered.json.starts_with(r#"{"image":"","name":"kiosk.v1.2.0","#));
    assert!(rendered.json.contains("olm.bundle.object"));
    assert!(!rendered.json.contains("olm.csv.metadata"));
    assert_eq!(rendered.related_images.len(), 2);
}

#[test]
fn every_source_of_properties_counts() {
    let csv = CSV.replace(
        "  annotations:\n",
        "  annotations:\n    olm.properties: '[{\"type\": \"color\", \"value\": {\"b\": 1, \"a\": 2}}, {\"type\": \"olm.gvk\", \"value\": {\"group\": \"g\", \"kind\": \"K\", \"version\": \"v1\"}}]'\n",
    );
    let csv = csv.replace(
        "  install:\n",
        "  apiservicedefinitions:\n    owned:\n    - {name: p, group: a.example.com, version: v1, kind: Api}\n    required:\n    - {name: p, group: b.example.com, version: v1, kind: Api}\n  install:\n",
    );
    let dependencies = "\
dependencies:
- {type: olm.package, value: {packageName: prometheus, version: '>0.27.0'}}
- {type: olm.gvk, value: {group: etcd.database.coreos.com, kind: EtcdCluster, version: v1beta2}}
- {type: olm.gvk, value: {group: store.example.com, kind: Database, version: v1beta1}}
- {type: olm.constraint, value: {failureMessage: missing, cel: {rule: 'properties.exists(p, p.type == \"certified\")'}}}
";
    let own = "\
properties:
- {type: olm.maxOpenShiftVersion, value: '4.20'}
- {type: olm.gvk, value: {group: shop.example.com, kind: Kiosk, version: v1}}
- {type: olm.package, value: {packageName: other, version: 9.9.9}}
";
    // What a file of metadata is for is told by its content, not by its name.
    let source =
        source(&[(CSV_PATH, &csv), ("metadata/a.yaml", own), ("metadata/b", dependencies)]);
    let rendered = render(&source, &options(Migration::BundleObjectToCsvMetadata)).unwrap();
    let all = properties(&rendered.json);
    insta::assert_snapshot!(all.lines().filter(|line| !line.starts_with("olm.csv")).collect::<Vec<_>>().join("\n"), @r#"
    color {"a":2,"b":1}
    olm.constraint {"cel":{"rule":"properties.exists(p, p.type == \"certified\")"},"failureMessage":"missing"}
    olm.gvk {"group":"a.example.com","kind":"Api","version":"v1"}
    olm.gvk {"group":"g","kind":"K","version":"v1"}
    olm.gvk {"group":"shop.example.com","kind":"Kiosk","version":"v1"}
    olm.gvk {"group":"shop.example.com","kind":"Kiosk","version":"v1alpha1"}
    olm.gvk.required {"group":"b.example.com","kind":"Api","version":"v1"}
    olm.gvk.required {"group":"etcd.database.coreos.com","kind":"EtcdCluster","version":"v1beta2"}
    olm.gvk.required {"group":"store.example.com","kind":"Database","version":"v1beta1"}
    olm.maxOpenShiftVersion "4.20"
    olm.package {"packageName":"kiosk","version":"1.2.0"}
    olm.package.required {"packageName":"prometheus","versionRange":">0.27.0"}
    "#);
}

#[test]
fn both_spellings_of_properties_are_read() {
    let plain = "properties:\n- type: color\n  value: red\n- {type: olm.gvk, value: {group: g, version: v1, kind: K}}\n";
    let wrapped = "properties:\n- property:\n    type: color\n    value: red\n- property: {type: olm.gvk, value: {group: g, version: v1, kind: K}}\n";
    let json = r#"{"properties": [{"type": "color", "value": "red"}, {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": "K"}}]}"#;
    let render = |text| {
        let source = source(&[("metadata/properties.yaml", text)]);
        render(&source, &options(Migration::None)).unwrap().json
    };
    let rendered = render(plain);
    assert!(rendered.contains(r#"{"type":"color","value":"red"}"#));
    assert!(
        rendered.contains(r#"{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}}"#)
    );
    assert_eq!(render(wrapped), rendered);
    assert_eq!(render(json), rendered);
}

#[test]
fn related_images_are_those_listed_then_those_used() {
    let csv = CSV.replace(
        "  relatedImages:\n",
        "  relatedImages:\n  - {name: z, image: example.com/twice}\n  - {name: a, image: example.com/twice}\n",
    );
    let rendered = render(&source(&[(CSV_PATH, &csv)]), &options(Migration::None)).unwrap();
    let describe = |related: &RelatedImage| format!("{}={}", related.image, related.name);
    let images: Vec<String> = rendered.related_images.iter().map(describe).collect();
    assert_eq!(
        images,
        [
            "example.com/init@sha256:aa=",
            "example.com/kiosk-bundle:1.2.0=",
            "example.com/kiosk:1.2.0=main",
            "example.com/twice=z",
            "example.com/twice=a",
        ]
    );
}

#[test]
fn a_release_is_part_of_the_identity_and_may_be_a_number() {
    for (written, expected) in
        [("release: rc.2", "rc.2"), ("release: 7", "7"), ("release: '07'", "07")]
    {
        let csv = CSV.replace("  version: 1.2.0\n", &format!("  version: 1.2.0\n  {written}\n"));
        let rendered = render(&source(&[(CSV_PATH, &csv)]), &options(Migration::None)).unwrap();
        let value =
            format!(r#"{{"packageName":"kiosk","release":"{expected}","version":"1.2.0"}}"#);
        assert!(rendered.json.contains(&value), "{written}");
        assert_eq!(rendered.release, expected);
    }
}
