//! Tenants who may also write objects of `operators.coreos.com` and roles in their namespace, but no status.

use std::collections::BTreeSet;

use operon_kinds::names;
use operon_object::{Object, Value, known, list, map};
use operon_proof::{
    Installation,
    shelf::{group, source, subscription},
};

use super::{
    Tenant, accounts_are_harmless, csv_by_hand, installer, powers_of_account, same_powers,
    user_binding,
};
use crate::{
    Verdict,
    malice::{compare, outside, permissions},
    operators::{Operator, publish, reaches, says},
};

/// The namespace of the tenant, and the name of its catalog.
const TEAM: &str = "team-b";

/// What the honest operator is installed as.
const HONEST: &str = "humble.v1.0.0";

/// A namespace whose OperatorGroup targets all namespaces and names no account.
const GLOBAL: &str = "team-g";

/// A role of the user, next to the ClusterRole `admin`.
fn writer(namespace: &str) -> String {
    format!(
        "
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{ name: olm-writer, namespace: {namespace} }}
rules:
- apiGroups: [operators.coreos.com]
  resources: [clusterserviceversions, installplans, operatorgroups, catalogsources]
  verbs: [create, update, patch, delete]
"
    )
}

fn bind_writer(operon: &Installation<'_>, namespace: &str) -> Result<(), String> {
    let bindings = [
        writer(namespace),
        user_binding(namespace, "bob", "Role", "olm-writer"),
        user_binding(namespace, "bob", "ClusterRole", "admin"),
    ];
    operon.apply(&bindings.concat())
}

pub(crate) fn writers_gain_nothing(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group(TEAM, "{ targetNamespaces: [team-b], serviceAccountName: installer }"))?;
    operon.apply(&installer(TEAM))?;
    bind_writer(operon, TEAM)?;
    let pods = "{ apiGroups: [''], resources: [pods], verbs: [get, list] }";
    let everything = "{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }";
    let operator = |package, field: &str, rule: &str| Operator {
        install: permissions(field, package, rule),
        ..Operator::new(package)
    };
    let bundles = vec![
        ("humble", vec![operator("humble", "permissions", pods).csv()]),
        ("waiting", vec![operator("waiting", "permissions", pods).csv()]),
        ("lofty", vec![operator("lofty", "clusterPermissions", everything).csv()]),
    ];
    publish(operon, TEAM, TEAM, &bundles)?;
    let bob = Tenant::new(operon, "bob", TEAM)?;
    bob.create(&subscription(TEAM, "humble", (TEAM, TEAM)))?;
    reaches(operon, TEAM, HONEST, "Succeeded")?;
    operon.calm()?;

    let before = outside(operon, TEAM)?;
    let (powers, installers) = (bob.powers()?, powers_of_account(operon, TEAM, "installer")?);
    operator_by_hand_stays_pending(&bob)?;
    edited_operator_gains_nothing(&bob)?;
    plans_by_hand_do_nothing(&bob)?;
    second_group_opens_nothing(&bob)?;
    catalog_pod_has_its_own_account(&bob)?;
    compare(&before, &outside(operon, TEAM)?)?;
    same_powers("bob", &powers, &bob.powers()?)?;
    let installers_after = powers_of_account(operon, TEAM, "installer")?;
    same_powers("installer", &installers, &installers_after)?;
    accounts_are_harmless(operon, TEAM)?;
    operon.delete_namespaces(&[TEAM])?;
    Ok(format!("bob holds the same {} rules as before", powers.len()))
}

/// A ClusterServiceVersion that no plan brings waits for permissions, even where its account exists.
fn operator_by_hand_stays_pending(bob: &Tenant<'_, '_>) -> Result<(), String> {
    let kind = known::CLUSTER_SERVICE_VERSION;
    bob.create(&csv_by_hand(TEAM, "evil"))?;
    bob.learns(&kind, "evil.v1.0.0", &["RequirementsNotMet", "Service account does not exist"])?;
    bob.create(
        "{ apiVersion: v1, kind: ServiceAccount, metadata: { name: evil, namespace: team-b } }",
    )?;
    bob.learns(&kind, "evil.v1.0.0", &["Pending", "Policy rule not satisfied for service account"])
}

/// Returns `true` if a Role comes from the plan of an operator. The one for its OperatorCondition is named
/// like the operator.
fn is_of_plan(role: &Object, operator: &str) -> bool {
    role.name() != operator && role.owners().any(|owner| owner.name == operator)
}

/// Permissions that are added to an installed operator are not granted. Its deleted Role comes back as
/// the plan has it, which shows that the operator was looked at.
fn edited_operator_gains_nothing(bob: &Tenant<'_, '_>) -> Result<(), String> {
    let operator = known::CLUSTER_SERVICE_VERSION.key(TEAM, HONEST);
    let roles = bob.operon.list(&known::ROLE, TEAM);
    let role = roles.iter().find(|role| is_of_plan(role, HONEST));
    let role = role.ok_or("the honest operator has no Role")?;
    let original = bob.operon.get(&operator).ok_or("the honest operator is missing")?;
    let rule = map! { "apiGroups" => list!["*"], "resources" => list!["*"], "verbs" => list!["*"] };
    let everything =
        list![map! { "serviceAccountName" => "humble", "rules" => list![rule.clone()] }];
    bob.edit(&operator, |operator| {
        operator.set(&["spec", "install", "spec", "clusterPermissions"], everything.clone());
        let own = ["spec", "install", "spec", "permissions"];
        let mut entries = operator.at(&own).elements().to_vec();
        entries.iter_mut().for_each(|entry| entry.place(&["rules"]).make_list().push(rule.clone()));
        operator.set(&own, Value::from(entries));
    })?;
    bob.learns(&operator.kind, HONEST, &["Pending", "RequirementsNotMet"])?;
    bob.delete(&role.key())?;
    let rules = |object: &Object| object.at(&["rules"]).to_string();
    bob.operon.until("the Role is restored", |operon| operon.get(&role.key()).is_some())?;
    let restored = bob.operon.get(&role.key()).ok_or("the Role is missing")?;
    if rules(&restored) != rules(role) {
        return Err(format!("the Role was restored with other rules: {}", rules(&restored)));
    }
    bob.edit(&operator, |operator| operator.set(&["spec"], original.spec().clone()))?;
    reaches(bob.operon, TEAM, HONEST, "Succeeded")
}

/// A plan by hand has no steps, because only the controller writes its status. A plan whose record was
/// changed is not carried out, although bob may approve it.
fn plans_by_hand_do_nothing(bob: &Tenant<'_, '_>) -> Result<(), String> {
    let forged = "
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: { name: forged, namespace: team-b }
spec: { approval: Automatic, approved: true, clusterServiceVersionNames: [forged.v1.0.0], generation: 90 }
status:
  phase: Installing
  catalogSources: []
  plan:
  - resolving: forged.v1.0.0
    status: Unknown
    resource: { group: '', version: v1, kind: ConfigMap, name: forged, sourceName: team-b, sourceNamespace: team-b, manifest: '{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"forged\"}}' }
";
    bob.create(forged)?;
    bob.learns(&known::INSTALL_PLAN, "forged", &["Failed", "made this plan by hand"])?;
    bob.may_not_edit_status(&known::INSTALL_PLAN.key(TEAM, "forged"))?;
    if bob.operon.get(&known::CONFIG_MAP.key(TEAM, "forged")).is_some() {
        return Err("a plan by hand was carried out".to_owned());
    }
    let manual = subscription(TEAM, "waiting", (TEAM, TEAM));
    bob.create(&manual.replace("spec: {", "spec: { installPlanApproval: Manual,"))?;
    bob.learns(&known::INSTALL_PLAN, "waiting.v1.0.0", &["RequiresApproval"])?;
    let plan = bob.plan_of("waiting.v1.0.0").ok_or("the plan is missing")?;
    bob.may_not_edit_status(&plan)?;
    bob.edit(&plan, |plan| {
        plan.set_annotation(names::TARGETS_ANNOTATION, "{\"waiting\":\"lofty.v1.0.0\"}");
        plan.set(&["spec", "approved"], true);
    })?;
    bob.learns(&known::INSTALL_PLAN, "waiting.v1.0.0", &["Failed", "changed after it was made"])?;
    bob.delete(&known::SUBSCRIPTION.key(TEAM, "waiting"))
}

/// With a second OperatorGroup that selects nothing, nothing is written, and the first account is not
/// forgotten.
fn second_group_opens_nothing(bob: &Tenant<'_, '_>) -> Result<(), String> {
    bob.create(&subscription(TEAM, "lofty", (TEAM, TEAM)))?;
    let refused = ["forbidden", "system:serviceaccount:team-b:installer"];
    bob.learns(&known::INSTALL_PLAN, "lofty.v1.0.0", &refused)?;
    let second = known::OPERATOR_GROUP.key(TEAM, "second");
    bob.create(
        "
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: { name: second, namespace: team-b }
spec: { selector: { matchLabels: { no: such } } }
",
    )?;
    let words = ["InstallCheckFailed", "delete all but one"];
    bob.learns(&known::INSTALL_PLAN, "lofty.v1.0.0", &words)?;
    accounts_are_harmless(bob.operon, TEAM)?;
    bob.delete(&second)?;
    reaches(bob.operon, TEAM, HONEST, "Succeeded")?;
    bob.delete(&known::SUBSCRIPTION.key(TEAM, "lofty"))
}

/// A catalog that is named like an account gets an account of its own, without a token. Where that name
/// is taken, it gets no pod.
fn catalog_pod_has_its_own_account(bob: &Tenant<'_, '_>) -> Result<(), String> {
    let image = format!("{}/catalogs/{TEAM}:v1", bob.operon.rig().registry());
    let with_pod = |name: &str| {
        let pod = "spec: { grpcPodConfig: { memoryTarget: 50Mi },";
        source(TEAM, name, &image).replace("spec: {", pod)
    };
    bob.create("{ apiVersion: v1, kind: ServiceAccount, metadata: { name: catalog-trojan, namespace: team-b } }")?;
    bob.create(&[with_pod("installer"), with_pod("trojan")].concat())?;
    let refused = "team-b/catalog-trojan already exists and is not managed by Operon";
    says(bob.operon, &known::CATALOG_SOURCE.key(TEAM, "trojan"), refused)?;
    let pod = known::DEPLOYMENT.key(TEAM, "installer");
    bob.operon.until("the catalog has a pod", |operon| operon.get(&pod).is_some())?;
    let pod = bob.operon.get(&pod).ok_or("the Deployment is missing")?;
    let pod = pod.at(&["spec", "template", "spec"]);
    let account = pod.get("serviceAccountName").str();
    let has_token = pod.get("automountServiceAccountToken").as_bool() != Some(false);
    if account != "catalog-installer" || has_token {
        return Err(format!("the catalog's pod runs as {account}, with a token: {has_token}"));
    }
    if bob.operon.get(&known::DEPLOYMENT.key(TEAM, "trojan")).is_some() {
        return Err("a catalog's pod runs next to what belongs to others".to_owned());
    }
    ["installer", "trojan"]
        .iter()
        .try_for_each(|name| bob.delete(&known::CATALOG_SOURCE.key(TEAM, name)))
}

/// In the namespace of an operator for all namespaces, its Roles are lifted to the cluster; a Role with
/// forged labels is not.
pub(crate) fn forged_labels_lift_nothing(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group(GLOBAL, "{}"))?;
    bind_writer(operon, GLOBAL)?;
    let pods = "{ apiGroups: [''], resources: [pods], verbs: [get, list] }";
    let install = permissions("permissions", "globe", pods);
    let globe = Operator { install, is_global: true, ..Operator::new("globe") };
    publish(operon, GLOBAL, GLOBAL, &[("globe", vec![globe.csv()])])?;
    let bob = Tenant::new(operon, "bob", GLOBAL)?;
    bob.create(&subscription(GLOBAL, "globe", (GLOBAL, GLOBAL)))?;
    reaches(operon, GLOBAL, "globe.v1.0.0", "Succeeded")?;
    let lifted = || {
        let roles = operon.person().list_once(&[known::CLUSTER_ROLE]).unwrap_or_default();
        roles.into_iter().find(|role| role.label(names::OWNER_LABEL) == "globe.v1.0.0")
    };
    operon.until("the operator's Role is lifted", |_| lifted().is_some())?;
    let powers = powers_of_account(operon, GLOBAL, "globe")?;
    if !powers.contains("kube-system: list /pods []") {
        return Err("the lifted Role gives nothing".to_owned());
    }
    operon.calm()?;
    let before = outside(operon, GLOBAL)?;
    bob.create(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: forged, namespace: team-g, labels: { olm.owner: globe.v1.0.0, olm.owner.namespace: team-g, olm.owner.kind: ClusterServiceVersion, olm.managed: 'true', operators.coreos.com/globe.team-g: '' } }
rules: [{ apiGroups: [''], resources: [secrets], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: forged, namespace: team-g, labels: { olm.owner: globe.v1.0.0, olm.owner.namespace: team-g, olm.owner.kind: ClusterServiceVersion, olm.managed: 'true', operators.coreos.com/globe.team-g: '' } }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: forged }
subjects: [{ kind: ServiceAccount, name: globe, namespace: team-g }]
",
    )?;
    operon.calm()?;
    compare(&before, &outside(operon, GLOBAL)?)?;
    // The Role of the plan that bob widens is set back, and what was lifted stays as it was.
    let role = operon
        .list(&known::ROLE, GLOBAL)
        .into_iter()
        .find(|role| is_of_plan(role, "globe.v1.0.0"))
        .ok_or("the operator has no Role")?;
    let secrets =
        map! { "apiGroups" => list![""], "resources" => list!["secrets"], "verbs" => list!["get"] };
    bob.edit(&role.key(), |role| {
        role.value_mut().place(&["rules"]).make_list().push(secrets.clone());
    })?;
    operon.until("the Role is as its plan has it", |operon| {
        operon.get(&role.key()).is_some_and(|live| live.at(&["rules"]) == role.at(&["rules"]))
    })?;
    operon.calm()?;
    compare(&before, &outside(operon, GLOBAL)?)?;
    let own = format!("{GLOBAL}: get /secrets []");
    let mut after: BTreeSet<String> = powers_of_account(operon, GLOBAL, "globe")?;
    // Bob granted this himself, in his namespace.
    after.remove(&own);
    same_powers("globe", &powers, &after)?;
    operon.delete_namespaces(&[GLOBAL])?;
    Ok("a forged Role stays in its namespace, and a widened one is set back".to_owned())
}
