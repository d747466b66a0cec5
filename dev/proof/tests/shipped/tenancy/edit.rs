//! A tenant with the ClusterRole `edit` in one namespace, with what Operon adds to it, and nothing more.

use operon_driver::Cluster as _;
use operon_object::{Object, known, list, map};
use operon_proof::{
    ACCOUNT, Installation, SYSTEM,
    shelf::{group, source, subscription},
};

use super::{
    Tenant, accounts_are_harmless, csv_by_hand, installer, kubectl, powers_of_account, same_powers,
    user_binding,
};
use crate::{
    Verdict,
    malice::{compare, outside, permissions},
    operators::{Operator, definition, publish, reaches},
};

/// The namespace of the tenant, and the name of its catalog.
const TEAM: &str = "team-a";

/// What the honest operator is installed as.
const HONEST: &str = "modest.v1.0.0";

/// The API group of the honest operator.
const GROUP: &str = "team-a.example.com";

/// Objects of the namespace that belong to others.
const OTHERS: &str = "
---
apiVersion: v1
kind: ConfigMap
metadata: { name: ledger, namespace: team-a }
data: { by: accounting }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: payroll, namespace: team-a }
rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]
---
apiVersion: v1
kind: Service
metadata: { name: till, namespace: team-a }
spec: { ports: [{ port: 80 }] }
";

pub(crate) fn edit_gains_nothing(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group(TEAM, "{ targetNamespaces: [team-a], serviceAccountName: installer }"))?;
    operon
        .apply(&[installer(TEAM), user_binding(TEAM, "carol", "ClusterRole", "edit")].concat())?;
    operon.apply(OTHERS)?;
    publish(operon, TEAM, TEAM, &bundles())?;
    let carol = Tenant::new(operon, "carol", TEAM)?;
    honest_operator_is_installed(&carol)?;
    operon.calm()?;

    let before = outside(operon, TEAM)?;
    let (powers, installers) = (carol.powers()?, powers_of_account(operon, TEAM, "installer")?);
    writes_are_refused(&carol)?;
    controller_is_out_of_reach(&carol)?;
    greedy_bundles_are_refused(&carol)?;
    deleted_account_opens_nothing(&carol)?;
    compare(&before, &outside(operon, TEAM)?)?;
    same_powers("carol", &powers, &carol.powers()?)?;
    let installers_after = powers_of_account(operon, TEAM, "installer")?;
    same_powers("installer", &installers, &installers_after)?;
    accounts_are_harmless(operon, TEAM)?;

    operon.delete_namespaces(&[TEAM])?;
    operon.delete(&known::CUSTOM_RESOURCE_DEFINITION.key("", &format!("widgets.{GROUP}")))?;
    Ok(format!("carol holds the same {} rules as before", powers.len()))
}

/// Two honest operators, two that want more than the account may grant, and three that bring an object
/// that exists already.
fn bundles() -> Vec<(&'static str, Vec<String>)> {
    let pods = "{ apiGroups: [''], resources: [pods], verbs: [get, list] }";
    let secrets = "{ apiGroups: [''], resources: [secrets], verbs: ['*'] }";
    let everything = "{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }";
    let operator = |package, field: &str, rule: &str| Operator {
        install: permissions(field, package, rule),
        ..Operator::new(package)
    };
    let spec = format!(
        "  customresourcedefinitions: {{ owned: [{{ name: widgets.{GROUP}, version: v1, kind: Widget }}] }}"
    );
    let modest = Operator { spec, ..operator("modest", "permissions", pods) };
    let ledger =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ledger }\ndata: { by: clerk }\n";
    let payroll = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: payroll }\n\
                   rules: [{ apiGroups: [''], resources: [pods], verbs: [list] }]\n";
    let till = "apiVersion: v1\nkind: Service\nmetadata: { name: till }\n\
                spec: { ports: [{ port: 81 }], selector: { app: cashier } }\n";
    vec![
        ("modest", vec![modest.csv(), definition("widgets", GROUP, "Widget")]),
        ("patient", vec![operator("patient", "permissions", pods).csv()]),
        ("greedy", vec![operator("greedy", "permissions", secrets).csv()]),
        ("lofty", vec![operator("lofty", "clusterPermissions", everything).csv()]),
        ("clerk", vec![Operator::new("clerk").csv(), ledger.to_owned()]),
        ("robber", vec![Operator::new("robber").csv(), payroll.to_owned()]),
        ("cashier", vec![Operator::new("cashier").csv(), till.to_owned()]),
    ]
}

/// The control: what is honest works, and what carol gains by it shows in her rules.
fn honest_operator_is_installed(carol: &Tenant<'_, '_>) -> Result<(), String> {
    let before = carol.powers()?;
    for expected in [
        "team-a: create operators.coreos.com/subscriptions []",
        "team-a: delete operators.coreos.com/installplans []",
        "team-a: delete operators.coreos.com/clusterserviceversions []",
        "team-a: delete /serviceaccounts []",
    ] {
        if !before.contains(expected) {
            return Err(format!("carol lacks the permission of the ClusterRole edit: {expected}"));
        }
    }
    carol.create(&subscription(TEAM, "modest", (TEAM, TEAM)))?;
    reaches(carol.operon, TEAM, HONEST, "Succeeded")?;
    let gained = format!("team-a: create {GROUP}/widgets []");
    carol.operon.until("carol may use the operator's API", |_| {
        carol.powers().is_ok_and(|powers| powers.contains(&gained))
    })?;
    let after = carol.powers()?;
    let foreign: Vec<&String> =
        after.difference(&before).filter(|it| !it.contains(GROUP)).collect();
    match foreign.as_slice() {
        [] => Ok(()),
        foreign => Err(format!("an honest operator gave carol more than its API: {foreign:#?}")),
    }
}

/// The API server lets carol write none of what the controller believes.
fn writes_are_refused(carol: &Tenant<'_, '_>) -> Result<(), String> {
    carol.may_not_create(&csv_by_hand(TEAM, "evil"))?;
    carol.may_not_create(
        "
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: { name: forged, namespace: team-a }
spec: { approval: Automatic, approved: true, clusterServiceVersionNames: [evil.v1.0.0] }
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: { name: second, namespace: team-a }
spec: {}
---
apiVersion: operators.coreos.com/v2
kind: OperatorCondition
metadata: { name: evil.v1.0.0, namespace: team-a }
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: { name: forged, namespace: team-a }
revision: 9
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: forged, namespace: team-a, labels: { olm.owner: modest.v1.0.0, olm.owner.namespace: team-a, olm.owner.kind: ClusterServiceVersion, olm.managed: 'true' } }
rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: forged, namespace: team-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: carol }]
",
    )?;
    carol.may_not_create(&source(TEAM, "installer", "example.com/catalog:v1"))?;

    let everything = list![map! {
        "serviceAccountName" => "modest",
        "rules" => list![map! { "apiGroups" => list!["*"], "resources" => list!["*"], "verbs" => list!["*"] }],
    }];
    let operator = known::CLUSTER_SERVICE_VERSION.key(TEAM, HONEST);
    carol.may_not_edit(&operator, |operator| {
        operator.set(&["spec", "install", "spec", "clusterPermissions"], everything.clone());
    })?;
    let plan = carol.plan_of(HONEST).ok_or("the honest operator has no plan")?;
    carol.may_not_edit(&plan, |plan| {
        plan.set(&["spec", "approved"], true);
        plan.set_annotation("operon.dev/content", "forged");
    })?;
    let team = known::OPERATOR_GROUP.key(TEAM, TEAM);
    carol.may_not_edit(&team, |group| {
        group.value_mut().remove(&["spec", "serviceAccountName"]);
    })?;
    carol.may_not_edit(&known::CATALOG_SOURCE.key(TEAM, TEAM), |source| {
        source.set(&["spec", "image"], "example.com/catalog:v1");
    })?;
    carol.may_not_edit(&known::NAMESPACE.key("", TEAM), |namespace| {
        namespace.set_annotation("operon.dev/first-operator-group", "mine");
    })?;
    for status in [operator, plan, team, known::SUBSCRIPTION.key(TEAM, "modest")] {
        carol.may_not_edit_status(&status)?;
    }
    Ok(())
}

/// `edit` may impersonate accounts and request their tokens: those of its own namespace only.
fn controller_is_out_of_reach(carol: &Tenant<'_, '_>) -> Result<(), String> {
    let user = carol.operon.rig().kubeconfig_of_user("carol").map_err(|error| error.to_string())?;
    let user = user.display().to_string();
    let identity = ["--kubeconfig", user.as_str()];
    let token = ["create", "token", "installer", "--namespace", TEAM];
    kubectl(carol.operon, &[&token, &identity[..]].concat(), "")?;
    let token = ["create", "token", ACCOUNT, "--namespace", SYSTEM];
    match kubectl(carol.operon, &[&token, &identity[..]].concat(), "") {
        Err(error) if error.contains("orbidden") => {}
        answer => return Err(format!("carol requests a token of the controller: {answer:?}")),
    }
    let map = Object::new("v1", "ConfigMap", TEAM, "as-controller");
    let controller = known::SERVICE_ACCOUNT.key(SYSTEM, ACCOUNT);
    let controller = carol.cluster.impersonating(&controller).map_err(|error| error.message)?;
    carol.refuses("act as the controller", controller.create(&map))
}

/// What a bundle wants beyond the account is refused by the API server, and what belongs to others by
/// Operon. The status says so.
fn greedy_bundles_are_refused(carol: &Tenant<'_, '_>) -> Result<(), String> {
    let plan = known::INSTALL_PLAN;
    for package in ["greedy", "lofty", "clerk", "robber", "cashier"] {
        carol.create(&subscription(TEAM, package, (TEAM, TEAM)))?;
    }
    for operator in ["greedy.v1.0.0", "lofty.v1.0.0"] {
        carol.learns(&plan, operator, &["forbidden", "system:serviceaccount:team-a:installer"])?;
    }
    for (operator, object) in
        [("clerk.v1.0.0", "ledger"), ("robber.v1.0.0", "payroll"), ("cashier.v1.0.0", "till")]
    {
        carol.learns(&plan, operator, &[object, "already exists and is not managed by Operon"])?;
    }
    let get = |key| carol.operon.get(&key).ok_or("an object of others is missing");
    let ledger = get(known::CONFIG_MAP.key(TEAM, "ledger"))?;
    let payroll = get(known::ROLE.key(TEAM, "payroll"))?;
    let till = get(known::SERVICE.key(TEAM, "till"))?;
    let verbs: Vec<&str> = payroll
        .at(&["rules"])
        .elements()
        .iter()
        .flat_map(|rule| rule.get("verbs").iter_texts())
        .collect();
    let is_intact = ledger.at(&["data", "by"]).str() == "accounting"
        && verbs == ["get"]
        && till.at(&["spec", "selector"]).is_null();
    if is_intact { Ok(()) } else { Err("a bundle overwrote an object of others".to_owned()) }
}

/// Carol deletes the account that the OperatorGroup names, while a plan is in progress and an operator
/// that no plan brings any more waits for its permissions. Without the account nothing is written; with
/// it the honest operator is installed.
fn deleted_account_opens_nothing(carol: &Tenant<'_, '_>) -> Result<(), String> {
    let operator = known::CLUSTER_SERVICE_VERSION;
    carol.operon.until("the operator without permissions exists", |operon| {
        operon.get(&operator.key(TEAM, "lofty.v1.0.0")).is_some()
    })?;
    carol.delete(&known::SUBSCRIPTION.key(TEAM, "lofty"))?;
    carol.operon.until("its plan is gone", |operon| {
        let Some(plan) = carol.plan_of("lofty.v1.0.0") else { return true };
        // The garbage collector may be faster.
        let uid = operon.get(&plan).map(|plan| plan.uid().to_owned());
        uid.is_none_or(|uid| carol.cluster.delete(&plan, &uid).is_err())
    })?;
    if carol.operon.get(&known::SERVICE_ACCOUNT.key(TEAM, "lofty")).is_none() {
        carol.create("{ apiVersion: v1, kind: ServiceAccount, metadata: { name: lofty, namespace: team-a } }")?;
    }
    carol.delete(&known::SERVICE_ACCOUNT.key(TEAM, "installer"))?;
    let missing = "please make sure the service account exists";
    carol.learns(&known::INSTALL_PLAN, "greedy.v1.0.0", &["InstallCheckFailed", missing])?;
    carol.learns(&operator, "lofty.v1.0.0", &["AuthorityUnknown", missing])?;
    carol.create(&subscription(TEAM, "patient", (TEAM, TEAM)))?;
    carol.learns(&known::INSTALL_PLAN, "patient.v1.0.0", &["InstallCheckFailed", missing])?;
    accounts_are_harmless(carol.operon, TEAM)?;
    if carol.operon.get(&operator.key(TEAM, "patient.v1.0.0")).is_some() {
        return Err("an operator was created without an account".to_owned());
    }
    carol.create("{ apiVersion: v1, kind: ServiceAccount, metadata: { name: installer, namespace: team-a } }")?;
    reaches(carol.operon, TEAM, "patient.v1.0.0", "Succeeded")?;
    carol.learns(&operator, "lofty.v1.0.0", &["RequirementsNotMet"])
}
