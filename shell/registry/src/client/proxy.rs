//! Proxies: which registries are reached through one, and how it is asked for a way.
//!
//! `GRPC_PROXY` names the proxy and `NO_PROXY` the hosts that are reached without it, as upstream reads
//! them. The proxy is spoken to by HTTP's `CONNECT`, without TLS.

use std::{env, fmt, io, net::IpAddr};

use operon_document::encode_base64;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The most that a proxy may say before it lets through: a line and some headers.
pub const MAX_PROXY_ANSWER_BYTES: usize = 16 << 10;

/// How much of what a proxy answered is repeated.
const SHOWN_CHARACTERS: usize = 100;

/// The port of a proxy that is named without one.
const DEFAULT_PORT: u16 = 80;

/// Which registries are reached through a proxy. Nothing is read before a connection is made, so that
/// what is wrong here concerns nobody who needs no proxy.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// The proxy, such as `http://user:password@proxy.example.com:3128`; empty for none.
    pub proxy: String,
    /// The hosts that are reached without it, such as `localhost,.svc,10.0.0.0/8`.
    pub exempt: String,
}

/// A proxy that a connection goes through.
#[derive(PartialEq, Eq)]
pub(super) struct Proxy {
    host: String,
    port: u16,
    /// What is sent as `Proxy-Authorization`.
    authorization: Option<String>,
}

/// Both may hold a password, which is nobody's business.
impl fmt::Debug for ProxySettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proxy = Proxy::parse(&self.proxy).ok();
        let mut shown = formatter.debug_struct("ProxySettings");
        shown.field("proxy", &proxy).field("exempt", &self.exempt).finish()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl ProxySettings {
    /// Returns what the environment says: `GRPC_PROXY` and `NO_PROXY`, or the same in small letters.
    pub fn of_environment() -> Self {
        let first = |names: [&str; 2]| {
            names.into_iter().filter_map(|name| env::var(name).ok()).find(|text| !text.is_empty())
        };
        Self {
            proxy: first(["GRPC_PROXY", "grpc_proxy"]).unwrap_or_default(),
            exempt: first(["NO_PROXY", "no_proxy"]).unwrap_or_default(),
        }
    }

    /// Returns the proxy for a host, if there is one.
    pub(super) fn for_host(&self, host: &str, port: u16) -> io::Result<Option<Proxy>> {
        if self.proxy.is_empty() || self.is_exempt(host, port) {
            return Ok(None);
        }
        Proxy::parse(&self.proxy).map(Some).map_err(|defect| {
            io::Error::other(format!(
                "`GRPC_PROXY` cannot be used: {defect}; write `http://host:port`"
            ))
        })
    }

    /// Upstream: this machine is never reached through a proxy; a name stands for its subdomains, too,
    /// unless it begins with a dot, and then for them alone.
    fn is_exempt(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let address: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
            return true;
        }
        self.exempt.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| {
            match (entry.as_str(), address) {
                ("", _) => false,
                ("*", _) => true,
                (entry, Some(address)) => {
                    let (entry, entry_port) = split_port(entry);
                    is_port(entry_port, port) && covers(entry, address)
                }
                (entry, None) => {
                    let (entry, entry_port) = split_port(entry);
                    let entry = entry.strip_prefix('*').unwrap_or(entry);
                    let is_inside = |domain: &str| {
                        host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
                    };
                    is_port(entry_port, port)
                        && match entry.strip_prefix('.') {
                            Some(domain) => is_inside(domain),
                            None => host == entry || is_inside(entry),
                        }
                }
            }
        })
    }
}

fn is_port(wanted: Option<u16>, port: u16) -> bool {
    wanted.is_none_or(|wanted| wanted == port)
}

/// Splits the port off; an IPv6 address has colons of its own.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some((address, port)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, port.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, port.parse().ok()),
        Some(_) | None => (entry, None),
    }
}

/// Tells whether an address, or a network such as `10.0.0.0/8`, covers an address.
fn covers(entry: &str, address: IpAddr) -> bool {
    let Some((network, length)) = entry.split_once('/') else {
        return entry.parse() == Ok(address);
    };
    let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else {
        return false;
    };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let bits = network.to_bits() ^ address.to_bits();
            length <= u32::BITS && bits.leading_zeros() >= length
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let bits = network.to_bits() ^ address.to_bits();
            length <= u128::BITS && bits.leading_zeros() >= length
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

impl Proxy {
    fn parse(text: &str) -> Result<Self, &'static str> {
        let rest = match text.split_once("://") {
            None => text,
            Some(("http", rest)) => rest,
            Some(_) => return Err("only proxies that speak plain HTTP are known"),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, host) = match rest.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, rest),
        };
        let (host, port) = split_port(host);
        if host.is_empty() || host.contains(|letter: char| letter.is_whitespace() || letter == '@')
        {
            return Err("it names no host");
        }
        let authorization = match login {
            None => None,
            Some(login) => {
                let login = unescaped(login).ok_or("its user or password is escaped wrongly")?;
                Some(format!("Basic {}", encode_base64(&login)))
            }
        };
        Ok(Self { host: host.to_owned(), port: port.unwrap_or(DEFAULT_PORT), authorization })
    }

    /// Connects to the proxy, and has it connect to a registry.
    pub(super) async fn connect(&self, target: &str) -> io::Result<TcpStream> {
        let told = |what: String| {
            io::Error::other(format!("the proxy `{}:{}` {what}", self.host, self.port))
        };
        let mut stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| told(format!("cannot be reached: {error}")))?;
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &self.authorization {
            request += &format!("Proxy-Authorization: {authorization}\r\n");
        }
        request += "\r\n";
        stream.write_all(request.as_bytes()).await?;
        let answer = read_answer(&mut stream)
            .await
            .map_err(|error| told(format!("does not answer as proxies do: {error}")))?;
        let line = answer.lines().next().unwrap_or_default();
        let status = line.split(' ').nth(1).unwrap_or_default();
        if !(line.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2')) {
            let clean = |letter: &char| !letter.is_control();
            let shown: String = line.chars().filter(clean).take(SHOWN_CHARACTERS).collect();
            return Err(told(format!("answers `{shown}` when asked for `{target}`")));
        }
        Ok(stream)
    }
}

/// Reads what a proxy answers, and not a byte more: what follows is the registry's.
async fn read_answer(stream: &mut TcpStream) -> io::Result<String> {
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == MAX_PROXY_ANSWER_BYTES {
            let limit = format!("it says more than {MAX_PROXY_ANSWER_BYTES} bytes");
            return Err(io::Error::other(limit));
        }
        answer.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Turns `%41` into `A`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                u8::try_from(value).ok()?
            }
            byte => byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_exempt_as_upstream_exempts_them() {
        let exempt = "one.example.com, .two.example.com,10.1.0.0/16,192.168.7.7,three.example.com:50051,\
                      *.four.example.com,fd00::/8,five.example.com.:x,[2001:db8::1]:7";
        let settings =
            ProxySettings { proxy: "http://proxy:1".to_owned(), exempt: exempt.to_owned() };
        for (host, port, is_exempt) in [
            ("localhost", 1, true),
            ("127.8.8.8", 1, true),
            ("::1", 1, true),
            ("one.example.com", 1, true),
            ("ONE.example.com.", 1, true),
            ("deep.one.example.com", 1, true),
            ("anyone.example.com", 1, false),
            ("two.example.com", 1, false),
            ("deep.two.example.com", 1, true),
            ("three.example.com", 50051, true),
            ("three.example.com", 50052, false),
            ("four.example.com", 1, false),
            ("deep.four.example.com", 1, true),
            ("10.1.2.3", 1, true),
            ("10.2.2.3", 1, false),
            ("192.168.7.7", 1, true),
            ("192.168.7.8", 1, false),
            ("fd12::1", 1, true),
            ("fe12::1", 1, false),
            ("2001:db8::1", 7, true),
            ("2001:db8::1", 8, false),
        ] {
            assert_eq!(settings.is_exempt(host, port), is_exempt, "{host}:{port}");
            assert_eq!(settings.for_host(host, port).unwrap().is_none(), is_exempt);
        }
        let all = ProxySettings { exempt: "*".to_owned(), ..settings };
        assert!(all.is_exempt("one.example.com", 1));
        assert_eq!(ProxySettings::default().for_host("one.example.com", 1).unwrap(), None);
    }

    #[test]
    fn proxies_are_read_and_wrong_ones_refused_without_their_passwords() {
        let proxy = |host: &str, port, authorization: Option<&str>| Proxy {
            host: host.to_owned(),
            port,
            authorization: authorization.map(str::to_owned),
        };
        for (text, expected) in [
            ("http://proxy.example.com:3128", proxy("proxy.example.com", 3128, None)),
            ("proxy:3128/", proxy("proxy", 3128, None)),
            ("http://[::1]:8", proxy("::1", 8, None)),
            ("http://proxy", proxy("proxy", 80, None)),
            ("http://me:a%40b@proxy:1", proxy("proxy", 1, Some("Basic bWU6YUBi"))),
        ] {
            assert_eq!(Proxy::parse(text), Ok(expected), "{text}");
        }
        for text in
            ["https://me:secret@proxy:1", "socks5://me:secret@x", "http://", "me:secret%4@x"]
        {
            let settings = ProxySettings { proxy: text.to_owned(), exempt: String::new() };
            let error = settings.for_host("one.example.com", 1).unwrap_err().to_string();
            assert!(error.contains("`GRPC_PROXY`") && !error.contains("secret"), "{error}");
            assert!(!format!("{settings:?}").contains("secret"));
        }
        let settings =
            ProxySettings { proxy: "http://me:secret@proxy:1".to_owned(), exempt: "x".to_owned() };
        let shown = format!("{settings:?}");
        assert!(shown.contains("proxy:1") && !shown.contains("secret"), "{shown}");
    }
}
