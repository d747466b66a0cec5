//! Label selectors, as texts and as objects write them.
//!
//! A selector only looks at labels; fields are not selected here.

use std::{collections::BTreeMap, fmt};

use crate::{Object, Value};

/// Limits a selector's requirements; a list request with more is a mistake.
pub const REQUIREMENTS_LIMIT: usize = 1000;

/// Says which labels an object must have; the empty selector wants nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

/// Says why something is no selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// What is wrong, in a sentence.
    pub reason: String,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for SelectorError {}

/// A demand on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    demand: Demand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Demand {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

impl Selector {
    /// Wants every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Wants labels to be equal to these.
    pub fn labels<K: Into<String>, V: Into<String>>(
        labels: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let demand = |(key, value): (K, V)| Requirement {
            key: key.into(),
            demand: Demand::In(vec![value.into()]),
        };
        Self { requirements: labels.into_iter().map(demand).collect() }
    }

    /// Reads a selector such as `app=shop,tier in (web, api),!canary`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let fault = |part: &str| SelectorError {
            reason: format!(
                "unable to parse requirement: cannot read `{part}` in the label selector; write \
                 `key=value`, `key!=value`, `key in (a, b)`, `key notin (a, b)`, `key` or `!key`"
            ),
        };
        let mut requirements = Vec::new();
        for part in split_outside_brackets(text) {
            let part = part.trim();
            if part.is_empty() && text.trim().is_empty() {
                continue;
            }
            requirements.push(requirement(part).ok_or_else(|| fault(part))?);
            if requirements.len() > REQUIREMENTS_LIMIT {
                let reason =
                    format!("the label selector has more than {REQUIREMENTS_LIMIT} requirements");
                return Err(SelectorError { reason });
            }
        }
        Ok(Self { requirements })
    }

    /// Reads a selector as objects write it, with `matchLabels` and `matchExpressions`.
    pub fn read(value: &Value) -> Result<Self, SelectorError> {
        let labels = value.get("matchLabels").entries();
        let mut selector = Self::labels(labels.map(|(key, value)| (key, value.str())));
        for expression in value.get("matchExpressions").elements() {
            let values = || expression.get("values").iter_texts().map(str::to_owned).collect();
            let operator = expression.get("operator").str();
            let demand = match operator {
                "In" => Demand::In(values()),
                "NotIn" => Demand::NotIn(values()),
                "Exists" => Demand::Exists,
                "DoesNotExist" => Demand::Absent,
                other => {
                    let reason = format!("{other:?} is not a valid label selector operator");
                    return Err(SelectorError { reason });
                }
            };
            let key = expression.get("key").str().to_owned();
            selector.requirements.push(Requirement { key, demand });
        }
        Ok(selector)
    }

    /// Tells whether an object has the labels.
    pub fn matches(&self, object: &Object) -> bool {
        let labels = object.metadata("labels");
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key).as_text();
            match (&requirement.demand, value) {
                (Demand::In(wanted), Some(value)) => wanted.iter().any(|one| one == value),
                (Demand::NotIn(unwanted), Some(value)) => !unwanted.iter().any(|one| one == value),
                (Demand::Exists, Some(_)) | (Demand::NotIn(_) | Demand::Absent, None) => true,
                (Demand::In(_) | Demand::Exists, None) | (Demand::Absent, Some(_)) => false,
            }
        })
    }

    /// Tells whether it wants every object.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns the labels that must be equal, to look them up in an index.
    pub fn exact_labels(&self) -> BTreeMap<String, String> {
        let exact = |requirement: &Requirement| match &requirement.demand {
            Demand::In(wanted) if wanted.len() == 1 => {
                Some((requirement.key.clone(), wanted[0].clone()))
            }
            Demand::In(_) | Demand::NotIn(_) | Demand::Exists | Demand::Absent => None,
        };
        self.requirements.iter().filter_map(exact).collect()
    }
}

fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        character == ',' && depth == 0
    })
}

fn requirement(text: &str) -> Option<Requirement> {
    let make = |key: &str, demand| {
        let key = key.trim();
        let is_key = !key.is_empty() && !key.contains([' ', '=', '!', '(', ')']);
        is_key.then(|| Requirement { key: key.to_owned(), demand })
    };
    if let Some(key) = text.strip_prefix('!') {
        return make(key, Demand::Absent);
    }
    for operator in ["!=", "==", "="] {
        if let Some((key, value)) = text.split_once(operator) {
            let value = value.trim();
            if value.contains([' ', '=', '!', '(', ')']) {
                return None;
            }
            let values = vec![value.to_owned()];
            let is_equal = operator != "!=";
            return make(key, if is_equal { Demand::In(values) } else { Demand::NotIn(values) });
        }
    }
    if let Some((left, values)) = text.split_once('(') {
        let values = values.trim_end().strip_suffix(')')?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let (key, operator) = left.trim().rsplit_once(char::is_whitespace)?;
        return match operator {
            "in" => make(key, Demand::In(values)),
            "notin" => make(key, Demand::NotIn(values)),
            _ => None,
        };
    }
    make(text, Demand::Exists)
}

#[cfg(test)]
mod tests {
    use super::Selector;
    use crate::Object;

    #[test]
    fn selectors_choose_as_kubernetes_does() {
        let mut object = Object::new("v1", "ConfigMap", "shop", "one");
        object.set_label("app", "shop");
        object.set_label("tier", "web");
        let claims = [
            ("", Some(true)),
            ("app=shop", Some(true)),
            ("app==shop,tier=web", Some(true)),
            ("app!=shop", Some(false)),
            ("other!=x", Some(true)),
            ("tier in (web, api)", Some(true)),
            ("tier notin (web,api)", Some(false)),
            ("other notin (a)", Some(true)),
            ("app", Some(true)),
            ("!app", Some(false)),
            ("!canary, tier in (web)", Some(true)),
            ("canary", Some(false)),
            ("app=", Some(false)),
            ("a b", None),
            ("tier between (a)", None),
            ("app=shop,", None),
            ("tier in (web", None),
        ];
        for (text, expected) in claims {
            let found = Selector::parse(text).ok().map(|selector| selector.matches(&object));
            assert_eq!(found, expected, "{text}");
        }
    }
}
