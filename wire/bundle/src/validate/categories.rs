//! The validator `standardcategories`: the categories are known ones.

use super::case::{Case, Report};
use crate::{BundleRule, property::text};

/// The categories of OperatorHub.io and OpenShift's console.
const CATEGORIES: [&str; 16] = [
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Database",
    "Developer Tools",
    "Integration & Delivery",
    "Logging & Tracing",
    "Modernization & Migration",
    "Monitoring",
    "Networking",
    "Observability",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
];

/// Validates the annotation `categories`, a list with commas.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    let Some(node) = case.annotation("categories") else { return };
    let known = |category: &str| match &case.options.categories {
        Some(own) => own.contains(category),
        None => CATEGORIES.contains(&category),
    };
    for category in text(Some(node)).split(',').map(str::trim) {
        if known(category) {
            continue;
        }
        let message = format!("the category `{category}` is not known");
        let finding = report.add(BundleRule::CategoryUnknown, &case.service_version, node, message);
        let close = CATEGORIES.iter().find(|known| known.eq_ignore_ascii_case(category));
        match (&case.options.categories, close) {
            (None, Some(close)) => finding.help(format!("write `{close}`")),
            (None, None) => finding.help(format!("there are: {}", CATEGORIES.join(", "))),
            (Some(own), _) => {
                let own: Vec<&str> = own.iter().map(String::as_str).collect();
                finding.help(format!("there are: {}", own.join(", ")));
            }
        }
    }
}
