//! What an installation tells: lines for people as it goes on, one object for programs at its end.

use std::io;

use operon_object::{Object, ObjectKey};

use super::{Check, Standing, Story, mark};
use crate::{
    cluster::{Applied, long_name},
    exit::Outcome,
    output::{Json, Rendered, clean, print_text},
    shipping::ReportFormat,
};

/// Tells what happens, in one of two ways.
pub(super) struct Teller {
    is_text: bool,
}

impl Teller {
    pub(super) fn new(format: ReportFormat) -> Self {
        Self { is_text: format == ReportFormat::Text }
    }

    /// Tells what was found.
    pub(super) fn checks(&self, checks: &[Check]) -> io::Result<()> {
        let mut text = String::new();
        for check in checks.iter().filter(|_| self.is_text) {
            text += &format!("{} {}\n", mark(check.standing), clean(&check.told));
            if !check.help.is_empty() {
                text += &format!("  help: {}\n", clean(&check.help));
            }
        }
        print_text(&text)
    }

    /// Tells what became of an object; what was there already is counted at the end.
    pub(super) fn applied(&self, object: &Object, applied: Applied) -> io::Result<()> {
        if !self.is_text || applied == Applied::Unchanged {
            return Ok(());
        }
        print_text(&format!("{} {}\n", clean(&long_name(object)), applied.text()))
    }

    /// Tells how it ended.
    pub(super) fn end(&self, story: &Story, outcome: Outcome) -> anyhow::Result<Outcome> {
        let rendered = match self.is_text {
            true => Rendered::Text(closing(story, outcome)),
            false => json(story, outcome).to_json(),
        };
        rendered.print()?;
        Ok(outcome)
    }
}

fn closing(story: &Story, outcome: Outcome) -> String {
    let mut out = String::new();
    if story.checks.iter().any(|check| check.standing == Standing::Bad) {
        return "nothing was changed\n".to_owned();
    }
    let count =
        |wanted: Applied| story.done.iter().filter(|(_, applied)| *applied == wanted).count();
    if story.is_rehearsal {
        for (key, applied) in &story.done {
            if *applied != Applied::Unchanged {
                out += &format!("{} would be {}\n", clean(&key.to_string()), applied.text());
            }
        }
    }
    let counts = [Applied::Created, Applied::Configured, Applied::Unchanged]
        .map(|applied| format!("{} {}", count(applied), applied.text()));
    let counts = counts.join(", ");
    if story.is_rehearsal {
        return out + &format!("nothing was changed; it would be: {counts}\n");
    }
    for trouble in &story.troubles {
        out += &format!("✕ {}\n", clean(trouble));
    }
    let running = match &story.rollout {
        Some(rollout) => format!("; {rollout}"),
        None => String::new(),
    };
    out += &format!("{counts}{running}\n");
    if outcome != Outcome::Done {
        out += "hint: it goes on by itself; operon status tells how far it is\n";
    }
    out
}

fn json(story: &Story, outcome: Outcome) -> Json {
    let check = |check: &Check| {
        let standing = match check.standing {
            Standing::Good => "good",
            Standing::Doubtful => "doubtful",
            Standing::Bad => "bad",
        };
        Json::Object(vec![
            ("name", Json::text(check.name)),
            ("standing", Json::text(standing)),
            ("message", Json::text(&check.told)),
            ("help", Json::text(&check.help)),
        ])
    };
    let done = |(key, applied): &(ObjectKey, Applied)| {
        Json::Object(vec![
            ("kind", Json::text(key.kind.to_string())),
            ("namespace", Json::text(&key.namespace)),
            ("name", Json::text(&key.name)),
            ("result", Json::text(applied.text())),
        ])
    };
    let controllers = story.rollout.as_ref().map_or(Json::Null, |rollout| {
        Json::Object(vec![
            ("wanted", Json::Number(rollout.wanted)),
            ("updated", Json::Number(rollout.updated)),
            ("ready", Json::Number(rollout.ready)),
        ])
    });
    Json::Object(vec![
        ("ok", Json::Bool(outcome == Outcome::Done)),
        ("dryRun", Json::Bool(story.is_rehearsal)),
        ("checks", Json::list(story.checks.iter().map(check))),
        ("objects", Json::list(story.done.iter().map(done))),
        ("controllers", controllers),
        ("troubles", Json::texts(&story.troubles)),
    ])
}
