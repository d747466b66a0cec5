//! Which names, labels, annotations, owners and finalizers an object may have.
//!
//! Faults are collected as texts in the words of Kubernetes; whether they refuse a request is
//! decided by the caller.

use operon_object::{Object, OwnerReference, go_json, quote};

/// Limits the bytes of all annotations of one object, as Kubernetes does.
pub const ANNOTATION_BYTES_LIMIT: usize = 256 * 1024;

/// The finalizer that keeps an object until its dependents lost their reference to it.
pub(crate) const ORPHAN_FINALIZER: &str = "orphan";

/// The finalizer that keeps an object until the dependents that block it are gone.
pub(crate) const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

const SUBDOMAIN_FAULT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_FAULT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const OLD_LABEL_FAULT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_FAULT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_FAULT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Says which names the objects of a kind may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// `prometheus.v0.1`, as almost every kind has it.
    Subdomain,
    /// `shop`: a namespace is part of host names.
    Label,
    /// `shop-api`: a Service is the first part of a host name, which once could not be a digit.
    OldLabel,
    /// `system:auth-delegator`: whatever fits a URL.
    PathSegment,
}

/// Returns what is wrong with a name.
pub(crate) fn name_faults(rule: NameRule, name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut limit = |bytes: usize| {
        if name.len() > bytes {
            faults.push(format!("must be no more than {bytes} characters"));
        }
    };
    match rule {
        NameRule::Subdomain => {
            limit(253);
            if !is_subdomain(name) {
                faults.push(SUBDOMAIN_FAULT.to_owned());
            }
        }
        NameRule::Label => {
            limit(63);
            match (is_label(name), is_subdomain(name)) {
                (true, _) => {}
                (false, true) => faults.push("must not contain dots".to_owned()),
                (false, false) => faults.push(LABEL_FAULT.to_owned()),
            }
        }
        NameRule::OldLabel => {
            limit(63);
            if !is_label(name) || name.starts_with(|first: char| first.is_ascii_digit()) {
                faults.push(OLD_LABEL_FAULT.to_owned());
            }
        }
        NameRule::PathSegment => {
            if matches!(name, "." | "..") {
                return vec![format!("may not be '{name}'")];
            }
            let banned = ['/', '%'].into_iter().filter(|banned| name.contains(*banned));
            faults.extend(banned.map(|banned| format!("may not contain '{banned}'")));
        }
    }
    faults
}

/// Returns what is wrong with an object's metadata; its namespace is checked elsewhere.
pub(crate) fn metadata_faults(rule: NameRule, object: &Object) -> Vec<String> {
    let mut faults = Vec::new();
    let mut invalid = |field: &str, value: &str, fault: &str| {
        faults.push(format!("metadata.{field}: Invalid value: {}: {fault}", quote(value)));
    };
    let name = object.name();
    for fault in name_faults(rule, name) {
        invalid("name", name, &fault);
    }
    for (key, value) in object.labels() {
        for fault in qualified_name_faults(key) {
            invalid("labels", key, &fault);
        }
        for fault in label_value_faults(value) {
            invalid("labels", value, &fault);
        }
    }
    for (key, _) in object.annotations() {
        for fault in qualified_name_faults(&key.to_lowercase()) {
            invalid("annotations", key, &fault);
        }
    }
    for finalizer in object.finalizers() {
        for fault in qualified_name_faults(finalizer) {
            invalid("finalizers", finalizer, &fault);
        }
    }
    for owner in object.owners() {
        owner_faults(&owner, &mut invalid);
    }
    faults.extend(whole_metadata_faults(object));
    faults
}

/// Returns what is wrong with giving an object new metadata.
pub(crate) fn metadata_update_faults(before: &Object, after: &Object) -> Vec<String> {
    let is_new = |finalizer: &&str| !before.finalizers().any(|old| old == *finalizer);
    let added: Vec<String> = after.finalizers().filter(is_new).map(quote).collect();
    if added.is_empty() || !before.is_deleting() {
        return Vec::new();
    }
    vec![format!(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being \
         deleted, found new finalizers []string{{{}}}",
        added.join(", ")
    )]
}

/// Returns what is wrong with a name such as `example.com/MyName`.
pub(crate) fn qualified_name_faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                faults.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > 253 {
                    faults.push("prefix part must be no more than 253 bytes".to_owned());
                }
                if !is_subdomain(prefix) {
                    faults.push(format!("prefix part {SUBDOMAIN_FAULT}"));
                }
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {QUALIFIED_FAULT} with an optional DNS subdomain prefix and \
                 '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        faults.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_word(name) {
        faults.push(format!("name part {QUALIFIED_FAULT}"));
    }
    faults
}

fn label_value_faults(value: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if value.len() > 63 {
        faults.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_word(value) {
        faults.push(LABEL_VALUE_FAULT.to_owned());
    }
    faults
}

fn owner_faults(owner: &OwnerReference, invalid: &mut impl FnMut(&str, &str, &str)) {
    let version = owner.api_version.rsplit('/').next().unwrap_or_default();
    if version.is_empty() {
        let fault = "version must not be empty";
        invalid("ownerReferences.apiVersion", &owner.api_version, fault);
    }
    for (field, value) in [("kind", &owner.kind), ("name", &owner.name), ("uid", &owner.uid)] {
        if value.is_empty() {
            invalid(&format!("ownerReferences.{field}"), value, "must not be empty");
        }
    }
    if owner.api_version == "v1" && owner.kind == "Event" {
        let fault = "/v1, Kind=Event is disallowed from being an owner";
        invalid("ownerReferences", &owner.name, fault);
    }
}

fn whole_metadata_faults(object: &Object) -> Vec<String> {
    let mut faults = Vec::new();
    let bytes: usize = object.annotations().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > ANNOTATION_BYTES_LIMIT {
        faults.push(format!(
            "metadata.annotations: Too long: may not be more than {ANNOTATION_BYTES_LIMIT} bytes"
        ));
    }
    let controllers: Vec<String> = object
        .owners()
        .filter(|owner| owner.controller == Some(true))
        .map(|owner| format!("{}/{}", owner.kind, owner.name))
        .collect();
    if let [first, rest @ ..] = &controllers[..] {
        let owners = go_json(object.metadata("ownerReferences"));
        faults.extend(rest.iter().map(|other| {
            format!(
                "metadata.ownerReferences: Invalid value: {owners}: Only one reference can have \
                 Controller set to true. Found \"true\" in references for {first} and {other}"
            )
        }));
    }
    let has = |wanted: &str| object.finalizers().any(|finalizer| finalizer == wanted);
    if has(ORPHAN_FINALIZER) && has(FOREGROUND_FINALIZER) {
        faults.push(format!(
            "metadata.finalizers: Invalid value: {}: finalizer {ORPHAN_FINALIZER} and \
             {FOREGROUND_FINALIZER} cannot be both set",
            go_json(object.metadata("finalizers"))
        ));
    }
    faults
}

fn is_label(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_bounded(text, is_letter, |byte| is_letter(byte) || byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_word(text: &str) -> bool {
    is_bounded(
        text,
        |byte| byte.is_ascii_alphanumeric(),
        |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
    )
}

/// Tells whether a text begins and ends with some bytes and has only others between.
fn is_bounded(text: &str, is_end: impl Fn(u8) -> bool, is_inner: impl Fn(u8) -> bool) -> bool {
    match text.as_bytes() {
        [] => false,
        [only] => is_end(*only),
        [first, inner @ .., last] => {
            is_end(*first) && is_end(*last) && inner.iter().all(|byte| is_inner(*byte))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NameRule, name_faults, qualified_name_faults};

    #[test]
    fn names_are_refused_as_kubernetes_does() {
        let long = "a".repeat(64);
        let longer = "a".repeat(254);
        let claims = [
            (NameRule::Subdomain, "etcdoperator.v0.9.4", ""),
            (NameRule::Subdomain, "Etcd", "a lowercase RFC 1123 subdomain"),
            (NameRule::Subdomain, "a..b", "a lowercase RFC 1123 subdomain"),
            (NameRule::Subdomain, "a_b", "a lowercase RFC 1123 subdomain"),
            (NameRule::Subdomain, "", "a lowercase RFC 1123 subdomain"),
            (NameRule::Subdomain, &longer, "must be no more than 253 characters"),
            (NameRule::Label, "1shop", ""),
            (NameRule::Label, "a.b", "must not contain dots"),
            (NameRule::Label, "-a", "a lowercase RFC 1123 label"),
            (NameRule::Label, &long, "must be no more than 63 characters"),
            (NameRule::OldLabel, "1shop", "a DNS-1035 label"),
            (NameRule::PathSegment, "system:Auth_x", ""),
            (NameRule::PathSegment, "a/b", "may not contain '/'"),
            (NameRule::PathSegment, "..", "may not be '..'"),
        ];
        for (rule, name, expected) in claims {
            let found = name_faults(rule, name).join("; ");
            let is_as_expected =
                if expected.is_empty() { found.is_empty() } else { found.starts_with(expected) };
            assert!(is_as_expected, "{rule:?} {name}: {found}");
        }
    }

    #[test]
    fn qualified_names_are_refused_as_kubernetes_does() {
        let claims = [
            ("olm.owner", ""),
            ("operators.coreos.com/etcd.shop", ""),
            ("A_b", ""),
            ("/a", "prefix part must be non-empty"),
            ("a/", "name part must be non-empty"),
            ("A/b", "prefix part a lowercase"),
            ("a/b/c", "a valid label key must consist"),
            ("-a", "name part must consist"),
        ];
        for (name, expected) in claims {
            let found = qualified_name_faults(name).join("; ");
            assert_eq!(found.is_empty(), expected.is_empty(), "{name}: {found}");
            assert!(found.starts_with(expected), "{name}: {found}");
        }
    }
}
