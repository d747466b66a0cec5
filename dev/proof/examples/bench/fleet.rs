//! Tiny operators made for measuring: as many packages as wanted, in three versions each.
//!
//! Their images are built and pushed by the program that ships. What is in them is the least that an
//! operator has: a definition, an account with rights, and a Deployment of a program that sleeps.

use std::{fs, io, path::Path};

use operon_rig::BUSYBOX_IMAGE;

use super::stand::Stand;

/// The versions that every package has, each replacing the one before.
pub(crate) const VERSIONS: [&str; 3] = ["1.0.0", "1.1.0", "1.2.0"];

/// A package of the fleet.
#[derive(Debug, Clone)]
pub(crate) struct Ship {
    /// The package.
    pub(crate) name: String,
    /// How many pods it has.
    pub(crate) replicas: usize,
    /// The package whose definition it needs.
    pub(crate) needs: Option<String>,
    /// The version whose Deployment no API server takes: it would not select its own pods.
    pub(crate) flawed: Option<&'static str>,
}

impl Ship {
    pub(crate) fn new(name: impl Into<String>, replicas: usize) -> Self {
        Self { name: name.into(), replicas, needs: None, flawed: None }
    }

    /// Returns the name of the operator in a version.
    pub(crate) fn operator(&self, version: &str) -> String {
        format!("{}.v{version}", self.name)
    }

    /// Pushes its bundles.
    pub(crate) fn push(&self, stand: &Stand<'_>, work: &Path) -> Result<(), String> {
        for version in VERSIONS {
            let directory = work.join(self.operator(version));
            self.write_bundle(&directory, version).map_err(|error| error.to_string())?;
            stand.build("bundle", &directory, &self.image(stand, version))?;
        }
        Ok(())
    }

    /// Returns its part of a catalog that has the first versions.
    pub(crate) fn catalog(&self, stand: &Stand<'_>, versions: usize) -> String {
        let name = &self.name;
        let mut entries = String::new();
        let mut bundles = String::new();
        for (index, version) in VERSIONS.iter().take(versions).enumerate() {
            entries += &format!("- name: {}\n", self.operator(version));
            if let Some(before) = index.checked_sub(1).and_then(|before| VERSIONS.get(before)) {
                entries += &format!("  replaces: {}\n", self.operator(before));
            }
            bundles += &format!(
                "---\nschema: olm.bundle\npackage: {name}\nname: {operator}\nimage: {image}\nproperties:\n\
                 - type: olm.package\n  value: {{ packageName: {name}, version: {version} }}\n\
                 - type: olm.gvk\n  value: {{ group: {name}.example.com, version: v1, kind: Ship }}\n",
                operator = self.operator(version),
                image = self.image(stand, version),
            );
            if let Some(needed) = &self.needs {
                bundles += &format!(
                    "- type: olm.gvk.required\n  value: {{ group: {needed}.example.com, version: v1, kind: Ship }}\n"
                );
            }
        }
        format!(
            "schema: olm.package\nname: {name}\ndefaultChannel: stable\n---\n\
             schema: olm.channel\npackage: {name}\nname: stable\nentries:\n{entries}{bundles}"
        )
    }

    /// Returns what somebody would apply who installs it without any manager.
    pub(crate) fn by_hand(&self, namespace: &str) -> String {
        let name = &self.name;
        format!(
            "{definition}---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{ name: {name}, namespace: {namespace} }}\n---\n\
             apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{ name: {name}, namespace: {namespace} }}\n\
             rules:\n- {rule}\n---\n\
             apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{ name: {name}, namespace: {namespace} }}\n\
             roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: Role, name: {name} }}\n\
             subjects: [{{ kind: ServiceAccount, name: {name}, namespace: {namespace} }}]\n---\n\
             apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name}, namespace: {namespace} }}\n\
             spec: {spec}\n",
            definition = self.definition(),
            rule = self.rule(),
            spec = self.deployment(VERSIONS[0]),
        )
    }

    fn image(&self, stand: &Stand<'_>, version: &str) -> String {
        format!("{}/fleet/{}:v{version}", stand.rig.registry(), self.name)
    }

    fn write_bundle(&self, directory: &Path, version: &str) -> io::Result<()> {
        let name = &self.name;
        fs::create_dir_all(directory.join("manifests"))?;
        fs::create_dir_all(directory.join("metadata"))?;
        fs::write(directory.join("manifests/crd.yaml"), self.definition())?;
        fs::write(directory.join("manifests/csv.yaml"), self.operator_manifest(version))?;
        let prefix = "operators.operatorframework.io.bundle";
        let annotations = format!(
            "annotations:\n  {prefix}.mediatype.v1: registry+v1\n  {prefix}.manifests.v1: manifests/\n  \
             {prefix}.metadata.v1: metadata/\n  {prefix}.package.v1: {name}\n  {prefix}.channels.v1: stable\n  \
             {prefix}.channel.default.v1: stable\n"
        );
        fs::write(directory.join("metadata/annotations.yaml"), annotations)
    }

    fn operator_manifest(&self, version: &str) -> String {
        let name = &self.name;
        let required = self.needs.as_ref().map_or_else(String::new, |needed| {
            format!(
                "    required:\n    - {{ name: ships.{needed}.example.com, version: v1, kind: Ship }}\n"
            )
        });
        format!(
            "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n\
             metadata: {{ name: {operator} }}\nspec:\n  displayName: {name}\n  version: {version}\n  installModes:\n  \
             - {{ type: OwnNamespace, supported: true }}\n  - {{ type: SingleNamespace, supported: true }}\n  \
             - {{ type: MultiNamespace, supported: false }}\n  - {{ type: AllNamespaces, supported: true }}\n  \
             customresourcedefinitions:\n    owned:\n    - {{ name: ships.{name}.example.com, version: v1, kind: Ship }}\n\
             {required}  install:\n    strategy: deployment\n    spec:\n      permissions:\n      \
             - serviceAccountName: {name}\n        rules:\n        - {rule}\n      deployments:\n      \
             - name: {name}\n        spec: {spec}\n",
            operator = self.operator(version),
            rule = self.rule(),
            spec = self.deployment(version),
        )
    }

    fn rule(&self) -> String {
        format!(
            "{{ apiGroups: [{}.example.com], resources: [ships], verbs: [get, list, watch, update] }}",
            self.name
        )
    }

    fn deployment(&self, version: &str) -> String {
        let Self { name, replicas, flawed, .. } = self;
        let selected = if *flawed == Some(version) { "nobody" } else { name };
        format!(
            "{{ replicas: {replicas}, selector: {{ matchLabels: {{ app: {selected} }} }}, template: {{ metadata: \
             {{ labels: {{ app: {name}, version: \"{version}\" }} }}, spec: {{ serviceAccountName: {name}, \
             terminationGracePeriodSeconds: 0, containers: [{{ name: operator, image: \"{BUSYBOX_IMAGE}\" }}] }} }} }}"
        )
    }

    fn definition(&self) -> String {
        let name = &self.name;
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{ name: ships.{name}.example.com }}\nspec:\n  group: {name}.example.com\n  scope: Namespaced\n  \
             names: {{ kind: Ship, listKind: ShipList, plural: ships, singular: ship }}\n  versions:\n  \
             - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
             properties: {{ spec: {{ type: object, properties: {{ size: {{ type: integer }} }} }} }}\n"
        )
    }
}
