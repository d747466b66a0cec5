//! Operators as large as objects may be, and more objects of a kind than fit on a page.

use operon_driver::Cluster;
use operon_object::{Object, known};
use operon_proof::{
    Installation,
    shelf::{group, subscription},
};

use crate::{
    Verdict,
    operators::{Operator, definition, publish, reaches, standing},
};

/// A size that an API server still takes, with its own additions: the limit of etcd is 1.5 MiB.
const LARGE: usize = 1_300_000;

/// A size that it does not take.
const TOO_LARGE: usize = 1_600_000;

/// How many objects of one kind there are.
const INSTANCES: usize = 2_000;

/// Returns the CSV of an operator with a description of a size.
fn whale(package: &'static str, size: usize) -> String {
    let line = "As large as life, and twice as natural, said the whale. ";
    let mut operator = Operator::new(package);
    operator.spec = format!("  description: \"{}\"", line.repeat(size / line.len()));
    operator.csv()
}

pub(crate) fn huge_operators(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group("whales", "{ targetNamespaces: [whales] }"))?;
    let bundles = [
        ("orca", vec![whale("orca", LARGE)]),
        ("leviathan", vec![whale("leviathan", TOO_LARGE)]),
        ("minnow", vec![Operator::new("minnow").csv()]),
    ];
    publish(operon, "whales", "whales", &bundles)?;
    for (package, _) in &bundles {
        operon.apply(&subscription("whales", package, ("whales", "whales")))?;
    }
    reaches(operon, "whales", "minnow.v1.0.0", "Succeeded")?;
    reaches(operon, "whales", "orca.v1.0.0", "Succeeded")?;
    let outcome = operon.until("it is said that the leviathan is too large", |operon| {
        [known::SUBSCRIPTION, known::INSTALL_PLAN].iter().any(|kind| {
            operon.list(kind, "whales").iter().any(|object| {
                let conditions = object.status().get("conditions").elements();
                conditions.iter().any(|condition| {
                    let message = condition.get("message").str();
                    message.contains("leviathan") && message.contains("large")
                })
            })
        })
    });
    outcome.map_err(|reason| format!("{reason}; {}", standing(operon, "whales")))?;
    Ok(format!("{LARGE} bytes work, {TOO_LARGE} are refused with words"))
}

pub(crate) fn thousands_of_instances(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group("shoal", "{ targetNamespaces: [shoal] }"))?;
    // The CRD, and many objects of it, exist before the operator that owns it; an administrator hands it over.
    let handed_over = definition("herrings", "shoal.example.com", "Herring")
        .replace("metadata: {", "metadata: { annotations: { operon.dev/adopt: shoal },");
    operon.apply(&handed_over)?;
    operon.rig().wait_for_definitions().map_err(|error| error.to_string())?;
    for number in 0..INSTANCES {
        let name = format!("herring-{number}");
        let herring = Object::new("shoal.example.com/v1", "Herring", "shoal", &name);
        operon.insist(|person| person.create(&herring))?;
    }
    let mut operator = Operator::new("shoal");
    operator.spec = "
  customresourcedefinitions: { owned: [{ name: herrings.shoal.example.com, version: v1, kind: Herring }] }"
        .to_owned();
    // Its definition asks for more than the other did, so every object has to be looked at.
    let stricter = definition("herrings", "shoal.example.com", "Herring").replace(
        "{ type: object, x-kubernetes-preserve-unknown-fields: true }",
        "{ type: object, properties: { spec: { type: object, required: [length], properties: { length: { type: integer } } } } }",
    );
    publish(operon, "shoal", "shoal", &[("shoal", vec![operator.csv(), stricter])])?;
    operon.apply(&subscription("shoal", "shoal", ("shoal", "shoal")))?;
    reaches(operon, "shoal", "shoal.v1.0.0", "Succeeded")?;
    Ok(format!("{INSTANCES} objects looked at"))
}
