//! Rules about deprecations, and their application.

use std::collections::{BTreeMap, BTreeSet};

use super::{Draft, PackageDraft};
use crate::{DeprecationDeclaration, DeprecationReference, Diagnostic, Findings, Place, Rule};

/// Checks the deprecations and notes them on what they are about.
pub(super) fn apply<'d>(
    draft: &mut Draft<'d>,
    deprecations: &'d [DeprecationDeclaration],
    findings: &mut Findings,
) {
    let mut first_places: BTreeMap<&str, Place> = BTreeMap::new();
    for deprecation in deprecations {
        let name = deprecation.package.as_str();
        if name.is_empty() {
            findings.push(
                Diagnostic::new(
                    Rule::DeprecationWithoutPackage,
                    "deprecations do not say which package they are about",
                )
                .at(deprecation.place)
                .help("give the olm.deprecations document a `package`"),
            );
            continue;
        }
        let Some(package) = draft.packages.get_mut(name) else {
            let message = format!("deprecations are about package {name:?}, which does not exist");
            findings.push(
                Diagnostic::new(Rule::DeprecationUnknownPackage, message).at(deprecation.place),
            );
            continue;
        };
        if let Some(&first) = first_places.get(name) {
            let message = format!("package {name:?} has two olm.deprecations documents");
            findings.push(
                Diagnostic::new(Rule::DuplicateDeprecations, message)
                    .at(deprecation.place)
                    .related(first, "the first one")
                    .help("merge their entries into one document"),
            );
            continue;
        }
        first_places.insert(name, deprecation.place);
        let mut seen = BTreeSet::new();
        for entry in &deprecation.entries {
            if !seen.insert((entry.schema.as_str(), entry.name.as_str()))
                && !entry.schema.is_empty()
            {
                let message = format!("{} is deprecated twice", subject(entry, name));
                findings.push(Diagnostic::new(Rule::DuplicateDeprecation, message).at(entry.place));
                continue;
            }
            apply_entry(package, name, entry, findings);
        }
    }
}

fn subject(entry: &DeprecationReference, package: &str) -> String {
    match entry.schema.as_str() {
        "olm.channel" => format!("channel {:?} of package {package:?}", entry.name),
        "olm.bundle" => format!("bundle {:?} of package {package:?}", entry.name),
        _ => format!("package {package:?}"),
    }
}

fn apply_entry<'d>(
    package: &mut PackageDraft<'d>,
    package_name: &str,
    entry: &'d DeprecationReference,
    findings: &mut Findings,
) {
    let name = entry.name.as_str();
    let mut report = |rule: Rule, message: String, help: &str| {
        findings.push(Diagnostic::new(rule, message).at(entry.place).help(help));
    };
    let target = match entry.schema.as_str() {
        "" => {
            let message = format!(
                "a deprecation of package {package_name:?} does not say what is deprecated"
            );
            report(
                Rule::DeprecationWithoutSchema,
                message,
                "set `reference.schema` to olm.package, olm.channel or olm.bundle",
            );
            return;
        }
        "olm.package" if !name.is_empty() => {
            let message = format!(
                "the deprecation of package {package_name:?} itself gives a name, {name:?}"
            );
            report(
                Rule::DeprecationPackageNamed,
                message,
                "remove `reference.name`: the document already says which package",
            );
            return;
        }
        "olm.package" => Some(&mut package.deprecation),
        // Upstream: a default channel that is named but absent can be deprecated all the same.
        "olm.channel"
            if !package.channels.contains_key(name)
                && name == package.declaration.default_channel.value
                && !name.is_empty() =>
        {
            return;
        }
        "olm.channel" => package.channels.get_mut(name).map(|channel| &mut channel.deprecation),
        "olm.bundle" => package.bundles.get_mut(name).map(|bundle| &mut bundle.deprecation),
        schema => {
            let message =
                format!("a deprecation is about schema {schema:?}, which cannot be deprecated");
            report(
                Rule::DeprecationUnknownSchema,
                message,
                "use olm.package, olm.channel or olm.bundle",
            );
            return;
        }
    };
    let Some(target) = target else {
        let message = format!("{} is deprecated but does not exist", subject(entry, package_name));
        report(Rule::DeprecationNotFound, message, "correct the name, or remove the entry");
        return;
    };
    if entry.message.is_empty() {
        let message = format!("the deprecation of {} has no message", subject(entry, package_name));
        report(
            Rule::DeprecationWithoutMessage,
            message,
            "say why, and what to use instead: users see this text",
        );
    }
    *target = Some(&entry.message);
}
