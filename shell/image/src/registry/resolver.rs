//! Name resolution that hands out only addresses that may be connected to.
//!
//! The HTTP client connects to the addresses that it gets here, so a name is resolved once and cannot lead
//! elsewhere afterwards. Hosts that are written as IP addresses never get here; they are checked before.

use std::{env, net::SocketAddr, sync::Arc};

use operon_driver::AddressPolicy;
use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// The variables that name proxies. An administrator chose those, so they may be anywhere.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Resolves names for connections to one port.
#[derive(Debug, Clone)]
pub(super) struct CheckedResolver {
    pub(super) policy: Arc<AddressPolicy>,
    pub(super) port: u16,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { policy, port } = self.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, port)).await?;
            let permitted: Vec<SocketAddr> = match is_proxy(name) {
                true => found.collect(),
                false => policy.permitted(name, found)?,
            };
            // The client puts the port of the connection in the place of port 0.
            let addresses = permitted.into_iter().map(|found| SocketAddr::new(found.ip(), 0));
            Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}

/// Returns `true` if a name names a proxy of the environment.
fn is_proxy(name: &str) -> bool {
    PROXY_VARIABLES.iter().filter_map(|variable| env::var(variable).ok()).any(|written| {
        let url = Url::parse(&written).or_else(|_| Url::parse(&format!("http://{written}")));
        url.is_ok_and(|url| url.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name)))
    })
}
