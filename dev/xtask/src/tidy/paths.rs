//! The paths that code names: those it imports, with groups taken apart, and those it writes out.
//!
//! Names are not resolved: `use std::fs as files; files::read(..)` is caught at the import.

use super::{scan::Scanned, text::find_word};

/// A path such as `std::fs::read`, and the offset at which its last part is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    /// The path without a leading `::`.
    pub(crate) path: String,
    /// Where it is written.
    pub(crate) offset: usize,
}

/// Returns the imported paths and the written paths of two or more parts.
pub(crate) fn named_paths(scanned: &Scanned<'_>) -> Vec<NamedPath> {
    let code = scanned.code.as_str();
    let mut paths = Vec::new();
    let mut written_from = 0;
    let mut from = 0;
    while let Some(start) = find_word(code, "use", from) {
        let tree = start + "use".len();
        from = tree;
        // `use<'a>` in a return type captures lifetimes and imports nothing.
        if !code[tree..].starts_with(char::is_whitespace) {
            continue;
        }
        let end = code[tree..].find(';').map_or(code.len(), |length| tree + length);
        add_written(code, written_from..start, &mut paths);
        add_imported(code, tree, end, &mut paths);
        from = end;
        written_from = end;
    }
    add_written(code, written_from..code.len(), &mut paths);
    paths
}

/// Walks a tree such as `std::{fs, io::{self, Write as _}}` and adds each leaf with its way.
fn add_imported(code: &str, start: usize, end: usize, paths: &mut Vec<NamedPath>) {
    let mut prefixes: Vec<String> = vec![String::new()];
    let mut part_start = start;
    for (offset, character) in code[start..end].char_indices() {
        let offset = start + offset;
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match character {
            '{' => prefixes.push(join(&prefix, &code[part_start..offset])),
            '}' | ',' => {
                add_leaf(&prefix, &code[part_start..offset], part_start, paths);
                if character == '}' {
                    prefixes.pop();
                }
            }
            _ => continue,
        }
        part_start = offset + 1;
    }
    add_leaf("", &code[part_start..end], part_start, paths);
}

fn add_leaf(prefix: &str, part: &str, start: usize, paths: &mut Vec<NamedPath>) {
    let name = part.split(" as ").next().unwrap_or(part);
    if name.trim().is_empty() {
        return;
    }
    let path = join(prefix, name);
    let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
    let offset = start + (part.len() - part.trim_start().len());
    paths.push(NamedPath { path, offset });
}

fn join(prefix: &str, part: &str) -> String {
    let part: String = part.split_whitespace().collect();
    let part = part.trim_start_matches("::").trim_end_matches("::");
    if prefix.is_empty() { part.to_owned() } else { format!("{prefix}::{part}") }
}

fn add_written(code: &str, range: std::ops::Range<usize>, paths: &mut Vec<NamedPath>) {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = range.start;
    while let Some(found) = code[rest..range.end].find("::") {
        let middle = rest + found;
        let before = &code[range.start..middle];
        let head = before.trim_end_matches(is_part).len() + range.start;
        let length = code[middle..range.end]
            .find(|character: char| !is_part(character) && character != ':')
            .unwrap_or(range.end - middle);
        let end = middle + length;
        let path = code[head..end].trim_matches(':').to_owned();
        if path.contains("::") {
            paths.push(NamedPath { path, offset: head });
        }
        rest = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_taken_apart_and_written_paths_found() {
        let cases: &[(&str, &[&str])] = &[
            ("use std::fs;", &["std::fs"]),
            ("use ::serde::Serialize as _;", &["serde::Serialize"]),
            (
                "use std::{env, fs as files, io::{self, Write}};",
                &["std::env", "std::fs", "std::io", "std::io::Write"],
            ),
            (
                "use std::{\n    collections::*,\n    time::{Duration, Instant},\n};",
                &["std::collections::*", "std::time::Duration", "std::time::Instant"],
            ),
            ("use {serde, tokio::task};", &["serde", "tokio::task"]),
            ("fn a() -> impl Fn() + use<'_> { std::env::var(\"A\") }", &["std::env::var"]),
            ("let rand = b; rand.next(); Self::new(rand)", &["Self::new"]),
            ("// use std::fs;\nlet a = \"std::fs\";", &[]),
            ("let a = Vec::<u8>::new();", &[]),
        ];
        for (text, expected) in cases {
            let paths = named_paths(&Scanned::new(text));
            let found: Vec<&str> = paths.iter().map(|path| path.path.as_str()).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn a_leaf_of_a_group_is_found_at_its_own_line() {
        let text = "use std::{\n    env,\n    fs,\n};\n";
        let scanned = Scanned::new(text);
        let lines: Vec<usize> =
            named_paths(&scanned).iter().map(|path| scanned.line_of(path.offset)).collect();
        assert_eq!(lines, [2, 3]);
    }
}
