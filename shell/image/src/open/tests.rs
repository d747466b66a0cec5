//! Hostile catalogs are refused before they take more memory than a controller has.

use std::{env, fs, process::Command, time::Duration};

use operon_fbc::ReadLimits;

use super::*;

/// Names the catalog that a child of this test opens.
const CHILD_CATALOG: &str = "OPERON_TEST_CATALOG";

/// What a child begins its answer with.
const ANSWER: &str = "answer: ";

/// The address space of a child, in KiB: half of what a controller has, of which the program and the stacks of
/// its threads take a part.
const CHILD_KIBIBYTES: u64 = 512 << 10;

fn open(path: &Path, limits: &CatalogLimits) -> Result<OpenedCatalog, OpenError> {
    let options = OpenOptions {
        cache: None,
        progress: &Progress::default(),
        now: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
        is_immutable: true,
    };
    open_within(path, &options, &OpenBounds { limits, allowance: &Allowance::unlimited() })
}

fn repeat(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

const PACKAGE: &str = "{\"schema\":\"olm.package\",\"name\":\"p\"}\n";

fn channel(entries: &str) -> String {
    format!(
        "{{\"schema\":\"olm.channel\",\"package\":\"p\",\"name\":\"c\",\"entries\":[{entries}]}}\n"
    )
}

fn bundle(number: usize, members: &str) -> String {
    format!("{{\"schema\":\"olm.bundle\",\"package\":\"p\",\"name\":\"b{number}\",{members}}}\n")
}

fn properties(number: usize, count: usize) -> String {
    let property = |at| format!("{{\"type\":\"t{number}-{at}\",\"value\":{at}}}");
    bundle(number, &format!("\"properties\":[{}]", repeat(count, property)))
}

#[test]
fn catalogs_beyond_a_limit_are_refused_by_name() {
    let limits = |change: &dyn Fn(&mut CatalogLimits, &mut ReadLimits)| {
        let mut limits = CatalogLimits::of_tenants();
        let mut declarations = limits.declarations.expect("tenants have limits");
        change(&mut limits, &mut declarations);
        CatalogLimits { declarations: Some(declarations), ..limits }
    };
    let text = format!(
        "{PACKAGE}{}{}{}",
        channel(&repeat(40, |at| format!("{{\"name\":\"b{at}\"}}"))),
        bundle(1, "\"image\":\"i\""),
        properties(2, 40)
    );
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("catalog.json");
    fs::write(&path, &text).expect("a file");
    let bytes = text.len() as u64;
    let claims: [(&str, CatalogLimits); 4] = [
        ("more than 100 bytes of documents", limits(&|limits, _| limits.bytes = 100)),
        ("more than 8000 bytes of memory", limits(&|_, read| read.declared_bytes = 8_000)),
        ("more than 1 bundles", limits(&|_, read| read.bundles = 1)),
        ("a name of more than 4 bytes", limits(&|_, read| read.name_bytes = 4)),
    ];
    for (expected, limits) in claims {
        let error = open(&path, &limits).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("leave out packages"), "{error}");
    }
    let exact = limits(&|limits, read| {
        limits.bytes = bytes;
        read.bundles = 2;
        read.name_bytes = "olm.package".len();
    });
    let opened = open(&path, &exact).expect("it has exactly as much as it may");
    assert_eq!(opened.catalog().counts().entries, 40);
    let unlimited = open(&path, &CatalogLimits::default()).expect("a user's own catalog");
    assert_eq!(unlimited.catalog().image_bytes(), opened.catalog().image_bytes());
}

#[test]
fn large_documents_are_refused_in_any_notation() {
    let directory = tempfile::tempdir().expect("a directory");
    let limits = CatalogLimits::of_tenants();
    let long = |bytes: usize| "x".repeat(bytes);
    let json = |bytes| bundle(1, &format!("\"image\":\"{}\"", long(bytes)));
    let yaml = |bytes| format!("---\nschema: x\nname: y\na: {}\n", long(bytes));
    for (name, document) in [("a.json", &json as &dyn Fn(usize) -> String), ("a.yaml", &yaml)] {
        let path = directory.path().join(name);
        let below = document(limits.document_bytes - 1_000);
        fs::write(&path, format!("{below}{below}{below}")).expect("a file");
        assert!(open(&path, &limits).is_ok(), "{name}");
        fs::write(&path, format!("{below}{}{below}", document(2 * limits.document_bytes)))
            .expect("a file");
        let error = open(&path, &limits).expect_err(name).to_string();
        let expected = format!("a document of more than 4194304 bytes in `{name}`");
        assert!(error.contains(&expected), "{error}");
        assert!(open(&path, &CatalogLimits::default()).is_ok(), "{name}");
        fs::remove_file(&path).expect("it was there");
    }
}

/// What the children of the next test do; alone, it does nothing.
#[test]
fn child_opens_a_catalog() {
    let Some(path) = env::var_os(CHILD_CATALOG) else { return };
    let answer = match open(Path::new(&path), &CatalogLimits::of_tenants()) {
        Ok(opened) => format!("{} documents", opened.catalog().counts().others),
        Err(error) => error.to_string(),
    };
    println!("{ANSWER}{answer}");
}

/// Opens a catalog in a process with little memory.
fn open_in_little_memory(path: &Path) -> String {
    let program = env::current_exe().expect("this test");
    let script = format!("ulimit -v {CHILD_KIBIBYTES} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .args(["--exact", "open::tests::child_opens_a_catalog", "--nocapture"])
        .env(CHILD_CATALOG, path)
        // Arenas reserve addresses that they do not use.
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text.lines().find_map(|line| line.split_once(ANSWER).map(|(_, answer)| answer));
    answer.map_or_else(|| format!("{output:?}"), str::to_owned)
}

#[test]
fn hostile_catalogs_fit_into_half_of_the_memory() {
    let entries = channel(&repeat(60_000, |_| "{}".to_owned()));
    let names = channel(&repeat(60_000, |at| format!("{{\"name\":\"b{at}\"}}")));
    let numbers = repeat(2_000_000, |_| "1".to_owned());
    let yaml = format!("---\nschema: x\na: [{numbers}]\n").repeat(3);
    let value = |at: usize| format!("{{\"type\":\"t\",\"value\":\"{at}{}\"}}", "x".repeat(1 << 20));
    let texts = |count: usize| -> String {
        (0..count).map(|at| bundle(at, &format!("\"properties\":[{}]", value(at)))).collect()
    };
    let many = |count: usize| -> String { (0..count).map(|at| properties(at, 10_000)).collect() };
    let refused = "more than 134217728 bytes of memory";
    let families = [
        ("entries.json", format!("{PACKAGE}{}", entries.repeat(20)), refused),
        ("names.json", format!("{PACKAGE}{}", names.repeat(12)), refused),
        ("properties.json", format!("{PACKAGE}{}", many(60)), refused),
        ("texts.json", format!("{PACKAGE}{}", texts(150)), refused),
        // Just below the limit: these are built.
        ("most-texts.json", format!("{PACKAGE}{}", texts(60)), "0 documents"),
        ("most-properties.json", format!("{PACKAGE}{}", many(24)), "0 documents"),
        ("numbers.yaml", yaml, "3 documents"),
    ];
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text, expected) in families {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file");
        let answer = open_in_little_memory(&path);
        assert!(answer.contains(expected), "{name}: {answer}");
        fs::remove_file(&path).expect("it was there");
    }
}
