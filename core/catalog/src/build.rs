//! From declarations to a catalog: everything is checked, then laid out as an image.
//!
//! Rows are written in the order of names, never in the order of files, so equal content gives
//! equal bytes apart from the places.

mod bundles;
mod indexes;

use std::collections::BTreeMap;

use self::{bundles::BundleWriter, indexes::Indexes};
use crate::{
    Catalog, Declarations, Diagnostic, Note, Place, SourceFile,
    check::{self, ChannelDraft, Draft, PackageDraft},
    image::{ImageWriter, NONE, Section},
};

/// Checks what the files of a catalog declare and builds the catalog, with what was found wrong.
pub fn build(files: &[SourceFile], mut declarations: Declarations) -> Catalog {
    let mut findings = std::mem::take(&mut declarations.diagnostics);
    let (draft, check_findings) = check::check(&declarations);
    findings.append(check_findings);
    let mut findings = findings.finish();
    sort_findings(&mut findings);

    let mut image = ImageWriter::new();
    for file in files {
        let path = image.text(&file.path);
        image.push(Section::Files, &[path, file.size as u32, (file.size >> 32) as u32]);
    }
    write_packages(&mut image, &draft);
    for other in &declarations.others {
        let [schema, package, name] =
            [&other.schema, &other.package, &other.name].map(|text| image.text(text));
        let [file, start, end] = place_words(other.place);
        image.push(Section::Others, &[schema, package, name, file, start, end]);
    }
    for finding in &findings {
        write_finding(&mut image, finding);
    }
    Catalog::from_built(image.finish())
}

/// Findings are told in the order of the text, and at one place errors first.
fn sort_findings(findings: &mut [Diagnostic]) {
    findings.sort_by(|left, right| {
        let key = |finding: &Diagnostic| (finding.place, finding.severity(), finding.rule);
        key(left).cmp(&key(right)).then_with(|| left.message.cmp(&right.message))
    });
}

fn place_words(place: Place) -> [u32; 3] {
    [place.file.0, place.start, place.end]
}

fn write_packages(image: &mut ImageWriter, draft: &Draft<'_>) {
    let mut indexes = Indexes::new(draft);
    for package in draft.packages.values() {
        write_package(image, package, &mut indexes);
    }
    indexes.write(image);
}

fn write_package<'d>(
    image: &mut ImageWriter,
    package: &PackageDraft<'d>,
    indexes: &mut Indexes<'d>,
) {
    let row = image.rows(Section::Packages);
    let first_channel = image.rows(Section::Channels);
    let first_bundle = image.rows(Section::Bundles);
    let bundle_rows: BTreeMap<&str, u32> =
        package.bundles.keys().copied().zip(first_bundle..).collect();

    let mut entries_of_bundles: Vec<Vec<u32>> = vec![Vec::new(); package.bundles.len()];
    for channel in package.channels.values() {
        write_channel(image, row, channel, &bundle_rows, &mut |bundle_row, entry_row| {
            entries_of_bundles[(bundle_row - first_bundle) as usize].push(entry_row);
        });
    }
    let mut bundles = BundleWriter::new(image, indexes, row);
    bundles.write_all(package, &entries_of_bundles);

    let declaration = package.declaration;
    let name = image.text(&declaration.name.value);
    let default_channel = image.text(&declaration.default_channel.value);
    let description = image.text(&declaration.description);
    let deprecation = image.optional_text(package.deprecation.unwrap_or_default());
    let [file, start, end] = place_words(declaration.place);
    let channels_end = image.rows(Section::Channels);
    let bundles_end = image.rows(Section::Bundles);
    image.push(
        Section::Packages,
        &[
            name,
            default_channel,
            description,
            deprecation,
            first_channel,
            channels_end,
            first_bundle,
            bundles_end,
            u32::from(declaration.has_icon),
            file,
            start,
            end,
        ],
    );
}

fn write_channel(
    image: &mut ImageWriter,
    package_row: u32,
    channel: &ChannelDraft<'_>,
    bundle_rows: &BTreeMap<&str, u32>,
    note_entry: &mut dyn FnMut(u32, u32),
) {
    let channel_row = image.rows(Section::Channels);
    let first_entry = image.rows(Section::Entries);
    for entry in &channel.entries {
        let first_skip = image.rows(Section::Skips);
        for skip in &entry.skips {
            let text = image.text(skip);
            image.push(Section::Skips, &[text]);
        }
        let name = image.text(&entry.name);
        let bundle = bundle_rows.get(entry.name.as_str()).copied();
        let replaces = image.optional_text(&entry.replaces);
        let skip_range = image.optional_text(&entry.skip_range);
        let skips_end = image.rows(Section::Skips);
        let [file, start, end] = place_words(entry.place);
        let bundle_cell = bundle.unwrap_or(NONE);
        let row = image.push(
            Section::Entries,
            &[
                channel_row,
                name,
                bundle_cell,
                replaces,
                first_skip,
                skips_end,
                skip_range,
                file,
                start,
                end,
            ],
        );
        if let Some(bundle) = bundle {
            note_entry(bundle, row);
        }
    }
    let first_order = image.rows(Section::Order);
    for &position in &channel.order {
        image.push(Section::Order, &[first_entry + position as u32]);
    }
    let head = channel.head.map_or(NONE, |head| first_entry + head as u32);
    let name = image.text(&channel.declaration.name.value);
    let deprecation = image.optional_text(channel.deprecation.unwrap_or_default());
    let entries_end = image.rows(Section::Entries);
    let order_end = image.rows(Section::Order);
    let [file, start, end] = place_words(channel.declaration.place);
    image.push(
        Section::Channels,
        &[
            package_row,
            name,
            deprecation,
            first_entry,
            entries_end,
            first_order,
            order_end,
            head,
            file,
            start,
            end,
        ],
    );
}

fn write_finding(image: &mut ImageWriter, finding: &Diagnostic) {
    let first_related = image.rows(Section::RelatedPlaces);
    for (place, label) in &finding.related {
        let label = image.text(label);
        let [file, start, end] = place_words(*place);
        image.push(Section::RelatedPlaces, &[file, start, end, label]);
    }
    let first_note = image.rows(Section::Notes);
    for note in &finding.notes {
        let (is_help, text) = match note {
            Note::Why(text) => (0, text),
            Note::Help(text) => (1, text),
        };
        let text = image.text(text);
        image.push(Section::Notes, &[is_help, text]);
    }
    let rule = image.text(finding.rule.id());
    let message = image.text(&finding.message);
    let label = image.text(&finding.label);
    let [file, start, end] = finding.place.map_or([NONE, 0, 0], place_words);
    let related_end = image.rows(Section::RelatedPlaces);
    let notes_end = image.rows(Section::Notes);
    image.push(
        Section::Diagnostics,
        &[
            rule,
            message,
            label,
            file,
            start,
            end,
            first_related,
            related_end,
            first_note,
            notes_end,
        ],
    );
}
