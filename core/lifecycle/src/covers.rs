//! Whether something is already as it should be.

use operon_object::Value;

/// Tells whether a value has everything that another says; what is empty may be missing.
pub(crate) fn covers(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Map(_), Value::Map(wanted)) => {
            wanted.iter().all(|(name, value)| covers(found.get(name), value))
        }
        (Value::List(found), Value::List(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted.iter()).all(|(found, wanted)| covers(found, wanted))
        }
        (found, wanted) => found == wanted || (found.is_null() && wanted.is_empty()),
    }
}
