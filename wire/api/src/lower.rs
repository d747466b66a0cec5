//! From manifests to what a resolution takes.
//!
//! Nothing is decided here that depends on other objects: which operator belongs to which
//! Subscription, and which package it is of, is the resolution's business.

use std::collections::BTreeSet;

use operon_constraint::GroupVersionKind;
use operon_resolve::{Installed, InstalledProperties, Request, SourceName};

use crate::{
    ApiServiceKey, ClusterServiceVersion, CrdKey, PROPERTIES_ANNOTATION, Subscription, properties,
};

/// Returns an installed operator as a resolution sees it.
pub fn lower_service_version(service_version: &ClusterServiceVersion) -> Installed {
    Installed {
        name: service_version.metadata.name.clone(),
        version: service_version.version.clone(),
        replaces: service_version.replaces.clone(),
        phase: service_version.phase.clone(),
        properties: installed_properties(service_version),
    }
}

/// Returns a Subscription as a resolution sees it.
pub fn lower_subscription(subscription: &Subscription) -> Request {
    let source = SourceName {
        namespace: subscription.source_namespace.clone(),
        name: subscription.source.clone(),
    };
    let names_none = source.namespace.is_empty() && source.name.is_empty();
    Request {
        name: subscription.metadata.name.clone(),
        package: subscription.package.clone(),
        channel: subscription.channel.clone(),
        source: (!names_none).then_some(source),
        starting_csv: subscription.starting_csv.clone(),
        installed_csv: subscription.installed_csv.clone(),
        current_csv: subscription.current_csv.clone(),
        manual_approval: subscription.is_manual(),
        allowed: None,
    }
}

fn installed_properties(service_version: &ClusterServiceVersion) -> InstalledProperties {
    // Upstream: names of CRDs are taken apart first, even where the annotation then counts alone.
    let apis =
        apis(&service_version.owned_crds, &service_version.owned_api_services).and_then(|owned| {
            let required =
                apis(&service_version.required_crds, &service_version.required_api_services)?;
            Ok((owned, required))
        });
    let (owned, required) = match apis {
        Ok(apis) => apis,
        Err(name) => {
            return InstalledProperties::Unreadable(format!("error parsing crd name: {name}"));
        }
    };
    let metadata = &service_version.metadata;
    let Some(annotation) = metadata.annotations.get(PROPERTIES_ANNOTATION) else {
        return InstalledProperties::Derived { owned, required };
    };
    match properties::read(annotation) {
        Ok(properties) => InstalledProperties::Annotated(properties),
        Err(error) => InstalledProperties::Unreadable(format!(
            "failed to retrieve properties of csv {:?}: failed to unmarshal properties annotation: {error}",
            metadata.name
        )),
    }
}

/// Returns the APIs of CRDs and APIServices, or the name of a CRD that has no group.
///
/// Upstream: they are a set of plural, group, version and kind, so that an API that is listed
/// under two plurals counts twice.
fn apis(crds: &[CrdKey], services: &[ApiServiceKey]) -> Result<Vec<GroupVersionKind>, String> {
    let mut apis = BTreeSet::new();
    for crd in crds {
        let (plural, group) = crd.name.split_once('.').ok_or_else(|| crd.name.clone())?;
        let [group, version, kind] = [group, &crd.version, &crd.kind].map(str::to_owned);
        apis.insert((GroupVersionKind { group, version, kind }, plural));
    }
    for service in services {
        let [group, version, kind] =
            [&service.group, &service.version, &service.kind].map(Clone::clone);
        apis.insert((GroupVersionKind { group, version, kind }, service.name.as_str()));
    }
    Ok(apis.into_iter().map(|(api, _)| api).collect())
}
