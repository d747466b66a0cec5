//! What there is and what happened: a listing and the changes after it leave nothing out.

use std::collections::BTreeSet;

use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, known};

use super::{CONFIG_MAP, Check, Failure, Outcome, Stage, require, require_refusal};
use crate::{Change, Cursor, Interest};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "a listing has what there is", run: listing },
    Check { name: "an unknown kind has no objects", run: unknown },
    Check { name: "changes after a listing leave nothing out", run: changes },
    Check { name: "changes come once", run: once },
    Check { name: "changes of other kinds are not told", run: others },
    Check { name: "a part of a kind is listed and told", run: parts },
    Check { name: "what lies in a namespace is listed and told", run: places },
    Check { name: "what ceases to be of interest is told as gone", run: ceases },
    Check { name: "further interests join those before", run: joins },
    Check { name: "a point that nobody gave is refused", run: foreign },
];

fn kinds(kinds: &[Kind]) -> BTreeSet<Interest> {
    Interest::all_of(kinds.iter().cloned())
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
    interests: BTreeSet<Interest>,
    cursor: Cursor,
    /// What happened: whether the object went, and what it is or was.
    seen: Vec<(bool, Object)>,
}

impl<'a> Follower<'a> {
    fn new(stage: &'a Stage<'a>, interests: BTreeSet<Interest>) -> Result<Self, Failure> {
        let cursor = stage.cluster().list(&interests)?.cursor;
        Ok(Self { stage, interests, cursor, seen: Vec::new() })
    }

    fn look(&mut self) -> Outcome {
        let changes = self.stage.cluster().changes(&self.interests, &self.cursor)?;
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
    let there = follower.seen.iter().filter(|(is_gone, _)| !is_gone);
    let entries: Vec<&str> = there.map(|(_, object)| object.at(&["data", "entry"]).str()).collect();
    require(entries == ["1", "2", "3"], format_args!("as it was: {entries:?}"))
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
    // A cluster may have forgotten what was told.
    match stage.cluster().changes(&second.interests, &second.cursor) {
        Err(error) if error.kind == ErrorKind::Conflict => return Ok(()),
        _ => second.look_until(1)?,
    }
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

/// The label that the checks of parts look for.
const PART_LABEL: &str = "example.com/part";

/// Begins a ConfigMap with the label that the checks of parts look for.
fn labelled(stage: &Stage<'_>, name: &str, entry: &str) -> Object {
    let mut object = stage.config_map(name, entry);
    object.set_label(PART_LABEL, "yes");
    object
}

/// Is interested in the labelled ConfigMaps, and in one by its name.
fn parts_of(stage: &Stage<'_>) -> BTreeSet<Interest> {
    let named = stage.key(&CONFIG_MAP, "our-named");
    [Interest::labelled(CONFIG_MAP, PART_LABEL, "yes"), Interest::named(named)].into()
}

fn parts(stage: &Stage<'_>) -> Outcome {
    let interests = parts_of(stage);
    for object in [
        labelled(stage, "our-labelled", "1"),
        stage.config_map("our-named", "1"),
        stage.config_map("our-other", "1"),
    ] {
        stage.cluster().create(&object)?;
    }
    let wanted =
        BTreeSet::from(["ConfigMap/our-labelled", "ConfigMap/our-named"].map(str::to_owned));
    let mut found = BTreeSet::new();
    stage.eventually("the part is listed", || {
        found = names(stage, &stage.cluster().list(&interests)?.objects);
        Ok(found.is_superset(&wanted))
    })?;
    require(found == wanted, format_args!("only the part is listed: {found:?}"))?;
    let mut follower = Follower::new(stage, interests)?;
    for object in [
        stage.config_map("our-other", "2"),
        labelled(stage, "our-labelled", "2"),
        stage.config_map("our-stranger", "2"),
        stage.config_map("our-named", "2"),
        labelled(stage, "our-new", "2"),
    ] {
        stage.cluster().apply(&object)?;
    }
    follower.look_until(3)?;
    let mut told: Vec<&str> = follower.seen.iter().map(|(_, object)| object.name()).collect();
    told.sort_unstable();
    require(
        told == ["our-labelled", "our-named", "our-new"],
        format_args!("only the part is told: {told:?}"),
    )
}

fn places(stage: &Stage<'_>) -> Outcome {
    let interests: BTreeSet<Interest> = [Interest::within(CONFIG_MAP, &stage.namespace)].into();
    let elsewhere = Object::new("v1", "ConfigMap", "default", &format!("of-{}", stage.namespace));
    let elsewhere = stage.cluster().create(&elsewhere)?;
    stage.cluster().create(&stage.config_map("our-first", "1"))?;
    let is_here = |object: &Object| object.namespace() == stage.namespace;
    stage.eventually("what lies in a namespace is listed", || {
        let listed = stage.cluster().list(&interests)?.objects;
        require(listed.iter().all(is_here), "nothing of another namespace is listed")?;
        Ok(names(stage, &listed).contains("ConfigMap/our-first"))
    })?;
    let mut follower = Follower::new(stage, interests)?;
    stage.cluster().delete(&elsewhere.key(), elsewhere.uid())?;
    stage.cluster().create(&stage.config_map("our-second", "1"))?;
    follower.look_until(1)?;
    require(
        follower.seen.iter().all(|(_, object)| is_here(object)),
        "nothing of another namespace is told",
    )
}

fn ceases(stage: &Stage<'_>) -> Outcome {
    let mut one = stage.cluster().create(&labelled(stage, "our-labelled", "1"))?;
    let mut both = stage.cluster().create(&labelled(stage, "our-named", "1"))?;
    stage.eventually("what was written is listed", || {
        Ok(names(stage, &stage.cluster().list(&parts_of(stage))?.objects).len() == 2)
    })?;
    let mut follower = Follower::new(stage, parts_of(stage))?;
    both.metadata_mut().remove("labels");
    let both = stage.cluster().update(&both)?;
    one.metadata_mut().remove("labels");
    stage.cluster().update(&one)?;
    let last = stage.cluster().create(&labelled(stage, "our-last", "1"))?;
    // Different interests may be told apart from each other.
    stage.eventually("all of it is told", || {
        follower.look()?;
        let is_told = |object: &Object| {
            let mut seen = follower.seen.iter().filter(|(is_gone, _)| !is_gone);
            seen.any(|(_, seen)| seen.resource_version() == object.resource_version())
        };
        Ok(is_told(&both) && is_told(&last))
    })?;
    let ends = |object: &Object| {
        follower.seen.iter().rfind(|(_, seen)| seen.uid() == object.uid()).map(|(gone, _)| *gone)
    };
    require(ends(&one) == Some(true), "what lost its label is told as gone")?;
    require(ends(&both) == Some(false), "what is of interest by its name still is there")
}

fn joins(stage: &Stage<'_>) -> Outcome {
    let mut follower = Follower::new(stage, kinds(&[known::SERVICE_ACCOUNT]))?;
    let account = Object::new("v1", "ServiceAccount", &stage.namespace, "our-account");
    let account = stage.cluster().create(&account)?;
    let interest = Interest::named(stage.key(&CONFIG_MAP, "our-further"));
    let further = [interest.clone()].into();
    let first = stage.cluster().create(&stage.config_map("our-further", "1"))?;
    let mut listed = None;
    stage.eventually("what is of further interest is listed", || {
        let listing = stage.cluster().list(&further)?;
        listed = Some(listing.cursor);
        Ok(listing.objects.iter().any(|object| object.uid() == first.uid()))
    })?;
    follower.cursor.join(listed.unwrap_or_default());
    follower.interests.insert(interest);
    let second = stage.cluster().apply(&stage.config_map("our-further", "2"))?;
    let is_told = |follower: &Follower<'_>, object: &Object| {
        let mut versions = follower.seen.iter().map(|(_, seen)| seen.resource_version());
        versions.any(|version| version == object.resource_version())
    };
    stage.eventually("what was of interest before and what is now is told", || {
        follower.look()?;
        Ok(is_told(&follower, &account) && is_told(&follower, &second))
    })
}

fn foreign(stage: &Stage<'_>) -> Outcome {
    let strange = ("nowhere".to_owned(), "not a version".to_owned());
    for cursor in [Cursor::default(), Cursor([strange].into())] {
        let answer = stage.cluster().changes(&kinds(&[CONFIG_MAP]), &cursor);
        require_refusal(answer, ErrorKind::Conflict, "asking for changes since nowhere")?;
    }
    Ok(())
}
