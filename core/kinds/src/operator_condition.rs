//! OperatorCondition: what an operator says about itself, and what an administrator says instead.

use operon_object::{Object, Value};

/// An OperatorCondition (`operators.coreos.com/v2`).
#[derive(Debug, Clone, Copy)]
pub struct OperatorCondition<'o> {
    /// The object.
    pub object: &'o Object,
}

/// Whether an operator may be replaced now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgradeable {
    /// It may.
    Yes,
    /// It may not, for this reason.
    No(String),
}

const UPGRADEABLE: &str = "Upgradeable";

impl<'o> OperatorCondition<'o> {
    /// Reads an object as an OperatorCondition.
    pub fn read(object: &'o Object) -> Self {
        Self { object }
    }

    /// Tells whether its operator may be replaced now: the administrator's word goes first, then the
    /// operator's own, if it is about what is there now.
    pub fn upgradeable(self) -> Upgradeable {
        let refused = |condition: &Value| {
            let message = condition.get("message").str();
            Upgradeable::No(format!("the operator is not upgradeable: {message}"))
        };
        if let Some(word) = find(self.object.spec().get("overrides")) {
            return if is_true(word) { Upgradeable::Yes } else { refused(word) };
        }
        let Some(word) = find(self.object.status().get("conditions")) else {
            return Upgradeable::Yes;
        };
        let observed = word.get("observedGeneration").as_integer().unwrap_or(0);
        if observed != self.object.generation() {
            let status = word.get("status").str();
            return Upgradeable::No(format!(
                "the operatorcondition status \"{UPGRADEABLE}\"=\"{status}\" is outdated"
            ));
        }
        if word.get("status").str() == "False" { refused(word) } else { Upgradeable::Yes }
    }
}

fn find(list: &Value) -> Option<&Value> {
    list.elements().iter().find(|condition| condition.get("type").str() == UPGRADEABLE)
}

fn is_true(condition: &Value) -> bool {
    condition.get("status").str() == "True"
}

#[cfg(test)]
mod tests {
    use operon_object::{Object, Value};

    use super::{OperatorCondition, Upgradeable};

    #[test]
    fn the_administrator_goes_before_the_operator_and_old_words_do_not_count() {
        let no = |text: &str| Upgradeable::No(text.to_owned());
        let claims = [
            ("{}", Upgradeable::Yes),
            (r#"{"spec":{"overrides":[{"type":"Other","status":"False"}]}}"#, Upgradeable::Yes),
            (
                r#"{"spec":{"overrides":[{"type":"Upgradeable","status":"True"}]},
                    "status":{"conditions":[{"type":"Upgradeable","status":"False"}]}}"#,
                Upgradeable::Yes,
            ),
            (
                r#"{"spec":{"overrides":[{"type":"Upgradeable","status":"False","message":"no"}]}}"#,
                no("the operator is not upgradeable: no"),
            ),
            (
                r#"{"status":{"conditions":[{"type":"Upgradeable","status":"False","message":"busy","observedGeneration":3}]}}"#,
                no("the operator is not upgradeable: busy"),
            ),
            (
                r#"{"status":{"conditions":[{"type":"Upgradeable","status":"True","observedGeneration":2}]}}"#,
                no("the operatorcondition status \"Upgradeable\"=\"True\" is outdated"),
            ),
            (
                r#"{"status":{"conditions":[{"type":"Upgradeable","status":"True","observedGeneration":3}]}}"#,
                Upgradeable::Yes,
            ),
        ];
        for (given, expected) in claims {
            let given = Value::parse_json(given).expect("the claim is JSON");
            let mut object = Object::new("operators.coreos.com/v2", "OperatorCondition", "a", "b");
            object.metadata_mut().insert("generation", 3);
            for (name, value) in given.entries() {
                object.set(&[name], value.clone());
            }
            assert_eq!(OperatorCondition::read(&object).upgradeable(), expected, "{given}");
        }
    }
}
