//! Why no updates lead from an installed operator to a version, as a value and as a sentence.
//!
//! The first reason that holds is given; it is about the catalog only, never about a cluster.

use std::fmt;

use super::{Installed, Routes};
use crate::graph::{OrderError, Rules};

/// How many names a sentence lists before it says how many more there are.
const MAX_NAMES_IN_SENTENCE: usize = 3;

/// Why there is no way from one version to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWay {
    /// The installed operator, as people call it.
    pub from: String,
    /// The version that cannot be reached.
    pub to: String,
    /// The channels that were looked at.
    pub channels: Vec<String>,
    /// Whose rules were applied.
    pub rules: Rules,
    /// The reason.
    pub reason: NoWayReason,
}

/// The reason why there is no way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoWayReason {
    /// OLM v0 cannot follow the channel: it has no head, two heads, or a circle.
    NoOrder(OrderError),
    /// The wanted version is not an entry of these channels; the channels that have it.
    NotInChannel(Vec<String>),
    /// OLM v0 never offers the wanted version: these entries skip it.
    Skipped(Vec<String>),
    /// OLM v0 never offers the wanted version: it is not on the chain of replaces from the head.
    Hidden,
    /// The wanted version is older, and no update leads back to it.
    Older,
    /// Nothing replaces, skips or covers the installed version.
    NoUpdate {
        /// Entries that do, but are skipped or hidden themselves, so that OLM v0 ignores them.
        ignored: Vec<String>,
    },
    /// There are updates, but they end before.
    EndsAt {
        /// Where automatic updates end.
        end: String,
        /// Entries that would lead further, but are skipped or hidden, so that OLM v0 ignores them.
        ignored: Vec<String>,
    },
}

impl NoWay {
    /// Explains why no updates lead to the version called `to`; call it only when none do.
    pub fn explain(routes: &Routes<'_>, from: &Installed, to: &Installed) -> Self {
        let automatic = routes.automatic(from);
        let end = automatic.hops.last().and_then(|hop| routes.place(hop.entry.name()));
        Self::explain_end(routes, from, to, end)
    }

    /// Explains it when the place where automatic updates end is known already.
    pub(super) fn explain_end(
        routes: &Routes<'_>,
        from: &Installed,
        to: &Installed,
        end: Option<usize>,
    ) -> Self {
        Self {
            from: label(from),
            to: label(to),
            channels: routes.channels().iter().map(|channel| channel.name().to_owned()).collect(),
            rules: routes.rules(),
            reason: reason(routes, from, to, end),
        }
    }
}

fn label(installed: &Installed) -> String {
    if installed.name.is_empty() { installed.label() } else { installed.name.clone() }
}

fn reason(
    routes: &Routes<'_>,
    from: &Installed,
    to: &Installed,
    end: Option<usize>,
) -> NoWayReason {
    if let Some(defect) = routes.defect() {
        return NoWayReason::NoOrder(defect.clone());
    }
    let Some(target) = routes.place(&to.name) else {
        let package = routes.channels().first().map(|channel| channel.package());
        let channels = package.into_iter().flat_map(|package| package.channels());
        let having = channels.filter(|channel| channel.entry(&to.name).is_some());
        return NoWayReason::NotInChannel(
            having.map(|channel| channel.name().to_owned()).collect(),
        );
    };
    if !routes.is_offered(target) {
        return match routes.skipped_by(&to.name).as_slice() {
            [] => NoWayReason::Hidden,
            skipping => NoWayReason::Skipped(owned(skipping)),
        };
    }
    if let (Some(before), Some(after)) = (&from.version, &to.version)
        && after < before
    {
        return NoWayReason::Older;
    }
    match end {
        Some(end) => {
            let standing = routes.at(end);
            let ignored = owned(&routes.ignored_updates(&standing));
            NoWayReason::EndsAt { end: standing.name, ignored }
        }
        None => NoWayReason::NoUpdate { ignored: owned(&routes.ignored_updates(from)) },
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Prints one sentence without a full stop.
impl fmt::Display for NoWay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, .. } = self;
        let scope = self.scope();
        match &self.reason {
            NoWayReason::NoOrder(defect) => {
                write!(formatter, "OLM v0 cannot follow {scope}: {defect}")
            }
            NoWayReason::NotInChannel(having) => {
                write!(formatter, "`{to}` is not in {scope}")?;
                match having.as_slice() {
                    [] => Ok(()),
                    [only] => write!(formatter, "; channel `{only}` has it"),
                    several => write!(formatter, "; channels {} have it", listed(several)),
                }
            }
            NoWayReason::Skipped(skipping) => write!(
                formatter,
                "{} in {scope} {} `{to}`, so OLM v0 never installs it",
                listed(skipping),
                if skipping.len() == 1 { "skips" } else { "skip" },
            ),
            NoWayReason::Hidden => write!(
                formatter,
                "`{to}` is not on the chain of replaces from the head of {scope}, so OLM v0 never \
                 installs it"
            ),
            NoWayReason::Older => {
                write!(
                    formatter,
                    "`{to}` is older than `{from}`, and no update in {scope} leads back"
                )
            }
            NoWayReason::NoUpdate { ignored } => {
                write!(formatter, "nothing in {scope} ")?;
                if !ignored.is_empty() {
                    write!(formatter, "that OLM v0 installs ")?;
                }
                write!(formatter, "replaces, skips or covers `{from}`")?;
                write_ignored(formatter, ignored)
            }
            NoWayReason::EndsAt { end, ignored } => {
                write!(formatter, "the updates of `{from}` in {scope} end at `{end}`")?;
                write_ignored(formatter, ignored)
            }
        }
    }
}

impl NoWay {
    fn scope(&self) -> String {
        match self.channels.as_slice() {
            [only] => format!("channel `{only}`"),
            [] => "no channel".to_owned(),
            several => format!("any of {} channels", several.len()),
        }
    }
}

fn write_ignored(formatter: &mut fmt::Formatter<'_>, ignored: &[String]) -> fmt::Result {
    if ignored.is_empty() {
        return Ok(());
    }
    let (verb, be) = if ignored.len() == 1 { ("does", "is") } else { ("do", "are") };
    write!(
        formatter,
        "; {} {verb}, but {be} skipped or hidden, and OLM v0 ignores the edges of such entries",
        listed(ignored)
    )
}

/// Lists names in backticks, the first few of many.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_NAMES_IN_SENTENCE).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MAX_NAMES_IN_SENTENCE) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
