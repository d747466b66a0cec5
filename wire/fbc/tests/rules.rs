//! Every rule: the smallest catalog that breaks it, and where the finding points.
//!
//! The cases are data, in `rules.txt`: a heading `## rule: line text`, then the catalog. The text is
//! the beginning of what the finding marks in that line.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up should fail")]

use std::collections::BTreeSet;

use operon_catalog::{Catalog, Rule, lint};
use operon_fbc::{MemoryFile, read_catalog};

const CASES: &str = include_str!("rules.txt");

struct Case {
    rule: Rule,
    expected: &'static str,
    catalog: &'static str,
}

fn cases() -> Vec<Case> {
    let blocks = CASES.split("\n## ").map(|block| block.trim_start_matches("## "));
    blocks
        .map(|block| {
            let (heading, catalog) = block.split_once('\n').unwrap();
            let (id, expected) = heading.split_once(": ").unwrap();
            let rule = Rule::from_id(id).unwrap_or_else(|| panic!("there is no rule {id}"));
            Case { rule, expected, catalog: catalog.trim_end() }
        })
        .collect()
}

fn read(text: &str) -> Catalog {
    let content = text.as_bytes().to_vec();
    read_catalog(&[MemoryFile { path: "catalog.json".to_owned(), content }])
}

/// Returns the rule of each finding, with the line and the text it marks.
fn findings(text: &str) -> Vec<(Rule, String)> {
    let catalog = read(text);
    let advice = lint(&catalog);
    catalog
        .diagnostics()
        .chain(advice)
        .map(|finding| {
            let place = finding.place.map_or("nowhere".to_owned(), |place| {
                let line = text[..place.range().start].matches('\n').count() + 1;
                format!("{line} {}", text.get(place.range()).unwrap_or_default())
            });
            (finding.rule, place)
        })
        .collect()
}

#[test]
fn every_rule_finds_its_place() {
    let mut wrong = Vec::new();
    for Case { rule, expected, catalog } in cases() {
        let found = findings(catalog);
        let place = found.iter().find(|(found, _)| *found == rule).map(|(_, place)| place.as_str());
        if !place.is_some_and(|place| place.starts_with(expected)) {
            wrong.push(format!(
                "{}: expected {expected:?} in\n{catalog}\nfound {found:?}",
                rule.id()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_rule_is_forgotten() {
    // These need files on a disk, and are tested where those are.
    let elsewhere = [Rule::UnreadableFile, Rule::FileTooLarge, Rule::NoCatalog];
    let covered: BTreeSet<Rule> =
        cases().into_iter().map(|case| case.rule).chain(elsewhere).collect();
    let missing: Vec<&str> =
        Rule::ALL.iter().filter(|rule| !covered.contains(rule)).map(|rule| rule.id()).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn what_is_sound_stays_usable() {
    let text = r#"
{"schema":"olm.package","name":"foo","defaultChannel":"stable"}
{"schema":"olm.channel","package":"foo","name":"stable","entries":[{"name":"foo.v1.0.0"}]}
{"schema":"olm.bundle","package":"foo","name":"foo.v1.0.0","image":"a/b:1","properties":[{"type":"olm.package","value":{"packageName":"foo","version":"1.0.0"}}]}
{"schema": "olm.bundle", "na
{"schema":"olm.package","name":"bar","defaultChannel":"x"}"#;
    let catalog = read(text);
    assert!(!catalog.is_valid());
    let names: Vec<&str> = catalog.packages().map(|package| package.name()).collect();
    assert_eq!(names, ["bar", "foo"]);
    let head = catalog.package("foo").and_then(|package| package.default_head());
    let version = head.and_then(|head| head.bundle()).map(|bundle| bundle.version_text());
    assert_eq!(version, Some("1.0.0"));
}
