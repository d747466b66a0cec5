//! Rights that make their holder the master of a cluster, or nearly so.
//!
//! A right that is not named here can still be too much; here are those that always deserve a look.

use super::rights::{Right, RightScope};

/// Matches everything.
const ANY: &str = "*";

/// Says why a right is dangerous, the worst reason first.
pub(super) fn of(right: &Right) -> Option<&'static str> {
    let is_everywhere = right.scope == RightScope::Cluster;
    let may = |verbs: &[&str]| {
        right.verbs.contains(ANY) || verbs.iter().any(|verb| right.verbs.contains(*verb))
    };
    let is_about = |group: &str, resource: &str| {
        (right.group == ANY || right.group == group)
            && (right.resource == ANY || right.resource == resource)
    };
    let is_unnamed = right.names.is_empty();
    if right.group == ANY && right.resource == ANY && right.verbs.contains(ANY) {
        return Some("may do everything");
    }
    if is_about("rbac.authorization.k8s.io", "clusterroles")
        || is_about("rbac.authorization.k8s.io", "roles")
    {
        if right.verbs.contains("escalate") || right.verbs.contains(ANY) {
            return Some("may grant rights it does not have (escalate)");
        }
        if right.verbs.contains("bind") {
            return Some("may hand out any role (bind)");
        }
    }
    let is_identity = ["users", "groups", "serviceaccounts"].iter().any(|who| is_about("", who));
    if is_identity && right.verbs.contains("impersonate") {
        return Some("may act as somebody else (impersonate)");
    }
    if is_everywhere && is_unnamed && is_about("", "secrets") && may(&["get", "list", "watch"]) {
        return Some("reads every secret of the cluster");
    }
    if is_everywhere && is_about("", "serviceaccounts/token") && may(&["create"]) {
        return Some("may act as every account of the cluster");
    }
    if is_everywhere && is_about("", "pods/exec") && may(&["create", "get"]) {
        return Some("runs commands in every pod of the cluster");
    }
    if is_everywhere && is_about("", "nodes/proxy") && may(&["create", "get"]) {
        return Some("reaches every pod through its node");
    }
    if right.verbs.contains(ANY) {
        return Some("any verb");
    }
    if right.resource == ANY || right.group == ANY {
        return Some("every resource");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangerous_rights_are_told_from_others() {
        let cluster = RightScope::Cluster;
        for (scope, group, resource, names, verbs, expected) in [
            (cluster, "*", "*", "", "*", Some("may do everything")),
            (cluster, "", "secrets", "", "get", Some("reads every secret of the cluster")),
            (cluster, "", "*", "", "list", Some("reads every secret of the cluster")),
            (cluster, "", "secrets", "mine", "get", None),
            (cluster, "", "secrets", "", "create", None),
            (RightScope::Namespaces, "", "secrets", "", "get", None),
            (
                cluster,
                "rbac.authorization.k8s.io",
                "roles",
                "",
                "bind",
                Some("may hand out any role (bind)"),
            ),
            (
                cluster,
                "",
                "users",
                "",
                "impersonate",
                Some("may act as somebody else (impersonate)"),
            ),
            (cluster, "apps", "deployments", "", "*", Some("any verb")),
            (cluster, "apps", "*", "", "get", Some("every resource")),
            (cluster, "apps", "deployments", "", "get", None),
        ] {
            let texts = |text: &str| -> Vec<String> {
                text.split_whitespace().map(str::to_owned).collect()
            };
            let right = Right {
                scope,
                account: String::new(),
                group: group.to_owned(),
                resource: resource.to_owned(),
                names: texts(names),
                verbs: texts(verbs).into_iter().collect(),
            };
            assert_eq!(right.danger(), expected, "{right:?}");
        }
    }
}
