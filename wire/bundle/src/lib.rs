//! registry+v1 bundles rendered to catalog documents, and catalog templates expanded.
//!
//! A bundle arrives as a list of files and leaves as one `olm.bundle` document, equal to what
//! upstream's tools print but for the differences that a doc comment declares. What upstream drops
//! without a word becomes a finding. Nothing here opens a file, pulls an image, or decides whether
//! a catalog is valid.

mod compare;
mod error;
mod finding;
mod json;
mod legacy;
mod migrate;
mod package;
mod projection;
mod property;
mod read;
mod render;
mod summary;
pub mod template;
mod validate;

pub use finding::{BundleFinding, BundleRule, Severity};

pub use error::{BundleError, BundlePlace};
pub use property::Property;
pub use read::{
    BundleAnnotations, BundleFile, BundleReading, BundleSource, DefinitionKey, Icon,
    MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, Manifest, ProvidedApi, RelatedImage, ServiceVersion,
    annotation_texts, read_bundle,
};
pub use render::{Migration, RenderOptions, RenderedBundle, render};

pub use compare::{Change, ChangeKind, MAX_COMPARED_FIELDS, Side, Topic, compare};
pub use legacy::{ConfigMapCatalog, LegacyDocuments, MAX_CONFIG_MAP_BYTES, render_config_map};
pub use summary::{
    Api, BundleSize, BundleSummary, ContainerSummary, DefinitionSummary, DeploymentSummary,
    MAX_RIGHTS, ObjectSummary, Right, RightScope, VersionSummary, WebhookSummary, summarize,
};
pub use validate::{
    ImagePlatform, ImagePlatforms, MAX_COMPRESSED_BYTES, MAX_FINDINGS_PER_RULE, OptionalValidator,
    Selector, SelectorError, ValidationOptions, platform_images, validate_bundle,
};

pub use migrate::{MigrateError, migrate_document};
pub use package::{init_package, sniff_media_type};
