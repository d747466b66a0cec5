//! Which operators a CRD was installed alongside.
//!
//! A CRD stays when its operator goes, so annotations remember who brought it. Which operators are
//! still there is the caller's knowledge.

use std::collections::BTreeSet;

use operon_object::{Object, fnv64_hex};

/// Begins the annotations that name operators; the rest is a hash of the name.
pub const INSTALLED_ALONGSIDE_PREFIX: &str = "operatorframework.io/installed-alongside-";

/// Marks everything that Operon manages.
pub const MANAGED_LABEL: &str = "olm.managed";

/// Returns a CRD's manifest with the annotations and the label that it gets when it is created or
/// takes another one's place.
///
/// Operators named on the manifest or on the live CRD stay named while `is_live` says of their
/// namespace and name that they exist and are no copies; the operator that brings the manifest is
/// named in any case. All else that the live CRD says in its metadata is the manifest's to say.
pub fn installed_alongside(
    manifest: &Object,
    live: Option<&Object>,
    namespace: &str,
    operator: &str,
    is_live: impl Fn(&str, &str) -> bool,
) -> Object {
    let mut named: BTreeSet<(String, String)> = [Some(manifest), live]
        .into_iter()
        .flatten()
        .flat_map(named_operators)
        .filter(|(namespace, name)| is_live(namespace, name))
        .collect();
    if !namespace.is_empty() && !operator.is_empty() {
        named.insert((namespace.to_owned(), operator.to_owned()));
    }
    let mut merged = manifest.clone();
    let outdated: Vec<String> = (manifest.annotations())
        .filter(|(name, _)| name.starts_with(INSTALLED_ALONGSIDE_PREFIX))
        .map(|(name, _)| name.to_owned())
        .collect();
    for annotation in outdated {
        merged.remove_annotation(&annotation);
    }
    for (namespace, name) in named {
        let operator = format!("{namespace}/{name}");
        let annotation = format!("{INSTALLED_ALONGSIDE_PREFIX}{}", fnv64_hex(&operator));
        merged.set_annotation(&annotation, &operator);
    }
    merged.set_label(MANAGED_LABEL, "true");
    merged
}

/// Upstream: an annotation that is not a namespace, a slash and a name is ignored.
fn named_operators(object: &Object) -> impl Iterator<Item = (String, String)> {
    object.annotations().filter_map(|(annotation, operator)| {
        let (namespace, name) = operator.split_once('/')?;
        (annotation.starts_with(INSTALLED_ALONGSIDE_PREFIX) && !name.contains('/'))
            .then(|| (namespace.to_owned(), name.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use operon_object::Object;

    use super::{INSTALLED_ALONGSIDE_PREFIX, installed_alongside};

    #[test]
    fn live_operators_stay_named_and_others_do_not() {
        let crd = || Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "c");
        let with = |operators: &[&str]| {
            let mut crd = crd();
            for (index, operator) in operators.iter().enumerate() {
                crd.set_annotation(&format!("{INSTALLED_ALONGSIDE_PREFIX}{index}"), operator);
            }
            crd
        };
        let claims: [(&[&str], &[&str], &[&str]); 5] = [
            (&[], &[], &["ns/op.v1"]),
            (&[], &["a/live", "b/gone"], &["a/live", "ns/op.v1"]),
            (&["a/live", "x"], &["a/live", "a/b/live"], &["a/live", "ns/op.v1"]),
            (&["ns/op.v1"], &["ns/op.v1"], &["ns/op.v1"]),
            (&["b/live"], &["a/live"], &["a/live", "b/live", "ns/op.v1"]),
        ];
        for (manifest, live, expected) in claims {
            let mut manifest = with(manifest);
            manifest.set_annotation("kept", "yes");
            let mut live = with(live);
            live.set_annotation("dropped", "yes");
            let merged = installed_alongside(&manifest, Some(&live), "ns", "op.v1", |_, name| {
                name == "live"
            });
            let mut named: Vec<&str> = (merged.annotations())
                .filter(|(name, _)| name.starts_with(INSTALLED_ALONGSIDE_PREFIX))
                .map(|(_, operator)| operator)
                .collect();
            named.sort_unstable();
            assert_eq!(named, expected);
            assert_eq!(merged.annotation("kept"), Some("yes"));
            assert_eq!(merged.annotation("dropped"), None);
            assert_eq!(merged.label("olm.managed"), "true");
        }
    }
}
