//! What a request names in vain, and what may have been meant.

use operon_catalog::{Bundle, Channel, Package, nearest};

use crate::conflict::Missing;
use crate::universe::{Content, Request, SourceName, Universe};

/// Says what a request names in vain, and what may have been meant.
pub(super) fn tell(
    universe: &Universe<'_>,
    requests: &[Request],
    request: &str,
    missing: &Missing,
) -> String {
    let own = requests
        .iter()
        .find(|asked| asked.name == request)
        .and_then(|asked| universe.catalog(asked.source.as_ref()?));
    let package_named = |name: &str| own.and_then(|catalog| catalog.package(name));
    match missing {
        Missing::Catalog { source } => format!(
            "Subscription {request} names the catalog {source}, which is not visible here or is \
             empty.{}",
            near_catalog(universe, source)
        ),
        Missing::Unavailable { source, reason } => format!(
            "Subscription {request} names the catalog {source}, which cannot be read: {reason}."
        ),
        Missing::Package { package } => {
            let names = own.into_iter().flat_map(|catalog| catalog.packages().map(Package::name));
            let hint = match elsewhere(universe, package) {
                Some(source) => format!(" The catalog {source} has it."),
                None => meant(nearest(package, names)),
            };
            format!(
                "Subscription {request} asks for package {package}, which its catalog does not \
                 have.{hint}"
            )
        }
        Missing::Channel { package, channel } => {
            let channels = package_named(package).into_iter().flat_map(Package::channels);
            let names: Vec<&str> = channels.map(Channel::name).collect();
            format!(
                "Subscription {request} asks for channel {channel} of package {package}, which has \
                 only: {}.",
                names.join(", ")
            )
        }
        Missing::Start { package, channel, starting_csv } => {
            let bundles = package_named(package).into_iter().flat_map(Package::bundles);
            let place = if channel.is_empty() {
                format!("package {package}")
            } else {
                format!("channel {channel} of package {package}")
            };
            format!(
                "Subscription {request} wants to start with {starting_csv}, which is not in \
                 {place}.{}",
                meant(nearest(starting_csv, bundles.map(Bundle::name)))
            )
        }
        Missing::Allowed { package, because } => format!(
            "Subscription {request} may not have any version of {package} that is offered: {because}."
        ),
    }
}

fn meant(name: Option<&str>) -> String {
    name.map(|name| format!(" Did you mean {name}?")).unwrap_or_default()
}

fn near_catalog(universe: &Universe<'_>, wanted: &SourceName) -> String {
    let names: Vec<String> =
        universe.sources.iter().map(|source| source.name.to_string()).collect();
    meant(nearest(&wanted.to_string(), names.iter().map(String::as_str)))
}

/// Returns a visible catalog that has the package.
fn elsewhere<'u>(universe: &'u Universe<'_>, package: &str) -> Option<&'u SourceName> {
    let has_it = |content: &Content<'_>| match content {
        Content::Ready(catalog) => catalog.package(package).is_some(),
        Content::Unavailable(_) => false,
    };
    universe.sources.iter().find(|source| has_it(&source.content)).map(|source| &source.name)
}
