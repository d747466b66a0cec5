//! Escaped characters in patterns: `\n`, `\x41`, `\x{1F600}`, `\101`.
//!
//! Classes such as `\d` and assertions such as `\b` are read elsewhere.

use std::str::Chars;

use super::PatternFault;

/// Reads an escaped character that is no class and no assertion; `rest` begins with the backslash.
pub(super) fn escaped_code(rest: &str) -> Result<(u32, &str), PatternFault> {
    let mut after = rest[1..].chars();
    let Some(letter) = after.next() else {
        return Err(PatternFault::new("trailing backslash at end of expression", ""));
    };
    let code = match letter {
        'a' => Some(0x07),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        'x' => hexadecimal(&mut after),
        '0'..='7' => octal(letter, &mut after),
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => Some(u32::from(other)),
        _ => None,
    };
    match code {
        Some(code) => Ok((code, after.as_str())),
        None => {
            let excerpt = excerpt(rest, after.as_str());
            Err(PatternFault::new("invalid escape sequence", excerpt))
        }
    }
}

fn hexadecimal(after: &mut Chars<'_>) -> Option<u32> {
    let first = after.next()?;
    if first != '{' {
        let second = after.next();
        return Some(first.to_digit(16)? * 16 + second?.to_digit(16)?);
    }
    let mut code = None;
    loop {
        match after.next()? {
            '}' => return code,
            digit => {
                let next = code.unwrap_or(0) * 16 + digit.to_digit(16)?;
                code = Some(next).filter(|code| *code <= u32::from(char::MAX));
                code?;
            }
        }
    }
}

/// Upstream: one digit alone would be a reference to a group, which is not supported.
fn octal(first: char, after: &mut Chars<'_>) -> Option<u32> {
    let mut code = first.to_digit(8)?;
    let mut digits = 1;
    while digits < 3
        && let Some(digit) = after.clone().next().and_then(|next| next.to_digit(8))
    {
        after.next();
        code = code * 8 + digit;
        digits += 1;
    }
    (digits > 1 || first == '0').then_some(code)
}

/// Returns the beginning of a text, up to where another one follows.
pub(super) fn excerpt<'p>(from: &'p str, after: &str) -> &'p str {
    from.get(..from.len() - after.len()).unwrap_or(from)
}
