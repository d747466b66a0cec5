//! Best practices: what is valid, works, and will still cost its users an evening.
//!
//! Lint looks at a whole catalog, so it can tell whether a requirement can be met and who else
//! provides an API. It never repeats what validation already says.

mod dependencies;
mod updates;

use crate::{Catalog, Diagnostic, Package, Rule};

/// Checks a catalog against best practices; the findings are in the order of places.
pub fn lint(catalog: &Catalog) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for package in catalog.packages() {
        dependencies::check(catalog, package, &mut findings);
        updates::check(package, &mut findings);
        check_bodies(package, &mut findings);
    }
    findings.sort_by(|left, right| {
        (left.place, left.rule, &left.message).cmp(&(right.place, right.rule, &right.message))
    });
    findings
}

fn check_bodies(package: Package<'_>, findings: &mut Vec<Diagnostic>) {
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
