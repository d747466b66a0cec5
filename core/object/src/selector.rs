//! Label selectors.
//!
//! The form that objects carry (`matchLabels`, `matchExpressions`); the short text of command lines
//! is not read here.

use crate::Value;

/// Tells whether labels meet a selector; an empty one is met by everything.
///
/// An operator that is not known is met by nothing: selecting too little is the safe side.
pub fn selects<'l>(selector: &Value, labels: impl Fn(&str) -> Option<&'l str>) -> bool {
    let equal = |(name, wanted): (&str, &Value)| labels(name) == wanted.as_text();
    let meets = |expression: &Value| {
        let found = labels(expression.get("key").str());
        let is_listed = |found| expression.get("values").iter_texts().any(|value| value == found);
        match expression.get("operator").str() {
            "In" => found.is_some_and(is_listed),
            "NotIn" => !found.is_some_and(is_listed),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    };
    selector.get("matchLabels").entries().all(equal)
        && selector.get("matchExpressions").elements().iter().all(meets)
}
