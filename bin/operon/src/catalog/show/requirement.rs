//! What a bundle requires, as a tree: APIs, packages, and constraints made of them.
//!
//! The tree is for showing. Whether a set of operators meets a constraint is not decided here; only
//! single APIs and packages are looked up elsewhere.

use operon_catalog::{Bundle, GroupVersionKind};
use operon_document::json::{Node, Tape, canonical};

/// Constraints nested deeper than this are shown as text; real ones have two or three levels.
pub(in crate::catalog) const MAX_CONSTRAINT_DEPTH: usize = 32;

/// Something a bundle requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalog) struct Requirement {
    /// What is required.
    pub(in crate::catalog) need: Need,
    /// What the author wants to be said when it is not met; may be empty.
    pub(in crate::catalog) message: String,
    /// Whether it stands in an `olm.constraint` property.
    pub(in crate::catalog) is_constraint: bool,
}

/// What is required.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::catalog) enum Need {
    /// An API: some bundle that provides `EtcdCluster`.
    Api { group: String, version: String, kind: String },
    /// A package in a range of versions: `etcd` in `>=0.9.0`.
    Package { name: String, range: String },
    /// A rule over a bundle's properties, in the Common Expression Language.
    Cel(String),
    /// All of these.
    All(Vec<Requirement>),
    /// At least one of these.
    Any(Vec<Requirement>),
    /// None of these.
    Not(Vec<Requirement>),
    /// A constraint of a form that is not known, as compact JSON.
    Unreadable(String),
}

impl Need {
    /// Returns the name of the API, when it is one.
    pub(in crate::catalog) fn api_name(&self) -> Option<GroupVersionKind> {
        match self {
            Need::Api { group, version, kind } => Some(GroupVersionKind {
                group: group.clone(),
                version: version.clone(),
                kind: kind.clone(),
            }),
            Need::Package { .. }
            | Need::Cel(_)
            | Need::All(_)
            | Need::Any(_)
            | Need::Not(_)
            | Need::Unreadable(_) => None,
        }
    }

    /// Returns the need in one line, such as `API EtcdCluster.v1beta2 (etcd.database.coreos.com)`.
    pub(in crate::catalog) fn sentence(&self) -> String {
        match self {
            Need::Api { group, version, kind } => format!("API {kind}.{version} ({group})"),
            Need::Package { name, range } => {
                format!("package {name} {range}").trim_end().to_owned()
            }
            Need::Cel(rule) => format!("CEL rule {rule}"),
            Need::All(_) => "all of".to_owned(),
            Need::Any(_) => "any of".to_owned(),
            Need::Not(_) => "none of".to_owned(),
            Need::Unreadable(json) => format!("unknown constraint {json}"),
        }
    }
}

/// Returns everything a bundle requires: APIs, then packages, then constraints.
pub(in crate::catalog) fn requirements(bundle: Bundle<'_>) -> Vec<Requirement> {
    let plain = |need| Requirement { need, message: String::new(), is_constraint: false };
    let mut found: Vec<Requirement> = Vec::new();
    for api in bundle.required_apis() {
        let [group, version, kind] = [api.group(), api.version(), api.kind()].map(str::to_owned);
        found.push(plain(Need::Api { group, version, kind }));
    }
    for (name, range) in bundle.required_packages() {
        found.push(plain(Need::Package { name: name.to_owned(), range: range.to_owned() }));
    }
    found.extend(constraints(bundle));
    found
}

/// Returns the constraints of a bundle's `olm.constraint` properties.
pub(in crate::catalog) fn constraints(bundle: Bundle<'_>) -> Vec<Requirement> {
    let mut tape = Tape::new();
    let mut found = Vec::new();
    for property in bundle.properties().filter(|property| property.kind == "olm.constraint") {
        found.push(match tape.read(property.value.as_bytes()) {
            Ok(root) => constraint(root, MAX_CONSTRAINT_DEPTH),
            Err(_) => Requirement {
                need: Need::Unreadable(property.value.to_owned()),
                message: String::new(),
                is_constraint: true,
            },
        });
    }
    found
}

/// Returns the APIs, packages and rules that requirements ask for; what they exclude is left out.
pub(in crate::catalog) fn leaves(requirements: &[Requirement]) -> Vec<&Need> {
    let mut found = Vec::new();
    for requirement in requirements {
        match &requirement.need {
            Need::All(inner) | Need::Any(inner) => found.extend(leaves(inner)),
            Need::Not(_) => {}
            need @ (Need::Api { .. }
            | Need::Package { .. }
            | Need::Cel(_)
            | Need::Unreadable(_)) => {
                found.push(need);
            }
        }
    }
    found
}

fn constraint(node: Node<'_>, depth: usize) -> Requirement {
    let need = if depth == 0 { None } else { need(node, depth - 1) };
    Requirement {
        need: need.unwrap_or_else(|| Need::Unreadable(canonical(node))),
        message: text(node, "failureMessage"),
        is_constraint: true,
    }
}

/// Reads the one form a constraint has; `None` when it has another one or several.
fn need(node: Node<'_>, depth: usize) -> Option<Need> {
    let inner = |compound: Node<'_>| -> Vec<Requirement> {
        let constraints = compound.field("constraints").into_iter().flat_map(Node::elements);
        constraints.map(|node| constraint(node, depth)).collect()
    };
    let mut forms = ["gvk", "package", "cel", "all", "any", "not"]
        .into_iter()
        .filter_map(|form| Some((form, node.field(form).filter(|value| !value.is_null())?)));
    let (form, value) = forms.next()?;
    if forms.next().is_some() {
        return None;
    }
    Some(match form {
        "gvk" => Need::Api {
            group: text(value, "group"),
            version: text(value, "version"),
            kind: text(value, "kind"),
        },
        "package" => {
            Need::Package { name: text(value, "packageName"), range: text(value, "versionRange") }
        }
        "cel" => Need::Cel(text(value, "rule")),
        "all" => Need::All(inner(value)),
        "any" => Need::Any(inner(value)),
        _ => Need::Not(inner(value)),
    })
}

fn text(node: Node<'_>, field: &str) -> String {
    node.field(field).and_then(Node::as_str).unwrap_or_default().into_owned()
}
