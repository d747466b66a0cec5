//! Manifests of large plans, compressed.
//!
//! A cluster stores an object of at most 1.5 MiB, and there are bundles with several times that in their
//! manifests together. What a text says is not looked at here.

use std::{
    borrow::Cow,
    io::{Read as _, Write as _},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use operon_object::{decode_base64, encode_base64};

/// What a text begins with that is compressed; no manifest does.
const PREFIX: &str = "gzip+base64:";

/// The most bytes that a text may have when it is unpacked: some times what a cluster stores.
pub const UNPACKED_BYTES_LIMIT: u64 = 16 << 20;

/// Compresses a manifest.
pub fn pack_manifest(text: &str) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packer.write_all(text.as_bytes()).and_then(|()| packer.finish());
    let packed = packed.expect("bug: writing to memory does not fail");
    format!("{PREFIX}{}", encode_base64(&packed))
}

/// Returns a manifest as it was before it was compressed, if it was; the error says what is wrong with it.
pub fn unpack_manifest(text: &str) -> Result<Cow<'_, str>, String> {
    let Some(packed) = text.strip_prefix(PREFIX) else { return Ok(Cow::Borrowed(text)) };
    let packed = decode_base64(packed).ok_or("it is no base64")?;
    let mut unpacked = String::new();
    let mut unpacker = GzDecoder::new(packed.as_slice()).take(UNPACKED_BYTES_LIMIT + 1);
    unpacker.read_to_string(&mut unpacked).map_err(|error| error.to_string())?;
    if unpacked.len() as u64 > UNPACKED_BYTES_LIMIT {
        return Err(format!("it is larger than {UNPACKED_BYTES_LIMIT} bytes"));
    }
    Ok(Cow::Owned(unpacked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_come_out_as_they_were_and_bombs_do_not() {
        for text in ["", "{}", "{\"kind\":\"Ü\"}", &"long ".repeat(100_000)] {
            assert_eq!(unpack_manifest(&pack_manifest(text)).as_deref(), Ok(text));
            assert_eq!(unpack_manifest(text).as_deref(), Ok(text));
        }
        let large = "x".repeat(usize::try_from(UNPACKED_BYTES_LIMIT).expect("a size") + 1);
        let packed = pack_manifest(&large);
        assert!(packed.len() < 100_000, "{}", packed.len());
        assert!(unpack_manifest(&packed).is_err_and(|error| error.contains("larger")));
        for damaged in ["gzip+base64:!", "gzip+base64:AAAA", &packed[..packed.len() / 2]] {
            assert!(unpack_manifest(damaged).is_err(), "{damaged:.40}");
        }
    }
}
