//! Catalogs that are absent, broken, truncated, slow or lie: each is reported by name and blocks only what needs
//! it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};

use super::quay::{NAMESPACE, Quay, Setup, TIDE_1_0, catalog, source, subscription};
use crate::harbour::comes_true;

/// The repository whose catalog never comes to an end.
const SLOW: &str = "slow";

/// What is wrong with a repository, and what is said about it.
const FAULTS: [(&str, &str); 9] = [
    ("absent", "`HOST` has no `HOST/absent:v1`"),
    ("forbidden", "refuses access to `HOST/forbidden:v1`"),
    ("failing", "answered 503"),
    ("page", "`HOST/page:v1`: the image manifest is not JSON"),
    ("truncated", "`HOST/truncated:v1`: the image manifest is not JSON"),
    ("forged", "the manifest of `HOST/forged:v1` should have the digest"),
    ("altered", "layer 1 of `HOST/altered:v1` should have the digest"),
    ("circle", "redirected more than 5 times"),
    ("no-catalog", "`HOST/no-catalog:v1` is no file-based catalog: it is a bundle"),
];

#[test]
fn a_catalog_that_is_broken_blocks_only_what_needs_it() {
    let Some(quay) = Quay::new() else { return };
    let registry = quay.stocked(Setup::default());
    quay.bundle_image("tide.v1.1.0");
    // Not the image that is right elsewhere: what has the right digest is right, wherever it came from.
    quay.catalog_image("other", &catalog("quay.example.com", &TIDE_1_0, &[]));
    let server = Hostile::start(&quay);
    let names = || FAULTS.iter().map(|(name, _)| *name).chain([SLOW]);
    let good = format!("{{sourceType: grpc, image: '{}/catalog:latest'}}", registry.host);
    let mut manifests = NAMESPACE.to_owned() + &source("good", &good);
    manifests += &subscription("beacon", "good");
    for name in names() {
        manifests +=
            &source(name, &format!("{{sourceType: grpc, image: '{}/{name}:v1'}}", server.host));
    }
    manifests += &subscription("tide-clock", "altered");
    quay.write("up/cluster.yaml", &manifests);

    let following = quay.begin("follow", &["up", "--follow", "up"]);
    following.wait_for("operator  beacon        1.0.0            Succeeded", 1);
    following.wait_for("operator  tide          1.0.0            Succeeded", 1);
    for (name, expected) in FAULTS {
        let expected = expected.replace("HOST", &server.host);
        let is_told = || {
            let status = quay.get("catsrc", name);
            status.contains("TRANSIENT_FAILURE") && unfolded(&status).contains(&expected)
        };
        assert!(comes_true(is_told), "{name}: `{expected}`: {}", quay.get("catsrc", name));
    }
    let slow = quay.get("catsrc", SLOW);
    assert!(slow.contains("lastObservedState: CONNECTING"), "{slow}");
    let blocked = quay.get("sub", "tide-clock");
    assert!(blocked.contains("altered"), "{blocked}");
    let log = following.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// Takes the line breaks out of the texts in YAML.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A server of images that are right but for one thing. It ends with the tests.
struct Hostile {
    host: String,
}

/// The parts of the images, as `umoci` made them.
struct Parts {
    blobs: PathBuf,
    catalog: Vec<u8>,
    bundle: Vec<u8>,
}

impl Hostile {
    fn start(quay: &Quay) -> Self {
        let manifest = |tag: &str| {
            let image = format!("oci:{}:{tag}", quay.text("layout"));
            let mut command = Command::new("skopeo");
            let output = command.args(["inspect", "--raw", &image]).output().expect("skopeo");
            assert!(output.status.success(), "{output:?}");
            output.stdout
        };
        let parts = Arc::new(Parts {
            blobs: quay.path("layout/blobs/sha256"),
            catalog: manifest("other"),
            bundle: manifest("tide.v1.1.0"),
        });
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = listener.local_addr().expect("an address").to_string();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let parts = Arc::clone(&parts);
                thread::spawn(move || parts.answer(stream));
            }
        });
        Self { host }
    }
}

impl Parts {
    /// Answers one request; a client that is gone is no fault.
    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
        let request = lines.next()?.ok()?;
        lines.find(|line| line.as_ref().map_or(true, String::is_empty));
        let mut words = request.split(' ');
        let (method, path) = (words.next()?, words.next()?.to_owned());
        let is_head = method == "HEAD";
        let mut say = |status: &str, more: &str, body: &[u8]| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n"
            );
            stream.write_all(head.as_bytes()).ok()?;
            if !is_head {
                stream.write_all(body).ok()?;
            }
            stream.flush().ok()
        };
        let Some((name, rest)) = path.strip_prefix("/v2/").and_then(|path| path.split_once('/'))
        else {
            return say("200 OK", "", b"{}");
        };
        let manifest = if name == "no-catalog" { &self.bundle } else { &self.catalog };
        let typed = "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n";
        match (name, rest.split_once('/')?) {
            ("absent", _) => say("404 Not Found", "", b"{}"),
            ("forbidden", _) => say("403 Forbidden", "", b"{}"),
            ("failing", _) => say("503 Service Unavailable", "", b""),
            ("page", ("manifests", _)) => {
                say("200 OK", "Content-Type: text/html\r\n", b"<html>welcome</html>")
            }
            ("circle", _) => say("307 Temporary Redirect", &format!("Location: {path}\r\n"), b""),
            ("truncated", ("manifests", _)) => {
                say("200 OK", typed, &manifest[..manifest.len() / 2])
            }
            ("forged", ("manifests", _)) => {
                let digest = format!("Docker-Content-Digest: sha256:{}\r\n", "0".repeat(64));
                say("200 OK", &(digest + typed), manifest)
            }
            (SLOW, _) => {
                // A byte now and then, for longer than the test.
                for _ in 0..600 {
                    stream.write_all(b"H").ok()?;
                    thread::sleep(Duration::from_millis(500));
                }
                None
            }
            (_, ("manifests", _)) => say("200 OK", typed, manifest),
            (_, ("blobs", digest)) => {
                let mut blob = fs::read(self.blobs.join(digest.strip_prefix("sha256:")?)).ok()?;
                if name == "altered" && !blob.starts_with(b"{") {
                    let middle = blob.len() / 2;
                    blob[middle] ^= 1;
                }
                say("200 OK", "", &blob)
            }
            _ => say("404 Not Found", "", b"{}"),
        }
    }
}
