//! Where the objects of a kind lie on an API server.
//!
//! Whether there is such a kind, only the server knows.

use std::fmt::Write as _;

use operon_driver::{ClusterError, Interest, Part};
use operon_lifecycle::ErrorKind;
use operon_object::{ApiKind, ObjectKey};

/// A kind in one of its versions, as a server serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) kind: ApiKind,
    /// The name in paths, such as `deployments`.
    pub(crate) plural: String,
    pub(crate) is_namespaced: bool,
}

impl Resource {
    /// Returns the path of the objects of a namespace, or of all where it is empty.
    pub(crate) fn collection(&self, namespace: &str) -> String {
        let mut path = match self.kind.kind.group() {
            "" => format!("/api/{}", self.kind.version),
            group => format!("/apis/{}/{}", encode(group), encode(&self.kind.version)),
        };
        if self.is_namespaced && !namespace.is_empty() {
            let _ = write!(path, "/namespaces/{}", encode(namespace));
        }
        let _ = write!(path, "/{}", encode(&self.plural));
        path
    }

    /// Returns the path of an object. One whose name cannot be part of a path cannot exist.
    pub(crate) fn object(&self, key: &ObjectKey) -> Result<String, ClusterError> {
        let ObjectKey { namespace, name, .. } = key;
        self.check_scope(namespace)?;
        for part in [namespace, name] {
            if !part.is_empty() && !can_be_name(part) {
                let shown: String = part.chars().take(LONGEST_NAME).collect();
                return Err(ClusterError {
                    kind: ErrorKind::Invalid,
                    message: format!(
                        "`{}` is no name: it may not be longer than {LONGEST_NAME} letters, nor \
                         contain `/` or `%`, nor be `.` or `..`",
                        shown.escape_debug()
                    ),
                });
            }
        }
        if name.is_empty() {
            let message = format!("a {} without a name cannot be asked for", key.kind.name());
            return Err(ClusterError { kind: ErrorKind::Invalid, message });
        }
        Ok(format!("{}/{}", self.collection(namespace), encode(name)))
    }

    /// Checks that an object lies where objects of its kind lie.
    pub(crate) fn check_scope(&self, namespace: &str) -> Result<(), ClusterError> {
        let plural = &self.plural;
        let message = match (self.is_namespaced, namespace) {
            (true, "") => {
                format!("{plural} lie in namespaces, so `metadata.namespace` is needed")
            }
            (false, namespace) if !namespace.is_empty() => {
                format!("{plural} lie in no namespace, so `metadata.namespace` must not be set")
            }
            _ => return Ok(()),
        };
        Err(ClusterError { kind: ErrorKind::Invalid, message })
    }

    /// Returns `true` if objects of the kind can exist in `namespace`.
    fn can_be_within(&self, namespace: &str) -> bool {
        self.is_namespaced && !namespace.is_empty() && can_be_name(namespace)
    }

    /// Returns the path of the objects that are of interest, with the query that chooses them; nothing
    /// where there can be no such object.
    pub(crate) fn selection(&self, interest: &Interest) -> Option<(String, String)> {
        match &interest.part {
            Part::All => Some((self.collection(""), String::new())),
            Part::Labelled { namespace, label, value } => {
                let selector = encode(&format!("{label}={value}"));
                (namespace.is_empty() || self.can_be_within(namespace))
                    .then(|| (self.collection(namespace), format!("labelSelector={selector}")))
            }
            Part::Within { namespace } => {
                self.can_be_within(namespace).then(|| (self.collection(namespace), String::new()))
            }
            Part::Named { namespace, name } => {
                let key = self.kind.kind.key(namespace, name);
                self.object(&key).ok()?;
                // The language of selectors has words of its own.
                let name = name.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
                let selector = encode(&format!("metadata.name={name}"));
                Some((self.collection(namespace), format!("fieldSelector={selector}")))
            }
        }
    }
}

/// The longest name that an object can have.
const LONGEST_NAME: usize = 253;

/// Tells whether a text can be a part of a path, as names are. Each kind has stricter rules.
fn can_be_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && !text.contains(['/', '%']) && !matches!(text, "." | "..")
}

/// Writes a text so that it can be part of a path or a query.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use operon_object::{Kind, known};

    use super::*;

    fn resource(group: &str, kind: &str, plural: &str, is_namespaced: bool) -> Resource {
        let kind = ApiKind { kind: Kind::new(group, kind), version: "v1".to_owned() };
        Resource { kind, plural: plural.to_owned(), is_namespaced }
    }

    #[test]
    fn paths_are_those_of_the_api() {
        let secrets = resource("", "Secret", "secrets", true);
        let key = |namespace: &str, name: &str| known::SECRET.key(namespace, name);
        assert_eq!(secrets.collection(""), "/api/v1/secrets");
        assert_eq!(
            secrets.object(&key("shop", "a b?c#ü")).unwrap(),
            "/api/v1/namespaces/shop/secrets/a%20b%3Fc%23%C3%BC"
        );
        for (namespace, name) in
            [("shop", "a/b"), ("shop", ".."), ("..", "a"), ("shop", "%2e"), ("", "a"), ("shop", "")]
        {
            let error = secrets.object(&key(namespace, name)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Invalid, "{namespace} {name}: {error}");
        }
        let classes = resource("scheduling.k8s.io", "PriorityClass", "priorityclasses", false);
        let class = known::PRIORITY_CLASS.key("", "high");
        assert_eq!(
            classes.object(&class).unwrap(),
            "/apis/scheduling.k8s.io/v1/priorityclasses/high"
        );
        assert!(classes.object(&known::PRIORITY_CLASS.key("shop", "high")).is_err());
        let interest = Interest::labelled(known::SECRET, "olm.managed", "true");
        assert_eq!(
            secrets.selection(&interest),
            Some(("/api/v1/secrets".to_owned(), "labelSelector=olm.managed%3Dtrue".to_owned()))
        );
        let interest = Interest::labelled_within(known::SECRET, "shop", "olm.managed", "true");
        assert_eq!(
            secrets.selection(&interest),
            Some((
                "/api/v1/namespaces/shop/secrets".to_owned(),
                "labelSelector=olm.managed%3Dtrue".to_owned()
            ))
        );
        let nowhere = Interest::labelled_within(known::SECRET, "a/b", "olm.managed", "true");
        assert_eq!(secrets.selection(&nowhere), None);
        let interest = Interest::named(key("shop", "pull"));
        assert_eq!(
            secrets.selection(&interest),
            Some((
                "/api/v1/namespaces/shop/secrets".to_owned(),
                "fieldSelector=metadata.name%3Dpull".to_owned()
            ))
        );
        let strange = secrets.selection(&Interest::named(key("shop", "a,b=c\\d")));
        let (_, query) = strange.expect("a name that a selector can say");
        assert_eq!(query, r"fieldSelector=metadata.name%3Da%5C%2Cb%5C%3Dc%5C%5Cd");
        for name in ["", "..", "a/b", "100%", &"long".repeat(64)] {
            assert_eq!(secrets.selection(&Interest::named(key("shop", name))), None, "{name}");
        }
    }
}
