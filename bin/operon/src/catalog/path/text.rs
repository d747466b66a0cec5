//! A path as people read it: one block for each channel and set of rules.

use operon_catalog::journey::{Ending, Hop, Installed, Origin, Step};

use unicode_width::UnicodeWidthStr;

use super::{Answer, Journey, names::rules_name};
use crate::{catalog::cells::counted, output::clean};

/// Reasons are told one by one for so many channels; beyond, only the channels are named.
const MAX_REASONS: usize = 3;

/// Prints the answer.
pub(super) fn render(answer: &Answer<'_>) -> String {
    let from = match answer.from.name.as_str() {
        "" => answer.from.label(),
        name => name.to_owned(),
    };
    let heading = format!("{}: from `{from}` to `{}`", answer.package.name(), answer.to);
    let mut out = clean(&heading) + "\n";
    out.extend(note(&answer.from).map(|note| format!("note: {}\n", clean(&note))));
    let (ways, dead_ends): (Vec<_>, Vec<_>) =
        answer.journeys.iter().partition(|journey| journey.shortest.is_some());
    for journey in &ways {
        out.push_str(&format!("\n{}\n", title(journey)));
        out.push_str(&way(journey, &answer.from));
    }
    if !ways.is_empty() && dead_ends.len() > MAX_REASONS {
        let channels: Vec<&str> = dead_ends
            .iter()
            .flat_map(|journey| &journey.channels)
            .map(|channel| channel.name())
            .collect();
        out.push_str(&format!(
            "\nno way in {}: {}\n",
            counted(channels.len(), "channel"),
            clean(&channels.join(", "))
        ));
        out.push_str("hint: --channel NAME tells why\n");
        return out;
    }
    for journey in dead_ends {
        let reason = journey.no_way.as_ref().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("\n{}\n  no way: {}\n", title(journey), clean(&reason)));
    }
    out
}

/// Says what is special about an installed version that the catalog does not have.
fn note(from: &Installed) -> Option<String> {
    let version = from.version.as_ref().map(ToString::to_string);
    match (from.origin, version) {
        (Origin::Published, _) => None,
        (Origin::Mentioned, None) => Some(format!("`{}` is no longer published", from.name)),
        (Origin::Mentioned, Some(version)) => Some(format!(
            "`{}` is no longer published; its name is taken to say version {version}",
            from.name
        )),
        (Origin::Unknown, version) => Some(format!(
            "this package does not mention version {}, so only a skipRange can update it",
            version.unwrap_or_default()
        )),
    }
}

fn title(journey: &Journey<'_>) -> String {
    let rules = rules_name(journey.rules);
    let title = match journey.channels.as_slice() {
        [only] => format!("channel {} ({rules})", only.name()),
        _ if journey.is_whole_package => format!("all channels ({rules})"),
        several => {
            let names: Vec<&str> = several.iter().map(|channel| channel.name()).collect();
            format!("channels {} ({rules})", names.join(", "))
        }
    };
    clean(&title)
}

fn way(journey: &Journey<'_>, from: &Installed) -> String {
    let Some(shortest) = &journey.shortest else {
        return String::new();
    };
    let many_channels = journey.channels.len() > 1;
    let automatic = &journey.automatic.hops;
    let until_target = journey.automatic_hops_to_target(from);
    let names = |hops: &[Hop<'_>]| -> Vec<String> {
        hops.iter().map(|hop| hop.entry.name().to_owned()).collect()
    };
    if until_target == Some(0) {
        return format!("  it is installed already{}\n", ending(journey, automatic));
    }
    if let Some(hops) = until_target
        && names(&automatic[..hops]) == names(shortest)
    {
        let title = format!("  {}, shortest and automatic\n", counted(hops, "hop"));
        return title + &list(shortest, many_channels);
    }
    let title = format!("  shortest: {}\n", counted(shortest.len(), "hop"));
    let mut out = title + &list(shortest, many_channels);
    match until_target {
        Some(hops) => {
            out.push_str(&format!("  automatic: {}\n", counted(hops, "hop")));
            out.push_str(&list(&automatic[..hops], many_channels));
        }
        // The way is there, and only OLM v1 weighs an update against staying.
        None if automatic.is_empty() => {
            out.push_str("  automatic: none, OLM v1 stays rather than move to a deprecated or older version\n");
        }
        None => {
            let target = journey.target.unwrap_or_default();
            out.push_str(&format!(
                "  automatic: passes `{}` by{}\n",
                clean(target),
                ending(journey, automatic)
            ));
            out.push_str(&list(automatic, many_channels));
        }
    }
    out
}

/// Says how automatic updates end, as the end of a line.
fn ending(journey: &Journey<'_>, automatic: &[Hop<'_>]) -> String {
    let ending = match (journey.automatic.ending, automatic.last()) {
        (Ending::Circle(name), _) => format!(", and updates run in a circle through `{name}`"),
        (Ending::Rest, Some(last)) => {
            format!(
                ", and updates end at `{}` ({})",
                last.entry.name(),
                counted(automatic.len(), "hop")
            )
        }
        (Ending::Rest, None) => ", and no update is offered".to_owned(),
    };
    clean(&ending)
}

fn list(hops: &[Hop<'_>], many_channels: bool) -> String {
    let names: Vec<String> = hops.iter().map(|hop| clean(hop.entry.name())).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let digits = hops.len().to_string().len();
    let mut out = String::new();
    for ((hop, name), number) in hops.iter().zip(&names).zip(1..) {
        let mut how: Vec<String> = hop
            .steps
            .iter()
            .map(|step| match step {
                Step::Replaces => "replaces".to_owned(),
                Step::Skips => "skips".to_owned(),
                Step::SkipRange(range) => format!("skipRange `{range}`"),
            })
            .collect();
        if many_channels {
            let last = how.len().saturating_sub(1);
            if let Some(last) = how.get_mut(last) {
                last.push_str(&format!(" in channel {}", hop.entry.channel().name()));
            }
        }
        let gap = " ".repeat(width - name.width());
        out.push_str(&format!("    {number:digits$}. {name}{gap}  {}", clean(&how.join(", "))));
        if let Some(message) = hop.bundle().and_then(|bundle| bundle.deprecation()) {
            out.push_str(&format!("  deprecated: {}", clean(message)));
        }
        out.push('\n');
    }
    out
}
