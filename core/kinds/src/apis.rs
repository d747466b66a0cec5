//! The APIs that an operator owns and requires.
//!
//! Upstream: they are a set of plural, group, version and kind, so that an API that is listed under
//! two plurals counts twice.

use std::collections::BTreeSet;

use operon_constraint::GroupVersionKind;
use operon_object::Value;

/// An API as a ClusterServiceVersion lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiDefinition {
    /// Group, version and kind.
    pub api: GroupVersionKind,
    /// The plural.
    pub plural: String,
}

/// Returns the APIs that a ClusterServiceVersion's spec owns, or the name of a CRD that has no
/// group.
pub fn provided_apis(spec: &Value) -> Result<BTreeSet<ApiDefinition>, String> {
    definitions(spec, "owned")
}

/// Returns the APIs that a ClusterServiceVersion's spec requires, or the name of a CRD that has no
/// group.
pub fn required_apis(spec: &Value) -> Result<BTreeSet<ApiDefinition>, String> {
    definitions(spec, "required")
}

fn definitions(spec: &Value, list: &str) -> Result<BTreeSet<ApiDefinition>, String> {
    let mut definitions = BTreeSet::new();
    for crd in spec.at(&["customresourcedefinitions", list]).elements() {
        let name = crd.get("name").str();
        let (plural, group) = name.split_once('.').ok_or_else(|| name.to_owned())?;
        definitions.insert(definition(crd, group, plural));
    }
    for service in spec.at(&["apiservicedefinitions", list]).elements() {
        definitions.insert(definition(
            service,
            service.get("group").str(),
            service.get("name").str(),
        ));
    }
    Ok(definitions)
}

fn definition(entry: &Value, group: &str, plural: &str) -> ApiDefinition {
    let api = GroupVersionKind {
        group: group.to_owned(),
        version: entry.get("version").str().to_owned(),
        kind: entry.get("kind").str().to_owned(),
    };
    ApiDefinition { api, plural: plural.to_owned() }
}
