//! The document of a new package, and the media type of its icon.

use operon_document::encode_base64;

use crate::json::ObjectWriter;

/// Returns the `olm.package` document of a new package as compact JSON with sorted keys.
///
/// An empty description is left out. The icon is given as its bytes and media type.
pub fn init_package(
    name: &str,
    default_channel: &str,
    description: &str,
    icon: Option<(&[u8], &str)>,
) -> String {
    let mut writer = ObjectWriter::new();
    writer.text("defaultChannel", default_channel).text_if_any("description", description);
    if let Some((data, media_type)) = icon {
        let icon = ObjectWriter::new()
            .text("base64data", &encode_base64(data))
            .text("mediatype", media_type)
            .finish();
        writer.member("icon", &icon);
    }
    writer.text("name", name).text("schema", "olm.package").finish()
}

/// Tells the media type of a picture from its bytes: PNG, JPEG, GIF or SVG.
pub fn sniff_media_type(bytes: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ];
    SIGNATURES
        .iter()
        .find(|(signature, _)| bytes.starts_with(signature))
        .map(|(_, media_type)| *media_type)
        .or_else(|| is_svg(bytes).then_some("image/svg+xml"))
}

/// Tells whether the first element of an XML text is `svg`.
fn is_svg(bytes: &[u8]) -> bool {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        let skipped = if rest.starts_with(b"<?") {
            after(rest, b"?>")
        } else if rest.starts_with(b"<!--") {
            after(rest, b"-->")
        } else if rest.starts_with(b"<!") {
            after_declaration(rest)
        } else {
            let name = rest.strip_prefix(b"<svg:").or_else(|| rest.strip_prefix(b"<"));
            let name = name.and_then(|name| name.strip_prefix(b"svg"));
            return name.is_some_and(|after| {
                after
                    .first()
                    .is_some_and(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace())
            });
        };
        match skipped {
            Some(next) => rest = next,
            None => return false,
        }
    }
}

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let position = text.windows(mark.len()).position(|window| window == mark)?;
    Some(&text[position + mark.len()..])
}

/// Skips a document type, which may hold declarations of its own between brackets.
fn after_declaration(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| matches!(byte, b'>' | b'['))?;
    if text[end] == b'[' { after(after(text, b"]")?, b">") } else { Some(&text[end + 1..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_told_from_bytes() {
        for (bytes, expected) in [
            (b"\x89PNG\r\n\x1a\n....".as_slice(), Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Some("image/svg+xml")),
            (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE svg [<!ENTITY a 'b'>]>\n<svg>", Some("image/svg+xml")),
            (b"<!DOCTYPE svg PUBLIC 'a' 'b'><svg:svg/>", Some("image/svg+xml")),
            (b"<!DOCTYPE html><html>", None),
            (b"<svgx>", None),
            (b"<!-- never ends", None),
            (b"<svg", None),
            (b"", None),
        ] {
            assert_eq!(sniff_media_type(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_new_package_is_one_document() {
        assert_eq!(
            init_package("etcd", "stable", "", None),
            r#"{"defaultChannel":"stable","name":"etcd","schema":"olm.package"}"#
        );
        assert_eq!(
            init_package("etcd", "", "a \"store\"", Some((b"GIF89a", "image/gif"))),
            r#"{"defaultChannel":"","description":"a \"store\"","icon":{"base64data":"R0lGODlh","mediatype":"image/gif"},"name":"etcd","schema":"olm.package"}"#
        );
    }
}
