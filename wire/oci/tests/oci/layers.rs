//! What is left of layers: one claim for each row.

use std::io::Write as _;

use operon_oci::{
    Digest, LayerCompression,
    layer::{LayerLimits, Overlay, Wanted},
};

use crate::support::{
    Item, MemorySink, archive, directory, file, gzip, hardlink, symlink, unpack, unpack_blobs,
};

/// Unpacks everything and writes it in one line: files, then findings.
fn everything(layers: &[Vec<Item>]) -> String {
    describe(Wanted::everything(), layers)
}

fn describe(wanted: Wanted, layers: &[Vec<Item>]) -> String {
    let outcome = match unpack(wanted, LayerLimits::default(), layers) {
        Ok(outcome) => outcome,
        Err(error) => return format!("{}", error.problem),
    };
    let files = outcome.files.iter().map(|(path, content)| format!("{path}={content}"));
    let findings = outcome.unpacked.findings.iter().map(ToString::to_string);
    files.chain(findings).collect::<Vec<_>>().join(" ")
}

#[test]
fn upper_layers_hide_and_replace_what_lies_below() {
    let lower = || vec![file("a/x", "1"), file("a/y", "2"), file("b", "3")];
    let rows: [(&str, Vec<Item>, &str); 16] = [
        ("nothing new", vec![], "a/x=1 a/y=2 b=3"),
        ("a file replaces a file", vec![file("a/x", "new")], "a/x=new a/y=2 b=3"),
        ("dots and slashes mean nothing", vec![file("./a//./x", "new")], "a/x=new a/y=2 b=3"),
        ("a whiteout hides a file", vec![file("a/.wh.x", "")], "a/y=2 b=3"),
        ("a whiteout hides a directory", vec![file(".wh.a", "")], "b=3"),
        ("a whiteout of nothing is harmless", vec![file("a/.wh.z", "")], "a/x=1 a/y=2 b=3"),
        (
            "opaque: only this layer is left",
            vec![file("a/.wh..wh..opq", ""), file("a/z", "n")],
            "a/z=n b=3",
        ),
        (
            "opaque hides lower layers only",
            vec![file("a/z", "n"), file("a/.wh..wh..opq", "")],
            "a/z=n b=3",
        ),
        (
            "a whiteout hides lower layers only",
            vec![file("a/x", "n"), file("a/.wh.x", "")],
            "a/x=n a/y=2 b=3",
        ),
        ("a whiteout of the directory too", vec![file("a/x", "n"), file(".wh.a", "")], "a/x=n b=3"),
        ("an opaque root", vec![file(".wh..wh..opq", ""), file("c", "n")], "c=n"),
        ("a file replaces a directory", vec![file("a", "n")], "a=n b=3"),
        ("a directory replaces a file", vec![file("b/c", "n")], "a/x=1 a/y=2 b/c=n"),
        ("a listed directory keeps its files", vec![directory("a/")], "a/x=1 a/y=2 b=3"),
        ("a pipe takes a file's place", vec![Item::Fifo("b".to_owned())], "a/x=1 a/y=2"),
        ("the last of equal names wins", vec![file("b", "n"), file("b", "m")], "a/x=1 a/y=2 b=m"),
    ];
    for (claim, upper, expected) in rows {
        assert_eq!(everything(&[lower(), upper]), expected, "{claim}");
    }
}

#[test]
fn links_are_replaced_by_what_they_lead_to() {
    let rows: [(&str, Vec<Item>, &str); 15] = [
        ("to a neighbour", vec![file("d/a", "1"), symlink("d/l", "a")], "d/a=1 d/l=1"),
        ("upwards", vec![file("a", "1"), symlink("d/l", "../a")], "a=1 d/l=1"),
        ("from the root of the image", vec![file("a", "1"), symlink("d/l", "/a")], "a=1 d/l=1"),
        (
            "through a link",
            vec![file("a", "1"), symlink("l", "m"), symlink("m", "a")],
            "a=1 l=1 m=1",
        ),
        (
            "through a link to a directory",
            vec![file("d/a", "1"), symlink("e", "d"), symlink("l", "e/a")],
            "d/a=1 l=1 `e` is left out: it is a link to the directory `d`, which is not followed",
        ),
        ("above the root is the root", vec![file("a", "1"), symlink("l", "../../a")], "a=1 l=1"),
        (
            "to nothing",
            vec![symlink("l", "gone")],
            "`l` is left out: it is a link to `gone`, which does not exist",
        ),
        (
            "in a circle",
            vec![symlink("l", "l")],
            "`l` is left out: it is a link to `l`, which leads back or through too many links",
        ),
        (
            "a file below a link is a file of its target",
            vec![file("d/a", "1"), symlink("e", "d"), file("e/b", "2")],
            "d/a=1 d/b=2 `e` is left out: it is a link to the directory `d`, which is not followed",
        ),
        (
            "a directory replaces a link",
            vec![file("d/a", "1"), symlink("e", "d"), directory("e"), file("e/b", "2")],
            "d/a=1 e/b=2",
        ),
        ("a hard link", vec![file("a", "1"), hardlink("d/b", "a")], "a=1 d/b=1"),
        ("a hard link from the root", vec![file("a", "1"), hardlink("b", "/a")], "a=1 b=1"),
        (
            "a hard link outlives its target",
            vec![file("a", "1"), hardlink("b", "a"), file("a", "2")],
            "a=2 b=1",
        ),
        ("a hard link below its target", vec![file("a", "1"), hardlink("a/b", "a")], "a/b=1"),
        ("a hard link over its target", vec![file("a/b", "1"), hardlink("a", "a/b")], "a=1"),
    ];
    for (claim, items, expected) in rows {
        assert_eq!(everything(&[items]), expected, "{claim}");
    }
}

#[test]
fn only_what_is_wanted_is_kept() {
    let wanted = || Wanted::directories(["/configs", "metadata/"]).expect("plain paths");
    let lower =
        || vec![file("usr/bin/opm", "big"), file("configs/a.yaml", "1"), file("configsx", "2")];
    let outside = "is left out: it is a link to";
    let rows: [(&str, Vec<Item>, String); 7] = [
        ("a prefix of a name is no directory", vec![], "configs/a.yaml=1".to_owned()),
        ("above a wanted directory", vec![file(".wh..wh..opq", "")], String::new()),
        ("its place is taken", vec![file("configs", "file")], "configs=file".to_owned()),
        (
            "a link out of it",
            vec![symlink("configs/b", "../usr/bin/opm")],
            format!("configs/a.yaml=1 `configs/b` {outside} `../usr/bin/opm`, outside of what is unpacked"),
        ),
        (
            "it is a link itself",
            vec![file(".wh.configs", ""), symlink("configs", "data"), file("configs/c", "3")],
            format!("`configs` {outside} `data`, outside of what is unpacked `configs/c` is left out: it lies below a link that leads out of what is unpacked"),
        ),
        (
            "strange names elsewhere",
            vec![file("/ko-app/x", ""), file(&format!("usr/{}", "d/".repeat(200)), "")],
            "configs/a.yaml=1".to_owned(),
        ),
        (
            "a hard link to a file that has passed by",
            vec![hardlink("metadata/m", "usr/bin/opm")],
            "configs/a.yaml=1 `metadata/m` is left out: it is a hard link to `usr/bin/opm`, which was not unpacked"
                .to_owned(),
        ),
    ];
    for (claim, upper, expected) in rows {
        let mut found = describe(wanted(), &[lower(), upper]);
        if claim == "it is a link itself" {
            // Both findings are there; their order is that of their kinds.
            found = found.trim().to_owned();
        }
        assert_eq!(found, expected, "{claim}");
    }
}

#[test]
fn a_second_pass_finds_what_hard_links_need() {
    let layers = [
        vec![file("usr/m", "1"), file("usr/n", "2")],
        vec![hardlink("configs/m", "usr/m"), file("usr/m", "3")],
    ];
    let wanted = || Wanted::directories(["configs"]).expect("plain paths");
    let first = unpack(wanted(), LayerLimits::default(), &layers).expect("sound");
    assert_eq!(first.unpacked.needed.iter().collect::<Vec<_>>(), ["usr/m"]);
    assert!(first.files.is_empty());
    let wanted = wanted().and_files(&first.unpacked.needed);
    let second = unpack(wanted, LayerLimits::default(), &layers).expect("sound");
    assert_eq!(
        second.files.iter().collect::<Vec<_>>(),
        [(&"configs/m".to_owned(), &"1".to_owned())]
    );
    assert!(second.unpacked.needed.is_empty() && second.unpacked.findings.is_empty());
}

#[test]
fn contents_that_nobody_has_any_more_are_given_up() {
    let layers = [
        vec![file("a", "1"), file("b", "2"), hardlink("c", "b")],
        vec![file("a", "new"), file(".wh.b", "")],
        vec![file("d", "4"), file("d", "5")],
    ];
    let outcome = unpack(Wanted::everything(), LayerLimits::default(), &layers).expect("sound");
    let files: Vec<_> = outcome.files.values().map(String::as_str).collect();
    assert_eq!(files, ["new", "2", "5"]);
    assert_eq!(outcome.contents, 3, "as many contents as files");
}

#[test]
fn every_compression_and_every_length_of_names_is_read() {
    let long = format!("{}/catalog.yaml", "directory-with-a-name".repeat(8));
    let items = vec![file(&long, "1"), file("b", &"x".repeat(100_000))];
    let plain = archive(&items);
    let (first, second) = plain.split_at(777);
    let mut zstd = zstd::encode_all(first, 3).expect("memory takes it");
    // A frame that is to be skipped, as lazily pulled images have them.
    zstd.write_all(b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc").expect("memory takes it");
    zstd.extend(zstd::encode_all(second, 3).expect("memory takes it"));
    let blobs = [
        (LayerCompression::Plain, plain.clone()),
        (LayerCompression::Gzip, gzip(&plain)),
        (LayerCompression::Gzip, [gzip(first), gzip(second), gzip(b"")].concat()),
        (LayerCompression::Zstd, zstd),
        // An archive without its end is one for Go too.
        (LayerCompression::Plain, plain[..plain.len() - 1024].to_vec()),
        // `umoci insert` does not even fill the last block.
        (LayerCompression::Plain, plain[..plain.len() - 1024 - (512 - 100_000 % 512)].to_vec()),
    ];
    for (compression, blob) in blobs {
        let outcome =
            unpack_blobs(Wanted::everything(), LayerLimits::default(), &[(compression, blob)])
                .expect("sound");
        assert_eq!(outcome.files.len(), 2);
        assert_eq!(outcome.files[&long], "1");
        assert_eq!(outcome.files["b"].len(), 100_000);
    }
}

#[test]
fn archives_without_digests_are_refused_when_cut_anywhere() {
    let items =
        [directory("d"), file("d/a", "1"), symlink("d/l", "a"), file("b", &"x".repeat(700))];
    let whole = archive(&items);
    // One block of zeros is enough; the second says nothing more.
    let needed = whole.len() - 512;
    let streams = [
        (LayerCompression::Plain, whole.clone(), needed),
        (LayerCompression::Gzip, gzip(&whole), gzip(&whole).len()),
        (
            LayerCompression::Zstd,
            zstd::encode_all(whole.as_slice(), 1).expect("memory takes it"),
            usize::MAX,
        ),
    ];
    for (compression, blob, needed) in streams {
        let needed = needed.min(blob.len());
        for length in 0..=blob.len() {
            let cut = &blob[..length];
            let mut overlay =
                Overlay::new(Wanted::everything(), LayerLimits::default(), MemorySink::default());
            let applied = overlay.apply_whole(&Digest::of(cut), compression, cut);
            assert_eq!(applied.is_ok(), length >= needed, "{compression:?} cut to {length} bytes");
        }
    }
    // The digest of an image's layer proves that nothing is missing.
    let ends = [512, 1536, 2048];
    for length in ends {
        let blobs = [(LayerCompression::Plain, whole[..length].to_vec())];
        assert!(unpack_blobs(Wanted::everything(), LayerLimits::default(), &blobs).is_ok());
    }
}
