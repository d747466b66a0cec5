//! The words people type for kinds, such as `csv` or `deployments.apps`.
//!
//! Only kinds that every cluster has are found, and those of Operon; a cluster knows what users define.

use operon_object::{
    Kind,
    known::{KNOWN_KINDS, KnownKind, OTHER_KINDS},
};

/// Finds a kind by its plural, its singular or a short name, each with or without `.group` or
/// `.version.group` behind it; capitals do not count.
pub fn kind_by_word(word: &str) -> Option<Kind> {
    let word = word.to_lowercase();
    let (name, rest) = word.split_once('.').unwrap_or((&word, ""));
    let is_meant = |known: &&KnownKind| {
        let group = known.kind.group();
        let is_named = name == known.plural
            || name == known.kind.name().to_lowercase()
            || known.short_names.contains(&name);
        let full = match group {
            "" => known.version.to_owned(),
            group => format!("{}.{group}", known.version),
        };
        is_named && (rest.is_empty() || rest == group || rest == full)
    };
    KNOWN_KINDS.iter().chain(OTHER_KINDS).find(is_meant).map(|known| known.kind.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_every_kind_leads_to_it_alone() {
        for known in KNOWN_KINDS {
            let singular = known.kind.name().to_lowercase();
            let names = known.short_names.iter().copied();
            for name in names.chain([known.plural, &singular, known.kind.name()]) {
                for word in [
                    name.to_owned(),
                    format!("{name}.{}", known.kind.group()),
                    format!("{name}.{}.{}", known.version, known.kind.group())
                        .trim_end_matches('.')
                        .to_owned(),
                ] {
                    assert_eq!(kind_by_word(&word), Some(known.kind.clone()), "{word}");
                }
            }
        }
        for (word, kind) in [
            ("sts", Kind::new("apps", "StatefulSet")),
            ("hpa.v1.autoscaling", Kind::new("autoscaling", "HorizontalPodAutoscaler")),
            ("ingress", Kind::new("networking.k8s.io", "Ingress")),
            ("events.events.k8s.io", Kind::new("events.k8s.io", "Event")),
        ] {
            assert_eq!(kind_by_word(word), Some(kind), "{word}");
        }
        for word in ["", "csvx", "deployments.operators.coreos.com", "deploy.v2.apps", ".apps"] {
            assert_eq!(kind_by_word(word), None, "{word}");
        }
    }
}
