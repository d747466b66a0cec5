//! Laws that hold for every version and every range.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Bound;

use operon_version::{
    MAX_RANGE_LENGTH, MAX_VERSION_LENGTH, RangeError, Release, Version, VersionError, VersionRange,
    range_traps,
};
use proptest::prelude::*;

/// Few numbers and few words, so that equal and neighbouring versions are common.
const VERSION: &str = "[0-2]\\.[0-2]\\.[0-2](-(0|1|a|x|-|a\\.0|a\\.b|1\\.a)(\\.0)?)?(\\+(b|01))?";
const SIGN: &str = "(|=|==|!|!=|<|<=|>|>=)( )?";
const WILDCARD: &str = "[0-2](\\.[0-2])?\\.x";
const RANGE_LETTERS: &str = "[0-3x.<>=!| v~^*,+a-]{0,40}";

fn version() -> impl Strategy<Value = Version> {
    VERSION.prop_map(|text| parse(&text))
}

fn parse(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

/// Alternatives of terms that can be read: no `x` in a suffix, no blank after `!`.
fn terms() -> impl Strategy<Value = Vec<Vec<String>>> {
    let version = prop_oneof![3 => VERSION, 1 => WILDCARD];
    let term = (SIGN, version).prop_map(|(sign, version)| {
        let sign = if sign.contains(['<', '>', '=']) { &sign } else { sign.trim() };
        format!("{sign}{}", version.replace("-x", "-y"))
    });
    prop::collection::vec(prop::collection::vec(term, 1..4), 1..4)
}

fn join(alternatives: &[Vec<String>]) -> String {
    alternatives.iter().map(|terms| terms.join(" ")).collect::<Vec<_>>().join(" || ")
}

fn hash(version: &Version) -> u64 {
    let mut hasher = DefaultHasher::new();
    version.hash(&mut hasher);
    hasher.finish()
}

/// Returns the versions where a range can change its mind, and their neighbours.
fn probes(range: &VersionRange) -> Vec<Version> {
    let named = range.alternatives().iter().flatten().map(|term| term.version.clone());
    let fixed = ["0.0.0-0", "0.0.0", "1.1.1-a", "18446744073709551615.0.0"];
    let named = named.chain(fixed.map(parse));
    named.flat_map(|version| [version.successor(), Some(version)]).flatten().collect()
}

proptest! {
    // A failure prints its smallest input, which belongs into a table rather than a seed file.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_is_total_and_transitive(mut three in [version(), version(), version()]) {
        three.sort();
        let [low, middle, high] = &three;
        prop_assert!(low <= middle && middle <= high && low <= high);
        prop_assert_eq!(low == high, low >= high);
        prop_assert_eq!(low.cmp(middle), middle.cmp(low).reverse());
        prop_assert!(low != middle || hash(low) == hash(middle));
    }

    #[test]
    fn successor_is_the_next_version(one in version(), other in version()) {
        let next = one.successor().unwrap();
        prop_assert!(one < next);
        prop_assert!(other <= one || next <= other);
    }

    #[test]
    fn printing_and_parsing_are_inverse(text in VERSION) {
        prop_assert_eq!(Version::parse(&text).unwrap().to_string(), text.clone());
        let tolerant = Version::parse_tolerant(&format!(" v0{text}\n")).unwrap();
        prop_assert_eq!(tolerant.to_string(), text);
    }

    #[test]
    fn intervals_hold_exactly_what_the_range_contains(terms in terms(), other in version()) {
        let text = join(&terms);
        let range = VersionRange::parse(&text).unwrap();
        prop_assert_eq!(range.to_string(), text);
        let intervals = range.intervals();
        let mut probes = probes(&range);
        probes.push(other);
        for probe in &probes {
            let held = intervals.iter().filter(|interval| interval.contains(probe)).count();
            prop_assert_eq!(held, usize::from(range.contains(probe)), "{} in {:?}", probe, intervals);
        }
        for interval in &intervals {
            prop_assert!(probes.iter().any(|probe| interval.contains(probe)), "{:?}", interval);
        }
        for pair in intervals.windows(2) {
            let is_above = |probe: &Version| match pair[0].upper() {
                Bound::Included(end) | Bound::Excluded(end) => probe >= end,
                Bound::Unbounded => false,
            };
            let is_below = |probe: &Version| match pair[1].lower() {
                Bound::Included(end) | Bound::Excluded(end) => probe <= end,
                Bound::Unbounded => false,
            };
            let is_between = |probe: &Version| is_above(probe) && is_below(probe);
            let has_gap = probes.iter().any(|probe| is_between(probe) && !range.contains(probe));
            prop_assert!(has_gap, "{:?}", intervals);
        }
        prop_assert_eq!(range.is_empty(), intervals.is_empty());
        prop_assert!(range.has_lower_bound() || range.contains(&parse("0.0.0-0")));
        prop_assert_eq!(range.has_upper_bound(), !range.contains(&Version::new(u64::MAX, 0, 0)));
    }

    #[test]
    fn the_order_of_terms_and_alternatives_is_irrelevant(
        (terms, shuffled) in terms().prop_flat_map(|terms| {
            let inner: Vec<_> = terms.iter().cloned().map(|terms| Just(terms).prop_shuffle()).collect();
            (Just(terms), inner.prop_shuffle())
        }),
    ) {
        let range = VersionRange::parse(&join(&terms)).unwrap();
        let other = VersionRange::parse(&join(&shuffled)).unwrap();
        for probe in probes(&range) {
            prop_assert_eq!(range.contains(&probe), other.contains(&probe));
        }
    }

    #[test]
    fn nothing_panics(text in any::<String>(), bytes in any::<Vec<u8>>(), range in RANGE_LETTERS) {
        for text in [text.as_bytes(), &bytes, range.as_bytes()] {
            let _ = (Version::parse_bytes(text), Version::parse_tolerant_bytes(text));
            if let Ok(range) = VersionRange::parse_bytes(text) {
                let _ = (range.intervals(), range.is_empty());
            }
        }
        for text in [&text, &range] {
            let _ = Release::parse(text);
            let mut last = 0;
            for trap in range_traps(text) {
                prop_assert!(last <= trap.start && text.get(trap.start..trap.end).is_some());
                last = trap.start;
                for term in trap.suggestion.iter().flat_map(|text| text.split(' ')) {
                    prop_assert!(term == "||" || VersionRange::parse(term).is_ok(), "{:?}", trap);
                }
            }
        }
    }
}

#[test]
fn the_longest_inputs_are_read_and_longer_ones_refused() {
    let version = format!("1.0.0-{}", "a.".repeat(MAX_VERSION_LENGTH));
    assert!(Version::parse(&version[..MAX_VERSION_LENGTH - 1]).is_ok());
    let error = VersionError::TooLong { length: MAX_VERSION_LENGTH + 1 };
    assert_eq!(Version::parse(&version[..=MAX_VERSION_LENGTH]), Err(error.clone()));
    assert_eq!(Version::parse_tolerant(&version[..=MAX_VERSION_LENGTH]), Err(error));
    for piece in
        ["!=1.0.0 ", "<1.0.0 || ", "<1.1.x ", ">=2.0.0-a,", "v", "~", "\u{663}", "x.", "| "]
    {
        let range = piece.repeat(MAX_RANGE_LENGTH / piece.len());
        if let Ok(range) = VersionRange::parse(&range) {
            assert!(range.intervals().len() < 3);
        }
        range_traps(&range);
        let longer = range + "        ";
        assert_eq!(VersionRange::parse(&longer), Err(RangeError::TooLong { length: longer.len() }),);
    }
}
