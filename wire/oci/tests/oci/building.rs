//! Images built of files: the same bytes every time, and read back by an independent library.

use std::{collections::BTreeMap, io::Read};

use operon_oci::{
    Digest, Document, ImageConfig, LayerCompression, Platform,
    build::{BuiltImage, ImageSettings, LayerBuilder, LayerWriter},
    layer::{LayerLimits, Wanted},
};
use proptest::prelude::*;

use crate::support::unpack_blobs;

fn layer(files: &[(&str, &str)]) -> LayerBuilder {
    let mut builder = LayerBuilder::new();
    for (path, content) in files {
        builder.file(path, *content).expect(path);
    }
    builder
}

#[test]
fn the_same_files_make_the_same_image() {
    let long = format!("configs/{}/ü.yaml", "name".repeat(30));
    let files = [
        ("configs/etcd/catalog.yaml", "1"),
        ("configs/b-c", "2"),
        ("configs/b/d", "3"),
        (&long, "4"),
    ];
    let mut shuffled = files;
    shuffled.reverse();
    let (first, second) =
        (layer(&files).build().expect("sound"), layer(&shuffled).build().expect("sound"));
    assert_eq!(first, second);
    let settings = ImageSettings {
        platform: Platform::linux("amd64"),
        labels: BTreeMap::from([(
            "operators.operatorframework.io.index.configs.v1".to_owned(),
            "/configs".to_owned(),
        )]),
        ..ImageSettings::default()
    };
    let image = BuiltImage::new(&settings, vec![first]);
    assert_eq!(image, BuiltImage::new(&settings, vec![second]));
    // Whoever changes this digest changes that of every image that was ever built.
    assert_eq!(
        image.layers[0].diff_id.to_string(),
        "sha256:c0178e4367822e515b8a6e7fe0066a20235e0c0edae47db53dfe8bce830e5c30"
    );

    let Ok(Document::Manifest(manifest)) = Document::parse(&image.manifest, None) else {
        panic!("a manifest");
    };
    assert_eq!(manifest.config.digest, Digest::of(&image.config));
    assert_eq!(manifest.layers[0].digest, Digest::of(&image.layers[0].bytes));
    let config = ImageConfig::parse(&image.config).expect("its own words");
    config.check_layers(&manifest).expect("one layer");
    assert_eq!(
        (&config.labels, config.diff_ids[0].clone()),
        (&settings.labels, image.layers[0].diff_id.clone())
    );
}

#[test]
fn an_independent_library_reads_the_layer() {
    let long = format!("configs/{}/ü.yaml", "name".repeat(30));
    let mut builder = layer(&[("configs/a", "1"), (&long, "2")]);
    builder.directory("empty").expect("sound");
    builder.program("usr/bin/operon", "3").expect("sound");
    let built = builder.build().expect("sound");
    assert_eq!(&built.bytes[4..10], &[0, 0, 0, 0, 0, 255], "no time and no system");
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(built.bytes.as_slice()).read_to_end(&mut plain).expect("gzip");
    assert_eq!(Digest::of(&plain), built.diff_id);
    let mut archive = tar::Archive::new(plain.as_slice());
    let mut seen = Vec::new();
    for entry in archive.entries().expect("an archive") {
        let entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!(
            (header.mtime().ok(), header.uid().ok(), header.gid().ok()),
            (Some(0), Some(0), Some(0))
        );
        let path = entry.path().expect("a path").to_string_lossy().into_owned();
        seen.push(format!("{path} {:o} {}", header.mode().expect("a mode"), entry.size()));
    }
    let directory = format!("configs/{}", "name".repeat(30));
    let expected = [
        "configs/ 755 0".to_owned(),
        "configs/a 644 1".to_owned(),
        format!("{directory}/ 755 0"),
        format!("{long} 644 1"),
        "empty/ 755 0".to_owned(),
        "usr/ 755 0".to_owned(),
        "usr/bin/ 755 0".to_owned(),
        "usr/bin/operon 755 1".to_owned(),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn what_cannot_be_put_into_an_image_is_refused() {
    let mut builder = layer(&[("a/b", "1")]);
    for wrong in ["/a", "", ".", "a/../b", "a\0b"] {
        assert!(builder.file(wrong, "").is_err(), "{wrong:?}");
    }
    assert!(builder.file("./a//b", "").is_err(), "it is there already");
    assert!(builder.directory("a/b").is_err(), "it is a file already");
    assert!(layer(&[("a", "1"), ("a/b", "2")]).build().is_err(), "a file and a directory");
    assert!(
        layer(&[("a", "1"), ("a-b", "2"), ("a/b", "2")]).build().is_err(),
        "also with others between"
    );
    let mut writer = LayerWriter::new();
    writer.file("b", 1, b"1".as_slice()).expect("sound");
    let words = writer.file("a", 1, b"1".as_slice()).expect_err("too late").to_string();
    assert_eq!(words, "`a` comes after `b`, but paths are written sorted by their bytes");
    for content in ["1", "123"] {
        let words =
            LayerWriter::new().file("c", 2, content.as_bytes()).expect_err("not 2").to_string();
        assert!(words.starts_with("`c` should have 2 bytes"), "{words}");
    }
}

/// Reads in pieces of one length.
struct Dripping<'a>(&'a [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len());
        self.0.read(&mut buffer[..length])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_is_unpacked_again(
        files in prop::collection::btree_map("[a-c]{1,2}(/[a-c-]{1,3}){0,3}x", "[ab\n]{0,3000}", 0..8),
        piece in 1..700_usize,
    ) {
        let mut builder = LayerBuilder::new();
        let mut writer = LayerWriter::new();
        for (path, content) in &files {
            builder.file(path, content.as_bytes()).expect("sound");
            writer.file(path, content.len() as u64, Dripping(content.as_bytes(), piece)).expect("sound");
        }
        let built = builder.build().expect("sound");
        prop_assert_eq!(&writer.finish(), &built, "how it is read does not show");
        let outcome = unpack_blobs(Wanted::everything(), LayerLimits::default(), &[(LayerCompression::Gzip, built.bytes)]).expect("sound");
        prop_assert_eq!(outcome.files, files);
    }
}
