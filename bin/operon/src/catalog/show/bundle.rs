//! The page of a bundle.

use operon_catalog::{Api, Bundle, Entry, Property};
use operon_draw::Role;
use operon_image::OpenedCatalog;

use super::{
    PageOptions,
    answer::{Answer, answers, write_answers},
    channel::role_name,
    manifest::Manifest,
    package::{api_value, keywords, requirer_value, write_requirers},
    page::Page,
    relation::{Group, Requirer, grouped, requirers},
};
use crate::{
    catalog::{
        cells::{listed, shorten},
        graph::standing::standings,
    },
    output::{Json, clean},
};

/// How many other packages that provide an API are listed, unless all are asked for.
const LISTED_PACKAGES: usize = 3;

/// How many names of a list of skips are shown, unless all are asked for.
const LISTED_SKIPS: usize = 10;

/// How many columns of a property's value are shown, unless all is asked for.
const VALUE_COLUMNS: usize = 200;

/// Everything about one bundle.
pub(super) struct BundleView<'a> {
    bundle: Bundle<'a>,
    file: &'a str,
    manifest: Manifest,
    channels: Vec<Membership<'a>>,
    provided: Vec<(Api<'a>, Vec<Group<'a>>)>,
    required: Vec<Answer<'a>>,
    requirers: Vec<Requirer<'a>>,
}

/// The bundle in one channel.
struct Membership<'a> {
    entry: Entry<'a>,
    role: Role,
    /// How many heads the channel has; more than one is a defect.
    heads: usize,
    /// The place in the order, from 1, and how long the order is.
    place: Option<(usize, usize)>,
    skipped_by: Vec<&'a str>,
}

impl<'a> BundleView<'a> {
    pub(super) fn gather(opened: &'a OpenedCatalog, bundle: Bundle<'a>) -> Self {
        let catalog = opened.catalog();
        let other = |provider: &Bundle<'a>| provider.package().id() != bundle.package().id();
        let mut apis: Vec<Api<'a>> = bundle.provided_apis().collect();
        apis.sort_by_key(|api| (api.group(), api.kind(), api.version()));
        apis.dedup_by_key(|api| (api.group(), api.kind(), api.version()));
        Self {
            bundle,
            file: catalog.file_path(bundle.place().file),
            manifest: Manifest::read(opened, bundle),
            channels: bundle.entries().map(Membership::of).collect(),
            provided: apis
                .into_iter()
                .map(|api| (api, grouped(api.providers().filter(other))))
                .collect(),
            required: answers(catalog, bundle),
            requirers: requirers(catalog, bundle.package(), &[bundle]),
        }
    }

    pub(super) fn page(&self, options: PageOptions) -> String {
        let mut page = Page::new(options.columns);
        let bundle = self.bundle;
        let manifest = &self.manifest;
        page.fields(&[
            ("Bundle", bundle.name().to_owned()),
            ("Package", bundle.package().name().to_owned()),
            (
                "Version",
                if bundle.version_text().is_empty() { "none" } else { bundle.version_text() }
                    .to_owned(),
            ),
            ("Release", bundle.release().unwrap_or_default().to_owned()),
            ("Deprecated", bundle.deprecation().unwrap_or_default().to_owned()),
            ("Image", bundle.image().unwrap_or_default().to_owned()),
            ("Display name", bundle.display_name().to_owned()),
            ("Provider", bundle.provider().to_owned()),
            ("Summary", bundle.blurb().to_owned()),
            ("Maturity", manifest.maturity.clone()),
            ("Capabilities", manifest.capabilities.clone()),
            ("Created", manifest.created.clone()),
            (
                "Kubernetes",
                Some(&manifest.minimum_kubernetes)
                    .filter(|text| !text.is_empty())
                    .map_or_else(String::new, |text| format!(">={text}")),
            ),
            ("Install modes", manifest.install_modes.join(", ")),
            ("Maintainers", manifest.maintainers.join(", ")),
            (
                "Manifests inlined",
                Some(bundle.object_count())
                    .filter(|&count| count > 0)
                    .map_or_else(String::new, |count| count.to_string()),
            ),
            ("File", self.file.to_owned()),
        ]);
        self.list_channels(&mut page, options);
        self.list_apis(&mut page, options);
        write_answers(&mut page, &self.required, options);
        write_requirers(&mut page, &self.requirers);
        self.list_properties(&mut page, options);
        if bundle.related_images().len() > 0 {
            page.section("Related images");
            let row = |(name, image): (&str, &str)| vec![name.to_owned(), image.to_owned()];
            page.table(&["NAME", "IMAGE"], bundle.related_images().map(row));
        }
        if !manifest.links.is_empty() {
            page.section("Links");
            manifest.link_lines().for_each(|link| page.item(0, &link));
        }
        page.finish()
    }

    fn list_channels(&self, page: &mut Page, options: PageOptions) {
        page.section("Channels");
        if self.channels.is_empty() {
            page.item(0, "none, so it can never be installed");
        }
        for membership in &self.channels {
            let channel = membership.entry.channel();
            let default = if channel.is_default() { " (default)" } else { "" };
            page.item(0, &format!("{}{default}: {}", channel.name(), membership.sentence()));
            let skips: Vec<&str> = membership.entry.skips().collect();
            page.inner_fields(
                2,
                &[
                    ("Replaces", membership.entry.replaces().unwrap_or_default().to_owned()),
                    ("Skips", cut(&skips, LISTED_SKIPS, options)),
                    ("Skip range", membership.entry.skip_range().unwrap_or_default().to_owned()),
                ],
            );
        }
    }

    fn list_apis(&self, page: &mut Page, options: PageOptions) {
        if self.provided.is_empty() {
            return;
        }
        page.section("Provides");
        let row = |(api, groups): &(Api<'a>, Vec<Group<'a>>)| {
            let others: Vec<&str> = groups.iter().map(|group| group.package.name()).collect();
            vec![
                api.kind().to_owned(),
                api.version().to_owned(),
                api.group().to_owned(),
                cut(&others, LISTED_PACKAGES, options),
            ]
        };
        let header = ["KIND", "VERSION", "GROUP", "ALSO PROVIDED BY"];
        page.table(&header, self.provided.iter().map(row));
    }

    /// Properties that no other section says in words.
    fn list_properties(&self, page: &mut Page, options: PageOptions) {
        let is_said = |property: &Property<'_>| {
            matches!(
                property.kind,
                "olm.package"
                    | "olm.gvk"
                    | "olm.gvk.required"
                    | "olm.package.required"
                    | "olm.label.required"
                    | "olm.constraint"
            )
        };
        let others: Vec<Property<'a>> =
            self.bundle.properties().filter(|property| !is_said(property)).collect();
        if others.is_empty() {
            return;
        }
        page.section("Other properties");
        for property in others {
            let line = clean(&format!("{}: {}", property.kind, property.value));
            page.verbatim(&if options.full { line } else { shorten(&line, VALUE_COLUMNS) });
        }
    }

    pub(super) fn value(&self) -> Json {
        let bundle = self.bundle;
        let provided = |(api, groups): &(Api<'a>, Vec<Group<'a>>)| {
            let Json::Object(mut members) = api_value(*api) else {
                return Json::Null;
            };
            members.push(("alsoProvidedBy", Json::list(groups.iter().map(Group::value))));
            Json::Object(members)
        };
        let property = |property: Property<'_>| {
            Json::Object(vec![
                ("type", Json::text(property.kind)),
                ("value", Json::Raw(property.value.to_owned())),
            ])
        };
        let image = |(name, image): (&str, &str)| {
            Json::Object(vec![("name", Json::text(name)), ("image", Json::text(image))])
        };
        Json::Object(vec![
            ("name", Json::text(bundle.name())),
            ("package", Json::text(bundle.package().name())),
            ("version", Json::text(bundle.version_text())),
            ("release", Json::optional(bundle.release())),
            ("deprecation", Json::optional(bundle.deprecation())),
            ("image", Json::optional(bundle.image())),
            ("displayName", Json::text(bundle.display_name())),
            ("provider", Json::text(bundle.provider())),
            ("summary", Json::text(bundle.blurb())),
            ("keywords", keywords(Some(bundle))),
            ("file", Json::text(self.file)),
            ("manifest", self.manifest.value()),
            ("channels", Json::list(self.channels.iter().map(Membership::value))),
            ("providedApis", Json::list(self.provided.iter().map(provided))),
            ("requires", Json::list(self.required.iter().map(Answer::value))),
            ("requiredBy", Json::list(self.requirers.iter().map(requirer_value))),
            ("properties", Json::list(bundle.properties().map(property))),
            ("objectCount", Json::number(bundle.object_count())),
            ("relatedImages", Json::list(bundle.related_images().map(image))),
        ])
    }
}

impl<'a> Membership<'a> {
    fn of(entry: Entry<'a>) -> Self {
        let channel = entry.channel();
        let standings = standings(channel).standings;
        let is_own = |name: &str| name == entry.name();
        let role = standings
            .iter()
            .find(|standing| is_own(standing.name))
            .map_or(Role::Stranded, |standing| standing.role);
        let in_order = || {
            standings.iter().filter(|standing| matches!(standing.role, Role::Head | Role::Chain))
        };
        let skips_it = |other: &Entry<'a>| other.skips().any(is_own);
        Self {
            entry,
            role,
            heads: standings.iter().filter(|standing| standing.role == Role::Head).count(),
            place: in_order()
                .position(|standing| is_own(standing.name))
                .map(|place| (place + 1, in_order().count())),
            skipped_by: channel.entries().filter(skips_it).map(Entry::name).collect(),
        }
    }

    fn sentence(&self) -> String {
        let deprecation = self.entry.channel().deprecation();
        let deprecated = deprecation
            .map(|message| format!("; channel deprecated: {message}"))
            .unwrap_or_default();
        let sentence = match (self.role, self.place) {
            (Role::Head, _) if self.heads > 1 => format!("one of {} heads", self.heads),
            (Role::Head, _) => "head".to_owned(),
            (Role::Chain, Some((place, count))) if self.heads == 1 => {
                format!("number {place} of {count} from the head")
            }
            (Role::Chain, _) => "in a channel without order".to_owned(),
            (Role::Skipped, _) => {
                format!("skipped by {}", listed(self.skipped_by.iter().copied(), 2))
            }
            (Role::Virtual | Role::Stranded, _) => "stranded, without a way to the head".to_owned(),
        };
        sentence + &deprecated
    }

    fn value(&self) -> Json {
        let channel = self.entry.channel();
        Json::Object(vec![
            ("name", Json::text(channel.name())),
            ("isDefault", Json::Bool(channel.is_default())),
            ("deprecation", Json::optional(channel.deprecation())),
            ("role", Json::text(role_name(self.role))),
            ("place", self.place.map_or(Json::Null, |(place, _)| Json::number(place))),
            ("replaces", Json::optional(self.entry.replaces())),
            ("skips", Json::texts(self.entry.skips())),
            ("skipRange", Json::optional(self.entry.skip_range())),
            ("skippedBy", Json::texts(self.skipped_by.iter().copied())),
        ])
    }
}

fn cut(names: &[&str], count: usize, options: PageOptions) -> String {
    let more = names.len().saturating_sub(count);
    if options.full || more == 0 {
        return names.join(", ");
    }
    format!("{} and {more} more", names[..count].join(", "))
}
