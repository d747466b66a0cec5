//! The rights that the accounts of an operator get: by its ClusterServiceVersion, and by the roles of
//! its bundle that a binding of the bundle hands out.
//!
//! A role that nothing in the bundle binds is no right of the operator; it is meant for users.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::Value;

use super::danger;
use crate::BundleSource;

/// Limits the rights that are listed. The largest real bundles have about two thousand; the limit
/// keeps lists that multiply from eating the memory.
pub const MAX_RIGHTS: usize = 20_000;

/// Where a right holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RightScope {
    /// In the whole cluster.
    Cluster,
    /// In the namespaces that the operator watches.
    Namespaces,
}

/// What an account may do with one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// Where it holds.
    pub scope: RightScope,
    /// The ServiceAccount.
    pub account: String,
    /// The group of the resource; empty for the core group and for paths.
    pub group: String,
    /// The resource, such as `pods/log`, or a path of the API server, such as `/metrics`.
    pub resource: String,
    /// The only names it holds for; none means all.
    pub names: Vec<String>,
    /// What may be done, such as `get`.
    pub verbs: BTreeSet<String>,
}

impl Right {
    /// Says why the right is a dangerous one, if it is.
    pub fn danger(&self) -> Option<&'static str> {
        danger::of(self)
    }
}

/// A rule that an account gets.
#[derive(Debug, Clone)]
pub(crate) struct GrantedRule {
    pub(crate) scope: RightScope,
    pub(crate) account: String,
    pub(crate) rule: Value,
}

/// Returns the rights of a bundle, sorted, and whether there are more than can be listed.
pub(super) fn of(source: &BundleSource, csv: &Value) -> (Vec<Right>, bool) {
    let mut rights = BTreeMap::new();
    let mut has_more = false;
    for granted in granted_rules(source, csv) {
        has_more |= !explode(&granted, &mut rights);
    }
    let rights = rights.into_iter().map(|((scope, account, group, resource, names), verbs)| {
        Right { scope, account, group, resource, names, verbs }
    });
    (rights.collect(), has_more)
}

/// Where, who, group, resource, names.
type Key = (RightScope, String, String, String, Vec<String>);

/// Adds each resource of a rule; says whether there was room for all.
fn explode(granted: &GrantedRule, rights: &mut BTreeMap<Key, BTreeSet<String>>) -> bool {
    let texts = |name: &str| -> BTreeSet<String> {
        granted.rule.get(name).iter_texts().map(str::to_owned).collect()
    };
    let names: Vec<String> = texts("resourceNames").into_iter().collect();
    let (groups, verbs) = (texts("apiGroups"), texts("verbs"));
    let resources = texts("resources");
    let pairs = groups.iter().flat_map(|group| {
        resources.iter().map(|resource| (group.clone(), resource.clone(), names.clone()))
    });
    let paths = texts("nonResourceURLs").into_iter().map(|path| (String::new(), path, Vec::new()));
    for (group, resource, names) in pairs.chain(paths) {
        let key = (granted.scope, granted.account.clone(), group, resource, names);
        if rights.len() >= MAX_RIGHTS && !rights.contains_key(&key) {
            return false;
        }
        rights.entry(key).or_default().extend(verbs.iter().cloned());
    }
    true
}

/// Returns the rules that the accounts of an operator get.
pub(crate) fn granted_rules(source: &BundleSource, csv: &Value) -> Vec<GrantedRule> {
    let mut granted = Vec::new();
    let details = csv.at(&["spec", "install", "spec"]);
    for (name, scope) in
        [("permissions", RightScope::Namespaces), ("clusterPermissions", RightScope::Cluster)]
    {
        for permission in details.get(name).elements() {
            let account = permission.get("serviceAccountName").str();
            for rule in permission.get("rules").elements() {
                granted.push(GrantedRule {
                    scope,
                    account: account.to_owned(),
                    rule: rule.clone(),
                });
            }
        }
    }
    granted.extend(bound_rules(source));
    granted
}

/// Returns the rules of roles that a binding of the bundle hands to an account.
fn bound_rules(source: &BundleSource) -> Vec<GrantedRule> {
    let parse = |kinds: [&str; 2]| -> Vec<(String, Value)> {
        source
            .manifests
            .iter()
            .filter(|manifest| kinds.contains(&manifest.kind.as_str()))
            .filter_map(|manifest| {
                Some((manifest.kind.clone(), Value::parse_json(&manifest.json).ok()?))
            })
            .collect()
    };
    let roles = parse(["Role", "ClusterRole"]);
    let mut granted = Vec::new();
    for (kind, binding) in parse(["RoleBinding", "ClusterRoleBinding"]) {
        let scope = match kind.as_str() {
            "ClusterRoleBinding" => RightScope::Cluster,
            _ => RightScope::Namespaces,
        };
        let reference = binding.get("roleRef");
        let role = roles.iter().find(|(kind, role)| {
            kind == reference.get("kind").str()
                && role.at(&["metadata", "name"]).str() == reference.get("name").str()
        });
        let Some((_, role)) = role else { continue };
        for subject in binding.get("subjects").elements() {
            for rule in role.get("rules").elements() {
                let account = subject.get("name").str().to_owned();
                granted.push(GrantedRule { scope, account, rule: rule.clone() });
            }
        }
    }
    granted
}
