//! The set of versions a range describes, as sorted intervals with gaps between them.
//!
//! The version order has a lowest version and a next one after each ([`Version::successor`]), so
//! whether an interval holds anything is decided exactly: `>1.0.0 <1.0.1-0` is empty. Bounds are
//! kept as they were written, not replaced by such neighbours.

use std::ops::{Bound, RangeBounds};

use crate::range::{Comparator, Operator, VersionRange};
use crate::version::Version;

/// Holds all versions between two bounds; at least one lies between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    lower: Bound<Version>,
    upper: Bound<Version>,
}

impl Interval {
    /// Returns the bound that the versions are above.
    pub fn lower(&self) -> &Bound<Version> {
        &self.lower
    }

    /// Returns the bound that the versions are below.
    pub fn upper(&self) -> &Bound<Version> {
        &self.upper
    }

    /// Tells whether the version lies between the bounds.
    pub fn contains(&self, version: &Version) -> bool {
        (self.lower.as_ref(), self.upper.as_ref()).contains(version)
    }
}

impl VersionRange {
    /// Returns the set as intervals in ascending order; no two overlap or touch.
    pub fn intervals(&self) -> Vec<Interval> {
        join_touching(self.alternatives().iter().flat_map(|terms| intersect(terms)).collect())
    }

    /// Tells whether no version at all is in the range.
    pub fn is_empty(&self) -> bool {
        self.alternatives().iter().all(|terms| intersect(terms).is_empty())
    }

    /// Tells whether the versions are bounded below; true for a range that contains none.
    pub fn has_lower_bound(&self) -> bool {
        self.intervals().first().is_none_or(|interval| interval.lower != Bound::Unbounded)
    }

    /// Tells whether the versions are bounded above; true for a range that contains none.
    pub fn has_upper_bound(&self) -> bool {
        self.intervals().last().is_none_or(|interval| interval.upper != Bound::Unbounded)
    }
}

/// Says where a set of neighbours ends: before a version, or never.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Before(Version),
    Never,
}

/// An interval with its bounds reduced to the first version inside and the first one beyond.
struct Extent {
    first: Version,
    end: End,
    interval: Interval,
}

impl Extent {
    /// Returns nothing when no version lies between the bounds.
    fn new(lower: Bound<Version>, upper: Bound<Version>) -> Option<Self> {
        let first = first_inside(&lower)?;
        let end = first_beyond(&upper);
        let holds_some = End::Before(first.clone()) < end;
        holds_some.then_some(Self { first, end, interval: Interval { lower, upper } })
    }
}

fn first_inside(lower: &Bound<Version>) -> Option<Version> {
    match lower {
        Bound::Included(version) => Some(version.clone()),
        Bound::Excluded(version) => version.successor(),
        Bound::Unbounded => Some(Version::lowest()),
    }
}

fn first_beyond(upper: &Bound<Version>) -> End {
    match upper {
        Bound::Included(version) => version.successor().map_or(End::Never, End::Before),
        Bound::Excluded(version) => End::Before(version.clone()),
        Bound::Unbounded => End::Never,
    }
}

/// Returns what satisfies all comparisons: one interval, cut at every excluded version.
fn intersect(terms: &[Comparator]) -> Vec<Extent> {
    let (mut lowers, mut uppers, mut holes) =
        (vec![Bound::Unbounded], vec![Bound::Unbounded], Vec::new());
    for Comparator { operator, version } in terms {
        match operator {
            Operator::Equal => {
                lowers.push(Bound::Included(version.clone()));
                uppers.push(Bound::Included(version.clone()));
            }
            Operator::NotEqual => holes.push(version.clone()),
            Operator::Greater => lowers.push(Bound::Excluded(version.clone())),
            Operator::GreaterOrEqual => lowers.push(Bound::Included(version.clone())),
            Operator::Less => uppers.push(Bound::Excluded(version.clone())),
            Operator::LessOrEqual => uppers.push(Bound::Included(version.clone())),
        }
    }
    // Above the last version there is nothing: no first version inside is the tightest bound.
    let tightness = |lower: &Bound<Version>| first_inside(lower).map_or(End::Never, End::Before);
    let mut lower = lowers.into_iter().max_by_key(tightness).unwrap_or(Bound::Unbounded);
    let upper = uppers.into_iter().min_by_key(first_beyond).unwrap_or(Bound::Unbounded);
    holes.sort_unstable();
    holes.retain(|hole| (lower.as_ref(), upper.as_ref()).contains(hole));
    let mut extents = Vec::with_capacity(holes.len() + 1);
    for hole in holes {
        extents.extend(Extent::new(lower, Bound::Excluded(hole.clone())));
        lower = Bound::Excluded(hole);
    }
    extents.extend(Extent::new(lower, upper));
    extents
}

/// Sorts the extents and joins those without a version between them.
fn join_touching(mut extents: Vec<Extent>) -> Vec<Interval> {
    extents.sort_by(|left, right| left.first.cmp(&right.first));
    let mut joined: Vec<Extent> = Vec::with_capacity(extents.len());
    for extent in extents {
        match joined.last_mut() {
            Some(last) if End::Before(extent.first.clone()) <= last.end => {
                if extent.end > last.end {
                    last.end = extent.end;
                    last.interval.upper = extent.interval.upper;
                }
            }
            _ => joined.push(extent),
        }
    }
    joined.into_iter().map(|extent| extent.interval).collect()
}
