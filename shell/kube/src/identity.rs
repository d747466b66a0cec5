//! Who this process is among those that want the same lease.

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
};

/// Names this process: the machine or the pod, and a number that no other run has.
pub fn process_identity() -> String {
    let from_file = || fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = std::env::var("HOSTNAME").ok().or_else(from_file).unwrap_or_default();
    let host: String =
        host.trim().chars().filter(|letter| letter.is_ascii_graphic()).take(200).collect();
    let host = if host.is_empty() { "operon" } else { &host };
    // A new state of the standard library's hashes is seeded by chance.
    format!("{host}_{:016x}", RandomState::new().hash_one(std::process::id()))
}
