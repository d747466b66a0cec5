//! The grammar of image references: `[host[:port]/]path[:tag][@digest]`.
//!
//! Whether a registry has the image is not asked. Upstream's validator takes what its catalogs refuse, such as
//! hosts that only a capital letter tells, IPv6 addresses and digests of other algorithms, so this is another grammar than
//! that of `core/catalog`.

/// The longest host and path together.
const MAX_NAME: usize = 255;

/// The longest tag.
const MAX_TAG: usize = 128;

/// The shortest digest of any algorithm, in hexadecimal digits.
const MIN_DIGEST: usize = 32;

/// Checks an image reference; the error says what is wrong with it.
pub(super) fn check(reference: &str) -> Result<(), &'static str> {
    let (rest, digest) = match reference.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (reference, None),
    };
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return Err("the digest behind `@` must be an algorithm, a colon and hexadecimal digits");
    }
    let last_slash = rest.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match rest[last_slash..].split_once(':') {
        Some((end, tag)) => (&rest[..last_slash + end.len()], Some(tag)),
        None => (rest, None),
    };
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return Err("the tag must consist of letters, digits, `_`, `.` and `-`");
    }
    if name.len() > MAX_NAME {
        return Err("the name is longer than 255 characters");
    }
    let (host, path) = split_host(name);
    if host.is_some_and(|host| !is_host(host)) {
        return Err("the host must be a domain name or an address, with an optional port");
    }
    if path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err("the path must be written in small letters");
    }
    if !path.split('/').all(is_path_part) {
        return Err(
            "the parts of the path must be small letters and digits, separated by `.`, `_` or `-`",
        );
    }
    Ok(())
}

/// Splits the host off: what is before the first slash, if it looks like one.
fn split_host(name: &str) -> (Option<&str>, &str) {
    match name.split_once('/') {
        Some((host, path))
            if host.contains(['.', ':']) || host == "localhost" || host.to_lowercase() != host =>
        {
            (Some(host), path)
        }
        Some(_) | None => (None, name),
    }
}

fn is_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else { return false };
            let is_address = !address.is_empty()
                && address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
            return is_address && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
        }
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.split('.').all(is_part) && port.is_none_or(is_port)
}

fn is_port(port: &str) -> bool {
    !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Letters and digits, separated by one dot, one or two underscores, or dashes.
fn is_path_part(part: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let words: Vec<&str> = part.split(|character: char| is_separator(character)).collect();
    let edges = [part.bytes().next(), part.bytes().last()];
    if !edges.iter().all(|edge| edge.is_some_and(is_letter)) {
        return false;
    }
    let is_known = words.iter().all(|word| word.bytes().all(is_letter));
    is_known
        && separators(part).iter().all(|separator| {
            matches!(separator.as_str(), "." | "_" | "__")
                || separator.bytes().all(|byte| byte == b'-')
        })
}

fn is_separator(character: char) -> bool {
    matches!(character, '.' | '_' | '-')
}

fn separators(part: &str) -> Vec<String> {
    part.split(|character: char| !is_separator(character))
        .filter(|separator| !separator.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= MAX_TAG
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || b".-".contains(&byte))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, digits)) = digest.split_once(':') else { return false };
    let is_algorithm = !algorithm.is_empty()
        && algorithm.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_+.".contains(&byte));
    let length_fits = match algorithm {
        "sha256" => digits.len() == 64,
        "sha384" => digits.len() == 96,
        "sha512" => digits.len() == 128,
        _ => digits.len() >= MIN_DIGEST,
    };
    is_algorithm && length_fits && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_registries_read_them() {
        let sha = format!("quay.io/a/b@sha256:{}", "0".repeat(64));
        for right in [
            "busybox",
            "busybox:1.36",
            "library/busybox",
            "quay.io/coreos/etcd-operator:v0.9.4",
            "localhost/x",
            "localhost:5000/x:y",
            "[::1]:5000/x",
            "registry.example.com/a__b/c.d--e",
            "Registry/path",
            &sha,
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for wrong in [
            "",
            ":tag",
            "quay.io/",
            "quay.io/A/b",
            "quay.io/a//b",
            "quay.io/a:",
            "quay.io/a:b/c",
            "quay.io/a@sha256:12",
            "quay.io/a@nothing",
            "https://quay.io/a",
            "quay.io/a b",
            "quay.io/a..b",
            "quay.io/a-",
            "${IMAGE}",
            "quay.io/{{ .Image }}",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
