//! From objects to what a resolution takes.
//!
//! Nothing is decided here that depends on other objects: which operator belongs to which
//! Subscription, and which package it is of, is the resolution's business.

use std::collections::BTreeSet;

use operon_constraint::GroupVersionKind;
use operon_object::Value;
use operon_resolve::{Installed, InstalledProperties, Request};

use crate::{ApiDefinition, ServiceVersion, Subscription, names, provided_apis, required_apis};

/// Returns an installed operator as a resolution sees it.
pub fn lower_service_version(service_version: ServiceVersion<'_>) -> Installed {
    Installed {
        name: service_version.name().to_owned(),
        version: service_version.version(),
        replaces: service_version.replaces().to_owned(),
        phase: service_version.phase().text().to_owned(),
        properties: installed_properties(service_version),
    }
}

/// Returns a Subscription as a resolution sees it.
pub fn lower_subscription(subscription: Subscription<'_>) -> Request {
    Request {
        name: subscription.name().to_owned(),
        package: subscription.package().to_owned(),
        channel: subscription.channel().to_owned(),
        source: subscription.source(),
        starting_csv: subscription.starting_csv().to_owned(),
        installed_csv: subscription.installed_csv().to_owned(),
        current_csv: subscription.current_csv().to_owned(),
        manual_approval: subscription.is_manual(),
        allowed: None,
    }
}

fn installed_properties(service_version: ServiceVersion<'_>) -> InstalledProperties {
    // Upstream: names of CRDs are taken apart first, even where the annotation then counts alone.
    let spec = service_version.object.spec();
    let apis = provided_apis(spec).and_then(|owned| Ok((owned, required_apis(spec)?)));
    let (owned, required) = match apis {
        Ok(apis) => apis,
        Err(name) => {
            return InstalledProperties::Unreadable(format!("error parsing crd name: {name}"));
        }
    };
    let Some(annotation) = service_version.object.annotation(names::PROPERTIES_ANNOTATION) else {
        return InstalledProperties::Derived { owned: bare(owned), required: bare(required) };
    };
    match read_properties(annotation) {
        Ok(properties) => InstalledProperties::Annotated(properties),
        Err(error) => InstalledProperties::Unreadable(format!(
            "failed to retrieve properties of csv {:?}: failed to unmarshal properties annotation: {error}",
            service_version.name()
        )),
    }
}

fn bare(definitions: BTreeSet<ApiDefinition>) -> Vec<GroupVersionKind> {
    definitions.into_iter().map(|definition| definition.api).collect()
}

/// Reads the annotation: types, and values as JSON texts.
fn read_properties(annotation: &str) -> Result<Vec<(String, String)>, String> {
    let root = Value::parse_json(annotation).map_err(|error| error.to_string())?;
    if !matches!(root, Value::Map(_) | Value::Null) {
        return Err("the value must be an object".to_owned());
    }
    if !matches!(root.get("properties"), Value::List(_) | Value::Null) {
        return Err("properties must be an array".to_owned());
    }
    let mut properties = Vec::new();
    for entry in root.get("properties").elements() {
        let Some(kind) = entry.get("type").as_text() else {
            return Err("properties.type must be a string".to_owned());
        };
        let value = entry.as_map().is_some_and(|map| map.contains("value"));
        let text = if value { entry.get("value").to_string() } else { String::new() };
        properties.push((kind.to_owned(), text));
    }
    Ok(properties)
}
