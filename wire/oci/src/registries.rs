//! `registries.conf`: from where an image is really fetched.
//!
//! A registry can be replaced by another location, have mirrors that are asked first, be reached
//! without TLS, or be blocked. This is the second version of the format; whether a mirror answers is
//! found out elsewhere. Mirror sets of OpenShift are not read.

mod read;

use crate::{Reference, ReferenceError};

/// Limits a configuration file: it is written by hand or by an operator with one entry for each mirror.
pub const MAX_REGISTRIES_BYTES: usize = 4 * 1024 * 1024;

/// Knows where images are fetched from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegistriesConf {
    /// The hosts that are tried for names without a host; nothing where the file does not say.
    unqualified_search: Option<Vec<String>>,
    /// The entries by prefix, sorted, one for each.
    registries: Vec<Registry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Registry {
    /// `host[:port][/path]`, or `*.host`.
    prefix: String,
    /// What takes the place of the prefix; empty for itself.
    location: String,
    is_insecure: bool,
    is_blocked: bool,
    mirrors: Vec<Mirror>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mirror {
    location: String,
    is_insecure: bool,
    usage: Usage,
}

/// Says for which references a mirror is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    All,
    DigestOnly,
    TagOnly,
}

/// One place to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The image's name there.
    pub reference: Reference,
    /// Whether TLS may be missing or its certificate unknown.
    pub insecure: bool,
}

/// Says why an image has no place to be fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// The configuration forbids it.
    #[error("`{reference}` is blocked by the entry `{prefix}` of registries.conf")]
    Forbidden {
        /// The image.
        reference: String,
        /// The prefix of the entry.
        prefix: String,
    },
    /// The configuration leads to a name that cannot be.
    #[error(
        "the entry `{prefix}` of registries.conf turns `{reference}` into `{rewritten}`: {source}"
    )]
    Rewritten {
        /// The image.
        reference: String,
        /// The prefix of the entry.
        prefix: String,
        /// What it is turned into.
        rewritten: String,
        /// What is wrong with that.
        source: Box<ReferenceError>,
    },
}

/// Says why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistriesError {
    /// The file is too large.
    #[error("registries.conf has {bytes} bytes, more than {MAX_REGISTRIES_BYTES}")]
    TooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// The file is not TOML.
    #[error("registries.conf is not TOML: line {line}: {message}")]
    NotToml {
        /// The line, from one.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The file is of the first version.
    #[error(
        "registries.conf is of version 1, with `[registries.…]`; write `[[registry]]` entries instead"
    )]
    Version1,
    /// A field holds something else than it should.
    #[error("registries.conf: line {line}: {problem}")]
    Wrong {
        /// The line, from one.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl RegistriesConf {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, RegistriesError> {
        read::parse(text)
    }

    /// Adds a file that is read later, whose entries win.
    #[must_use]
    pub fn merged_with(mut self, later: Self) -> Self {
        if later.unqualified_search.is_some() {
            self.unqualified_search = later.unqualified_search;
        }
        for registry in later.registries {
            self.insert(registry);
        }
        self
    }

    /// Returns the hosts that are tried for names without a host.
    pub fn unqualified_search_registries(&self) -> &[String] {
        self.unqualified_search.as_deref().unwrap_or_default()
    }

    /// Returns the places from which an image can be fetched, in the order in which they are to be
    /// tried: mirrors as they are written, then the location itself.
    pub fn candidates(&self, reference: &Reference) -> Result<Vec<Endpoint>, Blocked> {
        let name = lower_host(&reference.to_string());
        let best = self
            .registries
            .iter()
            .filter_map(|registry| Some((registry, registry.matched_length(&name)?)))
            .max_by_key(|(registry, _)| registry.prefix.len());
        let Some((registry, matched)) = best else {
            return Ok(vec![Endpoint { reference: reference.clone(), insecure: false }]);
        };
        if registry.is_blocked {
            let (reference, prefix) = (reference.to_string(), registry.prefix.clone());
            return Err(Blocked::Forbidden { reference, prefix });
        }
        let endpoint = |location: &str, insecure: bool| {
            let rewritten = match location {
                "" => name.clone(),
                location => format!("{location}{}", &name[matched..]),
            };
            let rewrite = Reference::parse(&rewritten);
            rewrite.map(|reference| Endpoint { reference, insecure }).map_err(|source| {
                let (reference, prefix) = (reference.to_string(), registry.prefix.clone());
                Blocked::Rewritten { reference, prefix, rewritten, source: Box::new(source) }
            })
        };
        let is_usable = |mirror: &&Mirror| match mirror.usage {
            Usage::All => true,
            Usage::DigestOnly => reference.digest().is_some(),
            Usage::TagOnly => reference.digest().is_none(),
        };
        let mirrors = registry.mirrors.iter().filter(is_usable);
        let mirrors = mirrors.map(|mirror| endpoint(&mirror.location, mirror.is_insecure));
        let itself = std::iter::once_with(|| endpoint(&registry.location, registry.is_insecure));
        mirrors.chain(itself).collect()
    }

    /// Of two entries with one prefix the later wins.
    fn insert(&mut self, registry: Registry) {
        match self.registries.binary_search_by(|other| other.prefix.cmp(&registry.prefix)) {
            Ok(at) => self.registries[at] = registry,
            Err(at) => self.registries.insert(at, registry),
        }
    }
}

impl Registry {
    /// Returns how many bytes of an image's name the prefix stands for; nothing where it does not fit.
    fn matched_length(&self, name: &str) -> Option<usize> {
        if let Some(domain) = self.prefix.strip_prefix('*') {
            let host = name.split(['/', ':']).next().unwrap_or_default();
            return host.strip_suffix(domain).filter(|rest| !rest.is_empty()).map(|_| host.len());
        }
        let rest = name.strip_prefix(&self.prefix)?;
        (rest.is_empty() || rest.starts_with(['/', ':', '@'])).then_some(self.prefix.len())
    }
}

/// Hosts are the same in capital letters.
fn lower_host(name: &str) -> String {
    let (host, rest) = name.split_at(name.find('/').unwrap_or(name.len()));
    format!("{}{rest}", host.to_ascii_lowercase())
}
