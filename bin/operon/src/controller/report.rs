//! What the controller tells a monitoring system.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use operon_driver::{Cycle, Driver};
use operon_image::SourceCatalogs;
use operon_kinds::Subscription;
use operon_kube::{Answered, KubeCluster};
use operon_lifecycle::views::{Series, metrics};
use operon_monitor::{Board, exposition};
use operon_object::known;

use crate::cluster::now;

/// What is counted from turn to turn.
#[derive(Debug, Default)]
pub(super) struct Report {
    turns: u64,
    busy: Duration,
    written: u64,
    refused: u64,
    upgrades: u64,
    /// How often each Subscription was seen to change, with the version that was seen last.
    subscriptions: BTreeMap<(String, String), (String, u64)>,
}

impl Report {
    /// Shows how things stand after a turn; nothing was done in it while somebody else leads.
    pub(super) fn tell(
        &mut self,
        engine: &Driver<Arc<KubeCluster>, Arc<SourceCatalogs>>,
        cluster: &KubeCluster,
        cycle: Option<(&Cycle, Duration)>,
        board: &Board,
    ) {
        if let Some((cycle, took)) = cycle {
            self.turns += 1;
            self.busy += took;
            self.written += cycle.written as u64;
            let refused = cycle.deeds.iter().filter(|deed| deed.refusal.is_some());
            self.refused += refused.count() as u64;
            // An operator that was replaced goes; nothing else deletes one.
            let is_upgrade = |deed: &&operon_driver::Deed| {
                deed.verb == "delete"
                    && deed.refusal.is_none()
                    && deed.target.kind == known::CLUSTER_SERVICE_VERSION
            };
            self.upgrades += cycle.deeds.iter().filter(is_upgrade).count() as u64;
        }
        let mut all = metrics(&engine.world(now()));
        all.push(self.subscriptions(engine));
        all.extend(self.own());
        all.extend(requests(cluster));
        board.show_metrics(exposition(&all));
    }

    fn subscriptions(&mut self, engine: &Driver<Arc<KubeCluster>, Arc<SourceCatalogs>>) -> Series {
        let mut series = Series::counter(
            "subscription_sync_total",
            "How often a Subscription was seen to change.",
        );
        let mut seen = BTreeMap::new();
        for object in engine.objects().all(&known::SUBSCRIPTION) {
            let key = (object.namespace().to_owned(), object.name().to_owned());
            let (version, count) = self.subscriptions.remove(&key).unwrap_or_default();
            let is_new = version != object.resource_version();
            let count = count + u64::from(is_new);
            let subscription = Subscription::read(object);
            let approval = if subscription.is_manual() { "Manual" } else { "Automatic" };
            series.add(
                [
                    ("namespace", object.namespace()),
                    ("name", object.name()),
                    ("installed", subscription.installed_csv()),
                    ("channel", subscription.channel()),
                    ("package", subscription.package()),
                    ("approval", approval),
                ],
                count as f64,
            );
            seen.insert(key, (object.resource_version().to_owned(), count));
        }
        self.subscriptions = seen;
        series
    }

    fn own(&self) -> Vec<Series> {
        let counted = |name, help, value: u64| Series::counter(name, help).only(value as f64);
        let mut all = vec![
            counted("csv_upgrade_count", "How many operators were replaced.", self.upgrades),
            counted("operon_turns_total", "How often the loop turned.", self.turns),
            counted("operon_writes_total", "How much was written.", self.written),
            counted("operon_refusals_total", "How much could not be done.", self.refused),
            Series::counter("operon_busy_seconds_total", "How long turns took together.")
                .only(self.busy.as_secs_f64()),
        ];
        if let Some(bytes) = resident_bytes() {
            all.push(
                Series::gauge("process_resident_memory_bytes", "The memory of this process.")
                    .only(bytes as f64),
            );
        }
        all
    }
}

fn requests(cluster: &KubeCluster) -> Vec<Series> {
    let counters = cluster.counters();
    let mut requests = Series::counter(
        "operon_api_requests_total",
        "What was asked of the API server, and what it answered.",
    );
    for ((verb, answered), count) in &counters.requests {
        let code = match answered {
            Answered::Code(code) => code.to_string(),
            Answered::Nothing => "none".to_owned(),
        };
        requests.add([("verb", &verb.to_string()), ("code", &code)], *count as f64);
    }
    let is_leading = cluster.leadership().is_some_and(|leadership| leadership.is_held);
    vec![
        requests,
        Series::counter("operon_watch_restarts_total", "How often a watch was begun again.")
            .only(counters.watch_restarts as f64),
        Series::counter("operon_relists_total", "How often a watch had to list again.")
            .only(counters.relists as f64),
        Series::counter("operon_fenced_writes_total", "Writes not sent: the lease was not held.")
            .only(counters.fenced as f64),
        Series::gauge("operon_watches", "How many watches there are.")
            .only(counters.watches as f64),
        Series::gauge("operon_leader", "Whether this process leads: 1 if so, else 0.")
            .only(if is_leading { 1.0 } else { 0.0 }),
    ]
}

/// Returns the memory of this process, where the system tells it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
