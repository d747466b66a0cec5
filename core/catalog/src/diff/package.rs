//! What changed in a package that both catalogs have.

use super::{BundleDiff, Change, ChannelDiff, Users, users};
use crate::{Bundle, Channel, Package, graph::Rules};

/// The differences of a package.
#[derive(Debug)]
pub struct PackageDiff<'a> {
    /// The package's name.
    pub name: &'a str,
    /// The channel that a Subscription without a channel follows.
    pub default_channel: Option<Change<&'a str>>,
    /// What the package says it is.
    pub description: Option<Change<&'a str>>,
    /// Whether the package has an icon.
    pub icon: Option<Change<bool>>,
    /// Why the package should no longer be used.
    pub deprecation: Option<Change<Option<&'a str>>>,
    /// Channels that only the second catalog has.
    pub channels_added: Vec<Channel<'a>>,
    /// Channels that only the first catalog has.
    pub channels_removed: Vec<Channel<'a>>,
    /// Channels that both have, with different content.
    pub channels_changed: Vec<ChannelDiff<'a>>,
    /// Bundles that only the second catalog has.
    pub bundles_added: Vec<Bundle<'a>>,
    /// Bundles that only the first catalog has.
    pub bundles_removed: Vec<Bundle<'a>>,
    /// Bundles that both have, with different content.
    pub bundles_changed: Vec<BundleDiff<'a>>,
    /// What changes for someone who runs a version, for each channel that both catalogs have.
    pub users: Vec<Users<'a>>,
}

impl<'a> PackageDiff<'a> {
    pub(super) fn between(before: Package<'a>, after: Package<'a>, rules: Rules) -> Self {
        let mut diff = Self {
            name: before.name(),
            default_channel: Change::between(
                before.default_channel_name(),
                after.default_channel_name(),
            ),
            description: Change::between(before.description(), after.description()),
            icon: Change::between(before.has_icon(), after.has_icon()),
            deprecation: Change::between(before.deprecation(), after.deprecation()),
            channels_added: missing_channels(after, before),
            channels_removed: missing_channels(before, after),
            channels_changed: Vec::new(),
            bundles_added: missing_bundles(after, before),
            bundles_removed: missing_bundles(before, after),
            bundles_changed: Vec::new(),
            users: Vec::new(),
        };
        for channel in before.channels() {
            let other = after.channel(channel.name());
            diff.channels_changed
                .extend(other.and_then(|other| ChannelDiff::between(channel, other)));
        }
        for bundle in before.bundles() {
            let other = after.bundle(bundle.name());
            diff.bundles_changed.extend(other.and_then(|other| BundleDiff::between(bundle, other)));
        }
        // Where nothing differs nothing changes for anyone, so the search for it is spared.
        if !diff.is_empty() {
            for channel in before.channels() {
                let other = after.channel(channel.name());
                diff.users.extend(other.and_then(|other| users::compare(channel, other, rules)));
            }
        }
        diff
    }

    pub(super) fn is_empty(&self) -> bool {
        self.default_channel.is_none()
            && self.description.is_none()
            && self.icon.is_none()
            && self.deprecation.is_none()
            && self.channels_added.is_empty()
            && self.channels_removed.is_empty()
            && self.channels_changed.is_empty()
            && self.bundles_added.is_empty()
            && self.bundles_removed.is_empty()
            && self.bundles_changed.is_empty()
    }
}

fn missing_channels<'a>(from: Package<'a>, other: Package<'_>) -> Vec<Channel<'a>> {
    from.channels().filter(|channel| other.channel(channel.name()).is_none()).collect()
}

fn missing_bundles<'a>(from: Package<'a>, other: Package<'_>) -> Vec<Bundle<'a>> {
    let mut bundles = from.bundles_by_version();
    bundles.reverse();
    bundles.retain(|bundle| other.bundle(bundle.name()).is_none());
    bundles
}
