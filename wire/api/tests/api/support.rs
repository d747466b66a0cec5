//! Small manifests, and findings as one line each.

use operon_api::{ManifestDiagnostic, ManifestSeverity, Manifests, read_manifests};

/// Prints a finding with all that people are told.
pub(crate) fn shown(diagnostic: &ManifestDiagnostic) -> String {
    let severity = match diagnostic.severity {
        ManifestSeverity::Error => "error",
        ManifestSeverity::Warning => "warning",
    };
    let help =
        if diagnostic.help.is_empty() { String::new() } else { format!(" ({})", diagnostic.help) };
    format!("{severity} {}: {diagnostic}{help}", diagnostic.rule.id())
}

/// Reads a text that nothing is wrong with.
pub(crate) fn read(text: &str) -> Manifests {
    let manifests = read_manifests("cluster.yaml", text.as_bytes());
    let findings: Vec<String> = manifests.diagnostics.iter().map(shown).collect();
    assert_eq!(findings, Vec::<String>::new(), "{text}");
    manifests
}

/// Returns a manifest of one of our kinds; `rest` is YAML below `metadata`.
pub(crate) fn manifest(kind: &str, namespace: &str, name: &str, rest: &str) -> String {
    let version = if kind == "OperatorGroup" { "v1" } else { "v1alpha1" };
    format!(
        "apiVersion: operators.coreos.com/{version}\nkind: {kind}\nmetadata:\n  name: {name}\n  \
         namespace: {namespace}\n{rest}\n---\n"
    )
}
