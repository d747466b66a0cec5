//! Servers that hang or drip hold few threads for a short time, and other namespaces do not wait for them.

use std::{
    collections::BTreeMap,
    io::Write,
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use operon_driver::{CatalogRequest, Catalogs};
use operon_image::{
    CatalogLimits, Fetcher, Images, ImagesOptions, Limits, MAX_NAMESPACE_CATALOGS, SourceCatalogs,
};
use operon_lifecycle::CatalogState;
use operon_object::{Object, Timestamp, map};
use operon_resolve::SourceName;

use super::{
    faults::Fixture,
    injector::{Injector, answer},
    support::{Scene, image, quick},
};

/// How long something that takes milliseconds may take on a busy machine.
const HANG_GUARD: Duration = Duration::from_secs(60);

/// The catalogs of a cluster's tenants, and the details that are logged about them.
struct Tenants {
    catalogs: SourceCatalogs,
    sources: Vec<Object>,
    log: Arc<Mutex<Vec<(String, String)>>>,
}

impl Tenants {
    fn new(limits: Limits) -> Self {
        let options = |cache| Ok(ImagesOptions { limits, ..ImagesOptions::bare(cache) });
        let fetcher = Arc::new(Fetcher::new(None, options, None).unwrap());
        let log: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let written = Arc::clone(&log);
        let write = move |object: &str, detail: &str| {
            written.lock().unwrap().push((object.to_owned(), detail.to_owned()));
        };
        let catalogs = SourceCatalogs::of_tenants(fetcher, Arc::new(write));
        Self { catalogs, sources: Vec::new(), log }
    }

    fn add(&mut self, namespace: &str, name: &str, image: &str) {
        let mut source =
            Object::new("operators.coreos.com/v1alpha1", "CatalogSource", namespace, name);
        source.set(&["spec"], map! { "sourceType" => "grpc", "image" => image });
        self.sources.push(source);
    }

    fn read(&self) -> BTreeMap<String, CatalogState> {
        let request = |source| CatalogRequest { source, config_map: None, pull_secrets: vec![] };
        let requests: Vec<CatalogRequest<'_>> = self.sources.iter().map(request).collect();
        let states = self.catalogs.read(&requests, Timestamp::from_milliseconds(1_000_000));
        let named = |(name, state): (SourceName, CatalogState)| (name.name, state);
        states.into_iter().map(named).collect()
    }

    /// Reads until something holds of the states.
    fn read_until(&self, holds: impl Fn(&BTreeMap<String, CatalogState>) -> bool) {
        let begun = Instant::now();
        loop {
            let states = self.read();
            if holds(&states) {
                return;
            }
            let problems: Vec<&String> = states.values().map(|state| &state.problem).collect();
            assert!(begun.elapsed() < HANG_GUARD, "not even after {HANG_GUARD:?}: {problems:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A server that accepts connections and never says a word.
struct SilentServer {
    host: String,
    accepted: Arc<Mutex<usize>>,
}

impl SilentServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let accepted: Arc<Mutex<usize>> = Arc::default();
        let counted = Arc::clone(&accepted);
        // It ends with the test program.
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                open.push(stream);
                *counted.lock().unwrap() = open.len();
            }
        });
        Self { host, accepted }
    }
}

#[test]
fn neighbours_are_read_while_forty_sources_hang() {
    let silent = SilentServer::start();
    let fixture = Fixture::sound();
    let good = Injector::start(move |request, stream| fixture.serve(request, stream));
    // Nothing is given up within the time of this test.
    let patient = Limits { answer_timeout: 10 * HANG_GUARD, ..Limits::default() };
    let mut tenants = Tenants::new(patient);
    for number in 0..40 {
        let image = format!("{}/bad/catalog{number}:v1", silent.host);
        tenants.add("bad", &format!("hanging{number}"), &image);
    }
    tenants.read_until(|_| *silent.accepted.lock().unwrap() >= 2);
    tenants.add("good", "neighbour", &format!("{}/me/catalog:v1", good.host));
    tenants.read_until(|states| states["neighbour"].catalog.is_some());
    let states = tenants.read();
    let hanging = states.values().filter(|state| state.is_being_read).count();
    assert_eq!(hanging, 40, "the others still wait");
    assert_eq!(*silent.accepted.lock().unwrap(), 2, "one namespace asks one host twice at once");
}

#[test]
fn statuses_do_not_tell_refused_from_silent_ports() {
    let silent = SilentServer::start();
    let refused = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let answering = Injector::start(|_, stream| {
        answer(stream, "418 I'm a teapot", &[], b"internal words");
    });
    let impatient = Limits { answer_timeout: Duration::from_millis(300), attempts: 1, ..quick() };
    let mut tenants = Tenants::new(impatient);
    for (name, host) in
        [("silent", &silent.host), ("refused", &refused), ("answering", &answering.host)]
    {
        tenants.add("probing", name, &format!("{host}/me/catalog:v1"));
    }
    tenants.read_until(|states| states.values().all(|state| !state.problem.is_empty()));
    let states = tenants.read();
    let text = |name: &str, host: &str| states[name].problem.replace(host, "HOST");
    assert_eq!(text("silent", &silent.host), text("refused", &refused));
    assert!(text("silent", &silent.host).starts_with("cannot reach `HOST`: connection failed"));
    assert!(
        states["answering"].problem.ends_with("answered 418"),
        "{}",
        states["answering"].problem
    );

    let log = tenants.log.lock().unwrap();
    let detail = |name: &str| {
        let object = format!("CatalogSource probing/{name}");
        log.iter().find(|(found, _)| *found == object).unwrap().1.clone()
    };
    assert!(detail("silent").contains("took longer than 300 ms"), "{log:?}");
    assert!(detail("refused").contains("refused"), "{log:?}");
    assert!(detail("answering").contains("internal words"), "{log:?}");
}

#[test]
fn dripping_layers_are_given_up() {
    let fixture = Fixture::sound();
    let server = Injector::start(move |request, stream| {
        if !fixture.is_layer(request) {
            return fixture.serve(request, stream);
        }
        // It keeps every promise, and sends a byte now and then.
        let from: usize = request.header("range").map_or(0, |range| {
            range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap()
        });
        let rest = &fixture.layer[from..];
        let range = format!("bytes {from}-{}/{}", fixture.layer.len() - 1, fixture.layer.len());
        let length = rest.len().to_string();
        let status = if from == 0 { "200 OK" } else { "206 Partial Content" };
        let headers = [("Content-Length", length.as_str()), ("Content-Range", range.as_str())];
        answer(stream, status, &headers, b"");
        for byte in rest {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
    let limits = Limits { stall_window: Duration::from_millis(200), stall_bytes: 1000, ..quick() };
    let scene = Scene::new();
    let images = Images::new(ImagesOptions { limits, ..scene.options() }).unwrap();
    let error = images.fetch_catalog(&image(&server.host, "me/catalog:v1")).unwrap_err();
    assert!(error.to_string().contains("receiving 1000 bytes"), "{error}");
    let requests = server.count(operon_oci::Digest::of(&Fixture::sound().layer).hex());
    assert_eq!(requests, 3, "a few bytes are no reason to ask again");
}

#[test]
fn manifests_have_a_deadline() {
    let silent = SilentServer::start();
    let drip = Injector::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
    });
    for host in [&silent.host, &drip.host] {
        let limits = Limits { manifest_deadline: Duration::from_millis(400), ..quick() };
        let scene = Scene::new();
        let images = Images::new(ImagesOptions { limits, ..scene.options() }).unwrap();
        let error = images.fetch_catalog(&image(host, "me/catalog:v1")).unwrap_err();
        let expected = "reading the manifest took longer than 400 ms";
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn namespaces_with_too_many_sources_are_told_the_limit() {
    let silent = SilentServer::start();
    let mut tenants = Tenants::new(Limits::default());
    for number in 0..=MAX_NAMESPACE_CATALOGS {
        let image = format!("{}/me/catalog:v1", silent.host);
        tenants.add("crowded", &format!("source{number:03}"), &image);
    }
    tenants.add("other", "alone", &format!("{}/me/catalog:v1", silent.host));
    let states = tenants.read();
    let refused: Vec<&String> =
        states.iter().filter(|(_, state)| !state.is_being_read).map(|(name, _)| name).collect();
    assert_eq!(refused, ["source050"]);
    let problem = &states["source050"].problem;
    assert!(problem.contains("namespace `crowded` has more than 50"), "{problem}");
}

#[test]
fn statuses_name_the_limit_of_large_catalogs() {
    let fixture = Fixture::sound();
    let server = Injector::start(move |request, stream| fixture.serve(request, stream));
    let catalogs = CatalogLimits { bytes: 10, ..CatalogLimits::of_tenants() };
    let mut tenants = Tenants::new(Limits { catalogs, ..quick() });
    tenants.add("tenant", "large", &format!("{}/me/catalog:v1", server.host));
    tenants.read_until(|states| !states["large"].problem.is_empty());
    let state = &tenants.read()["large"];
    let expected = "the catalog has more than 10 bytes of documents, which is more than is read for a \
                    CatalogSource; leave out packages, or split the catalog";
    assert_eq!(state.problem, expected);
    assert!(state.catalog.is_none());
}
