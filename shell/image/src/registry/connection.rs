//! Connections to hosts: certificates, proxies, and whether a host speaks TLS at all.
//!
//! TLS is the rule and certificates are verified. Two exceptions: a host that the user declared insecure
//! may show any certificate or speak plain HTTP; a host on a loopback address may speak plain HTTP,
//! as Docker allows, but if it speaks TLS, its certificate counts. No request is sent here.

use std::{
    collections::BTreeMap,
    env, fs,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use operon_driver::AddressPolicy;
use reqwest::{Certificate, Client, Url, redirect};

use super::{failure::whole_chain, resolver::CheckedResolver};
use crate::PullError;

/// The most bytes of a file of certificates: a bundle of every public authority has a quarter.
const MAX_CERTIFICATE_BYTES: u64 = 1 << 20;

/// The most files of certificates for one host; more are no configuration.
const MAX_CERTIFICATE_FILES: usize = 64;

/// The most headers of an answer; registries send twenty.
const MAX_HEADERS: usize = 100;

/// Where certificates of further authorities are kept.
#[derive(Debug, Clone, Default)]
pub struct CertificateAuthorities {
    /// Files that hold for every host.
    pub files: Vec<PathBuf>,
    /// Directories with a directory for each host, such as `/etc/containers/certs.d`.
    pub directories: Vec<PathBuf>,
}

impl CertificateAuthorities {
    /// Returns where this machine has them: the file of `OPERON_CA_FILE`, and the directories of podman
    /// and Docker.
    pub fn of_user() -> Self {
        let file = env::var_os("OPERON_CA_FILE").filter(|file| !file.is_empty());
        Self {
            files: file.map(PathBuf::from).into_iter().collect(),
            directories: vec!["/etc/containers/certs.d".into(), "/etc/docker/certs.d".into()],
        }
    }

    /// Reads the certificates for a host.
    fn read(&self, host: &str) -> Result<Vec<Certificate>, PullError> {
        let mut certificates = Vec::new();
        for file in &self.files {
            certificates.extend(read_certificates(host, file)?);
        }
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory.join(host)) else { continue };
            let paths = entries.flatten().map(|entry| entry.path());
            let is_certificate =
                |path: &PathBuf| path.extension().is_some_and(|extension| extension == "crt");
            let mut paths: Vec<PathBuf> = paths.filter(is_certificate).collect();
            paths.sort();
            for path in paths.iter().take(MAX_CERTIFICATE_FILES) {
                certificates.extend(read_certificates(host, path)?);
            }
        }
        Ok(certificates)
    }
}

fn read_certificates(host: &str, path: &Path) -> Result<Vec<Certificate>, PullError> {
    let setup = |problem: String| PullError::Setup { registry: host.to_owned(), problem };
    let size = fs::metadata(path).map_err(PullError::disk("read", path))?.len();
    if size > MAX_CERTIFICATE_BYTES {
        return Err(setup(format!(
            "`{}` has {size} bytes, more than {MAX_CERTIFICATE_BYTES}; is it a file of certificates?",
            path.display()
        )));
    }
    let text = fs::read(path).map_err(PullError::disk("read", path))?;
    let certificates = Certificate::from_pem_bundle(&text).map_err(|error| {
        setup(format!("`{}` holds no PEM certificates: {}", path.display(), whole_chain(&error)))
    })?;
    if certificates.is_empty() {
        return Err(setup(format!("`{}` holds no PEM certificate", path.display())));
    }
    Ok(certificates)
}

/// How many clients are kept where each host has one of its own: tenants may name any number of hosts.
const MAX_CLIENTS: usize = 64;

/// The connections that are open or were open.
#[derive(Debug)]
pub(super) struct Connections {
    authorities: CertificateAuthorities,
    connect_timeout: Duration,
    addresses: Arc<AddressPolicy>,
    /// By the kind of host, and whether any certificate is accepted.
    clients: Mutex<BTreeMap<(String, bool), Client>>,
    /// The hosts that were found to speak plain HTTP, or TLS, where both are allowed.
    schemes: Mutex<BTreeMap<String, Scheme>>,
}

/// What a host speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// TLS.
    Https,
    /// Plain text.
    Http,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
        }
    }
}

impl Connections {
    pub(super) fn new(
        authorities: CertificateAuthorities,
        connect_timeout: Duration,
        addresses: AddressPolicy,
    ) -> Self {
        let (clients, schemes) = (Mutex::default(), Mutex::default());
        Self { authorities, connect_timeout, addresses: Arc::new(addresses), clients, schemes }
    }

    /// Returns the client for the host of an address; one that is insecure accepts any certificate. Every
    /// request goes through here, so no host is asked that must not be.
    pub(super) fn client(&self, url: &Url, is_insecure: bool) -> Result<Client, PullError> {
        let host = host_of(url);
        let port = url.port_or_known_default().unwrap_or_default();
        let name = url.host_str().unwrap_or_default();
        self.addresses.check_literal(name, port).map_err(PullError::Forbidden)?;
        let key = (self.class_of(&host, port), is_insecure);
        // A lock that is poisoned guards a map of whole values: nothing in it is half made.
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = self.build(&host, (name, port), is_insecure)?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }

    /// Returns what hosts that can share a client have in common: reading the authorities of the system
    /// takes longer than most requests. Where addresses are checked, each port of a host has its own.
    fn class_of(&self, host: &str, port: u16) -> String {
        let has_own = |directory: &PathBuf| directory.join(host).is_dir();
        match self.authorities.directories.iter().any(has_own) {
            _ if self.addresses.is_restricted() => format!("{host} {port}"),
            true => host.to_owned(),
            false if is_loopback(host) => "127.0.0.1".to_owned(),
            false => String::new(),
        }
    }

    fn build(
        &self,
        host: &str,
        (name, port): (&str, u16),
        is_insecure: bool,
    ) -> Result<Client, PullError> {
        let mut builder = Client::builder()
            .user_agent(concat!("operon/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .http1_max_headers(MAX_HEADERS)
            .connect_timeout(self.connect_timeout);
        if is_insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        } else {
            builder = builder.tls_certs_merge(self.authorities.read(host)?);
        }
        if is_loopback(host) {
            builder = builder.no_proxy();
        }
        if self.addresses.is_restricted() {
            let policy = Arc::clone(&self.addresses);
            let host = name.to_owned();
            builder = builder.dns_resolver(Arc::new(CheckedResolver { policy, host, port }));
        }
        builder.build().map_err(|error| PullError::Setup {
            registry: host.to_owned(),
            problem: whole_chain(&error),
        })
    }

    pub(super) fn scheme(&self, host: &str) -> Option<Scheme> {
        self.schemes.lock().unwrap_or_else(PoisonError::into_inner).get(host).copied()
    }

    pub(super) fn note_scheme(&self, host: &str, scheme: Scheme) {
        let mut schemes = self.schemes.lock().unwrap_or_else(PoisonError::into_inner);
        schemes.insert(host.to_owned(), scheme);
    }
}

/// Tells whether a host, with or without a port, is this machine itself.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the host of an address as registries are named: with its port, where it is not the usual.
pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns the environment variable that names the proxy for a scheme.
pub(super) fn proxy_variable(scheme: &str) -> Option<&'static str> {
    let names: &[&'static str] = match scheme {
        "https" => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => &["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"],
    };
    names.iter().copied().find(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        let claims = [
            ("localhost", true),
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("127.8.9.1", true),
            ("[::1]:5000", true),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com:5000", false),
            ("128.0.0.1", false),
            ("[::2]:5000", false),
            ("quay.io", false),
        ];
        for (host, expected) in claims {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }
}
