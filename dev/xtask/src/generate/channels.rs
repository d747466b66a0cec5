//! Channels: which bundles each offers, and the edges between them.
//!
//! Most real channels are plain chains of `replaces`; one in fourteen packages adds a
//! skipRange to every entry, a few skip versions by name. Every channel has one head and strands
//! nobody.

use std::ops::Range;

use super::{random::Random, shape::Shape, versions::GeneratedVersion};

/// The names of the first channels of a package; further ones are numbered.
const CHANNEL_NAMES: &[&str] = &["stable", "alpha", "beta", "candidate", "fast"];

/// In a package that skips versions by name, every fourth entry does.
const SKIP_DISTANCE: usize = 4;

/// A channel to write.
#[derive(Debug)]
pub(crate) struct ChannelPlan {
    pub(crate) name: String,
    pub(crate) entries: Vec<EntryPlan>,
}

/// An entry of a channel; bundles are told by their number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntryPlan {
    pub(crate) bundle: usize,
    pub(crate) replaces: Option<usize>,
    pub(crate) skips: Vec<usize>,
    pub(crate) skip_range: Option<String>,
}

/// How the versions of a package follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Each version replaces the one before.
    Chain,
    /// A chain whose entries also say `skipRange: <1.2.3`.
    Ranged(RangeForm),
    /// A chain in which some entries skip the version before by name.
    Skipping,
}

/// The common ways to write a skipRange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeForm {
    /// `>=0.1.0 <1.2.3`
    Between,
    /// `>=0.1.x <1.2.3`
    BetweenWildcard,
    /// `<1.2.3`
    Below,
}

/// Plans the channels of a package.
pub(crate) fn channels(
    shape: &Shape,
    versions: &[GeneratedVersion],
    random: &mut Random,
) -> Vec<ChannelPlan> {
    let style = match random.below(100) {
        0..4 => Style::Ranged(RangeForm::Between),
        4..6 => Style::Ranged(RangeForm::BetweenWildcard),
        6..7 => Style::Ranged(RangeForm::Below),
        7..9 => Style::Skipping,
        _ => Style::Chain,
    };
    let is_young = shape.channels == 1 && random.percent(66);
    windows(shape)
        .into_iter()
        .enumerate()
        .map(|(index, window)| ChannelPlan {
            name: match CHANNEL_NAMES.get(index) {
                Some(_) if is_young => "alpha".to_owned(),
                Some(name) => (*name).to_owned(),
                None => format!("stable-{index}"),
            },
            entries: window.clone().map(|bundle| entry(bundle, &window, style, versions)).collect(),
        })
        .collect()
}

/// Divides the bundles of a package among its channels, each a run of neighbours.
///
/// Where there are entries enough, the first channel offers everything and the others share what is
/// left; otherwise the channels follow each other, a few of them overlapping by one bundle.
fn windows(shape: &Shape) -> Vec<Range<usize>> {
    let Shape { bundles, channels, entries, .. } = *shape;
    let surplus = entries - bundles;
    let others = channels - 1;
    if surplus >= others {
        let mut windows = Vec::with_capacity(channels);
        windows.push(0..bundles);
        for other in 0..others {
            let length = share(surplus, others, other).min(bundles);
            let end = bundles - (bundles - length) * other / others;
            windows.push(end - length..end);
        }
        return windows;
    }
    let mut windows = Vec::with_capacity(channels);
    let mut start = 0;
    for channel in 0..channels {
        let end = start + share(entries, channels, channel);
        windows.push(start..end);
        start = end - usize::from(channel < surplus);
    }
    windows
}

/// Divides a number into parts that differ by one at most, the larger ones first.
fn share(total: usize, parts: usize, part: usize) -> usize {
    total / parts + usize::from(part < total % parts)
}

fn entry(
    bundle: usize,
    window: &Range<usize>,
    style: Style,
    versions: &[GeneratedVersion],
) -> EntryPlan {
    let position = bundle - window.start;
    let before = |distance: usize| (position >= distance).then(|| bundle - distance);
    let plain = EntryPlan { bundle, replaces: before(1), skips: Vec::new(), skip_range: None };
    match style {
        Style::Chain => plain,
        Style::Ranged(form) => {
            let (version, first) = (versions[bundle], versions[window.start]);
            let lower = format!("{}.{}", first.major, first.minor);
            let is_same_minor = (first.major, first.minor) == (version.major, version.minor);
            let range = match form {
                // Nothing lies between the first version of a channel and itself.
                _ if position == 0 => format!("<{version}"),
                RangeForm::BetweenWildcard if !is_same_minor => format!(">={lower}.x <{version}"),
                RangeForm::Between | RangeForm::BetweenWildcard => format!(">={first} <{version}"),
                RangeForm::Below => format!("<{version}"),
            };
            EntryPlan { skip_range: Some(range), ..plain }
        }
        Style::Skipping if position >= 2 && position.is_multiple_of(SKIP_DISTANCE) => {
            EntryPlan { replaces: before(2), skips: vec![bundle - 1], ..plain }
        }
        Style::Skipping => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::shape::shapes;

    #[test]
    fn windows_have_the_entries_of_the_shape_and_miss_no_bundle() {
        for shape in shapes(1.0) {
            let windows = windows(&shape);
            assert_eq!(windows.len(), shape.channels, "{shape:?}");
            assert_eq!(windows.iter().map(Range::len).sum::<usize>(), shape.entries, "{shape:?}");
            assert!(windows.iter().all(|window| !window.is_empty()), "{shape:?}: {windows:?}");
            for bundle in 0..shape.bundles {
                assert!(windows.iter().any(|window| window.contains(&bundle)), "{shape:?}");
            }
            assert!(windows.iter().all(|window| window.end <= shape.bundles), "{shape:?}");
        }
    }

    #[test]
    fn styles_write_their_edges() {
        let version = |minor| GeneratedVersion { major: 1, minor, patch: 0, candidate: None };
        let versions: Vec<GeneratedVersion> = (0..6).map(version).collect();
        let show = |bundle: usize, style: Style| {
            let EntryPlan { replaces, skips, skip_range, .. } =
                entry(bundle, &(1..6), style, &versions);
            (replaces, skips, skip_range)
        };
        assert_eq!(show(1, Style::Chain), (None, vec![], None));
        assert_eq!(show(5, Style::Chain), (Some(4), vec![], None));
        assert_eq!(show(5, Style::Skipping), (Some(3), vec![4], None));
        assert_eq!(show(4, Style::Skipping), (Some(3), vec![], None));
        let ranges = [
            (1, RangeForm::Between, "<1.1.0"),
            (5, RangeForm::Between, ">=1.1.0 <1.5.0"),
            (5, RangeForm::BetweenWildcard, ">=1.1.x <1.5.0"),
            (5, RangeForm::Below, "<1.5.0"),
        ];
        for (bundle, form, range) in ranges {
            assert_eq!(show(bundle, Style::Ranged(form)).2.as_deref(), Some(range));
        }
    }
}
