//! The addresses of the API server, which no catalog may be fetched from.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::atomic::AtomicBool,
    thread,
    time::Duration,
};

use super::log::Log;
use crate::cluster::is_stopping;

/// How long to wait before a name is resolved again.
const RESOLVE_PAUSE: Duration = Duration::from_secs(1);

/// Returns the addresses of the API server. A name that cannot be resolved is tried until it can, because the
/// controller could not work without it either; `None` if the process is asked to end meanwhile.
pub(super) fn addresses(server: &str, log: &Log, stop: &AtomicBool) -> Option<Vec<SocketAddr>> {
    let mut is_logged = false;
    while !is_stopping(stop) {
        match resolve(server) {
            Ok(addresses) => return Some(addresses),
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
    use super::*;

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
