//! Docker's grammar of references, part by part, so that an error can name the part.
//!
//! It keeps the host as it is written; comparing hosts regardless of case is left to those who compare.

use super::{
    DEFAULT_TAG, DOCKER_HUB, DOCKER_HUB_INDEX, MAX_HOST_LENGTH, MAX_REPOSITORY_LENGTH,
    MAX_TAG_LENGTH, OFFICIAL_NAMESPACE, Reference, ReferenceError,
};
use crate::{Digest, printable::excerpt};

/// How much of a wrong part is repeated in a message.
const SHOWN_CHARACTERS: usize = 100;
/// The number of digits that make a name look like the id of an image.
const IMAGE_ID_LENGTH: usize = 64;
const SCHEMES: [&str; 5] = ["https://", "http://", "docker://", "oci://", "docker-archive:"];

pub(super) fn parse(text: &str) -> Result<Reference, ReferenceError> {
    if text.is_empty() {
        return Err(ReferenceError::Empty);
    }
    if let Some(scheme) = SCHEMES.iter().find(|scheme| text.starts_with(**scheme)) {
        return Err(ReferenceError::Scheme { text: excerpt(text, SHOWN_CHARACTERS), scheme });
    }
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (text, None),
    };
    let digest = digest.map(Digest::parse).transpose().map_err(|source| {
        ReferenceError::Digest { text: excerpt(text, SHOWN_CHARACTERS), source }
    })?;
    // A colon behind the last slash separates the tag; one before it, the port.
    let last_part = rest.rfind('/').map_or(0, |slash| slash + 1);
    let (name, tag) = match rest[last_part..].find(':') {
        Some(colon) => (&rest[..last_part + colon], Some(&rest[last_part + colon + 1..])),
        None => (rest, None),
    };
    if let Some(tag) = tag {
        check_tag(tag)?;
    }
    let (registry, repository) = registry_and_repository(name);
    check_registry(&registry)?;
    check_repository(&repository, name)?;
    let tag = match (tag, &digest) {
        (None, None) => Some(DEFAULT_TAG.to_owned()),
        (tag, _) => tag.map(str::to_owned),
    };
    Ok(Reference { registry, repository, tag, digest })
}

/// The first part is a host when it cannot be a part of a repository: it has a dot, a colon or a
/// capital letter, or it is `localhost`.
fn registry_and_repository(name: &str) -> (String, String) {
    let (mut registry, mut repository) = match name.split_once('/') {
        Some((first, rest))
            if first.contains(['.', ':'])
                || first == "localhost"
                || first.contains(|letter: char| letter.is_ascii_uppercase()) =>
        {
            (first.to_owned(), rest.to_owned())
        }
        _ => (DOCKER_HUB.to_owned(), name.to_owned()),
    };
    if registry.eq_ignore_ascii_case(DOCKER_HUB_INDEX) || registry.eq_ignore_ascii_case(DOCKER_HUB)
    {
        DOCKER_HUB.clone_into(&mut registry);
        if !repository.contains('/') && !repository.is_empty() {
            repository.insert_str(0, OFFICIAL_NAMESPACE);
        }
    }
    (registry, repository)
}

fn malformed(part: &'static str, text: &str, problem: impl Into<String>) -> ReferenceError {
    ReferenceError::Malformed {
        part,
        text: excerpt(text, SHOWN_CHARACTERS),
        problem: problem.into(),
    }
}

fn check_length(part: &'static str, text: &str, limit: usize) -> Result<(), ReferenceError> {
    if text.len() > limit {
        return Err(ReferenceError::TooLong { part, length: text.len(), limit });
    }
    Ok(())
}

pub(super) fn check_tag(tag: &str) -> Result<(), ReferenceError> {
    check_length("tag", tag, MAX_TAG_LENGTH)?;
    let is_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let Some(&first) = tag.as_bytes().first() else {
        return Err(malformed("tag", tag, "is empty; leave the `:` away"));
    };
    if !is_word(first) {
        return Err(malformed("tag", tag, "must begin with a letter, a digit or `_`"));
    }
    if !tag.bytes().all(|letter| is_word(letter) || matches!(letter, b'.' | b'-')) {
        return Err(malformed("tag", tag, "may have letters, digits, `_`, `.` and `-` only"));
    }
    Ok(())
}

fn check_registry(registry: &str) -> Result<(), ReferenceError> {
    check_length("registry", registry, MAX_HOST_LENGTH)?;
    let wrong = |problem: &str| malformed("registry", registry, problem);
    let (host, port) = match registry.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) =
                rest.split_once(']').ok_or_else(|| wrong("has a `[` without a `]`"))?;
            if address.parse::<core::net::Ipv6Addr>().is_err() {
                return Err(wrong("has no IPv6 address between `[` and `]`"));
            }
            match rest.strip_prefix(':') {
                Some(port) => (None, Some(port)),
                None if rest.is_empty() => (None, None),
                None => return Err(wrong("has something else than a port behind `]`")),
            }
        }
        None => match registry.split_once(':') {
            Some((host, port)) => (Some(host), Some(port)),
            None => (Some(registry), None),
        },
    };
    if let Some(port) = port
        && (port.is_empty()
            || !port.bytes().all(|digit| digit.is_ascii_digit())
            || port.parse::<u16>().is_err())
    {
        return Err(wrong("has a port that is no number from 0 to 65535"));
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
    };
    if !host.is_none_or(|host| host.split('.').all(is_label)) {
        return Err(wrong("is no host: letters, digits and `-` between dots are allowed"));
    }
    Ok(())
}

fn check_repository(repository: &str, name: &str) -> Result<(), ReferenceError> {
    check_length("repository", repository, MAX_REPOSITORY_LENGTH)?;
    if repository.is_empty() {
        return Err(malformed("repository", name, "is missing"));
    }
    if repository.contains(|letter: char| letter.is_ascii_uppercase()) {
        let problem = format!(
            "must not have capital letters; write `{}`",
            excerpt(&repository.to_ascii_lowercase(), SHOWN_CHARACTERS)
        );
        return Err(malformed("repository", repository, problem));
    }
    let is_hex = |letter: u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
    if name.len() == IMAGE_ID_LENGTH && name.bytes().all(is_hex) {
        return Err(malformed("repository", name, "is the id of an image, not a name"));
    }
    for component in repository.split('/') {
        if let Some(problem) = component_problem(component) {
            return Err(malformed("repository", repository, problem));
        }
    }
    Ok(())
}

/// Runs of small letters and digits, separated by `.`, `_`, `__` or any number of `-`.
fn component_problem(component: &str) -> Option<&'static str> {
    if component.is_empty() {
        return Some("has an empty part between two `/`");
    }
    let is_letter = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    if component.bytes().any(|letter| !is_letter(letter) && !matches!(letter, b'.' | b'_' | b'-')) {
        return Some("may have small letters, digits, `.`, `_`, `-` and `/` only");
    }
    let is_separator = |letter: char| matches!(letter, '.' | '_' | '-');
    if component.starts_with(is_separator) || component.ends_with(is_separator) {
        return Some("has a part that begins or ends with `.`, `_` or `-`");
    }
    let runs = component.split(|letter: char| !is_separator(letter)).filter(|run| !run.is_empty());
    for run in runs {
        if !matches!(run, "." | "_" | "__") && !run.bytes().all(|letter| letter == b'-') {
            return Some("has separators in a row: one `.`, one or two `_`, or any number of `-`");
        }
    }
    None
}
