//! `operon catalog search`: packages by what people call them.
//!
//! Every word has to be found somewhere in a package; where it is found decides the place in the
//! answer. There is no stemming and no fuzziness: what matched is said, and can be seen.

use std::collections::BTreeSet;

use clap::Args;
use operon_catalog::{Api, Bundle, Catalog, Entry, Package, nearest};

use super::{
    cells::{counted, mark, shorten, shorten_middle},
    find::face,
    open::CatalogPath,
};
use crate::{
    exit::Outcome,
    output::{Json, OutputOptions, Table, print, stderr_line},
};

/// How many columns of the one-line description a row shows.
const ABOUT_COLUMNS: usize = 60;

/// Finds packages by text
#[derive(Debug, Args)]
#[command(after_help = "\
All words have to be found in a package's name, display name, keywords, provider, one-line text,
description or provided kinds, in any case. Names come first, then display names, keywords, kinds.

Exit codes: 0 something was found, 1 nothing was found or the catalog cannot be read

Examples:
  operon catalog search ./catalog kafka
  operon catalog search ./catalog postgres backup --limit 0
  operon catalog search ./catalog EtcdCluster -o json")]
pub(crate) struct Search {
    #[command(flatten)]
    catalog: CatalogPath,
    /// The words to find
    #[arg(required = true)]
    text: Vec<String>,
    /// How many packages to show at most; 0 shows all
    #[arg(long, default_value_t = 20, value_name = "NUMBER")]
    limit: usize,
    #[command(flatten)]
    output: OutputOptions,
}

/// Where a word was found, the best place first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The word is the package's name.
    ExactName,
    /// The name begins with it.
    NamePrefix,
    /// The name contains it.
    Name,
    DisplayName,
    /// With the keyword.
    Keyword(String),
    /// With the kind.
    Kind(String),
    Provider,
    Summary,
    Description,
}

/// A package that was found.
struct Hit<'a> {
    package: Package<'a>,
    face: Option<Bundle<'a>>,
    /// How well each word fits, added up; less is better.
    score: usize,
    places: BTreeSet<Place>,
}

pub(crate) fn run(command: &Search) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let catalog = opened.catalog();
    let words: Vec<String> = command
        .text
        .iter()
        .flat_map(|text| text.split_whitespace())
        .map(str::to_lowercase)
        .collect();
    anyhow::ensure!(!words.is_empty(), "there is no word to search for");
    let mut hits: Vec<Hit<'_>> =
        catalog.packages().filter_map(|package| find_words(package, &words)).collect();
    hits.sort_by_key(|hit| (hit.score, hit.package.name()));
    let found = hits.len();
    hits.truncate(if command.limit == 0 { found } else { command.limit });
    if hits.is_empty() {
        stderr_line!("no package matches `{}`", words.join(" "));
        stderr_line!("hint: {}", hint(catalog, &words));
    }
    print(command.output.output, || table(&hits, found), || value(&hits, found))?;
    Ok(if hits.is_empty() { Outcome::Negative } else { Outcome::Done })
}

/// Finds every word, or returns nothing.
fn find_words<'a>(package: Package<'a>, words: &[String]) -> Option<Hit<'a>> {
    let face = face(package);
    let fields = Fields::of(package, face);
    let mut hit = Hit { package, face, score: 0, places: BTreeSet::new() };
    // Several words may spell one name: `cert manager` is `cert-manager`.
    if words.len() > 1 && package.name() == words.join("-") {
        hit.places.insert(Place::ExactName);
        return Some(hit);
    }
    for word in words {
        let place = fields.find(word)?;
        hit.score += place.score();
        hit.places.insert(place);
    }
    Some(hit)
}

/// The texts of a package in lower case.
struct Fields<'a> {
    name: &'a str,
    display_name: String,
    keywords: String,
    kinds: Vec<&'a str>,
    provider: String,
    summary: String,
    description: &'a str,
}

impl<'a> Fields<'a> {
    fn of(package: Package<'a>, face: Option<Bundle<'a>>) -> Self {
        let lower =
            |text: fn(Bundle<'a>) -> &'a str| face.map(text).unwrap_or_default().to_lowercase();
        Self {
            name: package.name(),
            display_name: lower(Bundle::display_name),
            keywords: lower(Bundle::keywords),
            kinds: face.into_iter().flat_map(Bundle::provided_apis).map(Api::kind).collect(),
            provider: lower(Bundle::provider),
            summary: lower(Bundle::blurb),
            description: package.description(),
        }
    }

    /// Returns the best place of a word.
    fn find(&self, word: &str) -> Option<Place> {
        if self.name == word {
            return Some(Place::ExactName);
        }
        if self.name.starts_with(word) {
            return Some(Place::NamePrefix);
        }
        if self.name.contains(word) {
            return Some(Place::Name);
        }
        if self.display_name.contains(word) {
            return Some(Place::DisplayName);
        }
        let keyword = self.keywords.split(", ").find(|keyword| keyword.contains(word));
        let kind = || self.kinds.iter().find(|kind| kind.to_lowercase().contains(word));
        let rest = || {
            let rest = [(&self.provider, Place::Provider), (&self.summary, Place::Summary)];
            let place =
                rest.into_iter().find(|(text, _)| text.contains(word)).map(|(_, place)| place);
            place.or_else(|| {
                // Descriptions are long; they are looked at only when all else fails.
                self.description.to_lowercase().contains(word).then_some(Place::Description)
            })
        };
        keyword
            .map(|keyword| Place::Keyword(keyword.to_owned()))
            .or_else(|| kind().map(|kind| Place::Kind((*kind).to_owned())))
            .or_else(rest)
    }
}

impl Place {
    /// Returns how far from the best place this one is.
    fn score(&self) -> usize {
        match self {
            Place::ExactName => 0,
            Place::NamePrefix => 1,
            Place::Name => 2,
            Place::DisplayName => 3,
            Place::Keyword(_) => 4,
            Place::Kind(_) => 5,
            Place::Provider | Place::Summary | Place::Description => 6,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Place::ExactName | Place::NamePrefix | Place::Name => "name".to_owned(),
            Place::DisplayName => "display name".to_owned(),
            Place::Keyword(keyword) => format!("keyword {keyword}"),
            Place::Kind(kind) => format!("API {kind}"),
            Place::Provider => "provider".to_owned(),
            Place::Summary => "summary".to_owned(),
            Place::Description => "description".to_owned(),
        }
    }
}

impl<'a> Hit<'a> {
    fn why(&self) -> Vec<String> {
        let mut sentences: Vec<String> = self.places.iter().map(Place::sentence).collect();
        sentences.dedup();
        sentences
    }

    fn version(&self) -> &'a str {
        let head = self.package.default_head().and_then(Entry::bundle);
        head.or(self.face).map(Bundle::version_text).unwrap_or_default()
    }

    fn text(&self, text: fn(Bundle<'a>) -> &'a str) -> &'a str {
        self.face.map(text).unwrap_or_default()
    }
}

fn table(hits: &[Hit<'_>], found: usize) -> String {
    if hits.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["NAME", "DISPLAY NAME", "VERSION", "CHANNEL", "WHY", "ABOUT"]);
    for hit in hits {
        let deprecated = mark(hit.package.deprecation().is_some(), "(deprecated) ");
        let cells = [
            hit.package.name(),
            &shorten_middle(hit.text(Bundle::display_name), 36),
            hit.version(),
            hit.package.default_channel_name(),
            &shorten(&hit.why().join(", "), 40),
            &format!("{deprecated}{}", shorten(hit.text(Bundle::blurb), ABOUT_COLUMNS)),
        ];
        table.row(cells);
    }
    let mut text = table.render();
    if found > hits.len() {
        let more = found - hits.len();
        text.push_str(&format!(
            "{} not shown; --limit 0 shows all\n",
            counted(more, "more package")
        ));
    }
    text
}

fn value(hits: &[Hit<'_>], found: usize) -> Json {
    let packages = hits.iter().map(|hit| {
        Json::Object(vec![
            ("name", Json::text(hit.package.name())),
            ("displayName", Json::text(hit.text(Bundle::display_name))),
            ("version", Json::text(hit.version())),
            ("channel", Json::text(hit.package.default_channel_name())),
            ("why", Json::texts(hit.why())),
            ("summary", Json::text(hit.text(Bundle::blurb))),
            ("deprecation", Json::optional(hit.package.deprecation())),
        ])
    });
    Json::Object(vec![("found", Json::number(found)), ("packages", Json::list(packages))])
}

/// Several words may be too many, and one may be misspelt.
fn hint(catalog: &Catalog, words: &[String]) -> String {
    let known = || catalog.packages().flat_map(|package| package.name().split('-'));
    let mut near = words
        .iter()
        .filter(|word| !known().any(|name| name == *word))
        .filter_map(|word| nearest(word, known()));
    match (near.next(), words) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, [_, _, ..]) => "all words have to be found; try fewer".to_owned(),
        (None, _) => "see all packages with `operon catalog list packages`".to_owned(),
    }
}
