//! `operon install`: Operon is put on a cluster, or made new there.
//!
//! First it is asked whether that can go well, and nothing is changed while something is in the way. What
//! is applied is what `operon manifests` prints; a second time is the upgrade.

mod checks;
mod report;

use std::{
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use operon_driver::{Cluster, ClusterError, Interest};
use operon_kinds::{condition, parse_duration};
use operon_kube::KubeCluster;
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey, known};

use self::checks::{Check, Standing};
use super::{
    manifests::{
        APP_LABEL, CONTROLLER_NAME, FIRST_GROUP_ANNOTATION, Shape, objects as all_objects,
    },
    place::PlaceArguments,
    rollout::{Rollout, troubles},
};
use crate::{
    cluster::{Applied, PERSON},
    exit::Outcome,
    shipping::ReportFormat,
};

/// How often it is looked whether everything is there.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Puts Operon on a cluster, or makes it new there
///
/// Looks first whether that can go well, and changes nothing if not. What is applied is what `operon
/// manifests` prints.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 it runs, 1 something is in the way, or it does not run in time

Examples:
  operon install --image registry.example.com/operon:v1
  operon install --image registry.example.com/operon:v2     # the same again is the upgrade
  operon install --attenuated --tenant shop     # tenants' ServiceAccounts decide what is installed
  operon install --dry-run
  operon status")]
pub(crate) struct Install {
    #[command(flatten)]
    shape: Shape,
    /// Only looks and tells what would be done
    #[arg(long)]
    dry_run: bool,
    /// Does not wait until the controllers run
    #[arg(long)]
    no_wait: bool,
    /// How long to wait for the controllers
    #[arg(long, value_name = "DURATION", default_value = "3m", value_parser = parse_patience)]
    timeout: Duration,
    /// How to print what was done
    #[arg(short, long, value_enum, default_value = "text")]
    output: ReportFormat,
    #[command(flatten)]
    place: PlaceArguments,
}

/// What the server says would become of an object.
#[derive(Debug)]
struct Rehearsed {
    key: ObjectKey,
    outcome: Result<Applied, ClusterError>,
}

/// What was done, and how it ended.
#[derive(Debug, Default)]
struct Story {
    checks: Vec<Check>,
    is_rehearsal: bool,
    done: Vec<(ObjectKey, Applied)>,
    /// How many controllers run, where that was waited for.
    rollout: Option<Rollout>,
    /// What keeps them from running.
    troubles: Vec<String>,
}

pub(crate) fn run(command: &Install) -> anyhow::Result<Outcome> {
    let cluster = command.place.connect()?;
    let mut objects = all_objects(&command.shape)?;
    let mut story = Story { is_rehearsal: command.dry_run, ..Story::default() };
    let teller = report::Teller::new(command.output);
    story.checks.push(checks::server(&cluster));
    let mut rehearsed = Vec::new();
    if checks::is_passed(&story.checks) {
        story.checks.extend(checks::policies(&cluster, &mut objects)?);
        story.checks.extend(checks::tenants(&cluster, &objects)?);
        let there = namespaces_of(&cluster, &objects)?;
        spare_first_groups(&mut objects, &there);
        story.checks.push(checks::rights(&cluster, &objects));
        story.checks.extend(checks::neighbours(&cluster, &command.shape.namespace));
        story.checks.push(checks::definitions(&cluster, &objects));
        story.checks.push(checks::namespaces(&there));
        story.checks.push(checks::nodes(&cluster));
        if checks::is_passed(&story.checks) {
            rehearsed = rehearse(&cluster, &objects);
            story.checks.push(checks::rehearsal(&rehearsed));
        }
    }
    teller.checks(&story.checks)?;
    if !checks::is_passed(&story.checks) {
        return teller.end(&story, Outcome::Negative);
    }
    if command.dry_run {
        let would = rehearsed.into_iter().map(|one| one.outcome.map(|applied| (one.key, applied)));
        story.done = would.collect::<Result<_, _>>()?;
        return teller.end(&story, Outcome::Done);
    }
    for object in &objects {
        let before = cluster.get(&object.key())?;
        let applied = applied(before.as_ref(), &cluster.apply_as(object, PERSON)?);
        teller.applied(object, applied)?;
        story.done.push((object.key(), applied));
    }
    let outcome = match command.no_wait {
        true => Outcome::Done,
        false => wait(command, &cluster, &objects, &mut story)?,
    };
    teller.end(&story, outcome)
}

/// Reads how long somebody is ready to wait, such as `90s` or `3m`.
fn parse_patience(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|_| format!("`{text}` is no duration such as `90s` or `3m`"))
}

/// Returns the namespaces that are there already.
fn namespaces_of(cluster: &KubeCluster, objects: &[Object]) -> Result<Vec<Object>, ClusterError> {
    let wanted = objects.iter().filter(|object| object.kind() == known::NAMESPACE);
    let mut found = Vec::new();
    for object in wanted {
        match cluster.get(&object.key()) {
            Ok(there) => found.extend(there),
            // What may not be looked at is told with the rights.
            Err(error) if error.kind == ErrorKind::Forbidden => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Does not ask again for an OperatorGroup that was made once.
fn spare_first_groups(objects: &mut [Object], there: &[Object]) {
    for object in objects.iter_mut().filter(|object| object.kind() == known::NAMESPACE) {
        let is_done = there.iter().any(|found| {
            found.name() == object.name() && found.annotation(FIRST_GROUP_ANNOTATION).is_none()
        });
        if is_done {
            object.remove_annotation(FIRST_GROUP_ANNOTATION);
        }
    }
}

/// Asks the server what would become of each object.
fn rehearse(cluster: &KubeCluster, objects: &[Object]) -> Vec<Rehearsed> {
    let rehearse_one = |object: &Object| -> Result<Applied, ClusterError> {
        let before = cluster.get(&object.key())?;
        let after = match cluster.rehearse(object, PERSON) {
            Ok(after) => after,
            // Its namespace is not there yet, which is made before it.
            Err(error) if error.kind == ErrorKind::NotFound && before.is_none() => {
                return Ok(Applied::Created);
            }
            Err(error) => return Err(error),
        };
        Ok(applied(before.as_ref(), &after))
    };
    let all = objects.iter();
    all.map(|object| Rehearsed { key: object.key(), outcome: rehearse_one(object) }).collect()
}

/// Says what applying an object did to what people see of it.
fn applied(before: Option<&Object>, after: &Object) -> Applied {
    match before {
        None => Applied::Created,
        Some(before) if plain(before) == plain(after) => Applied::Unchanged,
        Some(_) => Applied::Configured,
    }
}

/// Returns an object without what every write changes.
fn plain(object: &Object) -> Object {
    let mut object = object.clone();
    for name in ["managedFields", "resourceVersion", "generation"] {
        object.metadata_mut().remove(name);
    }
    object
}

/// Waits until every definition is served and every controller runs.
fn wait(
    command: &Install,
    cluster: &KubeCluster,
    objects: &[Object],
    story: &mut Story,
) -> Result<Outcome, ClusterError> {
    let begun = Instant::now();
    let deployment = known::DEPLOYMENT.key(&command.shape.namespace, CONTROLLER_NAME);
    let mut definitions: Vec<ObjectKey> = objects
        .iter()
        .filter(|object| object.kind() == known::CUSTOM_RESOURCE_DEFINITION)
        .map(Object::key)
        .collect();
    loop {
        let mut left = Vec::new();
        for key in definitions {
            if !cluster.get(&key)?.is_some_and(|found| is_established(&found)) {
                left.push(key);
            }
        }
        definitions = left;
        let found = cluster.get(&deployment)?;
        let rollout = found.as_ref().map(Rollout::of);
        let is_complete = rollout.as_ref().is_some_and(|rollout| rollout.is_complete);
        story.rollout = rollout;
        if is_complete && definitions.is_empty() {
            return Ok(Outcome::Done);
        }
        if begun.elapsed() > command.timeout {
            let names = definitions.iter().map(|key| format!("{key} is not served yet"));
            story.troubles = names.collect();
            let mut pods = pods_of_controller(cluster)?;
            pods.retain(|pod| pod.namespace() == command.shape.namespace);
            story.troubles.extend(troubles(&pods));
            return Ok(Outcome::Negative);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Returns the pods of controllers, in all namespaces.
pub(super) fn pods_of_controller(cluster: &impl Cluster) -> Result<Vec<Object>, ClusterError> {
    let interest = Interest::labelled(known::POD, APP_LABEL, CONTROLLER_NAME);
    Ok(cluster.list(&[interest].into())?.objects)
}

/// Tells whether the kind of a definition is served.
pub(super) fn is_established(definition: &Object) -> bool {
    condition(definition.status(), "Established").get("status").str() == "True"
}

/// Returns the mark of a check.
fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Good => "✓",
        Standing::Doubtful => "!",
        Standing::Bad => "✕",
    }
}
