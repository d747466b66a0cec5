//! Stage one: documents find their package, duplicates and strays are set aside.

use std::collections::BTreeMap;

use operon_version::Version;

use super::{BundleDraft, ChannelDraft, Draft, PackageDraft, names};
use crate::{
    BundleDeclaration, ChannelDeclaration, Declarations, Diagnostic, EntryDeclaration, Findings,
    PackageDeclaration, Place, Rule,
};

/// Puts the declarations together by package.
pub(super) fn assemble<'d>(declarations: &'d Declarations, findings: &mut Findings) -> Draft<'d> {
    let mut draft = Draft::default();
    for package in &declarations.packages {
        add_package(&mut draft, package, findings);
    }
    for channel in &declarations.channels {
        add_channel(&mut draft, channel, findings);
    }
    for bundle in &declarations.bundles {
        add_bundle(&mut draft, bundle, findings);
    }
    draft
}

fn add_package<'d>(
    draft: &mut Draft<'d>,
    package: &'d PackageDeclaration,
    findings: &mut Findings,
) {
    let name = package.name.value.as_str();
    if name.is_empty() {
        findings.push(
            Diagnostic::new(Rule::PackageWithoutName, "a package has no name")
                .at(package.place)
                .help("give the olm.package document a `name`"),
        );
        return;
    }
    if let Some(first) = draft.packages.get(name) {
        let message = format!("package {name:?} is declared twice");
        findings.push(
            duplicate(
                Rule::DuplicatePackage,
                message,
                package.name.place,
                first.declaration.name.place,
            )
            .help("keep one olm.package document for each package"),
        );
        return;
    }
    if let Some(defect) = names::label_defect(name) {
        findings.push(
            Diagnostic::new(
                Rule::PackageNameInvalid,
                format!("{name:?} is not a package name: {defect}"),
            )
            .at(package.name.place)
            .why("package names become parts of Kubernetes names, so they must be DNS labels"),
        );
    }
    draft.packages.insert(
        name,
        PackageDraft {
            declaration: package,
            channels: BTreeMap::new(),
            bundles: BTreeMap::new(),
            deprecation: None,
        },
    );
}

fn add_channel<'d>(
    draft: &mut Draft<'d>,
    channel: &'d ChannelDeclaration,
    findings: &mut Findings,
) {
    let (name, package_name) = (channel.name.value.as_str(), channel.package.as_str());
    let Some(package) = draft.packages.get_mut(package_name) else {
        let message =
            format!("channel {name:?} belongs to package {package_name:?}, which does not exist");
        findings.push(
            Diagnostic::new(Rule::ChannelUnknownPackage, message)
                .at(channel.name.place)
                .help("add an olm.package document, or correct the channel's `package`"),
        );
        return;
    };
    if name.is_empty() {
        findings.push(
            Diagnostic::new(
                Rule::ChannelWithoutName,
                format!("a channel of package {package_name:?} has no name"),
            )
            .at(channel.place)
            .help("give the olm.channel document a `name`"),
        );
        return;
    }
    if let Some(first) = package.channels.get(name) {
        let message = format!("channel {name:?} of package {package_name:?} is declared twice");
        findings.push(
            duplicate(
                Rule::DuplicateChannel,
                message,
                channel.name.place,
                first.declaration.name.place,
            )
            .help("merge the entries into one olm.channel document"),
        );
        return;
    }
    let entries = distinct_entries(channel, findings);
    package.channels.insert(
        name,
        ChannelDraft {
            declaration: channel,
            entries,
            deprecation: None,
            head: None,
            order: Vec::new(),
        },
    );
}

fn distinct_entries<'d>(
    channel: &'d ChannelDeclaration,
    findings: &mut Findings,
) -> Vec<&'d EntryDeclaration> {
    let mut first_places: BTreeMap<&str, Place> = BTreeMap::new();
    let mut entries = Vec::with_capacity(channel.entries.len());
    for entry in &channel.entries {
        if let Some(&first) = first_places.get(entry.name.as_str()) {
            let message = format!(
                "entry {:?} occurs twice in channel {:?} of package {:?}",
                entry.name, channel.name.value, channel.package
            );
            findings.push(
                duplicate(Rule::DuplicateEntry, message, entry.place, first)
                    .help("merge the two entries: one replaces, all skips"),
            );
            continue;
        }
        first_places.insert(&entry.name, entry.place);
        entries.push(entry);
    }
    entries
}

fn add_bundle<'d>(draft: &mut Draft<'d>, bundle: &'d BundleDeclaration, findings: &mut Findings) {
    let (name, package_name) = (bundle.name.value.as_str(), bundle.package.as_str());
    if package_name.is_empty() {
        findings.push(
            Diagnostic::new(
                Rule::BundleWithoutPackage,
                format!("bundle {name:?} does not say which package it belongs to"),
            )
            .at(bundle.name.place)
            .help("give the olm.bundle document a `package`"),
        );
        return;
    }
    let Some(package) = draft.packages.get_mut(package_name) else {
        let message =
            format!("bundle {name:?} belongs to package {package_name:?}, which does not exist");
        findings.push(
            Diagnostic::new(Rule::BundleUnknownPackage, message)
                .at(bundle.name.place)
                .help("add an olm.package document, or correct the bundle's `package`"),
        );
        return;
    };
    if let Some(first) = package.bundles.get(name) {
        let message = format!("bundle {name:?} of package {package_name:?} is declared twice");
        findings.push(
            duplicate(
                Rule::DuplicateBundle,
                message,
                bundle.name.place,
                first.declaration.name.place,
            )
            .help("published bundles never change: give the second one a new version and name"),
        );
        return;
    }
    let version = bundle
        .package_properties
        .first()
        .and_then(|property| Version::parse(&property.value.version).ok());
    package.bundles.insert(name, BundleDraft { declaration: bundle, version, deprecation: None });
}

/// Starts a finding about something that is declared a second time.
fn duplicate(rule: Rule, message: String, second: Place, first: Place) -> Diagnostic {
    Diagnostic::new(rule, message)
        .at(second)
        .label("declared again here")
        .related(first, "first declared here")
}
