//! Layers of any bytes: a tree within its bounds, or an error.

#![no_main]

use std::{collections::BTreeMap, io};

use libfuzzer_sys::fuzz_target;
use operon_oci::{
    Digest, LayerCompression,
    layer::{BlobId, LayerLimits, Overlay, Sink, Wanted},
};

/// Remembers the sizes of contents and checks that they are as announced.
#[derive(Default)]
struct Sizes {
    sizes: BTreeMap<BlobId, u64>,
    open: Option<(BlobId, u64)>,
}

impl Sink for Sizes {
    fn begin(&mut self, blob: BlobId, size: u64) -> io::Result<()> {
        assert!(self.open.replace((blob, size)).is_none());
        assert!(self.sizes.insert(blob, 0).is_none());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (blob, _) = self.open.expect("begun");
        *self.sizes.get_mut(&blob).expect("begun") += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let (blob, size) = self.open.take().expect("begun");
        assert_eq!(self.sizes[&blob], size);
        Ok(())
    }

    fn discard(&mut self, blob: BlobId) -> io::Result<()> {
        assert!(self.sizes.remove(&blob).is_some());
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&mode, data)) = data.split_first() else {
        return;
    };
    let compression = match mode & 3 {
        1 => LayerCompression::Gzip,
        2 => LayerCompression::Zstd,
        _ => LayerCompression::Plain,
    };
    let is_partial = mode & 4 != 0;
    let wanted = if is_partial {
        Wanted::directories(["configs", "a/b"]).expect("plain paths")
    } else {
        Wanted::everything()
    };
    let limits = LayerLimits {
        decompressed_bytes: 8 << 20,
        grace_bytes: 1 << 20,
        tree_entries: 1000,
        ..LayerLimits::default()
    };
    let mut overlay = Overlay::new(wanted, limits, Sizes::default());
    for layer in split(data) {
        let mut layer = layer.to_vec();
        if mode & 3 == 3 {
            repair_sums(&mut layer);
        }
        if let Err(error) = overlay.apply(&Digest::of(b""), compression, layer.as_slice()) {
            assert!(!error.to_string().is_empty());
            return;
        }
    }
    let (unpacked, sink) = overlay.finish();
    for (path, file) in &unpacked.files {
        assert_eq!(sink.sizes.get(&file.blob), Some(&file.size), "{path}");
        assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path}");
        assert!(!is_partial || path.starts_with("configs") || path.starts_with("a/b"), "{path}");
    }
});

/// Layers are separated by lines of `%%%`.
fn split(data: &[u8]) -> Vec<&[u8]> {
    const MARK: &[u8] = b"\n%%%\n";
    let mut layers = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        layers.push(&rest[..at]);
        rest = &rest[at + MARK.len()..];
    }
    layers.push(rest);
    layers
}

/// A checksum that is wrong stops everything, so each block that is not zero gets the right one.
fn repair_sums(layer: &mut [u8]) {
    for block in layer.chunks_exact_mut(512).filter(|block| block.iter().any(|byte| *byte != 0)) {
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().copied().map(u64::from).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    }
}
