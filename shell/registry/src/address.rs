//! Addresses of registries, as people and manifests write them.
//!
//! Names are not resolved here; that happens whenever a connection is made.

use std::{fmt, path::PathBuf, str::FromStr};

use thiserror::Error;

/// Where a registry listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host name or IP address and a port, such as `catalog.olm.svc:50051`.
    Tcp {
        /// The host; an IPv6 address is written without brackets here.
        host: String,
        /// The port.
        port: u16,
    },
    /// The path of a Unix socket, such as `/run/operon/registry.sock`.
    Unix(PathBuf),
}

/// An address that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{written}` is not the address of a registry: {defect}; write `host:port`, `grpc://host:port` \
     or `unix:///path`"
)]
pub struct AddressError {
    written: String,
    defect: &'static str,
}

impl Address {
    /// Reads an address: `host:port`, `grpc://host:port`, `[ipv6]:port` or `unix:///path`.
    pub fn parse(written: &str) -> Result<Self, AddressError> {
        let refuse = |defect| AddressError { written: written.to_owned(), defect };
        if let Some(path) = written.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if !path.starts_with('/') {
                return Err(refuse("the path of a socket must be absolute"));
            }
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let rest = match written.split_once("://") {
            None => written,
            Some(("grpc", rest)) => rest.trim_end_matches('/'),
            Some(_) => return Err(refuse("registries are spoken to by `grpc` or `unix` only")),
        };
        let (host, port) = rest.rsplit_once(':').ok_or_else(|| refuse("it has no port"))?;
        let port =
            port.parse().map_err(|_| refuse("its port is not a number between 0 and 65535"))?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(inner) => inner,
            None if host.contains(':') => {
                return Err(refuse("an IPv6 address needs brackets, as in `[::1]:50051`"));
            }
            None => host,
        };
        let is_odd =
            |byte: char| byte.is_whitespace() || byte.is_control() || "/@?#".contains(byte);
        if host.is_empty() || host.contains(is_odd) {
            return Err(refuse("it has no host name that could be looked up"));
        }
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(written: &str) -> Result<Self, AddressError> {
        Self::parse(written)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => {
                write!(formatter, "[{host}]:{port}")
            }
            Self::Tcp { host, port } => write!(formatter, "{host}:{port}"),
            Self::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}
