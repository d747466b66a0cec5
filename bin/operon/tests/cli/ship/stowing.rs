//! `operon cache`.

use super::dock::{Dock, member};

#[test]
fn the_cache_is_listed_and_pruned() {
    let dock = Dock::new();
    dock.example("catalog", "catalog");
    dock.operon(&["catalog", "build", "catalog", "-t", "oci:layout:v1"]).done();
    dock.operon(&["cache", "prune", "--all"]).done();
    let empty = dock.operon(&["cache", "ls"]).done();
    assert!(empty.ends_with("0 B in 0 entries\n"), "{empty}");

    dock.operon(&["catalog", "list", "packages", "oci:layout:v1"]).done();
    let listed = dock.operon(&["cache", "ls"]).done();
    assert!(listed.lines().any(|line| line.starts_with("catalog ")), "{listed}");
    assert!(listed.lines().any(|line| line.starts_with("snapshot ")), "{listed}");
    let total = |json: &str| member(json, "totalBytes").parse::<u64>().expect("a number");
    let before = total(&dock.operon(&["cache", "ls", "-o", "json"]).done());
    assert!(before > 1000, "{before}");

    // What is young or fits stays.
    for arguments in [&["--older-than", "1d"][..], &["--limit", "1GiB"], &[]] {
        let told = dock.operon(&[&["cache", "prune"], arguments].concat()).done();
        assert!(told.starts_with("removed 0 entries of 0 B; "), "{told}");
    }
    // What was used longest ago goes first: the least limit that nothing fits under.
    let told = dock.operon(&["cache", "prune", "--limit", &(before - 1).to_string(), "-o", "json"]);
    let told = told.done();
    let left: u64 = member(&told, "leftBytes").parse().expect("a number");
    assert!(left < before, "{told}");
    let told = dock.operon(&["cache", "prune", "--older-than", "0s"]).done();
    assert!(told.ends_with("; 0 B left\n"), "{told}");

    // What was pruned is made again; a directory of its own is its own cache.
    dock.operon(&["catalog", "list", "packages", "oci:layout:v1"]).done();
    let other = dock.operon(&["cache", "ls", "--cache-dir", "other"]).done();
    assert!(other.ends_with("0 B in 0 entries\n"), "{other}");
    for (arguments, expected) in [
        (["--limit", "much"], "write a number of bytes"),
        (["--older-than", "long"], "write one such as `12h`"),
    ] {
        let refused = dock.operon(&[&["cache", "prune"], &arguments[..]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
    }
}
