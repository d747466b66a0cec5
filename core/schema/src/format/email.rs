//! Addresses of people, alone (`a@b.c`) or with a name (`Ann <a@b.c>`).
//!
//! Lists and groups of addresses are not accepted, and a name's encoding is not looked into.

use core::net::IpAddr;

/// Limits how deeply comments nest; nobody nests them.
const MAX_COMMENT_DEPTH: usize = 50;

/// Tells whether a text is one address.
pub(super) fn is_email(text: &str) -> bool {
    let text = skip_blanks(text);
    let rest = match address(text) {
        Some(rest) => Some(rest),
        None => named_address(text),
    };
    rest.and_then(skip_comments).is_some_and(str::is_empty)
}

/// Reads `local@domain` and returns what follows it.
fn address(text: &str) -> Option<&str> {
    let text = skip_blanks(text);
    let rest = match text.strip_prefix('"') {
        Some(quoted) => {
            let rest = quoted_text(quoted)?;
            (rest.len() + 1 < quoted.len()).then_some(rest)?
        }
        None => dotted_atom(text)?,
    };
    let domain = skip_blanks(rest.strip_prefix('@')?);
    match domain.strip_prefix('[') {
        Some(literal) => {
            let (address, rest) = literal.split_once(']')?;
            address.parse::<IpAddr>().ok().map(|_| rest)
        }
        None => dotted_atom(domain),
    }
}

/// Reads `Some Name <local@domain>`.
fn named_address(text: &str) -> Option<&str> {
    let mut rest = text;
    while !rest.starts_with('<') {
        let next = match rest.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted)?,
            None => {
                let length = atom_length(rest);
                (length > 0).then(|| &rest[length..])?
            }
        };
        rest = skip_comments(next)?;
    }
    address(rest.strip_prefix('<')?)?.strip_prefix('>')
}

fn dotted_atom(text: &str) -> Option<&str> {
    let (atom, rest) = text.split_at(atom_length(text));
    let is_good =
        !atom.is_empty() && !atom.starts_with('.') && !atom.ends_with('.') && !atom.contains("..");
    is_good.then_some(rest)
}

fn atom_length(text: &str) -> usize {
    let ends = |character: char| !is_visible(character) || r#"()<>[]:;@\,""#.contains(character);
    text.find(ends).unwrap_or(text.len())
}

/// Reads up to the closing quotation mark and returns what follows it.
fn quoted_text(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some(characters.as_str()),
            '\\' => {
                characters.next().filter(|next| is_visible(*next) || is_blank(*next))?;
            }
            other if is_visible(other) || is_blank(other) => (),
            _ => return None,
        }
    }
}

fn skip_comments(text: &str) -> Option<&str> {
    let mut rest = skip_blanks(text);
    while let Some(comment) = rest.strip_prefix('(') {
        rest = skip_blanks(after_comment(comment)?);
    }
    Some(rest)
}

fn after_comment(text: &str) -> Option<&str> {
    let mut depth = 1;
    let mut characters = text.chars();
    while depth > 0 {
        match characters.next()? {
            '\\' => {
                characters.next();
            }
            '(' if depth == MAX_COMMENT_DEPTH => return None,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => (),
        }
    }
    Some(characters.as_str())
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

fn is_visible(character: char) -> bool {
    ('!'..='~').contains(&character) || !character.is_ascii()
}
