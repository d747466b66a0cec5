//! Findings as people read them: one line for each reason, and a line that sums up.

use std::time::Duration;

use super::findings::{Counts, Finding, Findings};
use crate::{
    catalog::cells::{counted, listed},
    output::clean,
};

/// How many channels a line names; the others are counted.
const MAX_NAMED_CHANNELS: usize = 6;

/// Prints findings; catalogs are named where there are several.
pub(super) fn render(findings: &Findings<'_>, names_catalogs: bool, elapsed: Duration) -> String {
    let mut text = String::new();
    let sections = [
        ("cannot be installed", &findings.installs),
        ("cannot get to the head of their channel", &findings.updates),
    ];
    for (title, section) in sections {
        if section.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        for finding in section {
            text.push_str(&format!("  {}\n", clean(&line(finding, names_catalogs))));
        }
        text.push('\n');
    }
    text.push_str(&format!("{} ({} ms)\n", summary(&findings.counts), elapsed.as_millis()));
    text
}

fn line(finding: &Finding<'_>, names_catalogs: bool) -> String {
    let Finding { package, folded, reason, .. } = finding;
    let catalog = match names_catalogs {
        true => format!(" of {}", finding.catalog),
        false => String::new(),
    };
    let channels = match finding.channels.as_slice() {
        [] => String::new(),
        [only] => format!(" in channel {only}"),
        several => {
            format!(" in channels {}", listed(several.iter().copied(), MAX_NAMED_CHANNELS))
        }
    };
    format!("{package} {folded}{catalog}{channels}: {reason}")
}

fn summary(counts: &Counts) -> String {
    let looked_at = format!(
        "{} in {} of {}",
        counted(counts.versions, "version"),
        counted(counts.channels, "channel"),
        counted(counts.packages, "package")
    );
    let mut found = Vec::new();
    match (counts.not_installable, counts.missing_api) {
        (0, _) => {}
        (number, 0) => found.push(format!("{number} cannot be installed")),
        (number, missing) => found.push(format!(
            "{number} cannot be installed ({missing} for want of an API that nothing here provides; \
             another catalog or the cluster may)"
        )),
    }
    if counts.stuck > 0 {
        found.push(format!("{} cannot get to the head of a channel", counts.stuck));
    }
    if counts.undecided > 0 {
        found.push(format!("{} not decided within the limits of work", counts.undecided));
    }
    if found.is_empty() {
        found.push("all can be installed and get to the head of their channels".to_owned());
    }
    format!("{looked_at}: {}", found.join(", "))
}
