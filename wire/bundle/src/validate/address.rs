//! Addresses of mail and of pages, read as Go reads them.
//!
//! Whether anybody answers there is not asked.

/// Checks an email address, alone or as `Name <address>`.
pub(super) fn email(written: &str) -> Result<(), &'static str> {
    let written = written.trim();
    let address = match written.strip_suffix('>') {
        Some(rest) => rest.rsplit_once('<').ok_or("the bracket `<` is missing")?.1,
        None => written,
    };
    let (local, domain) = address.rsplit_once('@').ok_or("the `@` is missing")?;
    let is_quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    if !is_quoted && !is_dotted(local) {
        return Err("the part before `@` is not a name");
    }
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    if !is_literal && !is_dotted(domain) {
        return Err("the part behind `@` is not a domain");
    }
    Ok(())
}

/// Tells whether a text is made of words with single dots between them.
fn is_dotted(text: &str) -> bool {
    let is_word_character = |character: char| {
        character.is_ascii_alphanumeric()
            || "!#$%&'*+-/=?^_`{|}~".contains(character)
            || !character.is_ascii()
    };
    text.split('.').all(|word| !word.is_empty() && word.chars().all(is_word_character))
}

/// Checks a URL with a scheme, or an absolute path.
pub(super) fn url(written: &str) -> Result<(), &'static str> {
    if written.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("it contains a control character");
    }
    let rest = match scheme_end(written)? {
        Some(end) => &written[end + 1..],
        None if written.starts_with('/') => written,
        None => return Err("the scheme is missing, such as `https://`"),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.contains([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}']) {
        return Err("the host contains a character that hosts do not have");
    }
    let port = if host.starts_with('[') {
        host.rsplit_once(']').ok_or("the bracket `]` is missing")?.1.strip_prefix(':')
    } else {
        host.rsplit_once(':').map(|(_, port)| port)
    };
    if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err("the port is not a number");
    }
    if !has_whole_escapes(path.split('?').next().unwrap_or(path)) {
        return Err("a `%` is not followed by two hexadecimal digits");
    }
    Ok(())
}

/// Returns where the scheme ends; nothing if there is none.
fn scheme_end(written: &str) -> Result<Option<usize>, &'static str> {
    for (index, byte) in written.bytes().enumerate() {
        match byte {
            b':' if index == 0 => return Err("the scheme before `:` is missing"),
            b':' => return Ok(Some(index)),
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            byte if byte.is_ascii_alphabetic() => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn has_whole_escapes(path: &str) -> bool {
    path.split('%')
        .skip(1)
        .all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_as_go_judges_them() {
        for (written, is_right) in [
            ("someone@example.com", true),
            ("Some One <someone@example.com>", true),
            ("someone+tag@localhost", true),
            ("\"some one\"@example.com", true),
            ("someone@[127.0.0.1]", true),
            ("someone", false),
            ("someone@", false),
            ("@example.com", false),
            ("a@example.com, b@example.com", false),
            ("https://example.com", false),
            ("some one@example.com", false),
            ("someone@example.com.", false),
        ] {
            assert_eq!(email(written).is_ok(), is_right, "{written}");
        }
        for (written, is_right) in [
            ("https://example.com", true),
            ("https://example.com/a path?x#y", true),
            ("http://[::1]:8080/", true),
            ("mailto:someone@example.com", true),
            ("/absolute", true),
            ("example.com", false),
            ("www.example.com/docs", false),
            (":nothing", false),
            ("", false),
            ("https://exa mple.com", false),
            ("https://example.com:port", false),
            ("https://example.com/%zz", false),
            ("https://example.com\n", false),
        ] {
            assert_eq!(url(written).is_ok(), is_right, "{written}");
        }
    }
}
