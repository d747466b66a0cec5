//! What a server answered, for people and for programs; names of members are those of the API.

use operon_registry::api::{Bundle, ChannelEntry, Deprecation, GroupVersionKind, Package};

use crate::output::{Json, Table};

/// An answer.
pub(super) enum Answer {
    Names(Vec<String>),
    Package(Package),
    Bundles(Vec<Bundle>),
    Bundle(Box<Bundle>),
    Entries(Vec<ChannelEntry>),
}

impl Answer {
    pub(super) fn table(&self) -> String {
        match self {
            Self::Names(names) => {
                let mut table = Table::new(&["NAME"]);
                names.iter().for_each(|name| table.row([name]));
                table.render()
            }
            Self::Package(package) => {
                let mut table =
                    Table::new(&["PACKAGE", "CHANNEL", "HEAD", "DEFAULT", "DEPRECATED"]);
                for channel in &package.channels {
                    let is_default = channel.name == package.default_channel_name;
                    let told = channel.deprecation.as_ref().or(package.deprecation.as_ref());
                    table.row([
                        package.name.as_str(),
                        &channel.name,
                        &channel.csv_name,
                        if is_default { "yes" } else { "" },
                        told.map_or("", |deprecation| &deprecation.message),
                    ]);
                }
                table.render()
            }
            Self::Bundles(bundles) => bundle_table(bundles.iter()),
            Self::Bundle(bundle) => bundle_table([&**bundle].into_iter()),
            Self::Entries(entries) => {
                let mut table = Table::new(&["PACKAGE", "CHANNEL", "BUNDLE", "REPLACES"]);
                for entry in entries {
                    table.row([
                        &entry.package_name,
                        &entry.channel_name,
                        &entry.bundle_name,
                        &entry.replaces,
                    ]);
                }
                table.render()
            }
        }
    }

    pub(super) fn json(&self) -> Json {
        match self {
            Self::Names(names) => Json::texts(names),
            Self::Package(package) => package_json(package),
            Self::Bundles(bundles) => Json::list(bundles.iter().map(bundle_json)),
            Self::Bundle(bundle) => bundle_json(bundle),
            Self::Entries(entries) => Json::list(entries.iter().map(|entry| {
                Json::Object(vec![
                    ("packageName", Json::text(&entry.package_name)),
                    ("channelName", Json::text(&entry.channel_name)),
                    ("bundleName", Json::text(&entry.bundle_name)),
                    ("replaces", Json::text(&entry.replaces)),
                ])
            })),
        }
    }
}

fn bundle_table<'b>(bundles: impl Iterator<Item = &'b Bundle>) -> String {
    let mut table =
        Table::new(&["PACKAGE", "CHANNEL", "BUNDLE", "VERSION", "REPLACES", "SKIP RANGE", "IMAGE"]);
    for bundle in bundles {
        table.row([
            &bundle.package_name,
            &bundle.channel_name,
            &bundle.csv_name,
            &bundle.version,
            &bundle.replaces,
            &bundle.skip_range,
            &bundle.bundle_path,
        ]);
    }
    table.render()
}

fn package_json(package: &Package) -> Json {
    let channels = package.channels.iter().map(|channel| {
        Json::Object(vec![
            ("name", Json::text(&channel.name)),
            ("csvName", Json::text(&channel.csv_name)),
            ("deprecation", deprecation(channel.deprecation.as_ref())),
        ])
    });
    Json::Object(vec![
        ("name", Json::text(&package.name)),
        ("channels", Json::list(channels)),
        ("defaultChannelName", Json::text(&package.default_channel_name)),
        ("deprecation", deprecation(package.deprecation.as_ref())),
    ])
}

fn bundle_json(bundle: &Bundle) -> Json {
    let pair = |kind: &String, value: &String| {
        Json::Object(vec![("type", Json::text(kind)), ("value", Json::text(value))])
    };
    let dependencies = bundle.dependencies.iter().map(|item| pair(&item.r#type, &item.value));
    let properties = bundle.properties.iter().map(|item| pair(&item.r#type, &item.value));
    Json::Object(vec![
        ("csvName", Json::text(&bundle.csv_name)),
        ("packageName", Json::text(&bundle.package_name)),
        ("channelName", Json::text(&bundle.channel_name)),
        ("csvJson", Json::text(&bundle.csv_json)),
        ("object", Json::texts(&bundle.object)),
        ("bundlePath", Json::text(&bundle.bundle_path)),
        ("providedApis", Json::list(bundle.provided_apis.iter().map(api))),
        ("requiredApis", Json::list(bundle.required_apis.iter().map(api))),
        ("version", Json::text(&bundle.version)),
        ("skipRange", Json::text(&bundle.skip_range)),
        ("dependencies", Json::list(dependencies)),
        ("properties", Json::list(properties)),
        ("replaces", Json::text(&bundle.replaces)),
        ("skips", Json::texts(&bundle.skips)),
        ("deprecation", deprecation(bundle.deprecation.as_ref())),
    ])
}

fn api(api: &GroupVersionKind) -> Json {
    Json::Object(vec![
        ("group", Json::text(&api.group)),
        ("version", Json::text(&api.version)),
        ("kind", Json::text(&api.kind)),
        ("plural", Json::text(&api.plural)),
    ])
}

fn deprecation(deprecation: Option<&Deprecation>) -> Json {
    deprecation.map_or(Json::Null, |deprecation| {
        Json::Object(vec![("message", Json::text(&deprecation.message))])
    })
}
