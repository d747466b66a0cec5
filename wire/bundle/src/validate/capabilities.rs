//! The validator `standardcapabilities`: the capability level is one of the five.

use super::case::{Case, Report};
use crate::{BundleRule, property::text};

/// The levels, lowest first.
const LEVELS: [&str; 5] =
    ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];

/// Validates the annotation `capabilities`.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    let Some(node) = case.annotation("capabilities") else { return };
    let level = text(Some(node));
    if LEVELS.contains(&level.as_str()) {
        return;
    }
    let message = format!("the capability level `{level}` is not known");
    let finding = report.add(BundleRule::CapabilityUnknown, &case.service_version, node, message);
    finding.help(format!("the levels are: {}", LEVELS.join(", ")));
}
