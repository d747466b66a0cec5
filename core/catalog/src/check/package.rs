//! Rules about a package as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::{BundleDraft, PackageDraft};
use crate::{Diagnostic, Findings, Rule};

/// Checks a package.
pub(super) fn check(package: &PackageDraft<'_>, findings: &mut Findings) {
    check_default_channel(package, findings);
    if package.channels.is_empty() {
        let name = &package.declaration.name;
        findings.push(
            Diagnostic::new(
                Rule::PackageWithoutChannels,
                format!("package {:?} has no channel", name.value),
            )
            .at(name.place)
            .help("add an olm.channel document with at least one entry"),
        );
    }
    check_membership(package, findings);
    check_versions(package, findings);
}

fn check_default_channel(package: &PackageDraft<'_>, findings: &mut Findings) {
    let declaration = package.declaration;
    let (name, default) = (&declaration.name, &declaration.default_channel);
    let offers = || match package.channels.keys().next() {
        None => "add that channel".to_owned(),
        Some(_) => {
            let names: Vec<String> =
                package.channels.keys().map(|name| format!("{name:?}")).collect();
            format!("the channels of this package are {}", names.join(", "))
        }
    };
    if default.value.is_empty() {
        findings.push(
            Diagnostic::new(
                Rule::DefaultChannelUnset,
                format!("package {:?} has no default channel", name.value),
            )
            .at(default.place)
            .help(format!("set `defaultChannel`: {}", offers())),
        );
    } else if !package.channels.contains_key(default.value.as_str()) {
        let message = format!(
            "the default channel {:?} of package {:?} does not exist",
            default.value, name.value
        );
        findings.push(
            Diagnostic::new(Rule::DefaultChannelMissing, message)
                .at(default.place)
                .why("a Subscription that names no channel follows the default channel")
                .help(offers()),
        );
    }
}

fn check_membership(package: &PackageDraft<'_>, findings: &mut Findings) {
    let entry_names: BTreeSet<&str> = package
        .channels
        .values()
        .flat_map(|channel| channel.entries.iter().map(|entry| entry.name.as_str()))
        .collect();
    let package_name = &package.declaration.name.value;
    for (name, bundle) in &package.bundles {
        if !entry_names.contains(name) {
            let message = format!("bundle {name:?} is in no channel of package {package_name:?}");
            findings.push(
                Diagnostic::new(Rule::BundleInNoChannel, message)
                    .at(bundle.declaration.name.place)
                    .why("nobody can install it")
                    .help("add it as an entry to a channel, or remove it"),
            );
        }
    }
}

/// Upstream: two versions are the same when they print the same, release included.
fn check_versions(package: &PackageDraft<'_>, findings: &mut Findings) {
    let mut by_version: BTreeMap<String, Vec<(&str, &BundleDraft<'_>)>> = BTreeMap::new();
    for (name, bundle) in &package.bundles {
        let Some(version) = &bundle.version else {
            continue;
        };
        let release = bundle
            .declaration
            .package_properties
            .first()
            .map_or("", |property| property.value.release.as_str());
        let key =
            if release.is_empty() { version.to_string() } else { format!("{version}-{release}") };
        by_version.entry(key).or_default().push((name, bundle));
    }
    for (version, bundles) in by_version {
        let [(first_name, first), others @ ..] = bundles.as_slice() else {
            continue;
        };
        for (name, bundle) in others {
            let message =
                format!("bundles {first_name:?} and {name:?} both have version {version}");
            findings.push(
                Diagnostic::new(Rule::DuplicateVersion, message)
                    .at(bundle.declaration.name.place)
                    .related(first.declaration.name.place, "the other one")
                    .why("their order in an update is undefined")
                    .help("give one of them another version, or a release"),
            );
        }
    }
}
