//! Waiting until a component is ready: by a condition, for a bounded time, with its log when it fails.
//!
//! What ready means for each component is written with it, in [`component`](crate::component).

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    thread,
    time::{Duration, Instant},
};

use crate::{Component, Rig, RigError, component::Probe, process::Process, running::tail};

/// How long a component may take. A machine that builds something at the same time is ten times slower
/// than one that does not, and a rig that never comes up must still end.
const READY_WITHIN: Duration = Duration::from_secs(180);

/// How often a component is asked.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// How long one answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// Waits until a component of a rig is ready.
pub(crate) fn wait(
    rig: &Rig,
    component: Component,
    process: Process,
    probes: &[Probe],
) -> Result<(), RigError> {
    let begun = Instant::now();
    let is_ready = |probe: &Probe| match probe {
        Probe::Http { port, path } => answers(*port, path).unwrap_or(false),
        Probe::Port(address, port) => connect(address, *port).is_ok(),
        Probe::Socket(path) => UnixStream::connect(path).is_ok(),
        Probe::Kubectl(arguments) => rig.kubectl(arguments).is_ok(),
        Probe::PodsKnown => knows_its_pods(rig).unwrap_or(false),
    };
    let wait = || {
        for probe in probes {
            while !is_ready(probe) {
                let log = || tail(&rig.log_file(component));
                if !process.is_alive() {
                    return Err(RigError::Ended { component, log: log() });
                }
                let waited = begun.elapsed();
                if waited > READY_WITHIN {
                    return Err(RigError::NotReady { component, waited, log: log() });
                }
                thread::sleep(ASK_AGAIN);
            }
        }
        Ok(())
    };
    rig.inside(wait)?
}

fn connect(address: &str, port: u16) -> io::Result<TcpStream> {
    let address: IpAddr = address.parse().map_err(io::Error::other)?;
    let address = SocketAddr::from((address, port));
    let stream = TcpStream::connect_timeout(&address, ANSWER_WITHIN)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    stream.set_write_timeout(Some(ANSWER_WITHIN))?;
    Ok(stream)
}

/// Tells whether a request is answered with 200.
fn answers(port: u16, path: &str) -> io::Result<bool> {
    const HERE: &str = "127.0.0.1";
    const EXPECTED: usize = "HTTP/1.1 200".len();
    let mut stream = connect(HERE, port)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {HERE}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = [0; EXPECTED];
    stream.read_exact(&mut answer)?;
    Ok(answer.ends_with(b" 200"))
}

/// Tells whether the kubelet has all the pods that the API server says are on its node.
fn knows_its_pods(rig: &Rig) -> Result<bool, RigError> {
    let ids = "--output=jsonpath={.items[*].metadata.uid}";
    let there = ["get", "pods", "--all-namespaces", "--field-selector=spec.nodeName=node", ids];
    let there = rig.kubectl(&there)?;
    let known = rig.kubectl(&["get", "--raw", "/api/v1/nodes/node/proxy/pods"])?;
    Ok(there.split_whitespace().all(|id| known.contains(id)))
}
