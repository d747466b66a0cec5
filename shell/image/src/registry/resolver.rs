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

/// Resolves names for connections to one server, and to the proxy in front of it.
#[derive(Debug, Clone)]
pub(super) struct CheckedResolver {
    pub(super) policy: Arc<AddressPolicy>,
    /// The server that is asked.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { policy, host, port } = self.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, port)).await?;
            let proxies = PROXY_VARIABLES.iter().filter_map(|variable| env::var(variable).ok());
            let permitted: Vec<SocketAddr> = match leads_to_proxy(name, (&host, port), proxies) {
                true => found.collect(),
                false => policy.permitted(name, found)?,
            };
            // The client puts the port of the connection in the place of port 0.
            let addresses = permitted.into_iter().map(|found| SocketAddr::new(found.ip(), 0));
            Ok(Box::new(addresses.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}

/// Returns `true` if a connection to a name leads to a proxy of the environment. The name of the proxy's host is not
/// enough: a server on another port of that host may be asked directly.
fn leads_to_proxy(
    name: &str,
    (host, port): (&str, u16),
    proxies: impl Iterator<Item = String>,
) -> bool {
    let is_server = name.eq_ignore_ascii_case(host);
    proxies.filter_map(|written| proxy_url(&written)).any(|proxy| {
        let is_proxy = proxy.host_str().is_some_and(|proxy| proxy.eq_ignore_ascii_case(name));
        is_proxy && (!is_server || proxy.port_or_known_default() == Some(port))
    })
}

fn proxy_url(written: &str) -> Option<Url> {
    let has_host = |url: &Url| url.host_str().is_some_and(|host| !host.is_empty());
    let url = Url::parse(written).ok().filter(has_host);
    url.or_else(|| Url::parse(&format!("http://{written}")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_exempt_on_their_own_port_only() {
        let claims = [
            // Another server is asked, so only the proxy can have this name.
            ("proxy", ("quay.io", 443), "http://proxy:3128", true),
            ("PROXY", ("quay.io", 443), "http://proxy:3128", true),
            ("proxy", ("quay.io", 443), "proxy:3128", true),
            ("quay.io", ("quay.io", 443), "http://proxy:3128", false),
            // The proxy's host is asked itself.
            ("proxy", ("proxy", 3128), "http://proxy:3128", true),
            ("proxy", ("proxy", 22), "http://proxy:3128", false),
            ("proxy", ("PROXY", 443), "http://proxy:3128", false),
            ("proxy", ("proxy", 80), "http://proxy", true),
            ("proxy", ("proxy", 443), "http://proxy", false),
            ("proxy", ("quay.io", 443), "", false),
        ];
        for (name, server, proxy, expected) in claims {
            let found = leads_to_proxy(name, server, [proxy.to_owned()].into_iter());
            assert_eq!(found, expected, "{name} for {server:?} with {proxy}");
        }
    }

    #[test]
    fn resolvers_check_other_ports_of_a_proxy_host() {
        let policy = Arc::new(AddressPolicy::cluster(Vec::new(), []));
        let resolver = CheckedResolver { policy, host: "localhost".to_owned(), port: 22 };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let name = "localhost".parse().expect("a name");
        let error = runtime.block_on(resolver.resolve(name)).err().expect("it is loopback");
        assert!(error.to_string().contains("localhost:22"), "{error}");
    }
}
