//! Channels from versions: which there are, which is the default, and how entries are linked.
//!
//! Only the highest patch of each minor has edges: it replaces the highest patch of the minor
//! before, and skips everything below. Edges never cross a major version.

use std::collections::{BTreeMap, BTreeSet};

use operon_document::json::canonical_string;
use operon_version::Version;

use crate::json::{ObjectWriter, list};

/// How stable the bundles of a list are, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Archetype {
    /// `candidate-v1`: not yet tried by many.
    Candidate,
    /// `fast-v1`: released.
    Fast,
    /// `stable-v1`: proven.
    Stable,
}

impl Archetype {
    pub(super) const ALL: [Archetype; 3] =
        [Archetype::Candidate, Archetype::Fast, Archetype::Stable];

    pub(super) fn name(self) -> &'static str {
        match self {
            Archetype::Candidate => "candidate",
            Archetype::Fast => "fast",
            Archetype::Stable => "stable",
        }
    }
}

/// What a channel holds; a minor one is preferred as the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StreamKind {
    /// All minors of a major version: `stable-v1`.
    Major,
    /// One minor version: `stable-v1.2`.
    Minor,
}

/// What the author of a template chose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// Whether there are channels for major versions.
    pub(super) major: bool,
    /// Whether there are channels for minor versions.
    pub(super) minor: bool,
    /// Which kind of channel should be the default.
    pub(super) preference: StreamKind,
}

/// A bundle in one of the lists.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) archetype: Archetype,
    pub(super) name: String,
    pub(super) version: Version,
}

/// What is made of the lists.
#[derive(Debug)]
pub(super) struct Generated {
    /// The `olm.channel` documents by name.
    pub(super) channels: Vec<String>,
    /// The name of the default channel.
    pub(super) default_channel: String,
    /// The name of the highest bundle of the default channel.
    pub(super) default_head: String,
}

/// Makes the channels of a package; `releases` are in the order of archetypes and versions.
pub(super) fn generate(package: &str, releases: &[Release], choice: &Choice) -> Generated {
    let edges = link(releases);
    let mut channels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut default: Option<(Rank<'_>, String)> = None;
    let mut heads: BTreeMap<String, &str> = BTreeMap::new();
    for (release, edges) in releases.iter().zip(&edges) {
        for kind in choice.kinds() {
            let name = channel_name(release, kind);
            let rank = (release.archetype, &release.version, kind == choice.preference, kind);
            // Upstream: a channel is judged by its lowest version, when it is first met. Unlike
            // upstream, which starts from 0.0.0, there is a default even if all versions are lower.
            let is_new = !channels.contains_key(&name);
            if is_new && default.as_ref().is_none_or(|(best, _)| *best < rank) {
                default = Some((rank, name.clone()));
            }
            heads.insert(name.clone(), &release.name);
            channels.entry(name).or_default().push(entry(&release.name, edges));
        }
    }
    let default_channel = default.map(|(_, name)| name).unwrap_or_default();
    let default_head = heads.get(&default_channel).copied().unwrap_or_default().to_owned();
    let channels = channels
        .iter()
        .map(|(name, entries)| {
            ObjectWriter::new()
                .member("entries", &list(entries))
                .text("name", name)
                .text("package", package)
                .text("schema", "olm.channel")
                .finish()
        })
        .collect();
    Generated { channels, default_channel, default_head }
}

/// What makes a channel the default: stability, then version, then preference, then kind.
type Rank<'a> = (Archetype, &'a Version, bool, StreamKind);

impl Choice {
    fn kinds(&self) -> impl Iterator<Item = StreamKind> + use<> {
        let major = self.major.then_some(StreamKind::Major);
        major.into_iter().chain(self.minor.then_some(StreamKind::Minor))
    }
}

fn channel_name(release: &Release, kind: StreamKind) -> String {
    let (archetype, version) = (release.archetype.name(), &release.version);
    match kind {
        StreamKind::Major => format!("{archetype}-v{}", version.major()),
        StreamKind::Minor => format!("{archetype}-v{}.{}", version.major(), version.minor()),
    }
}

/// The edges into a release; most have none.
#[derive(Debug, Default, PartialEq, Eq)]
struct Edges<'a> {
    replaces: Option<&'a str>,
    skips: BTreeSet<&'a str>,
}

/// Returns the edges of each release; they are the same in all its channels.
///
/// The releases of one archetype and major version form a row. Each minor of the row ends in its
/// highest patch, which replaces the end of the minor before and skips all else before it.
fn link(releases: &[Release]) -> Vec<Edges<'_>> {
    let mut linked = Vec::with_capacity(releases.len());
    let same_row = |left: &Release, right: &Release| {
        left.archetype == right.archetype && left.version.major() == right.version.major()
    };
    for row in releases.chunk_by(same_row) {
        let mut below: BTreeSet<&str> = BTreeSet::new();
        let mut replaces: Option<&str> = None;
        for minor in row.chunk_by(|left, right| left.version.minor() == right.version.minor()) {
            let [patches @ .., last] = minor else {
                continue;
            };
            linked.extend(patches.iter().map(|_| Edges::default()));
            below.extend(patches.iter().map(|patch| patch.name.as_str()));
            let skips = below.iter().copied().filter(|name| Some(*name) != replaces).collect();
            linked.push(Edges { replaces, skips });
            below.insert(&last.name);
            replaces = Some(&last.name);
        }
    }
    linked
}

fn entry(name: &str, edges: &Edges<'_>) -> String {
    let mut writer = ObjectWriter::new();
    writer.text("name", name).text_if_any("replaces", edges.replaces.unwrap_or_default());
    if !edges.skips.is_empty() {
        writer.member("skips", &list(edges.skips.iter().map(|skip| canonical_string(skip))));
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(archetype: Archetype, versions: &str) -> Vec<Release> {
        let release = |version: &str| Release {
            archetype,
            name: format!("op.v{version}"),
            version: Version::parse(version).unwrap(),
        };
        versions.split(' ').map(release).collect()
    }

    const MAJOR: Choice = Choice { major: true, minor: false, preference: StreamKind::Major };
    const BOTH: Choice = Choice { major: true, minor: true, preference: StreamKind::Minor };

    #[test]
    fn only_the_highest_patch_of_a_minor_has_edges() {
        let releases = releases(Archetype::Stable, "1.1.0 1.1.1 1.2.0 1.2.1 1.3.0-rc.1 2.0.0");
        let described: Vec<String> = releases
            .iter()
            .zip(link(&releases))
            .map(|(release, edges)| {
                format!("{}: {:?}, {:?}", release.name, edges.replaces, edges.skips)
            })
            .collect();
        insta::assert_snapshot!(described.join("\n"), @r#"
        op.v1.1.0: None, {}
        op.v1.1.1: None, {"op.v1.1.0"}
        op.v1.2.0: None, {}
        op.v1.2.1: Some("op.v1.1.1"), {"op.v1.1.0", "op.v1.2.0"}
        op.v1.3.0-rc.1: Some("op.v1.2.1"), {"op.v1.1.0", "op.v1.1.1", "op.v1.2.0"}
        op.v2.0.0: None, {}
        "#);
    }

    #[test]
    fn the_default_channel_is_the_most_stable_then_the_newest_then_the_preferred() {
        let check = |lists: &[(Archetype, &str)], choice: Choice| {
            let releases: Vec<Release> = lists
                .iter()
                .flat_map(|(archetype, versions)| releases(*archetype, versions))
                .collect();
            let generated = generate("op", &releases, &choice);
            format!("{} with head {}", generated.default_channel, generated.default_head)
        };
        let candidate = (Archetype::Candidate, "2.0.0 3.0.0");
        let stable = (Archetype::Stable, "1.0.0 1.1.0 1.1.1");
        assert_eq!(check(&[candidate, stable], BOTH), "stable-v1.1 with head op.v1.1.1");
        assert_eq!(check(&[candidate, stable], MAJOR), "stable-v1 with head op.v1.1.1");
        assert_eq!(check(&[candidate], BOTH), "candidate-v3.0 with head op.v3.0.0");
        let prefers_major = Choice { preference: StreamKind::Major, ..BOTH };
        assert_eq!(check(&[candidate], prefers_major), "candidate-v3 with head op.v3.0.0");
        // A channel is judged by its first version, so the major channel loses to a later minor.
        assert_eq!(check(&[stable], prefers_major), "stable-v1.1 with head op.v1.1.1");
        // Upstream finds no default channel here and writes an empty one.
        let early = (Archetype::Candidate, "0.0.0-alpha");
        assert_eq!(check(&[early], BOTH), "candidate-v0.0 with head op.v0.0.0-alpha");
    }
}
