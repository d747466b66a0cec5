//! From listening without a catalog to stopping, and what clients see on the way.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use operon_registry::{
    Address, Client, ClientError, ClientOptions, ConnectionState, Health, Server, Stopped,
};
use tokio::runtime::Builder;
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::content::{HARBOUR, MemoryContent, any_port, connect, serve};

const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_server_listens_first_serves_later_and_changes_its_catalog_while_it_runs() {
    let server = Server::new();
    let listening = server.listen(&any_port()).unwrap();
    let client = connect(&listening);
    for service in ["", "Registry", "api.Registry", "whatever"] {
        assert_eq!(client.health(service).unwrap(), Health::NotServing);
    }
    let refused = client.get_package("crane").unwrap_err();
    let ClientError::Refused { code, message, .. } = refused else { panic!("{refused}") };
    assert_eq!((code.as_str(), message.as_str()), ("Unavailable", "the catalog is being read"));

    // Whoever asks while it is on its way waits for it.
    let left_out = thread::scope(|scope| {
        let asking = scope.spawn(|| client.get_package("crane"));
        thread::sleep(Duration::from_millis(100));
        let left_out = server.set_content(MemoryContent::of_text(HARBOUR));
        assert_eq!(asking.join().unwrap().unwrap().name, "crane");
        left_out
    });
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0].package, "wreck");
    for service in ["", "Registry", "api.Registry", "whatever"] {
        assert_eq!(client.health(service).unwrap(), Health::Serving);
    }
    // A list that was begun ends with the catalog it was begun with.
    let mut begun = client.list_bundles().unwrap();
    assert_eq!(begun.next().unwrap().unwrap().package_name, "crane");
    assert_eq!(server.set_content(MemoryContent::example()), []);
    assert!(begun.all(|bundle| bundle.unwrap().package_name == "crane"));
    assert!(client.get_package("anchor").is_ok());
    assert!(client.get_package("crane").is_err());
    drop(client);
    assert_eq!(listening.stop(LONG).unwrap(), Stopped::Drained);
}

#[test]
fn a_connection_that_ends_is_idle_and_is_made_again_when_it_is_needed() {
    let (_server, listening) = serve(MemoryContent::example());
    let address = listening.address().clone();
    let client = Client::new(&address, ClientOptions::default()).unwrap();
    assert_eq!(client.state(), ConnectionState::Idle);
    client.make_ready().unwrap();
    assert_eq!(client.state(), ConnectionState::Ready);
    assert_eq!(listening.stop(LONG).unwrap(), Stopped::Drained);
    let state = client.wait_for_state_other_than(ConnectionState::Ready, LONG);
    assert_eq!(state.name(), "IDLE");
    let error = client.get_package("anchor").unwrap_err();
    assert!(error.to_string().contains(&format!("`{address}`")), "{error}");
    assert_eq!(client.state().name(), "TRANSIENT_FAILURE");

    let patient = ClientOptions { patience: LONG, ..ClientOptions::default() };
    let patient = Client::new(&address, patient).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| patient.get_package("anchor"));
        patient.wait_for_state_other_than(ConnectionState::Idle, LONG);
        let again = Server::new();
        again.set_content(MemoryContent::example());
        let again = again.listen(&address).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap().name, "anchor");
        assert_eq!(patient.state(), ConnectionState::Ready);
        patient.shut_down();
        assert_eq!(patient.state().name(), "SHUTDOWN");
        assert!(matches!(patient.get_package("anchor"), Err(ClientError::ShutDown { .. })));
        assert_eq!(again.stop(LONG).unwrap(), Stopped::Drained);
    });
}

#[test]
fn a_unix_socket_is_replaced_when_abandoned_kept_when_used_and_removed_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("registry.sock");
    let address = Address::parse(&format!("unix://{}", path.display())).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "an abandoned socket stays behind");
    let server = Server::new();
    server.set_content(MemoryContent::example());
    let listening = server.listen(&address).unwrap();
    assert!(connect(&listening).get_package("tide").is_ok());
    let taken = Server::new().listen(&address).unwrap_err();
    assert!(taken.to_string().contains("registry.sock"), "{taken}");
    assert!(connect(&listening).get_package("tide").is_ok());
    listening.stop(LONG).unwrap();
    assert!(!path.exists());
    fs::write(&path, "a file of somebody").unwrap();
    assert!(server.listen(&address).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "a file of somebody");
}

#[test]
fn stopping_waits_for_calls_but_not_for_ever() {
    let (_server, listening) = serve(MemoryContent::example());
    let client = connect(&listening);
    let mut stalled = crate::endurance::stall(listening.address());
    assert_eq!(listening.stop(Duration::from_millis(200)).unwrap(), Stopped::CutOff);
    assert!(client.get_package("anchor").is_err());
    stalled.finish();
}

#[test]
fn whoever_watches_the_health_is_told_and_does_not_keep_the_server_from_stopping() {
    let server = Server::new();
    let listening = server.listen(&any_port()).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let address = format!("http://{}", listening.address());
    let mut changes = runtime.block_on(async {
        let channel = Endpoint::from_shared(address).unwrap().connect().await.unwrap();
        let request = HealthCheckRequest { service: "Registry".to_owned() };
        HealthClient::new(channel).watch(request).await.unwrap().into_inner()
    });
    let mut next = || runtime.block_on(changes.message()).unwrap().map(|told| told.status());
    assert_eq!(next(), Some(ServingStatus::NotServing));
    server.set_content(MemoryContent::example());
    assert_eq!(next(), Some(ServingStatus::Serving));
    assert_eq!(listening.stop(LONG).unwrap(), Stopped::Drained);
    assert_eq!(next(), Some(ServingStatus::NotServing));
    assert_eq!(next(), None);
}

/// Says to this test's own child that it is the server.
const CHILD: &str = "OPERON_TEST_SERVES";

#[test]
fn a_process_that_is_told_to_end_drains_and_ends_well() {
    if env::var_os(CHILD).is_some() {
        let (_server, listening) = serve(MemoryContent::example());
        println!("listening at {}", listening.address());
        assert_eq!(listening.serve_until_signal(LONG).unwrap(), Stopped::Drained);
        return;
    }
    for signal in ["TERM", "INT"] {
        let name = "phases::a_process_that_is_told_to_end_drains_and_ends_well";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The test harness puts its own words before ours on the line.
        let mut told = lines.map_while(Result::ok);
        let address = told.find_map(|line| {
            line.split_once("listening at ").map(|(_, address)| address.to_owned())
        });
        let address = Address::parse(&address.unwrap()).unwrap();
        let client = Client::connect(&address, ClientOptions::default()).unwrap();
        assert!(client.get_package("anchor").is_ok());
        assert!(catches_signals_in_time(child.id()));
        let kill = [format!("-{signal}"), child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        let rest: Vec<String> = told.collect();
        assert!(child.wait().unwrap().success(), "{rest:?}");
        assert!(client.get_package("anchor").is_err());
    }
}

/// Waits until a process has said to the system that it handles SIGTERM and SIGINT itself.
fn catches_signals_in_time(process: u32) -> bool {
    const CAUGHT: u64 = 1 << 14 | 1 << 1;
    for _ in 0..2000 {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(mask.trim(), 16).unwrap() & CAUGHT == CAUGHT {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn addresses_are_read_as_they_are_written() {
    for (written, shown) in [
        ("localhost:50051", "localhost:50051"),
        ("grpc://catalog.olm.svc:50051", "catalog.olm.svc:50051"),
        ("[::1]:0", "[::1]:0"),
        ("unix:///run/registry.sock", "unix:///run/registry.sock"),
    ] {
        assert_eq!(Address::parse(written).unwrap().to_string(), shown);
    }
    for (written, defect) in [
        ("localhost", "no port"),
        ("localhost:http", "not a number"),
        ("localhost:70000", "not a number"),
        ("::1:50051", "brackets"),
        ("https://host:1", "`grpc` or `unix` only"),
        (":50051", "no host name"),
        ("a b:1", "no host name"),
        ("unix://relative", "absolute"),
    ] {
        let error = Address::parse(written).unwrap_err().to_string();
        assert!(error.contains(defect) && error.contains(written), "{error}");
    }
}
