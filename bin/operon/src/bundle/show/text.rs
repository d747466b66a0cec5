//! A bundle as people read it.

use std::collections::{BTreeMap, BTreeSet};

use operon_bundle::{
    Api, BundleSummary, DefinitionSummary, MAX_COMPRESSED_BYTES, MAX_RIGHTS, Right, RightScope,
};

use crate::catalog::{
    cells::{listed, short_image},
    show::page::Page,
};

/// Of a long list, so many are shown; the rest is in JSON.
const MAX_LISTED: usize = 5;

/// Prints the page.
pub(super) fn render(summary: &BundleSummary, columns: usize) -> String {
    let mut page = Page::new(columns);
    page.fields(&head(summary));
    apis(&mut page, "Provided APIs", &summary.provided_apis);
    apis(&mut page, "Required APIs", &summary.required_apis);
    if !summary.dependencies.is_empty() {
        page.section("Dependencies");
        for dependency in &summary.dependencies {
            page.item(0, &format!("{} {}", dependency.property_type, dependency.value));
        }
    }
    rights(&mut page, summary);
    deployments(&mut page, summary);
    webhooks(&mut page, summary);
    definitions(&mut page, &summary.definitions);
    objects(&mut page, summary);
    page.finish()
}

fn head(summary: &BundleSummary) -> Vec<(&'static str, String)> {
    let channels = summary.channels.iter().map(|channel| {
        let is_default = *channel == summary.default_channel;
        format!("{channel}{}", if is_default { " (default)" } else { "" })
    });
    let percent = summary.size.compressed * 100 / MAX_COMPRESSED_BYTES;
    vec![
        ("Bundle", summary.name.clone()),
        ("Display name", summary.display_name.clone()),
        ("Package", summary.package.clone()),
        ("Version", summary.version.clone()),
        ("Release", summary.release.clone()),
        ("Channels", channels.collect::<Vec<_>>().join(", ")),
        ("Replaces", summary.replaces.clone()),
        ("Skip range", summary.skip_range.clone()),
        ("Needs Kubernetes", or_text(&summary.min_kube_version, "it does not say")),
        ("Install modes", or_text(&summary.install_modes.join(", "), "none")),
        (
            "Size",
            format!(
                "{} bytes, {} with gzip: {percent} % of the limit",
                summary.size.bytes, summary.size.compressed
            ),
        ),
    ]
}

fn or_text(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

fn apis(page: &mut Page, title: &str, apis: &[Api]) {
    if apis.is_empty() {
        return;
    }
    page.section(title);
    let rows =
        apis.iter().map(|api| vec![api.kind.clone(), api.group.clone(), api.version.clone()]);
    page.table(&["KIND", "GROUP", "VERSION"], rows);
}

/// Writes the rights, with the resources of a group that may be used alike in one row.
fn rights(page: &mut Page, summary: &BundleSummary) {
    if summary.rights.is_empty() {
        return;
    }
    let dangerous = summary.rights.iter().filter(|right| right.danger().is_some()).count();
    let accounts: BTreeSet<&str> = summary.rights.iter().map(|right| &*right.account).collect();
    let single = accounts.first().filter(|_| accounts.len() == 1);
    let of = single.map_or_else(String::new, |account| format!(" of {account}"));
    page.section(&match dangerous {
        0 => format!("Rights{of}"),
        number => format!("Rights{of} ({number} of {} deserve a look)", summary.rights.len()),
    });
    let mut rows: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for right in &summary.rights {
        let (scope, account) =
            (scope(right), if single.is_some() { "" } else { right.account.as_str() });
        let verbs = right.verbs.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let key =
            (right.danger().is_none(), scope, account, right.group.as_str(), verbs, right.danger());
        rows.entry((key, right.names.as_slice())).or_default().push(&right.resource);
    }
    let rows =
        rows.into_iter().map(|(((_, scope, account, group, verbs, danger), names), resources)| {
            let resources = listed(resources.into_iter(), MAX_LISTED);
            let named = match names {
                [] => resources,
                names => {
                    let names = listed(names.iter().map(String::as_str), MAX_LISTED);
                    format!("{resources} ({names})")
                }
            };
            let mark = if danger.is_some() { "!" } else { "" };
            vec![mark, scope, account, group, &named, &verbs, danger.unwrap_or_default()]
                .into_iter()
                .map(str::to_owned)
                .collect()
        });
    page.table(&["", "SCOPE", "ACCOUNT", "GROUP", "RESOURCES", "VERBS", "WHY TO LOOK"], rows);
    if summary.has_more_rights {
        page.item(0, &format!("there are more than {MAX_RIGHTS}; the rest is not listed"));
    }
}

fn scope(right: &Right) -> &'static str {
    match right.scope {
        RightScope::Cluster => "cluster",
        RightScope::Namespaces => "namespaces",
    }
}

fn deployments(page: &mut Page, summary: &BundleSummary) {
    if summary.deployments.is_empty() {
        return;
    }
    page.section("Deployments");
    let rows = summary.deployments.iter().flat_map(|deployment| {
        deployment.containers.iter().enumerate().map(move |(index, container)| {
            let only_first = |text: String| if index == 0 { text } else { String::new() };
            vec![
                only_first(deployment.name.clone()),
                only_first(deployment.replicas.to_string()),
                only_first(or_text(&deployment.account, "default")),
                container.name.clone(),
                short_image(&container.image),
                only_first(deployment.reach.join(", ")),
            ]
        })
    });
    page.table(&["NAME", "REPLICAS", "ACCOUNT", "CONTAINER", "IMAGE", "REACHES"], rows);
}

fn webhooks(page: &mut Page, summary: &BundleSummary) {
    if summary.webhooks.is_empty() {
        return;
    }
    page.section("Webhooks");
    let rows = summary.webhooks.iter().map(|webhook| {
        vec![
            webhook.name.clone(),
            webhook.kind.clone(),
            webhook.failure_policy.clone(),
            listed(webhook.subjects.iter().map(String::as_str), MAX_LISTED),
        ]
    });
    page.table(&["NAME", "TYPE", "ON FAILURE", "ASKED ABOUT"], rows);
}

fn definitions(page: &mut Page, definitions: &[DefinitionSummary]) {
    if definitions.is_empty() {
        return;
    }
    page.section("CRDs");
    let rows = definitions.iter().map(|definition| {
        let versions = definition.versions.iter().map(|version| {
            let mut notes = Vec::new();
            if version.is_stored {
                notes.push("stored");
            }
            if !version.is_served {
                notes.push("not served");
            }
            match notes.as_slice() {
                [] => version.name.clone(),
                notes => format!("{} ({})", version.name, notes.join(", ")),
            }
        });
        let scope = if definition.is_cluster_wide { "cluster" } else { "namespaced" };
        vec![definition.name.clone(), scope.to_owned(), versions.collect::<Vec<_>>().join(", ")]
    });
    page.table(&["NAME", "SCOPE", "VERSIONS"], rows);
}

fn objects(page: &mut Page, summary: &BundleSummary) {
    if !summary.objects.is_empty() {
        page.section("Other objects");
        let rows = summary.objects.iter().map(|object| {
            vec![object.kind.clone(), object.name.clone(), object.api_version.clone()]
        });
        page.table(&["KIND", "NAME", "API VERSION"], rows);
    }
    if !summary.related_images.is_empty() {
        page.section("Related images");
        let rows = summary
            .related_images
            .iter()
            .map(|related| vec![related.name.clone(), short_image(&related.image)]);
        page.table(&["NAME", "IMAGE"], rows);
    }
}
