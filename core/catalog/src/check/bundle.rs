//! Rules about one bundle.

use operon_version::{Release, Version};

use super::{BundleDraft, names};
use crate::{BundleDeclaration, Diagnostic, Findings, PackageProperty, Placed, Rule};

/// Checks a bundle.
pub(super) fn check(bundle: &BundleDraft<'_>, findings: &mut Findings) {
    let declaration = bundle.declaration;
    let name = &declaration.name.value;
    if name.is_empty() {
        findings.push(
            Diagnostic::new(
                Rule::BundleWithoutName,
                format!("a bundle of package {:?} has no name", declaration.package),
            )
            .at(declaration.place)
            .help("give the olm.bundle document a `name`: the name of its ClusterServiceVersion"),
        );
    }
    check_images(declaration, findings);
    match declaration.package_properties.as_slice() {
        // A broken property was reported where it was read; its absence here would repeat it.
        [] if declaration.broken => {}
        [only] => check_package_property(declaration, only, findings),
        several => {
            let message = format!(
                "bundle {name:?} must have exactly one olm.package property, it has {}",
                several.len()
            );
            findings.push(
                Diagnostic::new(Rule::PackagePropertyCount, message)
                    .at(several.get(1).map_or(declaration.name.place, |second| second.place))
                    .why("the property says which version the bundle is"),
            );
        }
    }
}

fn check_images(bundle: &BundleDeclaration, findings: &mut Findings) {
    let name = &bundle.name.value;
    let image = &bundle.image;
    if image.value.is_empty() {
        if bundle.object_count == 0 {
            findings.push(
                Diagnostic::new(Rule::BundleWithoutImage, format!("bundle {name:?} has no image"))
                    .at(image.place)
                    .why("its manifests cannot be found")
                    .help("set `image` to the bundle's image reference"),
            );
        }
    } else if let Some(defect) = names::image_defect(&image.value) {
        let message = format!("{:?} is not an image reference: {defect}", image.value);
        findings.push(Diagnostic::new(Rule::ImageInvalid, message).at(image.place));
    }
    for related in &bundle.related_images {
        if related.image.is_empty() {
            let message =
                format!("related image {:?} of bundle {name:?} has no `image`", related.name);
            findings.push(
                Diagnostic::new(Rule::RelatedImageEmpty, message)
                    .at(bundle.name.place)
                    .why("a mirror of this catalog will miss it")
                    .help("the fields of a related image are `name` and `image`"),
            );
        } else if let Some(defect) = names::image_defect(&related.image) {
            let message = format!(
                "related image {:?} of bundle {name:?} is not an image reference: {defect}",
                related.image
            );
            findings.push(Diagnostic::new(Rule::ImageInvalid, message).at(bundle.name.place));
        }
    }
}

fn check_package_property(
    bundle: &BundleDeclaration,
    property: &Placed<PackageProperty>,
    findings: &mut Findings,
) {
    let name = &bundle.name.value;
    let PackageProperty { package, version, release } = &property.value;
    if *package != bundle.package {
        let message = format!(
            "bundle {name:?} belongs to package {:?}, but its olm.package property says {package:?}",
            bundle.package
        );
        findings.push(Diagnostic::new(Rule::PackagePropertyMismatch, message).at(property.place));
    }
    let version = match Version::parse(version) {
        Ok(version) => version,
        Err(error) => {
            let message = format!("version {version:?} of bundle {name:?} cannot be read: {error}");
            findings.push(
                Diagnostic::new(Rule::VersionInvalid, message)
                    .at(property.place)
                    .help("write MAJOR.MINOR.PATCH without a leading `v`, such as 1.4.0"),
            );
            return;
        }
    };
    if release.is_empty() {
        return;
    }
    if let Err(error) = Release::parse(release) {
        let message = format!("release {release:?} of bundle {name:?} cannot be read: {error}");
        findings.push(Diagnostic::new(Rule::ReleaseInvalid, message).at(property.place));
        return;
    }
    let expected = format!("{}-v{version}-{release}", bundle.package);
    if *name != expected {
        let message = format!("bundle {name:?} has a release, so its name must be {expected:?}");
        findings
            .push(Diagnostic::new(Rule::BundleNameNotNormalized, message).at(bundle.name.place));
    }
    if !version.build().is_empty() {
        let message = format!(
            "version {version} of bundle {name:?} has build metadata beside release {release}"
        );
        findings.push(
            Diagnostic::new(Rule::ReleaseWithBuildMetadata, message)
                .at(property.place)
                .help("drop the part behind `+`"),
        );
    }
}
