//! The addresses of the API server, which no catalog may be fetched from.
//!
//! The controller reaches the API server by the address in its configuration, usually that of the Service
//! `default/kubernetes`. The servers behind the Service can be reached directly, too. The API server lists them in
//! an EndpointSlice, which changes when control planes are replaced.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use operon_driver::{AddressPolicy, Cluster};
use operon_object::{Kind, Object, ObjectKey};

use super::log::Log;
use crate::cluster::is_stopping;

/// How long to wait before a name is resolved again.
const RESOLVE_PAUSE: Duration = Duration::from_secs(1);

/// How often the addresses are read again. Replacing a control plane takes minutes, and a new member receives no
/// requests before it is listed.
const REFRESH_INTERVAL: Duration = Duration::from_secs(60);

/// The most addresses that are taken from the EndpointSlice: it cannot have more.
const MAX_ENDPOINTS: usize = 1_000;

/// Keeps the addresses of the API server out of reach of catalogs.
#[derive(Debug)]
pub(super) struct ApiServer {
    /// The address in the configuration of the controller.
    server: String,
    policy: AddressPolicy,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the name of the server was resolved to last.
    resolved: Vec<SocketAddr>,
    /// What the EndpointSlice listed last.
    listed: Vec<SocketAddr>,
    read: Option<Instant>,
    is_logged: bool,
}

impl ApiServer {
    /// Resolves the address of the server, and puts it out of reach. A name that cannot be resolved is tried until it
    /// can, because the controller could not work without it either; `None` if the process is asked to end meanwhile.
    pub(super) fn resolve(
        server: &str,
        policy: AddressPolicy,
        log: &Log,
        stop: &AtomicBool,
    ) -> Option<Self> {
        let mut is_logged = false;
        while !is_stopping(stop) {
            match resolve(server) {
                Ok(resolved) => {
                    policy.set_api_server(resolved.iter().copied());
                    let state = Mutex::new(State { resolved, ..State::default() });
                    return Some(Self { server: server.to_owned(), policy, state });
                }
                Err(error) if !is_logged => {
                    let about = [("server", server), ("reason", &error.to_string())];
                    log.say("error", "cannot resolve the API server", &about);
                    is_logged = true;
                }
                Err(_) => {}
            }
            thread::sleep(RESOLVE_PAUSE);
        }
        None
    }

    /// Reads again which addresses the API server has, if it is time. What was known stays out of reach if they
    /// cannot be read.
    pub(super) fn refresh(&self, cluster: &dyn Cluster, log: &Log) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.read.is_some_and(|read| read.elapsed() < REFRESH_INTERVAL) {
            return;
        }
        state.read = Some(Instant::now());
        if let Ok(resolved) = resolve(&self.server) {
            state.resolved = resolved;
        }
        let kind = Kind::new("discovery.k8s.io", "EndpointSlice");
        let key =
            ObjectKey { kind, namespace: "default".to_owned(), name: "kubernetes".to_owned() };
        match cluster.get(&key) {
            Ok(Some(slice)) => {
                state.listed = endpoints(&slice);
                state.is_logged = false;
            }
            // A server without the Service `default/kubernetes` has nothing to list.
            Ok(None) => {}
            Err(error) if !state.is_logged => {
                let about = [("reason", error.to_string())];
                let about = about.each_ref().map(|(name, text)| (*name, text.as_str()));
                log.say("warn", "cannot read the endpoints of the API server", &about);
                state.is_logged = true;
            }
            Err(_) => {}
        }
        let known = state.resolved.iter().chain(&state.listed).copied();
        self.policy.set_api_server(known.collect::<Vec<_>>());
    }
}

/// Returns the addresses in an EndpointSlice, with each of its ports.
fn endpoints(slice: &Object) -> Vec<SocketAddr> {
    let ports = slice.at(&["ports"]).elements().iter();
    let ports: Vec<u16> = ports
        .filter_map(|port| port.get("port").as_integer().and_then(|port| port.try_into().ok()))
        .collect();
    let endpoints = slice.at(&["endpoints"]).elements().iter();
    endpoints
        .flat_map(|endpoint| endpoint.get("addresses").iter_texts())
        .filter_map(|address| address.parse::<IpAddr>().ok())
        .flat_map(|address| ports.iter().map(move |port| SocketAddr::new(address, *port)))
        .take(MAX_ENDPOINTS)
        .collect()
}

fn resolve(server: &str) -> io::Result<Vec<SocketAddr>> {
    let (host, port) = host_and_port(server);
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Splits the address of a server such as `https://10.96.0.1:443/`.
fn host_and_port(server: &str) -> (&str, u16) {
    let (scheme, rest) = server.split_once("://").unwrap_or(("https", server));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let usual = if scheme == "http" { 80 } else { 443 };
    if let Some((host, rest)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let port = rest.strip_prefix(':').and_then(|port| port.parse().ok());
        return (host, port.unwrap_or(usual));
    }
    match authority.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
        Some((host, Ok(port))) => (host, port),
        _ => (authority, usual),
    }
}

#[cfg(test)]
mod tests {
    use operon_object::{list, map};

    use super::*;

    #[test]
    fn endpoints_are_addresses_with_every_port() {
        let mut slice =
            Object::new("discovery.k8s.io/v1", "EndpointSlice", "default", "kubernetes");
        let endpoint = |address: &str| map! { "addresses" => list![address] };
        slice.set(&["endpoints"], list![endpoint("192.0.2.1"), endpoint("fd00::2"), endpoint("x")]);
        slice.set(&["ports"], list![map! { "name" => "https", "port" => 6443 }, map! {}]);
        let expected = ["192.0.2.1:6443", "[fd00::2]:6443"];
        assert_eq!(endpoints(&slice), expected.map(|text| text.parse().unwrap()));
        let policy = AddressPolicy::cluster(Vec::new(), []);
        let clone = policy.clone();
        policy.set_api_server(endpoints(&slice));
        let node = "192.0.2.1:6443".parse().unwrap();
        assert!(clone.check("catalog.example.com", node).is_err());
    }

    #[test]
    fn servers_are_split_into_host_and_port() {
        let claims = [
            ("https://10.96.0.1:443/", ("10.96.0.1", 443)),
            ("https://10.96.0.1/", ("10.96.0.1", 443)),
            ("https://kubernetes.default.svc", ("kubernetes.default.svc", 443)),
            ("http://127.0.0.1:8080/path", ("127.0.0.1", 8080)),
            ("http://api", ("api", 80)),
            ("https://[fd00::1]:6443/", ("fd00::1", 6443)),
            ("https://[fd00::1]/", ("fd00::1", 443)),
        ];
        for (server, expected) in claims {
            assert_eq!(host_and_port(server), expected, "{server}");
        }
    }
}
