//! A process that is killed while it writes: what it acknowledged is there, and nothing is there by
//! halves.
//!
//! The test runs its own program again as the victim. What the victim would have written is known,
//! because it does the same on a copy of the same file as long as nobody kills it.

use std::{
    collections::{BTreeMap, BTreeSet, hash_map::RandomState},
    env, fs,
    hash::{BuildHasher as _, Hasher as _},
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use operon_driver::{Change, Cluster as _, Interest};
use operon_local::LocalCluster;
use operon_object::{Object, ObjectKey, known};

use crate::support::{Home, config_map};

const ROUNDS: usize = 30;

/// The file that the victim writes to.
const VICTIM: &str = "OPERON_LOCAL_TEST_VICTIM";

/// What the victim says before a number it has acknowledged.
const ACKNOWLEDGED: &str = "acknowledged ";

/// The object that holds the number.
const COUNTER: &str = "counter";

fn interests() -> BTreeSet<Interest> {
    let built_in = known::KNOWN_KINDS.iter().filter(|known| !known.is_custom);
    Interest::all_of(built_in.map(|known| known.kind.clone()))
}

fn objects(cluster: &LocalCluster) -> BTreeMap<ObjectKey, Object> {
    let listed = cluster.list(&interests()).unwrap().objects;
    listed.into_iter().map(|object| (object.key(), object)).collect()
}

fn revision(cluster: &LocalCluster) -> u64 {
    cluster.list(&BTreeSet::new()).unwrap().cursor.0["revision"].parse().unwrap()
}

fn counter(cluster: &LocalCluster) -> u64 {
    let found = cluster.get(&known::CONFIG_MAP.key("default", COUNTER)).unwrap();
    found.map_or(0, |counter| counter.at(&["data", "entry"]).str().parse().unwrap())
}

/// Writes for a number; the last write is the number itself.
fn write(cluster: &LocalCluster, number: u64) {
    let name = format!("house-{}", number % 3);
    let house = known::NAMESPACE.key("", &name);
    match cluster.get(&house).unwrap() {
        // Everything in it goes in one commit.
        Some(found) if number.is_multiple_of(7) => cluster.delete(&house, found.uid()).unwrap(),
        Some(found) if !found.is_deleting() => {
            for part in 0..number % 4 {
                let mut object = config_map(&format!("part-{part}"), &"brick ".repeat(300));
                object.set_namespace(&name);
                object.set_label("number", &number.to_string());
                cluster.apply(&object).unwrap();
            }
        }
        Some(_) => {}
        None => {
            cluster.create(&Object::new("v1", "Namespace", "", &name)).unwrap();
        }
    }
    cluster.apply(&config_map(COUNTER, &number.to_string())).unwrap();
}

fn be_killed(file: &Path) {
    let cluster = LocalCluster::open(file, Home::new().options()).unwrap();
    for number in counter(&cluster) + 1.. {
        write(&cluster, number);
        println!("\n{ACKNOWLEDGED}{number}");
    }
}

/// Runs a victim until it has acknowledged so many numbers and a little longer, and returns the last
/// number that it acknowledged.
fn run_victim(file: &Path, wanted: u64, longer: Duration) -> Option<u64> {
    let name = "crash::what_was_acknowledged_survives_being_killed";
    let mut victim = Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(VICTIM, file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix(ACKNOWLEDGED) {
                let _ = sender.send(number.parse::<u64>().unwrap());
            }
        }
    });
    let mut last = None;
    for _ in 0..wanted {
        last = receiver.recv().ok();
    }
    thread::sleep(longer);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let mut complaints = String::new();
    victim.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert!(!complaints.contains("panicked"), "{complaints}");
    // What it said before it died counts as well.
    receiver.iter().last().or(last)
}

/// Returns what a cluster was at a later revision, if it had not been killed.
fn replay(file: &Path, home: &Home, wanted: u64) -> BTreeMap<ObjectKey, Object> {
    let copy = home.directory.path().join("copy.redb");
    if file.exists() {
        fs::copy(file, &copy).unwrap();
    } else {
        let _ = fs::remove_file(&copy);
    }
    let cluster = LocalCluster::open(&copy, home.options()).unwrap();
    let mut state = objects(&cluster);
    let point = cluster.list(&interests()).unwrap().cursor;
    let mut number = counter(&cluster);
    while revision(&cluster) < wanted {
        number += 1;
        write(&cluster, number);
    }
    for change in cluster.changes(&interests(), &point).unwrap().changes {
        let (Change::Is(object) | Change::Gone(object)) = &change;
        if object.resource_version().parse::<u64>().unwrap() > wanted {
            break;
        }
        match change {
            Change::Is(object) => state.insert(object.key(), object),
            Change::Gone(object) => state.remove(&object.key()),
        };
    }
    state
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    if let Some(file) = env::var_os(VICTIM) {
        return be_killed(Path::new(&file));
    }
    let home = Home::new();
    let file = home.file();
    let before = home.directory.path().join("before.redb");
    let seed = RandomState::new().build_hasher().finish();
    println!("seed {seed}");
    let (mut total, mut early) = (0, 0);
    for round in 0..ROUNDS {
        // Every third round begins with a new store, and is killed early.
        let is_new = round.is_multiple_of(3);
        if is_new {
            let _ = fs::remove_file(&file);
            let _ = fs::remove_file(&before);
        } else {
            fs::copy(&file, &before).unwrap();
        }
        let random =
            seed.rotate_left(u32::try_from(round * 7 % 64).unwrap()) ^ (round as u64 * 977);
        let (wanted, longer) =
            if is_new { (0, random % 60_000) } else { (random % 20, random % 5000) };
        let acknowledged = run_victim(&file, wanted, Duration::from_micros(longer));
        let cluster = home.open();
        let found = counter(&cluster);
        assert!(found >= acknowledged.unwrap_or(0), "round {round}: {found} < {acknowledged:?}");
        let (survived, at) = (objects(&cluster), revision(&cluster));
        drop(cluster);
        let expected = replay(&before, &home, at);
        assert_eq!(survived, expected, "round {round}, revision {at}: half a commit");
        total += found;
        early += usize::from(acknowledged.is_none());
    }
    println!("{ROUNDS} kills, {early} before the first acknowledgement, {total} numbers kept");
    assert!(total > 0, "the victims wrote nothing");
}
