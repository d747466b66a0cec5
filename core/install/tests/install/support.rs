//! What the tests of this room share: objects written as JSON.

use operon_object::{Object, Value};

/// Reads a value.
pub(crate) fn value(json: &str) -> Value {
    Value::parse_json(json).expect("the test writes JSON")
}

/// Reads an object.
pub(crate) fn object(json: &str) -> Object {
    Object::from_value(value(json)).expect("the test writes an object")
}

/// Returns a ClusterServiceVersion `op.v1` in `ns` with some spec.
pub(crate) fn csv(spec: &str) -> Object {
    let mut csv =
        Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "ns", "op.v1");
    csv.metadata_mut().insert("uid", "u1");
    csv.set(&["spec"], value(spec));
    csv
}
