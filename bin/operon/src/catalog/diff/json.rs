//! A diff for programs: everything there is, in stable order.

use operon_catalog::{
    Bundle, Channel, Entry, Package,
    diff::{
        BundleDiff, CatalogDiff, Change, ChannelDiff, DiffCounts, EntryDiff, OtherName,
        PackageDiff, Stranding, UserChange, Users,
    },
    graph::Rules,
};

use crate::{catalog::path::names::rules_key, output::Json};

/// Returns the diff as a value.
pub(super) fn value(diff: &CatalogDiff<'_>, rules: Rules) -> Json {
    let counts = DiffCounts::of(diff);
    let changed = diff.changed.iter().map(|package| package_json(package, rules));
    Json::Object(vec![
        ("same", Json::Bool(diff.is_empty())),
        ("summary", Json::text(counts.to_string())),
        ("counts", counts_json(&counts)),
        ("packagesAdded", Json::list(diff.added.iter().map(|package| whole_package(*package)))),
        ("packagesRemoved", Json::list(diff.removed.iter().map(|package| whole_package(*package)))),
        ("packagesChanged", Json::list(changed)),
        ("othersAdded", others(&diff.others_added)),
        ("othersRemoved", others(&diff.others_removed)),
    ])
}

fn counts_json(counts: &DiffCounts) -> Json {
    Json::Object(vec![
        ("packagesAdded", Json::number(counts.packages_added)),
        ("packagesRemoved", Json::number(counts.packages_removed)),
        ("packagesChanged", Json::number(counts.packages_changed)),
        ("channelsAdded", Json::number(counts.channels_added)),
        ("channelsRemoved", Json::number(counts.channels_removed)),
        ("bundlesAdded", Json::number(counts.bundles_added)),
        ("bundlesRemoved", Json::number(counts.bundles_removed)),
        ("bundlesChanged", Json::number(counts.bundles_changed)),
        ("headsMoved", Json::number(counts.heads_moved)),
        ("entriesChanged", Json::number(counts.entries_changed)),
        ("versionsStranded", Json::number(counts.versions_stranded)),
        ("versionsFreed", Json::number(counts.versions_freed)),
        ("newlyDeprecated", Json::number(counts.newly_deprecated)),
        ("othersAdded", Json::number(counts.others_added)),
        ("othersRemoved", Json::number(counts.others_removed)),
    ])
}

fn others(names: &[OtherName<'_>]) -> Json {
    Json::list(names.iter().map(|(schema, package, name)| {
        Json::Object(vec![
            ("schema", Json::text(*schema)),
            ("package", Json::text(*package)),
            ("name", Json::text(*name)),
        ])
    }))
}

fn whole_package(package: Package<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(package.name())),
        ("defaultChannel", Json::text(package.default_channel_name())),
        ("channels", Json::list(package.channels().map(whole_channel))),
        ("bundles", Json::list(package.bundles().map(whole_bundle))),
    ])
}

fn whole_channel(channel: Channel<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(channel.name())),
        ("head", Json::optional(channel.head().map(|head| head.name()))),
        ("entries", Json::texts(channel.entries().map(|entry| entry.name()))),
    ])
}

fn whole_bundle(bundle: Bundle<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(bundle.name())),
        ("version", Json::text(bundle.version_text())),
        ("image", Json::optional(bundle.image())),
    ])
}

fn whole_entry(entry: &Entry<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(entry.name())),
        ("replaces", Json::optional(entry.replaces())),
        ("skips", Json::texts(entry.skips())),
        ("skipRange", Json::optional(entry.skip_range())),
    ])
}

fn change<T: Copy>(change: &Option<Change<T>>, print: impl Fn(T) -> Json) -> Json {
    change.as_ref().map_or(Json::Null, |change| {
        Json::Object(vec![("before", print(change.before)), ("after", print(change.after))])
    })
}

fn package_json(package: &PackageDiff<'_>, rules: Rules) -> Json {
    Json::Object(vec![
        ("name", Json::text(package.name)),
        ("defaultChannel", change(&package.default_channel, Json::text)),
        ("description", change(&package.description, Json::text)),
        ("icon", change(&package.icon, Json::Bool)),
        ("deprecation", change(&package.deprecation, Json::optional)),
        ("channelsAdded", Json::list(package.channels_added.iter().copied().map(whole_channel))),
        (
            "channelsRemoved",
            Json::list(package.channels_removed.iter().copied().map(whole_channel)),
        ),
        ("channelsChanged", Json::list(package.channels_changed.iter().map(channel_json))),
        ("bundlesAdded", Json::list(package.bundles_added.iter().copied().map(whole_bundle))),
        ("bundlesRemoved", Json::list(package.bundles_removed.iter().copied().map(whole_bundle))),
        ("bundlesChanged", Json::list(package.bundles_changed.iter().map(bundle_json))),
        ("users", Json::list(package.users.iter().map(|users| users_json(users, rules)))),
    ])
}

fn channel_json(channel: &ChannelDiff<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(channel.name)),
        ("head", change(&channel.head, Json::optional)),
        ("deprecation", change(&channel.deprecation, Json::optional)),
        ("entriesAdded", Json::list(channel.entries_added.iter().map(whole_entry))),
        ("entriesRemoved", Json::list(channel.entries_removed.iter().map(whole_entry))),
        ("entriesChanged", Json::list(channel.entries_changed.iter().map(entry_json))),
        ("apisGained", Json::texts(channel.apis_gained.iter().map(ToString::to_string))),
        ("apisLost", Json::texts(channel.apis_lost.iter().map(ToString::to_string))),
    ])
}

fn entry_json(entry: &EntryDiff<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(entry.name)),
        ("replaces", change(&entry.replaces, Json::optional)),
        ("skipsAdded", Json::texts(entry.skips_added.iter().copied())),
        ("skipsRemoved", Json::texts(entry.skips_removed.iter().copied())),
        ("skipRange", change(&entry.skip_range, Json::optional)),
    ])
}

fn bundle_json(bundle: &BundleDiff<'_>) -> Json {
    let texts = bundle.texts.iter().map(|(field, text)| {
        Json::Object(vec![
            ("field", Json::text(field.name())),
            ("before", Json::text(text.before)),
            ("after", Json::text(text.after)),
        ])
    });
    let properties = |properties: &[operon_catalog::Property<'_>]| {
        Json::list(properties.iter().map(|property| {
            Json::Object(vec![
                ("type", Json::text(property.kind)),
                ("value", Json::Raw(property.value.to_owned())),
            ])
        }))
    };
    let images = |images: &[(&str, &str)]| {
        Json::list(images.iter().map(|(name, image)| {
            Json::Object(vec![("name", Json::text(*name)), ("image", Json::text(*image))])
        }))
    };
    Json::Object(vec![
        ("name", Json::text(bundle.name)),
        ("texts", Json::list(texts)),
        ("propertiesAdded", properties(&bundle.properties_added)),
        ("propertiesRemoved", properties(&bundle.properties_removed)),
        ("relatedImagesAdded", images(&bundle.related_images_added)),
        ("relatedImagesRemoved", images(&bundle.related_images_removed)),
        ("objectCount", change(&bundle.object_count, Json::number)),
        ("metadataCount", change(&bundle.metadata_count, Json::number)),
        ("deprecation", change(&bundle.deprecation, Json::optional)),
    ])
}

fn users_json(users: &Users<'_>, rules: Rules) -> Json {
    Json::Object(vec![
        ("channel", Json::text(users.channel)),
        ("rules", Json::text(rules_key(rules))),
        ("complete", Json::Bool(users.complete)),
        ("changes", Json::list(users.changes.iter().map(user_json))),
    ])
}

fn user_json(user: &UserChange<'_>) -> Json {
    let bundle = user.entry.bundle();
    let stranding = user.stranding.map(|stranding| match stranding {
        Stranding::Stranded => "stranded",
        Stranding::Freed => "freed",
    });
    Json::Object(vec![
        ("name", Json::text(user.entry.name())),
        ("version", Json::optional(bundle.map(|bundle| bundle.version_text()))),
        ("next", change(&user.next, Json::optional)),
        ("end", change(&user.end, Json::text)),
        ("stranding", Json::optional(stranding)),
        ("deprecated", Json::optional(user.deprecated)),
        ("removed", Json::Bool(user.removed)),
    ])
}
