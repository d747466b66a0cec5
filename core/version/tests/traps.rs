//! What the lint says about ranges, one claim a line.

use operon_version::{VersionRange, range_traps};

/// Range, then each trap as `identifier @ piece -> suggestion`.
const CLAIMS: &[(&str, &[&str])] = &[
    ("!=1.2.x", &["range-excluded-wildcard @ !=1.2.x -> <1.2.0 || >=1.3.0"]),
    (">1.0.0 !1.2.x", &["range-excluded-wildcard @ !1.2.x"]),
    ("1.x.x", &["range-misplaced-wildcard @ 1.x.x -> 1.x"]),
    (">=1.x.3", &["range-misplaced-wildcard @ >=1.x.3 -> >=1.x"]),
    ("! 1.2.3", &["range-ignored-character @ ! 1.2.3 -> !=1.2.3"]),
    (">=1.2.0 x", &["range-ignored-character @ x"]),
    (">=1.2.0 *", &["range-ignored-character @ *"]),
    ("*", &["range-ignored-character @ * -> >=0.0.0-0"]),
    ("1", &["range-ignored-character @ 1 -> 1.x"]),
    ("1.0.0 | 2.0.0", &["range-ignored-character @ | -> ||"]),
    ("1.0.0 - 1.2.3", &["range-hyphen @ 1.0.0 - 1.2.3 -> >=1.0.0 <=1.2.3"]),
    (
        "1.0 - 1.2",
        &[
            "range-partial-version @ 1.0 -> 1.0.x",
            "range-hyphen @ 1.0 - 1.2 -> >=1.0.0 <=1.2.x",
            "range-partial-version @ 1.2 -> 1.2.x",
        ],
    ),
    ("1.0.0-fix", &["range-wildcard-in-prerelease @ 1.0.0-fix -> >=1.0.0-fix <1.0.0-fix.0"]),
    ("<=1.0.0-fix", &["range-wildcard-in-prerelease @ <=1.0.0-fix -> <1.0.0-fix.0"]),
    (">=1.0.0-rc.x", &["range-wildcard-in-prerelease @ >=1.0.0-rc.x"]),
    (">=1.0.0-fix", &[]),
    (">=2.0.0 <1.0.0", &["range-matches-nothing @ >=2.0.0 <1.0.0"]),
    (">1.0.0 <1.0.1-0 || 2.0.0", &["range-matches-nothing @ >1.0.0 <1.0.1-0"]),
    ("=1.0.0 =1.0.1", &["range-matches-nothing @ =1.0.0 =1.0.1"]),
    ("<0.0.0-0", &["range-matches-nothing @ <0.0.0-0"]),
    (">=1.0.0 <2.0.0", &["range-admits-prerelease @ <2.0.0 -> <2.0.0-0"]),
    (">=1.0.0 < 2.0.0 ", &["range-admits-prerelease @ < 2.0.0 -> <2.0.0-0"]),
    ("1.x", &["range-admits-prerelease @ 1.x -> >=1.0.0 <2.0.0-0"]),
    (">=2.0.0-rc.1 <2.0.0", &[]),
    (">=1.0.0 <2.0.0-0", &[]),
    (">=1.0.0+build", &["range-build-metadata @ >=1.0.0+build -> >=1.0.0"]),
    ("~1.2.3", &["range-unknown-operator @ ~1.2.3 -> >=1.2.3 <1.3.0"]),
    ("~1.2.x", &["range-unknown-operator @ ~1.2.x -> >=1.2.0 <1.3.0"]),
    ("~>1", &["range-unknown-operator @ ~>1 -> >=1.0.0 <2.0.0"]),
    ("^1.2.3", &["range-unknown-operator @ ^1.2.3 -> >=1.2.3 <2.0.0"]),
    ("^0.2", &["range-unknown-operator @ ^0.2 -> >=0.2.0 <0.3.0"]),
    ("^0.0.3", &["range-unknown-operator @ ^0.0.3 -> >=0.0.3 <0.0.4"]),
    ("=<1.2", &["range-unknown-operator @ =<1.2 -> <=1.2.x"]),
    ("=> 1.2.3", &["range-unknown-operator @ => 1.2.3 -> >=1.2.3"]),
    ("1.2", &["range-partial-version @ 1.2 -> 1.2.x"]),
    (">=1", &["range-partial-version @ >=1 -> >=1.0.0"]),
    (">=1.2", &["range-partial-version @ >=1.2 -> >=1.2.0"]),
    ("!=1.2", &["range-partial-version @ !=1.2 -> <1.2.0 || >=1.3.0"]),
    ("<1.2-rc", &["range-partial-version @ <1.2-rc -> <1.2.0-rc"]),
    ("v1.2.3", &["range-version-prefix @ v1.2.3 -> 1.2.3"]),
    (">=v1.2", &["range-version-prefix @ >=v1.2 -> >=1.2.0"]),
    ("1.2.*", &["range-foreign-wildcard @ 1.2.* -> 1.2.x"]),
    ("1.X.X", &["range-foreign-wildcard @ 1.X.X -> 1.x"]),
    ("x.x", &["range-foreign-wildcard @ x.x -> >=0.0.0-0"]),
    (">=1.0.0,<2", &["range-foreign-and @ >=1.0.0,<2 -> >=1.0.0 <2.0.0"]),
    (">=1.0.0, <2.0.0-0", &["range-foreign-and @ >=1.0.0, -> >=1.0.0"]),
    (">=1.0.0 && <2.0.0-0", &["range-foreign-and @ &&"]),
    (">=1.0.0||<2.0.0", &["range-or-without-blanks @ >=1.0.0||<2.0.0 -> >=1.0.0 || <2.0.0"]),
    ("1.0.0 ||2.0.0", &["range-or-without-blanks @ ||2.0.0 -> || 2.0.0"]),
    (">=1.0.0\n", &["range-other-white-space @ >=1.0.0\n -> >=1.0.0"]),
    ("1.0.0 || || 2.0.0", &["range-empty-alternative @ ||"]),
    ("|| 1.0.0 ||", &["range-empty-alternative @ ||", "range-empty-alternative @ ||"]),
    (" ", &["range-empty-alternative @   -> >=0.0.0-0"]),
    (">=1.0.0 !=1.1.0 || =0.9.0-rc.1", &[]),
    ("latest", &[]),
];

#[test]
fn traps_are_found_named_and_respelled() {
    for (range, claims) in CLAIMS {
        let traps = range_traps(range);
        let found = traps.iter().map(|trap| {
            let piece = format!("{} @ {}", trap.kind.id(), &range[trap.start..trap.end]);
            trap.suggestion.iter().fold(piece, |piece, text| format!("{piece} -> {text}"))
        });
        assert_eq!(found.collect::<Vec<_>>(), *claims, "in {range:?}");
        for trap in traps {
            assert_eq!(trap.kind.is_advice(), trap.kind.id() == "range-admits-prerelease");
            assert!(!trap.message().is_empty());
            let Some(suggestion) = &trap.suggestion else {
                continue;
            };
            assert!(trap.help().ends_with(&format!("`{suggestion}`")));
        }
    }
}

#[test]
fn a_single_suggestion_makes_the_range_readable() {
    for (range, _) in CLAIMS {
        let traps = range_traps(range);
        let [trap] = traps.as_slice() else { continue };
        let Some(suggestion) = &trap.suggestion else {
            continue;
        };
        let respelled = format!("{}{suggestion}{}", &range[..trap.start], &range[trap.end..]);
        assert!(VersionRange::parse(&respelled).is_ok(), "{respelled:?}");
        let again = range_traps(&respelled);
        assert!(again.iter().all(|trap| trap.kind.is_advice()), "{respelled:?} {again:?}");
    }
}
