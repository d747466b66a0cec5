//! Layers that mean harm: each gets a clear error, in bounded memory.

use std::io::{self, Read};

use operon_oci::{
    Digest, LayerCompression,
    layer::{LayerLimits, MAX_EXTENSION_BYTES, Overlay, Wanted},
};
use proptest::prelude::*;
use tar::{EntryType, Header};

use crate::support::{
    Item, MemorySink, archive, file, gzip, gzip_tightly, hardlink, symlink, unpack, unpack_blobs,
};

fn refusal(limits: LayerLimits, compression: LayerCompression, blob: Vec<u8>) -> String {
    match unpack_blobs(Wanted::everything(), limits, &[(compression, blob)]) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn paths_and_links_that_lead_out_are_refused() {
    let long = "d/".repeat(129) + "f";
    let rows: [(Vec<Item>, &str); 9] = [
        (
            vec![file("../../etc/passwd", "x")],
            "path traversal: the path `../../etc/passwd` has a `..`",
        ),
        (vec![file("a/../../b", "x")], "has a `..`"),
        (vec![file("/etc/passwd", "x")], "path traversal: the path `/etc/passwd` is absolute"),
        (vec![hardlink("a", "../b")], "has a `..`"),
        (vec![hardlink("a", "b")], "`a` is a hard link to `b`, which is not there"),
        (vec![file("d/f", "x"), hardlink("a", "d")], "which is a directory"),
        (vec![file(".wh.", "")], "is a whiteout of no file"),
        (vec![file("d/.wh...", "")], "is a whiteout of no file"),
        (vec![file(&long, "")], "has 130 parts, more than 128"),
    ];
    for (items, expected) in rows {
        let message =
            refusal(LayerLimits::default(), LayerCompression::Gzip, gzip(&archive(&items)));
        assert!(message.contains(expected), "{items:?}: {message}");
        assert!(message.starts_with("layer 1 (`sha256:"), "{message}");
    }
}

#[test]
fn damaged_streams_are_told_from_good_ones() {
    let plain = archive(&[file("a", &"text ".repeat(1000)), file("b", "2")]);
    let packed = gzip(&plain);
    let zstd = zstd::encode_all(plain.as_slice(), 3).expect("memory takes it");
    let mut flipped = packed.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let mut wrong_sum = plain.clone();
    wrong_sum[0] ^= 1;
    let mut trailing = plain.clone();
    trailing.extend(b"something");
    let short = |bytes: &[u8], less: usize| bytes[..bytes.len() - less].to_vec();
    use LayerCompression::{Gzip, Plain, Zstd};
    let rows: [(LayerCompression, Vec<u8>, &str); 14] = [
        (Gzip, short(&packed, 1), "it ends in the middle"),
        (Gzip, short(&packed, 60), "it ends in the middle"),
        (
            Gzip,
            [packed.clone(), b"garbage".repeat(20)].concat(),
            "the compressed stream is damaged",
        ),
        (Gzip, flipped, "damaged"),
        (
            Gzip,
            plain.clone(),
            "the layer should be a gzip stream, but its first bytes are those of a plain tar archive",
        ),
        (Gzip, b"<html></html>".to_vec(), "neither tar nor gzip nor zstd"),
        (Gzip, Vec::new(), "missing: it is empty"),
        (Zstd, short(&zstd, 5), "it ends in the middle"),
        (Zstd, [zstd.clone(), b"garbage".repeat(20)].concat(), "the compressed stream is damaged"),
        (Zstd, packed.clone(), "those of a gzip stream"),
        (Plain, plain[..700].to_vec(), "at byte 700 of its archive: it ends in the middle"),
        (Plain, vec![b'x'; 2048], "a checksum is no number"),
        (
            Plain,
            wrong_sum,
            "at byte 512 of its archive: the archive is damaged: a header has a wrong checksum",
        ),
        (Gzip, gzip(&trailing), "there is something behind the end of the archive"),
    ];
    for (compression, blob, expected) in rows {
        let message = refusal(LayerLimits::default(), compression, blob);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

/// Produces bytes without end, and fails the test when somebody reads too many.
struct Endless {
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.left > 0, "somebody has read far too much");
        self.left = self.left.saturating_sub(buffer.len() as u64);
        buffer.fill(0);
        Ok(buffer.len())
    }
}

/// Produces one block again and again.
struct Repeating<'a> {
    block: &'a [u8],
    left: usize,
    at: usize,
}

impl Read for Repeating<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let length = (self.block.len() - self.at).min(buffer.len());
        buffer[..length].copy_from_slice(&self.block[self.at..self.at + length]);
        self.at = (self.at + length) % self.block.len();
        self.left -= usize::from(self.at == 0);
        Ok(length)
    }
}

fn header(kind: EntryType, path: &str, size: u64) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_cksum();
    header.as_bytes().to_vec()
}

#[test]
fn bombs_are_noticed_while_they_go_off() {
    let limits = LayerLimits { grace_bytes: 1 << 20, ..LayerLimits::default() };
    // A thousandfold: the file has 64 MiB of zero bytes.
    let mut bomb = header(EntryType::Regular, "zeros", 64 << 20);
    bomb.resize((64 << 20) + 1536, 0);
    for (compression, blob) in [
        (LayerCompression::Gzip, gzip_tightly(&bomb)),
        (LayerCompression::Zstd, zstd::encode_all(bomb.as_slice(), 3).expect("memory takes it")),
    ] {
        let message = refusal(limits, compression, blob.clone());
        assert!(message.contains("decompression bomb"), "{message}");
        // Also where the file is not wanted.
        let wanted = Wanted::directories(["configs"]).expect("plain");
        assert!(unpack_blobs(wanted, limits, &[(compression, blob)]).is_err());
    }
    let limits = LayerLimits { decompressed_bytes: 1 << 20, ..LayerLimits::default() };
    let first = header(EntryType::Regular, "endless", 1 << 40);
    let blob = first.as_slice().chain(Endless { left: 4 << 20 });
    let wanted = Wanted::directories(["configs"]).expect("plain");
    let mut overlay = Overlay::new(wanted, limits, MemorySink::default());
    let error =
        overlay.apply(&Digest::of(b""), LayerCompression::Plain, blob).expect_err("endless");
    assert!(error.to_string().contains("decompress to more than 1048576 bytes"), "{error}");

    let limits = LayerLimits { kept_bytes: 10, ..LayerLimits::default() };
    let items = vec![file("a", "123456"), file("a", "1234"), file("b", "1234567")];
    let message = unpack(Wanted::everything(), limits, &[items]).map(|_| ()).expect_err("11 bytes");
    assert!(message.to_string().contains("the wanted files have more than 10 bytes"), "{message}");
}

#[test]
fn a_million_entries_stay_within_the_limits() {
    let block = header(EntryType::Regular, "configs/file", 0);
    let wanted = Wanted::directories(["configs"]).expect("plain");
    let mut overlay = Overlay::new(wanted, LayerLimits::default(), MemorySink::default());
    let million = Repeating { block: &block, left: 1_000_000, at: 0 };
    overlay.apply(&Digest::of(b""), LayerCompression::Plain, million).expect("within the limits");
    let (unpacked, sink) = overlay.finish();
    assert_eq!(
        (unpacked.files.len(), sink.blobs.len()),
        (1, 1),
        "each takes the place of the last"
    );
    let limits = LayerLimits { archive_entries: 5000, ..LayerLimits::default() };
    let message = refusal(limits, LayerCompression::Plain, block.repeat(6000));
    assert!(message.contains("more than 5000 entries"), "{message}");
    let many: Vec<Item> = (0..300).map(|number| file(&format!("d/{number}"), "")).collect();
    let limits = LayerLimits { tree_entries: 200, ..LayerLimits::default() };
    let message = refusal(limits, LayerCompression::Gzip, gzip(&archive(&many)));
    assert!(message.contains("more than 200 entries"), "{message}");
    let whiteouts: Vec<Item> =
        (0..300).map(|number| file(&format!("d/.wh.{number}"), "")).collect();
    let message = refusal(limits, LayerCompression::Gzip, gzip(&archive(&whiteouts)));
    assert!(message.contains("more than 200 entries"), "{message}");
    let limits = LayerLimits { name_bytes: 1000, ..LayerLimits::default() };
    let links: Vec<Item> =
        (0..30).map(|number| symlink(&number.to_string(), &"x".repeat(90))).collect();
    let message = refusal(limits, LayerCompression::Gzip, gzip(&archive(&links)));
    assert!(message.contains("more than 1000 bytes of names"), "{message}");
}

#[test]
fn descriptions_of_entries_are_bounded() {
    for kind in [EntryType::XHeader, EntryType::GNULongName, EntryType::GNULongLink] {
        let blob = header(kind, "x", 1 << 40).into_iter().chain(vec![0; 4096]).collect();
        let message = refusal(LayerLimits::default(), LayerCompression::Plain, blob);
        assert!(message.contains(&format!("more than {MAX_EXTENSION_BYTES}")), "{message}");
    }
    for records in [
        "x",
        "99 path=a\n",
        "3 a\n",
        "0 path=a\n",
        "18446744073709551616 path=a\n",
        "9 path=a\n9 size=z\n",
    ] {
        let mut blob = header(EntryType::XHeader, "x", records.len() as u64);
        blob.extend(records.as_bytes());
        blob.resize(1024, 0);
        blob.extend(header(EntryType::Regular, "f", 0));
        let message = refusal(LayerLimits::default(), LayerCompression::Plain, blob);
        assert!(message.contains("the archive is damaged"), "{records}: {message}");
    }
    let mut blob = header(EntryType::GNUSparse, "f", 0);
    blob.resize(2048, 0);
    let message = refusal(LayerLimits::default(), LayerCompression::Plain, blob);
    assert!(message.contains("stored as a sparse file"), "{message}");
}

#[test]
fn a_chain_of_links_ends() {
    let mut items = vec![file("l0", "1")];
    items
        .extend((1..100).map(|number| symlink(&format!("l{number}"), &format!("l{}", number - 1))));
    let outcome = unpack(Wanted::everything(), LayerLimits::default(), &[items])
        .expect("a tree with findings");
    assert_eq!(outcome.files.len(), 41, "a file and forty links, as on Linux");
    assert_eq!(outcome.unpacked.findings.len(), 59);
    // Each link leads twice through the one before: two to the hundredth steps.
    let doubling: Vec<Item> = (1..100)
        .map(|number| {
            let before = number - 1;
            symlink(&format!("d{number}"), &format!("d{before}/../d{before}"))
        })
        .collect();
    let outcome =
        unpack(Wanted::everything(), LayerLimits::default(), &[doubling]).expect("a tree");
    assert!(outcome.files.is_empty());
}

proptest! {
    #[test]
    fn no_damage_breaks_the_reader(at in 0..6000_usize, byte: u8, cut in 0..6000_usize) {
        let mut blob = archive(&[
            file("a/b", "1"), symlink("l", "a/b"), hardlink("h", "a/b"), file(".wh.x", ""),
            file(&"long/".repeat(30), "2"),
        ]);
        let (at, cut) = (at % blob.len(), cut % blob.len());
        blob[at] = byte;
        let whole = [(LayerCompression::Plain, blob.clone())];
        let _ = unpack_blobs(Wanted::everything(), LayerLimits::default(), &whole);
        blob.truncate(cut);
        let _ = unpack_blobs(Wanted::everything(), LayerLimits::default(), &[(LayerCompression::Plain, blob)]);
    }
}
