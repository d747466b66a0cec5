//! Applied fields: they belong to whoever applied them.

use operon_lifecycle::ErrorKind;
use operon_object::{Object, Value};

use super::{CONFIG_MAP, Check, Outcome, Stage, require, require_equal, require_refusal};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "applying makes what is missing", run: makes },
    Check { name: "applying again writes nothing", run: again },
    Check { name: "what is applied no longer is taken away", run: takes_away },
    Check { name: "applying leaves the fields of others", run: leaves },
    Check { name: "applying takes fields from others", run: forces },
    Check { name: "applying leaves the status", run: leaves_status },
    Check { name: "malformed objects are not applied", run: malformed },
];

/// Begins a ConfigMap with some entries.
fn config_map(stage: &Stage<'_>, entries: &[(&str, &str)]) -> Object {
    let mut object = Object::new("v1", "ConfigMap", &stage.namespace, "applied");
    for (name, value) in entries {
        object.set(&["data", name], *value);
    }
    object
}

fn makes(stage: &Stage<'_>) -> Outcome {
    let made = stage.cluster().apply(&config_map(stage, &[("a", "1")]))?;
    require(!made.uid().is_empty(), "it has a uid")?;
    require_equal(made.at(&["data", "a"]), "1", "it has its content")?;
    require(stage.find(&made.key())? == made, "it is found as it was answered")
}

fn again(stage: &Stage<'_>) -> Outcome {
    let wish = config_map(stage, &[("a", "1"), ("b", "2")]);
    let first = stage.cluster().apply(&wish)?;
    let second = stage.cluster().apply(&wish)?;
    require(first.resource_version() == second.resource_version(), "the version stays")
}

fn takes_away(stage: &Stage<'_>) -> Outcome {
    stage.cluster().apply(&config_map(stage, &[("a", "1"), ("b", "2")]))?;
    let changed = stage.cluster().apply(&config_map(stage, &[("a", "3"), ("c", "4")]))?;
    require_equal(changed.at(&["data", "a"]), "3", "what is applied anew is changed")?;
    require_equal(changed.at(&["data", "b"]), Value::Null, "what is left out is taken away")?;
    require_equal(changed.at(&["data", "c"]), "4", "what is added is there")
}

fn leaves(stage: &Stage<'_>) -> Outcome {
    let mut theirs = stage.cluster().create(&config_map(stage, &[("theirs", "1")]))?;
    let both = stage.cluster().apply(&config_map(stage, &[("ours", "2")]))?;
    require_equal(both.at(&["data", "theirs"]), "1", "what was there stays")?;
    require_equal(both.at(&["data", "ours"]), "2", "what is applied is there")?;
    theirs = stage.find(&theirs.key())?;
    theirs.set(&["data", "later"], "3");
    stage.cluster().update(&theirs)?;
    let after = stage.cluster().apply(&config_map(stage, &[]))?;
    require_equal(after.at(&["data", "theirs"]), "1", "what was there still stays")?;
    require_equal(after.at(&["data", "later"]), "3", "what others added stays")?;
    require_equal(after.at(&["data", "ours"]), Value::Null, "what was applied is taken away")
}

fn forces(stage: &Stage<'_>) -> Outcome {
    stage.cluster().create(&config_map(stage, &[("shared", "theirs")]))?;
    let taken = stage.cluster().apply(&config_map(stage, &[("shared", "ours")]))?;
    require_equal(taken.at(&["data", "shared"]), "ours", "the applied value is there")?;
    let key = stage.key(&CONFIG_MAP, "applied");
    require_equal(stage.find(&key)?.at(&["data", "shared"]), "ours", "and stays there")
}

fn leaves_status(stage: &Stage<'_>) -> Outcome {
    let definition = stage.define_widgets()?;
    let mut made = stage.cluster().apply(&stage.widget("applied", 1))?;
    made.set(&["status", "phase"], "Seen");
    stage.cluster().update_status(&made)?;
    let mut wish = stage.widget("applied", 2);
    wish.set(&["status", "phase"], "Overwritten");
    let applied = stage.cluster().apply(&wish)?;
    require_equal(applied.spec().get("size"), 2, "the rest is applied")?;
    require_equal(applied.status().get("phase"), "Seen", "the status stays")?;
    stage.forget_widgets(&definition)
}

fn malformed(stage: &Stage<'_>) -> Outcome {
    let answer = stage.cluster().apply(&stage.config_map("Not A Name", "1"));
    require_refusal(answer, ErrorKind::Invalid, "applying an object of an impossible name")?;
    let answer = stage.cluster().apply(&stage.widget("unknown", 1));
    require_refusal(answer, ErrorKind::NotFound, "applying an object of an unknown kind")
}
