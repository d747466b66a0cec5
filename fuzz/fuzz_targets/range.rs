//! Versions and ranges: any text is read or refused, and what is read is consistent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_version::{Version, VersionRange, range_traps};

fuzz_target!(|data: &[u8]| {
    let _ = Version::parse_tolerant_bytes(data);
    if let Ok(version) = Version::parse_bytes(data) {
        assert_eq!(Version::parse(&version.to_string()).as_ref(), Ok(&version));
    }
    if let Ok(range) = VersionRange::parse_bytes(data) {
        let intervals = range.intervals();
        let probes = range.alternatives().iter().flatten().map(|comparator| &comparator.version);
        for version in probes {
            let inside = intervals.iter().any(|interval| interval.contains(version));
            assert_eq!(range.contains(version), inside, "{version} in {range}");
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        for trap in range_traps(text) {
            assert!(text.get(trap.start..trap.end).is_some(), "{trap:?}");
        }
    }
});
