//! What CustomResourceDefinitions bring: kinds, and the schemas of their objects.
//!
//! This is the one file that knows how schemas are read and applied. When a definition is
//! established, and what happens when it is deleted, is not decided here.

use operon_object::{Kind, Object, Value, quote};
use operon_schema::Schema;

use crate::{
    fields::Shape,
    names::NameRule,
    registry::{KindInfo, VersionInfo, qualified_resource},
};

/// The schema of one version of a custom kind.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// The schema as written, which says how lists are merged.
    written: Value,
    /// Nothing if it cannot be used, which no definition written here has.
    schema: Option<Schema>,
}

impl CustomVersion {
    fn new(written: &Value) -> Self {
        Self { written: written.clone(), schema: Schema::read(written).ok() }
    }

    /// Drops fields that the schema does not know.
    pub(crate) fn prune(&self, object: &mut Object) {
        if let Some(schema) = &self.schema {
            schema.prune(object.value_mut());
        }
    }

    /// Fills in defaults.
    pub(crate) fn fill(&self, object: &mut Object) {
        if let Some(schema) = &self.schema {
            schema.apply_defaults(object.value_mut());
        }
    }

    /// Returns what is wrong with an object.
    pub(crate) fn faults(&self, object: &Object) -> Vec<String> {
        let faults = self.schema.as_ref().map(|schema| schema.validate(object.value()));
        faults.into_iter().flatten().map(|fault| fault.to_string()).collect()
    }

    /// Returns how objects are merged.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape::CustomRoot(&self.written)
    }
}

/// Tells whether a condition of an object is true.
pub(crate) fn is_condition_true(object: &Object, wanted: &str) -> bool {
    let mut conditions = object.status().get("conditions").elements().iter();
    conditions.any(|condition| {
        condition.get("type").str() == wanted && condition.get("status").str() == "True"
    })
}

/// Returns the kind that a definition brings, once it is established.
pub(crate) fn kind_of_definition(definition: &Object) -> Option<KindInfo> {
    if !is_condition_true(definition, "Established") {
        return None;
    }
    let spec = definition.spec();
    let names = spec.get("names");
    let group = spec.get("group").str();
    let plural = names.get("plural").str();
    let texts = |name| names.get(name).iter_texts().map(str::to_owned).collect();
    Some(KindInfo {
        kind: name_of_kind(definition),
        plural: plural.to_owned(),
        resource: qualified_resource(plural, group),
        is_namespaced: spec.get("scope").str() == "Namespaced",
        short_names: texts("shortNames"),
        categories: texts("categories"),
        name_rule: NameRule::Subdomain,
        has_generation: true,
        definition: Some(definition.name().to_owned()),
        is_terminating: definition.is_deleting(),
        versions: spec.get("versions").elements().iter().map(version_of).collect(),
    })
}

/// Returns what the kind of a definition is called.
pub(crate) fn name_of_kind(definition: &Object) -> Kind {
    let spec = definition.spec();
    Kind::new(spec.get("group").str(), spec.at(&["names", "kind"]).str())
}

/// Returns what is wrong with a definition itself.
pub(crate) fn definition_faults(definition: &Object) -> Vec<String> {
    let spec = definition.spec();
    let mut faults = Vec::new();
    let required = [
        ("spec.group", spec.get("group")),
        ("spec.scope", spec.get("scope")),
        ("spec.names.plural", spec.at(&["names", "plural"])),
        ("spec.names.kind", spec.at(&["names", "kind"])),
    ];
    for (field, value) in required {
        if value.str().is_empty() {
            faults.push(format!("{field}: Required value"));
        }
    }
    let scope = spec.get("scope").str();
    if !matches!(scope, "" | "Namespaced" | "Cluster") {
        faults.push(format!(
            "spec.scope: Unsupported value: {}: supported values: \"Cluster\", \"Namespaced\"",
            quote(scope)
        ));
    }
    let plural = spec.at(&["names", "plural"]).str();
    if definition.name() != qualified_resource(plural, spec.get("group").str()) {
        faults.push(format!(
            "metadata.name: Invalid value: {}: must be spec.names.plural+\".\"+spec.group",
            quote(definition.name())
        ));
    }
    faults.extend(version_faults(spec.get("versions")));
    faults
}

fn version_of(version: &Value) -> VersionInfo {
    VersionInfo {
        name: version.get("name").str().to_owned(),
        is_served: version.get("served").as_bool() == Some(true),
        is_storage: version.get("storage").as_bool() == Some(true),
        has_status: !version.at(&["subresources", "status"]).is_null(),
        custom: Some(CustomVersion::new(version.at(&["schema", "openAPIV3Schema"]))),
    }
}

fn version_faults(versions: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if versions.elements().is_empty() {
        faults.push("spec.versions: Required value".to_owned());
        return faults;
    }
    let is_storage = |version: &&Value| version.get("storage").as_bool() == Some(true);
    if versions.elements().iter().filter(is_storage).count() != 1 {
        faults.push(
            "spec.versions: Invalid value: must have exactly one version marked as storage version"
                .to_owned(),
        );
    }
    let mut names = Vec::new();
    for (index, version) in versions.elements().iter().enumerate() {
        let name = version.get("name").str();
        let schema = version.at(&["schema", "openAPIV3Schema"]);
        if name.is_empty() {
            faults.push(format!("spec.versions[{index}].name: Required value"));
        } else if names.contains(&name) {
            faults.push(format!(
                "spec.versions[{index}].name: Invalid value: {}: must be unique",
                quote(name)
            ));
        }
        names.push(name);
        for fault in Schema::structural_faults(schema) {
            let dot = if fault.path.is_empty() { "" } else { "." };
            faults.push(format!(
                "spec.versions[{index}].schema.openAPIV3Schema{dot}{}: Invalid value: {}",
                fault.path, fault.reason
            ));
        }
        if schema.is_null() {
            faults.push(format!(
                "spec.versions[{index}].schema.openAPIV3Schema: Required value: schemas are required"
            ));
        }
    }
    faults
}
