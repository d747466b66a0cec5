//! Single objects: they are made, changed and removed by whoever knows what they are.

use operon_lifecycle::ErrorKind;
use operon_object::{Object, Value, list};

use super::{CONFIG_MAP, Check, Outcome, Stage, require, require_equal, require_refusal};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "a new object gets an identity", run: identity },
    Check { name: "a name is taken once", run: taken },
    Check { name: "what is not there is not found", run: absent },
    Check { name: "malformed objects are refused", run: malformed },
    Check { name: "an update replaces what was seen", run: update },
    Check { name: "an update of what has changed is a conflict", run: stale },
    Check { name: "an update leaves the status", run: leaves_status },
    Check { name: "a status update leaves the rest", run: leaves_rest },
    Check { name: "only the right object is deleted", run: delete },
    Check { name: "what was changed is not deleted unchanged", run: delete_unchanged },
    Check { name: "finalizers hold an object", run: finalizers },
];

fn identity(stage: &Stage<'_>) -> Outcome {
    let made = stage.cluster().create(&stage.config_map("first", "1"))?;
    require(!made.uid().is_empty(), "it has a uid")?;
    require(!made.resource_version().is_empty(), "it has a resourceVersion")?;
    require(made.created().is_some(), "it has a creationTimestamp")?;
    require_equal(made.at(&["data", "entry"]), "1", "it has its content")?;
    let found = stage.find(&made.key())?;
    require(found == made, format_args!("it is found as it was answered: {found:?} is {made:?}"))?;
    let other = stage.cluster().create(&stage.config_map("second", "1"))?;
    require(other.uid() != made.uid(), "no other object has its uid")
}

fn taken(stage: &Stage<'_>) -> Outcome {
    let made = stage.cluster().create(&stage.config_map("taken", "1"))?;
    let again = stage.cluster().create(&stage.config_map("taken", "2"));
    require_refusal(again, ErrorKind::AlreadyExists, "creating the same name again")?;
    require(stage.find(&made.key())? == made, "the first one is untouched")
}

fn absent(stage: &Stage<'_>) -> Outcome {
    let key = stage.key(&CONFIG_MAP, "absent");
    require(stage.cluster().get(&key)?.is_none(), "getting it gives nothing")?;
    let unknown = stage.key(&stage.widget_kind(), "absent");
    require(stage.cluster().get(&unknown)?.is_none(), "getting an unknown kind gives nothing")?;
    let absent = stage.config_map("absent", "1");
    require_refusal(stage.cluster().update(&absent), ErrorKind::NotFound, "updating it")?;
    let deleted = stage.cluster().delete(&key, "00000000-0000-4000-a000-000000000000");
    require_refusal(deleted, ErrorKind::NotFound, "deleting it")?;
    let made = stage.cluster().create(&stage.widget("unknown", 1));
    require_refusal(made, ErrorKind::NotFound, "creating an object of an unknown kind")?;
    let nowhere = Object::new("v1", "ConfigMap", &format!("{}-no", stage.namespace), "lost");
    let made = stage.cluster().create(&nowhere);
    require_refusal(made, ErrorKind::NotFound, "creating an object in no namespace that exists")
}

fn malformed(stage: &Stage<'_>) -> Outcome {
    for name in ["Not A Name", "-dash", "slash/ed", &"long".repeat(64)] {
        let made = stage.cluster().create(&stage.config_map(name, "1"));
        require_refusal(made, ErrorKind::Invalid, "creating an object of an impossible name")?;
    }
    Ok(())
}

fn update(stage: &Stage<'_>) -> Outcome {
    let mut made = stage.cluster().create(&stage.config_map("changing", "1"))?;
    made.set(&["data", "added"], "2");
    made.value_mut().remove(&["data", "entry"]);
    made.set_label("colour", "red");
    let changed = stage.cluster().update(&made)?;
    require_equal(changed.at(&["data", "added"]), "2", "what was added is there")?;
    require_equal(changed.at(&["data", "entry"]), Value::Null, "what was removed is gone")?;
    require(changed.label("colour") == "red", "the label is there")?;
    require(changed.uid() == made.uid(), "the uid stays")?;
    require(changed.resource_version() != made.resource_version(), "the version is another")?;
    require(stage.find(&made.key())? == changed, "it is found as it was answered")?;
    let same = stage.cluster().update(&changed)?;
    let claim = "an update that changes nothing writes nothing";
    require(same.resource_version() == changed.resource_version(), claim)
}

fn stale(stage: &Stage<'_>) -> Outcome {
    let seen = stage.cluster().create(&stage.config_map("contended", "1"))?;
    let write = |entry: &str| {
        let mut object = seen.clone();
        object.set(&["data", "entry"], entry);
        stage.cluster().update(&object)
    };
    let first = write("2")?;
    require_refusal(write("3"), ErrorKind::Conflict, "updating what somebody else has changed")?;
    require(stage.find(&seen.key())? == first, "the first change stays")?;
    stage.cluster().delete(&first.key(), first.uid())?;
    stage.eventually_gone(&first.key())?;
    let again = stage.cluster().create(&stage.config_map("contended", "4"))?;
    let mut other = again.clone();
    other.set(&["metadata", "uid"], first.uid());
    let answer = stage.cluster().update(&other);
    require_refusal(answer, ErrorKind::Conflict, "updating another object of the same name")
}

fn leaves_status(stage: &Stage<'_>) -> Outcome {
    let definition = stage.define_widgets()?;
    let mut new = stage.widget("status", 1);
    new.set(&["status", "phase"], "Invented");
    let made = stage.cluster().create(&new)?;
    require_equal(made.status(), Value::Null, "a new object has no status")?;
    let mut with_status = made.clone();
    with_status.set(&["status", "phase"], "Seen");
    let with_status = stage.cluster().update_status(&with_status)?;
    require_equal(with_status.status().get("phase"), "Seen", "the status is written")?;
    let mut changed = with_status.clone();
    changed.set(&["spec", "size"], 2);
    changed.set(&["status", "phase"], "Overwritten");
    let changed = stage.cluster().update(&changed)?;
    require_equal(changed.spec().get("size"), 2, "an update writes the rest")?;
    require_equal(changed.status().get("phase"), "Seen", "an update leaves the status")?;
    stage.forget_widgets(&definition)
}

fn leaves_rest(stage: &Stage<'_>) -> Outcome {
    let definition = stage.define_widgets()?;
    let made = stage.cluster().create(&stage.widget("rest", 1))?;
    let mut written = made.clone();
    written.set(&["spec", "size"], 7);
    written.set_label("colour", "red");
    written.set(&["status", "phase"], "Seen");
    let written = stage.cluster().update_status(&written)?;
    require_equal(written.status().get("phase"), "Seen", "the status is written")?;
    require_equal(written.spec().get("size"), 1, "the rest stays")?;
    require(written.label("colour").is_empty(), "the labels stay")?;
    require(written.generation() == made.generation(), "the generation stays")?;
    let late = stage.cluster().update_status(&made);
    require_refusal(late, ErrorKind::Conflict, "writing the status of what has changed")?;
    let mut wish = written.clone();
    wish.set(&["spec", "size"], 3);
    let wish = stage.cluster().update(&wish)?;
    require(wish.generation() > written.generation(), "a new wish is a new generation")?;
    stage.forget_widgets(&definition)
}

fn delete(stage: &Stage<'_>) -> Outcome {
    let made = stage.cluster().create(&stage.config_map("deleted", "1"))?;
    let wrong = stage.cluster().delete(&made.key(), "00000000-0000-4000-a000-000000000000");
    require_refusal(wrong, ErrorKind::Conflict, "deleting an object of another uid")?;
    require(stage.find(&made.key())? == made, "it is still there")?;
    stage.cluster().delete(&made.key(), made.uid())?;
    stage.eventually_gone(&made.key())
}

fn delete_unchanged(stage: &Stage<'_>) -> Outcome {
    let seen = stage.cluster().create(&stage.config_map("watched", "1"))?;
    let changed = stage.cluster().apply(&stage.config_map("watched", "2"))?;
    let answer = stage.cluster().delete_unchanged(&seen);
    require_refusal(answer, ErrorKind::Conflict, "deleting what somebody else has changed")?;
    require(stage.find(&seen.key())? == changed, "it is still there")?;
    stage.cluster().delete_unchanged(&changed)?;
    stage.eventually_gone(&seen.key())
}

fn finalizers(stage: &Stage<'_>) -> Outcome {
    let mut new = stage.config_map("held", "1");
    new.set(&["metadata", "finalizers"], list!["example.com/hold"]);
    let made = stage.cluster().create(&new)?;
    stage.cluster().delete(&made.key(), made.uid())?;
    let mut held = stage.find(&made.key())?;
    require(held.is_deleting(), "it is marked as being deleted")?;
    require(held.uid() == made.uid(), "it is the same object")?;
    held.metadata_mut().remove("finalizers");
    stage.cluster().update(&held)?;
    stage.eventually_gone(&made.key())
}
