//! The target of a question: `PACKAGE`, `PACKAGE/CHANNEL` or `PACKAGE@BUNDLE`.
//!
//! A version names a bundle within its package only; across packages, versions mean nothing.

use operon_catalog::{Bundle, Catalog, Channel, Package};

use crate::catalog::find::{find_bundle, find_channel, find_package};

/// What is to be shown.
#[derive(Debug)]
pub(super) enum Target<'a> {
    /// `etcd`
    Package(Package<'a>),
    /// `etcd/alpha`
    Channel(Channel<'a>),
    /// `etcd@0.9.2`, `etcd@etcdoperator.v0.9.2`, or `etcdoperator.v0.9.2` alone
    Bundle(Bundle<'a>),
}

/// Finds what the text names.
pub(super) fn find_target<'a>(catalog: &'a Catalog, text: &str) -> anyhow::Result<Target<'a>> {
    if let Some(separator) = text.find(['/', '@']) {
        let (package, rest) = (find_package(catalog, &text[..separator])?, &text[separator + 1..]);
        return if text[separator..].starts_with('/') {
            Ok(Target::Channel(find_channel(package, rest)?))
        } else {
            Ok(Target::Bundle(find_bundle(package, rest)?))
        };
    }
    let missing = match find_package(catalog, text) {
        Ok(package) => return Ok(Target::Package(package)),
        Err(missing) => missing,
    };
    let bundles = bundles_named(catalog, text);
    match bundles.as_slice() {
        [] => Err(missing),
        [bundle] => Ok(Target::Bundle(*bundle)),
        [first, ..] => Err(anyhow::anyhow!(
            "bundle `{text}` is in {} packages\nhint: say which one: `{}@{text}`",
            bundles.len(),
            first.package().name()
        )),
    }
}

/// The name is borrowed for the look-up only, not for as long as the catalog.
fn bundles_named<'a>(catalog: &'a Catalog, name: &str) -> Vec<Bundle<'a>> {
    let ids: Vec<_> = catalog.bundles_named(name).map(Bundle::id).collect();
    ids.into_iter().map(|id| catalog.bundle_by_id(id)).collect()
}
