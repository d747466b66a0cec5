//! Catalogs that cannot always be read, behind the driver's port.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use operon_driver::{CatalogRequest, Catalogs, ClusterError};
use operon_install::ServingCertificate;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest};
use operon_object::Timestamp;
use operon_resolve::SourceName;

use super::faults::Weather;
use crate::SimCatalogs;

/// Catalogs that cannot always be read.
#[derive(Clone)]
pub(super) struct FaultyCatalogs {
    inner: SimCatalogs,
    weather: Rc<RefCell<Weather>>,
    /// What one driver read last: it goes on with that.
    last: Rc<RefCell<BTreeMap<SourceName, CatalogState>>>,
}

impl FaultyCatalogs {
    /// Begins for a new driver, which has read nothing yet.
    pub(super) fn new(inner: SimCatalogs, weather: Rc<RefCell<Weather>>) -> Self {
        Self { inner, weather, last: Rc::default() }
    }
}

impl Catalogs for FaultyCatalogs {
    fn read(
        &self,
        requests: &[CatalogRequest<'_>],
        now: Timestamp,
    ) -> BTreeMap<SourceName, CatalogState> {
        let mut weather = self.weather.borrow_mut();
        let mut last = self.last.borrow_mut();
        let mut states = self.inner.read(requests, now);
        for (name, state) in &mut states {
            let rate = weather.rates.unreadable;
            if weather.happens("catalog unreadable", rate) {
                // What was read before is kept on disk, so that a new driver has it too.
                if let Some(known) = last.get(name) {
                    state.clone_from(known);
                }
                state.problem = "connection refused".to_owned();
            }
        }
        *last = states.clone();
        states
    }

    fn bundle(&self, key: &BundleKey) -> BundleState {
        let mut weather = self.weather.borrow_mut();
        let rate = weather.rates.unpacking;
        if weather.happens("bundle not there yet", rate) {
            return BundleState::Pending { message: "it is being pulled".to_owned() };
        }
        if weather.happens("bundle unreadable", rate / 4) {
            let (reason, message) = ("BundleNotUnpacked".to_owned(), "pull failed".to_owned());
            return BundleState::Failed { reason, message, is_retried: false };
        }
        drop(weather);
        self.inner.bundle(key)
    }

    fn certify(
        &self,
        request: &CertificateRequest,
        now: Timestamp,
    ) -> Result<(ServingCertificate, Timestamp), ClusterError> {
        self.inner.certify(request, now)
    }
}
