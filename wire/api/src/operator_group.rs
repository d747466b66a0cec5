//! OperatorGroup: which namespaces the operators of a namespace look after, and how they update.
//!
//! What the group's status says about members and conditions is not read here.

use std::collections::BTreeMap;

use operon_document::json::{Kind, Node, Shape};

use crate::{
    diagnostic::{Fault, ManifestRule},
    metadata::{METADATA, Metadata, TEXT_LIST, TEXT_MAP, field, member, text_list, text_map},
};

/// The annotation that hides the catalogs of the global namespace.
const EXCLUDE_GLOBAL: &str = "olm.operatorframework.io/exclude-global-namespace-resolution";

/// An OperatorGroup (`operators.coreos.com/v1` or `v1alpha2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorGroup {
    /// `metadata`
    pub metadata: Metadata,
    /// `spec.upgradeStrategy`
    pub upgrade_strategy: UpgradeStrategy,
    /// `spec.targetNamespaces` or `spec.selector`
    pub targets: NamespaceSelection,
}

/// Whether an operator may be moved on from a version that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UpgradeStrategy {
    /// A failed version stays until somebody looks at it.
    #[default]
    Default,
    /// `TechPreviewUnsafeFailForward`: a failed version may be updated.
    UnsafeFailForward,
}

/// The namespaces that the operators of a group look after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NamespaceSelection {
    /// All namespaces: nothing is selected.
    #[default]
    All,
    /// `spec.targetNamespaces`
    Named(Vec<String>),
    /// `spec.selector`, which counts only without names.
    Selected {
        /// `matchLabels`
        match_labels: BTreeMap<String, String>,
        /// Whether there are `matchExpressions`, which are not read.
        has_expressions: bool,
    },
}

impl OperatorGroup {
    pub(crate) const SHAPE: Shape = Shape::Struct(&[
        field("metadata", &METADATA),
        field(
            "spec",
            &Shape::Struct(&[
                field("upgradeStrategy", &Shape::Any),
                field("targetNamespaces", &TEXT_LIST),
                field(
                    "selector",
                    &Shape::Struct(&[
                        field("matchLabels", &TEXT_MAP),
                        field("matchExpressions", &Shape::List(&Shape::Any)),
                    ]),
                ),
            ]),
        ),
    ]);

    /// Tells whether the catalogs of the global namespace are hidden from the group's namespace.
    ///
    /// Upstream: only the text `true` counts, not `True` or `1`.
    pub fn exclude_global(&self) -> bool {
        self.metadata.annotations.get(EXCLUDE_GLOBAL).is_some_and(|value| value == "true")
    }

    pub(crate) fn read(
        root: Node<'_>,
        metadata: Metadata,
        warnings: &mut Vec<Fault>,
    ) -> Result<Self, Fault> {
        let spec = member(root, "spec");
        Ok(Self {
            metadata,
            upgrade_strategy: match spec.and_then(|spec| member(spec, "upgradeStrategy")) {
                None => UpgradeStrategy::Default,
                Some(strategy) => upgrade_strategy(strategy, warnings)?,
            },
            targets: targets(spec),
        })
    }
}

/// Reads the strategy, which is a text in clusters and an object with a name in older documents.
fn upgrade_strategy(node: Node<'_>, warnings: &mut Vec<Fault>) -> Result<UpgradeStrategy, Fault> {
    let path = "spec.upgradeStrategy";
    let named = if node.kind() == Kind::Object { member(node, "name") } else { Some(node) };
    let Some(name) = named else { return Ok(UpgradeStrategy::Default) };
    let Some(strategy) = name.as_str() else {
        let message = format!("must be a string, not {}", name.kind().name());
        return Err(Fault::new(ManifestRule::WrongType, name.span(), path, message));
    };
    Ok(match strategy.as_ref() {
        "" | "Default" => UpgradeStrategy::Default,
        "UnsafeFailForward" | "TechPreviewUnsafeFailForward" => UpgradeStrategy::UnsafeFailForward,
        unknown => {
            let message = format!("`{unknown}` is no strategy; `Default` is used");
            let fault = Fault::new(ManifestRule::InvalidValue, name.span(), path, message);
            warnings.push(fault.help("write `Default` or `TechPreviewUnsafeFailForward`"));
            UpgradeStrategy::Default
        }
    })
}

fn targets(spec: Option<Node<'_>>) -> NamespaceSelection {
    let names = text_list(spec, "targetNamespaces");
    if !names.is_empty() {
        return NamespaceSelection::Named(names);
    }
    let selector = spec.and_then(|spec| member(spec, "selector"));
    let match_labels = text_map(selector, "matchLabels");
    let expressions = selector.and_then(|selector| member(selector, "matchExpressions"));
    let has_expressions = expressions.is_some_and(|list| list.elements().next().is_some());
    if match_labels.is_empty() && !has_expressions {
        return NamespaceSelection::All;
    }
    NamespaceSelection::Selected { match_labels, has_expressions }
}
