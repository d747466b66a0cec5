//! The page of a package.

use operon_catalog::{Api, Bundle, Channel, Entry, Package};
use operon_constraint::Requirement;
use operon_image::OpenedCatalog;

use super::{
    PageOptions,
    answer::{Answer, answers, need_members, write_answers},
    manifest::Manifest,
    page::Page,
    prose::wrap_markdown,
    relation::{Requirer, requirers},
    with_version,
};
use crate::catalog::find::{face, version_of};
use crate::{
    catalog::{
        cells::{counted, mark, shorten},
        graph::standing::{in_reading_order, standings},
    },
    output::Json,
};

/// A description is cut after the paragraph that reaches this line, unless all of it is asked for.
const DESCRIPTION_LINES: usize = 8;

/// A description is cut here at the latest: examples may be long and without paragraphs.
const MAX_DESCRIPTION_LINES: usize = 20;

/// How many columns say what is required in a row about who requires it.
const REQUIRES_COLUMNS: usize = 60;

/// Everything about one package.
pub(super) struct PackageView<'a> {
    package: Package<'a>,
    file: &'a str,
    /// The bundle that speaks for the package.
    face: Option<Bundle<'a>>,
    manifest: Manifest,
    channels: Vec<Channel<'a>>,
    problems: Vec<Option<String>>,
    required: Vec<Answer<'a>>,
    requirers: Vec<Requirer<'a>>,
}

impl<'a> PackageView<'a> {
    pub(super) fn gather(opened: &'a OpenedCatalog, package: Package<'a>) -> Self {
        let catalog = opened.catalog();
        let face = face(package);
        let channels = in_reading_order(package.channels().collect());
        let bundles: Vec<Bundle<'a>> = package.bundles().collect();
        Self {
            package,
            file: catalog.file_path(package.place().file),
            face,
            manifest: face.map(|bundle| Manifest::read(opened, bundle)).unwrap_or_default(),
            problems: channels.iter().map(|channel| standings(*channel).problem).collect(),
            channels,
            required: face.map(|bundle| answers(catalog, bundle)).unwrap_or_default(),
            requirers: requirers(catalog, package, &bundles),
        }
    }

    pub(super) fn page(&self, options: PageOptions) -> String {
        let mut page = Page::new(options.columns);
        let package = self.package;
        let of_face =
            |text: fn(Bundle<'a>) -> &'a str| self.face.map(text).unwrap_or_default().to_owned();
        let head = package.default_head().map(|head| {
            with_version(head.name(), head.bundle().map(Bundle::version_text).unwrap_or_default())
        });
        page.fields(&[
            ("Package", package.name().to_owned()),
            ("Deprecated", package.deprecation().unwrap_or_default().to_owned()),
            ("Display name", of_face(Bundle::display_name)),
            ("Provider", of_face(Bundle::provider)),
            ("Summary", of_face(Bundle::blurb)),
            ("Keywords", of_face(Bundle::keywords)),
            ("Categories", self.manifest.categories.clone()),
            ("Repository", self.manifest.repository.clone()),
            ("Default channel", package.default_channel_name().to_owned()),
            ("Head", head.unwrap_or_else(|| self.why_no_head())),
            ("Bundles", package.bundles().len().to_string()),
            ("File", self.file.to_owned()),
        ]);
        self.describe(&mut page, options);
        page.section("Channels");
        match self.channels.as_slice() {
            [] => page.item(0, "none"),
            channels => page.table(
                &["NAME", "HEAD", "VERSION", "ENTRIES", "NOTE"],
                channels
                    .iter()
                    .zip(&self.problems)
                    .map(|(channel, problem)| channel_row(*channel, problem.as_deref())),
            ),
        }
        self.list_deprecations(&mut page);
        self.list_apis(&mut page);
        write_answers(&mut page, &self.required, options);
        write_requirers(&mut page, &self.requirers);
        page.finish()
    }

    fn why_no_head(&self) -> String {
        match (self.package.default_channel_name(), self.package.default_channel()) {
            ("", _) => "none: the package has no default channel".to_owned(),
            (name, None) => format!("none: there is no channel `{name}`"),
            (_, Some(_)) => "none: the default channel has no head".to_owned(),
        }
    }

    fn description(&self) -> &str {
        match self.package.description() {
            "" => &self.manifest.description,
            description => description,
        }
    }

    fn describe(&self, page: &mut Page, options: PageOptions) {
        let lines = wrap_markdown(self.description(), page.inner_width());
        if lines.is_empty() {
            return;
        }
        page.section("Description");
        let mut shown = lines.len();
        if !options.full {
            let end = lines.iter().skip(DESCRIPTION_LINES).position(|line| is_break(line));
            let paragraph = end.map_or(shown, |end| end + DESCRIPTION_LINES);
            shown = paragraph.min(MAX_DESCRIPTION_LINES).min(shown);
        }
        // A title without its text says nothing.
        while shown < lines.len() && shown > 0 && is_break(&lines[shown - 1]) {
            shown -= 1;
        }
        for line in &lines[..shown] {
            page.verbatim(line);
        }
        let left = lines[shown..].iter().filter(|line| !line.is_empty()).count();
        if left > 0 {
            page.verbatim("");
            page.verbatim(&format!("… {}, shown by --full", counted(left, "more line")));
        }
    }

    fn deprecated_bundles(&self) -> impl Iterator<Item = (Bundle<'a>, &'a str)> {
        let newest_first = self.package.bundles_by_version().into_iter();
        newest_first.filter_map(|bundle| Some((bundle, bundle.deprecation()?)))
    }

    fn list_deprecations(&self, page: &mut Page) {
        let deprecated: Vec<_> = self.deprecated_bundles().collect();
        if !deprecated.is_empty() {
            page.section("Deprecated bundles");
            for (bundle, message) in deprecated {
                page.item(0, &format!("{}: {message}", bundle.name()));
            }
        }
    }

    fn list_apis(&self, page: &mut Page) {
        let Some(face) = self.face.filter(|face| face.provided_apis().len() > 0) else {
            return;
        };
        page.section(&format!("APIs of {}", face.name()));
        let row = |api: Api<'_>| {
            vec![api.kind().to_owned(), api.version().to_owned(), api.group().to_owned()]
        };
        page.table(&["KIND", "VERSION", "GROUP"], face.provided_apis().map(row));
    }

    pub(super) fn value(&self) -> Json {
        let package = self.package;
        let of_face =
            |text: fn(Bundle<'a>) -> &'a str| Json::text(self.face.map(text).unwrap_or_default());
        let head = package.default_head();
        let deprecated = self.deprecated_bundles().map(|(bundle, message)| {
            Json::Object(vec![
                ("name", Json::text(bundle.name())),
                ("message", Json::text(message)),
            ])
        });
        let channel = |(channel, problem): (&Channel<'a>, &Option<String>)| {
            let head = channel.head();
            Json::Object(vec![
                ("name", Json::text(channel.name())),
                ("isDefault", Json::Bool(channel.is_default())),
                ("head", Json::optional(head.map(Entry::name))),
                ("version", Json::optional(version_of(head))),
                ("entryCount", Json::number(channel.entries().len())),
                ("deprecation", Json::optional(channel.deprecation())),
                ("problem", Json::optional(problem.as_deref())),
            ])
        };
        Json::Object(vec![
            ("name", Json::text(package.name())),
            ("deprecation", Json::optional(package.deprecation())),
            ("displayName", of_face(Bundle::display_name)),
            ("provider", of_face(Bundle::provider)),
            ("summary", of_face(Bundle::blurb)),
            ("keywords", keywords(self.face)),
            ("description", Json::text(self.description())),
            ("defaultChannel", Json::text(package.default_channel_name())),
            ("head", Json::optional(head.map(Entry::name))),
            ("version", Json::optional(version_of(head))),
            ("file", Json::text(self.file)),
            ("manifest", self.manifest.value()),
            ("channels", Json::list(self.channels.iter().zip(&self.problems).map(channel))),
            (
                "bundles",
                Json::texts(package.bundles_by_version().iter().map(|bundle| bundle.name())),
            ),
            ("deprecatedBundles", Json::list(deprecated)),
            (
                "providedApis",
                Json::list(self.face.into_iter().flat_map(Bundle::provided_apis).map(api_value)),
            ),
            ("requires", Json::list(self.required.iter().map(Answer::value))),
            ("requiredBy", Json::list(self.requirers.iter().map(requirer_value))),
        ])
    }
}

/// Tells whether a line separates what is before it from what comes after it.
fn is_break(line: &str) -> bool {
    line.is_empty() || line.trim_start().starts_with('#')
}

fn channel_row(channel: Channel<'_>, problem: Option<&str>) -> Vec<String> {
    let head = channel.head();
    let version = version_of(head);
    let deprecation = channel.deprecation().map(|message| format!("deprecated: {message}"));
    let notes = [
        mark(channel.is_default(), "default"),
        deprecation.unwrap_or_default(),
        problem.unwrap_or_default().to_owned(),
    ];
    vec![
        channel.name().to_owned(),
        head.map(Entry::name).unwrap_or_default().to_owned(),
        version.unwrap_or_default().to_owned(),
        channel.entries().len().to_string(),
        notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "),
    ]
}

/// Writes the section about who requires something, which packages and bundles share.
pub(super) fn write_requirers(page: &mut Page, requirers: &[Requirer<'_>]) {
    if requirers.is_empty() {
        return;
    }
    page.section("Required by");
    let row = |requirer: &Requirer<'_>| {
        let needs: Vec<String> = requirer.needs.iter().map(Requirement::heading).collect();
        let newest = requirer.group.bundles.first().map(|bundle| bundle.name()).unwrap_or_default();
        vec![
            requirer.group.package.name().to_owned(),
            shorten(&needs.join(", "), REQUIRES_COLUMNS),
            requirer.group.bundles.len().to_string(),
            newest.to_owned(),
        ]
    };
    page.table(&["PACKAGE", "REQUIRES", "BUNDLES", "NEWEST"], requirers.iter().map(row));
}

/// Returns who requires something, for programs.
pub(super) fn requirer_value(requirer: &Requirer<'_>) -> Json {
    Json::Object(vec![
        ("package", Json::text(requirer.group.package.name())),
        (
            "requires",
            Json::list(requirer.needs.iter().map(|need| Json::Object(need_members(need)))),
        ),
        ("bundles", Json::texts(requirer.group.bundles.iter().map(|bundle| bundle.name()))),
    ])
}

/// Returns the name of an API, for programs.
pub(super) fn api_value(api: Api<'_>) -> Json {
    Json::Object(vec![
        ("group", Json::text(api.group())),
        ("version", Json::text(api.version())),
        ("kind", Json::text(api.kind())),
    ])
}

/// Returns the keywords of a bundle one by one.
pub(super) fn keywords(bundle: Option<Bundle<'_>>) -> Json {
    let words = bundle.map(Bundle::keywords).unwrap_or_default().split(", ");
    Json::texts(words.filter(|word| !word.is_empty()))
}
