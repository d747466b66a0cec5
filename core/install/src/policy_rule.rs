//! One rule of a role, and what it matches.
//!
//! Who has a rule is not known here.

use std::{collections::BTreeSet, fmt};

use operon_object::Value;

use crate::golang::{GoType, TypeFault, typed_json};

/// Marks that match everything.
const ANY: &str = "*";

/// A rule of a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyRule {
    /// What may be done, such as `get`.
    pub verbs: BTreeSet<String>,
    /// The groups of the resources, such as `apps`; empty text for the core group.
    pub api_groups: BTreeSet<String>,
    /// The resources, such as `pods` or `pods/log`.
    pub resources: BTreeSet<String>,
    /// The only names it holds for; none means all.
    pub resource_names: BTreeSet<String>,
    /// Paths of the API server, such as `/metrics`.
    pub non_resource_urls: BTreeSet<String>,
}

/// Reasons why a rule can neither be granted nor asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleFault {
    /// The rule names no verb.
    NoVerb,
    /// The rule names resources and paths.
    ResourcesAndUrls,
    /// The rule is so long, or the account has so many rules, that the answer takes too long.
    TooComplex,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoVerb => "rule invalid: policy rule must have at least one verb",
            Self::ResourcesAndUrls => {
                "rule invalid: rule cannot apply to both regular resources and non-resource URLs"
            }
            Self::TooComplex => "rule invalid: it needs too many comparisons to be checked",
        })
    }
}

impl std::error::Error for RuleFault {}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleScope<'a> {
    /// In one namespace.
    Namespace(&'a str),
    /// In the whole cluster.
    Cluster,
}

impl PolicyRule {
    /// Reads a rule; what is no text is left out.
    pub fn read(value: &Value) -> Self {
        let texts = |name| value.get(name).iter_texts().map(str::to_owned).collect();
        Self {
            verbs: texts("verbs"),
            api_groups: texts("apiGroups"),
            resources: texts("resources"),
            resource_names: texts("resourceNames"),
            non_resource_urls: texts("nonResourceURLs"),
        }
    }

    /// Checks that a rule can be asked for.
    pub fn check(&self) -> Result<(), RuleFault> {
        if self.verbs.is_empty() {
            return Err(RuleFault::NoVerb);
        }
        let parts = [&self.api_groups, &self.resources, &self.resource_names];
        let has_resources = parts.iter().any(|part| !part.is_empty());
        if has_resources && !self.non_resource_urls.is_empty() {
            return Err(RuleFault::ResourcesAndUrls);
        }
        Ok(())
    }

    /// Tells whether a verb is allowed.
    pub fn matches_verb(&self, verb: &str) -> bool {
        self.verbs.contains(ANY) || self.verbs.contains(verb)
    }

    /// Tells whether it is about a group.
    pub fn matches_group(&self, group: &str) -> bool {
        self.api_groups.contains(ANY) || self.api_groups.contains(group)
    }

    /// Tells whether it is about a resource, given as `pods` or `pods/log`; `*/log` is about the
    /// logs of everything.
    pub fn matches_resource(&self, resource: &str) -> bool {
        let is_part = || {
            let part = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
            part.is_some_and(|part| self.resources.contains(&part))
        };
        self.resources.contains(ANY) || self.resources.contains(resource) || is_part()
    }

    /// Tells whether it is about an object of a name; the empty name stands for objects in general.
    pub fn matches_name(&self, name: &str) -> bool {
        self.resource_names.is_empty() || self.resource_names.contains(name)
    }

    /// Tells whether it allows a verb on a resource, or on a path of the API server; `names` are the only
    /// names that are asked about, none means all.
    pub fn covers<'n>(
        &self,
        group: &str,
        resource: &str,
        names: impl IntoIterator<Item = &'n String>,
        verb: &str,
    ) -> bool {
        if !self.matches_verb(verb) {
            return false;
        }
        if resource.starts_with('/') {
            return self.matches_url(resource);
        }
        let mut names = names.into_iter().peekable();
        let is_named = self.resource_names.is_empty()
            || (names.peek().is_some() && names.all(|name| self.resource_names.contains(name)));
        self.matches_group(group) && self.matches_resource(resource) && is_named
    }

    /// Returns what it allows beyond other rules, a rule for each resource and path.
    pub fn beyond(&self, others: &[Self]) -> Vec<Self> {
        let resources = self.api_groups.iter().flat_map(|group| {
            self.resources.iter().map(|resource| (Some(group.as_str()), resource.as_str()))
        });
        let paths = self.non_resource_urls.iter().map(|path| (None, path.as_str()));
        let rest = resources.chain(paths).filter_map(|(group, resource)| {
            let is_covered = |verb: &&String| {
                let mut others = others.iter();
                let group = group.unwrap_or_default();
                others.any(|other| other.covers(group, resource, &self.resource_names, verb))
            };
            let verbs: BTreeSet<String> =
                self.verbs.iter().filter(|verb| !is_covered(verb)).cloned().collect();
            if verbs.is_empty() {
                return None;
            }
            let only = |text: &str| BTreeSet::from([text.to_owned()]);
            Some(match group {
                Some(group) => Self {
                    verbs,
                    api_groups: only(group),
                    resources: only(resource),
                    resource_names: self.resource_names.clone(),
                    non_resource_urls: BTreeSet::new(),
                },
                None => Self { verbs, non_resource_urls: only(resource), ..Self::default() },
            })
        });
        rest.collect()
    }

    /// Tells whether it is about a path; `/api/*` is about all that begins so.
    pub fn matches_url(&self, url: &str) -> bool {
        self.non_resource_urls.iter().any(|own| {
            let is_below = own.ends_with('*') && url.starts_with(own.trim_end_matches('*'));
            own == url || is_below
        })
    }
}

/// Returns what a status shows of a rule: `cluster rule:{"verbs":["get"],…}`.
pub fn rule_text(scope: RuleScope<'_>, rule: &Value) -> Result<String, TypeFault> {
    let json = typed_json(GoType::PolicyRule, rule)?;
    Ok(match scope {
        RuleScope::Namespace(_) => format!("namespaced rule:{json}"),
        RuleScope::Cluster => format!("cluster rule:{json}"),
    })
}
