//! The grammar of names: DNS labels and image references.

/// The longest DNS label.
const MAX_LABEL_BYTES: usize = 63;

/// The longest repository name of an image reference, registry included.
const MAX_REPOSITORY_BYTES: usize = 255;

/// The longest tag of an image reference.
const MAX_TAG_BYTES: usize = 128;

/// The fewest hexadecimal digits of a digest.
const MIN_DIGEST_DIGITS: usize = 32;

/// Says why a text is not a DNS label, which package names must be.
pub(super) fn label_defect(name: &str) -> Option<String> {
    let bytes = name.as_bytes();
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if bytes.len() > MAX_LABEL_BYTES {
        return Some(format!(
            "it has {} characters, at most {MAX_LABEL_BYTES} are allowed",
            bytes.len()
        ));
    }
    if let Some(odd) = name
        .chars()
        .find(|&character| !character.is_ascii() || !allowed(u8::try_from(character).unwrap_or(0)))
    {
        return Some(format!("{odd:?} is not allowed; use lower-case letters, digits and `-`"));
    }
    if bytes.first() == Some(&b'-') || bytes.last() == Some(&b'-') {
        return Some("it must start and end with a letter or a digit".to_owned());
    }
    None
}

/// Says why a text is not an image reference.
///
/// Upstream reads references the way Docker does: a first part without a dot or a colon is not a
/// registry but belongs to the repository on `docker.io`.
pub(super) fn image_defect(reference: &str) -> Option<String> {
    let is_hexadecimal = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    if reference.len() == 64 && is_hexadecimal(reference) {
        return Some("64 hexadecimal digits are an image id, not a reference".to_owned());
    }
    let (registry, remainder) = split_registry(reference);
    let remainder: &str = &remainder;
    let repository = remainder.split_once(':').map_or(remainder, |(repository, _)| repository);
    if repository.chars().any(char::is_uppercase) {
        return Some("the repository must be lower case".to_owned());
    }
    let (name_and_tag, digest) = match remainder.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (remainder, None),
    };
    let (path, tag) = match name_and_tag.rsplit_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (name_and_tag, None),
    };
    // Upstream: what cannot be a registry may still be the first part of the repository.
    if !is_registry(registry) && !is_path_component(registry) {
        return Some(format!("`{registry}` is not the name of a registry"));
    }
    if let Some(part) = path.split('/').find(|part| !is_path_component(part)) {
        return Some(match part {
            "" => "the repository has an empty part".to_owned(),
            _ => format!("`{part}` is not allowed in a repository"),
        });
    }
    if registry.len() + 1 + path.len() > MAX_REPOSITORY_BYTES {
        return Some(format!("the repository is longer than {MAX_REPOSITORY_BYTES} characters"));
    }
    if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
        return Some(format!("`{tag}` is not a tag"));
    }
    digest.and_then(digest_defect)
}

/// Splits off the registry, which is `docker.io` when the reference does not name one.
fn split_registry(reference: &str) -> (&str, std::borrow::Cow<'_, str>) {
    let (registry, remainder) = match reference.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        Some(_) | None => ("docker.io", reference),
    };
    let is_docker = registry == "docker.io" || registry == "index.docker.io";
    if is_docker && !remainder.contains('/') {
        ("docker.io", format!("library/{remainder}").into())
    } else {
        (registry, remainder.into())
    }
}

fn is_registry(registry: &str) -> bool {
    let (host, port) = match registry.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (registry, None),
    };
    let is_host_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    host.split('.').all(is_host_part)
        && port
            .is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Letters and digits, joined by one dot, one or two underscores, or any number of hyphens.
fn is_path_component(component: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    if !bytes.first().is_some_and(|&byte| is_word(byte))
        || !bytes.last().is_some_and(|&byte| is_word(byte))
    {
        return false;
    }
    bytes.split(|&byte| is_word(byte)).all(|separator| match separator {
        b"" | b"." | b"_" | b"__" => true,
        other => other.iter().all(|&byte| byte == b'-'),
    })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= MAX_TAG_BYTES
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

fn digest_defect(digest: &str) -> Option<String> {
    let Some((algorithm, digits)) = digest.split_once(':') else {
        return Some(format!("`{digest}` is not a digest; it should be `sha256:` and 64 digits"));
    };
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let expected = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Some(format!("digest algorithm `{algorithm}` is not supported")),
    };
    let lower_case = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
    if digits.len() < MIN_DIGEST_DIGITS
        || digits.len() != expected
        || !is_hexadecimal
        || !lower_case
    {
        return Some(format!("a {algorithm} digest has {expected} lower-case hexadecimal digits"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_that_docker_reads() {
        for reference in [
            "a",
            "a/b",
            "quay.io/ns/name",
            "quay.io/ns/name:v1.0.0",
            "localhost:5000/x",
            "localhost/x",
            "a.b-c__d/e--f:T_1",
            "UPPER.io/a/b",
            "example.com:1/a",
            "busybox:latest",
            "quay.io/a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "quay.io/a/b:t@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert_eq!(image_defect(reference), None, "{reference}");
        }
    }

    #[test]
    fn references_that_docker_refuses() {
        for reference in [
            " quay.io/a/b",
            "quay.io/a/b ",
            "docker://a/b",
            "quay.io/a/b@sha256:abc",
            "-a/b",
            "a b",
            "quay.io/a/b:t:u",
            "quay.io/A/b",
            ":",
            "/",
            "[::1]:5000/a/b",
            "quay.io/a/é",
            "quay.io//b",
            "quay.io/a/b@md5:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "quay.io/a_.b",
            "quay.io/a:",
            "Foo",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(image_defect(reference).is_some(), "{reference}");
        }
    }
}
