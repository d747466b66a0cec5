//! Files with credentials: Docker's `config.json`, podman's `auth.json`, pull secrets, `.dockercfg`.
//!
//! The most specific entry for an image wins. An entry that is damaged hurts only those who need it.
//! Where the files lie is known elsewhere.

use std::{collections::BTreeMap, fmt};

use operon_document::decode_base64;
use operon_object::{Value, ValueError};

use crate::{Credentials, Reference, helper_program, printable::excerpt};

/// Limits a file of credentials: a pull secret is limited to 1 MiB by Kubernetes.
pub const MAX_AUTH_FILE_BYTES: usize = 4 * 1024 * 1024;

const DOCKER_HUB: &str = "docker.io";
/// The name of Docker Hub in files and for helpers.
const DOCKER_HUB_SERVER: &str = "https://index.docker.io/v1/";

/// Knows who asks where.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AuthFile {
    /// What an entry says, by host or host and path.
    entries: BTreeMap<String, Entry>,
    /// The helper of a host.
    helpers: BTreeMap<String, String>,
    /// The helper of every other host.
    store: Option<String>,
}

#[derive(Clone, PartialEq, Eq)]
enum Entry {
    Credentials(Credentials),
    Broken(&'static str),
}

/// What a file knows about an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The credentials are in the file.
    Credentials(Credentials),
    /// A helper has to be asked.
    Helper {
        /// The helper's name, fit for [`helper_program`].
        name: String,
        /// What it is asked for.
        server: String,
    },
    /// There is an entry, but it cannot be used.
    Unusable {
        /// The entry's name in the file.
        key: String,
        /// What is wrong, such as "its `auth` is not base64".
        reason: String,
    },
    /// The file says nothing.
    None,
}

/// Says why a file of credentials cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AuthFileError {
    /// The file is too large.
    #[error("the file of credentials has {bytes} bytes, more than {MAX_AUTH_FILE_BYTES}")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The file is not JSON.
    #[error("the file of credentials is not JSON: {source}")]
    NotJson {
        /// What is wrong.
        source: ValueError,
    },
    /// A field holds something else than a map.
    #[error("{field} of the file of credentials should be a map")]
    NotAMap {
        /// The field, such as "`auths`".
        field: &'static str,
    },
}

impl AuthFile {
    /// Reads a file in any of its forms.
    pub fn parse(bytes: &[u8]) -> Result<Self, AuthFileError> {
        if bytes.len() > MAX_AUTH_FILE_BYTES {
            return Err(AuthFileError::TooLarge { bytes: bytes.len() });
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        let value = Value::parse_json(bytes).map_err(|source| AuthFileError::NotJson { source })?;
        let top = value.as_map().ok_or(AuthFileError::NotAMap { field: "the top" })?;
        let auths = map_or_nothing(top.get("auths"), "`auths`")?;
        let helpers = map_or_nothing(top.get("credHelpers"), "`credHelpers`")?;
        let store = top.get("credsStore").as_text().filter(|name| !name.is_empty());
        // The oldest form has the entries at the top.
        let is_oldest = !top.contains("auths") && helpers.is_null() && store.is_none();
        let entries = if is_oldest { &value } else { auths };
        let mut file = Self { store: store.map(str::to_owned), ..Self::default() };
        for (key, entry) in entries.entries() {
            if let Some(entry) = read_entry(entry) {
                file.insert(key, entry);
            }
        }
        for (key, name) in helpers.entries() {
            file.helpers.insert(normalised(key), name.str().to_owned());
        }
        Ok(file)
    }

    /// Returns `true` if the file names a helper program for any host.
    pub fn names_helpers(&self) -> bool {
        !self.helpers.is_empty() || self.store.is_some()
    }

    /// Returns the file without its helpers: its `auths` alone, which is what the kubelet reads of a pull
    /// secret. A helper is a program of this machine, and the author of a Secret must not choose which
    /// programs run here.
    #[must_use]
    pub fn without_helpers(self) -> Self {
        Self { entries: self.entries, ..Self::default() }
    }

    /// Two spellings of one place: the one that is written as it is looked up wins.
    fn insert(&mut self, key: &str, entry: Entry) {
        let place = normalised(key);
        if place == key || !self.entries.contains_key(&place) {
            self.entries.insert(place, entry);
        }
    }

    /// Returns what the file knows about an image: the helper of its host, else the entry with the
    /// longest matching path, else the helper of all hosts.
    pub fn lookup(&self, reference: &Reference) -> Found {
        let host = reference.registry().to_ascii_lowercase();
        if let Some(name) = self.helpers.get(&host) {
            return helper(name, &host);
        }
        let image = format!("{host}/{}", reference.repository());
        let best = self
            .entries
            .iter()
            .filter(|(key, _)| matches(key, &image))
            .max_by_key(|(key, _)| (path_length(key), !key.contains('*'), key.len()));
        match (best, &self.store) {
            (Some((_, Entry::Credentials(credentials))), _) => {
                Found::Credentials(credentials.clone())
            }
            (Some((key, Entry::Broken(reason))), _) => {
                Found::Unusable { key: excerpt(key, 100), reason: (*reason).to_owned() }
            }
            (None, Some(name)) => helper(name, &host),
            (None, None) => Found::None,
        }
    }
}

fn map_or_nothing<'a>(value: &'a Value, field: &'static str) -> Result<&'a Value, AuthFileError> {
    match value {
        Value::Null | Value::Map(_) => Ok(value),
        _ => Err(AuthFileError::NotAMap { field }),
    }
}

fn helper(name: &str, host: &str) -> Found {
    if let Err(error) = helper_program(name) {
        return Found::Unusable { key: host.to_owned(), reason: error.to_string() };
    }
    let server = if host == DOCKER_HUB { DOCKER_HUB_SERVER } else { host };
    Found::Helper { name: name.to_owned(), server: server.to_owned() }
}

/// Returns what an entry says; nothing for one that only notes that a helper knows more.
fn read_entry(entry: &Value) -> Option<Entry> {
    let text = |name: &str| entry.get(name).str().to_owned();
    if !entry.get("identitytoken").is_empty() {
        return Some(Entry::Credentials(Credentials::IdentityToken {
            token: text("identitytoken"),
        }));
    }
    if !entry.get("auth").is_empty() {
        return Some(read_auth(entry.get("auth").str()));
    }
    let (user, password) = (text("username"), text("password"));
    if user.is_empty() && password.is_empty() {
        return None;
    }
    Some(Entry::Credentials(Credentials::Basic { user, password }))
}

fn read_auth(encoded: &str) -> Entry {
    let Ok(decoded) = decode_base64(encoded.as_bytes()) else {
        return Entry::Broken("its `auth` is not base64");
    };
    let Ok(decoded) = String::from_utf8(decoded) else {
        return Entry::Broken("its `auth` is not UTF-8");
    };
    let Some((user, password)) = decoded.split_once(':') else {
        return Entry::Broken("its `auth` has no `:` between name and password");
    };
    // Upstream: old versions of Docker wrote zero bytes behind the password.
    let password = password.trim_end_matches('\0');
    Entry::Credentials(Credentials::Basic { user: user.to_owned(), password: password.to_owned() })
}

/// Returns the host and path of a key: without a scheme, without the path of an API, in small letters,
/// and Docker Hub by one name.
fn normalised(key: &str) -> String {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let (host, path) = key.split_once('/').unwrap_or((key, ""));
    let mut host = host.to_ascii_lowercase();
    if matches!(host.as_str(), "index.docker.io" | "registry-1.docker.io") {
        DOCKER_HUB.clone_into(&mut host);
    }
    match path.trim_end_matches('/') {
        "" | "v1" | "v2" => host,
        path => format!("{host}/{path}"),
    }
}

fn path_length(key: &str) -> usize {
    key.find('/').map_or(0, |slash| key.len() - slash)
}

/// Tells whether a key is for an image: its host fits, part by part where it has a `*` as pull secrets
/// of Kubernetes may, and its path is the beginning of the image's.
fn matches(key: &str, image: &str) -> bool {
    let (key_host, key_path) = key.split_once('/').unwrap_or((key, ""));
    let (host, path) = image.split_once('/').unwrap_or((image, ""));
    let is_host = if key_host.contains('*') {
        let (pattern, labels) = (key_host.split('.'), host.split('.'));
        pattern.clone().count() == labels.clone().count()
            && pattern.zip(labels).all(|(pattern, label)| fits(pattern, label))
    } else {
        key_host == host
    };
    let is_path = key_path.is_empty()
        || path.strip_prefix(key_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_host && is_path
}

/// Tells whether a label fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, label: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = label.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Shows where there is something, never what.
impl fmt::Debug for AuthFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuthFile")
            .field("entries", &self.entries.keys().collect::<Vec<_>>())
            .field("helpers", &self.helpers)
            .field("store", &self.store)
            .finish()
    }
}
