//! Agreement with the reference, line by line of its recorded answers.

mod support;

use operon_version::{RangeError, Release, Version, VersionError, VersionRange};
use support::{Json, vectors};

#[test]
fn versions_and_ranges_agree_with_the_reference() {
    let (mut parses, mut comparisons, mut refusals, mut evaluations) = (0, 0, 0, 0);
    for line in vectors("semver.jsonl") {
        match line.text("kind") {
            Some("parse") => {
                let text = line.bytes("in");
                check_version(line.get("strict"), &Version::parse_bytes(&text), &text);
                check_version(
                    line.get("tolerant"),
                    &Version::parse_tolerant_bytes(&text),
                    &text,
                );
                parses += 1;
            }
            Some("compare") => {
                let version = |key| Version::parse(line.text(key).unwrap()).unwrap();
                let order = version("a").cmp(&version("b")) as i8;
                assert_eq!(
                    line.get("cmp"),
                    Some(&Json::Word(order.to_string())),
                    "{line:?}"
                );
                comparisons += 1;
            }
            Some("range") => {
                let text = line.bytes("range");
                let range = VersionRange::parse_bytes(&text);
                if let Some(error) = line.text("error") {
                    assert_eq!(range.unwrap_err().to_string(), error);
                    refusals += 1;
                } else if line.list("results").contains(&Json::Text("panic".into())) {
                    assert_eq!(range, Err(RangeError::EmptyAlternative { position: 2 }));
                    refusals += 1;
                } else {
                    check_results(&line, &range.unwrap());
                    evaluations += 1;
                }
            }
            other => panic!("unknown kind {other:?}"),
        }
    }
    println!(
        "{parses} parsed, {comparisons} compared, {refusals} ranges refused, {evaluations} evaluated"
    );
}

fn check_version(expected: Option<&Json>, actual: &Result<Version, VersionError>, text: &[u8]) {
    let expected = expected.expect("a recorded answer");
    let printed = actual.as_ref().ok().map(ToString::to_string);
    let refused = actual.as_ref().err().map(ToString::to_string);
    assert_eq!(
        printed.as_deref(),
        expected.text("ok"),
        "{}",
        text.escape_ascii()
    );
    assert_eq!(
        refused.as_deref(),
        expected.text("error"),
        "{}",
        text.escape_ascii()
    );
}

fn check_results(line: &Json, range: &VersionRange) {
    let (versions, results) = (line.list("versions"), line.list("results"));
    assert!(!versions.is_empty() && versions.len() == results.len());
    let intervals = range.intervals();
    for (version, result) in versions.iter().zip(results) {
        let version = Version::parse(version.as_text().expect("a text")).expect("a version");
        let contained = range.contains(&version);
        assert_eq!(
            *result,
            Json::Word(contained.to_string()),
            "{range} {version}"
        );
        let in_interval = intervals.iter().any(|interval| interval.contains(&version));
        assert_eq!(in_interval, contained, "{intervals:?} {version}");
    }
}

#[test]
fn releases_agree_with_the_reference() {
    let (mut accepted, mut refused) = (0, 0);
    for line in vectors("fbc.jsonl") {
        let is_release = line.text("id").is_some_and(|id| id.starts_with("release-"));
        let Some(error) = line.text("error").filter(|_| is_release) else {
            accepted += usize::from(is_release);
            continue;
        };
        let Some((before, reason)) = error.split_once("\": invalid release ") else {
            continue;
        };
        let (_, text) = before.split_once("release version \"").unwrap();
        let reason = reason.strip_prefix(&format!("\"{text}\": ")).unwrap();
        assert_eq!(Release::parse(text).unwrap_err().to_string(), reason);
        refused += 1;
    }
    println!("{refused} releases refused, {accepted} catalogs with other outcomes");
}
