//! Container images as bytes: references, manifests, layers, credentials, mirrors.
//!
//! This room reads and writes what registries and image layouts are made of. It fetches nothing and
//! touches no disk; that is `shell/image`. Layers are read from any [`std::io::Read`] and their files
//! go to a sink that the caller brings.

mod auth_file;
pub mod build;
mod challenge;
mod config;
mod credentials;
mod digest;
mod document_error;
mod error_body;
mod fields;
pub mod layer;
mod layout;
mod manifest;
mod media_type;
mod platform;
mod policy;
mod printable;
mod reference;
mod registries;
mod token;

pub use self::{
    auth_file::{AuthFile, AuthFileError, Found, MAX_AUTH_FILE_BYTES},
    challenge::{Challenge, MAX_CHALLENGE_BYTES},
    config::{ImageConfig, MAX_CONFIG_BYTES},
    credentials::{Credentials, HelperError, MAX_HELPER_REPLY_BYTES, helper_program, helper_reply},
    digest::{Algorithm, Digest, DigestError, Hasher, Verifier},
    document_error::DocumentError,
    error_body::{ErrorBody, MAX_ERROR_BODY_BYTES},
    layout::{
        ArchivedImage, DOCKER_ARCHIVE_MANIFEST, LAYOUT_FILE, LAYOUT_INDEX, MAX_ARCHIVED_IMAGES,
        REF_NAME_ANNOTATION, check_layout, docker_archive, layout_file,
    },
    manifest::{
        Descriptor, Document, Index, MAX_INDEX_ENTRIES, MAX_LAYERS, MAX_MANIFEST_BYTES, Manifest,
    },
    media_type::{
        ACCEPTED_MANIFESTS, DOCKER_CONFIG, DOCKER_LAYER_GZIP, DOCKER_LIST, DOCKER_MANIFEST,
        LayerCompression, LayerTypeError, OCI_CONFIG, OCI_INDEX, OCI_LAYER_GZIP, OCI_LAYER_TAR,
        OCI_LAYER_ZSTD, OCI_MANIFEST, SNIFFED_BYTES,
    },
    platform::{Platform, PlatformError},
    policy::{
        KeySource, MAX_POLICY_BYTES, MAX_POLICY_KEYS, MAX_REKOR_BUNDLE_BYTES,
        MAX_SIGNATURE_PAYLOAD_BYTES, PayloadError, Policy, PolicyError, RekorBundle, Requirement,
        Selected, SignaturePayload, SignedIdentity, SigstoreSigned,
    },
    reference::{
        MAX_HOST_LENGTH, MAX_REPOSITORY_LENGTH, MAX_TAG_LENGTH, Reference, ReferenceError,
    },
    registries::{Blocked, Endpoint, MAX_REGISTRIES_BYTES, RegistriesConf, RegistriesError},
    token::{DEFAULT_TOKEN_LIFETIME, MAX_TOKEN_BYTES, MAX_TOKEN_LIFETIME, Token, TokenError},
};
