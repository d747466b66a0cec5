//! Why an image cannot be had, with what to do about it.
//!
//! Each error names the registry and the image, what was answered, and the next step. No secret is ever
//! part of a message: of credentials only the place where they were found is told.

use std::{io, path::PathBuf, time::Duration};

use operon_driver::ForbiddenAddress;
use operon_oci::{
    AuthFileError, Blocked, Digest, DocumentError, LayerTypeError, PlatformError, RegistriesError,
    layer::LayerError,
};

use crate::quota::{MAX_NAMESPACE_BYTES, MAX_TENANT_IMAGE_BYTES, MAX_TENANTS_BYTES};

/// Why an image cannot be pulled, read or pushed.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The registry wants to know who asks, or does not let the asker in.
    #[error("`{registry}` refuses access to `{reference}`: {answer}; {tried}")]
    Unauthorised {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// What it answered.
        answer: String,
        /// Which credentials were tried, and what to do.
        tried: String,
    },
    /// The registry has no such image.
    #[error("`{registry}` has no `{reference}`: {answer}{}", suggestion(nearest))]
    NotFound {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// What it answered.
        answer: String,
        /// Tags of the repository that look alike.
        nearest: Vec<String>,
    },
    /// The image is not there for the wanted platform.
    #[error("`{reference}`: {source}; choose one of them with `--platform`")]
    WrongPlatform {
        /// The image.
        reference: String,
        /// What there is.
        source: Box<PlatformError>,
    },
    /// The certificate of the registry is not trusted.
    #[error(
        "`{registry}` shows a certificate that is not trusted: {problem}; if it is signed by an authority of your \
         own, name its file in `OPERON_CA_FILE` or put it at `/etc/containers/certs.d/{registry}/ca.crt`"
    )]
    Tls {
        /// The host.
        registry: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something took too long.
    #[error("`{registry}`, asked for `{reference}`: {what} took longer than {}", seconds(*after))]
    Timeout {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// What did.
        what: String,
        /// The limit.
        after: Duration,
    },
    /// The content is not what its digest says.
    #[error(
        "{what} of `{reference}` should have the digest {expected}, but what arrived has {found}; the registry or \
         something on the way changed it"
    )]
    DigestMismatch {
        /// The image.
        reference: String,
        /// Which part.
        what: String,
        /// The digest that was asked for.
        expected: Digest,
        /// The digest of what came.
        found: Digest,
    },
    /// The content has another length than it should.
    #[error("{what} of `{reference}` should have {expected} bytes, but {found} arrived")]
    WrongLength {
        /// The image.
        reference: String,
        /// Which part.
        what: String,
        /// How many it should have.
        expected: u64,
        /// How many there were, or when the rest was not awaited, at least.
        found: u64,
    },
    /// Something is larger than it may be.
    #[error("{what} of `{reference}` has more than {limit} bytes; is it a catalog or a bundle?")]
    TooLarge {
        /// The image.
        reference: String,
        /// Which part.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// An image of a tenant is too large.
    #[error(
        "`{reference}` has {bytes} bytes, more than the {MAX_TENANT_IMAGE_BYTES} that one image of namespace \
         `{namespace}` may have; use a smaller image"
    )]
    ImageQuota {
        /// The image.
        reference: String,
        /// The namespace that it is pulled for.
        namespace: String,
        /// How many bytes its layers have.
        bytes: u64,
    },
    /// The images of a tenant are too large together.
    #[error(
        "`{reference}` does not fit: the images of namespace `{namespace}` may take {MAX_NAMESPACE_BYTES} bytes \
         together; delete CatalogSources of the namespace, or use smaller images"
    )]
    NamespaceQuota {
        /// The image.
        reference: String,
        /// The namespace that it is pulled for.
        namespace: String,
    },
    /// The images of all tenants are too large together.
    #[error(
        "`{reference}` does not fit: the images of all namespaces may take {MAX_TENANTS_BYTES} bytes of the \
         controller's cache together; delete CatalogSources, or use smaller images"
    )]
    CacheQuota {
        /// The image.
        reference: String,
    },
    /// The registry has had enough for now.
    #[error(
        "`{registry}` limits how often it may be asked: {answer}{}; log in with credentials, use a mirror, or wait",
        retry_after.map_or_else(String::new, |pause| format!("; it wants to be left alone for {}", seconds(pause)))
    )]
    RateLimited {
        /// The host.
        registry: String,
        /// What it answered.
        answer: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The name of the registry leads nowhere.
    #[error(
        "the name `{registry}` leads to no address: {problem}; is it spelled right, and is there a network?"
    )]
    NameResolution {
        /// The host.
        registry: String,
        /// What the system said.
        problem: String,
    },
    /// The proxy does not let us through.
    #[error(
        "cannot reach `{registry}` through the proxy of `{variable}`: {problem}; if the registry can be reached \
         without it, add its host to `NO_PROXY`"
    )]
    Proxy {
        /// The host.
        registry: String,
        /// The environment variable that names the proxy.
        variable: String,
        /// What went wrong.
        problem: String,
    },
    /// The address must not be connected to.
    #[error(transparent)]
    Forbidden(ForbiddenAddress),
    /// The registry cannot be reached.
    #[error("cannot reach `{registry}`: {problem}")]
    Unreachable {
        /// The host.
        registry: String,
        /// What went wrong.
        problem: String,
    },
    /// The connection broke, again and again.
    #[error("the connection to `{registry}` broke while `{reference}` was transferred: {problem}")]
    Broken {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// What went wrong.
        problem: String,
    },
    /// The registry answered something that is of no use.
    #[error("`{registry}`, asked for `{reference}`, answered {status}: {answer}")]
    Answer {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// The status of the answer.
        status: u16,
        /// What it said.
        answer: String,
    },
    /// The registry sends us around, or somewhere we do not go.
    #[error("`{registry}`, asked for `{reference}`, {problem}")]
    Redirected {
        /// The host.
        registry: String,
        /// The image.
        reference: String,
        /// What it did.
        problem: String,
    },
    /// The server that gives tokens is of no use.
    #[error("`{registry}` wants a token from `{realm}`: {problem}")]
    Token {
        /// The host.
        registry: String,
        /// The token server.
        realm: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The configuration of registries forbids it.
    #[error(transparent)]
    Blocked(Box<Blocked>),
    /// A configuration of registries cannot be read.
    #[error("`{}`: {source}", path.display())]
    Registries {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: RegistriesError,
    },
    /// A file of credentials cannot be read.
    #[error("{place}: {source}; correct it, or log in again")]
    Credentials {
        /// The file, or "the pull secret".
        place: String,
        /// What is wrong.
        source: AuthFileError,
    },
    /// The client cannot be made, for instance because a file of certificates is malformed.
    #[error("cannot prepare a connection to `{registry}`: {problem}")]
    Setup {
        /// The host.
        registry: String,
        /// What is wrong.
        problem: String,
    },
    /// A document of the image is malformed.
    #[error("`{reference}`: {source}")]
    Document {
        /// The image.
        reference: String,
        /// What is wrong.
        source: Box<DocumentError>,
    },
    /// A layer is of a type that cannot be read.
    #[error("layer {number} of `{reference}`: {source}")]
    LayerType {
        /// The image.
        reference: String,
        /// Which layer, from one.
        number: usize,
        /// What is wrong.
        source: Box<LayerTypeError>,
    },
    /// A layer cannot be unpacked.
    #[error("`{reference}`: {source}")]
    Layer {
        /// The image.
        reference: String,
        /// Which layer, and what is wrong.
        source: Box<LayerError>,
    },
    /// The image is something else.
    #[error("`{reference}` is no {expected}: {problem}")]
    NotThis {
        /// The image.
        reference: String,
        /// What it should be: "file-based catalog" or "bundle".
        expected: &'static str,
        /// Why it is not, and what to do.
        problem: String,
    },
    /// Nothing may be fetched, and nothing is kept.
    #[error(
        "`{reference}` is not in the cache, and nothing may be fetched; try again without `--offline`"
    )]
    Offline {
        /// The image.
        reference: String,
    },
    /// Nothing may be sent.
    #[error(
        "`{reference}` is not pushed, because no registry may be asked; try again without `--offline`"
    )]
    NotSent {
        /// The image.
        reference: String,
    },
    /// The place is known, but it is not fetched here.
    #[error("`{location}` is {what}, which cannot be fetched as a directory")]
    Elsewhere {
        /// The place.
        location: String,
        /// What it is.
        what: &'static str,
    },
    /// A local layout or archive is not what it should be.
    #[error("`{}`: {problem}", path.display())]
    Archive {
        /// The directory or file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The disk does not do what it should.
    #[error("cannot {action} `{}`: {source}{}", path.display(), disk_hint(source))]
    Disk {
        /// What was to be done, such as "write".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The signature policy does not accept the image.
    #[error(
        "`{reference}` is rejected by {entry} in the signature policy `{}`: {problem}",
        path.display()
    )]
    Signature {
        /// The image.
        reference: String,
        /// The file of the policy.
        path: PathBuf,
        /// The entry of the policy that applies.
        entry: String,
        /// Which requirement is not met, and why.
        problem: String,
    },
    /// The signature policy cannot be used, so nothing may be pulled.
    #[error("cannot use the signature policy `{}`: {problem}", path.display())]
    Policy {
        /// The file of the policy.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// A variable of the environment is malformed.
    #[error("`{variable}`: {problem}")]
    Environment {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no directory to keep images in.
    #[error("images need a cache directory: set `OPERON_CACHE_DIR`")]
    NoCache,
}

impl From<Blocked> for PullError {
    fn from(blocked: Blocked) -> Self {
        Self::Blocked(Box::new(blocked))
    }
}

impl PullError {
    /// Tells whether the same request may be answered later: nothing was said about the image itself.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Timeout { .. }
            | Self::RateLimited { .. }
            | Self::NameResolution { .. }
            | Self::Proxy { .. }
            | Self::Unreachable { .. }
            | Self::Broken { .. } => true,
            Self::Answer { status, .. } => *status >= 500,
            Self::Unauthorised { .. }
            | Self::NotFound { .. }
            | Self::WrongPlatform { .. }
            | Self::Tls { .. }
            | Self::DigestMismatch { .. }
            | Self::WrongLength { .. }
            | Self::TooLarge { .. }
            | Self::ImageQuota { .. }
            | Self::NamespaceQuota { .. }
            | Self::CacheQuota { .. }
            | Self::Redirected { .. }
            | Self::Token { .. }
            | Self::Forbidden(_)
            | Self::Blocked(_)
            | Self::Registries { .. }
            | Self::Credentials { .. }
            | Self::Setup { .. }
            | Self::Document { .. }
            | Self::LayerType { .. }
            | Self::Layer { .. }
            | Self::NotThis { .. }
            | Self::Offline { .. }
            | Self::NotSent { .. }
            | Self::Elsewhere { .. }
            | Self::Archive { .. }
            | Self::Disk { .. }
            | Self::Signature { .. }
            | Self::Policy { .. }
            | Self::Environment { .. }
            | Self::NoCache => false,
        }
    }

    pub(crate) fn document(reference: &str) -> impl Fn(DocumentError) -> Self + Copy {
        move |source| Self::Document { reference: reference.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn platform(reference: &str) -> impl FnOnce(PlatformError) -> Self {
        move |source| Self::WrongPlatform {
            reference: reference.to_owned(),
            source: Box::new(source),
        }
    }

    pub(crate) fn disk(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Disk { action, path, source }
    }
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    let tags: Vec<String> = nearest.iter().map(|tag| format!("`{tag}`")).collect();
    format!("; did you mean {}?", tags.join(" or "))
}

pub(crate) fn seconds(duration: Duration) -> String {
    match duration.as_millis() {
        millis @ ..1000 => format!("{millis} ms"),
        _ if duration.as_secs() < 120 => format!("{} s", duration.as_secs()),
        _ if duration.as_secs() < 7200 => format!("{} min", duration.as_secs() / 60),
        _ if duration.as_secs() < 172_800 => format!("{} h", duration.as_secs() / 3600),
        _ => format!("{} days", duration.as_secs() / 86_400),
    }
}

fn disk_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room, for instance with `operon cache prune`"
        }
        io::ErrorKind::PermissionDenied => {
            "; set `OPERON_CACHE_DIR` to a directory that you may write to"
        }
        _ => "",
    }
}
