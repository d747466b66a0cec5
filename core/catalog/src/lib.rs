//! Packages, channels, bundles and deprecations; the upgrade graph; the index everything queries.
//!
//! A catalog is declared as documents, checked by rules, and kept as one compact, immutable image
//! that can be shared between threads or mapped from a file. This room knows no notation: bytes of
//! JSON and YAML are read in `wire/fbc`, files and caches are found in `shell/image`.

mod build;
mod check;
mod declare;
mod diagnostic;
pub mod diff;
mod excerpt;
mod findings;
pub mod graph;
mod image;
pub mod journey;
mod lint;
mod nearest;
mod place;
mod rule;
pub mod slice;
mod view;

pub use operon_constraint::GroupVersionKind;

pub use self::{
    build::build,
    declare::{
        BundleDeclaration, ChannelDeclaration, Declarations, DeprecationDeclaration,
        DeprecationReference, EntryDeclaration, OtherDeclaration, PackageDeclaration,
        PackageProperty, PackageRequirement, Placed, PropertyDeclaration, RelatedImage, SourceFile,
        Summary,
    },
    diagnostic::{Diagnostic, Note, Severity},
    findings::{Findings, MAX_FINDING_TEXT_BYTES, MAX_FINDINGS_BYTES, MAX_FINDINGS_PER_RULE},
    image::{IMAGE_FORMAT, ImageBytes, ImageError},
    lint::lint,
    nearest::nearest,
    place::{FileId, Place},
    rule::Rule,
    view::{
        Api, ApiId, Bundle, BundleId, Catalog, Channel, ChannelId, Counts, Entry, EntryId, Other,
        Package, PackageId, Property,
    },
};
