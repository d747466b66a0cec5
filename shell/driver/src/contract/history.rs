//! What there is and what happened: a listing and the changes after it leave nothing out.

use std::collections::BTreeSet;

use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, known};

use super::{CONFIG_MAP, Check, Failure, Outcome, Stage, require, require_refusal};
use crate::{Change, Cursor};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "a listing has what there is", run: listing },
    Check { name: "an unknown kind has no objects", run: unknown },
    Check { name: "changes after a listing leave nothing out", run: changes },
    Check { name: "changes come once", run: once },
    Check { name: "changes of other kinds are not told", run: others },
    Check { name: "a point that nobody gave is refused", run: foreign },
];

fn kinds(kinds: &[Kind]) -> BTreeSet<Kind> {
    kinds.iter().cloned().collect()
}

fn names(stage: &Stage<'_>, objects: &[Object]) -> BTreeSet<String> {
    let ours = objects.iter().filter(|object| object.namespace() == stage.namespace);
    // A cluster may put things of its own into a namespace.
    let ours = ours.filter(|object| object.name().starts_with("our-"));
    ours.map(|object| format!("{}/{}", object.kind(), object.name())).collect()
}

fn listing(stage: &Stage<'_>) -> Outcome {
    let account = Object::new("v1", "ServiceAccount", &stage.namespace, "our-account");
    stage.cluster().create(&account)?;
    for name in ["our-a", "our-b"] {
        stage.cluster().create(&stage.config_map(name, "1"))?;
    }
    let wanted = ["ConfigMap/our-a", "ConfigMap/our-b", "ServiceAccount/our-account"];
    let wanted: BTreeSet<String> = wanted.map(str::to_owned).into();
    let all = kinds(&[CONFIG_MAP, known::SERVICE_ACCOUNT]);
    let mut found = BTreeSet::new();
    stage.eventually("a listing has what was written", || {
        found = names(stage, &stage.cluster().list(&all)?.objects);
        Ok(found == wanted)
    })?;
    let some = stage.cluster().list(&kinds(&[known::SERVICE_ACCOUNT]))?.objects;
    let is_wanted = |object: &Object| object.kind() == known::SERVICE_ACCOUNT;
    require(some.iter().all(is_wanted), "a listing has only what was asked for")?;
    let listed = some.iter().find(|object| object.key() == account.key());
    let found = stage.find(&account.key())?;
    require(listed == Some(&found), "an object is listed as it is")
}

fn unknown(stage: &Stage<'_>) -> Outcome {
    stage.cluster().create(&stage.config_map("our-known", "1"))?;
    let both = kinds(&[CONFIG_MAP, stage.widget_kind()]);
    stage.eventually("the other kinds are listed all the same", || {
        let listing = stage.cluster().list(&both)?;
        Ok(names(stage, &listing.objects).contains("ConfigMap/our-known"))
    })?;
    let listing = stage.cluster().list(&both)?;
    let is_widget = |object: &Object| object.kind() == stage.widget_kind();
    require(!listing.objects.iter().any(is_widget), "nothing of the unknown kind is listed")?;
    stage.cluster().changes(&both, &listing.cursor)?;
    Ok(())
}

/// Follows the changes of this stage from a point on.
struct Follower<'a> {
    stage: &'a Stage<'a>,
    kinds: BTreeSet<Kind>,
    cursor: Cursor,
    /// What happened: whether the object went, and what it is or was.
    seen: Vec<(bool, Object)>,
}

impl<'a> Follower<'a> {
    fn new(stage: &'a Stage<'a>, kinds: BTreeSet<Kind>) -> Result<Self, Failure> {
        let cursor = stage.cluster().list(&kinds)?.cursor;
        Ok(Self { stage, kinds, cursor, seen: Vec::new() })
    }

    fn look(&mut self) -> Outcome {
        let changes = self.stage.cluster().changes(&self.kinds, &self.cursor)?;
        self.cursor = changes.cursor;
        for change in changes.changes {
            let (is_gone, object) = match change {
                Change::Is(object) => (false, object),
                Change::Gone(object) => (true, object),
            };
            if object.namespace() == self.stage.namespace && object.name().starts_with("our-") {
                self.seen.push((is_gone, object));
            }
        }
        Ok(())
    }

    fn look_until(&mut self, count: usize) -> Outcome {
        let stage = self.stage;
        stage.eventually(&format!("{count} changes are told"), || {
            self.look()?;
            Ok(self.seen.len() >= count)
        })
    }
}

fn changes(stage: &Stage<'_>) -> Outcome {
    let old = stage.cluster().create(&stage.config_map("our-old", "1"))?;
    stage.eventually("what was written is listed", || {
        let objects = stage.cluster().list(&kinds(&[CONFIG_MAP]))?.objects;
        Ok(names(stage, &objects).contains("ConfigMap/our-old"))
    })?;
    let mut follower = Follower::new(stage, kinds(&[CONFIG_MAP]))?;
    let mut new = stage.cluster().create(&stage.config_map("our-new", "1"))?;
    let made = new.clone();
    new.set(&["data", "entry"], "2");
    let changed = stage.cluster().update(&new)?;
    stage.cluster().delete(&old.key(), old.uid())?;
    let again = stage.cluster().apply(&stage.config_map("our-new", "3"))?;
    stage.cluster().delete(&again.key(), again.uid())?;
    follower.look_until(5)?;
    let told: Vec<(bool, &str, &str)> = follower
        .seen
        .iter()
        .map(|(is_gone, object)| {
            // What went is told with the version of its going, which nobody else knows.
            let version = if *is_gone { "" } else { object.resource_version() };
            (*is_gone, object.uid(), version)
        })
        .collect();
    let wanted = [
        (false, made.uid(), made.resource_version()),
        (false, made.uid(), changed.resource_version()),
        (true, old.uid(), ""),
        (false, made.uid(), again.resource_version()),
        (true, made.uid(), ""),
    ];
    // The deletion of an object may be told in two steps; here nothing holds it.
    require(told == wanted, format_args!("all of it is told in order: {told:?} is {wanted:?}"))?;
    let entries: Vec<&str> =
        follower.seen.iter().map(|(_, object)| object.at(&["data", "entry"]).str()).collect();
    require(entries == ["1", "2", "1", "3", "3"], format_args!("as it was: {entries:?}"))
}

fn once(stage: &Stage<'_>) -> Outcome {
    let mut follower = Follower::new(stage, kinds(&[CONFIG_MAP]))?;
    let start = follower.cursor.clone();
    stage.cluster().create(&stage.config_map("our-once", "1"))?;
    follower.look_until(1)?;
    for _ in 0..3 {
        follower.look()?;
    }
    require(follower.seen.len() == 1, "it is not told again from the point after it")?;
    let mut second = Follower { cursor: start, seen: Vec::new(), ..follower };
    second.look_until(1)?;
    require(second.seen.len() == 1, "it is told again from the point before it")
}

fn others(stage: &Stage<'_>) -> Outcome {
    let mut follower = Follower::new(stage, kinds(&[known::SERVICE_ACCOUNT]))?;
    stage.cluster().create(&stage.config_map("our-other", "1"))?;
    let account = Object::new("v1", "ServiceAccount", &stage.namespace, "our-account");
    stage.cluster().create(&account)?;
    follower.look_until(1)?;
    let is_wanted = |(_, object): &(bool, Object)| object.kind() == known::SERVICE_ACCOUNT;
    require(follower.seen.iter().all(is_wanted), "only what was asked for is told")
}

fn foreign(stage: &Stage<'_>) -> Outcome {
    let strange = ("nowhere".to_owned(), "not a version".to_owned());
    for cursor in [Cursor::default(), Cursor([strange].into())] {
        let answer = stage.cluster().changes(&kinds(&[CONFIG_MAP]), &cursor);
        require_refusal(answer, ErrorKind::Conflict, "asking for changes since nowhere")?;
    }
    Ok(())
}
