//! `.indexignore` files: which files of a catalog are not catalog documents.
//!
//! Patterns and precedence are those of `.gitignore`; only file paths are asked about, and a pattern
//! that matches a directory hides every file beneath it.

/// The name of the files that hold patterns; such a file is never a catalog document itself.
pub const IGNORE_FILE_NAME: &str = ".indexignore";

/// The patterns of all `.indexignore` files of a catalog.
#[derive(Debug, Default)]
pub struct IgnoreRules {
    /// In ascending precedence: the last one that matches decides.
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    /// The directory of the file that holds the pattern.
    directory: Vec<String>,
    /// The parts between slashes.
    parts: Vec<String>,
    /// Whether it shows what an earlier pattern hides (`!` in front).
    shows: bool,
    /// Whether it matches directories only (`/` at the end).
    directory_only: bool,
}

impl IgnoreRules {
    /// Collects the patterns of ignore files, given as path and content.
    pub fn new<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Self {
        let mut files: Vec<(&str, &[u8])> = files.into_iter().collect();
        files.sort_unstable();
        let mut patterns = Vec::new();
        for (path, content) in files {
            let mut directory: Vec<String> = path.split('/').map(str::to_owned).collect();
            directory.pop();
            let text = String::from_utf8_lossy(content);
            let lines = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('#'));
            patterns.extend(lines.map(|line| Pattern::parse(line, directory.clone())));
        }
        Self { patterns }
    }

    /// Tells whether a file is hidden; ignore files themselves always are.
    pub fn hides(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        if parts.last() == Some(&IGNORE_FILE_NAME) {
            return true;
        }
        self.patterns
            .iter()
            .rev()
            .find(|pattern| pattern.matches(&parts))
            .is_some_and(|pattern| !pattern.shows)
    }
}

impl Pattern {
    fn parse(line: &str, directory: Vec<String>) -> Self {
        let (shows, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (directory_only, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let parts = line.split('/').map(str::to_owned).collect();
        Self { directory, parts, shows, directory_only }
    }

    fn matches(&self, path: &[&str]) -> bool {
        let below = path.len() > self.directory.len()
            && self.directory.iter().zip(path).all(|(directory, part)| directory == part);
        let rest = &path[self.directory.len().min(path.len())..];
        below
            && if self.parts.len() == 1 { self.matches_name(rest) } else { self.matches_path(rest) }
    }

    /// A pattern without a slash matches a name at any depth.
    fn matches_name(&self, path: &[&str]) -> bool {
        let last = path.len() - 1;
        path.iter().enumerate().any(|(position, name)| {
            let is_file = position == last;
            // A file cannot be shown again by showing a directory above it.
            matches_part(&self.parts[0], name)
                && if is_file { !self.directory_only } else { !self.shows }
        })
    }

    /// A pattern with a slash matches from its own directory on.
    fn matches_path(&self, path: &[&str]) -> bool {
        let parts: Vec<&str> =
            self.parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        // Whatever lies beneath a matched directory matches too, unless the pattern shows files.
        let shortest = if self.shows { path.len() } else { 1 };
        (shortest..=path.len()).any(|length| {
            let is_file = length == path.len();
            !(is_file && self.directory_only) && matches_parts(&parts, &path[..length])
        })
    }
}

/// Matches the parts of a pattern, `**` standing for any number of directories.
fn matches_parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], rest) => !rest.is_empty(),
        (["**", pattern_rest @ ..], _) => {
            (0..=path.len()).any(|skipped| matches_parts(pattern_rest, &path[skipped..]))
        }
        ([part, pattern_rest @ ..], [name, path_rest @ ..]) => {
            matches_part(part, name) && matches_parts(pattern_rest, path_rest)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

/// Matches one part: `*`, `?`, `[a-z]`, and `\` before a literal character.
fn matches_part(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at_pattern, mut at_name) = (0, 0);
    // Where to go on after the last star when what follows it does not match.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at_pattern) == Some(&b'*') {
            at_pattern += 1;
            retry = Some((at_pattern, at_name));
            continue;
        }
        let step = match (at_pattern < pattern.len(), at_name < name.len()) {
            (false, false) => return true,
            (true, true) => matches_character(&pattern[at_pattern..], name[at_name]),
            (false, true) | (true, false) => None,
        };
        match (step, retry) {
            (Some(width), _) => {
                at_pattern += width;
                at_name += 1;
            }
            (None, Some((star, start))) if start < name.len() => {
                retry = Some((star, start + 1));
                (at_pattern, at_name) = (star, start + 1);
            }
            (None, _) => return false,
        }
    }
}

/// Returns how many bytes of the pattern match the character, if they do.
fn matches_character(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [b'[', ..] => matches_class(pattern, byte),
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

fn matches_class(pattern: &[u8], byte: u8) -> Option<usize> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let start = if negated { 2 } else { 1 };
    // A closing bracket in the first place is an ordinary member.
    let end = pattern.iter().skip(start + 1).position(|&byte| byte == b']')? + start + 1;
    let members = &pattern[start..end];
    let mut found = false;
    let mut position = 0;
    while position < members.len() {
        let (low, high, width) = match members[position..] {
            [low, b'-', high, ..] => (low, high, 3),
            [only, ..] => (only, only, 1),
            [] => break,
        };
        found |= (low..=high).contains(&byte);
        position += width;
    }
    (found != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &str, hidden: &[&str], shown: &[&str]) {
        let rules = IgnoreRules::new([(".indexignore", patterns.as_bytes())]);
        for path in hidden {
            assert!(rules.hides(path), "{patterns:?} should hide {path}");
        }
        for path in shown {
            assert!(!rules.hides(path), "{patterns:?} should not hide {path}");
        }
    }

    #[test]
    fn patterns_mean_what_they_mean_to_git() {
        check(
            "README.md",
            &["README.md", "d/README.md", ".indexignore", "d/.indexignore"],
            &["readme.md"],
        );
        check("/README.md", &["README.md"], &["d/README.md"]);
        check("docs/", &["docs/x", "a/docs/y/z"], &["docs"]);
        check("docs", &["docs", "docs/x", "a/docs/x"], &["docs2/x"]);
        check("d/*.txt", &["d/x.txt"], &["d/e/x.txt", "e/d/x.txt"]);
        check("d/**/x.txt", &["d/x.txt", "d/e/f/x.txt"], &["x.txt"]);
        check("**/docs", &["docs/x", "a/b/docs/x"], &["a/x"]);
        check("docs/**", &["docs/a/x", "docs/a"], &["docs"]);
        check("*.txt\n!keep.txt", &["drop.txt"], &["keep.txt", "d/keep.txt"]);
        check("x.tx?\n[a-c].md\n[!z].rs", &["x.txt", "b.md", "a.rs"], &["x.tx", "d.md", "z.rs"]);
        check("# comment\n\n", &[], &["# comment", "x"]);
        check("a*b*c", &["abc", "axxbxxc", "aabbcc"], &["abcd", "ab"]);
        check("d/", &["d/e/f"], &[]);
    }

    #[test]
    fn patterns_of_a_directory_stay_in_it_and_come_later() {
        let rules = IgnoreRules::new([
            ("d/.indexignore", b"!x.txt".as_slice()),
            (".indexignore", b"*.txt".as_slice()),
        ]);
        assert!(rules.hides("x.txt"));
        assert!(!rules.hides("d/x.txt"));
        assert!(rules.hides("d/y.txt"));
    }
}
