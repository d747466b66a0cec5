//! Input that passes every schema and makes no sense: it is said at the object, and the rest goes on.

use operon_object::{ObjectKey, Value, known, map};
use operon_proof::{
    Installation,
    shelf::{group, source, subscription},
};

use crate::{
    Verdict,
    operators::{Operator, definition, publish, reaches, says, standing},
};

/// Publishes a sound operator under a name of its own, and waits until it works: the rest goes on.
fn goes_on(operon: &Installation<'_>, package: &'static str) -> Result<(), String> {
    operon.apply(&group(package, &format!("{{ targetNamespaces: [{package}] }}")))?;
    publish(operon, package, package, &[(package, vec![Operator::new(package).csv()])])?;
    operon.apply(&subscription(package, package, (package, package)))?;
    reaches(operon, package, &format!("{package}.v1.0.0"), "Succeeded")
}

/// An operator that a person made by hand, with another strategy or Deployments.
fn odd_operator(name: &str, install: &str) -> String {
    format!(
        "
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {{ name: {name}, namespace: odd }}
spec:
  displayName: odd
  installModes: [{{ type: OwnNamespace, supported: true }}]
  install: {install}
"
    )
}

pub(crate) fn objects_without_sense(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group("odd", "{ targetNamespaces: [odd] }"))?;
    operon.apply(&source("odd", "no-reference", "not a reference!"))?;
    operon.apply(&source("odd", "nowhere", "127.0.0.1:1/nothing:v1"))?;
    operon.apply(
        &source("odd", "kind", "x").replace("sourceType: grpc", "sourceType: carrier-pigeon"),
    )?;
    operon.apply(&subscription("odd", "orphan", ("odd", "no-such-source")))?;
    operon.apply(&subscription("odd", "unread", ("odd", "nowhere")))?;
    operon.apply(&odd_operator("strategy.v1", "{ strategy: magic }"))?;
    let shouted = "{ strategy: deployment, spec: { deployments: [{ name: SHOUTED_NAME, spec: { selector: { matchLabels: { a: b } }, template: { metadata: { labels: { a: b } }, spec: { containers: [{ name: a, image: a }] } } } }] } }";
    operon.apply(&odd_operator("shouted.v1", shouted))?;
    let mismatched = "{ strategy: deployment, spec: { deployments: [{ name: mismatched, spec: { selector: { matchLabels: { a: b } }, template: { metadata: { labels: { c: d } }, spec: { containers: [] } } } }] } }";
    operon.apply(&odd_operator("mismatched.v1", mismatched))?;
    operon.apply(
        "
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: { name: install-by-hand, namespace: odd }
spec: { approval: Automatic, approved: true, clusterServiceVersionNames: [nothing.v1] }
",
    )?;
    operon.apply(&group("twice", "{ targetNamespaces: [twice] }"))?;
    operon.apply(
        "
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: { name: another, namespace: twice }
spec: { targetNamespaces: [twice], selector: { matchLabels: { a: b } } }
",
    )?;
    publish(operon, "twice", "twice", &[("twice", vec![Operator::new("twice").csv()])])?;
    operon.apply(&subscription("twice", "twice", ("twice", "twice")))?;
    let operator = |name: &str| known::CLUSTER_SERVICE_VERSION.key("odd", name);
    let claims: &[(ObjectKey, &str)] = &[
        (known::CATALOG_SOURCE.key("odd", "no-reference"), "not a reference!"),
        (known::CATALOG_SOURCE.key("odd", "nowhere"), "127.0.0.1:1"),
        (known::CATALOG_SOURCE.key("odd", "kind"), "carrier-pigeon"),
        (known::SUBSCRIPTION.key("odd", "orphan"), "no-such-source"),
        (known::SUBSCRIPTION.key("odd", "unread"), "nowhere"),
        (operator("strategy.v1"), "magic"),
        (operator("shouted.v1"), "SHOUTED_NAME"),
        (operator("mismatched.v1"), "selector"),
        (known::INSTALL_PLAN.key("odd", "install-by-hand"), "phase"),
        (known::OPERATOR_GROUP.key("twice", "another"), "MultipleOperatorGroupsFound"),
    ];
    let mut wrong = Vec::new();
    goes_on(operon, "sensible")?;
    for (key, words) in claims {
        if let Err(reason) = says(operon, key, words) {
            wrong.push(reason);
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n  "));
    }
    Ok(format!("{} objects say what is wrong with them", claims.len()))
}

pub(crate) fn status_edited_by_hand(operon: &Installation<'_>) -> Verdict {
    goes_on(operon, "edited")?;
    let operator = known::CLUSTER_SERVICE_VERSION.key("edited", "edited.v1.0.0");
    let plans = operon.list(&known::INSTALL_PLAN, "edited");
    let plan = plans.first().ok_or("there is no plan")?.key();
    let subscription = known::SUBSCRIPTION.key("edited", "edited");
    let nonsense = |field: &str, text: &str| map! { "status" => map! { field => text } };
    let edits: Vec<(&ObjectKey, Value)> = vec![
        (&operator, nonsense("phase", "Enlightened")),
        (&operator, nonsense("phase", "Deleting")),
        (&operator, map! { "status" => Value::Null }),
        (&subscription, nonsense("state", "Bewildered")),
        (&subscription, nonsense("installedCSV", "somebody-else.v9")),
        (&subscription, map! { "status" => Value::Null }),
        (&plan, nonsense("phase", "Installing")),
        (&plan, nonsense("phase", "Enlightened")),
        (&plan, map! { "status" => Value::Null }),
    ];
    let mut wrong = Vec::new();
    let mut kept = Vec::new();
    for (key, patch) in &edits {
        if let Err(error) = operon.person().merge(key, patch, true) {
            // The schema keeps out what it can.
            kept.push(error.message);
            continue;
        }
        let is_well = |operon: &Installation<'_>| {
            let status = |key| operon.get(key).map(|object| object.status().clone());
            let is = |key, field: &str, wanted: &str| {
                status(key).is_some_and(|status| status.get(field).str() == wanted)
            };
            // A plan without its steps is none: what it did stays.
            let may_go = *key == &plan && patch.get("status").is_null();
            is(&operator, "phase", "Succeeded")
                && is(&subscription, "state", "AtLatestKnown")
                && is(&subscription, "installedCSV", "edited.v1.0.0")
                && (is(&plan, "phase", "Complete") || (may_go && operon.get(&plan).is_none()))
        };
        let outcome = operon.until("everything is said as it is", is_well);
        if let Err(reason) = outcome {
            wrong.push(format!("{key} with {patch}: {reason}; {}", standing(operon, "edited")));
            break;
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n  "));
    }
    Ok(format!(
        "{} edits made right, {} kept out by the schema",
        edits.len() - kept.len(),
        kept.len()
    ))
}

pub(crate) fn long_and_foreign_names(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group("names", "{ targetNamespaces: [names] }"))?;
    // As long as names may be, made of words of lower case with dots.
    let long: String = "abcdefghi.".repeat(26).chars().take(253).collect();
    let mut operator = Operator::new("names").csv();
    operator = operator.replace("names.v1.0.0", &long);
    operator =
        operator.replace("displayName: names", "displayName: 'Оператор 操作员 🚢 \u{202e}gnol'");
    publish_named(operon, "names", &long, operator)?;
    operon.apply(
        &subscription("names", "names", ("names", "names"))
            .replace("metadata: { name: names,", &format!("metadata: {{ name: \"{long}\",")),
    )?;
    let foreign = subscription("names", "foreign", ("names", "names"));
    operon.apply(
        &foreign.replace("{ name: foreign, channel", "{ name: \"пакет 操作员 🚢\", channel"),
    )?;
    // Upstream: what belongs to an operator is labelled with its name, and a label has 63 letters at most.
    reaches(operon, "names", &long, "Failed")?;
    says(operon, &known::CLUSTER_SERVICE_VERSION.key("names", &long), "no more than 63 bytes")?;
    says(operon, &known::SUBSCRIPTION.key("names", "foreign"), "пакет")?;
    Ok("253 letters are too many and that is said; letters of others".to_owned())
}

/// Publishes a bundle whose operator has a name of its own.
fn publish_named(
    operon: &Installation<'_>,
    package: &str,
    operator: &str,
    manifest: String,
) -> Result<(), String> {
    use operon_proof::shelf::{ShelfBundle, push_shelf};
    let place = operon.rig().directory().join("bundles-named");
    let mut bundle = ShelfBundle::write(&place, package, &[manifest])?;
    bundle.operator = operator.to_owned();
    let image = push_shelf(operon, &format!("catalogs/{package}:v1"), &[bundle])?;
    operon.apply(&source(package, package, &image))
}

pub(crate) fn own_definitions_deleted(operon: &Installation<'_>) -> Verdict {
    goes_on(operon, "before")?;
    let kinds = ["subscriptions", "clusterserviceversions", "catalogsources", "operators"];
    for plural in kinds {
        let name = format!("{plural}.operators.coreos.com");
        operon.delete(&known::CUSTOM_RESOURCE_DEFINITION.key("", &name))?;
    }
    operon.until("the definitions are gone", |operon| {
        kinds.iter().all(|plural| {
            let name = format!("{plural}.operators.coreos.com");
            operon.get(&known::CUSTOM_RESOURCE_DEFINITION.key("", &name)).is_none()
        })
    })?;
    // Something has to be noticed meanwhile; nothing may be done about it.
    operon.apply(&definition("gulls", "gull.example.com", "Gull"))?;
    let definitions = operon_api::crd_objects();
    for object in &definitions {
        operon.insist(|person| person.apply_as(object, "person"))?;
    }
    goes_on(operon, "after")?;
    Ok(format!("{} of our definitions deleted and put back", kinds.len()))
}
