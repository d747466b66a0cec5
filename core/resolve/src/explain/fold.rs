//! Long lists of versions as ranges.

use std::collections::BTreeMap;

use operon_version::Version;

use crate::conflict::Operator;

/// How many packages are named before the rest is only counted.
const MAX_NAMED_PACKAGES: usize = 4;

/// Names operators, folding the versions of each package: `green 1.0.0 – 1.4.2 (9 versions)`.
pub fn fold_operators(operators: &[Operator]) -> String {
    let mut by_package: BTreeMap<&str, Vec<&Operator>> = BTreeMap::new();
    for operator in operators.iter().filter(|operator| operator.way == 0) {
        let key = if operator.package.is_empty() { &operator.name } else { &operator.package };
        by_package.entry(key).or_default().push(operator);
    }
    let count = by_package.len();
    let mut named: Vec<String> = by_package
        .into_iter()
        .take(MAX_NAMED_PACKAGES)
        .map(|(package, operators)| fold_package(package, &operators))
        .collect();
    if count > MAX_NAMED_PACKAGES {
        named.push(format!("{} more packages", count - MAX_NAMED_PACKAGES));
    }
    match named.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Counts the different bundles among operators: one may be in several channels.
pub(super) fn fold_names(operators: &[Operator]) -> usize {
    let mut names: Vec<&str> = operators
        .iter()
        .filter(|operator| operator.way == 0)
        .map(|operator| operator.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn fold_package(package: &str, operators: &[&Operator]) -> String {
    let mut names: Vec<&str> = operators.iter().map(|operator| operator.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if let [only] = names.as_slice() {
        return (*only).to_owned();
    }
    let versions: Vec<&str> = operators.iter().map(|operator| operator.version.as_str()).collect();
    format!("{package} {}", fold_versions(&versions))
}

/// Folds versions into a range: `1.0.0 – 1.4.2 (9 versions)`; two are named, one stands alone.
pub fn fold_versions(versions: &[&str]) -> String {
    let mut ordered: Vec<(Option<Version>, &str)> =
        versions.iter().map(|text| (Version::parse_tolerant(text).ok(), *text)).collect();
    ordered.sort_by(|left, right| match (&left.0, &right.0) {
        (Some(a), Some(b)) => a.cmp(b).then(left.1.cmp(right.1)),
        (None, Some(_)) => std::cmp::Ordering::Less,
        (Some(_), None) => std::cmp::Ordering::Greater,
        (None, None) => left.1.cmp(right.1),
    });
    ordered.dedup_by(|second, first| second.1 == first.1);
    match ordered.as_slice() {
        [] => String::new(),
        [(_, only)] => (*only).to_owned(),
        [(_, first), (_, second)] => format!("{first} and {second}"),
        [(_, first), .., (_, last)] => {
            format!("{first} – {last} ({} versions)", ordered.len())
        }
    }
}
