//! Who goes with whom: what belongs to something that is gone goes too.

use operon_object::{Object, known};

use super::{CONFIG_MAP, Check, Outcome, Stage, require};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "what is owned goes with its owner", run: collected },
    Check { name: "what has another owner stays", run: shared },
    Check { name: "what never had an owner is collected", run: orphaned },
    Check { name: "a namespace takes its contents along", run: namespace },
];

/// Makes an object that others own.
fn owned(stage: &Stage<'_>, name: &str, owners: &[&Object]) -> Result<Object, super::Failure> {
    let mut object = stage.config_map(name, "1");
    for owner in owners {
        object.add_owner(&owner.owner_reference());
    }
    Ok(stage.cluster().create(&object)?)
}

fn collected(stage: &Stage<'_>) -> Outcome {
    let owner = stage.cluster().create(&stage.config_map("owner", "1"))?;
    let child = owned(stage, "child", &[&owner])?;
    let grandchild = owned(stage, "grandchild", &[&child])?;
    let stranger = stage.cluster().create(&stage.config_map("stranger", "1"))?;
    stage.cluster().delete(&owner.key(), owner.uid())?;
    for gone in [&owner, &child, &grandchild] {
        stage.eventually_gone(&gone.key())?;
    }
    require(stage.find(&stranger.key())? == stranger, "what is not owned is untouched")
}

fn shared(stage: &Stage<'_>) -> Outcome {
    let first = stage.cluster().create(&stage.config_map("first", "1"))?;
    let second = stage.cluster().create(&stage.config_map("second", "1"))?;
    let both = owned(stage, "both", &[&first, &second])?;
    let witness = owned(stage, "witness", &[&first])?;
    stage.cluster().delete(&first.key(), first.uid())?;
    // When the witness is gone, the other one has been looked at too, or soon is.
    stage.eventually_gone(&witness.key())?;
    (stage.subject.pause)();
    require(stage.cluster().get(&both.key())?.is_some(), "it is still there")?;
    stage.cluster().delete(&second.key(), second.uid())?;
    stage.eventually_gone(&both.key())
}

fn orphaned(stage: &Stage<'_>) -> Outcome {
    let mut owner = stage.config_map("nobody", "1");
    owner.set(&["metadata", "uid"], "00000000-0000-4000-a000-000000000000");
    let child = owned(stage, "child", &[&owner])?;
    stage.eventually_gone(&child.key())
}

fn namespace(stage: &Stage<'_>) -> Outcome {
    let name = format!("{}-x", stage.namespace);
    let home = stage.cluster().create(&Object::new("v1", "Namespace", "", &name))?;
    let mut inside = stage.config_map("inside", "1");
    inside.set_namespace(&name);
    let inside = stage.cluster().create(&inside)?;
    let account = Object::new("v1", "ServiceAccount", &name, "inside");
    stage.cluster().create(&account)?;
    let outside = stage.cluster().create(&stage.config_map("inside", "1"))?;
    stage.cluster().delete(&known::NAMESPACE.key("", &name), home.uid())?;
    for key in [inside.key(), account.key(), home.key()] {
        stage.eventually_gone(&key)?;
    }
    require(stage.find(&outside.key())? == outside, "other namespaces are untouched")?;
    // The name can be used again.
    let again = stage.cluster().create(&Object::new("v1", "Namespace", "", &name))?;
    require(again.uid() != home.uid(), "a new namespace is another one")?;
    require(stage.cluster().get(&CONFIG_MAP.key(&name, "inside"))?.is_none(), "and is empty")?;
    stage.cluster().delete(&again.key(), again.uid())?;
    Ok(())
}
