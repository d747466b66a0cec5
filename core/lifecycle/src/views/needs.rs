//! What an operator that runs needs of others.

use std::{collections::BTreeSet, fmt};

use operon_constraint::GroupVersionKind;
use operon_kinds::{ServiceVersion, names, provided_apis, required_apis};
use operon_object::Value;
use operon_version::{Version, VersionRange};

/// Something that an operator needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// An API.
    Api {
        /// The group.
        group: String,
        /// The version.
        version: String,
        /// The kind.
        kind: String,
    },
    /// A package in some versions.
    Package {
        /// The package.
        package: String,
        /// The range of versions, as it is written.
        range: String,
    },
}

impl fmt::Display for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api { group, version, kind } => {
                write!(formatter, "API {kind}.{version} ({group})")
            }
            Self::Package { package, range } => write!(formatter, "package {package} {range}"),
        }
    }
}

impl Need {
    /// Makes the need of an API.
    pub(super) fn api(api: &GroupVersionKind) -> Self {
        let GroupVersionKind { group, version, kind } = api.clone();
        Self::Api { group, version, kind }
    }

    /// Tells whether an operator meets it.
    pub(super) fn is_met_by(&self, operator: ServiceVersion<'_>) -> bool {
        match self {
            Self::Api { .. } => provided(operator).contains(self),
            Self::Package { package, range } => {
                let Some((own, version)) = package_of(operator) else { return false };
                let range = VersionRange::parse(range);
                own == *package
                    && range.is_ok_and(|range| {
                        Version::parse(&version).is_ok_and(|version| range.contains(&version))
                    })
            }
        }
    }
}

/// Returns what an operator needs: what its bundle says, and the CRDs that it requires.
pub(super) fn needs_of(operator: ServiceVersion<'_>) -> BTreeSet<Need> {
    let mut needs: BTreeSet<Need> = required_apis(operator.object.spec())
        .unwrap_or_default()
        .iter()
        .map(|definition| Need::api(&definition.api))
        .collect();
    for property in properties(operator).get("properties").elements() {
        let value = property.get("value");
        let text = |name: &str| value.get(name).str().to_owned();
        match property.get("type").str() {
            "olm.gvk.required" => {
                let api = Need::Api {
                    group: text("group"),
                    version: text("version"),
                    kind: text("kind"),
                };
                needs.insert(api);
            }
            "olm.package.required" => {
                let range = match text("versionRange") {
                    range if range.is_empty() => text("version"),
                    range => range,
                };
                needs.insert(Need::Package { package: text("packageName"), range });
            }
            _ => {}
        }
    }
    needs
}

/// Returns the APIs that an operator provides.
pub(super) fn provided(operator: ServiceVersion<'_>) -> BTreeSet<Need> {
    let definitions = provided_apis(operator.object.spec()).unwrap_or_default();
    definitions.iter().map(|definition| Need::api(&definition.api)).collect()
}

/// Returns the package of an operator and its version, where its bundle says them.
pub(super) fn package_of(operator: ServiceVersion<'_>) -> Option<(String, String)> {
    let noted = properties(operator);
    let property = noted
        .get("properties")
        .elements()
        .iter()
        .find(|property| property.get("type").str() == "olm.package")?;
    let value = property.get("value");
    Some((value.get("packageName").str().to_owned(), value.get("version").str().to_owned()))
}

fn properties(operator: ServiceVersion<'_>) -> Value {
    let annotation = operator.object.annotation(names::PROPERTIES_ANNOTATION);
    Value::parse_json(annotation.unwrap_or("{}")).unwrap_or_default()
}
