//! The state directory: private, and nothing in it is followed or waited for.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use operon_driver::Cluster as _;
use operon_local::{
    Access, ConnectError, LocalCluster, OpenError, SOCKET_FILE, STORE_FILE, connect_or_open,
    create_directory, serve,
};

use crate::support::{Home, config_map};

/// How long an opening may take before the test calls it hanging.
const HANG_GUARD: Duration = Duration::from_secs(120);

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Opens the cluster of a directory, and returns the notices or the error.
fn open(home: &Home, directory: &Path) -> Result<Vec<String>, OpenError> {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let mut options = home.options();
    options.notify = Arc::new(move |notice| sink.lock().unwrap().push(notice.to_owned()));
    let (sender, receiver) = mpsc::channel();
    let directory = directory.to_owned();
    thread::spawn(move || sender.send(connect_or_open(&directory, &options).map(|_| ())));
    receiver.recv_timeout(HANG_GUARD).expect("opening hangs")?;
    let notices = notices.lock().unwrap().clone();
    Ok(notices)
}

#[test]
fn state_directories_are_private() {
    let home = Home::new();
    let state = home.directory.path().join("state");
    create_directory(&state).unwrap();
    assert_eq!(mode(&state), 0o700);
    create_directory(&state).unwrap();
    assert_eq!(open(&home, &state).unwrap(), Vec::<String>::new());
    assert_eq!(mode(&state.join(STORE_FILE)), 0o600);

    fs::set_permissions(&state, Permissions::from_mode(0o757)).unwrap();
    let notices = open(&home, &state).unwrap();
    assert_eq!(mode(&state), 0o700);
    let [notice] = &notices[..] else { panic!("{notices:?}") };
    assert!(notice.contains("(mode 0757): it is private now"), "{notice}");
    assert!(notice.contains(&*state.to_string_lossy()), "{notice}");
    assert_eq!(open(&home, &state).unwrap(), Vec::<String>::new(), "it is reported once");

    let link = home.directory.path().join("link");
    symlink(&state, &link).unwrap();
    fs::set_permissions(&state, Permissions::from_mode(0o755)).unwrap();
    let error = open(&home, &link).unwrap_err();
    assert!(matches!(error, OpenError::NotADirectory { .. }), "{error}");
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    assert_eq!(mode(&state), 0o755, "nothing is changed through a link");
    let file = home.directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open(&home, &file).unwrap_err();
    assert!(matches!(error, OpenError::NotADirectory { .. }), "{error}");
}

#[test]
fn planted_entries_are_refused_and_never_followed() {
    let fifo = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    type Plant<'a> = (&'a str, Box<dyn Fn(&Path, &Path) + 'a>);
    let plants: [Plant<'_>; 6] = [
        ("a symbolic link", Box::new(|path, elsewhere| symlink(elsewhere, path).unwrap())),
        ("a symbolic link", Box::new(|path, _| symlink("/dev/zero", path).unwrap())),
        (
            "a symbolic link",
            Box::new(|path, elsewhere| {
                fs::write(elsewhere, "").unwrap();
                symlink(elsewhere, path).unwrap();
            }),
        ),
        ("a named pipe", Box::new(|path, _| fifo(path))),
        ("a directory", Box::new(|path, _| fs::create_dir(path).unwrap())),
        (
            "a socket",
            Box::new(|path, _| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
        ),
    ];
    for name in [STORE_FILE.to_owned(), format!("{STORE_FILE}.new")] {
        for (kind, plant) in &plants {
            let home = Home::new();
            let outside = Home::new();
            let elsewhere = outside.directory.path().join("elsewhere");
            let path: PathBuf = home.directory.path().join(&name);
            plant(&path, &elsewhere);
            let had = fs::read(&elsewhere).ok();
            let error = open(&home, home.directory.path()).unwrap_err();
            assert!(matches!(error, OpenError::NotAFile { .. }), "{name}, {kind}: {error}");
            let text = error.to_string();
            assert!(text.contains(kind) && text.contains(&*path.to_string_lossy()), "{text}");
            assert!(text.contains("delete it"), "{text}");
            assert_eq!(fs::read(&elsewhere).ok(), had, "{name}, {kind}");
        }
    }
}

#[test]
fn sockets_are_not_reached_through_links() {
    let (home, other) = (Home::new(), Home::new());
    let cluster = Arc::new(other.open());
    let socket = other.directory.path().join(SOCKET_FILE);
    let _service = serve(cluster, &socket).unwrap();
    symlink(&socket, home.directory.path().join(SOCKET_FILE)).unwrap();
    let error = open(&home, home.directory.path()).unwrap_err();
    let OpenError::Unreachable { source: ConnectError::Link { .. } } = &error else {
        panic!("{error}")
    };
    assert!(error.to_string().contains("delete it"), "{error}");
}

#[test]
fn interrupted_creations_are_started_over() {
    for left in [&b""[..], b"half a store", &[0; 8192]] {
        let home = Home::new();
        let unfinished = home.directory.path().join(format!("{STORE_FILE}.new"));
        fs::write(&unfinished, left).unwrap();
        assert!(home.open().create(&config_map("first", "1")).is_ok());
        assert!(!unfinished.exists());
        assert_eq!(mode(&home.file()), 0o600);
    }
}

#[test]
fn concurrent_creations_make_one_store() {
    for round in 0..20 {
        let home = Home::new();
        let barrier = std::sync::Barrier::new(8);
        let opened: Vec<LocalCluster> = thread::scope(|scope| {
            let open = || {
                barrier.wait();
                match LocalCluster::open(&home.file(), home.options()) {
                    Ok(cluster) => Some(cluster),
                    Err(OpenError::Locked { .. }) => None,
                    Err(other) => panic!("round {round}: {other}"),
                }
            };
            let workers: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect()
        });
        let [cluster] = &opened[..] else { panic!("round {round}: {} opened", opened.len()) };
        let made = cluster.create(&config_map("made", "1")).unwrap();
        drop(opened);
        let Ok(Access::Local(cluster)) = connect_or_open(home.directory.path(), &home.options())
        else {
            panic!("round {round}")
        };
        assert_eq!(cluster.get(&made.key()).unwrap(), Some(made), "round {round}");
    }
}
