//! What bundles and statuses claim: APIs of others, the labels of another operator, an approval.

use operon_driver::Cluster as _;
use operon_object::{Object, known, list};
use operon_proof::{
    Installation,
    shelf::{group, subscription},
};

use super::{Tenant, csv_by_hand, installer, powers_of_account, same_powers, user_binding};
use crate::{
    Verdict,
    malice::{compare, outside, permissions},
    operators::{Operator, definition, phase, publish, reaches, standing},
};

/// The namespace whose tenant claims APIs.
const APIS: &str = "team-c";

/// The namespace whose tenant claims objects.
const LABELS: &str = "team-d";

/// The namespace whose user writes the status of plans.
const STATUS: &str = "team-e";

/// The namespace whose user names operators after roles.
const NAMES: &str = "team-f";

/// The namespace whose bundle brings a Role that exists.
const ROLES: &str = "team-h";

/// The namespace whose tenant changes CRDs of others.
const CRDS: &str = "team-i";

/// Creates a namespace whose OperatorGroup names an account, and a user with the ClusterRole `edit`.
fn prepare(operon: &Installation<'_>, namespace: &str, user: &str) -> Result<(), String> {
    let spec = format!("{{ targetNamespaces: [{namespace}], serviceAccountName: installer }}");
    let binding = user_binding(namespace, user, "ClusterRole", "edit");
    operon.apply(&[group(namespace, &spec), installer(namespace), binding].concat())
}

/// Returns the lines by which an operator says that a CRD is its own.
fn owning(crd: &str, kind: &str) -> String {
    format!(
        "  customresourcedefinitions: {{ owned: [{{ name: {crd}, version: v1, kind: {kind} }}] }}"
    )
}

/// Operators that list CRDs as their own which others own: Operon, and an administrator. Their bundles bring
/// these CRDs exactly as they are. Users get no permissions for them.
pub(crate) fn reserved_apis_are_not_granted(operon: &Installation<'_>) -> Verdict {
    prepare(operon, APIS, "carol")?;
    operon.apply(&definition("gadgets", "neighbour.example.com", "Gadget"))?;
    let groups = "operatorgroups.operators.coreos.com";
    let gadgets = "gadgets.neighbour.example.com";
    let tools = "tools.team-c.example.com";
    let with =
        |package, crd, kind| Operator { spec: owning(crd, kind), ..Operator::new(package) }.csv();
    let bundles = vec![
        (
            "maker",
            vec![with("maker", tools, "Tool"), definition("tools", "team-c.example.com", "Tool")],
        ),
        (
            "usurper",
            vec![with("usurper", groups, "OperatorGroup"), live_definition(operon, groups)?],
        ),
        ("poacher", vec![with("poacher", gadgets, "Gadget"), live_definition(operon, gadgets)?]),
    ];
    publish(operon, APIS, APIS, &bundles)?;
    let carol = Tenant::new(operon, "carol", APIS)?;
    carol.create(&subscription(APIS, "maker", (APIS, APIS)))?;
    reaches(operon, APIS, "maker.v1.0.0", "Succeeded")?;
    let gained = "team-c: create team-c.example.com/tools []";
    operon.until("carol may use the API of an operator that brings it", |_| {
        carol.powers().is_ok_and(|powers| powers.contains(gained))
    })?;
    operon.calm()?;
    // That an operator uses a CRD is recorded in an annotation of the CRD.
    let recorded = known::CUSTOM_RESOURCE_DEFINITION.key("", gadgets);
    let unrecorded = || -> Result<_, String> {
        let mut objects = outside(operon, APIS)?;
        objects.remove(&recorded);
        Ok(objects)
    };
    let (before, powers) = (unrecorded()?, carol.powers()?);
    for package in ["usurper", "poacher"] {
        carol.create(&subscription(APIS, package, (APIS, APIS)))?;
        is_decided(&carol, &format!("{package}.v1.0.0"))?;
    }
    operon.calm()?;
    // The rules of users count most; the objects that were written explain a change.
    let written = compare(&before, &unrecorded()?);
    let same = same_powers("carol", &powers, &carol.powers()?);
    same.map_err(|reason| format!("{reason}; {written:?}"))?;
    written?;
    operon.delete_namespaces(&[APIS])?;
    for name in [tools, gadgets] {
        operon.delete(&known::CUSTOM_RESOURCE_DEFINITION.key("", name))?;
    }
    Ok("an API belongs to the operator that brings it".to_owned())
}

/// Returns the manifest of a CRD exactly as the cluster has it.
fn live_definition(operon: &Installation<'_>, name: &str) -> Result<String, String> {
    let live = operon.get(&known::CUSTOM_RESOURCE_DEFINITION.key("", name));
    let live = live.ok_or_else(|| format!("there is no CRD {name}"))?;
    let mut manifest = Object::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name);
    manifest.set(&["spec"], live.spec().clone());
    Ok(operon_api::write_yaml(manifest.value()))
}

/// Waits until an operator is installed, or it is said why not.
fn is_decided(tenant: &Tenant<'_, '_>, operator: &str) -> Result<(), String> {
    let Tenant { operon, namespace, .. } = tenant;
    let outcome = operon.until(&format!("{operator} is installed or refused"), |operon| {
        let is_final =
            ["Succeeded", "Failed"].contains(&phase(operon, namespace, operator).as_str());
        let plan = tenant.plan_of(operator).and_then(|plan| operon.get(&plan));
        let is_refused = plan.is_some_and(|plan| !plan.status().get("message").str().is_empty());
        is_final || is_refused
    });
    outcome.map_err(|reason| format!("{reason}; {}", standing(operon, namespace)))
}

/// A bundle whose ClusterServiceVersion carries the component label of another package does not become
/// that package: objects of its operator stay as they are.
pub(crate) fn bundle_claims_prove_nothing(operon: &Installation<'_>) -> Verdict {
    prepare(operon, LABELS, "carol")?;
    let settings = |by: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: settings }}\ndata: {{ by: {by} }}\n"
        )
    };
    let label = "labels: { operators.coreos.com/owner.team-d: '' }";
    let pretender = Operator::new("pretender").csv().replace(
        "metadata: { name: pretender.v1.0.0 }",
        &format!("metadata: {{ name: pretender.v1.0.0, {label} }}"),
    );
    if !pretender.contains(label) {
        return Err("the bundle does not carry the label".to_owned());
    }
    let bundles = vec![
        ("owner", vec![Operator::new("owner").csv(), settings("owner")]),
        ("pretender", vec![pretender, settings("pretender")]),
    ];
    publish(operon, LABELS, LABELS, &bundles)?;
    let carol = Tenant::new(operon, "carol", LABELS)?;
    carol.create(&subscription(LABELS, "owner", (LABELS, LABELS)))?;
    reaches(operon, LABELS, "owner.v1.0.0", "Succeeded")?;
    carol.create(&subscription(LABELS, "pretender", (LABELS, LABELS)))?;
    is_decided(&carol, "pretender.v1.0.0")?;
    let found = operon.get(&known::CONFIG_MAP.key(LABELS, "settings"));
    let found = found.ok_or("the ConfigMap is missing")?;
    let by = found.at(&["data", "by"]).str();
    if by != "owner" {
        return Err(format!("the ConfigMap of another operator was overwritten by {by}"));
    }
    let reason = "belongs to ClusterServiceVersion team-d/owner.v1.0.0";
    carol.learns(&known::INSTALL_PLAN, "pretender.v1.0.0", &["settings", reason])?;
    operon.delete_namespaces(&[LABELS])?;
    Ok("labels in a bundle do not hand objects over".to_owned())
}

/// A user who may write the status of plans, and nothing else of them, approves nothing.
pub(crate) fn status_approves_nothing(operon: &Installation<'_>) -> Verdict {
    prepare(operon, STATUS, "bob")?;
    operon.apply(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: plan-status, namespace: team-e }
rules: [{ apiGroups: [operators.coreos.com], resources: [installplans/status], verbs: [update, patch] }]
",
    )?;
    operon.apply(&user_binding(STATUS, "bob", "Role", "plan-status"))?;
    let pods = "{ apiGroups: [''], resources: [pods], verbs: [get, list] }";
    let operator = |package| Operator {
        install: permissions("permissions", package, pods),
        ..Operator::new(package)
    };
    let bundles = vec![
        ("unread", vec![operator("unread").csv()]),
        ("control", vec![operator("control").csv()]),
    ];
    publish(operon, STATUS, STATUS, &bundles)?;
    let bob = Tenant::new(operon, "bob", STATUS)?;
    let manual = subscription(STATUS, "unread", (STATUS, STATUS));
    operon.apply(&manual.replace("spec: {", "spec: { installPlanApproval: Manual,"))?;
    bob.learns(&known::INSTALL_PLAN, "unread.v1.0.0", &["RequiresApproval"])?;
    let plan = bob.plan_of("unread.v1.0.0").ok_or("the plan is missing")?;
    bob.may_not_edit(&plan, |plan| plan.set(&["spec", "approved"], true))?;
    let mut begun = operon.get(&plan).ok_or("the plan is missing")?;
    begun.set(&["status", "phase"], "Installing");
    begun.set(&["status", "conditions"], list![]);
    let written = bob.cluster.update_status(&begun);
    written.map_err(|error| format!("bob cannot write the status: {}", error.message))?;
    // Another operator is installed meanwhile, so the controller has seen the plan.
    operon.apply(&subscription(STATUS, "control", (STATUS, STATUS)))?;
    reaches(operon, STATUS, "control.v1.0.0", "Succeeded")?;
    operon.calm()?;
    let operator = known::CLUSTER_SERVICE_VERSION.key(STATUS, "unread.v1.0.0");
    if operon.get(&operator).is_some() {
        return Err(format!("an unapproved plan was carried out; {}", standing(operon, STATUS)));
    }
    operon.delete_namespaces(&[STATUS])?;
    Ok("only spec.approved approves a plan".to_owned())
}

/// The Role for an OperatorCondition is named like its operator. Where a Role of that name belongs to
/// others, no account of the operator is bound to it.
pub(crate) fn foreign_roles_are_not_bound(operon: &Installation<'_>) -> Verdict {
    prepare(operon, NAMES, "bob")?;
    operon.apply(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: csv-creator, namespace: team-f }
rules: [{ apiGroups: [operators.coreos.com], resources: [clusterserviceversions], verbs: [create] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: group-admin, namespace: team-f }
rules: [{ apiGroups: [operators.coreos.com], resources: [operatorgroups], verbs: [create, update, patch, delete] }]
",
    )?;
    operon.apply(&user_binding(NAMES, "bob", "Role", "csv-creator"))?;
    let bob = Tenant::new(operon, "bob", NAMES)?;
    let powers = powers_of_account(operon, NAMES, "default")?;
    let named = |name: &str| {
        let text =
            csv_by_hand(NAMES, "plain").replace("name: plain.v1.0.0", &format!("name: {name}"));
        text.replace("serviceAccountName: plain", "serviceAccountName: default")
    };
    bob.create(&[named("group-admin"), named("plain.v1.0.0")].concat())?;
    // The control: an operator that a plan brings gets the Role, and is decided about after the others.
    publish(operon, NAMES, NAMES, &[("honest", vec![Operator::new("honest").csv()])])?;
    bob.create(&subscription(NAMES, "honest", (NAMES, NAMES)))?;
    reaches(operon, NAMES, "honest.v1.0.0", "Succeeded")?;
    let binding = |operator: &str| known::ROLE_BINDING.key(NAMES, operator);
    operon.until("the account may write its OperatorCondition", |operon| {
        operon.get(&binding("honest.v1.0.0")).is_some()
    })?;
    if operon.get(&binding("plain.v1.0.0")).is_some() {
        return Err("an operator that was created by hand was granted a Role".to_owned());
    }
    bob.learns(&known::CLUSTER_SERVICE_VERSION, "group-admin", &["RequirementsNotMet"])?;
    operon.calm()?;
    let gained: Vec<String> = powers_of_account(operon, NAMES, "default")?
        .difference(&powers)
        .filter(|power| !power.contains("/operatorconditions "))
        .cloned()
        .collect();
    if !gained.is_empty() {
        return Err(format!("the account `default` was bound to a Role of others: {gained:#?}"));
    }
    operon.delete_namespaces(&[NAMES])?;
    Ok("a Role is bound only where it is the operator's own".to_owned())
}

/// A bundle brings a Role that belongs to others. Its plan fails before the first write, so there is no
/// operator that runs although its plan failed.
pub(crate) fn refused_plans_write_nothing(operon: &Installation<'_>) -> Verdict {
    prepare(operon, ROLES, "carol")?;
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: payroll }\n\
                rules: [{ apiGroups: [''], resources: [pods], verbs: [list] }]\n";
    operon.apply(&role.replace("name: payroll", "name: payroll, namespace: team-h"))?;
    let bundles = vec![
        ("robber", vec![Operator::new("robber").csv(), role.to_owned()]),
        ("neighbour", vec![Operator::new("neighbour").csv()]),
    ];
    publish(operon, ROLES, ROLES, &bundles)?;
    let carol = Tenant::new(operon, "carol", ROLES)?;
    carol.create(&subscription(ROLES, "robber", (ROLES, ROLES)))?;
    let reason = "already exists and is not managed by Operon";
    carol.learns(&known::INSTALL_PLAN, "robber.v1.0.0", &["payroll", reason])?;
    carol.create(&subscription(ROLES, "neighbour", (ROLES, ROLES)))?;
    reaches(operon, ROLES, "neighbour.v1.0.0", "Succeeded")?;
    for kind in [known::CLUSTER_SERVICE_VERSION, known::DEPLOYMENT] {
        let found = operon.list(&kind, ROLES);
        if let Some(object) = found.iter().find(|object| object.name().starts_with("robber")) {
            return Err(format!(
                "a refused plan wrote {}; {}",
                object.key(),
                standing(operon, ROLES)
            ));
        }
    }
    operon.delete_namespaces(&[ROLES])?;
    Ok("a plan that takes a Role of others writes nothing".to_owned())
}

/// Bundles change CRDs that an administrator applied: one would make an object of another namespace
/// invalid, which carol accepts in vain; the other is harmless, and refused by the API server.
pub(crate) fn crds_of_others_are_kept(operon: &Installation<'_>) -> Verdict {
    prepare(operon, CRDS, "carol")?;
    let group = "harbour.example.com";
    let crd = |plural: &str, kind: &str| definition(plural, group, kind);
    let [boats, kayaks] = ["boats", "kayaks"].map(|plural| format!("{plural}.{group}"));
    operon.apply(&[crd("boats", "Boat"), "---".to_owned(), crd("kayaks", "Kayak")].concat())?;
    operon.apply(
        "
apiVersion: v1
kind: Namespace
metadata: { name: team-i-neighbour }
---
apiVersion: harbour.example.com/v1
kind: Boat
metadata: { name: one, namespace: team-i-neighbour }
spec: { size: -1 }
",
    )?;
    let any = "x-kubernetes-preserve-unknown-fields: true";
    let sized = "properties: { spec: { type: object, properties: { size: { type: integer, minimum: 0 } } } }";
    let with = |package, crd: &str, kind| {
        Operator { spec: owning(crd, kind), ..Operator::new(package) }.csv()
    };
    let ships = format!("ships.{group}");
    let bundles = vec![
        ("shipwright", vec![with("shipwright", &ships, "Ship"), crd("ships", "Ship")]),
        ("vandal", vec![with("vandal", &boats, "Boat"), crd("boats", "Boat").replace(any, sized)]),
        (
            "painter",
            vec![
                with("painter", &kayaks, "Kayak"),
                crd("kayaks", "Kayak").replace(any, &format!("{any}, description: painted")),
            ],
        ),
    ];
    publish(operon, CRDS, CRDS, &bundles)?;
    let carol = Tenant::new(operon, "carol", CRDS)?;
    carol.create(&subscription(CRDS, "shipwright", (CRDS, CRDS)))?;
    reaches(operon, CRDS, "shipwright.v1.0.0", "Succeeded")?;
    operon.calm()?;
    let waive = "metadata: { annotations: { operon.dev/waive: 'object-invalid:v1:team-i-neighbour/one:spec.size' },";
    let vandal = subscription(CRDS, "vandal", (CRDS, CRDS)).replace("metadata: {", waive);
    carol.create(&[vandal, subscription(CRDS, "painter", (CRDS, CRDS))].concat())?;
    for (package, crd) in [("vandal", &boats), ("painter", &kayaks)] {
        let adopt = format!("operon.dev/adopt={package}");
        let plan = format!("{package}.v1.0.0");
        carol.learns(
            &known::INSTALL_PLAN,
            &plan,
            &["already exists with other contents", &adopt],
        )?;
        let annotate = ["annotate", "customresourcedefinition", crd, &adopt];
        operon.rig().kubectl(&annotate).map_err(|error| error.to_string())?;
    }
    // An administrator handed them over; that is not enough.
    let before = outside(operon, CRDS)?;
    let reason = "it concerns objects outside the namespaces of this OperatorGroup";
    carol.learns(&known::INSTALL_PLAN, "vandal.v1.0.0", &["spec.size", reason])?;
    let reason = ["forbidden", "system:serviceaccount:team-i:installer", &kayaks];
    carol.learns(&known::INSTALL_PLAN, "painter.v1.0.0", &reason)?;
    compare(&before, &outside(operon, CRDS)?)?;
    operon.delete_namespaces(&[CRDS, "team-i-neighbour"])?;
    for name in [boats, kayaks, ships] {
        operon.delete(&known::CUSTOM_RESOURCE_DEFINITION.key("", &name))?;
    }
    Ok("CRDs change only where the account may change them, and harm no objects of others"
        .to_owned())
}
