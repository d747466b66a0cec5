//! What an answer means for Subscriptions and bundles: upstream's bundle lookups and Subscription
//! changes.

use crate::resolution::{Addition, Answer};
use crate::universe::{Request, SourceName, Universe};

/// What is to be unpacked, created and changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Steps {
    /// Bundles whose images are unpacked, sorted by identifier.
    pub bundle_lookups: Vec<BundleLookup>,
    /// Bundles whose manifests are in the catalog.
    pub inline: Vec<Addition>,
    /// Subscriptions that are created for dependencies, sorted by name.
    pub new_subscriptions: Vec<NewSubscription>,
    /// Subscriptions that move to another bundle, sorted by name.
    pub updated_subscriptions: Vec<UpdatedSubscription>,
}

/// A bundle whose image is unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleLookup {
    /// The bundle's name.
    pub identifier: String,
    /// Its image.
    pub path: String,
    /// What it replaces; may be empty.
    pub replaces: String,
    /// The catalog it comes from.
    pub source: SourceName,
    /// Its properties as they are later noted on the ClusterServiceVersion: types and JSON texts.
    pub properties: Vec<(String, String)>,
}

/// A Subscription that is created for a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSubscription {
    /// Its name.
    pub name: String,
    /// The package.
    pub package: String,
    /// The channel.
    pub channel: String,
    /// The catalog.
    pub source: SourceName,
    /// The bundle it starts with.
    pub starting_csv: String,
}

/// A Subscription that moves to another bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatedSubscription {
    /// Its name.
    pub request: String,
    /// The bundle it moves to.
    pub current_csv: String,
}

/// Works out what an answer means for Subscriptions and bundles.
pub fn steps(universe: &Universe<'_>, requests: &[Request], answer: &Answer) -> Steps {
    let mut steps = Steps::default();
    for addition in &answer.additions {
        let matching: Vec<&Request> =
            requests.iter().filter(|request| asks_for(request, addition)).collect();
        let exists = universe.installed.iter().any(|operator| operator.name == addition.name);
        let is_current = |request: &&Request| request.current_csv == addition.name && exists;
        if !matching.is_empty() && matching.iter().all(is_current) {
            continue;
        }
        if addition.image.is_empty() {
            steps.inline.push(addition.clone());
        } else {
            steps.bundle_lookups.push(lookup(universe, addition));
        }
        if matching.is_empty() {
            steps.new_subscriptions.push(new_subscription(addition));
        }
        let moved = matching.iter().filter(|request| request.current_csv != addition.name);
        steps.updated_subscriptions.extend(moved.map(|request| UpdatedSubscription {
            request: request.name.clone(),
            current_csv: addition.name.clone(),
        }));
    }
    steps.bundle_lookups.sort_by(|left, right| left.identifier.cmp(&right.identifier));
    steps.new_subscriptions.sort_by(|left, right| left.name.cmp(&right.name));
    steps.updated_subscriptions.sort_by(|left, right| left.request.cmp(&right.request));
    steps
}

fn asks_for(request: &Request, addition: &Addition) -> bool {
    let is_updated = !addition.updates.is_empty() && request.installed_csv == addition.updates;
    if is_updated && request.package == addition.package {
        // The update may come from another catalog than the request names.
        return true;
    }
    request.package == addition.package
        && (request.channel.is_empty() || request.channel == addition.channel)
        && request.source.as_ref().is_none_or(|source| *source == addition.source)
}

fn new_subscription(addition: &Addition) -> NewSubscription {
    let Addition { package, channel, source, .. } = addition;
    NewSubscription {
        name: format!("{package}-{channel}-{}-{}", source.name, source.namespace),
        package: package.clone(),
        channel: channel.clone(),
        source: source.clone(),
        starting_csv: addition.name.clone(),
    }
}

impl Universe<'_> {
    /// Returns the properties of an addition's bundle as they are noted on its
    /// ClusterServiceVersion: types and JSON texts.
    pub fn noted_properties(&self, addition: &Addition) -> Vec<(String, String)> {
        let bundle = self
            .catalog(&addition.source)
            .and_then(|catalog| catalog.entry_by_id(addition.entry).bundle());
        bundle.map(|bundle| noted_properties(&bundle)).unwrap_or_default()
    }
}

fn lookup(universe: &Universe<'_>, addition: &Addition) -> BundleLookup {
    let properties = universe.noted_properties(addition);
    BundleLookup {
        identifier: addition.name.clone(),
        path: addition.image.clone(),
        replaces: addition.replaces.clone(),
        source: addition.source.clone(),
        properties,
    }
}

/// Upstream: requirements of the two older types travel twice, as properties and as dependencies,
/// and other versions of it read both from the ClusterServiceVersion.
fn noted_properties(bundle: &operon_catalog::Bundle<'_>) -> Vec<(String, String)> {
    let owned = |property: operon_catalog::Property<'_>| {
        (property.kind.to_owned(), property.value.to_owned())
    };
    let doubled = ["olm.gvk.required", "olm.package.required"];
    let again = bundle.properties().filter(|property| doubled.contains(&property.kind));
    bundle.properties().chain(again).map(owned).collect()
}
