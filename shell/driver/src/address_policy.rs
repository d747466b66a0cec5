//! Which addresses may be connected to on behalf of catalogs.
//!
//! In a cluster, tenants name the servers that the controller connects to. What only the controller can
//! reach must stay out of their reach: its own loopback, link-local services such as the metadata of a
//! cloud, and the API server. The policy is a value; names are resolved where a connection is made, once,
//! and the connection is made to an address that was checked.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::{Arc, PoisonError, RwLock},
};

/// Which addresses may be connected to. Clones share the addresses of the API server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Without rules, every address may be connected to.
    rules: Option<Rules>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rules {
    allowed: Vec<AllowedAddress>,
    api_server: ApiServerAddresses,
}

/// The addresses of the API server, which change while a controller runs.
#[derive(Debug, Clone, Default)]
struct ApiServerAddresses(Arc<RwLock<Vec<SocketAddr>>>);

impl ApiServerAddresses {
    fn contains(&self, address: SocketAddr) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&address)
    }

    fn replace(&self, addresses: impl IntoIterator<Item = SocketAddr>) {
        let plain = |address: SocketAddr| SocketAddr::new(plain(address.ip()), address.port());
        let addresses = addresses.into_iter().map(plain).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = addresses;
    }
}

impl PartialEq for ApiServerAddresses {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ApiServerAddresses {}

/// A host that may be connected to whatever its address is, such as `registry.internal` or `127.0.0.1:5000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedAddress {
    /// In lower case, an IPv6 address without brackets.
    host: String,
    /// `None` for every port.
    port: Option<u16>,
}

/// A text that does not name a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedAddressError {
    written: String,
}

/// The reason why a host must not be connected to. It names the host as it was written and never an address
/// that it was resolved to, because tenants read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForbiddenAddress {
    host: String,
    kind: &'static str,
}

impl fmt::Display for AllowedAddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid address `{}`: expected `HOST` or `HOST:PORT`", self.written)
    }
}

impl std::error::Error for AllowedAddressError {}

impl fmt::Display for ForbiddenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, kind } = self;
        write!(
            formatter,
            "`{host}` is {kind}, which catalogs of a cluster must not use; an administrator can allow it with \
             `--allow-address {host}`"
        )
    }
}

impl std::error::Error for ForbiddenAddress {}

impl FromStr for AllowedAddress {
    type Err = AllowedAddressError;

    fn from_str(written: &str) -> Result<Self, Self::Err> {
        let wrong = || AllowedAddressError { written: written.to_owned() };
        let is_ipv6 = written.parse::<Ipv6Addr>().is_ok();
        let bracketed = written.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match (bracketed, written.rsplit_once(':')) {
            (Some((host, rest)), _) if host.parse::<Ipv6Addr>().is_ok() => {
                let port = match rest {
                    "" => None,
                    rest => Some(rest.strip_prefix(':').ok_or_else(wrong)?),
                };
                (host, port)
            }
            (Some(_), _) => return Err(wrong()),
            (None, Some((host, port))) if !is_ipv6 => (host, Some(port)),
            (None, _) => (written, None),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        let is_host = host.parse::<IpAddr>().is_ok() || host.bytes().all(is_name);
        if host.is_empty() || !is_host {
            return Err(wrong());
        }
        let port = port.map(|port| port.parse().map_err(|_| wrong())).transpose()?;
        Ok(Self { host: normalised(host), port })
    }
}

impl AddressPolicy {
    /// Returns the policy of local commands: a registry on this machine is the normal case there.
    pub fn unrestricted() -> Self {
        Self::default()
    }

    /// Returns the policy of a controller, which connects on behalf of tenants. `api_server` has the addresses
    /// of the API server.
    pub fn cluster(
        allowed: Vec<AllowedAddress>,
        api_server: impl IntoIterator<Item = SocketAddr>,
    ) -> Self {
        let policy =
            Self { rules: Some(Rules { allowed, api_server: ApiServerAddresses::default() }) };
        policy.set_api_server(api_server);
        policy
    }

    /// Replaces the addresses of the API server, in all clones of this policy.
    pub fn set_api_server(&self, addresses: impl IntoIterator<Item = SocketAddr>) {
        if let Some(rules) = &self.rules {
            rules.api_server.replace(addresses);
        }
    }

    /// Returns `true` if some addresses must not be connected to.
    pub fn is_restricted(&self) -> bool {
        self.rules.is_some()
    }

    /// Checks a host that is written as an IP address; names are checked when they are resolved.
    pub fn check_literal(&self, host: &str, port: u16) -> Result<(), ForbiddenAddress> {
        match bare(host).parse() {
            Ok(ip) => self.check(host, SocketAddr::new(ip, port)),
            Err(_) => Ok(()),
        }
    }

    /// Checks an address that a host was resolved to. The connection has to be made to this address, and not
    /// to the host, which may be resolved to another one the next time.
    pub fn check(&self, host: &str, address: SocketAddr) -> Result<(), ForbiddenAddress> {
        let Some(rules) = &self.rules else { return Ok(()) };
        let port = address.port();
        let address = SocketAddr::new(plain(address.ip()), port);
        let is_allowed = |allowed: &AllowedAddress| {
            let is_host = allowed.host == normalised(host)
                || allowed.host.parse::<IpAddr>().is_ok_and(|ip| plain(ip) == address.ip());
            is_host && allowed.port.is_none_or(|allowed| allowed == port)
        };
        let is_api_server = rules.api_server.contains(address);
        let kind = is_api_server.then_some("the API server").or_else(|| local_kind(address.ip()));
        match kind {
            Some(kind) if !rules.allowed.iter().any(is_allowed) => {
                Err(ForbiddenAddress { host: host_and_port(host, port), kind })
            }
            _ => Ok(()),
        }
    }

    /// Returns those of the addresses of a host that may be connected to; an error if there is none.
    pub fn permitted(
        &self,
        host: &str,
        addresses: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<Vec<SocketAddr>, ForbiddenAddress> {
        let mut permitted = Vec::new();
        let mut forbidden = None;
        for address in addresses {
            match self.check(host, address) {
                Ok(()) => permitted.push(address),
                Err(error) => forbidden = Some(error),
            }
        }
        match forbidden {
            Some(error) if permitted.is_empty() => Err(error),
            _ => Ok(permitted),
        }
    }

    /// Checks a socket of this machine, which a tenant must never connect to.
    pub fn check_socket(&self, path: &str) -> Result<(), ForbiddenAddress> {
        if self.is_restricted() {
            return Err(ForbiddenAddress { host: path.to_owned(), kind: "a local socket" });
        }
        Ok(())
    }
}

/// Returns what an address is that only this machine, or its neighbours on the line, can mean.
fn local_kind(ip: IpAddr) -> Option<&'static str> {
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    };
    let is_this_network = matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 0);
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    if ip.is_loopback() {
        Some("a loopback address")
    } else if is_link_local {
        Some("a link-local address")
    } else if ip.is_unspecified() || is_this_network {
        Some("an unspecified address")
    } else if ip.is_multicast() || is_broadcast {
        Some("a multicast address")
    } else {
        None
    }
}

/// Returns the IPv4 address that an IPv6 address stands for, if it does: mapped (`::ffff:127.0.0.1`),
/// compatible (`::127.0.0.1`), translated by NAT64 (`64:ff9b::7f00:1`) or by 6to4 (`2002:7f00:1::`).
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(address) = ip else { return ip };
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match segments {
        // The unspecified address and the loopback address of IPv6 look like compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => ip,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        _ => ip,
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

/// Returns a host as it is compared: in lower case, without brackets and without the dot of the root.
fn normalised(host: &str) -> String {
    let host = bare(host).trim_end_matches('.').to_ascii_lowercase();
    host.parse::<IpAddr>().map_or(host, |ip| ip.to_string())
}

fn host_and_port(host: &str, port: u16) -> String {
    let host = bare(host);
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(written: &str) -> AllowedAddress {
        written.parse().expect("an address")
    }

    fn policy(names: &[&str]) -> AddressPolicy {
        let api_server = ["10.96.0.1:443", "[fd00::1]:6443"].map(|text| text.parse().unwrap());
        AddressPolicy::cluster(names.iter().map(|name| allowed(name)).collect(), api_server)
    }

    #[test]
    fn cluster_policy_forbids_local_addresses_in_every_form() {
        let forbidden = [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::ffff:0:127.0.0.1",
            "169.254.169.254",
            "::ffff:169.254.169.254",
            "fe80::1",
            "febf::1",
            "0.0.0.0",
            "0.1.2.3",
            "::",
            "::ffff:0.0.0.0",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "10.96.0.1",
            "::ffff:10.96.0.1",
        ];
        for ip in forbidden {
            let address = SocketAddr::new(ip.parse().unwrap(), 443);
            let error = policy(&[]).check("evil.example.com", address).expect_err(ip).to_string();
            assert!(error.contains("`evil.example.com:443`") && !error.contains(ip), "{error}");
            assert!(policy(&[]).check_literal(&format!("[{ip}]"), 443).is_err(), "{ip}");
            assert_eq!(AddressPolicy::unrestricted().check("evil.example.com", address), Ok(()));
        }
        let permitted = [
            "10.0.0.7",
            "192.168.1.1",
            "1.1.1.1",
            "2606:4700::1111",
            "fd00::2",
            "fec0::1",
            "64:ff9b::a00:7",
            "2002:a00:7::",
        ];
        for ip in permitted {
            let address = SocketAddr::new(ip.parse().unwrap(), 443);
            assert_eq!(policy(&[]).check("good.example.com", address), Ok(()), "{ip}");
        }
        // The API server is an address with a port; other services of its machine are none of its own.
        let other_port = "10.96.0.1:5000".parse().unwrap();
        assert_eq!(policy(&[]).check("node", other_port), Ok(()));
        assert!(policy(&[]).check("node", "[fd00::1]:6443".parse().unwrap()).is_err());
    }

    #[test]
    fn clones_share_the_addresses_of_the_api_server() {
        let policy = policy(&[]);
        let clone = policy.clone();
        let [old, new] = ["10.96.0.1:443", "192.0.2.7:6443"].map(|text| text.parse().unwrap());
        assert!(clone.check("api", old).is_err() && clone.check("api", new).is_ok());
        policy.set_api_server([new]);
        assert!(clone.check("api", old).is_ok() && clone.check("api", new).is_err());
        assert_eq!(policy, clone);
    }

    #[test]
    fn cluster_policy_permits_what_is_allowed_by_name() {
        let local: SocketAddr = "127.0.0.1:5000".parse().unwrap();
        let claims = [
            ("localhost", "localhost", true),
            ("localhost:5000", "LOCALHOST.", true),
            ("localhost:5001", "localhost", false),
            ("other", "localhost", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1:5000", "name.example.com", true),
            ("127.0.0.1:1", "127.0.0.1", false),
            ("[::1]:5000", "localhost", false),
        ];
        for (name, host, expected) in claims {
            assert_eq!(policy(&[name]).check(host, local).is_ok(), expected, "{name} {host}");
        }
        assert!(policy(&["::1"]).check("x", "[::1]:80".parse().unwrap()).is_ok());
    }

    #[test]
    fn permitted_addresses_are_those_that_were_checked() {
        let addresses = ["127.0.0.1:80", "10.0.0.7:80"].map(|text| text.parse().unwrap());
        let found = policy(&[]).permitted("mixed.example.com", addresses);
        assert_eq!(found, Ok(vec![addresses[1]]));
        assert!(policy(&[]).permitted("mixed.example.com", [addresses[0]]).is_err());
        assert_eq!(policy(&[]).permitted("nowhere.example.com", []), Ok(Vec::new()));
        assert!(policy(&["localhost"]).check_socket("/run/x.sock").is_err());
        assert!(AddressPolicy::unrestricted().check_socket("/run/x.sock").is_ok());
    }

    #[test]
    fn allowed_addresses_are_read_strictly() {
        for written in ["host", "host:1", "10.0.0.1:65535", "::1", "[::1]", "[::1]:7", "a_b.c-d"] {
            assert!(written.parse::<AllowedAddress>().is_ok(), "{written}");
        }
        for written in
            ["", ":1", "host:", "host:x", "host:65536", "http://host", "[::1]7", "[x]:1", "a b"]
        {
            assert!(written.parse::<AllowedAddress>().is_err(), "{written}");
        }
    }
}
