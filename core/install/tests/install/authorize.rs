//! Claims about what accounts may do, and a comparison with a plain evaluation.

use std::collections::BTreeSet;

use operon_install::{Action, Authorizer, PolicyRule, RuleFault, RuleScope, rule_text};
use operon_object::{Object, Value, list, map};
use proptest::prelude::*;

use crate::support::value;

fn role(kind: &str, namespace: &str, name: &str, rules: Value) -> Object {
    let mut role = Object::new("rbac.authorization.k8s.io/v1", kind, namespace, name);
    role.set(&["rules"], rules);
    role
}

fn binding(namespace: &str, name: &str, role_kind: &str, role: &str, subject: &str) -> Object {
    let kind = if namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" };
    let mut binding = Object::new("rbac.authorization.k8s.io/v1", kind, namespace, name);
    binding.set(&["roleRef"], map! { "kind" => role_kind, "name" => role });
    binding.set(&["subjects"], list![value(subject)]);
    binding
}

const ACCOUNT: &str = r#"{"kind":"ServiceAccount","name":"sa","namespace":"ns"}"#;

/// Tells whether `ns/sa` with some rules in a ClusterRole, bound by a subject, may do what a rule says.
fn is_covered(granted: &str, subject: &str, wanted: &str) -> Result<bool, String> {
    let objects = [
        role("ClusterRole", "", "r", value(granted)),
        binding("", "b", "ClusterRole", "r", subject),
    ];
    let wanted = PolicyRule::read(&value(wanted));
    let answer = Authorizer::new(&objects).covers("ns", "sa", RuleScope::Cluster, &wanted);
    answer.map_err(|fault| fault.to_string())
}

#[test]
fn rules_cover_as_in_a_cluster() {
    let pods = r#"{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}"#;
    let claims = [
        ("[]", pods, false),
        (r#"[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]"#, pods, true),
        (r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]"#, pods, false),
        // Two rules together.
        (
            r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},
                {"verbs":["list"],"apiGroups":[""],"resources":["pods"]}]"#,
            pods,
            true,
        ),
        // Each has a part, but no one has the combination.
        (
            r#"[{"verbs":["get"],"apiGroups":["a"],"resources":["x"]},
                {"verbs":["list"],"apiGroups":["b"],"resources":["x"]}]"#,
            r#"{"verbs":["get","list"],"apiGroups":["a","b"],"resources":["x"]}"#,
            false,
        ),
        // Everything is not the sum of some things.
        (
            r#"[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}]"#,
            r#"{"verbs":["*"],"apiGroups":[""],"resources":["pods"]}"#,
            false,
        ),
        (
            r#"[{"verbs":["get"],"apiGroups":[""],"resources":["*/log"]}]"#,
            r#"{"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]}"#,
            true,
        ),
        (
            r#"[{"verbs":["get"],"apiGroups":[""],"resources":["*/log","pods"]}]"#,
            r#"{"verbs":["get"],"apiGroups":[""],"resources":["pods/exec"]}"#,
            false,
        ),
        (
            r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}]"#,
            r#"{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}"#,
            true,
        ),
        (
            r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}]"#,
            r#"{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}"#,
            false,
        ),
        (
            r#"[{"verbs":["get"],"nonResourceURLs":["/api/*"]}]"#,
            r#"{"verbs":["get"],"nonResourceURLs":["/api/v1","/api/*"]}"#,
            true,
        ),
        (
            r#"[{"verbs":["get"],"nonResourceURLs":["/api/*"]}]"#,
            r#"{"verbs":["get"],"nonResourceURLs":["/apis"]}"#,
            false,
        ),
        (
            r#"[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]"#,
            r#"{"verbs":["get"],"nonResourceURLs":["/metrics"]}"#,
            false,
        ),
    ];
    for (granted, wanted, expected) in claims {
        assert_eq!(is_covered(granted, ACCOUNT, wanted), Ok(expected), "{granted} {wanted}");
    }
}

#[test]
fn rules_that_make_no_sense_are_named() {
    let claims = [
        (r#"{"apiGroups":[""]}"#, "rule invalid: policy rule must have at least one verb"),
        (
            r#"{"verbs":["get"],"resources":["pods"],"nonResourceURLs":["/x"]}"#,
            "rule invalid: rule cannot apply to both regular resources and non-resource URLs",
        ),
    ];
    for (wanted, expected) in claims {
        assert_eq!(is_covered("[]", ACCOUNT, wanted), Err(expected.to_owned()));
    }
    let rule = value(r#"{"resources":["pods"],"verbs":["get"],"apiGroups":["<"]}"#);
    let json = r#"{"verbs":["get"],"apiGroups":["\u003c"],"resources":["pods"]}"#;
    let text = rule_text(RuleScope::Cluster, &rule);
    assert_eq!(text, Ok(format!("cluster rule:{json}")));
    let text = rule_text(RuleScope::Namespace("ns"), &rule);
    assert_eq!(text, Ok(format!("namespaced rule:{json}")));
}

#[test]
fn bindings_hold_where_and_for_whom_they_say() {
    let rules = || value(r#"[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]"#);
    let roles = [role("ClusterRole", "", "r", rules()), role("Role", "ns", "r", rules())];
    let claims = [
        // The binding's namespace, the role's kind, the subject; held in `ns`, in `other`, everywhere.
        ("", "ClusterRole", ACCOUNT, [true, true, true]),
        ("ns", "ClusterRole", ACCOUNT, [true, false, false]),
        ("ns", "Role", ACCOUNT, [true, false, false]),
        ("other", "Role", ACCOUNT, [false, false, false]),
        ("other", "ClusterRole", ACCOUNT, [false, true, false]),
        ("ns", "Role", r#"{"kind":"ServiceAccount","name":"sa"}"#, [true, false, false]),
        ("", "ClusterRole", r#"{"kind":"ServiceAccount","name":"sa"}"#, [false, false, false]),
        ("", "ClusterRole", r#"{"kind":"User","name":"system:serviceaccount:ns:sa"}"#, [true; 3]),
        ("", "ClusterRole", r#"{"kind":"Group","name":"system:serviceaccounts:ns"}"#, [true; 3]),
        ("", "ClusterRole", r#"{"kind":"Group","name":"system:serviceaccounts:x"}"#, [false; 3]),
        (
            "",
            "ClusterRole",
            r#"{"kind":"ServiceAccount","name":"sb","namespace":"ns"}"#,
            [false; 3],
        ),
    ];
    let wanted = PolicyRule::read(&rules().elements()[0]);
    for (namespace, kind, subject, expected) in claims {
        let binding = binding(namespace, "b", kind, "r", subject);
        let authorizer = Authorizer::new(roles.iter().chain([&binding]));
        let scopes =
            [RuleScope::Namespace("ns"), RuleScope::Namespace("other"), RuleScope::Cluster];
        let answers = scopes.map(|scope| authorizer.covers("ns", "sa", scope, &wanted));
        assert_eq!(answers, expected.map(Ok), "{namespace} {kind} {subject}");
        let actions = ["ns", "other", ""].map(|namespace| {
            let action = Action { verb: "get", group: "", resource: "pods", namespace, name: "x" };
            authorizer.allows("ns", "sa", action)
        });
        assert_eq!(actions, expected, "{namespace} {kind} {subject}");
    }
}

fn texts(choices: &'static [&'static str], most: usize) -> impl Strategy<Value = BTreeSet<String>> {
    let choice = prop::sample::select(choices).prop_map(str::to_owned);
    prop::collection::vec(choice, 0..=most).prop_map(|texts| texts.into_iter().collect())
}

prop_compose! {
    fn rules()(
        verbs in texts(&["get", "list", "*"], 2),
        api_groups in texts(&["", "apps", "*"], 2),
        resources in texts(&["pods", "pods/log", "*/log", "*", "x"], 2),
        resource_names in texts(&["a", "b"], 1),
        non_resource_urls in texts(&["/a", "/a/b", "/a/*", "*"], 1),
    ) -> PolicyRule {
        PolicyRule { verbs, api_groups, resources, resource_names, non_resource_urls }
    }
}

fn written(rule: &PolicyRule) -> Value {
    map! {
        "verbs" => Value::texts(&rule.verbs),
        "apiGroups" => Value::texts(&rule.api_groups),
        "resources" => Value::texts(&rule.resources),
        "resourceNames" => Value::texts(&rule.resource_names),
        "nonResourceURLs" => Value::texts(&rule.non_resource_urls),
    }
}

/// Evaluates each combination on its own, with matching written anew.
fn plainly_covered(granted: &[PolicyRule], wanted: &PolicyRule) -> bool {
    let or_empty = |texts: &BTreeSet<String>| match texts.is_empty() {
        true => BTreeSet::from([String::new()]),
        false => texts.clone(),
    };
    let has =
        |texts: &BTreeSet<String>, text: &str| texts.iter().any(|own| own == "*" || own == text);
    if !wanted.non_resource_urls.is_empty() {
        return wanted.verbs.iter().all(|verb| {
            wanted.non_resource_urls.iter().all(|url| {
                granted.iter().any(|rule| {
                    let below = rule.non_resource_urls.iter().any(|own| {
                        let stem = own.strip_suffix('*');
                        own == url || stem.is_some_and(|stem| url.starts_with(stem))
                    });
                    has(&rule.verbs, verb) && below
                })
            })
        });
    }
    let mut combinations = Vec::new();
    for verb in &wanted.verbs {
        for group in or_empty(&wanted.api_groups) {
            for resource in or_empty(&wanted.resources) {
                for name in or_empty(&wanted.resource_names) {
                    combinations.push((verb.clone(), group.clone(), resource.clone(), name));
                }
            }
        }
    }
    combinations.iter().all(|(verb, group, resource, name)| {
        granted.iter().any(|rule| {
            let log = resource.ends_with("/log") && rule.resources.iter().any(|own| own == "*/log");
            let named = rule.resource_names.is_empty() || rule.resource_names.contains(name);
            has(&rule.verbs, verb)
                && has(&rule.api_groups, group)
                && (has(&rule.resources, resource) || log)
                && named
        })
    })
}

proptest! {
    #[test]
    fn covering_is_what_each_combination_says(
        granted in prop::collection::vec(rules(), 0..6),
        wanted in rules(),
    ) {
        // Half of the rules come through a Role, half through a ClusterRole.
        let (first, second) = granted.split_at(granted.len() / 2);
        let objects = [
            role("Role", "ns", "r", Value::list(first.iter().map(written))),
            role("ClusterRole", "", "r", Value::list(second.iter().map(written))),
            binding("ns", "a", "Role", "r", ACCOUNT),
            binding("", "b", "ClusterRole", "r", ACCOUNT),
        ];
        let authorizer = Authorizer::new(&objects);
        let claims = [(RuleScope::Namespace("ns"), &granted[..]), (RuleScope::Cluster, second)];
        for (scope, granted) in claims {
            let answer = authorizer.covers("ns", "sa", scope, &wanted);
            match wanted.check() {
                Ok(()) => prop_assert_eq!(answer, Ok(plainly_covered(granted, &wanted))),
                Err(fault) => prop_assert_eq!(answer, Err(fault)),
            }
        }
    }
}

#[test]
fn long_rules_are_answered_or_refused_at_once() {
    let many =
        |count: usize, stem: &str| Value::texts((0..count).map(|index| format!("{stem}{index}")));
    let long = map! {
        "verbs" => many(5000, "v"), "apiGroups" => many(5000, "g"),
        "resources" => many(5000, "r/"), "resourceNames" => many(5000, "n"),
    };
    let wanted = PolicyRule::read(&long);
    let claims = [(1, Ok(true)), (400, Ok(true)), (5000, Err(RuleFault::TooComplex))];
    for (count, expected) in claims {
        let rules = std::iter::repeat_n(long.clone(), count.min(1))
            .chain(std::iter::repeat_n(map! { "verbs" => list!["get"] }, count - 1));
        let objects = [
            role("ClusterRole", "", "r", Value::list(rules)),
            binding("", "b", "ClusterRole", "r", ACCOUNT),
        ];
        let authorizer = Authorizer::new(&objects);
        let answer = authorizer.covers("ns", "sa", RuleScope::Cluster, &wanted);
        assert_eq!(answer, expected, "{count} rules");
        let stranger = authorizer.covers("ns", "sb", RuleScope::Cluster, &wanted);
        assert_eq!(stranger, Ok(false));
    }
}

#[test]
fn what_a_rule_allows_beyond_others_is_listed_by_resource() {
    let rule = |text: &str| PolicyRule::read(&value(text));
    let everything = r#"{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}"#;
    let pods = r#"{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}"#;
    let named = r#"{"apiGroups":[""],"resources":["pods"],"resourceNames":["a"],"verbs":["get"]}"#;
    let more = r#"{"apiGroups":[""],"resources":["pods","secrets"],"verbs":["get","list"]}"#;
    let path = r#"{"nonResourceURLs":["/metrics"],"verbs":["get"]}"#;
    let claims: &[(&str, &[&str], &[&str])] = &[
        (pods, &[], &["get pods"]),
        (pods, &[pods], &[]),
        (pods, &[everything], &[]),
        (pods, &[named], &["get pods"]),
        (named, &[pods], &[]),
        (more, &[pods], &["list pods", "get,list secrets"]),
        (everything, &[more], &["* *"]),
        (path, &[everything], &["get /metrics"]),
        (path, &[path], &[]),
    ];
    for (wanted, others, expected) in claims {
        let others: Vec<PolicyRule> = others.iter().map(|other| rule(other)).collect();
        let beyond = rule(wanted).beyond(&others);
        let told: Vec<String> = beyond
            .iter()
            .map(|rule| {
                let verbs: Vec<&str> = rule.verbs.iter().map(String::as_str).collect();
                let what = rule.resources.iter().chain(&rule.non_resource_urls);
                format!("{} {}", verbs.join(","), what.cloned().collect::<String>())
            })
            .collect();
        assert_eq!(told, *expected, "{wanted} beyond {}", others.len());
    }
}
