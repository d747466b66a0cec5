//! How an embedded cluster behaves.
//!
//! There are no defaults: the caller decides what a cluster begins with and what time it is.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use operon_apiserver::Settings;
use operon_object::{Object, Timestamp};

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Receives one-line notices for the user, such as what opening a cluster repaired.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// Says how an embedded cluster behaves.
#[derive(Clone)]
pub struct Options {
    /// The CustomResourceDefinitions that the cluster always has; each opening brings them up to
    /// date.
    pub definitions: Vec<Object>,
    /// The name that changes of fields are recorded under, except by apply.
    pub manager: String,
    /// What time it is when a request comes.
    pub clock: Clock,
    /// How it behaves where clusters differ.
    pub settings: Settings,
    /// Where notices go.
    pub notify: Notify,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("definitions", &self.definitions.len())
            .field("manager", &self.manager)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Returns the clock of the system.
pub fn system_clock() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_milliseconds(0).after(since)
    })
}
