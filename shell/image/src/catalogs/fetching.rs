//! What all fetches for CatalogSources share: threads, the fetcher, and who reads why one failed.

use std::{fmt, sync::Arc};

use crate::{Allowance, Fetcher, quota::Quotas, status::FetchFailure, workers::FetchWorkers};

/// Is called with the object that something was fetched for, and with the whole reason why that failed.
pub type FailureLog = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Fetches for CatalogSources.
pub(super) struct Fetching {
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) workers: FetchWorkers,
    /// What the images of each namespace may take; without it, there is no limit.
    quotas: Option<Quotas>,
    /// Where the details of failures go if tenants read the statuses.
    log: Option<FailureLog>,
}

impl fmt::Debug for Fetching {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fetching").field("fetcher", &self.fetcher).finish_non_exhaustive()
    }
}

impl Fetching {
    /// Fetches for one user, who reads everything.
    pub(super) fn of_one_user(fetcher: Arc<Fetcher>) -> Self {
        Self { fetcher, workers: FetchWorkers::of_one_user(), quotas: None, log: None }
    }

    /// Fetches for several tenants: in fair shares, and with statuses that reveal no details.
    pub(super) fn of_tenants(fetcher: Arc<Fetcher>, log: FailureLog) -> Self {
        let quotas = Some(Quotas::new(fetcher.cache_in_use().clone()));
        let workers = FetchWorkers::of_tenants();
        Self { fetcher, workers, quotas, log: Some(log) }
    }

    /// Returns `true` if several tenants share this.
    pub(super) fn has_tenants(&self) -> bool {
        self.quotas.is_some()
    }

    /// Returns what the images of a namespace may take.
    pub(super) fn allowance(&self, namespace: &str) -> Allowance {
        let of = |quotas: &Quotas| quotas.of(namespace);
        self.quotas.as_ref().map_or_else(Allowance::unlimited, of)
    }

    /// Logs a failure where that is wanted, and returns what a status says about it.
    pub(super) fn report(&self, object: &str, failure: FetchFailure) -> String {
        match &self.log {
            Some(log) => {
                log(object, &failure.detail);
                failure.summary
            }
            None => failure.detail,
        }
    }
}
