//! Versions, their order, and ranges.

use std::cmp::Ordering;

use operon_version::{Version, VersionRange};
use serde_json::Value;

use super::{LineVerdict, input, same};

/// Checks a line of `semver.jsonl`.
pub(super) fn check(line: &Value) -> LineVerdict {
    match line["kind"].as_str() {
        Some("parse") => check_parse(line),
        Some("compare") => check_compare(line),
        Some("range") => check_range(line),
        other => same("kind", "parse, compare or range", &format!("{other:?}")),
    }
}

fn check_parse(line: &Value) -> LineVerdict {
    let text = input(line, "in");
    for (name, answer) in [
        ("strict", Version::parse_bytes(&text)),
        ("tolerant", Version::parse_tolerant_bytes(&text)),
    ] {
        let got = match answer {
            Ok(version) => format!("ok {version}"),
            Err(error) => format!("error {error}"),
        };
        let expected = match line[name]["ok"].as_str() {
            Some(version) => format!("ok {version}"),
            None => format!("error {}", line[name]["error"].as_str().unwrap_or_default()),
        };
        same(&format!("{name} parse of {:?}", String::from_utf8_lossy(&text)), &expected, &got)?;
    }
    Ok(())
}

fn check_compare(line: &Value) -> LineVerdict {
    let version = |name: &str| Version::parse(line[name].as_str().unwrap_or_default()).ok();
    let (left, right) = (version("a"), version("b"));
    let got = match (&left, &right) {
        (Some(left), Some(right)) => match left.cmp(right) {
            Ordering::Less => "-1",
            Ordering::Equal => "0",
            Ordering::Greater => "1",
        },
        (None, _) | (_, None) => "unreadable",
    };
    same(&format!("compare {} {}", line["a"], line["b"]), &line["cmp"].to_string(), got)
}

fn check_range(line: &Value) -> LineVerdict {
    let text = input(line, "range");
    let what = format!("range {:?}", String::from_utf8_lossy(&text));
    let range = VersionRange::parse_bytes(&text);
    let results = line["results"].as_array();
    let reference_panics =
        results.is_some_and(|results| results.iter().any(|result| result == "panic"));
    if reference_panics {
        // Where the reference panics, a clear error is the right answer.
        return same(&what, "error", if range.is_err() { "error" } else { "ok" });
    }
    let got = match range {
        Err(error) => format!("error {error}"),
        Ok(range) => {
            let versions = line["versions"].as_array().into_iter().flatten();
            let answers: Vec<String> = versions
                .map(|version| {
                    let version = Version::parse(version.as_str().unwrap_or_default());
                    version.map_or("unreadable".to_owned(), |version| {
                        range.contains(&version).to_string()
                    })
                })
                .collect();
            format!("[{}]", answers.join(","))
        }
    };
    let expected = match line["error"].as_str() {
        Some(error) => format!("error {error}"),
        None => line["results"].to_string(),
    };
    same(&what, &expected, &got)
}
