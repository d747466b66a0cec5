//! Differences between bundles as people read them: by topic, what deserves a look marked.

use operon_bundle::{Change, ChangeKind, Topic};

use crate::{
    catalog::{cells::short_image, render::documents::Count},
    output::clean,
};

/// So many reasons are shown of one change; the rest is in JSON.
const MAX_REASONS: usize = 10;

/// Prints the differences.
pub(super) fn render(before: &str, after: &str, changes: &[Change]) -> String {
    if changes.is_empty() {
        return "no differences\n".to_owned();
    }
    let mut text = format!("{} → {}\n", clean(before), clean(after));
    for topic in Topic::ALL {
        let of_topic: Vec<&Change> =
            changes.iter().filter(|change| change.topic == topic).collect();
        if of_topic.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}:\n", title(topic)));
        for change in of_topic {
            push(change, &mut text);
        }
    }
    let attention = changes.iter().filter(|change| !change.attention.is_empty()).count();
    text.push_str(&format!(
        "\n+ added  - removed  ~ changed  ! deserves a look\n{}, {attention} of which deserve a look\n",
        Count(changes.len(), "change")
    ));
    text
}

fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Bundle => "Bundle",
        Topic::ProvidedApi => "Provided APIs",
        Topic::RequiredApi => "Required APIs",
        Topic::Definition => "CRDs",
        Topic::Right => "Rights",
        Topic::InstallMode => "Install modes",
        Topic::Dependency => "Dependencies",
        Topic::Webhook => "Webhooks",
        Topic::Deployment => "Deployments",
        Topic::Image => "Images",
        Topic::RelatedImage => "Related images",
        Topic::Object => "Other objects",
    }
}

fn push(change: &Change, text: &mut String) {
    let sign = match change.kind {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
    };
    let subject = short_image(&change.subject);
    let values = match (change.before.as_str(), change.after.as_str()) {
        ("", "") => String::new(),
        ("", after) => format!(": {after}"),
        (before, "") => format!(": {before} → nothing"),
        (before, after) => format!(": {before} → {after}"),
    };
    text.push_str(&format!("  {sign} {}\n", clean(&format!("{subject}{values}"))));
    for reason in change.attention.iter().take(MAX_REASONS) {
        text.push_str(&format!("      ! {}\n", clean(reason)));
    }
    if let Some(more) = change.attention.len().checked_sub(MAX_REASONS).filter(|more| *more > 0) {
        text.push_str(&format!("      ! {more} more reasons; `-o json` lists all\n"));
    }
}
