//! A client of container registries: manifests, blobs and tags over HTTP, in both directions.
//!
//! Every byte that is handed on was compared with its digest. Nothing is kept here; that is `store`.
//! What documents mean is decided in `wire/oci`.

mod authenticate;
mod body;
mod connection;
mod credentials;
mod exchange;
mod failure;
mod pull;
mod push;
mod resolver;
mod retry;
mod sources;

use std::sync::Arc;

use operon_driver::AddressPolicy;
use operon_oci::{Endpoint, Reference};

use self::{authenticate::Tokens, connection::Connections};
pub use self::{
    connection::CertificateAuthorities,
    credentials::{CredentialSources, MAX_PULL_SECRETS},
    sources::Registries,
};
pub(crate) use self::{failure::Failure, pull::FetchedManifest, push::Content};
use crate::{Limits, PullError};

/// What all requests to all registries share.
#[derive(Debug)]
pub(crate) struct Registry {
    limits: Limits,
    connections: Connections,
    tokens: Tokens,
    credentials: CredentialSources,
    registries: Registries,
    /// Hosts that the user chose to trust without a certificate.
    insecure: Vec<String>,
}

impl Registry {
    pub(crate) fn new(
        limits: Limits,
        authorities: CertificateAuthorities,
        credentials: CredentialSources,
        registries: Registries,
        insecure: Vec<String>,
        addresses: AddressPolicy,
    ) -> Self {
        let connections = Connections::new(authorities, limits.connect_timeout, addresses);
        Self { limits, connections, tokens: Tokens::default(), credentials, registries, insecure }
    }

    /// Returns the places an image may be fetched from, in the order to try them.
    pub(crate) fn places(
        self: &Arc<Self>,
        image: &Reference,
    ) -> Result<Vec<Repository>, PullError> {
        let endpoints = self.registries.read()?.candidates(image)?;
        Ok(endpoints.into_iter().map(|endpoint| self.repository(endpoint)).collect())
    }

    /// Returns what identifies the credentials that pull secrets have for an image, at its registry and its
    /// mirrors; empty if they have none.
    pub(crate) fn identity(&self, image: &Reference) -> Result<Vec<u8>, PullError> {
        if self.credentials.pull_secrets.is_empty() {
            return Ok(Vec::new());
        }
        let endpoints = self.registries.read()?.candidates(image)?;
        let identities = endpoints.iter().map(|endpoint| {
            let host = endpoint.reference.registry_host().to_ascii_lowercase();
            (host, self.credentials.identity(&endpoint.reference))
        });
        let mut whole = Vec::new();
        for (host, identity) in identities.filter(|(_, identity)| !identity.is_empty()) {
            credentials::append(&mut whole, host.as_bytes());
            credentials::append(&mut whole, &identity);
        }
        Ok(whole)
    }

    /// Returns the place an image is pushed to: never a mirror.
    pub(crate) fn home(self: &Arc<Self>, image: &Reference) -> Result<Repository, PullError> {
        let endpoints = self.registries.read()?.candidates(image)?;
        let itself = endpoints.into_iter().next_back();
        let itself = itself.unwrap_or(Endpoint { reference: image.clone(), insecure: false });
        Ok(self.repository(itself))
    }

    fn repository(self: &Arc<Self>, endpoint: Endpoint) -> Repository {
        let host = endpoint.reference.registry_host().to_ascii_lowercase();
        let is_chosen = self.insecure.iter().any(|chosen| chosen.eq_ignore_ascii_case(&host));
        Repository {
            registry: Arc::clone(self),
            is_insecure: endpoint.insecure || is_chosen,
            shown: endpoint.reference.to_string(),
            reference: endpoint.reference,
            host,
        }
    }
}

/// One repository of one registry, seen for one image.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    registry: Arc<Registry>,
    reference: Reference,
    host: String,
    is_insecure: bool,
    /// The reference for messages.
    shown: String,
}

impl Repository {
    pub(crate) fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Tells whether another repository is of the same registry.
    pub(crate) fn is_same_registry(&self, other: &Self) -> bool {
        self.host == other.host && self.reference.repository() != other.reference.repository()
    }

    fn limits(&self) -> &Limits {
        &self.registry.limits
    }
}
