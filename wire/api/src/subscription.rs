//! Subscription: what is asked for, and how far it has come.
//!
//! The settings for the operator's deployment (`spec.config`) and conditions are not read here.

use operon_document::json::{Node, Shape};

use crate::{
    diagnostic::{Fault, ManifestRule},
    metadata::{METADATA, Metadata, field, member, text},
};

/// A Subscription (`operators.coreos.com/v1alpha1`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscription {
    /// `metadata`
    pub metadata: Metadata,
    /// `spec.name`: the package.
    pub package: String,
    /// `spec.channel`; empty for any.
    pub channel: String,
    /// `spec.source`: the name of a CatalogSource.
    pub source: String,
    /// `spec.sourceNamespace`: the namespace of that CatalogSource.
    pub source_namespace: String,
    /// `spec.startingCSV`
    pub starting_csv: String,
    /// `spec.installPlanApproval` as written; everything but `Manual` means `Automatic`.
    pub install_plan_approval: String,
    /// `status.installedCSV`
    pub installed_csv: String,
    /// `status.currentCSV`
    pub current_csv: String,
    /// `status.state`, such as `AtLatestKnown`
    pub state: String,
}

impl Subscription {
    pub(crate) const SHAPE: Shape = Shape::Struct(&[
        field("metadata", &METADATA),
        field(
            "spec",
            &Shape::Struct(&[
                field("name", &Shape::Text),
                field("channel", &Shape::Text),
                field("source", &Shape::Text),
                field("sourceNamespace", &Shape::Text),
                field("startingCSV", &Shape::Text),
                field("installPlanApproval", &Shape::Text),
            ]),
        ),
        field(
            "status",
            &Shape::Struct(&[
                field("installedCSV", &Shape::Text),
                field("currentCSV", &Shape::Text),
                field("state", &Shape::Text),
            ]),
        ),
    ]);

    /// Tells whether a person approves what is done for it.
    pub fn is_manual(&self) -> bool {
        self.install_plan_approval == "Manual"
    }

    pub(crate) fn read(
        root: Node<'_>,
        metadata: Metadata,
        warnings: &mut Vec<Fault>,
    ) -> Result<Self, Fault> {
        let missing = |node: Node<'_>, path: &str| {
            Fault::new(ManifestRule::MissingField, node.span(), path, "is missing")
                .help("name the package that is wanted in `spec.name`")
        };
        let spec = member(root, "spec").ok_or_else(|| missing(root, "spec"))?;
        let package = member(spec, "name").ok_or_else(|| missing(spec, "spec.name"))?;
        if let Some(approval) = member(spec, "installPlanApproval") {
            check_approval(approval, warnings);
        }
        let status = member(root, "status");
        let spec = Some(spec);
        Ok(Self {
            metadata,
            package: package.as_str().unwrap_or_default().into_owned(),
            channel: text(spec, "channel"),
            source: text(spec, "source"),
            source_namespace: text(spec, "sourceNamespace"),
            starting_csv: text(spec, "startingCSV"),
            install_plan_approval: text(spec, "installPlanApproval"),
            installed_csv: text(status, "installedCSV"),
            current_csv: text(status, "currentCSV"),
            state: text(status, "state"),
        })
    }
}

fn check_approval(approval: Node<'_>, warnings: &mut Vec<Fault>) {
    let written = approval.as_str().unwrap_or_default();
    if matches!(written.as_ref(), "" | "Manual" | "Automatic") {
        return;
    }
    let message = format!("`{written}` means `Automatic`, as everything but `Manual` does");
    let path = "spec.installPlanApproval";
    let fault = Fault::new(ManifestRule::InvalidValue, approval.span(), path, message);
    warnings.push(fault.help("write `Manual` or `Automatic`"));
}
