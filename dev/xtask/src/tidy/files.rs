//! The files of the repository: everything below its root that `.gitignore` does not leave out.
//!
//! Git itself is not asked, so that a checkout without it can be checked. Of the language of
//! `.gitignore` only what ours uses is understood: `/anchored/path`, `*.suffix` and `name`.

use std::{fs, path::Path};

use anyhow::Context;

/// Directories deeper than this are not looked into; a link to a parent would never end otherwise.
const MAX_DEPTH: usize = 32;

/// Returns the paths of all files, from the root, sorted.
pub(crate) fn find(root: &Path) -> anyhow::Result<Vec<String>> {
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
    let mut found = Vec::new();
    let mut directories = vec![(String::new(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        let location = root.join(&directory);
        let entries = fs::read_dir(&location)
            .with_context(|| format!("cannot list `{}`", location.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            if is_ignored(&path, &ignored) {
                continue;
            }
            let file_type = entry.file_type()?;
            if file_type.is_dir() && depth < MAX_DEPTH {
                directories.push((path, depth + 1));
            } else if file_type.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_ignored(path: &str, ignored: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == ".git" {
        return true;
    }
    let patterns = ignored.lines().map(str::trim).filter(|line| !line.is_empty());
    patterns.filter(|line| !line.starts_with('#')).any(|pattern| {
        let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
        if let Some(anchored) = pattern.strip_prefix('/') {
            path == anchored
        } else if let Some(suffix) = pattern.strip_prefix('*') {
            name.ends_with(suffix)
        } else {
            name == pattern
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_patterns_are_understood() {
        let ignored = "/target\n# a remark\n/fuzz/corpus/\n*.profraw\n.DS_Store\n";
        let cases = [
            ("target", true),
            ("core/target", false),
            ("fuzz/corpus", true),
            ("core/version/default.profraw", true),
            ("docs/.DS_Store", true),
            (".git", true),
            (".gitignore", false),
            ("a remark", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_ignored(path, ignored), expected, "{path}");
        }
    }
}
