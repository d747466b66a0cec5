//! Best practices: what is valid, works, and will still cost its users an evening.
//!
//! Lint looks at a whole catalog, so it can tell whether a requirement can be met and who else
//! provides an API. It never repeats what validation already says.

mod dependencies;
mod updates;

use crate::{Catalog, Diagnostic, Findings, Package, Rule};

/// Checks a catalog against best practices; the findings are in the order of places, and at last
/// how many more there are of rules that found too many.
pub fn lint(catalog: &Catalog) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    for package in catalog.packages() {
        dependencies::check(catalog, package, &mut findings);
        updates::check(package, &mut findings);
        check_bodies(package, &mut findings);
        check_tags(package, &mut findings);
    }
    let mut findings = findings.finish();
    findings.sort_by(|left, right| {
        let key = |finding: &Diagnostic| (finding.place.is_none(), finding.place, finding.rule);
        (key(left), &left.message).cmp(&(key(right), &right.message))
    });
    findings
}

fn check_bodies(package: Package<'_>, findings: &mut Findings) {
    let legacy = package.bundles().filter(|bundle| bundle.object_count() > 0);
    let (count, first) = (legacy.clone().count(), legacy.into_iter().next());
    if let Some(first) = first {
        let message = format!(
            "{count} of {} bundles of package {:?} inline their manifests",
            package.bundles().len(),
            package.name()
        );
        findings.push(
            Diagnostic::new(Rule::LegacyBundleObject, message)
                .at(first.place())
                .why("olm.bundle.object is deprecated and makes catalogs several times larger")
                .help("`operon catalog migrate` rewrites them as olm.csv.metadata"),
        );
    }
}

/// Reports bundle images that are named by a tag: once for each package, because authors name all of their
/// images in one way.
fn check_tags(package: Package<'_>, findings: &mut Findings) {
    let is_tagged = |image: &str| {
        // Paths are files next to the catalog, which only local catalogs have.
        let is_path = image.starts_with(['.', '/']);
        !image.is_empty() && !is_path && !image.contains('@')
    };
    let tagged = package.bundles().filter(|bundle| bundle.image().is_some_and(is_tagged));
    let (count, first) = (tagged.clone().count(), tagged.into_iter().next());
    if let Some(first) = first {
        let message = format!(
            "{count} of {} bundle images of package {:?} are named by a tag, such as {:?}",
            package.bundles().len(),
            package.name(),
            first.image().unwrap_or_default()
        );
        findings.push(
            Diagnostic::new(Rule::BundleImageByTag, message)
                .at(first.place())
                .why("a tag can be moved, and then another bundle is installed than the one that was reviewed")
                .help("name the image by its digest: `registry/name@sha256:...`"),
        );
    }
}
