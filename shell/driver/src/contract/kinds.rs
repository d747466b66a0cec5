//! Kinds that users bring: they come and go with their definitions, and their schemas hold.

use operon_lifecycle::ErrorKind;

use super::{Check, Outcome, Stage, require, require_equal, require_refusal};
use crate::{Change, Interest};

pub(super) const CHECKS: &[Check] = &[
    Check { name: "a definition brings a kind", run: brings },
    Check { name: "a schema is kept", run: schema },
    Check { name: "objects go with their definition", run: goes },
];

fn brings(stage: &Stage<'_>) -> Outcome {
    let early = stage.cluster().create(&stage.widget("early", 1));
    require_refusal(early, ErrorKind::NotFound, "creating an object before its definition")?;
    let widgets = Interest::all_of([stage.widget_kind()]);
    let before = stage.cluster().list(&widgets)?;
    require(before.objects.is_empty(), "the kind has no objects yet")?;
    let definition = stage.define_widgets()?;
    let made = stage.cluster().create(&stage.widget("late", 3))?;
    require_equal(made.spec().get("size"), 3, "it has its content")?;
    require(stage.find(&made.key())? == made, "it is found")?;
    stage.eventually("it is listed", || {
        let objects = stage.cluster().list(&widgets)?.objects;
        Ok(objects.iter().any(|object| object.key() == made.key()))
    })?;
    // From before there was such a kind on; a cluster may ask to list again instead.
    let mut cursor = before.cursor;
    let mut is_told = false;
    stage.eventually("it is told", || match stage.cluster().changes(&widgets, &cursor) {
        Ok(changes) => {
            cursor = changes.cursor;
            is_told |= changes.changes.iter().any(|change| match change {
                Change::Is(object) => object.key() == made.key(),
                Change::Gone(_) => false,
            });
            Ok(is_told)
        }
        Err(error) if error.kind == ErrorKind::Conflict => Ok(true),
        Err(error) => Err(error.into()),
    })?;
    stage.forget_widgets(&definition)
}

fn schema(stage: &Stage<'_>) -> Outcome {
    let definition = stage.define_widgets()?;
    let small = stage.cluster().create(&stage.widget("small", 0));
    require_refusal(small, ErrorKind::Invalid, "creating what the schema forbids")?;
    let mut wrong = stage.widget("wrong", 1);
    wrong.set(&["spec", "colour"], 5);
    let answer = stage.cluster().apply(&wrong);
    require_refusal(answer, ErrorKind::Invalid, "applying what the schema forbids")?;
    let mut made = stage.cluster().create(&stage.widget("right", 1))?;
    made.set(&["spec", "size"], "large");
    let answer = stage.cluster().update(&made);
    require_refusal(answer, ErrorKind::Invalid, "updating to what the schema forbids")?;
    let mut odd = stage.widget("odd", 1);
    odd.set(&["spec", "unheard"], "of");
    let odd = stage.cluster().create(&odd)?;
    require(odd.spec().get("unheard").is_null(), "a field that the schema lacks is dropped")?;
    stage.forget_widgets(&definition)
}

fn goes(stage: &Stage<'_>) -> Outcome {
    let definition = stage.define_widgets()?;
    let widgets = Interest::all_of([stage.widget_kind()]);
    let made = stage.cluster().create(&stage.widget("passing", 1))?;
    stage.cluster().delete(&definition.key(), definition.uid())?;
    stage.eventually_gone(&made.key())?;
    stage.eventually_gone(&definition.key())?;
    stage.eventually("the kind has no objects any more", || {
        Ok(stage.cluster().list(&widgets)?.objects.is_empty())
    })?;
    let late = stage.cluster().create(&stage.widget("late", 1));
    require_refusal(late, ErrorKind::NotFound, "creating an object after its definition went")
}
