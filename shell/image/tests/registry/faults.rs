//! Servers that break, lie or never end: a clear error in bounded time, and nothing left behind.

use std::{
    fs,
    io::{self, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use operon_image::{Images, ImagesOptions, Limits, PullError};
use operon_oci::{
    Descriptor, Digest, ImageConfig, Manifest, OCI_CONFIG, OCI_LAYER_GZIP, OCI_MANIFEST, Platform,
    layer::LayerLimits,
};

use super::{
    injector::{Injector, Request, answer},
    support::{CONFIGS, Scene, catalog, files, image, quick},
};

/// An image of one layer, as bytes.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) manifest: Vec<u8>,
    config: Vec<u8>,
    pub(crate) layer: Vec<u8>,
}

impl Fixture {
    pub(crate) fn new(layer: Vec<u8>, media_type: &str) -> Self {
        let mut archive = Vec::new();
        // A layer that cannot be decompressed has no diff id, and is refused before one is compared.
        let _ = MultiGzDecoder::new(&layer[..]).read_to_end(&mut archive);
        Self::with_diff_id(layer, media_type, Digest::of(&archive))
    }

    pub(crate) fn with_diff_id(layer: Vec<u8>, media_type: &str, diff_id: Digest) -> Self {
        let config = ImageConfig {
            platform: Platform::linux("amd64"),
            labels: [(CONFIGS.to_owned(), "/configs".to_owned())].into(),
            diff_ids: vec![diff_id],
            ..ImageConfig::default()
        };
        let config = config.to_bytes();
        let manifest = Manifest {
            media_type: OCI_MANIFEST.to_owned(),
            artifact_type: None,
            config: Descriptor::of(OCI_CONFIG, &config),
            layers: vec![Descriptor::of(media_type, &layer)],
            annotations: Default::default(),
        };
        Self { manifest: manifest.to_bytes(), config, layer }
    }

    /// A sound catalog; its layer does not compress to nothing.
    pub(crate) fn sound() -> Self {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::none()));
        append(&mut archive, "configs/etcd/catalog.json", catalog("etcd").as_bytes());
        append(&mut archive, "configs/README.md", &vec![b'x'; 200_000]);
        Self::new(archive.into_inner().unwrap().finish().unwrap(), OCI_LAYER_GZIP)
    }

    /// A catalog of so many bytes in one file, which compress to a fraction.
    pub(crate) fn large(size: u64) -> Self {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_path("configs/large.json").unwrap();
        header.set_cksum();
        let line = catalog("large").repeat(1000);
        archive.append(&header, Endless { text: line.as_bytes(), at: 0 }.take(size)).unwrap();
        Self::new(archive.into_inner().unwrap().finish().unwrap(), OCI_LAYER_GZIP)
    }

    /// Answers as a registry does.
    pub(crate) fn serve(&self, request: &Request, stream: &mut TcpStream) {
        let digest = Digest::of(&self.manifest).to_string();
        let headers = [("Content-Type", OCI_MANIFEST), ("Docker-Content-Digest", digest.as_str())];
        let blob = |bytes: &[u8]| request.path.ends_with(Digest::of(bytes).hex());
        match request.path.as_str() {
            path if path.contains("/manifests/") => {
                let body: &[u8] = if request.method == "HEAD" { b"" } else { &self.manifest };
                answer(stream, "200 OK", &headers, body);
            }
            _ if blob(&self.config) => answer(stream, "200 OK", &[], &self.config),
            _ if blob(&self.layer) => answer(stream, "200 OK", &[], &self.layer),
            _ => answer(stream, "404 Not Found", &[], b"{}"),
        }
    }

    pub(crate) fn is_layer(&self, request: &Request) -> bool {
        request.path.ends_with(Digest::of(&self.layer).hex())
    }
}

/// Repeats a text for ever.
struct Endless<'t> {
    text: &'t [u8],
    at: usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = &self.text[self.at..];
        let length = piece.len().min(buffer.len());
        buffer[..length].copy_from_slice(&piece[..length]);
        self.at = (self.at + length) % self.text.len();
        Ok(length)
    }
}

fn append<W: Write>(archive: &mut tar::Builder<W>, path: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    // Written as bytes, because the library refuses the names that are of interest here.
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_cksum();
    archive.append(&header, content).unwrap();
}

/// What remains of a fetch.
struct Outcome {
    result: Result<Vec<(String, String)>, PullError>,
    scene: Scene,
}

impl Outcome {
    fn error(&self) -> &PullError {
        self.result.as_ref().expect_err("it should have failed")
    }
}

fn fetch(injector: &Injector, limits: Limits) -> Outcome {
    let scene = Scene::new();
    scene.write("untouched", "");
    let began = Instant::now();
    let images = Images::new(ImagesOptions { limits, ..scene.options() }).unwrap();
    let fetched = images.fetch_catalog(&image(&injector.host, "me/catalog:v1"));
    assert!(began.elapsed() < Duration::from_secs(60), "it took {:?}", began.elapsed());
    let result = fetched.map(|tree| files(&tree.directory));
    // Whatever happened, nothing is half there and nothing lies elsewhere.
    let mut names: Vec<_> = fs::read_dir(scene.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert!(names.iter().all(|name| name == "cache" || name == "untouched"), "{names:?}");
    let temporary = scene.path("cache/images/temporary");
    assert!(!temporary.exists() || files(&temporary).is_empty(), "{:?}", files(&temporary));
    Outcome { result, scene }
}

fn injector(
    handler: impl Fn(&Fixture, &Request, &mut TcpStream) + Send + Sync + 'static,
) -> Injector {
    let fixture = Fixture::sound();
    Injector::start(move |request, stream| handler(&fixture, request, stream))
}

#[test]
fn a_broken_transfer_goes_on_where_it_stopped() {
    // Servers that know ranges, and one that sends everything again.
    for knows_ranges in [true, false] {
        let broken = AtomicUsize::new(0);
        let server = injector(move |fixture, request, stream| {
            if !fixture.is_layer(request) {
                return fixture.serve(request, stream);
            }
            let whole = &fixture.layer;
            let from = request.header("range").map_or(0, |range| {
                range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap()
            });
            let rest = if knows_ranges { &whole[from..] } else { &whole[..] };
            let length = rest.len().to_string();
            let range = format!("bytes {from}-{}/{}", whole.len() - 1, whole.len());
            let (status, headers) = if knows_ranges && from > 0 {
                let headers = vec![("Content-Length", &*length), ("Content-Range", &*range)];
                ("206 Partial Content", headers)
            } else {
                ("200 OK", vec![("Content-Length", &*length)])
            };
            let is_breaking = broken.fetch_add(1, Ordering::Relaxed) < 2;
            let sent = if is_breaking { rest.len() / 2 } else { rest.len() };
            answer(stream, status, &headers, &rest[..sent]);
        });
        let outcome = fetch(&server, quick());
        assert_eq!(outcome.result.as_ref().unwrap().len(), 2);
        let ranges: Vec<_> = server
            .seen()
            .iter()
            .filter_map(|seen| seen.header("range").map(str::to_owned))
            .collect();
        assert_eq!(ranges.len(), 2, "{ranges:?}");
        drop(outcome.scene);
    }
}

#[test]
fn lies_about_content_are_found_out() {
    type Lie = fn(&Fixture) -> Vec<u8>;
    let lies: [(&str, Lie, &str, usize); 4] = [
        (
            "flipped",
            |fixture| {
                let mut bytes = fixture.layer.clone();
                bytes[1000] ^= 1;
                bytes
            },
            "should have the digest",
            1,
        ),
        ("short", |fixture| fixture.layer[..5000].to_vec(), "bytes, but 5000 arrived", 3),
        ("long", |fixture| [&fixture.layer[..], &[0; 9]].concat(), "bytes, but", 1),
        ("empty", |_| Vec::new(), "bytes, but 0 arrived", 3),
    ];
    for (name, lie, expected, requests) in lies {
        let server = injector(move |fixture, request, stream| match fixture.is_layer(request) {
            true => answer(stream, "200 OK", &[], &lie(fixture)),
            false => fixture.serve(request, stream),
        });
        let outcome = fetch(&server, quick());
        let error = outcome.error().to_string();
        assert!(error.contains("layer 1 of") && error.contains(expected), "{name}: {error}");
        let hex = Digest::of(&Fixture::sound().layer).hex().to_owned();
        assert_eq!(server.count(&hex), requests, "{name}");
    }
    // A manifest that is not the one that was announced, and one that is not JSON.
    let server = injector(|fixture, request, stream| match request.method.as_str() {
        "GET" if request.path.contains("/manifests/") => answer(stream, "200 OK", &[], b"{}"),
        _ => fixture.serve(request, stream),
    });
    let error = fetch(&server, quick());
    assert!(matches!(error.error(), PullError::DigestMismatch { .. }), "{}", error.error());
}

#[test]
fn what_never_ends_is_ended() {
    let impatient = || Limits {
        answer_timeout: Duration::from_millis(800),
        stall_window: Duration::from_millis(300),
        stall_bytes: 1000,
        attempts: 2,
        ..quick()
    };
    type Behave = fn(&Fixture, &Request, &mut TcpStream);
    fn endless(stream: &mut TcpStream, piece: &[u8], pause: Duration) {
        while stream.write_all(piece).is_ok() {
            thread::sleep(pause);
        }
    }
    let claims: [(&str, Behave, &str); 6] = [
        (
            "slow drip",
            |fixture, request, stream| {
                if !fixture.is_layer(request) {
                    return fixture.serve(request, stream);
                }
                answer(
                    stream,
                    "200 OK",
                    &[("Content-Length", &fixture.layer.len().to_string())],
                    b"",
                );
                endless(stream, b"x", Duration::from_millis(20));
            },
            "receiving 1000 bytes took longer than 300 ms",
        ),
        (
            "silence",
            |_, _, _| thread::sleep(Duration::from_secs(3)),
            "the answer took longer than 800 ms",
        ),
        (
            "headers",
            |_, _, stream| {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
                endless(stream, b"X-More: and more\r\n", Duration::ZERO);
            },
            "broke",
        ),
        (
            "one header",
            |_, _, stream| {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-More: ");
                endless(stream, &[b'x'; 4096], Duration::ZERO);
            },
            "broke",
        ),
        (
            "announced gigabyte",
            |fixture, request, stream| match request.method.as_str() {
                "HEAD" => fixture.serve(request, stream),
                _ => answer(stream, "200 OK", &[("Content-Length", "1000000000")], b"{"),
            },
            "the manifest of",
        ),
        (
            "endless manifest",
            |fixture, request, stream| {
                if request.method == "HEAD" {
                    return fixture.serve(request, stream);
                }
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
                endless(stream, &[b' '; 65536], Duration::ZERO);
            },
            "has more than 4194304 bytes",
        ),
    ];
    for (name, behave, expected) in claims {
        let server = injector(behave);
        let outcome = fetch(&server, impatient());
        let error = outcome.error().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn what_was_last_good_stays_while_the_next_is_broken() {
    let (old, new) = (Fixture::sound(), Fixture::large(1000));
    let is_new = Arc::new(AtomicBool::new(false));
    let server = Injector::start({
        let is_new = Arc::clone(&is_new);
        move |request, stream| match is_new.load(Ordering::Relaxed) {
            true if new.is_layer(request) => answer(stream, "503 Service Unavailable", &[], b""),
            true => new.serve(request, stream),
            false => old.serve(request, stream),
        }
    });
    let scene = Scene::new();
    let (images, location) = (scene.images(), image(&server.host, "me/catalog:v1"));
    let before = images.fetch_catalog(&location).unwrap();
    is_new.store(true, Ordering::Relaxed);
    let after = images.fetch_catalog(&location).unwrap();
    assert_eq!((&after.directory, &after.digest), (&before.directory, &before.digest));
    assert!(after.stale.unwrap().reason.contains("answered 503"));
    assert!(after.seen <= before.seen);
}

#[test]
fn registries_need_not_know_head() {
    let server = injector(|fixture, request, stream| match request.method.as_str() {
        "HEAD" => answer(stream, "405 Method Not Allowed", &[], b""),
        _ => fixture.serve(request, stream),
    });
    assert_eq!(fetch(&server, quick()).result.unwrap().len(), 2);
}

#[test]
fn a_fetch_has_a_deadline() {
    let server = injector(|_, _, _| thread::sleep(Duration::from_secs(3)));
    let outcome = fetch(&server, Limits { deadline: Duration::from_millis(200), ..quick() });
    let error = outcome.error().to_string();
    assert!(error.contains("everything together took longer than 200 ms"), "{error}");
}

/// A file system that is unmounted however the test ends.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let scene = Scene::new();
    fs::create_dir(scene.path("cache")).unwrap();
    let arguments = ["-t", "tmpfs", "-o", "size=100k", "tmpfs", &scene.text("cache")];
    let mounted = Command::new("mount").args(arguments).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        let reason = "a small file system cannot be mounted here";
        operon_parts::leave_out(operon_parts::Part::System, reason);
        return;
    }
    let _mount = Mount(scene.path("cache"));
    let server = injector(|fixture, request, stream| fixture.serve(request, stream));
    let fetched = scene.images().fetch_catalog(&image(&server.host, "me/catalog:v1"));
    let error = fetched.unwrap_err().to_string();
    assert!(error.contains("No space left") && error.contains("operon cache prune"), "{error}");
    assert_eq!(files(&scene.path("cache/images/temporary")), Vec::new());
}

#[test]
fn hostile_layers_stay_in_their_tree() {
    let packed = |entries: &[(&str, &[u8])]| {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        append(&mut archive, "configs/a.json", catalog("a").as_bytes());
        for (path, content) in entries {
            append(&mut archive, path, content);
        }
        archive.into_inner().unwrap().finish().unwrap()
    };
    let through_link = || {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        append(&mut archive, "configs/a.json", catalog("a").as_bytes());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        archive.append_link(&mut header, "configs/link", "../../../../../..").unwrap();
        append(&mut archive, "configs/link/untouched", b"touched");
        archive.into_inner().unwrap().finish().unwrap()
    };
    let bomb = || packed(&[("configs/b.json", &vec![0; 64 << 20])]);
    let zstd = || zstd::encode_all(&packed(&[])[..], 1).unwrap();
    let claims = [
        (
            "parent",
            packed(&[("configs/../../../untouched", b"touched")]),
            OCI_LAYER_GZIP,
            Some(".."),
        ),
        ("absolute", packed(&[("/configs/../untouched", b"touched")]), OCI_LAYER_GZIP, Some("..")),
        ("through a link", through_link(), OCI_LAYER_GZIP, None),
        ("bomb", bomb(), OCI_LAYER_GZIP, Some("layer 1")),
        ("wrong type", zstd(), OCI_LAYER_GZIP, Some("zstd")),
        ("unknown type", packed(&[]), "application/x-unknown", Some("application/x-unknown")),
        ("truncated", packed(&[])[..40].to_vec(), OCI_LAYER_GZIP, Some("layer 1")),
        ("no archive", b"hello".to_vec(), OCI_LAYER_GZIP, Some("layer 1")),
    ];
    let layers = LayerLimits { grace_bytes: 1 << 20, ratio: 100, ..LayerLimits::default() };
    for (name, layer, media_type, expected) in claims {
        let fixture = Fixture::new(layer, media_type);
        let server = Injector::start(move |request, stream| fixture.serve(request, stream));
        let outcome = fetch(&server, Limits { layers, ..quick() });
        assert_eq!(fs::read(outcome.scene.path("untouched")).unwrap(), b"", "{name}");
        match expected {
            Some(expected) => {
                let error = outcome.error().to_string();
                assert!(error.contains(expected), "{name}: {error}");
            }
            None => {
                let found = outcome.result.unwrap();
                assert_eq!(found, [("a.json".to_owned(), catalog("a"))], "{name}");
            }
        }
    }
}

#[test]
fn retries_are_for_what_may_pass() {
    type Headers = &'static [(&'static str, &'static str)];
    let claims: [(&str, &'static str, Headers, bool, usize); 6] = [
        ("busy", "503 Service Unavailable", &[], true, 2),
        ("limited for a moment", "429 Too Many Requests", &[("Retry-After", "0")], true, 2),
        ("limited for long", "429 Too Many Requests", &[("Retry-After", "3600")], false, 1),
        ("gone", "404 Not Found", &[], false, 1),
        ("forbidden", "403 Forbidden", &[], false, 1),
        ("odd", "418 I'm a teapot", &[], false, 1),
    ];
    for (name, status, headers, succeeds, requests) in claims {
        let answered = AtomicUsize::new(0);
        let server = injector(move |fixture, request, stream| {
            if fixture.is_layer(request) && answered.fetch_add(1, Ordering::Relaxed) == 0 {
                return answer(
                    stream,
                    status,
                    headers,
                    br#"{"errors": [{"code": "X", "message": "because"}]}"#,
                );
            }
            fixture.serve(request, stream);
        });
        let outcome = fetch(&server, quick());
        assert_eq!(outcome.result.is_ok(), succeeds, "{name}: {:?}", outcome.result);
        assert_eq!(server.count(Digest::of(&Fixture::sound().layer).hex()), requests, "{name}");
        if let Err(error) = outcome.result {
            assert!(error.to_string().contains("because (X)"), "{name}: {error}");
        }
    }
}
