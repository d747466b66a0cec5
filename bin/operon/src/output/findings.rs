//! Findings as a compiler prints them, as GitHub annotations, or as JSON.

use annotate_snippets::{
    AnnotationKind, Element, Group, Level, Renderer, Snippet, renderer::DecorStyle,
};
use clap::ValueEnum;
use operon_catalog::{Catalog, Diagnostic, Note, Place, Severity};
use operon_image::{Lines, OpenedCatalog};

use super::{Json, Rendered, clean};

/// Places of one finding that are at most this far apart are shown in one excerpt.
const MAX_EXCERPT_BYTES: u32 = 16 << 10;

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// Source lines and carets, for people
    Text,
    /// JSON for programs
    Json,
    /// Workflow commands that GitHub shows beside the lines of a pull request
    Github,
}

/// The texts that findings point into.
pub(crate) struct Sources<'c> {
    catalog: &'c Catalog,
    lines: Lines<'c>,
    /// What is put before the paths of files, so that they can be opened from here.
    prefix: String,
}

impl<'c> Sources<'c> {
    pub(crate) fn new(opened: &'c OpenedCatalog, argument: &str) -> Self {
        // A catalog that is one file is named by its path already.
        let directory = if opened.root().is_dir() {
            Some(argument.trim_end_matches('/'))
        } else {
            argument.rsplit_once('/').map(|(directory, _)| directory)
        };
        let prefix = directory.map_or_else(String::new, |directory| format!("{directory}/"));
        Self { catalog: opened.catalog(), lines: Lines::new(opened), prefix }
    }

    fn path(&self, place: Place) -> String {
        format!("{}{}", self.prefix, self.catalog.file_path(place.file))
    }
}

/// Renders findings; text for people ends with the summary, which is one line.
pub(crate) fn render_findings(
    findings: &[Diagnostic],
    format: FindingsFormat,
    sources: &mut Sources<'_>,
    summary: impl FnOnce() -> String,
) -> Rendered {
    match format {
        FindingsFormat::Text => {
            Rendered::Text(format!("{}{}\n", findings_text(findings, sources), summary()))
        }
        FindingsFormat::Json => {
            Json::list(findings.iter().map(|finding| json(finding, sources))).to_json()
        }
        FindingsFormat::Github => {
            let lines = findings.iter().map(|finding| github(finding, sources) + "\n");
            Rendered::Annotations(lines.collect())
        }
    }
}

/// Returns findings with source lines and carets.
pub(crate) fn findings_text(findings: &[Diagnostic], sources: &mut Sources<'_>) -> String {
    findings.iter().map(|finding| text(finding, sources) + "\n").collect()
}

/// Returns a line such as "1 error, 2 warnings in 12 packages, 311 bundles".
pub(crate) fn summary_line(findings: &[Diagnostic], catalog: &Catalog) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity() == severity).count();
    let plural = |number: usize, noun: &str| {
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    let mut parts =
        vec![plural(count(Severity::Error), "error"), plural(count(Severity::Warning), "warning")];
    match count(Severity::Advice) {
        0 => {}
        number => parts.push(format!("{number} pieces of advice")),
    }
    let counts = catalog.counts();
    format!(
        "{} in {}, {}",
        parts.join(", "),
        plural(counts.packages as usize, "package"),
        plural(counts.bundles as usize, "bundle"),
    )
}

fn text(finding: &Diagnostic, sources: &mut Sources<'_>) -> String {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Advice => Level::INFO.with_name("advice"),
    };
    let mut group = level
        .primary_title(clean(&finding.message))
        .id(finding.rule.id())
        .elements(Vec::<Element<'_>>::new());
    for (places, labels) in excerpts(finding) {
        group = add_excerpt(group, &places, &labels, sources);
    }
    for note in &finding.notes {
        group = match note {
            Note::Why(text) => group.element(Level::NOTE.no_name().message(clean(text))),
            Note::Help(text) => group.element(Level::HELP.message(clean(text))),
        };
    }
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    renderer.render(&[group]) + "\n"
}

/// Groups the places of a finding into excerpts: the first is where it is, others follow.
fn excerpts(finding: &Diagnostic) -> Vec<(Vec<Place>, Vec<&str>)> {
    let first = finding.place.map(|place| (place, finding.label.as_str()));
    let related = finding.related.iter().map(|(place, label)| (*place, label.as_str()));
    let mut excerpts: Vec<(Vec<Place>, Vec<&str>)> = Vec::new();
    for (place, label) in first.into_iter().chain(related) {
        let fitting = excerpts.iter_mut().find(|(places, _)| {
            let near = |other: &Place| {
                other.file == place.file && other.start.abs_diff(place.start) <= MAX_EXCERPT_BYTES
            };
            places.iter().all(near)
        });
        match fitting {
            Some((places, labels)) => {
                places.push(place);
                labels.push(label);
            }
            None => excerpts.push((vec![place], vec![label])),
        }
    }
    excerpts
}

fn add_excerpt<'g>(
    group: Group<'g>,
    places: &[Place],
    labels: &[&'g str],
    sources: &mut Sources<'_>,
) -> Group<'g> {
    let path = clean(&sources.path(places[0]));
    let Ok(excerpt) = sources.lines.excerpt(places) else {
        return group.element(annotate_snippets::Origin::path(path));
    };
    let annotations =
        excerpt.ranges.into_iter().zip(labels).enumerate().map(|(index, (range, label))| {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(range);
            if label.is_empty() { annotation } else { annotation.label(clean(label)) }
        });
    let snippet = Snippet::source(excerpt.text)
        .line_start(excerpt.first_line)
        .path(path)
        .annotations(annotations);
    group.element(snippet)
}

fn json(finding: &Diagnostic, sources: &mut Sources<'_>) -> Json {
    let notes =
        |wanted: fn(&Note) -> Option<&String>| Json::texts(finding.notes.iter().filter_map(wanted));
    let related = finding.related.iter().map(|(place, label)| {
        let mut members = position(*place, sources);
        members.push(("label", Json::text(label)));
        Json::Object(members)
    });
    let related = Json::list(related.collect::<Vec<_>>());
    let mut members = vec![
        ("severity", Json::text(finding.severity().name())),
        ("rule", Json::text(finding.rule.id())),
        ("message", Json::text(&finding.message)),
    ];
    if let Some(place) = finding.place {
        members.extend(position(place, sources));
    }
    members.push(("label", Json::text(&finding.label)));
    members.push(("related", related));
    members.push((
        "why",
        notes(|note| match note {
            Note::Why(text) => Some(text),
            Note::Help(_) => None,
        }),
    ));
    members.push((
        "help",
        notes(|note| match note {
            Note::Help(text) => Some(text),
            Note::Why(_) => None,
        }),
    ));
    Json::Object(members)
}

fn position(place: Place, sources: &mut Sources<'_>) -> Vec<(&'static str, Json)> {
    let (line, column) = sources.lines.position(place).unwrap_or((0, 0));
    vec![
        ("file", Json::text(sources.path(place))),
        ("line", Json::number(line)),
        ("column", Json::number(column)),
    ]
}

/// Renders a workflow command. Its syntax reserves a few characters; GitHub shows the decoded text in
/// its log, so what would act there is replaced and not escaped.
fn github(finding: &Diagnostic, sources: &mut Sources<'_>) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\n', "%0A");
    let escape_property =
        |text: &str| clean(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
    let command = match finding.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "notice",
    };
    let place = finding.place.map_or_else(String::new, |place| {
        let (line, column) = sources.lines.position(place).unwrap_or((1, 1));
        format!("file={},line={line},col={column},", escape_property(&sources.path(place)))
    });
    let notes: String = finding
        .notes
        .iter()
        .map(|note| match note {
            Note::Why(text) => format!("\n{}", clean(text)),
            Note::Help(text) => format!("\nhelp: {}", clean(text)),
        })
        .collect();
    let message = escape(&format!("{}{notes}", clean(&finding.message)));
    format!("::{command} {place}title={}::{message}", finding.rule.id())
}
