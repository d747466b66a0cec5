//! The examples in the annotations of a ClusterServiceVersion, against the APIs it owns.
//!
//! Whether an example fits the schema of its CRD is not asked: upstream does not ask either.

use std::{borrow::Cow, collections::BTreeSet};

use operon_document::json::{Kind, Node, Tape};

use super::case::{Case, Report};
use crate::{BundleRule, DefinitionKey, property::text, render::split_definition_name};

/// Where examples are; the first one that is there counts.
const ANNOTATIONS: [&str; 2] = ["alm-examples", "olm.examples"];

/// An API by group, version and kind.
type Api = (String, String, String);

/// Checks the examples.
pub(super) fn check(case: &Case<'_>, report: &mut Report) {
    let csv = &case.service_version;
    let [preferred, other] = ANNOTATIONS.map(|name| case.annotation(name));
    let Some(node) = preferred.or(other) else {
        let message = "the annotations of the ClusterServiceVersion hold no examples";
        let key = csv.key(&["metadata", "annotations"]);
        report
            .add(BundleRule::ExamplesMissing, csv, key, message)
            .help("put one object of each owned API into the annotation `alm-examples`");
        return;
    };
    if preferred.is_some() && other.is_some() {
        let message =
            "there are examples in `alm-examples` and in `olm.examples`; the former count";
        report.add(BundleRule::ExamplesRepeated, csv, node, message);
    }
    let written = text(Some(node));
    let examples = match read(&written) {
        Ok(examples) => examples,
        Err(reason) => {
            let message = format!("the examples cannot be read: {reason}");
            report.add(BundleRule::ExamplesUnreadable, csv, node, message);
            return;
        }
    };
    let owned: BTreeSet<Api> = owned_keys(case).map(|(api, _)| api).collect();
    for api in examples.difference(&owned) {
        let message = format!("there is an example of {}, which the CSV does not own", name(api));
        report
            .add(BundleRule::ExampleWithoutApi, csv, node, message)
            .help("own the API, or take the example out; the apiVersion may be an old one");
    }
    for (api, key) in owned_keys(case) {
        if !examples.contains(&api) {
            let message = format!("there is no example of {}, which the CSV owns", name(&api));
            let (file, range) = (&case.source.service_version.file, key.range.clone());
            report.add_in_file(BundleRule::ApiWithoutExample, file, range, message);
        }
    }
}

fn name((group, version, kind): &Api) -> String {
    let slash = if group.is_empty() { "" } else { "/" };
    format!("`{kind}` of `{group}{slash}{version}`")
}

/// Returns the APIs of which there are examples.
fn read(written: &str) -> Result<BTreeSet<Api>, Cow<'static, str>> {
    if written.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut tape = Tape::new();
    let list = tape.read(written.as_bytes()).map_err(|error| error.to_string())?;
    if !matches!(list.kind(), Kind::Array | Kind::Null) {
        return Err(format!("they must be a list, not {}", list.kind().name()).into());
    }
    list.elements().enumerate().map(|(index, example)| api(index, example)).collect()
}

fn api(index: usize, example: Node<'_>) -> Result<Api, Cow<'static, str>> {
    let kind = text(example.get("kind"));
    if kind.is_empty() {
        return Err(format!("example {index} has no `kind`").into());
    }
    let api_version = text(example.get("apiVersion"));
    Ok(match api_version.split_once('/') {
        Some((group, version)) => (group.to_owned(), version.to_owned(), kind),
        None => (String::new(), api_version, kind),
    })
}

/// Returns the APIs that the ClusterServiceVersion owns; a CRD whose name has no group is told of
/// elsewhere.
fn owned_keys<'c>(case: &'c Case<'_>) -> impl Iterator<Item = (Api, &'c DefinitionKey)> {
    let service_version = &case.source.service_version;
    let definitions = service_version.owned_definitions.iter().filter_map(|key| {
        let (_, group) = split_definition_name(&key.name)?;
        Some(((group.to_owned(), key.version.clone(), key.kind.clone()), key))
    });
    let services = service_version.owned_services.iter();
    definitions.chain(
        services.map(|key| ((key.group.clone(), key.version.clone(), key.kind.clone()), key)),
    )
}
