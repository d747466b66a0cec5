//! The names of installed objects, and the texts of the annotations that name sets of things.
//!
//! Every name is a function of what it names, so that doing a thing twice makes one object.

use std::collections::BTreeSet;

use operon_object::{ApiKind, Kind, Value, base62_sha224, fnv64_hex, go_json, sha256_hex};

/// The longest name that is also a label value.
pub const MAX_NAME_LENGTH: usize = 63;

/// The longest name of an object.
pub const MAX_OBJECT_NAME_LENGTH: usize = 253;

/// The beginning of the label of an operator's components.
pub const COMPONENT_LABEL_PREFIX: &str = "operators.coreos.com/";

/// Returns the hash of Go's JSON of an object, as names and drift labels carry it.
///
/// Upstream: the text that is hashed ends in a line break, because an encoder wrote it.
pub fn deep_hash(go_json: &str) -> String {
    base62_sha224(&format!("{go_json}\n"))
}

/// Returns a name that begins with a base and ends with the deep hash of an object's JSON.
///
pub fn generate_name(base: &str, go_json: &str) -> String {
    let hash = deep_hash(go_json);
    if base.len() + hash.len() <= MAX_NAME_LENGTH {
        return format!("{base}-{hash}");
    }
    format!("{}-{hash}", cut(base, MAX_NAME_LENGTH - hash.len() - 1))
}

/// Returns the name of the ConfigMap, Job and roles that unpack a bundle image.
pub fn bundle_object_name(image: &str) -> String {
    let mut digits = sha256_hex(image);
    digits.pop();
    digits
}

/// Returns the annotation of a CRD that tells that an operator brought it.
pub fn installed_alongside_key(namespace: &str, csv_name: &str) -> String {
    let hash = fnv64_hex(&format!("{namespace}/{csv_name}"));
    format!("operatorframework.io/installed-alongside-{hash}")
}

/// Returns an API as annotations name it: `EtcdCluster.v1beta2.etcd.database.coreos.com`.
pub fn api_text(api: &ApiKind) -> String {
    format!("{}.{}.{}", api.kind.name(), api.version, api.kind.group())
}

/// Returns the hash of an API in labels.
pub fn api_hash(api: &ApiKind) -> String {
    fnv64_hex(&api_text(api))
}

/// Begins the labels by which the roles of APIs join the roles of OperatorGroups.
pub const AGGREGATION_LABEL_PREFIX: &str = "olm.opgroup.permissions/aggregate-to-";

/// Returns the label by which the roles of an API join the roles of an OperatorGroup; the suffix is
/// `admin`, `edit` or `view`.
pub fn aggregation_label(api: &ApiKind, suffix: &str) -> String {
    format!("{AGGREGATION_LABEL_PREFIX}{}-{suffix}", api_hash(api))
}

/// Returns the name of an OperatorGroup's ClusterRole; the suffix is `admin`, `edit` or `view`.
pub fn operator_group_role_name(namespace: &str, group: &str, suffix: &str) -> String {
    let hash = base62_sha224(&format!("{namespace}/{group}/{suffix}"));
    let rest = "olm.og..-".len() + suffix.len() + hash.len();
    let room = MAX_OBJECT_NAME_LENGTH.saturating_sub(rest);
    format!("olm.og.{}.{suffix}-{hash}", cut(group, room))
}

/// Returns the label of an operator's components; its value is empty.
///
/// The label is cut to what a label may hold, and must not end in a mark then.
pub fn component_label(package: &str, namespace: &str) -> String {
    let name = format!("{package}.{namespace}");
    if name.len() <= MAX_NAME_LENGTH {
        return format!("{COMPONENT_LABEL_PREFIX}{name}");
    }
    let name = cut(&name, MAX_NAME_LENGTH);
    format!("{COMPONENT_LABEL_PREFIX}{}", name.trim_end_matches(['.', '_', '-']))
}

/// Tells whether a package can be part of a label: a Subscription can ask for any text.
pub fn can_be_labelled(package: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    package.starts_with(is_letter)
        && package.chars().all(|letter| is_letter(letter) || matches!(letter, '-' | '_' | '.'))
}

/// Returns the name of the Subscription that follows a dependency.
pub fn dependency_subscription_name(
    package: &str,
    channel: &str,
    catalog: &str,
    catalog_namespace: &str,
) -> String {
    format!("{package}-{channel}-{catalog}-{catalog_namespace}")
}

/// Returns the name of the Service in front of a Deployment's webhooks and APIs.
pub fn service_name(deployment: &str) -> String {
    format!("{deployment}-service")
}

/// Returns the name of the Secret with a Service's certificate, and of the Role to read it.
pub fn certificate_secret_name(service: &str) -> String {
    format!("{service}-cert")
}

/// Returns the host names that a Service's certificate must hold for.
pub fn service_host_names(service: &str, namespace: &str) -> [String; 3] {
    [
        format!("{service}.{namespace}"),
        format!("{service}.{namespace}.svc"),
        format!("{service}.{namespace}.svc.cluster.local"),
    ]
}

/// Returns the name of the ClusterRoleBinding that lets an API server ask who its clients are.
pub fn auth_delegator_binding_name(service: &str) -> String {
    format!("{service}-system:auth-delegator")
}

/// Returns the name of the RoleBinding that lets an API server read how clients are recognised.
pub fn auth_reader_binding_name(service: &str) -> String {
    format!("{service}-auth-reader")
}

/// Returns the text of `olm.targetNamespaces`; empty for all namespaces.
pub fn target_namespaces_text<'a>(namespaces: impl IntoIterator<Item = &'a str>) -> String {
    let mut namespaces: Vec<&str> = namespaces.into_iter().collect();
    namespaces.sort_unstable();
    namespaces.join(",")
}

/// Returns the text of `olm.providedAPIs`.
pub fn provided_apis_text(apis: &BTreeSet<ApiKind>) -> String {
    let mut texts: Vec<String> = apis.iter().map(api_text).collect();
    texts.sort_unstable();
    texts.join(",")
}

/// Reads the text of `olm.providedAPIs`; what is no API is left out.
pub fn parse_provided_apis(text: &str) -> BTreeSet<ApiKind> {
    let text = text.replace(' ', "");
    let apis = text.split(',').filter_map(|api| {
        let mut parts = api.splitn(3, '.');
        let (kind, version, group) = (parts.next()?, parts.next()?, parts.next()?);
        let version = version.to_owned();
        (!kind.is_empty()).then(|| ApiKind { kind: Kind::new(group, kind), version })
    });
    apis.collect()
}

/// Returns the text of `operatorframework.io/properties` for properties given as type and JSON.
///
/// A value that is no JSON is written as a text, so that the annotation always is.
pub fn properties_annotation<T: AsRef<str>, V: AsRef<str>>(properties: &[(T, V)]) -> String {
    if properties.is_empty() {
        return "{}".to_owned();
    }
    let properties = properties.iter().map(|(property_type, value)| {
        let property_type = go_json(&Value::text(property_type));
        format!("{{\"type\":{property_type},\"value\":{}}}", compact_json(value.as_ref()))
    });
    format!("{{\"properties\":[{}]}}", properties.collect::<Vec<_>>().join(","))
}

/// Drops blanks between the parts of JSON and escapes as Go does; the order of keys is kept.
fn compact_json(json: &str) -> String {
    if Value::parse_json(json).is_err() {
        return go_json(&Value::text(json));
    }
    let (mut text, mut is_in_text, mut is_escaped) = (String::new(), false, false);
    for character in json.chars() {
        match character {
            ' ' | '\t' | '\n' | '\r' if !is_in_text => {}
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => text.push(other),
        }
        if character == '"' && !is_escaped {
            is_in_text = !is_in_text;
        }
        is_escaped = is_in_text && character == '\\' && !is_escaped;
    }
    text
}

/// Returns at most so many bytes of a text.
///
/// Upstream: a character may be split; its bytes are shown as Go's JSON shows them. No cluster
/// accepts such a name.
fn cut(text: &str, length: usize) -> String {
    let length = length.min(text.len());
    let end = text.floor_char_boundary(length);
    format!("{}{}", &text[..end], "\u{fffd}".repeat(length - end))
}
