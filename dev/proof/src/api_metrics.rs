//! What the API server itself counted.
//!
//! It does not say who wrote: whoever looks on makes sure that nobody else has a reason to.

use std::collections::BTreeMap;

use operon_rig::Rig;

/// The counter of requests.
const REQUESTS: &str = "apiserver_request_total{";

/// The verbs that change something.
const WRITES: [&str; 6] = ["APPLY", "DELETE", "DELETECOLLECTION", "PATCH", "POST", "PUT"];

/// What a cluster at rest writes by itself: leases, the state of nodes, tokens of pods, questions that
/// have to be posted, and Events about all that.
const HOUSEKEEPING: [&str; 8] = [
    "events",
    "leases",
    "nodes",
    "serviceaccounts/token",
    "subjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "tokenreviews",
];

/// Counts the writes so far, by what was written, such as `deployments.apps` or `pods/status`.
pub(crate) fn written_objects(rig: &Rig) -> Result<BTreeMap<String, u64>, String> {
    let text = rig.kubectl(&["get", "--raw", "/metrics"]).map_err(|error| error.to_string())?;
    let mut written = BTreeMap::new();
    for (labels, value) in text.lines().filter_map(sample) {
        let label = |name: &str| {
            let text =
                labels.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix("=\""));
            text.and_then(|text| text.strip_suffix('"')).unwrap_or_default()
        };
        if !WRITES.contains(&label("verb")) {
            continue;
        }
        let what = match (label("resource"), label("subresource")) {
            (resource, "") => resource.to_owned(),
            (resource, part) => format!("{resource}/{part}"),
        };
        let is_housekeeping = HOUSEKEEPING.iter().any(|name| {
            what == *name || what.strip_prefix(name).is_some_and(|it| it.starts_with('/'))
        });
        if !is_housekeeping {
            *written.entry(format!("{what}.{}", label("group"))).or_default() += value;
        }
    }
    if written.is_empty() {
        return Err("the API server counts no writes at all".to_owned());
    }
    Ok(written)
}

fn sample(line: &str) -> Option<(&str, u64)> {
    let (labels, value) = line.strip_prefix(REQUESTS)?.split_once("} ")?;
    Some((labels, value.trim().parse::<f64>().ok()? as u64))
}
