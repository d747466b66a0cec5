//! While an OperatorGroup names a ServiceAccount, nothing is installed without it.

use std::collections::BTreeMap;

use operon_object::{Object, ObjectKey, OwnerReference, Timestamp, Value, known, map};

use super::{EXCUSED, Objects, Sight, within};
use crate::Author;

/// On whose authority the engine must write in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Actor {
    /// No group names an account.
    Controller,
    Account(String),
    /// Several groups, or the account does not exist: nothing may be written.
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct Authority {
    /// The authority of each namespace that had a group, and since when it holds if another held before.
    since: BTreeMap<String, (Actor, Option<Timestamp>)>,
}

impl Authority {
    pub(super) fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let kind = &sight.key.kind;
        if *kind == known::OPERATOR_GROUP || *kind == known::SERVICE_ACCOUNT {
            self.follow(sight);
        }
        let is_own = kind.group() == known::OPERATORS_GROUP || *kind == known::EVENT;
        if sight.author != Author::Engine || is_own {
            return Ok(());
        }
        let Some(object) = sight.after.or(sight.before) else { return Ok(()) };
        if grants_everything(sight) {
            return Err(format!("the engine granted everything with {}", sight.key));
        }
        reaches_too_far(sight)?;
        let home = home_of(sight.key, object);
        if home.is_empty() {
            return self.look_at_unattributed(sight, object);
        }
        let Some((actor, since)) = self.since.get(home) else { return Ok(()) };
        let is_excused = since.is_some_and(|since| sight.time.since(since) < EXCUSED);
        if is_excused || is_business_of_operon(sight, object) {
            return Ok(());
        }
        let account = sight.account.map(|account| account.name.as_str());
        match (actor, account) {
            (Actor::Controller, None) => Ok(()),
            (Actor::Account(name), Some(used)) if name == used => Ok(()),
            (actor, used) => Err(format!(
                "the engine wrote {} as {}, but the authority of {home} is {actor:?}",
                sight.key,
                used.unwrap_or("the controller")
            )),
        }
    }

    /// Looks at something outside all namespaces that says of no namespace that it is written for it: while
    /// any group names an account, that may be a way around the account.
    fn look_at_unattributed(&self, sight: &Sight<'_>, object: &Object) -> Result<(), String> {
        let is_attenuated = |(actor, since): &(Actor, Option<Timestamp>)| {
            let is_excused = since.is_some_and(|since| sight.time.since(since) < EXCUSED);
            *actor != Actor::Controller && !is_excused
        };
        let has_account = self.since.values().any(is_attenuated);
        if !has_account || sight.account.is_some() || is_business_of_operon(sight, object) {
            return Ok(());
        }
        Err(format!("the engine wrote {} as the controller, for no namespace", sight.key))
    }

    fn follow(&mut self, sight: &Sight<'_>) {
        let namespace = sight.key.namespace.as_str();
        let actor = actor_of(sight.objects, namespace);
        match self.since.get_mut(namespace) {
            Some((known, _)) if *known == actor => {}
            Some(known) => *known = (actor, Some(sight.time)),
            // Before the first group nothing is installed, so no view can be behind.
            None if sight.key.kind == known::OPERATOR_GROUP => {
                self.since.insert(namespace.to_owned(), (actor, None));
            }
            None => {}
        }
    }
}

/// Returns `true` if a role was written that covers all groups, which no simulated bundle asks for.
fn grants_everything(sight: &Sight<'_>) -> bool {
    let is_role = [known::ROLE, known::CLUSTER_ROLE].contains(&sight.key.kind);
    let rules = |object: &Object| {
        let groups = object.at(&["rules"]).elements().iter().flat_map(|rule| {
            rule.get("apiGroups").iter_texts().map(str::to_owned).collect::<Vec<_>>()
        });
        groups.into_iter().any(|group| group == "*")
    };
    is_role && sight.after.is_some_and(rules) && !sight.before.is_some_and(rules)
}

/// Says what the engine wrote as the controller that only belongs to others.
fn reaches_too_far(sight: &Sight<'_>) -> Result<(), String> {
    let kind = &sight.key.kind;
    let Some(after) = sight.after else { return Ok(()) };
    let is_wrong = if *kind == known::CUSTOM_RESOURCE_DEFINITION {
        sight.before.is_some_and(|before| replaces_foreign_definition(before, after))
    } else if *kind == known::CLUSTER_ROLE {
        after.labels().any(|(name, _)| name.starts_with("olm.opgroup.permissions/"))
            && after.owners().any(|owner| !is_brought(sight.objects, &owner))
    } else if *kind == known::NAMESPACE {
        sight
            .before
            .is_some_and(|before| without_group_labels(before) != without_group_labels(after))
    } else if *kind == known::ROLE_BINDING {
        let name = after.at(&["roleRef", "name"]).str();
        let role = sight.objects.get(&known::ROLE.key(&sight.key.namespace, name));
        let is_for_condition = after.owners().any(|owner| owner.kind == "OperatorCondition");
        is_for_condition
            && role.is_some_and(|role| role.owners().all(|owner| owner.kind != "OperatorCondition"))
    } else {
        false
    };
    if is_wrong {
        return Err(format!(
            "the engine wrote {}, which reaches what belongs to others",
            sight.key
        ));
    }
    Ok(())
}

/// Returns `true` if a CRD wishes something else now, and another package brought it.
fn replaces_foreign_definition(before: &Object, after: &Object) -> bool {
    let packages = |object: &Object| -> Vec<String> {
        let names = object
            .labels()
            .filter_map(|(name, _)| name.strip_prefix("operators.coreos.com/")?.rsplit_once('.'));
        names.map(|(package, _)| package.to_owned()).collect()
    };
    let known = packages(before);
    let is_same = packages(after).iter().all(|package| known.contains(package));
    before.spec() != after.spec() && !is_same
}

/// Returns `true` if an operator brought the API whose users get a role.
fn is_brought(objects: &Objects, owner: &OwnerReference) -> bool {
    if owner.kind != known::CUSTOM_RESOURCE_DEFINITION.name() {
        return true;
    }
    let key = known::CUSTOM_RESOURCE_DEFINITION.key("", &owner.name);
    // It may have been deleted meanwhile.
    objects.get(&key).is_none_or(|definition| {
        definition.label("olm.managed") == "true"
            && definition.spec().get("group").str() != known::OPERATORS_GROUP
    })
}

fn without_group_labels(namespace: &Object) -> Value {
    let mut metadata = namespace.at(&["metadata"]).clone();
    for name in ["resourceVersion", "managedFields", "generation"] {
        metadata.remove(&[name]);
    }
    let labels = metadata.place(&["labels"]).make_map();
    labels.retain(|name, _| !name.starts_with("olm.operatorgroup.uid/"));
    map! { "metadata" => metadata, "spec" => namespace.spec().clone() }
}

fn actor_of(objects: &Objects, namespace: &str) -> Actor {
    let groups: Vec<&Object> = within(objects, &known::OPERATOR_GROUP, namespace).collect();
    let name = |group: &&Object| {
        let name = group.spec().get("serviceAccountName").str().to_owned();
        (!name.is_empty()).then_some(name)
    };
    let named: Vec<String> = groups.iter().filter_map(name).collect();
    match (&named[..], groups.len()) {
        ([], _) => Actor::Controller,
        ([name], 1) if objects.contains_key(&known::SERVICE_ACCOUNT.key(namespace, name)) => {
            Actor::Account(name.clone())
        }
        _ => Actor::Unknown,
    }
}

/// Returns the namespace that an object is written for.
fn home_of<'o>(key: &'o ObjectKey, object: &'o Object) -> &'o str {
    match object.label("olm.owner.namespace") {
        "" => &key.namespace,
        home => home,
    }
}

/// Returns `true` for what holds nothing that a tenant chooses: CRDs, which are checked for themselves,
/// records of generations, and roles for users of APIs and for an operator's own condition.
fn is_business_of_operon(sight: &Sight<'_>, object: &Object) -> bool {
    let kind = &sight.key.kind;
    let rules = object.at(&["rules"]).elements();
    let only = |allowed: &dyn Fn(&Value) -> bool| rules.iter().all(allowed);
    if *kind == known::CUSTOM_RESOURCE_DEFINITION || *kind == known::NAMESPACE {
        return true;
    }
    if *kind == known::CONTROLLER_REVISION {
        return !object.label("operon.dev/generation").is_empty();
    }
    if *kind == known::CLUSTER_ROLE {
        let is_star = |rule: &Value| rule.get("apiGroups").iter_texts().any(|group| group == "*");
        let is_user_role = object.name().starts_with("olm.og.")
            || object.labels().any(|(name, _)| name.starts_with("olm.opgroup.permissions/"));
        return is_user_role && only(&|rule| !is_star(rule));
    }
    let condition = known::OPERATOR_CONDITION.key(&sight.key.namespace, &sight.key.name);
    let is_for_condition = sight.objects.contains_key(&condition) || sight.after.is_none();
    if *kind == known::ROLE {
        return is_for_condition
            && only(&|rule| rule.get("resources").iter_texts().eq(["operatorconditions"]));
    }
    *kind == known::ROLE_BINDING
        && is_for_condition
        && object.at(&["roleRef", "name"]).str() == object.name()
}
