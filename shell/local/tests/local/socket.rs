//! Peers that are slow, silent, mad or many; and those that behave.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read as _, Write as _},
    os::unix::{
        fs::PermissionsExt as _,
        net::{UnixListener, UnixStream},
    },
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use operon_driver::{Cluster as _, Interest};
use operon_lifecycle::ErrorKind;
use operon_local::{
    Access, ConnectError, FRAME_BYTES_LIMIT, LocalCluster, PEERS_LIMIT, RemoteCluster, SOCKET_FILE,
    ServeError, Service, connect_or_open, serve,
};
use operon_object::{Object, Value, known};

use crate::support::{Home, config_map};

struct Shop {
    home: Home,
    cluster: Arc<LocalCluster>,
    socket: PathBuf,
    service: Service,
}

impl Shop {
    fn open() -> Self {
        let home = Home::new();
        let cluster = Arc::new(home.open());
        let socket = home.directory.path().join(SOCKET_FILE);
        let service = serve(Arc::clone(&cluster), &socket).unwrap();
        Self { home, cluster, socket, service }
    }

    fn visit(&self) -> RemoteCluster {
        RemoteCluster::connect(&self.socket, "visitor").unwrap()
    }
}

fn frame(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    [&length, text.as_bytes()].concat()
}

/// Says some bytes and returns what is answered until the other end closes or falls silent.
fn say(shop: &Shop, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(&shop.socket).unwrap();
    let _ = stream.write_all(bytes);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn mad_peers_are_told_and_sent_away() {
    let shop = Shop::open();
    let deep = format!(r#"{{"head":{},"objects":0}}"#, "[".repeat(2000));
    let huge = u32::try_from(FRAME_BYTES_LIMIT + 1).unwrap().to_be_bytes();
    let head =
        |call: &str, objects: &str| frame(&format!(r#"{{"head":{call},"objects":{objects}}}"#));
    let claims: Vec<(Vec<u8>, &str)> = vec![
        (frame("not JSON"), "not understood"),
        (frame(""), "not understood"),
        (frame("[]"), "not understood"),
        (frame("{}"), "with how many objects"),
        (frame(&deep), "not understood"),
        (huge.to_vec(), "bytes are more than"),
        (vec![0xff; 64], "bytes are more than"),
        (head("{}", "0"), "the call `` is not known"),
        (head(r#"{"call":"shutdown"}"#, "0"), "the call `shutdown` is not known"),
        (head(r#"{"call":"list"}"#, "-1"), "with how many objects"),
        (head(r#"{"call":"list"}"#, "2"), "with how many objects"),
        (head(r#"{"call":"list","interests":["Pod"]}"#, "0"), "an interest is a list"),
        (head(r#"{"call":"get","key":[1,2,3,4]}"#, "0"), "a key is a list"),
        (head(r#"{"call":"changes","interests":[],"since":3}"#, "0"), "a point is a map"),
        (head(r#"{"call":"wait","since":{},"milliseconds":-5}"#, "0"), "must be a count"),
        (head(r#"{"call":"delete","key":["","Pod","a","b"]}"#, "0"), "`uid` must be a text"),
        (head(r#"{"call":"create","manager":"me"}"#, "0"), "without its object"),
        (
            [head(r#"{"call":"create"}"#, "1"), frame(r#"{"apiVersion":"v1","kind":"Pod"}"#)]
                .concat(),
            "`manager` must be",
        ),
        (
            [head(r#"{"call":"create","manager":"me"}"#, "1"), frame("[]")].concat(),
            "an object is a map",
        ),
        // Those who go away in the middle are not answered.
        (head(r#"{"call":"create","manager":"me"}"#, "1"), ""),
        (vec![0, 0], ""),
        (vec![0, 0, 1, 0, b'{'], ""),
        (Vec::new(), ""),
    ];
    for (bytes, wanted) in claims {
        let answer = say(&shop, &bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        assert!(
            answer.contains(wanted) && answer.is_empty() == wanted.is_empty(),
            "{shown}: {answer}"
        );
    }
    assert!(shop.visit().list(&BTreeSet::new()).is_ok(), "the others are served");
}

#[test]
fn noise_does_not_hurt() {
    let shop = Shop::open();
    let good = [
        frame(r#"{"head":{"call":"create","manager":"me"},"objects":1}"#),
        frame(r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}"#),
    ]
    .concat();
    let mut state = 99_u64;
    for _ in 0..300 {
        let mut bytes = good.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(state >> 40).unwrap() % bytes.len();
            bytes[at] = (state >> 32) as u8;
        }
        // Lengths that became long would be waited for; the end of the stream ends that.
        say(&shop, &bytes);
    }
    assert!(shop.visit().get(&known::CONFIG_MAP.key("default", "a")).is_ok());
}

#[test]
fn silent_peers_take_places_but_not_all_time() {
    let shop = Shop::open();
    let kept = shop.visit();
    let silent: Vec<UnixStream> =
        (1..PEERS_LIMIT).map(|_| UnixStream::connect(&shop.socket).unwrap()).collect();
    // Those who are in are served while others say nothing, or half a frame.
    for mut stream in &silent {
        stream.write_all(&[0, 0]).unwrap();
    }
    assert!(kept.list(&BTreeSet::new()).is_ok());
    let full = loop {
        // The connections are taken in order, but not at once.
        match RemoteCluster::connect(&shop.socket, "late") {
            Ok(_) => thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert!(matches!(&full, ConnectError::NoAnswer { .. }), "{full}");
    assert!(full.to_string().contains("32 programs use the cluster already"), "{full}");
    drop(silent);
    let begun = Instant::now();
    while RemoteCluster::connect(&shop.socket, "later").is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "no place became free");
        thread::yield_now();
    }
}

#[test]
fn many_objects_and_changes_travel() {
    let shop = Shop::open();
    let visitor = shop.visit();
    let interests = BTreeSet::from([
        Interest::labelled(known::CONFIG_MAP, "told", "yes"),
        Interest::within(known::CONFIG_MAP, "default"),
        Interest::named(known::CONFIG_MAP.key("default", "b")),
        Interest::all(known::CONFIG_MAP),
    ]);
    let point = visitor.list(&interests).unwrap().cursor;
    let large = "<large>".repeat(20_000);
    for number in 0..40 {
        visitor.create(&config_map(&format!("large-{number}"), &large)).unwrap();
    }
    let mut odd = config_map("odd", "1");
    // As deep as an object can be: it travels beside the message, not in it.
    let inner = (0..395).fold(Value::from(1), |inner, _| Value::map([("d", inner)]));
    odd.set(&["deep"], inner);
    odd.set(&["whole"], Value::Float(2.0));
    if let Ok(found) = visitor.create(&odd) {
        assert_eq!(found.value().get("whole"), &Value::Float(2.0));
    }
    let here = shop.cluster.list(&interests).unwrap();
    let there = visitor.list(&interests).unwrap();
    assert_eq!(there.objects, here.objects);
    assert_eq!(there.cursor, here.cursor);
    let changes = visitor.changes(&interests, &point).unwrap();
    assert_eq!(changes.changes.len(), here.objects.len());
    let managers: BTreeSet<&str> = here.objects[0]
        .metadata("managedFields")
        .elements()
        .iter()
        .map(|entry| entry.get("manager").str())
        .collect();
    assert_eq!(managers, BTreeSet::from(["visitor"]));
    let applied = visitor.apply_as(&config_map("applied", "1"), "somebody").unwrap();
    let entry = &applied.metadata("managedFields").elements()[0];
    assert_eq!(entry.get("manager").str(), "somebody");
}

#[test]
fn waiting_ends_with_a_change_or_in_time() {
    let shop = Shop::open();
    let visitor = Arc::new(shop.visit());
    let point = visitor.list(&BTreeSet::new()).unwrap().cursor;
    assert!(!visitor.wait_for_change(&point, Duration::from_millis(20)));
    let waiting = {
        let (visitor, point) = (Arc::clone(&visitor), point.clone());
        thread::spawn(move || visitor.wait_for_change(&point, Duration::from_secs(600)))
    };
    // The same visitor is served while it waits.
    visitor.create(&config_map("news", "1")).unwrap();
    assert!(waiting.join().unwrap());
    assert!(visitor.wait_for_change(&point, Duration::ZERO), "it is still news");
    // Ending the service ends the waiting of everybody, and says that there is something to see.
    let point = visitor.list(&BTreeSet::new()).unwrap().cursor;
    let waiting = {
        let visitor = Arc::clone(&visitor);
        thread::spawn(move || visitor.wait_for_change(&point, Duration::from_secs(600)))
    };
    let begun = Instant::now();
    drop(shop.service);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(waiting.join().unwrap());
    let error = visitor.list(&BTreeSet::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(!shop.socket.exists());
    // A new service on the same socket is found by itself.
    let _service = serve(Arc::clone(&shop.cluster), &shop.socket).unwrap();
    assert!(visitor.list(&BTreeSet::new()).is_ok());
}

#[test]
fn the_socket_is_for_its_owner_and_replaces_only_what_is_stale() {
    let shop = Shop::open();
    let mode = fs::metadata(&shop.socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let left: Vec<_> = fs::read_dir(shop.home.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        BTreeSet::from_iter(left.iter().map(String::as_str)),
        BTreeSet::from(["operon.redb", "operon.sock"])
    );
    let error = serve(Arc::clone(&shop.cluster), &shop.socket).unwrap_err();
    assert!(matches!(error, ServeError::InUse { .. }), "{error}");

    let beside = |name: &str| shop.home.directory.path().join(name);
    fs::write(beside("file"), "precious").unwrap();
    let error = serve(Arc::clone(&shop.cluster), &beside("file")).unwrap_err();
    assert!(matches!(error, ServeError::NotASocket { .. }), "{error}");
    assert_eq!(fs::read_to_string(beside("file")).unwrap(), "precious");

    drop(UnixListener::bind(beside("stale")).unwrap());
    let service = serve(Arc::clone(&shop.cluster), &beside("stale")).unwrap();
    assert!(RemoteCluster::connect(&beside("stale"), "visitor").is_ok());
    // Somebody takes the name away: the service ends all the same, and leaves theirs alone.
    fs::remove_file(beside("stale")).unwrap();
    fs::write(beside("stale"), "theirs").unwrap();
    drop(service);
    assert_eq!(fs::read_to_string(beside("stale")).unwrap(), "theirs");

    let long = beside(&"long".repeat(30)).join("deep".repeat(20));
    fs::create_dir_all(&long).unwrap();
    let _service = serve(Arc::clone(&shop.cluster), &long.join(SOCKET_FILE)).unwrap();
    assert!(RemoteCluster::connect(&long.join(SOCKET_FILE), "visitor").is_ok());
}

#[test]
fn a_directory_is_reached_one_way_or_the_other() {
    let home = Home::new();
    let reach = || connect_or_open(home.directory.path(), &home.options());
    let Ok(Access::Local(cluster)) = reach() else { panic!("nobody else has it") };
    let made = cluster.create(&config_map("made", "1")).unwrap();
    // Whoever comes while the file is open and not shared yet waits until it is.
    let service = thread::scope(|scope| {
        let second = scope.spawn(reach);
        let service =
            serve(Arc::clone(&cluster), &home.directory.path().join(SOCKET_FILE)).unwrap();
        let second = second.join().unwrap().unwrap();
        assert!(matches!(second, Access::Remote(_)));
        assert_eq!(second.get(&made.key()).unwrap().as_ref(), Some(&made));
        service
    });
    drop((service, cluster));
    let third = reach().unwrap();
    assert!(matches!(third, Access::Local(_)));
    assert_eq!(third.get(&made.key()).unwrap().as_ref(), Some(&made));
    drop(third);

    // Somebody who speaks another language.
    let listener = UnixListener::bind(home.directory.path().join(SOCKET_FILE)).unwrap();
    let stranger = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let answer = frame(r#"{"head":{"protocol":99},"objects":0}"#);
        stream.write_all(&answer).unwrap();
    });
    let error = reach().unwrap_err().to_string();
    stranger.join().unwrap();
    assert!(error.contains("speaks version 99") && error.contains("version 3"), "{error}");
}

#[test]
fn objects_of_no_shape_are_not_taken_for_answers() {
    let home = Home::new();
    let socket = home.directory.path().join(SOCKET_FILE);
    let listener = UnixListener::bind(&socket).unwrap();
    let answers = [
        r#"{"head":{"protocol":3},"objects":0}"#,
        r#"{"head":{"found":true},"objects":0}"#,
        r#"{"head":{},"objects":0}"#,
        r#"{"head":{"cursor":{},"gone":[true]},"objects":0}"#,
        r#"{"head":{"error":"Nonsense","message":"what?"},"objects":0}"#,
    ];
    let stranger = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in answers {
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut call = vec![0; u32::from_be_bytes(length) as usize];
            stream.read_exact(&mut call).unwrap();
            stream.write_all(&frame(answer)).unwrap();
        }
    });
    let visitor = RemoteCluster::connect(&socket, "visitor").unwrap();
    let key = Object::new("v1", "ConfigMap", "default", "a").key();
    assert_eq!(visitor.get(&key).unwrap_err().kind, ErrorKind::Unavailable);
    assert_eq!(visitor.list(&BTreeSet::new()).unwrap_err().kind, ErrorKind::Unavailable);
    let changes = visitor.changes(&BTreeSet::new(), &operon_driver::Cursor::default());
    assert_eq!(changes.unwrap_err().kind, ErrorKind::Unavailable);
    let error = visitor.get(&key).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Other, "what?"));
    stranger.join().unwrap();
    // After that nobody answers.
    assert_eq!(visitor.get(&key).unwrap_err().kind, ErrorKind::Unavailable);
}
