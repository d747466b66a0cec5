//! A diff as people read it: what was added, removed and changed, then what users notice.

use operon_catalog::{
    Entry, Package,
    diff::{BundleDiff, CatalogDiff, Change, ChannelDiff, DiffCounts, EntryDiff, PackageDiff},
};

use super::users;
use crate::{catalog::cells::counted, output::clean};

/// Texts longer than this are shown by their beginning.
const MAX_TEXT: usize = 100;

/// Prints the diff.
pub(super) fn render(diff: &CatalogDiff<'_>) -> String {
    if diff.is_empty() {
        return "no differences\n".to_owned();
    }
    let mut page = Page::default();
    for package in &diff.removed {
        page.line(0, '-', &format!("package {}: {}", package.name(), size(*package)));
    }
    for package in &diff.added {
        page.line(0, '+', &format!("package {}: {}", package.name(), size(*package)));
    }
    for (schema, package, name) in &diff.others_removed {
        page.line(0, '-', &format!("{schema} `{name}` of package `{package}`"));
    }
    for (schema, package, name) in &diff.others_added {
        page.line(0, '+', &format!("{schema} `{name}` of package `{package}`"));
    }
    for changed in &diff.changed {
        package(&mut page, changed);
    }
    page.text.push_str("\n+ added  - removed  ~ changed  ! needs attention\n");
    page.text.push_str(&format!("{}\n", DiffCounts::of(diff)));
    page.text
}

/// Lines of a report, each with a symbol and an indent.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    pub(super) fn line(&mut self, depth: usize, symbol: char, text: &str) {
        let indent = "    ".repeat(depth);
        self.text.push_str(&format!("{indent}{symbol} {}\n", clean(text)));
    }

    fn changed<T: Copy>(
        &mut self,
        depth: usize,
        what: &str,
        change: &Option<Change<T>>,
        print: impl Fn(T) -> String,
    ) {
        if let Some(change) = change {
            let (before, after) = (print(change.before), print(change.after));
            self.line(depth, '~', &format!("{what}: {before} → {after}"));
        }
    }

    fn deprecation(&mut self, depth: usize, change: &Option<Change<Option<&str>>>) {
        match change {
            None => {}
            Some(Change { before: None, after }) => {
                self.line(
                    depth,
                    '!',
                    &format!("deprecated: {}", shortened(after.unwrap_or_default())),
                );
            }
            Some(Change { before: Some(_), after: None }) => {
                self.line(depth, '~', "no longer deprecated");
            }
            Some(Change { before: Some(before), after: Some(after) }) => {
                let (before, after) = (shortened(before), shortened(after));
                self.line(depth, '~', &format!("deprecation: {before} → {after}"));
            }
        }
    }
}

fn size(package: Package<'_>) -> String {
    format!(
        "{}, {}, default channel `{}`",
        counted(package.channels().len(), "channel"),
        counted(package.bundles().len(), "bundle"),
        package.default_channel_name()
    )
}

fn package(page: &mut Page, package: &PackageDiff<'_>) {
    page.line(0, '~', &format!("package {}", package.name));
    page.changed(1, "default channel", &package.default_channel, quoted);
    page.changed(1, "description", &package.description, quoted);
    page.changed(1, "icon", &package.icon, |has| if has { "present" } else { "absent" }.to_owned());
    page.deprecation(1, &package.deprecation);
    for bundle in &package.bundles_removed {
        page.line(1, '-', &format!("bundle {} ({})", bundle.name(), bundle.version_text()));
    }
    for bundle in &package.bundles_added {
        page.line(1, '+', &format!("bundle {} ({})", bundle.name(), bundle.version_text()));
    }
    for bundle_diff in &package.bundles_changed {
        bundle(page, bundle_diff);
    }
    for removed in &package.channels_removed {
        let entries = counted(removed.entries().len(), "version");
        let text = format!("channel {}: its users get no more updates ({entries})", removed.name());
        page.line(1, '-', &text);
    }
    for added in &package.channels_added {
        let head = added.head().map_or("none", |head| head.name());
        let entries = counted(added.entries().len(), "version");
        page.line(1, '+', &format!("channel {} (head {head}, {entries})", added.name()));
    }
    for channel_diff in &package.channels_changed {
        channel(page, channel_diff);
    }
    for changed in &package.users {
        users::render(page, changed);
    }
}

fn bundle(page: &mut Page, bundle: &BundleDiff<'_>) {
    page.line(1, '~', &format!("bundle {}", bundle.name));
    for (field, change) in &bundle.texts {
        page.changed(2, field.name(), &Some(*change), quoted);
    }
    for property in &bundle.properties_removed {
        page.line(2, '-', &format!("property {} {}", property.kind, shortened(property.value)));
    }
    for property in &bundle.properties_added {
        page.line(2, '+', &format!("property {} {}", property.kind, shortened(property.value)));
    }
    for (name, image) in &bundle.related_images_removed {
        page.line(2, '-', &format!("related image {name} {image}"));
    }
    for (name, image) in &bundle.related_images_added {
        page.line(2, '+', &format!("related image {name} {image}"));
    }
    page.changed(2, "inlined manifests", &bundle.object_count, |count| count.to_string());
    page.changed(2, "olm.csv.metadata properties", &bundle.metadata_count, |count| {
        count.to_string()
    });
    page.deprecation(2, &bundle.deprecation);
}

fn channel(page: &mut Page, channel: &ChannelDiff<'_>) {
    page.line(1, '~', &format!("channel {}", channel.name));
    page.changed(2, "head", &channel.head, |head| head.unwrap_or("none").to_owned());
    page.deprecation(2, &channel.deprecation);
    for entry in &channel.entries_removed {
        page.line(2, '-', &format!("entry {}{}", entry.name(), edges(*entry)));
    }
    for entry in &channel.entries_added {
        page.line(2, '+', &format!("entry {}{}", entry.name(), edges(*entry)));
    }
    for entry in &channel.entries_changed {
        page.line(2, '~', &format!("entry {}: {}", entry.name, changed_edges(entry)));
    }
    for api in &channel.apis_lost {
        page.line(2, '-', &format!("the head no longer provides {api}"));
    }
    for api in &channel.apis_gained {
        page.line(2, '+', &format!("the head now provides {api}"));
    }
}

fn edges(entry: Entry<'_>) -> String {
    let mut parts = Vec::new();
    parts.extend(entry.replaces().map(|name| format!("replaces {name}")));
    let skips: Vec<&str> = entry.skips().collect();
    if !skips.is_empty() {
        parts.push(format!("skips {}", skips.join(", ")));
    }
    parts.extend(entry.skip_range().map(|range| format!("skipRange `{range}`")));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

fn changed_edges(entry: &EntryDiff<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(change) = &entry.replaces {
        let name = |name: Option<&str>| name.unwrap_or("nothing").to_owned();
        parts.push(format!("replaces {} → {}", name(change.before), name(change.after)));
    }
    if !entry.skips_removed.is_empty() {
        parts.push(format!("no longer skips {}", entry.skips_removed.join(", ")));
    }
    if !entry.skips_added.is_empty() {
        parts.push(format!("now skips {}", entry.skips_added.join(", ")));
    }
    if let Some(change) = &entry.skip_range {
        let range =
            |range: Option<&str>| range.map_or("none".to_owned(), |range| format!("`{range}`"));
        parts.push(format!("skipRange {} → {}", range(change.before), range(change.after)));
    }
    parts.join("; ")
}

fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "none".to_owned();
    }
    format!("`{}`", shortened(text))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
