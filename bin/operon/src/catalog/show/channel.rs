//! The page of a channel.

use std::collections::HashMap;

use operon_catalog::{Bundle, Channel, Entry};
use operon_draw::Role;
use operon_image::OpenedCatalog;

use super::{PageOptions, page::Page, with_version};
use crate::catalog::find::version_of;
use crate::{
    catalog::{
        cells::{listed, mark, shorten},
        graph::standing::{Standing, Standings, standings},
    },
    output::Json,
};

/// Everything about one channel.
pub(super) struct ChannelView<'a> {
    channel: Channel<'a>,
    file: &'a str,
    standings: Standings<'a>,
    /// Who replaces and who skips a name.
    mentions: HashMap<&'a str, Mentions<'a>>,
}

#[derive(Default)]
struct Mentions<'a> {
    replaced_by: Vec<&'a str>,
    skipped_by: Vec<&'a str>,
}

/// Returns the word for a part that a version plays, as programs read it.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Head => "head",
        Role::Chain => "chain",
        Role::Skipped => "skipped",
        Role::Virtual => "virtual",
        Role::Stranded => "stranded",
    }
}

impl<'a> ChannelView<'a> {
    pub(super) fn gather(opened: &'a OpenedCatalog, channel: Channel<'a>) -> Self {
        let mut mentions: HashMap<&'a str, Mentions<'a>> = HashMap::new();
        for entry in channel.entries() {
            if let Some(name) = entry.replaces() {
                mentions.entry(name).or_default().replaced_by.push(entry.name());
            }
            for name in entry.skips() {
                mentions.entry(name).or_default().skipped_by.push(entry.name());
            }
        }
        let file = opened.catalog().file_path(channel.place().file);
        Self { channel, file, standings: standings(channel), mentions }
    }

    pub(super) fn page(&self, options: PageOptions) -> String {
        let mut page = Page::new(options.columns);
        let channel = self.channel;
        let head = channel.head().map(|head| with_version(head.name(), version(Some(head))));
        let problem = self.standings.problem.clone();
        page.fields(&[
            ("Channel", channel.name().to_owned()),
            ("Package", channel.package().name().to_owned()),
            ("Default", if channel.is_default() { "yes" } else { "no" }.to_owned()),
            ("Deprecated", channel.deprecation().unwrap_or_default().to_owned()),
            ("Problem", problem.unwrap_or_default()),
            ("Head", head.unwrap_or_else(|| "none".to_owned())),
            ("Entries", self.counts()),
            ("File", self.file.to_owned()),
        ]);
        let heads = self.standings.standings.iter().filter(|standing| standing.role == Role::Head);
        let title =
            if heads.count() > 1 { "Chains, from each head" } else { "Order, newest first" };
        self.section(&mut page, options, title, &[Role::Head, Role::Chain]);
        self.section(&mut page, options, "Skipped, never installed afresh", &[Role::Skipped]);
        self.section(&mut page, options, "Stranded, without a way to the head", &[Role::Stranded]);
        self.section(&mut page, options, "Virtual, named here without content", &[Role::Virtual]);
        self.list_deprecations(&mut page);
        page.finish()
    }

    fn counts(&self) -> String {
        let count = |role: Role| {
            self.standings.standings.iter().filter(|standing| standing.role == role).count()
        };
        let mut parts = vec![format!("{} in order", count(Role::Head) + count(Role::Chain))];
        let empty = self
            .standings
            .standings
            .iter()
            .filter(|standing| standing.entry.is_some_and(|entry| entry.bundle().is_none()));
        let others = [
            (count(Role::Skipped), "skipped"),
            (count(Role::Stranded), "stranded"),
            (empty.count(), "without content"),
        ];
        for (number, word) in others.into_iter().filter(|(number, _)| *number > 0) {
            parts.push(format!("{number} {word}"));
        }
        match parts.as_slice() {
            [_] => self.channel.entries().len().to_string(),
            parts => format!("{} ({})", self.channel.entries().len(), parts.join(", ")),
        }
    }

    fn section(&self, page: &mut Page, options: PageOptions, title: &str, roles: &[Role]) {
        let chosen: Vec<&Standing<'a>> = self
            .standings
            .standings
            .iter()
            .filter(|standing| roles.contains(&standing.role))
            .collect();
        if chosen.is_empty() {
            return;
        }
        page.section(title);
        let header = ["VERSION", "BUNDLE", "REPLACES", "SKIPS", "SKIP RANGE", "NOTE"];
        let rows: Vec<Vec<String>> =
            chosen.iter().map(|standing| self.row(standing, options)).collect();
        page.table(&header, rows);
    }

    fn row(&self, standing: &Standing<'a>, options: PageOptions) -> Vec<String> {
        let entry = standing.entry;
        let names = |names: Vec<&str>| {
            if options.full { names.join(", ") } else { listed(names.into_iter(), 1) }
        };
        let range = entry.and_then(Entry::skip_range).unwrap_or_default();
        let deprecation = entry.and_then(Entry::bundle).and_then(Bundle::deprecation);
        let mut notes = vec![
            mark(standing.role == Role::Head, "head"),
            mark(deprecation.is_some(), "deprecated"),
        ];
        if let Some(mentions) = self.mentions.get(standing.name) {
            let by = |word: &str, by: &[&str]| match by {
                [] => String::new(),
                by => format!("{word} by {}", names(by.to_vec())),
            };
            match standing.role {
                Role::Head | Role::Chain => {}
                Role::Skipped => notes.push(by("skipped", &mentions.skipped_by)),
                Role::Virtual | Role::Stranded => {
                    notes.push(by("replaced", &mentions.replaced_by));
                    notes.push(by("skipped", &mentions.skipped_by));
                }
            }
        }
        vec![
            version(entry).to_owned(),
            standing.name.to_owned(),
            entry.and_then(Entry::replaces).unwrap_or_default().to_owned(),
            names(entry.map(|entry| entry.skips().collect()).unwrap_or_default()),
            if options.full { range.to_owned() } else { shorten(range, 40) },
            notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join("; "),
        ]
    }

    fn list_deprecations(&self, page: &mut Page) {
        let deprecated: Vec<(&str, &str)> = self
            .standings
            .standings
            .iter()
            .filter_map(|standing| Some((standing.name, standing.entry?.bundle()?.deprecation()?)))
            .collect();
        if !deprecated.is_empty() {
            page.section("Deprecated bundles");
            for (name, message) in deprecated {
                page.item(0, &format!("{name}: {message}"));
            }
        }
    }

    pub(super) fn value(&self) -> Json {
        let channel = self.channel;
        let head = channel.head();
        let node = |standing: &Standing<'a>| {
            let entry = standing.entry;
            let bundle = entry.and_then(Entry::bundle);
            let mentions = self.mentions.get(standing.name);
            let by = |names: fn(&Mentions<'a>) -> Vec<&'a str>| {
                Json::texts(mentions.map(names).unwrap_or_default())
            };
            Json::Object(vec![
                ("name", Json::text(standing.name)),
                ("version", Json::optional(bundle.map(Bundle::version_text))),
                ("role", Json::text(role_name(standing.role))),
                ("replaces", Json::optional(entry.and_then(Entry::replaces))),
                ("skips", Json::texts(entry.into_iter().flat_map(Entry::skips))),
                ("skipRange", Json::optional(entry.and_then(Entry::skip_range))),
                ("replacedBy", by(|mentions| mentions.replaced_by.clone())),
                ("skippedBy", by(|mentions| mentions.skipped_by.clone())),
                ("deprecation", Json::optional(bundle.and_then(Bundle::deprecation))),
            ])
        };
        Json::Object(vec![
            ("package", Json::text(channel.package().name())),
            ("name", Json::text(channel.name())),
            ("isDefault", Json::Bool(channel.is_default())),
            ("deprecation", Json::optional(channel.deprecation())),
            ("problem", Json::optional(self.standings.problem.as_deref())),
            ("head", Json::optional(head.map(Entry::name))),
            ("file", Json::text(self.file)),
            ("entries", Json::list(self.standings.standings.iter().map(node))),
        ])
    }
}

fn version(entry: Option<Entry<'_>>) -> &str {
    version_of(entry).unwrap_or_default()
}
