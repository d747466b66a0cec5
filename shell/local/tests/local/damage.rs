//! Files that are damaged: they are refused, or everything in them is intact.

use std::{fs, path::Path};

use operon_driver::{Cluster as _, Interest};
use operon_local::{LocalCluster, OpenError};
use operon_object::{Object, known};

use crate::support::{Home, config_map};

const FLIPS: usize = 700;
const CUTS: usize = 70;

/// The part of the file that describes the rest: every byte of it is flipped.
const HEADER: usize = 330;

fn objects(cluster: &LocalCluster) -> Vec<Object> {
    cluster.list(&Interest::all_of([known::CONFIG_MAP, known::NAMESPACE])).unwrap().objects
}

/// Makes a store, and returns the bytes of its file while it is open, after it is closed, and the
/// objects after each of the last two commits.
fn store(home: &Home) -> (Vec<u8>, Vec<u8>, [Vec<Object>; 2]) {
    let cluster = home.open();
    for number in 0..60 {
        let entry = format!("{number} ").repeat(200);
        cluster.create(&config_map(&format!("object-{}", number % 20), &entry)).ok();
    }
    let made = cluster.create(&config_map("last-but-one", "1")).unwrap();
    let before = objects(&cluster);
    cluster.delete(&made.key(), made.uid()).unwrap();
    let after = objects(&cluster);
    let open = fs::read(home.file()).unwrap();
    drop(cluster);
    (open, fs::read(home.file()).unwrap(), [before, after])
}

/// Numbers that look random and are the same every time.
fn numbers(mut state: u64) -> impl Iterator<Item = usize> {
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap()
    })
}

/// Damages a file in many ways, one at a time.
fn damages(bytes: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let mut random = numbers(7);
    let mut next = move |below: usize| random.next().unwrap() % below;
    let length = bytes.len();
    let flips: Vec<(usize, u8)> = (0..FLIPS)
        .map(|index| (if index < HEADER { index } else { next(length) }, 1 << next(8)))
        .collect();
    let mut cuts: Vec<usize> = (0..CUTS).map(|_| next(length)).collect();
    cuts.extend([1, 8, 9, 10, 63, 64, 319, 320, 511, 4095, 4096, 4097, length - 1]);
    let flipped = flips.into_iter().map(move |(offset, bit)| {
        let mut damaged = bytes.to_vec();
        damaged[offset] ^= bit;
        (format!("bit {bit} of byte {offset} flipped"), damaged)
    });
    let cut = cuts
        .into_iter()
        .map(move |length| (format!("cut to {length} bytes"), bytes[..length].to_vec()));
    flipped.chain(cut)
}

fn open(path: &Path, home: &Home) -> Result<Vec<Object>, OpenError> {
    Ok(objects(&LocalCluster::open(path, home.options())?))
}

#[test]
fn a_damaged_file_is_refused_or_intact() {
    let home = Home::new();
    let (_, closed, [_, objects]) = store(&home);
    let path = home.directory.path().join("damaged.redb");
    let (mut refused, mut intact) = (0, 0);
    for (what, bytes) in damages(&closed) {
        fs::write(&path, &bytes).unwrap();
        match open(&path, &home) {
            Ok(found) => {
                assert_eq!(found, objects, "{what}");
                intact += 1;
            }
            Err(OpenError::Damaged { .. } | OpenError::NotAStore { .. }) => {
                // It is refused for as long as nobody repairs it, and nothing is cut off.
                assert!(fs::read(&path).unwrap().len() >= bytes.len(), "{what}");
                assert!(open(&path, &home).is_err(), "{what}");
                refused += 1;
            }
            Err(other) => panic!("{what}: {other}"),
        }
    }
    println!("{refused} refused, {intact} intact");
    assert!(refused > 50 && intact > 50);
}

#[test]
fn after_a_crash_and_damage_at_most_the_last_change_is_lost() {
    let home = Home::new();
    let (open_bytes, _, [before, after]) = store(&home);
    let path = home.directory.path().join("damaged.redb");
    let (mut refused, mut intact, mut taken_back) = (0, 0, 0);
    for (what, bytes) in damages(&open_bytes) {
        fs::write(&path, &bytes).unwrap();
        match open(&path, &home) {
            Ok(found) if found == after => intact += 1,
            Ok(found) => {
                assert_eq!(found, before, "{what}");
                // It looks as if the crash had come while the last change was written.
                taken_back += 1;
            }
            Err(OpenError::Damaged { .. } | OpenError::NotAStore { .. }) => refused += 1,
            Err(other) => panic!("{what}: {other}"),
        }
    }
    println!("{refused} refused, {intact} intact, {taken_back} taken back");
    assert!(refused > 50 && intact > 50 && taken_back > 0);
}
