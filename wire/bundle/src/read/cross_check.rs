//! Checks that need the whole bundle: what one file says against another.

use crate::{
    BundleRule, BundleSource, DefinitionKey,
    finding::Findings,
    read::ProvidedApi,
    render::{package_value, split_definition_name},
};

/// Finds contradictions between the files of a bundle.
pub(super) fn check(source: &BundleSource, findings: &mut Findings) {
    let service_version = &source.service_version;
    for key in &service_version.owned_definitions {
        check_owned(source, key, findings);
    }
    for key in &service_version.required_definitions {
        if split_definition_name(&key.name).is_none() {
            report_name(source, key, findings);
        }
    }
    let package = package_value(source);
    if package.package_name != source.annotations.package {
        let message = format!(
            "the annotation `olm.properties` says that the package is `{}`, the bundle's annotations say `{}`",
            package.package_name, source.annotations.package
        );
        let range = service_version.range.clone();
        findings.add(BundleRule::PackageMismatch, &service_version.file, range, message);
    }
}

fn report_name(source: &BundleSource, key: &DefinitionKey, findings: &mut Findings) {
    let message = format!("`{}` is not the name of a CRD: plural, dot, group", key.name);
    let file = &source.service_version.file;
    findings.add(BundleRule::DefinitionNameInvalid, file, key.range.clone(), message);
}

/// Upstream: a CRD that is owned must be among the manifests with the same group, version, kind and
/// plural name.
fn check_owned(source: &BundleSource, key: &DefinitionKey, findings: &mut Findings) {
    let Some((plural, group)) = split_definition_name(&key.name) else {
        return report_name(source, key, findings);
    };
    let wanted = ProvidedApi {
        group: group.to_owned(),
        version: key.version.clone(),
        kind: key.kind.clone(),
        plural: plural.to_owned(),
    };
    let services = &source.service_version.owned_services;
    let is_service = services.iter().any(|service| {
        (&service.group, &service.version, &service.kind, &service.name)
            == (&wanted.group, &wanted.version, &wanted.kind, &wanted.plural)
    });
    if is_service || source.provided_apis.binary_search(&wanted).is_ok() {
        return;
    }
    let message = format!(
        "the CSV owns `{}` version `{}` kind `{}`, but no manifest defines it",
        key.name, key.version, key.kind
    );
    let file = &source.service_version.file;
    let finding =
        findings.add(BundleRule::OwnedDefinitionMissing, file, key.range.clone(), message);
    let near = source.provided_apis.iter().find(|api| api.group == group && api.plural == plural);
    if let Some(near) = near {
        finding.help(format!(
            "the CRD among the manifests has the version `{}` and the kind `{}`",
            near.version, near.kind
        ));
    } else {
        finding.help("add the CRD to `manifests/`, or take it off the list of owned ones");
    }
}
