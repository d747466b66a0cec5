//! An API as people type it: `KIND[.VERSION][.GROUP]`.
//!
//! A pattern names what it names exactly, but for the case of letters; it is no search.

use std::str::FromStr;

use operon_catalog::{Api, Catalog, GroupVersionKind};

/// The APIs that `KIND[.VERSION][.GROUP]` names: of several versions and groups when they are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiPattern {
    kind: String,
    version: Option<String>,
    group: Option<String>,
}

impl FromStr for ApiPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.split('.').peekable();
        let kind = rest.next().unwrap_or_default().to_owned();
        if kind.is_empty() {
            return Err("an API begins with its kind, such as `EtcdCluster`".to_owned());
        }
        let version = rest.next_if(|part| is_version(part)).map(str::to_owned);
        let group = rest.collect::<Vec<_>>().join(".");
        Ok(Self { kind, version, group: Some(group).filter(|group| !group.is_empty()) })
    }
}

impl ApiPattern {
    /// Returns the APIs of the catalog that the pattern names.
    pub(super) fn find<'a>(&self, catalog: &'a Catalog) -> Vec<Api<'a>> {
        if let (Some(version), Some(group)) = (&self.version, &self.group) {
            let name = GroupVersionKind {
                group: group.clone(),
                version: version.clone(),
                kind: self.kind.clone(),
            };
            if let Some(api) = catalog.api(&name) {
                return vec![api];
            }
        }
        catalog.apis().filter(|api| self.names(api.group(), api.version(), api.kind())).collect()
    }

    /// Tells whether the pattern names this API.
    pub(super) fn names(&self, group: &str, version: &str, kind: &str) -> bool {
        let agrees = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        self.kind.eq_ignore_ascii_case(kind)
            && agrees(&self.version, version)
            && agrees(&self.group, group)
    }

    /// Returns the kind as it was typed.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }
}

/// Tells whether this is a version of an API (`v1`, `v2beta1`), and so not the first part of a group.
fn is_version(part: &str) -> bool {
    let Some(rest) = part.strip_prefix(['v', 'V']) else {
        return false;
    };
    let stage = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let number = stage.trim_start_matches("alpha").trim_start_matches("beta");
    stage.len() < rest.len() && number.chars().all(|character| character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_kind_and_perhaps_a_version_and_a_group() {
        let claims = [
            ("EtcdCluster", Some(("EtcdCluster", None, None))),
            ("EtcdCluster.v1beta2", Some(("EtcdCluster", Some("v1beta2"), None))),
            ("Kafka.v1.kafka.strimzi.io", Some(("Kafka", Some("v1"), Some("kafka.strimzi.io")))),
            ("Kafka.kafka.strimzi.io", Some(("Kafka", None, Some("kafka.strimzi.io")))),
            ("Vault.vault.io", Some(("Vault", None, Some("vault.io")))),
            ("Volume.v1x.io", Some(("Volume", None, Some("v1x.io")))),
            (".v1", None),
        ];
        for (text, expected) in claims {
            let expected =
                expected.map(|(kind, version, group): (&str, Option<&str>, Option<&str>)| {
                    ApiPattern {
                        kind: kind.to_owned(),
                        version: version.map(str::to_owned),
                        group: group.map(str::to_owned),
                    }
                });
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }
}
