//! What a slice keeps and why, for people on standard error and for programs.

use std::{collections::BTreeSet, path::Path};

use operon_catalog::{
    Catalog,
    slice::{Cause, ChannelPlan, PackagePlan, SlicePlan},
};

use crate::{
    catalog::cells::counted,
    output::{Json, clean},
};

/// Lines of one sort that are told in a summary; the report for programs has them all.
const MAX_TOLD_LINES: usize = 20;

/// Returns the images that the slice needs: of bundles and of what their operators use.
pub(in crate::catalog) fn images<'a>(plan: &SlicePlan<'a>) -> Vec<&'a str> {
    let bundles = plan.packages.iter().flat_map(|package| &package.bundles);
    let images: BTreeSet<&'a str> = bundles
        .flat_map(|bundle| {
            let related = bundle.related_images().map(|(_, image)| image);
            bundle.image().into_iter().chain(related)
        })
        .filter(|image| !image.is_empty())
        .collect();
    images.into_iter().collect()
}

/// Tells what was kept, added and repaired.
pub(in crate::catalog) fn summary(
    plan: &SlicePlan<'_>,
    catalog: &Catalog,
    images: &[&str],
    output: Option<&Path>,
) -> String {
    let (kept, all) = (kept(plan), catalog.counts());
    let mut out = format!(
        "kept {} of {}, {} of {}, {} of {}\n",
        kept.packages,
        counted(all.packages as usize, "package"),
        kept.channels,
        counted(all.channels as usize, "channel"),
        kept.bundles,
        counted(all.bundles as usize, "bundle"),
    );
    tell(&mut out, "dependency", plan.provisions.iter().map(ToString::to_string));
    tell(&mut out, "repair", plan.repairs.iter().map(ToString::to_string));
    tell(&mut out, "left out", plan.left_out.iter().map(ToString::to_string));
    tell(&mut out, "warning", plan.unmet.iter().map(ToString::to_string));
    let package_less = catalog.others().filter(|other| other.package.is_empty()).count();
    if package_less > 0 {
        let documents = counted(package_less, "document");
        out.push_str(&format!(
            "left out: {documents} of other schemas that belong to no package\n"
        ));
    }
    out.push_str(&format!(
        "{} needed, of bundles and related images\n",
        counted(images.len(), "image")
    ));
    if let Some(directory) = output {
        let files = counted(plan.packages.len(), "file");
        out.push_str(&format!(
            "written: {files} below `{}`\n",
            clean(&directory.display().to_string())
        ));
    }
    out
}

fn tell(out: &mut String, what: &str, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(MAX_TOLD_LINES);
    for line in lines.take(MAX_TOLD_LINES) {
        out.push_str(&format!("{what}: {}\n", clean(&line)));
    }
    if more > 0 {
        out.push_str(&format!("{what}: {more} more\n"));
    }
}

struct Kept {
    packages: usize,
    channels: usize,
    entries: usize,
    bundles: usize,
}

fn kept(plan: &SlicePlan<'_>) -> Kept {
    let channels = || plan.packages.iter().flat_map(|package| &package.channels);
    Kept {
        packages: plan.packages.len(),
        channels: channels().count(),
        entries: channels().map(|channel| channel.entries.len()).sum(),
        bundles: plan.packages.iter().map(|package| package.bundles.len()).sum(),
    }
}

/// Returns the whole report.
pub(super) fn json(plan: &SlicePlan<'_>, catalog: &Catalog, images: &[&str]) -> Json {
    let (kept, all) = (kept(plan), catalog.counts());
    let counts = |packages: usize, channels: usize, entries: usize, bundles: usize| {
        Json::Object(vec![
            ("packages", Json::number(packages)),
            ("channels", Json::number(channels)),
            ("entries", Json::number(entries)),
            ("bundles", Json::number(bundles)),
        ])
    };
    let [packages, channels, entries, bundles] =
        [all.packages, all.channels, all.entries, all.bundles].map(|count| count as usize);
    let dependencies = plan.provisions.iter().map(|provision| {
        Json::Object(vec![
            ("package", Json::text(provision.bundle.package().name())),
            ("channel", Json::text(provision.channel.name())),
            ("bundle", Json::text(provision.bundle.name())),
            ("requiredBy", Json::text(provision.required_by.name())),
            ("requirement", Json::text(&provision.requirement)),
        ])
    });
    let unmet = plan.unmet.iter().map(|unmet| {
        Json::Object(vec![
            ("requiredBy", Json::text(unmet.required_by.name())),
            ("requirement", Json::text(&unmet.requirement)),
        ])
    });
    let left_out = plan.left_out.iter().map(|left_out| {
        Json::Object(vec![
            ("package", Json::text(&left_out.package)),
            ("channel", Json::text(&left_out.channel)),
            ("name", Json::text(&left_out.name)),
            ("reason", Json::text(left_out.to_string())),
        ])
    });
    Json::Object(vec![
        ("kept", counts(kept.packages, kept.channels, kept.entries, kept.bundles)),
        ("source", counts(packages, channels, entries, bundles)),
        ("packages", Json::list(plan.packages.iter().map(package_json))),
        ("dependencies", Json::list(dependencies)),
        ("unmetRequirements", Json::list(unmet)),
        ("repairs", Json::texts(plan.repairs.iter().map(ToString::to_string))),
        ("leftOut", Json::list(left_out)),
        ("images", Json::texts(images.iter().copied())),
    ])
}

fn package_json(package: &PackagePlan<'_>) -> Json {
    Json::Object(vec![
        ("name", Json::text(package.package.name())),
        ("defaultChannel", Json::text(package.default_channel)),
        ("channels", Json::list(package.channels.iter().map(channel_json))),
        ("bundles", Json::texts(package.bundles.iter().map(|bundle| bundle.name()))),
    ])
}

fn channel_json(channel: &ChannelPlan<'_>) -> Json {
    let entries = channel.entries.iter().map(|entry| {
        let cause = match entry.cause {
            Cause::Asked => "asked",
            Cause::Required => "required",
            Cause::Between => "between",
        };
        Json::Object(vec![
            ("name", Json::text(entry.entry.name())),
            ("cause", Json::text(cause)),
            ("addedSkips", Json::texts(entry.added_skips.iter().copied())),
            ("replaces", Json::optional(entry.replaces)),
        ])
    });
    Json::Object(vec![
        ("name", Json::text(channel.channel.name())),
        ("head", Json::text(channel.head)),
        ("entries", Json::list(entries)),
    ])
}
