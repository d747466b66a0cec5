//! Validating a bundle: every check of upstream's validators, with rule and place.
//!
//! Errors are exactly what upstream's validators refuse; what Operon knows beyond that is a warning.
//! Three validators always run, others are asked for by name. Nothing here pulls an image: what must
//! be known of images is told by the caller.

mod address;
mod bundle;
mod capabilities;
mod case;
mod categories;
mod community;
mod definition;
mod examples;
mod format;
mod good_practices;
mod multi_arch;
mod names;
mod objects;
mod operator_hub;
mod optional;
mod place;
mod policy;
mod reference;
mod removed_apis;
mod selector;
mod service_version;

use std::collections::BTreeSet;

use operon_version::Version;

use self::case::{Case, Report};
use crate::{
    BundleError, BundleFile, BundleFinding, BundleReading, BundleRule, finding, read_bundle,
};

pub(crate) use self::bundle::measure;
pub use self::{
    bundle::MAX_COMPRESSED_BYTES,
    case::MAX_FINDINGS_PER_RULE,
    multi_arch::{ImagePlatform, ImagePlatforms, platform_images},
    optional::OptionalValidator,
    selector::{Selector, SelectorError},
};

/// What to validate a bundle by, beside the validators that always run.
#[derive(Debug, Clone, Default)]
pub struct ValidationOptions {
    /// The validators that were asked for.
    pub optional: BTreeSet<OptionalValidator>,
    /// The Kubernetes version the bundle is meant for (`k8s-version`).
    pub kubernetes_version: Option<Version>,
    /// The categories that count in place of the standard ones.
    pub categories: Option<BTreeSet<String>>,
    /// The file that holds the labels of the bundle's image (`index-path`), such as its Dockerfile.
    pub image_file: Option<BundleFile>,
    /// What the images of [`platform_images`] are made for, if anybody looked at them (`multiarch`).
    pub image_platforms: Option<ImagePlatforms>,
}

/// Reads a bundle and validates it; the findings are those of reading and of all validators.
///
/// A bundle that cannot be read at all is a finding too.
pub fn validate_bundle(files: &[BundleFile], options: &ValidationOptions) -> BundleReading {
    let mut reading = read_bundle(files);
    match &reading.bundle {
        Ok(source) => {
            let found = Case::examine(source, files, options, run);
            reading.findings.retain(|earlier| !found.iter().any(|later| replaces(later, earlier)));
            reading.findings.extend(found);
        }
        Err(error) => reading.findings.push(unreadable(error)),
    }
    finding::sort(&mut reading.findings);
    reading
}

fn run(case: &Case<'_>, report: &mut Report) {
    service_version::validate(case, report);
    definition::validate(case, report);
    bundle::validate(case, report);
    format::validate(case, report);
    for validator in &case.options.optional {
        match validator {
            OptionalValidator::OperatorHubV2 => operator_hub::validate(case, report),
            OptionalValidator::OperatorHub => {
                operator_hub::validate(case, report);
                capabilities::validate(case, report);
                categories::validate(case, report);
                operator_hub::report_deprecated(report);
            }
            OptionalValidator::StandardCapabilities => capabilities::validate(case, report),
            OptionalValidator::StandardCategories => categories::validate(case, report),
            OptionalValidator::BundleObjects => objects::validate(case, report),
            OptionalValidator::AlphaDeprecatedApis => removed_apis::validate(case, report),
            OptionalValidator::GoodPractices => good_practices::validate(case, report),
            OptionalValidator::Community => community::validate(case, report),
            OptionalValidator::MultiArch => multi_arch::validate(case, report),
        }
    }
}

/// Tells whether a validator says more sharply what reading said at the same place.
fn replaces(later: &BundleFinding, earlier: &BundleFinding) -> bool {
    let is_same = [
        (BundleRule::ApiVersionMissing, BundleRule::WrongApiVersion),
        (BundleRule::AnnotationCase, BundleRule::UnknownAnnotation),
        (BundleRule::RelatedImageInvalid, BundleRule::RelatedImageIncomplete),
    ]
    .iter()
    .any(|(sharper, blunter)| later.rule_id == sharper.id() && earlier.rule_id == blunter.id());
    is_same && later.file == earlier.file && later.range == earlier.range
}

fn unreadable(error: &BundleError) -> BundleFinding {
    let place = match error {
        BundleError::ServiceVersionIncomplete { place, .. } | BundleError::NoPackage { place } => {
            Some(place)
        }
        BundleError::TooManyFiles { .. }
        | BundleError::TooLarge { .. }
        | BundleError::NoManifests
        | BundleError::NoServiceVersion { .. }
        | BundleError::NoAnnotations { .. }
        | BundleError::MetadataWrongType { .. } => None,
    };
    BundleFinding {
        file: place.map_or_else(String::new, |place| place.file.clone()),
        range: place.map_or(0..0, |place| place.range.clone()),
        severity: BundleRule::Unreadable.severity(),
        rule_id: BundleRule::Unreadable.id(),
        message: error.to_string(),
        help: None,
    }
}
