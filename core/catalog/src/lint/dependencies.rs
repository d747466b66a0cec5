//! Dependencies as authors should declare them.

use std::{collections::BTreeSet, ops::Bound};

use operon_constraint::{Dialect, WarningKind, parse_property};
use operon_version::{Version, VersionRange};

use crate::{
    Api, Bundle, Catalog, Diagnostic, Findings, Package, Place, Rule,
    excerpt::{excerpt, few_traps},
};

/// How many packages a message names before it counts the rest.
const NAMED_PACKAGES: usize = 3;

/// Checks what the bundles of a package require.
pub(super) fn check(catalog: &Catalog, package: Package<'_>, findings: &mut Findings) {
    for bundle in package.bundles() {
        check_packages(catalog, bundle, findings);
        check_apis(bundle, findings);
        check_constraints(bundle, findings);
    }
    for channel in package.channels() {
        for entry in channel.entries() {
            if let Some(range) = entry.skip_range() {
                let subject = format!("the skipRange of {}", entry.name());
                advise_on_range(range, &subject, entry.place(), findings);
            }
        }
    }
}

/// Returns the place of the n-th property of a type, or that of the bundle.
fn property_place(bundle: Bundle<'_>, kind: &str, index: usize) -> Place {
    let mut places = bundle
        .properties()
        .zip(bundle.property_places())
        .filter(|(property, _)| property.kind == kind)
        .map(|(_, place)| place);
    places.nth(index).unwrap_or_else(|| bundle.place())
}

fn check_packages(catalog: &Catalog, bundle: Bundle<'_>, findings: &mut Findings) {
    for (index, (name, text)) in bundle.required_packages().enumerate() {
        let place = property_place(bundle, "olm.package.required", index);
        // A range that cannot be read is an error or a warning already.
        let Ok(range) = VersionRange::parse(text) else {
            continue;
        };
        let shown = excerpt(text);
        let subject = format!("{} requires package {name:?} at {shown:?}", bundle.name());
        if !range.has_lower_bound() {
            findings.push(
                Diagnostic::new(Rule::NoMinimumVersion, format!("{subject}, which has no minimum"))
                    .at(place)
                    .why("a version that lacks what you need may be chosen")
                    .help("name the first version you were tested with: `>=1.4.0`"),
            );
        }
        if is_narrow(&range) {
            findings.push(
                Diagnostic::new(Rule::NarrowMaximum, format!("{subject}, a narrow window"))
                    .at(place)
                    .why("it holds back updates of that package for everybody in the namespace")
                    .help("drop the maximum, or allow all of a major version: `>=1.4.0 <2.0.0`"),
            );
        }
        advise_on_range(text, &subject, place, findings);
        let published = catalog.package(name);
        let is_met = published.is_some_and(|package| {
            package
                .bundles()
                .any(|found| found.version().is_some_and(|version| range.contains(&version)))
        });
        if !is_met {
            let reason = match published {
                None => "no such package is in this catalog".to_owned(),
                Some(package) => format!("this catalog has {}", version_span(package)),
            };
            findings.push(unmet(format!("{subject}, but {reason}"), place));
        }
        check_two_mechanisms(bundle, name, published, place, findings);
    }
}

/// A window is narrow when it ends before the next major version after its beginning.
fn is_narrow(range: &VersionRange) -> bool {
    range.intervals().iter().any(|interval| match (interval.lower(), interval.upper()) {
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Included(high) | Bound::Excluded(high),
        ) => *high < Version::new(low.major() + 1, 0, 0),
        (_, _) => false,
    })
}

fn version_span(package: Package<'_>) -> String {
    let versions = package.bundles_by_version();
    match (versions.first(), versions.last()) {
        (Some(newest), Some(oldest)) if versions.len() > 1 => {
            format!("{} to {}", oldest.version_text(), newest.version_text())
        }
        (Some(only), _) => format!("only {}", only.version_text()),
        (None, _) => "no version of it".to_owned(),
    }
}

fn check_two_mechanisms(
    bundle: Bundle<'_>,
    name: &str,
    required: Option<Package<'_>>,
    place: Place,
    findings: &mut Findings,
) {
    let Some(required) = required else { return };
    let both = bundle
        .required_apis()
        .find(|api| api.providers().any(|provider| provider.package().id() == required.id()));
    if let Some(api) = both {
        let message =
            format!("{} requires both package {name:?} and its API {}", bundle.name(), api.name());
        findings.push(
            Diagnostic::new(Rule::TwoMechanisms, message)
                .at(place)
                .why("the two are met independently: another package may provide the API")
                .help("keep one of them, or join them in an olm.constraint with `all`"),
        );
    }
}

fn check_apis(bundle: Bundle<'_>, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, api) in bundle.required_apis().enumerate() {
        if !seen.insert(api.name()) {
            continue;
        }
        let place = property_place(bundle, "olm.gvk.required", index);
        let packages = providing_packages(api);
        match packages.len() {
            0 => {
                let message = format!(
                    "{} requires API {}, which nothing in this catalog provides",
                    bundle.name(),
                    api.name()
                );
                findings.push(unmet(message, place));
            }
            1 => {}
            count => {
                let named: Vec<&str> = packages.iter().copied().take(NAMED_PACKAGES).collect();
                let rest = if count > NAMED_PACKAGES { " …" } else { "" };
                let message = format!(
                    "{} requires API {}, which {count} packages provide: {}{rest}",
                    bundle.name(),
                    api.name(),
                    named.join(", ")
                );
                findings.push(
                    Diagnostic::new(Rule::AmbiguousProvider, message)
                        .at(place)
                        .why("which one is installed depends on catalogs, channels and names")
                        .help("require the package you mean, with a minimum version"),
                );
            }
        }
    }
}

/// A `not` that stands alone selects nothing, so it forbids nothing either.
fn check_constraints(bundle: Bundle<'_>, findings: &mut Findings) {
    for (property, place) in bundle.properties().zip(bundle.property_places()) {
        let parsed = parse_property(property.kind, property.value, Dialect::Documented);
        let Ok(Some(parsed)) = parsed else { continue };
        if parsed.warnings.iter().any(|warning| warning.kind == WarningKind::NotAlone) {
            let message = format!("a constraint of {} uses `not` on its own", bundle.name());
            findings.push(
                Diagnostic::new(Rule::NotAlone, message)
                    .at(place)
                    .why("without something selected first, it is not clear what is negated")
                    .help("put it into an `all` beside what you do need"),
            );
        }
    }
}

fn providing_packages(api: Api<'_>) -> Vec<&str> {
    let names: BTreeSet<&str> = api.providers().map(|provider| provider.package().name()).collect();
    names.into_iter().collect()
}

fn unmet(message: String, place: Place) -> Diagnostic {
    Diagnostic::new(Rule::RequirementUnsatisfiable, message)
        .at(place)
        .why("it can be installed only beside another catalog that meets the requirement")
}

fn advise_on_range(range: &str, subject: &str, place: Place, findings: &mut Findings) {
    if VersionRange::parse(range).is_err() {
        return;
    }
    let shown = excerpt(range);
    for trap in few_traps(range, |trap| trap.kind.is_advice()) {
        let message = format!("{subject}, {shown:?}: {}", trap.message());
        findings.push(
            Diagnostic::new(Rule::RangeAdvice, message).at(place).help(excerpt(&trap.help())),
        );
    }
}
