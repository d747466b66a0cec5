//! One catalog that comes from elsewhere: fetched while others go on, kept when it cannot be fetched.
//!
//! How it is fetched is the business of [`Fetcher`].

use std::{sync::Arc, time::Duration};

use operon_kinds::CatalogSource;
use operon_lifecycle::CatalogState;
use operon_object::Timestamp;

use super::{defects::defects, fetching::Fetching, origin::Origin};
use crate::{
    Allowance, FetchError, FetchedCatalog, Fetcher, Location, OpenedCatalog,
    fetcher::KeptDocument,
    status::FetchFailure,
    workers::{FetchKey, HostOutcome, Task},
};

/// The pause after a catalog could not be fetched for the first time; it doubles each time.
pub const FIRST_FETCH_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause after a catalog could not be fetched. Whoever repairs a registry does not wait
/// longer than this.
pub const LONGEST_FETCH_PAUSE: Duration = Duration::from_secs(60);

/// A catalog from elsewhere.
#[derive(Debug)]
pub(super) struct FetchedEntry {
    pub(super) origin: Origin,
    /// What is in use.
    pub(super) opened: Option<Arc<OpenedCatalog>>,
    /// What is told of it.
    pub(super) state: CatalogState,
    task: Option<Task<Result<FetchedCatalog, FetchFailure>>>,
    /// When it is fetched again.
    next: Option<Timestamp>,
    failures: u32,
    /// Whether what is in use is a catalog without errors.
    is_sound: bool,
    /// The file of what is in use, if it is not a tree.
    document: Option<KeptDocument>,
}

impl FetchedEntry {
    pub(super) fn new(origin: Origin, address: String, now: Timestamp) -> Self {
        Self {
            origin,
            opened: None,
            state: CatalogState { address, ..CatalogState::default() },
            task: None,
            next: Some(now),
            failures: 0,
            is_sound: false,
            document: None,
        }
    }

    /// Returns when a server that could not be asked is asked again, while nothing is known of its catalog.
    /// Images are tried several times before they count as failed, and most other failures do not pass.
    pub(super) fn next_attempt(&self) -> Option<Timestamp> {
        let is_server = matches!(self.origin, Origin::Address(_));
        let is_awaited = is_server && self.opened.is_none() && self.failures > 0;
        self.next.filter(|_| is_awaited)
    }

    /// Takes note of where it comes from now. What a ConfigMap holds may change; what was read of it
    /// before stays in use until the change is read well.
    pub(super) fn follow(&mut self, origin: Origin, now: Timestamp) {
        if self.origin != origin {
            self.origin = origin;
            self.next = Some(now);
        }
    }

    /// Tells what is known of it, and begins to fetch it when it is time.
    pub(super) fn look(&mut self, source: CatalogSource<'_>, now: Timestamp, fetching: &Fetching) {
        let interval = self.origin.interval(source);
        if let Some(result) = self.task.as_ref().and_then(Task::take) {
            self.task = None;
            let has_changed = self.next.is_some();
            let broken =
                || Err(FetchFailure::open(&"reading it panicked; this is a bug in operon"));
            let result = result.unwrap_or_else(broken);
            self.finish(result, interval, now, |failure| {
                fetching.report(&format!("CatalogSource {}", source.source_name()), failure)
            });
            if has_changed {
                self.next = Some(now);
            }
        }
        let is_due = self.next.is_some_and(|next| next <= now);
        if self.task.is_none() && is_due {
            self.next = None;
            let host = self.origin.host();
            let key = FetchKey { namespace: source.source_name().namespace, host: host.clone() };
            let (fetcher, origin) = (Arc::clone(&fetching.fetcher), self.origin.clone());
            let allowance = fetching.allowance(&key.namespace);
            let work = move || match fetch(&fetcher, &origin, &allowance) {
                Ok(fetched) => (Ok(fetched), HostOutcome::Answered),
                Err(error) => (Err(FetchFailure::from(&error)), error.host_outcome()),
            };
            let refused = move || Err(FetchFailure::left_alone(&host));
            self.task = Some(fetching.workers.begin(key, work, refused));
        }
        self.state.is_being_read = self.task.is_some();
    }

    fn finish(
        &mut self,
        result: Result<FetchedCatalog, FetchFailure>,
        interval: Option<Duration>,
        now: Timestamp,
        report: impl FnOnce(FetchFailure) -> String,
    ) {
        let is_polled = interval.is_some() && matches!(self.origin, Origin::Image { .. });
        self.state.polled = is_polled.then_some(now).or(self.state.polled);
        match result {
            Ok(fetched) if fetched.staleness.is_empty() => {
                self.failures = 0;
                self.next = interval.map(|interval| now.after(interval));
                self.take(fetched, now);
            }
            Ok(mut fetched) => {
                let staleness = FetchFailure {
                    detail: std::mem::take(&mut fetched.staleness),
                    summary: std::mem::take(&mut fetched.staleness_summary),
                };
                self.take(fetched, now);
                self.fail(report(staleness), now);
            }
            Err(failure) => self.fail(report(failure), now),
        }
    }

    fn fail(&mut self, problem: String, now: Timestamp) {
        let doublings = self.failures.min(16);
        let pause = FIRST_FETCH_PAUSE.saturating_mul(1 << doublings).min(LONGEST_FETCH_PAUSE);
        self.failures += 1;
        self.next = Some(now.after(pause));
        self.state.problem = problem;
    }

    fn take(&mut self, fetched: FetchedCatalog, now: Timestamp) {
        let problem = defects(&fetched.opened, &self.state.address, false);
        if problem.is_empty() || !self.is_sound {
            self.is_sound = problem.is_empty();
            if fetched.digest != self.state.digest || self.opened.is_none() {
                self.state.read = now;
            }
            let reference = fetched.opened.tree().and_then(|tree| tree.reference.as_ref());
            self.state.image = reference.map(ToString::to_string).unwrap_or_default();
            self.state.digest = fetched.digest;
            self.state.catalog = Some(fetched.opened.shared_catalog());
            self.opened = Some(Arc::new(fetched.opened));
            self.document = fetched.document;
        }
        self.state.problem = problem;
    }
}

fn fetch(
    fetcher: &Fetcher,
    origin: &Origin,
    allowance: &Allowance,
) -> Result<FetchedCatalog, FetchError> {
    match origin {
        Origin::Path(path) => fetcher.catalog(&Location::Path(path.clone()), &[]),
        Origin::Image { image, base, credentials } => {
            let in_a_registry = || Location::parse(&format!("docker://{image}"));
            let location = match base {
                None => in_a_registry()?,
                Some(base) => match Location::parse(image)? {
                    // Paths begin with a dot or a slash here; nothing on the disk is meant by chance.
                    Location::Path(_) => in_a_registry()?,
                    location => location.counted_from(base),
                },
            };
            fetcher.catalog_for(&location, credentials, allowance)
        }
        Origin::Address(address) => {
            fetcher.catalog_for(&Location::Address(address.clone()), &[], allowance)
        }
        Origin::ConfigMap(Some(data)) => fetcher.config_map_for(data, allowance),
        Origin::ConfigMap(None) => Err(FetchError::NoConfigMap),
    }
}
