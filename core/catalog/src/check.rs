//! The rules: what is declared is assembled into packages, and everything wrong becomes a finding.
//!
//! The verdict is upstream's: a catalog has an error here exactly when upstream refuses it. A defect
//! never hides what is sound beside it: the first of two duplicates is kept, a bundle whose version
//! cannot be read is kept without one, a channel without a head is kept without an order.

mod assemble;
mod bundle;
mod channel;
mod deprecation;
mod names;
mod package;
mod practice;

use std::collections::BTreeMap;

use operon_version::Version;

use crate::{
    BundleDeclaration, ChannelDeclaration, Declarations, EntryDeclaration, Findings,
    PackageDeclaration,
};

/// The declarations of a catalog, put together by package and free of duplicates.
#[derive(Debug, Default)]
pub(crate) struct Draft<'d> {
    pub(crate) packages: BTreeMap<&'d str, PackageDraft<'d>>,
}

/// A package with its channels and bundles.
#[derive(Debug)]
pub(crate) struct PackageDraft<'d> {
    pub(crate) declaration: &'d PackageDeclaration,
    pub(crate) channels: BTreeMap<&'d str, ChannelDraft<'d>>,
    pub(crate) bundles: BTreeMap<&'d str, BundleDraft<'d>>,
    pub(crate) deprecation: Option<&'d str>,
}

/// A channel with its entries.
#[derive(Debug)]
pub(crate) struct ChannelDraft<'d> {
    pub(crate) declaration: &'d ChannelDeclaration,
    pub(crate) entries: Vec<&'d EntryDeclaration>,
    pub(crate) deprecation: Option<&'d str>,
    /// The position of the entry that a registry, or else a resolver, takes for the newest.
    pub(crate) head: Option<usize>,
    /// Positions in `entries`, head first; empty when the channel has no order.
    pub(crate) order: Vec<usize>,
}

/// A bundle with what its properties say.
#[derive(Debug)]
pub(crate) struct BundleDraft<'d> {
    pub(crate) declaration: &'d BundleDeclaration,
    pub(crate) version: Option<Version>,
    pub(crate) deprecation: Option<&'d str>,
}

/// Assembles and checks what a catalog declares.
pub(crate) fn check(declarations: &Declarations) -> (Draft<'_>, Findings) {
    let mut findings = Findings::default();
    let mut draft = assemble::assemble(declarations, &mut findings);
    deprecation::apply(&mut draft, &declarations.deprecations, &mut findings);
    for package in draft.packages.values_mut() {
        package::check(package, &mut findings);
        let PackageDraft { channels, bundles, .. } = package;
        for channel in channels.values_mut() {
            channel::check(channel, bundles, &mut findings);
        }
        for bundle in bundles.values() {
            bundle::check(bundle, &mut findings);
        }
        practice::check(package, &mut findings);
    }
    practice::check_others(&declarations.others, &mut findings);
    (draft, findings)
}
