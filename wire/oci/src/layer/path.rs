//! Names in archives made plain paths: parts joined by `/`, none of them empty, `.` or `..`.
//!
//! Links in a path are not followed here; that needs the tree.

use super::{LayerProblem, MAX_DEPTH, MAX_PATH_BYTES};
use crate::printable::excerpt;

/// How much of a path is repeated in a message.
pub(super) const SHOWN_CHARACTERS: usize = 120;

/// A name in an archive, made plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainPath {
    /// The path; empty for the root.
    pub(super) path: String,
    /// Whether the name began with `/`.
    pub(super) is_absolute: bool,
}

/// Makes a name plain. A `..` is refused whatever it leads to: no builder writes one.
pub(super) fn plain(name: &[u8]) -> Result<PlainPath, LayerProblem> {
    let shown = || excerpt(&String::from_utf8_lossy(name), SHOWN_CHARACTERS);
    if name.len() > MAX_PATH_BYTES {
        return Err(LayerProblem::PathTooLong { path: shown(), bytes: name.len() });
    }
    if name.contains(&0) {
        return Err(LayerProblem::BadPath { path: shown(), reason: "has a zero byte" });
    }
    let Ok(name) = std::str::from_utf8(name) else {
        return Err(LayerProblem::BadPath { path: shown(), reason: "is not UTF-8" });
    };
    let mut path = String::with_capacity(name.len());
    let mut depth = 0;
    for part in name.split('/') {
        match part {
            "" | "." => continue,
            ".." => return Err(LayerProblem::Traversal { path: shown(), reason: "has a `..`" }),
            part => {
                if depth > 0 {
                    path.push('/');
                }
                path.push_str(part);
                depth += 1;
            }
        }
    }
    if depth > MAX_DEPTH {
        return Err(LayerProblem::PathTooDeep { path: shown(), depth });
    }
    Ok(PlainPath { path, is_absolute: name.starts_with('/') })
}

/// Splits a path into its directory and its last part.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Joins a directory and a name.
pub(super) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
