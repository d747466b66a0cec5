//! What an account may do, as the roles and bindings of a cluster say.
//!
//! Rules are only ever added up: no role takes a right away. A ClusterRole that collects others by
//! their labels has the rules that its cluster wrote into it; nothing is collected here.

use std::collections::{BTreeMap, BTreeSet};

use operon_object::{Object, Value, known};

use crate::policy_rule::{PolicyRule, RuleFault, RuleScope};

/// Limits the comparisons to answer one question. An account of a large operator has some hundred
/// rules, and a long rule names some hundred things.
pub const MAX_RULE_STEPS: usize = 10_000_000;

/// Names a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RoleName {
    Role { namespace: String, name: String },
    ClusterRole(String),
}

/// Names whom a binding is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    User(String),
    Group(String),
}

/// The roles that a subject is bound to: by namespace, the empty one for the whole cluster.
type Bindings = BTreeMap<String, BTreeSet<RoleName>>;

/// Answers what accounts may do.
#[derive(Debug, Clone, Default)]
pub struct Authorizer {
    rules: BTreeMap<RoleName, Vec<PolicyRule>>,
    bindings: BTreeMap<Subject, Bindings>,
}

/// One thing that an account wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action<'a> {
    /// What is done, such as `create`.
    pub verb: &'a str,
    /// The group of the resource.
    pub group: &'a str,
    /// The resource, such as `pods` or `pods/log`.
    pub resource: &'a str,
    /// The namespace; empty for what lies in none.
    pub namespace: &'a str,
    /// The object's name; empty for no certain one.
    pub name: &'a str,
}

impl Authorizer {
    /// Takes in Roles, RoleBindings, ClusterRoles and ClusterRoleBindings; other kinds are left out.
    pub fn new<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Self {
        let mut authorizer = Self::default();
        for object in objects {
            authorizer.take_in(object);
        }
        authorizer
    }

    /// Tells whether a ServiceAccount may do all that a rule says, in a namespace or in the whole
    /// cluster; an error for a rule that makes no sense.
    ///
    /// Several rules together may allow it. As in a cluster, what is bound in the whole cluster also
    /// holds in each namespace. Other than upstream, the groups of the account count, and `*/log`
    /// covers `pods/log`: a cluster grants both.
    pub fn covers(
        &self,
        account_namespace: &str,
        account: &str,
        scope: RuleScope<'_>,
        rule: &PolicyRule,
    ) -> Result<bool, RuleFault> {
        rule.check()?;
        let namespace = match scope {
            RuleScope::Namespace(namespace) => namespace,
            RuleScope::Cluster => "",
        };
        let granted = self.rules_of(account_namespace, account, namespace);
        let mut question = Question { granted: &granted, steps: 0 };
        let mut dimensions = vec![question.allowing(&rule.verbs, PolicyRule::matches_verb)?];
        if rule.non_resource_urls.is_empty() {
            dimensions.push(question.allowing(&rule.api_groups, PolicyRule::matches_group)?);
            dimensions.push(question.allowing(&rule.resources, PolicyRule::matches_resource)?);
            dimensions.push(question.allowing(&rule.resource_names, PolicyRule::matches_name)?);
        } else {
            // A path is compared with each other one, since any may end in a star.
            let urls = granted.iter().map(|rule| rule.non_resource_urls.len()).sum::<usize>();
            question.spend(urls.saturating_mul(rule.non_resource_urls.len()))?;
            dimensions.push(question.allowing(&rule.non_resource_urls, PolicyRule::matches_url)?);
        }
        question.is_covered(&RuleSet::all(granted.len()), &dimensions)
    }

    /// Tells whether a ServiceAccount may do one thing.
    pub fn allows(&self, account_namespace: &str, account: &str, action: Action<'_>) -> bool {
        self.rules_of(account_namespace, account, action.namespace).iter().any(|rule| {
            rule.matches_verb(action.verb)
                && rule.matches_group(action.group)
                && rule.matches_resource(action.resource)
                && rule.matches_name(action.name)
        })
    }

    fn take_in(&mut self, object: &Object) {
        let kind = object.kind();
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        let read = || object.at(&["rules"]).elements().iter().map(PolicyRule::read).collect();
        if kind == known::ROLE {
            self.rules.insert(RoleName::Role { namespace, name }, read());
        } else if kind == known::CLUSTER_ROLE {
            self.rules.insert(RoleName::ClusterRole(name), read());
        } else if kind == known::ROLE_BINDING || kind == known::CLUSTER_ROLE_BINDING {
            self.bind(object);
        }
    }

    fn bind(&mut self, binding: &Object) {
        let namespace = binding.namespace();
        let role = binding.at(&["roleRef", "name"]).str().to_owned();
        let role = match binding.at(&["roleRef", "kind"]).str() {
            "Role" => RoleName::Role { namespace: namespace.to_owned(), name: role },
            _ => RoleName::ClusterRole(role),
        };
        for subject in binding.at(&["subjects"]).elements() {
            let Some(subject) = read_subject(subject, namespace) else { continue };
            let bindings = self.bindings.entry(subject).or_default();
            bindings.entry(namespace.to_owned()).or_default().insert(role.clone());
        }
    }

    /// Returns the rules that an account has in a namespace; the empty one for the whole cluster.
    fn rules_of(&self, account_namespace: &str, account: &str, place: &str) -> Vec<&PolicyRule> {
        let subjects = [
            Subject::User(user_name(account_namespace, account)),
            Subject::Group("system:serviceaccounts".to_owned()),
            Subject::Group(format!("system:serviceaccounts:{account_namespace}")),
            Subject::Group("system:authenticated".to_owned()),
        ];
        let bindings = subjects.iter().filter_map(|subject| self.bindings.get(subject));
        let roles: BTreeSet<&RoleName> = bindings
            .flat_map(|bindings| ["", place].map(|place| bindings.get(place)))
            .flatten()
            .flatten()
            .collect();
        roles.into_iter().filter_map(|role| self.rules.get(role)).flatten().collect()
    }
}

/// Returns the name by which a cluster knows a ServiceAccount.
pub fn user_name(namespace: &str, account: &str) -> String {
    format!("system:serviceaccount:{namespace}:{account}")
}

/// Reads a subject; an account that names no namespace is of the binding's.
fn read_subject(subject: &Value, binding_namespace: &str) -> Option<Subject> {
    let name = subject.get("name").str();
    match subject.get("kind").str() {
        "User" => Some(Subject::User(name.to_owned())),
        "Group" => Some(Subject::Group(name.to_owned())),
        "ServiceAccount" => {
            let namespace = match subject.get("namespace").str() {
                "" => binding_namespace,
                namespace => namespace,
            };
            (!namespace.is_empty()).then(|| Subject::User(user_name(namespace, name)))
        }
        _ => None,
    }
}

/// A set of granted rules, one bit for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RuleSet {
    bits: Vec<u64>,
}

impl RuleSet {
    fn all(count: usize) -> Self {
        Self::of(&vec![true; count])
    }

    fn of(members: &[bool]) -> Self {
        let bits = members.chunks(64).map(|chunk| {
            chunk.iter().rev().fold(0, |bits, is_member| bits << 1 | u64::from(*is_member))
        });
        Self { bits: bits.collect() }
    }

    fn and(&self, other: &Self) -> Self {
        let bits = self.bits.iter().zip(&other.bits).map(|(own, other)| own & other);
        Self { bits: bits.collect() }
    }

    fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }
}

/// A question that is being answered.
struct Question<'a> {
    granted: &'a [&'a PolicyRule],
    steps: usize,
}

impl Question<'_> {
    /// Returns for each wanted value the rules that allow it, without repetition. No value stands for
    /// the empty text, as in a cluster.
    fn allowing(
        &mut self,
        wanted: &BTreeSet<String>,
        matches: impl Fn(&PolicyRule, &str) -> bool,
    ) -> Result<BTreeSet<RuleSet>, RuleFault> {
        self.spend(wanted.len().saturating_mul(self.granted.len()))?;
        let of = |value: &str| {
            let members: Vec<bool> = self.granted.iter().map(|rule| matches(rule, value)).collect();
            RuleSet::of(&members)
        };
        Ok(match wanted.is_empty() {
            true => BTreeSet::from([of("")]),
            false => wanted.iter().map(|value| of(value)).collect(),
        })
    }

    /// Tells whether each combination of values is allowed by one rule at least: each dimension lists,
    /// for its values, the rules that allow them. Values that the same rules allow count as one.
    fn is_covered(
        &mut self,
        allowed: &RuleSet,
        dimensions: &[BTreeSet<RuleSet>],
    ) -> Result<bool, RuleFault> {
        if allowed.is_empty() {
            return Ok(false);
        }
        let Some((dimension, rest)) = dimensions.split_first() else { return Ok(true) };
        for value in dimension {
            self.spend(allowed.bits.len())?;
            if !self.is_covered(&allowed.and(value), rest)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn spend(&mut self, steps: usize) -> Result<(), RuleFault> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_RULE_STEPS {
            return Err(RuleFault::TooComplex);
        }
        Ok(())
    }
}
