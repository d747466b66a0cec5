//! One question, one answer: `operon plan` says the same of a directory and of its exported manifests, and what
//! it says is what the engine then does.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::collections::BTreeSet;

use operon_object::Value;

/// The members of a namespace's plan that every source must agree on.
const COMPARED: [&str; 9] = [
    "additions",
    "kept",
    "plans",
    "blocked",
    "failed",
    "inProgress",
    "problems",
    "notices",
    "conflicts",
];

/// Lists the differences between the plans of one state, read from two sources.
pub(crate) fn differences(directory: &Value, files: &[Value]) -> Vec<String> {
    let mut differences = Vec::new();
    let namespaces = directory.get("namespaces").elements();
    assert_eq!(namespaces.len(), files.len(), "a plan for each namespace");
    for (one, other) in namespaces.iter().zip(files) {
        for member in COMPARED {
            let (one, other) = (one.get(member), other.get(member));
            if one != other {
                differences.push(format!(
                    "{member}: with --dir {one}\n{:>width$} from files {other}",
                    "",
                    width = member.len() + 1
                ));
            }
        }
    }
    differences
}

/// Returns the InstallPlans that the engine would create now and execute without an approval.
pub(crate) fn promised_plans(directory: &Value) -> BTreeSet<(String, String)> {
    let mut promised = BTreeSet::new();
    for namespace in directory.get("namespaces").elements() {
        let is_promised = |plan: &&Value| {
            plan.get("exists").as_bool() == Some(false)
                && plan.get("refusals").elements().is_empty()
        };
        for plan in namespace.get("plans").elements().iter().filter(is_promised) {
            let [namespace, name] = [namespace.get("namespace"), plan.get("name")];
            promised.insert((namespace.str().to_owned(), name.str().to_owned()));
        }
    }
    promised
}

/// Reads what a command printed as JSON.
pub(crate) fn json(printed: &[u8]) -> Value {
    Value::parse_json(std::str::from_utf8(printed).unwrap()).expect("the command prints JSON")
}
