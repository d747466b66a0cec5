//! Names of hosts and of objects.
//!
//! Nothing is looked up; only the form is checked.

use std::sync::LazyLock;

use regex::Regex;

/// Upstream: letters and symbols of every alphabet may be part of a host's name.
static SYMBOLS_AND_LETTERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\p{S}\p{L}]$").ok());
static LETTERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}$").ok());

/// Tells whether a text names a host, with or without a domain.
pub(super) fn is_host_name(text: &str) -> bool {
    if text.len() > 255 || text.split('.').any(|label| label.len() > 63) {
        return false;
    }
    is_single_label(text) || is_domain(text)
}

/// Tells whether a text may name a Kubernetes object that allows no dots.
pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_name_segment(text)
}

/// Tells whether a text may name a Kubernetes object that allows dots.
pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_name_segment)
}

fn is_name_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && text.bytes().next().is_some_and(is_plain)
        && text.bytes().last().is_some_and(is_plain)
}

/// Upstream: without a domain one dash is allowed, and only as the second character.
fn is_single_label(text: &str) -> bool {
    let mut characters = text.chars();
    if !characters.next().is_some_and(is_word) {
        return false;
    }
    let rest = characters.as_str();
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    rest.chars().count() <= 62 && rest.chars().all(is_word)
}

fn is_domain(text: &str) -> bool {
    let Some((labels, top)) = text.rsplit_once('.') else { return false };
    let is_label = |label: &str| {
        label.chars().all(|character| character == '-' || is_word(character))
            && label.chars().next().is_some_and(is_word)
            && label.chars().next_back().is_some_and(is_word)
    };
    labels.split('.').all(is_label) && top.chars().count() >= 2 && top.chars().all(is_letter)
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || is_in(&SYMBOLS_AND_LETTERS, character)
}

fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || is_in(&LETTERS, character)
}

fn is_in(set: &LazyLock<Option<Regex>>, character: char) -> bool {
    let mut buffer = [0; 4];
    set.as_ref().is_some_and(|set| set.is_match(character.encode_utf8(&mut buffer)))
}
