//! Findings about texts that are held in memory, as a compiler prints them.
//!
//! Findings about an opened catalog are printed by `output`, which reads excerpts from its files.

use std::ops::Range;

use annotate_snippets::{
    AnnotationKind, Element, Level, Origin, Renderer, Snippet, renderer::DecorStyle,
};
use operon_bundle::{BundleFile, BundleFinding, Severity};
use operon_document::is_unprintable;

use crate::output::clean;

/// The longest stretch of a line that is shown on either side of a place.
const MAX_SIDE_BYTES: usize = 4096;

/// The most findings that are printed about one text: nobody reads more, and each costs a search
/// for its line.
pub(crate) const MAX_SHOWN: usize = 100;

/// A finding that is ready to be printed.
pub(crate) struct Report<'r> {
    /// How much it matters.
    pub(crate) severity: Severity,
    /// The id of the rule; empty for an error that is no rule's.
    pub(crate) rule_id: &'r str,
    /// What is wrong.
    pub(crate) message: &'r str,
    /// Where; the first place is where it is, others belong to it.
    pub(crate) spots: Vec<Spot<'r>>,
    /// Why it matters.
    pub(crate) why: Vec<&'r str>,
    /// What to do about it.
    pub(crate) help: Vec<&'r str>,
}

/// A place that a finding is about.
pub(crate) struct Spot<'r> {
    /// The path to show.
    pub(crate) path: String,
    /// The whole text at the path, and the bytes of it; nothing if it is about the whole.
    pub(crate) range: Option<(&'r [u8], Range<usize>)>,
    /// What the marked text is; may be empty.
    pub(crate) label: &'r str,
}

impl Report<'_> {
    /// Prints the finding, with colours that whoever writes it may strip.
    pub(crate) fn text(self) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Advice => Level::INFO.with_name("advice"),
        };
        let mut title = level.primary_title(clean(self.message));
        if !self.rule_id.is_empty() {
            title = title.id(self.rule_id);
        }
        let mut group = title.elements(Vec::<Element<'_>>::new());
        for spot in self.spots {
            let Some((content, range)) = spot.range else {
                group = group.element(Origin::path(clean(&spot.path)));
                continue;
            };
            let excerpt = excerpt(content, range);
            let mut annotation = AnnotationKind::Primary.span(excerpt.range);
            if !spot.label.is_empty() {
                annotation = annotation.label(clean(spot.label));
            }
            let snippet =
                Snippet::source(excerpt.text).line_start(excerpt.line).path(clean(&spot.path));
            group = group.element(snippet.annotation(annotation));
        }
        for why in self.why {
            group = group.element(Level::NOTE.no_name().message(clean(why)));
        }
        for help in self.help {
            group = group.element(Level::HELP.message(clean(help)));
        }
        Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group]) + "\n\n"
    }
}

/// Prints the findings about a bundle whose files are still at hand; of too many, errors first.
pub(crate) fn bundle_findings(
    findings: &[BundleFinding],
    directory: &str,
    files: &[BundleFile],
) -> String {
    let mut shown: Vec<&BundleFinding> = findings.iter().collect();
    if shown.len() > MAX_SHOWN {
        shown.sort_by_key(|finding| finding.severity);
        shown.truncate(MAX_SHOWN);
    }
    let mut text: String =
        shown.into_iter().map(|finding| bundle_finding(finding, directory, files)).collect();
    text.push_str(&not_shown(findings.len()));
    text
}

/// Says how many findings are not printed, if there are such.
pub(crate) fn not_shown(findings: usize) -> String {
    match findings.saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        more => format!("{more} more are not shown\n\n"),
    }
}

fn bundle_finding(finding: &BundleFinding, directory: &str, files: &[BundleFile]) -> String {
    let file = files.iter().find(|file| file.path == finding.file);
    let path = match finding.file.as_str() {
        "" => directory.to_owned(),
        file => format!("{}/{file}", directory.trim_end_matches('/')),
    };
    let range = file
        .filter(|_| !finding.range.is_empty())
        .map(|file| (file.content.as_slice(), finding.range.clone()));
    let report = Report {
        severity: finding.severity,
        rule_id: finding.rule_id,
        message: &finding.message,
        spots: vec![Spot { path, range, label: "" }],
        why: Vec::new(),
        help: finding.help.as_deref().into_iter().collect(),
    };
    report.text()
}

/// The line that holds a place.
struct Excerpt {
    line: usize,
    text: String,
    range: Range<usize>,
}

/// Cuts out the first line of a range; of a very long line only what is near.
fn excerpt(content: &[u8], range: Range<usize>) -> Excerpt {
    let is_break = |byte: &u8| *byte == b'\n';
    let start = range.start.min(content.len());
    let line = content[..start].iter().filter(|byte| is_break(byte)).count() + 1;
    let nearest = start.saturating_sub(MAX_SIDE_BYTES);
    let before = &content[nearest..start];
    let line_start = nearest + before.iter().rposition(is_break).map_or(0, |at| at + 1);
    let farthest = content.len().min(start + MAX_SIDE_BYTES);
    let after = &content[start..farthest];
    let line_end = start + after.iter().position(is_break).unwrap_or(after.len());
    let text = &content[line_start..line_end];
    let text = printable(text.strip_suffix(b"\r").unwrap_or(text));
    let clamp = |offset: usize| offset.saturating_sub(line_start).min(text.len());
    let end = clamp(range.end.max(start));
    let range = text.floor_char_boundary(clamp(start))..text.ceil_char_boundary(end);
    Excerpt { line, text, range }
}

/// Keeps byte offsets: what is not UTF-8 or would move the cursor becomes `?`, byte by byte.
fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_unprintable(character) && character != '\t' {
                text.extend(std::iter::repeat_n('?', character.len_utf8()));
            } else {
                text.push(character);
            }
        }
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn excerpts_keep_to_one_line_and_to_whole_characters() {
        let long = format!("{}ä{}", "a".repeat(5000), "b".repeat(5000));
        for (content, range, expected) in [
            (b"one\ntwo\nthree".as_slice(), 4..12, (2, "two", 0..3)),
            (b"one\ntwo", 7..7, (2, "two", 3..3)),
            (b"one\n", 4..4, (2, "", 0..0)),
            (b"", 5..9, (1, "", 0..0)),
            (b"a\xffb\x1b\r\n", 1..2, (1, "a?b?", 1..2)),
            ("äö".as_bytes(), 1..3, (1, "äö", 0..4)),
        ] {
            let found = excerpt(content, range);
            assert_eq!((found.line, found.text.as_str(), found.range), expected);
        }
        let found = excerpt(long.as_bytes(), 5001..5003);
        assert!(found.text.is_char_boundary(found.range.start));
        assert!(found.text.len() < 3 * super::MAX_SIDE_BYTES);
    }
}
