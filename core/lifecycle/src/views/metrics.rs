//! What a monitoring system is told about a world, under the names that upstream gave it.
//!
//! Only what can be seen in the world is here; what a process counts itself is added by whoever runs it.

use operon_kinds::{
    CatalogSource, InstallPlan, Phase, PlanPhase, ServiceVersion, Subscription, SubscriptionState,
};
use operon_object::known;

use crate::World;

/// A series of samples with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: &'static str,
    /// One sentence for people.
    pub help: &'static str,
    /// Whether its values only ever grow.
    pub is_counter: bool,
    /// Its samples.
    pub samples: Vec<Sample>,
}

/// One value, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What it is about: names and texts.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: f64,
}

impl Series {
    /// Begins a series of values that go up and down.
    pub fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, help, is_counter: false, samples: Vec::new() }
    }

    /// Begins a series of values that only grow.
    pub fn counter(name: &'static str, help: &'static str) -> Self {
        Self { is_counter: true, ..Self::gauge(name, help) }
    }

    /// Adds a value with what it is about.
    pub fn about<const N: usize>(mut self, labels: [(&'static str, &str); N], value: f64) -> Self {
        self.add(labels, value);
        self
    }

    /// Adds the only value.
    pub fn only(self, value: f64) -> Self {
        self.about([], value)
    }

    /// Adds a value with what it is about.
    pub fn add<const N: usize>(&mut self, labels: [(&'static str, &str); N], value: f64) {
        let labels = labels.map(|(name, text)| (name, text.to_owned())).to_vec();
        self.samples.push(Sample { labels, value });
    }
}

/// Tells what can be seen in a world.
pub fn metrics(world: &World<'_>) -> Vec<Series> {
    let objects = world.objects;
    let count = |kind| objects.all(kind).count() as f64;
    let mut all = operators(world).to_vec();
    all.extend([
        Series::gauge("install_plan_count", "How many InstallPlans there are.")
            .only(count(&known::INSTALL_PLAN)),
        Series::gauge("subscription_count", "How many Subscriptions there are.")
            .only(count(&known::SUBSCRIPTION)),
        Series::gauge("catalog_source_count", "How many CatalogSources there are.")
            .only(count(&known::CATALOG_SOURCE)),
        waiting_plans(world),
        subscriptions(world),
    ]);
    all.extend(catalogs(world));
    all
}

fn operators(world: &World<'_>) -> [Series; 3] {
    let mut count = 0;
    let mut succeeded =
        Series::gauge("csv_succeeded", "Whether an operator runs as it should: 1 if so, else 0.");
    let mut abnormal =
        Series::gauge("csv_abnormal", "The operators that do not run as they should, with why.");
    let found = world.objects.all(&known::CLUSTER_SERVICE_VERSION).map(ServiceVersion::read);
    for operator in found.filter(|operator| !operator.is_copied()) {
        count += 1;
        let namespace = operator.object.namespace();
        let (name, version) = (operator.name(), operator.version_text());
        let phase = operator.phase();
        let is_well = phase == Phase::Succeeded;
        let labels = [("namespace", namespace), ("name", name), ("version", version)];
        succeeded.add(labels, if is_well { 1.0 } else { 0.0 });
        if !is_well {
            let [first, second, third] = labels;
            let reason = ("reason", operator.reason());
            abnormal.add([first, second, third, ("phase", phase.text()), reason], 1.0);
        }
    }
    let count = Series::gauge("csv_count", "How many operators there are.").only(f64::from(count));
    [count, succeeded, abnormal]
}

fn waiting_plans(world: &World<'_>) -> Series {
    let plans = world.objects.all(&known::INSTALL_PLAN).map(InstallPlan::read);
    let waits = |plan: &InstallPlan<'_>| plan.phase() == PlanPhase::RequiresApproval;
    Series::gauge("operon_install_plans_waiting", "How many InstallPlans wait for approval.")
        .only(plans.filter(waits).count() as f64)
}

fn subscriptions(world: &World<'_>) -> Series {
    let mut series = Series::gauge(
        "operon_subscription_at_latest",
        "Whether a Subscription has the latest operator that it can have: 1 if so, else 0.",
    );
    for object in world.objects.all(&known::SUBSCRIPTION) {
        let subscription = Subscription::read(object);
        let is_latest = subscription.state() == SubscriptionState::AtLatestKnown;
        series.add(
            [
                ("namespace", object.namespace()),
                ("name", object.name()),
                ("package", subscription.package()),
                ("channel", subscription.channel()),
                ("installed", subscription.installed_csv()),
            ],
            if is_latest { 1.0 } else { 0.0 },
        );
    }
    series
}

fn catalogs(world: &World<'_>) -> [Series; 2] {
    let mut ready = Series::gauge(
        "catalogsource_ready",
        "Whether a catalog can be read at the moment: 1 if so, else 0.",
    );
    let mut bundles = Series::gauge("operon_catalog_bundles", "How many bundles a catalog offers.");
    for object in world.objects.all(&known::CATALOG_SOURCE) {
        let source = CatalogSource::read(object);
        let labels = [("namespace", object.namespace()), ("name", object.name())];
        let state = world.catalogs.get(&source.source_name());
        let is_sound = source.problem().is_none();
        let is_ready = is_sound
            && state.is_some_and(|state| state.catalog.is_some() && state.problem.is_empty());
        ready.add(labels, if is_ready { 1.0 } else { 0.0 });
        let catalog = state.and_then(|state| state.catalog.as_ref());
        if let Some(catalog) = catalog {
            bundles.add(labels, f64::from(catalog.counts().bundles));
        }
    }
    [ready, bundles]
}
