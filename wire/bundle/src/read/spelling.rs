//! Fields and annotations of a ClusterServiceVersion that nothing reads, most often misspelt.
//!
//! Upstream ignores a field it does not know, so `miniKubeVersion` limits nothing and
//! `spec.skipRange` skips nothing.

use operon_document::json::Node;

use super::Page;
use crate::{BundleRule, finding::Findings};

/// The fields directly below `spec`.
const SPEC_FIELDS: [&str; 24] = [
    "annotations",
    "apiservicedefinitions",
    "cleanup",
    "customresourcedefinitions",
    "description",
    "displayName",
    "icon",
    "install",
    "installModes",
    "keywords",
    "labels",
    "links",
    "maintainers",
    "maturity",
    "minKubeVersion",
    "nativeAPIs",
    "provider",
    "relatedImages",
    "release",
    "replaces",
    "selector",
    "skips",
    "version",
    "webhookdefinitions",
];

/// The fields below `spec.customresourcedefinitions` and `spec.apiservicedefinitions`.
const DEFINITION_FIELDS: [&str; 2] = ["owned", "required"];

/// The annotations that OLM or a catalog tool reads.
const ANNOTATIONS: [&str; 8] = [
    "olm.skipRange",
    "olm.properties",
    "olm.substitutesFor",
    "olm.operatorGroup",
    "olm.operatorNamespace",
    "olm.targetNamespaces",
    "olm.providedAPIs",
    "olm.maxOpenShiftVersion",
];

/// A longer key is not a misspelling of anything known, and need not be compared.
const MAX_COMPARED_LENGTH: usize = 64;

/// Keys that differ from a known one by at most this many edits are taken for misspellings.
const MAX_EDITS: usize = 2;

/// Finds fields and annotations that nothing reads.
pub(super) fn check(page: &Page<'_>, findings: &mut Findings) {
    let root = page.document.root;
    if let Some(spec) = root.get("spec") {
        check_fields(page, spec, "spec", &SPEC_FIELDS, findings);
        for name in ["customresourcedefinitions", "apiservicedefinitions"] {
            if let Some(definitions) = spec.get(name) {
                let path = format!("spec.{name}");
                check_fields(page, definitions, &path, &DEFINITION_FIELDS, findings);
            }
        }
    }
    let metadata = root.field("metadata");
    let annotations = metadata.and_then(|metadata| metadata.field("annotations"));
    for (key, _) in annotations.into_iter().flat_map(Node::members) {
        check_annotation(page, key, findings);
    }
}

fn check_fields(
    page: &Page<'_>,
    object: Node<'_>,
    path: &str,
    known: &[&str],
    findings: &mut Findings,
) {
    for (key, _) in object.members() {
        let name = key.as_str().unwrap_or_default();
        if known.contains(&name.as_ref()) {
            continue;
        }
        let message =
            format!("`{path}.{}` is not a field of a ClusterServiceVersion", shorten(&name));
        let finding = page.find(findings, BundleRule::UnknownField, key, message);
        if let Some(help) = field_help(&name, known) {
            finding.help(help);
        }
    }
}

fn field_help(name: &str, known: &[&str]) -> Option<String> {
    if let Some(right) = known.iter().find(|right| right.eq_ignore_ascii_case(name)) {
        return Some(format!(
            "write `{right}`; some tools accept another case, but a cluster drops the field"
        ));
    }
    match name {
        "skipRange" | "olm.skipRange" => {
            return Some("the range belongs into the annotation `olm.skipRange`".to_owned());
        }
        "maxKubeVersion" => {
            return Some("there is no upper limit for Kubernetes; nothing reads this".to_owned());
        }
        "install" => {
            return Some(
                "`install` belongs directly below `spec`; check the indentation".to_owned(),
            );
        }
        _ => {}
    }
    let near = nearest(name, known)?;
    Some(format!("did you mean `{near}`?"))
}

fn check_annotation(page: &Page<'_>, key: Node<'_>, findings: &mut Findings) {
    let name = key.as_str().unwrap_or_default();
    if name.starts_with("operators.operatorframework.io.bundle.") {
        let message = format!("the bundle annotation `{}` has no effect in a CSV", shorten(&name));
        page.find(findings, BundleRule::BundleAnnotationInService, key, message)
            .help("bundle annotations belong into `metadata/annotations.yaml`");
    }
    if ANNOTATIONS.contains(&name.as_ref()) {
        return;
    }
    if let Some(near) = nearest(&name, &ANNOTATIONS) {
        let message = format!("nothing reads the annotation `{name}`");
        page.find(findings, BundleRule::UnknownAnnotation, key, message)
            .help(format!("did you mean `{near}`?"));
    }
}

fn shorten(name: &str) -> String {
    let mut characters = name.chars();
    let start: String = characters.by_ref().take(MAX_COMPARED_LENGTH).collect();
    if characters.next().is_some() { format!("{start}…") } else { start }
}

/// Returns the known name that differs from `name` by the fewest edits, if those are few.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > MAX_COMPARED_LENGTH {
        return None;
    }
    let name = name.to_lowercase();
    known
        .iter()
        .map(|known| (edits(&name, &known.to_lowercase()), *known))
        .filter(|(edits, _)| *edits <= MAX_EDITS)
        .min()
        .map(|(_, known)| known)
}

/// Counts the insertions, deletions and replacements that lead from one text to the other.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left_character) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, right_character) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(left_character != *right_character);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_of_real_bundles_are_recognised() {
        for (written, meant) in [
            ("miniKubeVersion", Some("minKubeVersion")),
            ("minikubeVersion", Some("minKubeVersion")),
            ("replace", Some("replaces")),
            ("webhookDefinition", Some("webhookdefinitions")),
            ("tolerations", None),
        ] {
            assert_eq!(nearest(written, &SPEC_FIELDS), meant, "{written}");
        }
        assert_eq!(nearest("olm.skipsRange", &ANNOTATIONS), Some("olm.skipRange"));
        assert_eq!(nearest("olm.skiprange", &ANNOTATIONS), Some("olm.skipRange"));
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
