//! Manifests, indexes, configurations, layouts and platforms.

use std::collections::BTreeMap;

use operon_oci::{
    ArchivedImage, DOCKER_LIST, DOCKER_MANIFEST, Descriptor, Digest, Document, ImageConfig, Index,
    LayerCompression, MAX_LAYERS, Manifest, OCI_CONFIG, OCI_INDEX, OCI_LAYER_GZIP, OCI_MANIFEST,
    Platform, check_layout, docker_archive, layout_file,
};
use proptest::prelude::*;

fn digest() -> String {
    Digest::of(b"").to_string()
}

fn descriptor(media_type: &str) -> String {
    format!(r#"{{"mediaType":"{media_type}","digest":"{}","size":7}}"#, digest())
}

fn manifest(fields: &str) -> String {
    let (config, layer) = (descriptor(OCI_CONFIG), descriptor(OCI_LAYER_GZIP));
    format!(r#"{{"schemaVersion":2,{fields}"config":{config},"layers":[{layer}]}}"#)
}

#[test]
fn a_document_says_what_it_is_and_the_header_may_not_disagree() {
    let typed = |name: &str| format!(r#""mediaType":"{name}","#);
    let index = format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor(OCI_MANIFEST));
    let rows: [(String, Option<&str>, &str); 20] = [
        (manifest(&typed(OCI_MANIFEST)), None, OCI_MANIFEST),
        (manifest(&typed(DOCKER_MANIFEST)), Some(DOCKER_MANIFEST), DOCKER_MANIFEST),
        (
            manifest(&typed(OCI_MANIFEST)),
            Some("application/vnd.oci.image.manifest.v1+json; charset=utf-8"),
            OCI_MANIFEST,
        ),
        (manifest(&typed(OCI_MANIFEST)), Some("text/plain"), OCI_MANIFEST),
        (manifest(""), Some(DOCKER_MANIFEST), DOCKER_MANIFEST),
        (manifest(""), None, OCI_MANIFEST),
        (index.clone(), None, OCI_INDEX),
        (index.clone(), Some(DOCKER_LIST), DOCKER_LIST),
        (manifest(&typed(OCI_MANIFEST)), Some(OCI_INDEX), "it may have been tampered with"),
        (manifest(&typed("application/x")), None, "`application/x` cannot be read"),
        (manifest(r#""manifests":[],"#), None, "both `layers` and `manifests`"),
        (
            index.replace("manifests", "other"),
            Some(OCI_INDEX),
            "the image index has no `manifests`",
        ),
        (r#"{"schemaVersion":1,"fsLayers":[]}"#.to_owned(), None, "schema 1"),
        (
            manifest(""),
            Some("application/vnd.docker.distribution.manifest.v1+prettyjws"),
            "schema 1",
        ),
        ("{}".to_owned(), None, "neither an image manifest nor an index"),
        ("[]".to_owned(), None, "should be a map, not a list"),
        ("{".to_owned(), None, "is not JSON"),
        (
            manifest("").replace(":7", ":-7"),
            None,
            "`config.size` of the image manifest should be a number of bytes, not a negative number",
        ),
        (
            manifest("").replace("sha256:", "sha1:"),
            None,
            "`config.digest` of the image manifest is no digest",
        ),
        (manifest("").replace("\"layers\":[{", "\"layers\":[7,{"), None, "`layers[0].mediaType`"),
    ];
    for (text, header, expected) in rows {
        let found = match Document::parse(text.as_bytes(), header) {
            Ok(Document::Manifest(manifest)) => manifest.media_type,
            Ok(Document::Index(index)) => index.media_type,
            Err(error) => error.to_string(),
        };
        let is_type = expected.starts_with("application/");
        let is_it = if is_type { found == expected } else { found.contains(expected) };
        assert!(is_it, "{text}: {found}, not {expected}");
    }
    let layers = vec![descriptor(OCI_LAYER_GZIP); MAX_LAYERS + 1].join(",");
    let many = format!(r#"{{"config":{},"layers":[{layers}]}}"#, descriptor(OCI_CONFIG));
    let message = Document::parse(many.as_bytes(), None).expect_err("too many").to_string();
    assert_eq!(message, "`layers` of the image manifest has 513 elements, more than 512");
    let message = Document::parse(&vec![b' '; 5 << 20], None).expect_err("too large").to_string();
    assert_eq!(message, "the image manifest has 5242880 bytes, more than 4194304");
}

fn index(platforms: &[&str]) -> Index {
    let manifests = platforms.iter().enumerate().map(|(number, platform)| {
        let mut words = platform.split('/').map(str::to_owned);
        let platform = (!platform.is_empty()).then(|| Platform {
            os: words.next().unwrap_or_default(),
            architecture: words.next().unwrap_or_default(),
            variant: words.next(),
            os_version: None,
        });
        let content = number.to_string();
        Descriptor { platform, ..Descriptor::of(OCI_MANIFEST, content.as_bytes()) }
    });
    Index {
        media_type: OCI_INDEX.to_owned(),
        manifests: manifests.collect(),
        annotations: BTreeMap::new(),
    }
}

#[test]
fn the_image_of_a_platform_is_chosen_as_containerd_does() {
    let rows: [(&str, &[&str], Option<usize>); 16] = [
        ("linux/amd64", &["linux/arm64", "linux/amd64"], Some(1)),
        ("linux/x86_64", &["linux/amd64"], Some(0)),
        ("linux/amd64", &["linux/amd64/v3", "linux/amd64"], Some(1)),
        ("linux/amd64/v3", &["linux/amd64", "linux/amd64/v2"], Some(1)),
        ("linux/amd64/v3", &["linux/amd64/v4", "linux/amd64"], Some(1)),
        ("linux/amd64", &["linux/amd64/v2"], None),
        ("linux/arm64", &["linux/arm64/v8"], Some(0)),
        ("linux/aarch64", &["linux/arm/v7", "linux/arm64"], Some(1)),
        ("linux/arm64/v8", &["linux/arm64"], Some(0)),
        ("linux/arm/v7", &["linux/arm/v5", "linux/arm/v6"], Some(1)),
        ("linux/arm", &["linux/arm/v7"], Some(0)),
        ("linux/arm/v6", &["linux/arm/v7"], None),
        ("linux/s390x", &["linux/amd64", ""], Some(1)),
        ("linux/amd64", &["unknown/unknown"], None),
        ("linux/amd64", &["windows/amd64"], None),
        ("linux/amd64", &[], None),
    ];
    for (wanted, platforms, expected) in rows {
        let index = index(platforms);
        let chosen = Platform::choose(&index, &Platform::parse(wanted).expect(wanted));
        let expected = expected.map(|at| &index.manifests[at]);
        assert_eq!(chosen.as_ref().ok(), expected.as_ref(), "{wanted} of {platforms:?}");
    }
    let wanted = Platform::linux("s390x");
    let of = |platforms: &[&str]| {
        Platform::choose(&index(platforms), &wanted).expect_err("none").to_string()
    };
    assert_eq!(
        of(&["linux/arm/v7", "linux/amd64", "unknown/unknown"]),
        "there is no image for `linux/s390x`; there are images for `linux/amd64`, `linux/arm/v7`"
    );
    assert_eq!(of(&["unknown/unknown"]), "the index lists no image");
    let mut attested = index(&["linux/s390x"]);
    let note = ("vnd.docker.reference.type".to_owned(), "attestation-manifest".to_owned());
    attested.manifests[0].annotations.extend([note]);
    assert!(Platform::choose(&attested, &wanted).is_err(), "an attestation is no image");
    for wrong in ["", "linux", "linux/", "a/b/c/d", "linux/amd 64"] {
        assert!(Platform::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn layers_are_what_their_type_says() {
    let rows = [
        ("application/vnd.oci.image.layer.v1.tar", Ok(LayerCompression::Plain)),
        ("application/vnd.oci.image.layer.v1.tar+gzip", Ok(LayerCompression::Gzip)),
        ("application/vnd.oci.image.layer.v1.tar+zstd", Ok(LayerCompression::Zstd)),
        (
            "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
            Ok(LayerCompression::Gzip),
        ),
        ("application/vnd.docker.image.rootfs.diff.tar.gzip", Ok(LayerCompression::Gzip)),
        ("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", Ok(LayerCompression::Gzip)),
        (
            "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            Err("`application/vnd.cncf.helm.chart.content.v1.tar+gzip` cannot be read"),
        ),
        ("application/vnd.oci.image.layer.v1.tar+gzip+encrypted", Err("is encrypted")),
        ("application/vnd.oci.empty.v1+json", Err("no container image")),
    ];
    for (media_type, expected) in rows {
        match (LayerCompression::of(media_type), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, _) => panic!("{media_type}: {found:?}"),
        }
    }
    let (gzip, zstd) = ([0x1f, 0x8b, 8].as_slice(), [0x28, 0xb5, 0x2f, 0xfd].as_slice());
    assert!(
        LayerCompression::Gzip.check(gzip).is_ok() && LayerCompression::Zstd.check(zstd).is_ok()
    );
    assert!(LayerCompression::Plain.check(b"an old archive").is_ok(), "it has no magic word");
    let wrong = LayerCompression::Gzip.check(zstd).expect_err("another").to_string();
    assert_eq!(
        wrong,
        "the layer should be a gzip stream, but its first bytes are those of a zstd stream"
    );
    assert!(
        LayerCompression::Plain.check(gzip).is_err() && LayerCompression::Zstd.check(b"").is_err()
    );
}

#[test]
fn configurations_layouts_and_archives_are_read() {
    let text = format!(
        r#"{{"architecture":"arm64","os":"linux","variant":"v8","config":{{"Labels":{{"a":"1","b":null}},"Cmd":null,"Entrypoint":["/bin/opm"]}},"rootfs":{{"type":"layers","diff_ids":["{}"]}},"history":[]}}"#,
        digest()
    );
    let config = ImageConfig::parse(text.as_bytes()).expect("sound");
    assert_eq!(config.platform.to_string(), "linux/arm64/v8");
    assert_eq!(
        config.labels,
        BTreeMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), String::new())])
    );
    assert_eq!((config.entrypoint.len(), config.command.len(), config.diff_ids.len()), (1, 0, 1));
    assert_eq!(ImageConfig::parse(&config.to_bytes()).expect("its own words"), config);
    let Ok(Document::Manifest(manifest)) = Document::parse(manifest("").as_bytes(), None) else {
        panic!("a manifest");
    };
    assert!(config.check_layers(&manifest).is_ok());
    assert!(ImageConfig::default().check_layers(&manifest).is_err());

    assert!(check_layout(&layout_file()).is_ok());
    assert!(check_layout(br#"{"imageLayoutVersion":"2.0.0"}"#).is_err());
    let mut layout = index(&["", ""]);
    let (first, second) = (layout.manifests[0].clone(), layout.manifests[1].clone());
    layout.set_named("v1", first.clone());
    layout.set_named("quay.io/a/b:v2", second);
    layout.set_named("v1", first);
    assert_eq!(layout.named("v1").count(), 1, "a tag belongs to one image");
    assert_eq!(layout.named("v2").count(), 1, "the tag of a reference is found");
    assert_eq!(layout.named("2").count(), 0);
    assert_eq!(Index::parse(&layout.to_bytes()).expect("its own words"), layout);

    let archived =
        docker_archive(br#"[{"Config":"c.json","RepoTags":null,"Layers":["l/layer.tar"]}]"#);
    let expected = ArchivedImage {
        config: "c.json".to_owned(),
        repo_tags: Vec::new(),
        layers: vec!["l/layer.tar".to_owned()],
    };
    assert_eq!(archived.expect("sound"), [expected]);
    let message = docker_archive(br#"[{"Layers":[]}]"#).expect_err("no config").to_string();
    assert_eq!(message, "the `manifest.json` of the archive has no `images[0].Config`");
}

fn any_descriptor() -> impl Strategy<Value = Descriptor> {
    let platform = prop::option::of(("[a-z]{1,5}", "[a-z0-9]{1,5}", prop::option::of("v[1-9]")));
    let annotations = prop::collection::btree_map(".{0,6}", ".{0,6}", 0..3);
    ("[a-z/+.]{1,20}", 0..1_000_000_u64, platform, annotations).prop_map(
        |(media_type, size, platform, annotations)| Descriptor {
            digest: Digest::of(size.to_string()),
            media_type,
            size,
            platform: platform.map(|(os, architecture, variant)| Platform {
                os,
                architecture,
                variant,
                os_version: None,
            }),
            annotations,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        config in any_descriptor(),
        layers in prop::collection::vec(any_descriptor(), 0..4),
        artifact_type in prop::option::of("[a-z]{1,9}"),
        annotations in prop::collection::btree_map(".{0,6}", ".{0,6}", 0..3),
    ) {
        let index = Index {
            media_type: OCI_INDEX.to_owned(),
            manifests: layers.clone(),
            annotations: annotations.clone(),
        };
        let again = Document::parse(&index.to_bytes(), Some(OCI_INDEX)).expect("its own words");
        prop_assert_eq!(again, Document::Index(index));
        let media_type = OCI_MANIFEST.to_owned();
        let manifest = Manifest { media_type, artifact_type, config, layers, annotations };
        let again = Document::parse(&manifest.to_bytes(), None).expect("its own words");
        prop_assert_eq!(again, Document::Manifest(manifest));
    }
}
