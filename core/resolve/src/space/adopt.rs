//! A Subscription takes over the installed operator it plainly means.
//!
//! Only where there is nothing to guess: one request for the package, one freestanding operator of
//! it, and the request's own channel lists that very bundle. Everything else is left to people.

use std::collections::BTreeSet;

use operon_catalog::{Api, Bundle, Channel};
use operon_constraint::{GroupVersionKind, provided_apis};

use super::installed::InstalledOperator;
use super::sources::ReadySource;
use crate::resolution::{Notice, NoticeKind};
use crate::universe::Request;

/// Gives freestanding operators to the requests that mean them.
pub(super) fn adopt(
    installed: &mut [InstalledOperator<'_>],
    currents: &mut [Option<usize>],
    requests: &[&Request],
    sources: &[ReadySource<'_>],
    notices: &mut Vec<Notice>,
) {
    for (number, request) in requests.iter().enumerate() {
        let rivals = requests.iter().filter(|other| other.package == request.package).count();
        if currents[number].is_some() || rivals != 1 {
            continue;
        }
        let mut meant = (0..installed.len()).filter(|&position| {
            let operator = &installed[position];
            operator.request.is_none() && may_be_of(operator, request, sources)
        });
        let (Some(position), None) = (meant.next(), meant.next()) else { continue };
        if !is_listed(&installed[position], request, sources) {
            continue;
        }
        installed[position].request = Some(number);
        currents[number] = Some(position);
        notices.push(Notice {
            request: request.name.clone(),
            kind: NoticeKind::Adopted,
            text: format!(
                "{} had no Subscription and is taken over by {}: its channel lists the same bundle",
                installed[position].installed.name, request.name
            ),
        });
    }
}

/// Tells whether an operator may be of the package that a request asks for.
fn may_be_of(
    operator: &InstalledOperator<'_>,
    request: &Request,
    sources: &[ReadySource<'_>],
) -> bool {
    if operator.package.is_empty() {
        bundle_of(operator, request, sources).is_some()
    } else {
        operator.package == request.package
    }
}

fn bundle_of<'s>(
    operator: &InstalledOperator<'_>,
    request: &Request,
    sources: &'s [ReadySource<'_>],
) -> Option<Bundle<'s>> {
    let source = sources.iter().find(|source| Some(source.name) == request.source.as_ref())?;
    source.catalog.package(&request.package)?.bundle(&operator.installed.name)
}

/// Tells whether the request's channel lists the bundle that is installed.
fn is_listed(
    operator: &InstalledOperator<'_>,
    request: &Request,
    sources: &[ReadySource<'_>],
) -> bool {
    let Some(bundle) = bundle_of(operator, request, sources) else { return false };
    let follows =
        |channel: Channel<'_>| request.channel.is_empty() || channel.name() == request.channel;
    let same_version =
        bundle.version().is_some_and(|version| version == operator.installed.version);
    let installed_apis: BTreeSet<GroupVersionKind> = provided_apis(&operator.properties).collect();
    let listed_apis: BTreeSet<GroupVersionKind> = bundle.provided_apis().map(Api::name).collect();
    bundle.entries().any(|entry| follows(entry.channel()))
        && same_version
        && installed_apis == listed_apis
}
