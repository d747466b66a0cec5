//! The validator of CRDs, which always runs: the rules of the API server for the CRD itself.
//!
//! Upstream: what is wrong in a schema or a status is left to the API server, so a CRD that passes
//! here can still be refused there.

mod columns;
mod conversion;

use std::collections::BTreeSet;

use operon_document::json::Node;

use super::{
    case::{Case, Exhibit, Report, at},
    names,
};
use crate::{BundleRule, property::text};

const DEFINITION_KIND: &str = "CustomResourceDefinition";

/// A CRD, and where to tell what is wrong with it.
struct Check<'a, 'r> {
    definition: &'r Exhibit<'a>,
    is_beta: bool,
    report: &'r mut Report,
}

/// Tells whether an object is a CRD in a version that is read.
pub(super) fn is_definition(exhibit: &Exhibit<'_>) -> bool {
    let api_version = exhibit.manifest.api_version.as_str();
    exhibit.manifest.kind == DEFINITION_KIND
        && matches!(api_version, "apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1")
}

/// Tells whether a CRD is written in the old form.
pub(super) fn is_beta(exhibit: &Exhibit<'_>) -> bool {
    exhibit.manifest.api_version.ends_with("v1beta1")
}

/// Validates every CRD.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    for definition in case.exhibits.iter().filter(|exhibit| is_definition(exhibit)) {
        let mut check = Check { definition, is_beta: is_beta(definition), report };
        check.metadata();
        check.group_and_scope();
        check.names();
        check.versions();
        conversion::check(&mut check);
        columns::check(&mut check);
    }
}

impl<'a> Check<'a, '_> {
    /// Reports what is wrong at a path of the CRD.
    fn wrong(&mut self, node: Node<'_>, path: &str, reason: impl AsRef<str>) {
        let message = format!("`{path}` of the CRD {}", reason.as_ref());
        self.report.add(BundleRule::DefinitionInvalid, self.definition, node, message);
    }

    /// Reports what is missing at a path of the CRD.
    fn missing(&mut self, path: &[&str]) {
        let node = self.definition.key(path);
        self.wrong(node, &path.join("."), "is missing");
    }

    fn at(&self, path: &[&str]) -> Option<Node<'a>> {
        self.definition.at(path)
    }

    fn text(&self, path: &[&str]) -> String {
        text(self.at(path))
    }

    fn metadata(&mut self) {
        let (name, plural, group) = (
            self.text(&["metadata", "name"]),
            self.text(&["spec", "names", "plural"]),
            self.text(&["spec", "group"]),
        );
        let node = self.definition.key(&["metadata", "name"]);
        let value = self.at(&["metadata", "name"]).unwrap_or(node);
        if let Err(reason) = names::subdomain(&name) {
            self.wrong(value, "metadata.name", reason);
        } else if name != format!("{plural}.{group}") {
            let reason = format!(
                "must be its plural name, a dot and its group, `{plural}.{group}`, not `{name}`"
            );
            self.wrong(value, "metadata.name", reason);
        }
        if let Some(namespace) = self.at(&["metadata", "namespace"])
            && !text(Some(namespace)).is_empty()
        {
            self.wrong(namespace, "metadata.namespace", "must not be set: a CRD has no namespace");
        }
        for (key, value) in self.at(&["metadata", "labels"]).into_iter().flat_map(Node::members) {
            let name = key.as_str().unwrap_or_default();
            if let Err(reason) = names::qualified_key(&name) {
                self.wrong(key, "metadata.labels", format!("has the key `{name}`, which {reason}"));
            }
            if let Err(reason) = names::label_value(&text(Some(value))) {
                self.wrong(value, &format!("metadata.labels.{name}"), reason);
            }
        }
        for (key, _) in self.at(&["metadata", "annotations"]).into_iter().flat_map(Node::members) {
            let name = key.as_str().unwrap_or_default();
            // Upstream: the case of an annotation's prefix does not matter.
            if let Err(reason) = names::qualified_key(&name.to_lowercase()) {
                self.wrong(
                    key,
                    "metadata.annotations",
                    format!("has the key `{name}`, which {reason}"),
                );
            }
        }
    }

    fn group_and_scope(&mut self) {
        match self.at(&["spec", "group"]) {
            Some(node) if !text(Some(node)).is_empty() => {
                let group = text(Some(node));
                if let Err(reason) = names::subdomain(&group) {
                    self.wrong(node, "spec.group", reason);
                } else if !group.contains('.') {
                    self.wrong(node, "spec.group", "must be a domain with at least one dot");
                }
            }
            _ => self.missing(&["spec", "group"]),
        }
        match self.at(&["spec", "scope"]) {
            Some(node) if !text(Some(node)).is_empty() => {
                let scope = text(Some(node));
                if !matches!(scope.as_str(), "Cluster" | "Namespaced") {
                    let reason = format!("must be `Cluster` or `Namespaced`, not `{scope}`");
                    self.wrong(node, "spec.scope", reason);
                }
            }
            // In the old form the scope is filled in.
            _ if self.is_beta => {}
            _ => self.missing(&["spec", "scope"]),
        }
    }

    fn names(&mut self) {
        for name in ["plural", "kind"] {
            if self.text(&["spec", "names", name]).is_empty() {
                self.missing(&["spec", "names", name]);
            }
        }
        for name in ["plural", "singular", "kind", "listKind"] {
            let path = ["spec", "names", name];
            let Some(node) = self.at(&path).filter(|node| !text(Some(*node)).is_empty()) else {
                continue;
            };
            let mut written = text(Some(node));
            if matches!(name, "kind" | "listKind") {
                written = written.to_lowercase();
            }
            if let Err(reason) = names::dns_label(&written) {
                self.wrong(node, &path.join("."), reason);
            }
        }
        for list in ["shortNames", "categories"] {
            let path = ["spec", "names", list];
            for node in self.at(&path).into_iter().flat_map(Node::elements) {
                if let Err(reason) = names::dns_label(&text(Some(node))) {
                    self.wrong(node, &path.join("."), reason);
                }
            }
        }
        let kind = self.text(&["spec", "names", "kind"]);
        if let Some(list_kind) = self.at(&["spec", "names", "listKind"])
            && !kind.is_empty()
            && text(Some(list_kind)) == kind
        {
            self.wrong(list_kind, "spec.names.listKind", "must differ from the kind");
        }
    }

    fn versions(&mut self) {
        let versions: Vec<Node<'a>> =
            self.at(&["spec", "versions"]).into_iter().flat_map(Node::elements).collect();
        if versions.is_empty() && self.is_beta && !self.text(&["spec", "version"]).is_empty() {
            return;
        }
        let mut seen = BTreeSet::new();
        let mut stored = 0;
        for (index, version) in versions.iter().enumerate() {
            let node = version.field("name").unwrap_or(*version);
            let name = text(version.field("name"));
            let path = format!("spec.versions[{index}].name");
            if let Err(reason) = names::dns_label(&name) {
                self.wrong(node, &path, reason);
            } else if !seen.insert(name) {
                self.wrong(node, &path, "names a version for the second time");
            }
            stored += usize::from(at(*version, &["storage"]).and_then(Node::as_bool) == Some(true));
        }
        if stored != 1 {
            let node = self.definition.key(&["spec", "versions"]);
            let reason = format!("must mark exactly one version as storage, not {stored}");
            self.wrong(node, "spec.versions", reason);
        }
    }
}
