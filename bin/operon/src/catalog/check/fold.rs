//! Versions of a package in a few words: `0.6.1 – 0.9.4 (7 versions)`.

use std::collections::{BTreeMap, BTreeSet};

use operon_version::Version;

/// How many runs of versions are named; when there are more, only the ends are.
const MAX_RUNS: usize = 4;

/// The versions of a package or a channel, the oldest first, with what people call them.
#[derive(Debug, Default)]
pub(super) struct Versions {
    /// The names of bundles, and what they are called: the version where it tells them apart.
    labels: Vec<(String, String)>,
    places: BTreeMap<String, usize>,
}

impl Versions {
    /// Orders bundles, given by name and version; repetitions count once.
    pub(super) fn new<'b>(bundles: impl IntoIterator<Item = (&'b str, &'b str)>) -> Self {
        let known: BTreeSet<(&str, &str)> = bundles.into_iter().collect();
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, version) in &known {
            *uses.entry(version).or_default() += 1;
        }
        let mut ordered: Vec<(Option<Version>, &str, &str)> = known
            .iter()
            .map(|(name, version)| (Version::parse(version).ok(), *name, *version))
            .collect();
        ordered.sort();
        let labels: Vec<(String, String)> = ordered
            .into_iter()
            .map(|(_, name, version)| {
                let is_clear = !version.is_empty() && uses.get(version) == Some(&1);
                (name.to_owned(), if is_clear { version } else { name }.to_owned())
            })
            .collect();
        let places =
            labels.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
        Self { labels, places }
    }

    /// Returns what a bundle is called.
    pub(super) fn label<'l>(&'l self, name: &'l str) -> &'l str {
        self.places.get(name).map_or(name, |&place| &self.labels[place].1)
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.labels.len()
    }

    /// Names some of the bundles; what is next to each other is folded.
    pub(super) fn fold<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> String {
        let places: BTreeSet<usize> =
            names.into_iter().filter_map(|name| self.places.get(name).copied()).collect();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &place in &places {
            match runs.last_mut() {
                Some((_, end)) if *end + 1 == place => *end = place,
                Some(_) | None => runs.push((place, place)),
            }
        }
        let label = |place: usize| self.labels[place].1.as_str();
        if let (Some((first, _)), Some((_, last)), true) =
            (runs.first(), runs.last(), runs.len() > MAX_RUNS)
        {
            let (first, last) = (label(*first), label(*last));
            return format!("{first} … {last} ({} versions among these)", places.len());
        }
        let named: Vec<String> = runs
            .iter()
            .map(|&(start, end)| match end - start {
                0 => label(start).to_owned(),
                1 => format!("{}, {}", label(start), label(end)),
                more => format!("{} – {} ({} versions)", label(start), label(end), more + 1),
            })
            .collect();
        named.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::Versions;

    #[test]
    fn neighbours_are_folded_and_the_rest_is_named() {
        let names: Vec<String> = (0..12).map(|number| format!("a.v1.{number}.0")).collect();
        let bundles = names.iter().map(|name| (name.as_str(), &name[3..]));
        let versions = Versions::new(bundles);
        let fold = |numbers: &[usize]| versions.fold(numbers.iter().map(|&n| names[n].as_str()));
        assert_eq!(fold(&[]), "");
        assert_eq!(fold(&[10]), "1.10.0");
        assert_eq!(fold(&[9, 10]), "1.9.0, 1.10.0");
        assert_eq!(fold(&[10, 0, 8, 9]), "1.0.0, 1.8.0 – 1.10.0 (3 versions)");
        assert_eq!(fold(&[0, 2, 4, 6, 11]), "1.0.0 … 1.11.0 (5 versions among these)");
    }

    #[test]
    fn a_version_that_two_bundles_have_is_called_by_their_names() {
        let versions = Versions::new([("a.v1", "1.0.0"), ("a.v1-again", "1.0.0"), ("a", "")]);
        assert_eq!(versions.label("a.v1"), "a.v1");
        assert_eq!(versions.fold(["a", "a.v1"]), "a, a.v1");
        assert_eq!((versions.count(), versions.label("b")), (3, "b"));
    }
}
