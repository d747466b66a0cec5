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

/// Compares the plan of a directory with `operon tree` and `operon status` of it.
pub(crate) fn view_differences(directory: &Value, tree: &Value, status: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    let mut is_sound = true;
    for plan in directory.get("namespaces").elements() {
        let namespace = plan.get("namespace").str();
        let kept = plan.get("kept").elements().iter();
        let kept = kept.filter(|row| row.get("why").str() != "being installed");
        let replaced = plan.get("additions").elements().iter().map(|row| row.get("updates").str());
        let planned: BTreeSet<&str> = kept
            .map(|row| row.get("name").str())
            .chain(replaced.filter(|name| !name.is_empty()))
            .collect();
        let nodes = tree.elements().iter();
        let here = nodes.filter(|node| node.get("namespace").str() == namespace);
        let installed: BTreeSet<&str> = here.map(|node| node.get("name").str()).collect();
        if planned != installed {
            differences.push(format!("{namespace}: plan has {planned:?}, tree has {installed:?}"));
        }
        let troubles = ["problems", "failed", "conflicts"];
        is_sound &= troubles.iter().all(|member| plan.get(member).elements().is_empty());
    }
    let is_about_operators = |message: &str| {
        let beginnings = ["operator ", "Subscription ", "InstallPlan ", "the bundle for "];
        beginnings.iter().any(|beginning| message.starts_with(beginning))
    };
    let problems: Vec<&str> =
        status.get("problems").elements().iter().map(|one| one.get("message").str()).collect();
    if !is_sound && status.get("healthy").as_bool() != Some(false) {
        differences.push("plan has problems, and status is healthy".to_owned());
    }
    if is_sound && problems.iter().any(|message| is_about_operators(message)) {
        differences.push(format!("status has {problems:?}, and plan has no problem"));
    }
    differences
}

/// Reads what a command printed as JSON.
pub(crate) fn json(printed: &[u8]) -> Value {
    Value::parse_json(std::str::from_utf8(printed).unwrap()).expect("the command prints JSON")
}
