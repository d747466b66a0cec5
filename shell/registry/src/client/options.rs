//! How patient a client is, and how much it takes.

use std::time::Duration;

use operon_driver::AddressPolicy;

use super::proxy::ProxySettings;
use crate::limits::{KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIMEOUT, MAX_BUNDLE_MESSAGE_BYTES};

/// How patient a client is, and how much it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// How long one attempt to connect may take, until the server has spoken.
    pub connect_timeout: Duration,
    /// For how long a call tries to connect again to a server that is not there; zero tries once.
    pub patience: Duration,
    /// How long an answer of one message may take.
    pub deadline: Duration,
    /// How long a stream may be silent between two messages.
    pub silence: Duration,
    /// How long a whole stream may take.
    pub stream_deadline: Duration,
    /// How long fetching a whole catalog may take, all calls together.
    pub catalog_deadline: Duration,
    /// How often a connection without traffic is asked whether the server is there.
    pub keep_alive: Duration,
    /// The largest message that is taken.
    pub max_message_bytes: usize,
    /// How many packages and bundles, counted once for each channel, a whole catalog may have.
    pub max_bundles: usize,
    /// How many bytes the messages of a whole catalog may have together.
    pub max_catalog_bytes: u64,
    /// Which registries are reached through a proxy.
    pub proxy: ProxySettings,
    /// Which addresses may be connected to.
    pub addresses: AddressPolicy,
}

/// How many packages and bundles a whole catalog may have: the community's catalog has 10,998 bundles
/// counted once for each channel, so this leaves room to grow and still ends an endless stream.
pub const MAX_FETCHED_BUNDLES: usize = 200_000;

/// How many bytes the messages of a whole catalog may have: the files of the community's catalog have
/// 227 MB, of which messages carry less; what comes waits on disk, not in memory.
pub const MAX_FETCHED_BYTES: u64 = 1 << 30;

/// How long fetching a whole catalog may take: the community's catalog takes seconds. Without it a server
/// could name a hundred thousand packages and take half a minute for each.
pub const CATALOG_DEADLINE: Duration = Duration::from_secs(15 * 60);

impl ClientOptions {
    /// Returns the options with the proxy that the environment names.
    pub fn of_environment() -> Self {
        Self { proxy: ProxySettings::of_environment(), ..Self::default() }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: KEEP_ALIVE_TIMEOUT,
            patience: Duration::ZERO,
            deadline: Duration::from_secs(30),
            silence: Duration::from_secs(30),
            stream_deadline: Duration::from_secs(600),
            catalog_deadline: CATALOG_DEADLINE,
            keep_alive: KEEP_ALIVE_INTERVAL,
            max_message_bytes: MAX_BUNDLE_MESSAGE_BYTES,
            max_bundles: MAX_FETCHED_BUNDLES,
            max_catalog_bytes: MAX_FETCHED_BYTES,
            proxy: ProxySettings::default(),
            addresses: AddressPolicy::unrestricted(),
        }
    }
}
