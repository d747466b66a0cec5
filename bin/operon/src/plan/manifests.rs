//! Reading what a cluster holds from files, directories and standard input.
//!
//! An error in an object that the namespace depends on stops the command: a plan made from part of the objects
//! would be wrong without looking wrong. Errors elsewhere are only reported.

use std::{collections::BTreeSet, path::PathBuf};

use anyhow::bail;
use operon_api::{Cluster, ManifestReader, ManifestSeverity, ObjectName, read_objects};
use operon_catalog::GroupVersionKind;
use operon_kinds::ServiceVersion;
use operon_lifecycle::Objects;
use operon_object::{Kind, Object, known};

use crate::manifests::{read_texts, tell};

/// The namespace that is planned when nothing names one.
const DEFAULT_NAMESPACE: &str = "operators";

/// The kinds whose objects belong to a namespace also where a manifest leaves it out.
const NAMESPACED: [Kind; 5] = [
    known::CATALOG_SOURCE,
    known::OPERATOR_GROUP,
    known::SUBSCRIPTION,
    known::INSTALL_PLAN,
    known::CLUSTER_SERVICE_VERSION,
];

/// The objects of manifests, and what is wrong with them.
#[derive(Default)]
pub(super) struct Manifests {
    pub(super) objects: Objects,
    checked: operon_api::Manifests,
    /// The objects without a namespace.
    homeless: Vec<Object>,
}

/// Reads manifests from files, directories and standard input.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Manifests> {
    let mut reader = ManifestReader::default();
    let mut manifests = Manifests::default();
    read_texts(paths, |name, text| {
        reader.read_text(name, text);
        for located in read_objects(name, text).objects {
            let object = located.object;
            if object.namespace().is_empty() && NAMESPACED.contains(&object.kind()) {
                manifests.homeless.push(object);
            } else {
                manifests.objects.insert(object);
            }
        }
    })?;
    manifests.checked = reader.finish();
    Ok(manifests)
}

impl Manifests {
    /// Returns `true` if no manifests were given.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.homeless.is_empty()
    }

    /// Returns the APIs that the cluster provides by itself, if the manifests list them.
    pub(super) fn native_apis(&self) -> Option<&BTreeSet<GroupVersionKind>> {
        self.checked.native_apis.as_ref()
    }

    /// Returns the objects that name no namespace, as objects of a namespace.
    pub(super) fn homeless(&self, namespace: &str) -> impl Iterator<Item = Object> {
        self.homeless.iter().cloned().map(move |mut object| {
            object.set_namespace(namespace);
            object
        })
    }

    /// Reports findings on standard error, and fails if the state of the visible namespaces is uncertain.
    pub(super) fn check(&self, visible: &[&str]) -> anyhow::Result<()> {
        let home = visible.first().copied().unwrap_or_default();
        let mut stopping = 0;
        for finding in Cluster::new(self.checked.clone(), home).diagnostics {
            let stops = finding.severity == ManifestSeverity::Error
                && finding.object.as_ref().is_none_or(|object| concerns(object, visible));
            stopping += usize::from(stops);
            tell(&finding, if stops { "error" } else { "warning" });
        }
        if stopping > 0 {
            let plural = if stopping == 1 { "" } else { "s" };
            bail!(
                "the manifests have {stopping} error{plural}, so what the namespace holds is not certain"
            );
        }
        Ok(())
    }
}

/// Returns the only namespace that objects are about, or the default one if there is none.
pub(super) fn only_namespace(objects: &Objects) -> anyhow::Result<String> {
    let groups = || objects.all(&known::OPERATOR_GROUP);
    let mut alone = groups().map(Object::namespace);
    if let (Some(only), None) = (alone.next(), alone.next()) {
        return Ok(only.to_owned());
    }
    let operators = objects.all(&known::CLUSTER_SERVICE_VERSION);
    let operators = operators.filter(|object| !ServiceVersion::read(object).is_copied());
    let namespaces: BTreeSet<&str> = groups()
        .chain(objects.all(&known::SUBSCRIPTION))
        .chain(operators)
        .map(Object::namespace)
        .collect();
    let mut names = namespaces.iter().copied();
    match (names.next(), names.next()) {
        (None, _) => Ok(DEFAULT_NAMESPACE.to_owned()),
        (Some(only), None) => Ok(only.to_owned()),
        (Some(_), Some(_)) => {
            let all: Vec<&str> = namespaces.into_iter().collect();
            bail!(
                "several namespaces have operators: `{}`\nhint: choose one with --namespace",
                crate::output::clean(&all.join("`, `"))
            )
        }
    }
}

fn concerns(object: &ObjectName, visible: &[&str]) -> bool {
    object.namespace.is_empty() || visible.contains(&object.namespace.as_str())
}
