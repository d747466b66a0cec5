//! Rewrites a term that contains an `x` into one or two terms without wildcard.
//!
//! It works on text and validates nothing: upstream does the same, and what comes out wrong is
//! refused, with upstream's text, when the rewritten terms are read.

/// Returns the terms that stand for `operator` and `version` together.
///
/// Upstream: every term with an `x` anywhere, even inside a pre-release, is rewritten.
pub(crate) fn expand(operator: &[u8], version: &[u8]) -> Vec<Vec<u8>> {
    let first = first_covered(version);
    let beyond = || first_beyond(version, &first).unwrap_or_default();
    let term = |operator: &str, version: &[u8]| [operator.as_bytes(), version].concat();
    match operator {
        b">" => vec![term(">=", &beyond())],
        b">=" => vec![term(">=", &first)],
        b"<" => vec![term("<", &first)],
        b"<=" => vec![term("<", &beyond())],
        b"" | b"=" | b"==" => vec![term(">=", &first), term("<", &beyond())],
        // Upstream: both must hold, so excluding a wildcard matches nothing.
        b"!" | b"!=" => vec![term("<", &first), term(">=", &beyond())],
        // Upstream: an unknown operator is forgotten, so `~1.2.x` means exactly `1.2.0`.
        _ => vec![first],
    }
}

/// Upstream: only the first `.x` or `.x.x` becomes `.0`, wherever it stands.
fn first_covered(version: &[u8]) -> Vec<u8> {
    let single = replace_first(version, b".x.x", b".x");
    let mut first = replace_first(&single, b".x", b".0");
    if first.iter().filter(|byte| **byte == b'.').count() == 1 {
        first.extend(b".0");
    }
    first
}

/// Raises the number before the wildcard, if there is a wildcard and a number.
///
/// Upstream: the kind of wildcard is counted before `1.x.x` was shortened, so the minor number
/// is raised there; the number may carry a sign, and the largest wraps around.
fn first_beyond(version: &[u8], first: &[u8]) -> Option<Vec<u8>> {
    let raised = match version.iter().filter(|byte| **byte == b'.').count() {
        1 => 0,
        2 => 1,
        _ => return None,
    };
    version.strip_suffix(b".x")?;
    let mut parts: Vec<&[u8]> = first.split(|byte| *byte == b'.').collect();
    let part = parts.get_mut(raised)?;
    let number: i64 = str::from_utf8(part).ok()?.parse().ok()?;
    let number = number.wrapping_add(1).to_string();
    *part = number.as_bytes();
    Some(parts.join(&b'.'))
}

fn replace_first(text: &[u8], pattern: &[u8], replacement: &[u8]) -> Vec<u8> {
    match text.windows(pattern.len()).position(|window| window == pattern) {
        Some(position) => {
            [&text[..position], replacement, &text[position + pattern.len()..]].concat()
        }
        None => text.to_vec(),
    }
}
