//! What `operon up` would do next in a directory, or the controller in a cluster, before it does.
//!
//! It is the engine's own outlook, in a directory on a copy of the cluster to which its manifests are
//! applied: the plans have the names that they will have. Nothing is written.

mod json;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use operon_catalog::{Catalog, nearest};
use operon_driver::{Cluster, Driver};
use operon_image::SourceCatalogs;
use operon_kinds::{InstallPlan, Subscription};
use operon_lifecycle::{
    World,
    views::{OperatorNode, Preview, PreviewPlan, preview, tree},
};
use operon_object::known;
use operon_resolve::SourceName;

use super::{
    Plan, PlanFormat, mermaid,
    view::{Change, PlanView, Row, update_words, why_words},
};
use crate::{
    cluster::{
        ClusterArguments, Reached, Reader, check_version, engine, look_well, now, wait_for_bundle,
    },
    exit::Outcome,
    output::Rendered,
    up,
};

/// How often contents of bundles are asked for. Each time brings some that were not known; the engine
/// wants those of one update at a time.
const MAX_ROUNDS: usize = 100;

/// What would happen in a directory.
struct Outlook {
    /// How a command that is told to a person names the directory, with a blank before it.
    option: String,
    /// The command that lets it happen; nothing where a controller does.
    acts: Option<String>,
    namespaces: Vec<NamespaceOutlook>,
    /// What is wrong with the manifests.
    problems: Vec<String>,
}

/// What would happen in a namespace.
struct NamespaceOutlook {
    name: String,
    /// The catalogs that Subscriptions name: each with its digest, or why it cannot be read.
    catalogs: Vec<(SourceName, Result<String, String>)>,
    preview: Preview,
    /// The names of plans that wait for a person.
    waiting: BTreeSet<String>,
    view: PlanView,
}

pub(super) fn run(command: &Plan, cluster: &ClusterArguments) -> anyhow::Result<Outcome> {
    let outlook = look(command, cluster)?;
    let rendered = match command.output {
        PlanFormat::Text => Rendered::Text(text::render(&outlook, command.text_width())),
        PlanFormat::Json => json::outlook(&outlook).to_json(),
        PlanFormat::Yaml => json::outlook(&outlook).to_yaml(),
        PlanFormat::Mermaid => match outlook.namespaces.as_slice() {
            [only] => Rendered::Text(mermaid::render(&only.view)),
            _ => bail!("a picture shows one namespace\nhint: choose it with -n"),
        },
    };
    rendered.print()?;
    let fails = |namespace: &NamespaceOutlook| !namespace.preview.failed.is_empty();
    let changes = |namespace: &NamespaceOutlook| !namespace.preview.plans.is_empty();
    Ok(if outlook.namespaces.iter().any(fails) || !outlook.problems.is_empty() {
        Outcome::Negative
    } else if outlook.namespaces.iter().any(changes) {
        Outcome::Changes
    } else {
        Outcome::Done
    })
}

fn look(command: &Plan, cluster: &ClusterArguments) -> anyhow::Result<Outlook> {
    let fetching = &command.situation.fetching;
    let wanted = command.situation.namespace.as_deref();
    let Some(directory) = &cluster.dir else {
        let reached = cluster.reach()?;
        let Reached::Real(real) = &reached else { bail!("bug: no directory, no cluster") };
        let global = &command.situation.global_namespace;
        let engine = Reader::engine(real, global, fetching.fetcher()?)?;
        let namespaces = look_everywhere(engine, wanted)?;
        let problems = Vec::new();
        return Ok(Outlook { option: cluster.option(), acts: None, namespaces, problems });
    };
    check_version(&command.kube_version)?;
    let (scratch, problems) = up::rehearse(directory, now())?;
    let engine = engine(scratch, directory, fetching, &command.kube_version)?;
    let namespaces = look_everywhere(engine, wanted)?;
    let display = directory.display().to_string();
    let directory = if display == "." { String::new() } else { format!(" {display}") };
    let acts = Some(format!("operon up{directory}"));
    Ok(Outlook { option: cluster.option(), acts, namespaces, problems })
}

fn look_everywhere<C: Cluster>(
    mut engine: Driver<C, SourceCatalogs>,
    wanted: Option<&str>,
) -> anyhow::Result<Vec<NamespaceOutlook>> {
    look_well(&mut engine)?;
    let namespaces = namespaces(&engine, wanted)?;
    Ok(namespaces.iter().map(|name| look_into(&engine, name)).collect())
}

/// Returns the namespaces in which something is asked for or runs.
fn namespaces<C: Cluster>(
    engine: &Driver<C, SourceCatalogs>,
    wanted: Option<&str>,
) -> anyhow::Result<Vec<String>> {
    let objects = engine.objects();
    let subscribed = objects.all(&known::SUBSCRIPTION).map(|object| object.namespace().to_owned());
    let running = tree(objects, None).into_iter().map(|node| node.namespace);
    let all: BTreeSet<String> = subscribed.chain(running).collect();
    let Some(wanted) = wanted else { return Ok(all.into_iter().collect()) };
    if objects.get(&known::NAMESPACE, "", wanted).is_none() {
        let names = objects.all(&known::NAMESPACE).map(|namespace| namespace.name());
        let hint = match nearest(wanted, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "operon get namespaces lists them".to_owned(),
        };
        bail!("there is no namespace `{wanted}`\nhint: {hint}");
    }
    Ok(vec![wanted.to_owned()])
}

fn look_into<C: Cluster>(engine: &Driver<C, SourceCatalogs>, namespace: &str) -> NamespaceOutlook {
    let mut bundles = BTreeMap::new();
    let mut seen = Preview::default();
    let base = engine.world(now());
    for _ in 0..MAX_ROUNDS {
        let world = World { bundles: &bundles, ..base };
        seen = preview(&world, namespace);
        let wanted: Vec<_> =
            seen.wanted.iter().filter(|key| !bundles.contains_key(*key)).cloned().collect();
        if wanted.is_empty() {
            break;
        }
        for key in wanted {
            let state = wait_for_bundle(engine.catalogs(), &key);
            bundles.insert(key, state);
        }
    }
    let waits = |plan: &&PreviewPlan| {
        let key = known::INSTALL_PLAN.key(namespace, &plan.name);
        let live = base.objects.find(&key).map(InstallPlan::read);
        !plan.manual.is_empty() && !live.is_some_and(|live| live.is_approved())
    };
    let waiting: BTreeSet<String> =
        seen.plans.iter().filter(waits).map(|plan| plan.name.clone()).collect();
    let view = PlanView {
        rows: rows(&base, namespace, &seen, &waiting),
        unanswered: Vec::new(),
        notices: Vec::new(),
        answered_requests: 0,
        id: String::new(),
    };
    NamespaceOutlook {
        name: namespace.to_owned(),
        catalogs: catalogs(engine, &base, namespace),
        preview: seen,
        waiting,
        view,
    }
}

/// Returns the catalogs that the Subscriptions of a namespace name.
fn catalogs<C: Cluster>(
    engine: &Driver<C, SourceCatalogs>,
    world: &World<'_>,
    namespace: &str,
) -> Vec<(SourceName, Result<String, String>)> {
    let subscriptions = world.objects.within(&known::SUBSCRIPTION, namespace);
    let named: BTreeSet<SourceName> =
        subscriptions.filter_map(|object| Subscription::read(object).source()).collect();
    let state = |name: SourceName| {
        let state = match (engine.catalogs().opened(&name), world.catalogs.get(&name)) {
            (Some(opened), _) => Ok(opened.digest().to_owned()),
            (None, Some(state)) => Err(state.problem.clone()),
            (None, None) => Err("there is no such CatalogSource".to_owned()),
        };
        (name, state)
    };
    named.into_iter().map(state).collect()
}

fn rows(
    world: &World<'_>,
    namespace: &str,
    seen: &Preview,
    waiting: &BTreeSet<String>,
) -> Vec<Row> {
    let running = tree(world.objects, Some(namespace));
    let name_of = |name: &str| {
        let planned = seen.plans.iter().flat_map(|plan| &plan.operators);
        let mut added = planned.filter(|operator| operator.addition.name == name);
        let node = running.iter().find(|node| node.name == name && !node.package.is_empty());
        let package = added.next().map(|operator| &operator.addition.package);
        package.or(node.map(|node| &node.package)).map_or_else(|| name.to_owned(), String::clone)
    };
    let mut rows = Vec::new();
    let mut moved: BTreeSet<&str> = BTreeSet::new();
    for plan in &seen.plans {
        for operator in &plan.operators {
            let addition = &operator.addition;
            let before = running.iter().find(|node| node.name == addition.updates);
            let catalog = catalog(world, &addition.source);
            let why = match before {
                Some(before) => update_words(catalog, addition, &before.version),
                None => why_words(&name_of, &addition.reasons, &[]),
            };
            moved.insert(&addition.updates);
            moved.insert(&addition.name);
            let from = before.map(|before| before.version.clone());
            rows.push(Row::added(addition, from, waiting.contains(&plan.name), why));
        }
    }
    let kept = running.iter().filter(|node| !moved.contains(node.name.as_str()));
    rows.extend(kept.map(|node| kept_row(world, seen, node)));
    rows.sort_by_cached_key(|row| (row.change, row.package.clone(), row.name.clone()));
    rows
}

fn catalog<'w>(world: &World<'w>, name: &SourceName) -> Option<&'w Catalog> {
    world.catalogs.get(name).and_then(|state| state.catalog.as_deref())
}

fn kept_row(world: &World<'_>, seen: &Preview, node: &OperatorNode) -> Row {
    let key = known::SUBSCRIPTION.key(&node.namespace, &node.subscription);
    let subscription = world.objects.find(&key).map(Subscription::read);
    let source = subscription.and_then(|subscription| subscription.source());
    let followed = subscription.zip(source.as_ref()).and_then(|(subscription, source)| {
        let package = catalog(world, source)?.package(subscription.package())?;
        match subscription.channel() {
            "" => package.default_channel(),
            name => package.channel(name),
        }
    });
    let is_among = |told: &[(String, String, String)]| {
        told.iter().any(|(name, _, _)| *name == node.subscription)
    };
    let why = if subscription.is_none() {
        "runs without a Subscription"
    } else if seen.busy.contains(&node.subscription) {
        "something is under way"
    } else if is_among(&seen.held) || is_among(&seen.failed) {
        "held, see below"
    } else if followed
        .and_then(|channel| channel.head())
        .is_some_and(|head| head.name() == node.name)
    {
        "at the head"
    } else {
        "no update for it now"
    };
    Row {
        change: Change::Keep,
        waits: false,
        package: if node.package.is_empty() { node.name.clone() } else { node.package.clone() },
        name: node.name.clone(),
        from: None,
        version: node.version.clone(),
        channel: followed.map(|channel| channel.name().to_owned()).unwrap_or_default(),
        source,
        why: why.to_owned(),
        reasons: Vec::new(),
        addition: None,
    }
}
