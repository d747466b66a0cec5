//! What must hold, whatever happens.
//!
//! Each checker has a name and looks at what was written, revision by revision, with eyes of its own: none
//! of them asks the engine or the resolver.

mod approval;
mod authority;
mod circles;
mod equal;
mod orphans;
mod plans;
mod strangers;
mod together;
mod upgrades;

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    time::Duration,
};

use operon_object::{Object, ObjectKey, Timestamp, known};

use crate::{Author, Publication, Written};

pub(super) use equal::{RACE, differences, normal_form};

/// The names of the checkers.
pub const CHECKERS: [&str; 11] = [
    "stable and then silent",
    "works together",
    "nothing unapproved",
    "equal to the fault-free run",
    "no duplicate plan",
    "monotone upgrades",
    "no orphan",
    "nobody else's objects",
    "no panic",
    "on the right authority",
    "no two operators replace each other",
];

pub(super) const STABLE: &str = CHECKERS[0];
pub(super) const EQUAL: &str = CHECKERS[3];
pub(super) const NO_PANIC: &str = CHECKERS[8];

/// Whoever reads from the past cannot know what happened just now: so long a mistake is excused that
/// only a fresh look would have avoided.
const EXCUSED: Duration = Duration::from_secs(60);

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The seed.
    pub seed: u64,
    /// The checker.
    pub checker: &'static str,
    /// What it saw.
    pub saw: String,
    /// What people did so far.
    pub deeds: Vec<String>,
    /// The last writes.
    pub writes: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, checker, saw, deeds, writes } = self;
        writeln!(formatter, "seed {seed}: {checker}: {saw}")?;
        writeln!(formatter, "what people did:")?;
        deeds.iter().try_for_each(|deed| writeln!(formatter, "  {deed}"))?;
        writeln!(formatter, "the last {} writes:", writes.len())?;
        writes.iter().try_for_each(|write| writeln!(formatter, "  {write}"))?;
        write!(formatter, "replay: cargo xtask sim --replay {seed}")
    }
}

impl std::error::Error for Finding {}

/// The objects of a cluster, as the journal tells.
pub(super) type Objects = BTreeMap<ObjectKey, Object>;

/// One change, as checkers see it.
pub(super) struct Sight<'s> {
    author: Author,
    /// The ServiceAccount that the engine impersonated.
    account: Option<&'s ObjectKey>,
    time: Timestamp,
    key: &'s ObjectKey,
    before: Option<&'s Object>,
    after: Option<&'s Object>,
    /// Everything, after the change.
    objects: &'s Objects,
}

/// A checker and what it says.
type Said = (&'static str, String);

/// Looks at everything that is written.
#[derive(Debug, Default)]
pub(super) struct Watch {
    objects: Objects,
    tail: VecDeque<String>,
    /// How many writes are remembered.
    shown: usize,
    together: together::Together,
    approval: approval::Approval,
    plans: plans::Plans,
    upgrades: upgrades::Upgrades,
    strangers: strangers::Strangers,
    authority: authority::Authority,
}

impl Watch {
    /// Begins, and remembers so many writes.
    pub(super) fn new(shown: usize) -> Self {
        Self { shown, ..Self::default() }
    }

    /// Learns what a catalog publishes.
    pub(super) fn learn(&mut self, publication: &Publication) {
        self.upgrades.learn(publication);
    }

    /// Meets an object that was there in the beginning.
    pub(super) fn meet(&mut self, object: Object) {
        self.objects.insert(object.key(), object);
    }

    /// Returns the objects.
    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Returns the last writes.
    pub(super) fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }

    /// Looks at what was written.
    pub(super) fn look(&mut self, written: &Written) -> Result<(), Said> {
        for (key, before, after) in &written.changes {
            match after {
                Some(object) => drop(self.objects.insert(key.clone(), object.clone())),
                None => drop(self.objects.remove(key)),
            }
            if key.kind != known::EVENT {
                self.tail.push_back(describe(written, key, before.as_ref(), after.as_ref()));
                if self.tail.len() > self.shown {
                    self.tail.pop_front();
                }
            }
        }
        for (key, before, after) in &written.changes {
            let sight = Sight {
                author: written.author,
                account: written.account.as_ref(),
                time: written.time,
                key,
                before: before.as_ref(),
                after: after.as_ref(),
                objects: &self.objects,
            };
            let told = |checker: usize| move |saw: String| (CHECKERS[checker], saw);
            self.together.look(&sight).map_err(told(1))?;
            self.approval.look(&sight).map_err(told(2))?;
            self.plans.look(&sight).map_err(told(4))?;
            self.upgrades.look(&sight).map_err(told(5))?;
            self.strangers.look(&sight).map_err(told(7))?;
            self.authority.look(&sight).map_err(told(9))?;
        }
        Ok(())
    }

    /// Looks at a cluster in which nothing is left to do.
    pub(super) fn look_at_rest(&self) -> Result<(), Said> {
        let told = |checker: usize| move |saw: String| (CHECKERS[checker], saw);
        together::at_rest(&self.objects).map_err(told(1))?;
        plans::at_rest(&self.objects).map_err(told(4))?;
        circles::at_rest(&self.objects).map_err(told(10))?;
        orphans::at_rest(&self.objects).map_err(told(6))
    }
}

/// Returns the package of an operator: simulated bundles are called `package.vversion`.
fn package_of(operator: &str) -> &str {
    operator.split_once(".v").map_or(operator, |(package, _)| package)
}

fn phase(object: &Object) -> &str {
    object.status().get("phase").str()
}

/// Returns the objects of a kind in a namespace.
fn within<'o>(
    objects: &'o Objects,
    kind: &operon_object::Kind,
    namespace: &str,
) -> impl Iterator<Item = &'o Object> + use<'o> {
    let from = kind.key(namespace, "");
    let (kind, namespace) = (kind.clone(), namespace.to_owned());
    objects
        .range(from..)
        .take_while(move |(key, _)| key.kind == kind && key.namespace == namespace)
        .map(|(_, object)| object)
}

/// Returns the objects of a kind.
fn all<'o>(
    objects: &'o Objects,
    kind: &operon_object::Kind,
) -> impl Iterator<Item = &'o Object> + use<'o> {
    let from = kind.key("", "");
    let kind = kind.clone();
    objects.range(from..).take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
}

fn describe(
    written: &Written,
    key: &ObjectKey,
    before: Option<&Object>,
    after: Option<&Object>,
) -> String {
    let verb = match (before, after) {
        (None, _) => "creates",
        (_, None) => "removes",
        (Some(before), Some(after)) if before.is_deleting() != after.is_deleting() => "deletes",
        (Some(before), Some(after)) if before.status() != after.status() => "says of",
        (Some(_), Some(_)) => "changes",
    };
    let author = match written.author {
        Author::Engine => "engine",
        Author::Person => "person",
        Author::Cluster => "cluster",
    };
    let status = after.map_or(&operon_object::Value::Null, Object::status);
    let mut said = String::new();
    for name in ["phase", "reason", "state", "currentCSV", "installedCSV", "message"] {
        if let Some(text) = status.get(name).as_text() {
            said.push_str(&format!(" {name}={text}"));
        }
    }
    let time = written.time.since(crate::BEGINNING);
    format!("{:9.2}s r{} {author} {verb} {key}{said}", time.as_secs_f64(), written.revision)
}
