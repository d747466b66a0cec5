//! The forms of names that API servers accept.
//!
//! Each function answers with what is wrong, in the words of a sentence that begins with the name.

/// The longest name of an object.
const MAX_SUBDOMAIN: usize = 253;

/// The longest label, and the longest part of a host name.
const MAX_LABEL: usize = 63;

/// The longest prefix of the key of a label or an annotation is a subdomain; this is the rest.
const MAX_KEY_NAME: usize = 63;

/// Checks the name of an object: parts of small letters, digits and dashes, joined by dots.
pub(super) fn subdomain(name: &str) -> Result<(), String> {
    if name.len() > MAX_SUBDOMAIN {
        return Err(format!("must have at most {MAX_SUBDOMAIN} characters, not {}", name.len()));
    }
    if name.split('.').all(is_dns_part) {
        return Ok(());
    }
    Err("must consist of small letters, digits, `-` and `.`, and each part between dots must begin \
         and end with a letter or digit"
        .to_owned())
}

/// Checks the value of a label.
pub(super) fn label_value(value: &str) -> Result<(), String> {
    if value.len() > MAX_LABEL {
        return Err(format!(
            "must have at most {MAX_LABEL} characters to be the value of a label, not {}",
            value.len()
        ));
    }
    if value.is_empty() || is_name_part(value) {
        return Ok(());
    }
    Err("must consist of letters, digits, `-`, `_` and `.`, and begin and end with a letter or digit, \
         to be the value of a label"
        .to_owned())
}

/// Checks the key of a label or an annotation: a name with an optional prefix and a slash.
pub(super) fn qualified_key(key: &str) -> Result<(), String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        subdomain(prefix).map_err(|reason| format!("has a prefix that {reason}"))?;
    }
    if name.len() <= MAX_KEY_NAME && is_name_part(name) {
        return Ok(());
    }
    Err(format!(
        "must be at most {MAX_KEY_NAME} letters, digits, `-`, `_` and `.` behind an optional prefix and `/`"
    ))
}

/// Checks a name that is part of a URL: a small letter, then small letters, digits and dashes.
pub(super) fn dns_label(name: &str) -> Result<(), String> {
    if name.len() > MAX_LABEL {
        return Err(format!("must have at most {MAX_LABEL} characters, not {}", name.len()));
    }
    if is_dns_part(name) && name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Ok(());
    }
    Err("must begin with a small letter and go on with small letters, digits and `-`".to_owned())
}

fn is_dns_part(part: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !part.is_empty()
        && part.bytes().all(is_allowed)
        && !part.starts_with('-')
        && !part.ends_with('-')
}

fn is_name_part(part: &str) -> bool {
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    is_edge(part.bytes().next()) && is_edge(part.bytes().last()) && part.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_api_servers_judge_them() {
        let long = |length| "a".repeat(length);
        for (name, is_subdomain, is_value, is_label) in [
            ("etcd.v0.9.4", true, true, false),
            ("etcd", true, true, true),
            ("9etcd", true, true, false),
            ("Etcd.v1", false, true, false),
            ("etcd..v1", false, true, false),
            ("-etcd", false, false, false),
            ("etcd_x", false, true, false),
            ("etcd.v1.0.0+1", false, false, false),
            ("", false, true, false),
            (&long(63), true, true, true),
            (&long(64), true, false, false),
            (&long(254), false, false, false),
        ] {
            assert_eq!(subdomain(name).is_ok(), is_subdomain, "{name}");
            assert_eq!(label_value(name).is_ok(), is_value, "{name}");
            assert_eq!(dns_label(name).is_ok(), is_label, "{name}");
        }
        for (key, is_right) in [
            ("app", true),
            ("example.com/app_1", true),
            ("example.com/a/b", false),
            ("Example.com/app", false),
            ("/app", false),
            ("app/", false),
        ] {
            assert_eq!(qualified_key(key).is_ok(), is_right, "{key}");
        }
    }
}
