//! Addresses that a cluster's tenants must not reach are not connected to, and statuses reveal nothing.

use std::{io::ErrorKind, net::TcpListener, os::unix::net::UnixListener, time::Duration};

use operon_driver::{AddressPolicy, CatalogServers};
use operon_registry::{ClientOptions, Servers};

fn servers(allowed: &[&str]) -> Servers {
    let allowed = allowed.iter().map(|written| written.parse().unwrap()).collect();
    Servers {
        options: ClientOptions {
            addresses: AddressPolicy::cluster(allowed, []),
            connect_timeout: Duration::from_millis(300),
            ..ClientOptions::default()
        },
    }
}

#[test]
fn local_addresses_are_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("s");
    let unix = UnixListener::bind(&socket).unwrap();
    unix.set_nonblocking(true).unwrap();
    let hosts = ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1"];
    let tcp = hosts.map(|host| format!("{host}:{port}"));
    for address in tcp.iter().chain([&format!("unix://{}", socket.display())]) {
        let error = servers(&[]).fetch(address, &mut Vec::new()).unwrap_err();
        assert!(error.message.contains("must not use"), "{address}: {}", error.message);
        assert_eq!((error.is_unreachable, &error.summary), (false, &error.message), "{address}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(unix.accept().unwrap_err().kind(), ErrorKind::WouldBlock);

    let allowed = format!("127.0.0.1:{port}");
    let error = servers(&[&allowed]).fetch(&allowed, &mut Vec::new()).unwrap_err();
    assert!(error.is_unreachable, "{}", error.message);
    assert!(listener.accept().is_ok(), "what is allowed is connected to");
}

#[test]
fn summaries_do_not_tell_refused_from_silent_ports() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _listening = TcpListener::bind(silent).unwrap();
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let errors = [silent, refused].map(|address| {
        let address = address.to_string();
        let error = servers(&["127.0.0.1"]).fetch(&address, &mut Vec::new()).unwrap_err();
        (error.message.replace(&address, "HOST"), error.summary.replace(&address, "HOST"))
    });
    assert_ne!(errors[0].0, errors[1].0);
    assert_eq!(errors[0].1, errors[1].1);
    assert!(errors[0].1.starts_with("cannot reach `HOST`: connection failed"), "{}", errors[0].1);
}

#[test]
fn the_api_server_is_out_of_reach_of_catalog_addresses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let api_server = listener.local_addr().unwrap();
    let servers = servers(&[]);
    // As in a controller, the address is known after the policy was handed on.
    servers.options.addresses.clone().set_api_server([api_server]);
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let address = format!("{host}:{}", api_server.port());
        let error = servers.fetch(&address, &mut Vec::new()).unwrap_err();
        assert!(error.message.contains("is the API server"), "{address}: {}", error.message);
        assert_eq!((error.is_unreachable, &error.summary), (false, &error.message), "{address}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}
