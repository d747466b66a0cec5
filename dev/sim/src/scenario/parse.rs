//! Reading scenarios.

use std::{fmt, time::Duration};

use operon_api::{kind_by_word, read_objects};
use operon_document::yaml::{self, YamlOptions};
use operon_object::{Kind, Object, ObjectKey, Value, known, list, map};
use operon_resolve::SourceName;

use super::{Expectation, Scenario, Step, catalog};

/// A scenario that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// Says which part, and what is wrong with it.
    pub reason: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for ScenarioError {}

/// Reads a scenario.
pub fn parse_scenario(text: &str) -> Result<Scenario, ScenarioError> {
    parse(text).map_err(|reason| ScenarioError { reason })
}

fn parse(text: &str) -> Result<Scenario, String> {
    let options = YamlOptions::default();
    let converted = yaml::to_json(text.as_bytes(), &options).map_err(|error| error.to_string())?;
    let root = Value::parse_json(&converted.json).map_err(|error| error.to_string())?;
    catalog::known_words(&root, &["about", "catalogs", "script"])?;
    let about = root.get("about").str().to_owned();
    if about.is_empty() {
        return Err("`about` does not say what the scenario shows".to_owned());
    }
    let mut steps = Vec::new();
    for (name, packages) in root.get("catalogs").entries() {
        publish(&mut steps, name, packages)?;
    }
    for (number, step) in root.get("script").elements().iter().enumerate() {
        read_step(step, &mut steps).map_err(|reason| format!("step {}: {reason}", number + 1))?;
    }
    Ok(Scenario { about, steps })
}

fn publish(steps: &mut Vec<Step>, name: &str, packages: &Value) -> Result<(), String> {
    let source = source_name(name)?;
    let is_known =
        steps.iter().any(|step| matches!(step, Step::Publish(known, _) if *known == source));
    let publication =
        catalog::publication(packages).map_err(|reason| format!("catalog {name}: {reason}"))?;
    steps.push(Step::Publish(source.clone(), publication));
    if !is_known {
        if source.namespace != "olm" {
            steps.push(Step::Apply(Object::new("v1", "Namespace", "", &source.namespace)));
        }
        let mut object = Object::new(
            "operators.coreos.com/v1alpha1",
            "CatalogSource",
            &source.namespace,
            &source.name,
        );
        let image = format!("example.com/{}:latest", source.name);
        object.set(&["spec"], map! { "sourceType" => "grpc", "image" => image });
        steps.push(Step::Apply(object));
    }
    Ok(())
}

fn read_step(step: &Value, steps: &mut Vec<Step>) -> Result<(), String> {
    if let Some(word) = step.as_text() {
        steps.push(match word {
            "settle" => Step::Settle,
            "restart" => Step::Restart,
            _ => return Err(format!("`{word}` is no step")),
        });
        return Ok(());
    }
    let mut entries = step.entries();
    let (Some((verb, what)), None) = (entries.next(), entries.next()) else {
        return Err("a step is one word, or one word and what it is about".to_owned());
    };
    match verb {
        "publish" => {
            for (name, packages) in what.entries() {
                publish(steps, name, packages)?;
            }
        }
        "break" | "break-bundle" => {
            for (name, reason) in what.entries() {
                steps.push(hindrance(verb, name, reason.str())?);
            }
        }
        "mend" | "mend-bundle" => steps.push(hindrance(verb, what.str(), "")?),
        "namespace" => steps.push(Step::Apply(Object::new("v1", "Namespace", "", what.str()))),
        "group" => group(what, steps)?,
        "subscribe" => steps.push(Step::Apply(subscription(what)?)),
        "apply" => {
            let text = what.as_text().ok_or("`apply` takes manifests as a text")?;
            let read = read_objects("the scenario", text.as_bytes());
            if let Some(diagnostic) = read.diagnostics.first() {
                return Err(diagnostic.message.clone());
            }
            steps.extend(read.objects.into_iter().map(|located| Step::Apply(located.object)));
        }
        "edit" | "edit-status" => {
            for (name, patch) in what.entries() {
                let (key, patch) = (object_key(name)?, patch.clone());
                steps.push(Step::Patch { key, patch, is_status: verb == "edit-status" });
            }
        }
        "delete" => steps.push(Step::Delete(object_key(what.str())?)),
        "approve" | "reject" => {
            steps
                .push(Step::Answer { namespace: what.str().to_owned(), is_yes: verb == "approve" });
        }
        "uninstall" => {
            let (namespace, name) = what.str().split_once(' ').ok_or("say `namespace operator`")?;
            let (namespace, name) = (namespace.to_owned(), name.to_owned());
            steps.push(Step::Uninstall { namespace, name });
        }
        "rollback" => steps.push(rollback(what.str())?),
        "wait" => steps.push(Step::Wait(duration(what.str())?)),
        "expect" => {
            for (name, wanted) in what.entries() {
                let key = object_key(name)?;
                steps.push(Step::Expect(Expectation::new(key, wanted)?));
            }
        }
        "saw" => {
            for (name, phases) in what.entries() {
                let phases = phases.iter_texts().map(str::to_owned).collect();
                steps.push(Step::Saw { key: object_key(name)?, phases });
            }
        }
        _ => return Err(format!("`{verb}` is no step")),
    }
    Ok(())
}

/// Reads `shop etcd`, or `shop etcd to 1.0.0`.
fn rollback(what: &str) -> Result<Step, String> {
    let words: Vec<&str> = what.split(' ').collect();
    let (namespace, name, to) = match words[..] {
        [namespace, name] => (namespace, name, None),
        [namespace, name, "to", version] => (namespace, name, Some(version.to_owned())),
        _ => return Err("say `namespace operator` or `namespace operator to version`".to_owned()),
    };
    Ok(Step::RollBack { namespace: namespace.to_owned(), name: name.to_owned(), to })
}

/// Reads `shop`, or a map of a namespace and the spec of its OperatorGroup.
fn group(what: &Value, steps: &mut Vec<Step>) -> Result<(), String> {
    let (namespace, spec) = match what.as_text() {
        Some(namespace) => (namespace, map! { "targetNamespaces" => list![namespace] }),
        None => {
            let (namespace, spec) = what.entries().next().ok_or("`group` names no namespace")?;
            (namespace, spec.clone())
        }
    };
    steps.push(Step::Apply(Object::new("v1", "Namespace", "", namespace)));
    let mut object = Object::new("operators.coreos.com/v1", "OperatorGroup", namespace, namespace);
    object.set(&["spec"], spec);
    steps.push(Step::Apply(object));
    Ok(())
}

/// Reads `shop etcd/stable from olm/demo`, with `manual`, `starting 0.9.0` or `as other-name` behind
/// it; or a map with that under `to` and annotations and config beside it.
fn subscription(what: &Value) -> Result<Object, String> {
    let text = what.as_text().unwrap_or_else(|| what.get("to").str());
    let mut words = text.split_whitespace();
    let mut word = |name: &str| words.next().ok_or_else(|| format!("`subscribe` lacks {name}"));
    let namespace = word("a namespace")?;
    let wanted = word("a package")?;
    let (package, channel) = wanted.split_once('/').unwrap_or((wanted, ""));
    if word("`from`")? != "from" {
        return Err("`subscribe` reads `namespace package/channel from catalog`".to_owned());
    }
    let source = source_name(word("a catalog")?)?;
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", "Subscription", namespace, package);
    let mut spec = map! {
        "name" => package,
        "source" => source.name,
        "sourceNamespace" => source.namespace,
    };
    if !channel.is_empty() {
        spec.set(&["channel"], channel);
    }
    while let Some(word) = words.next() {
        match (word, words.clone().next()) {
            ("manual", _) => spec.set(&["installPlanApproval"], "Manual"),
            ("starting", Some(version)) => {
                words.next();
                spec.set(&["startingCSV"], format!("{package}.v{version}"));
            }
            ("as", Some(name)) => {
                words.next();
                object.metadata_mut().insert("name", name);
            }
            _ => return Err(format!("`{word}` is no word for a Subscription")),
        }
    }
    if !what.get("config").is_null() {
        spec.set(&["config"], what.get("config").clone());
    }
    object.set(&["spec"], spec);
    for (name, value) in what.get("annotations").entries() {
        object.set_annotation(name, value.str());
    }
    Ok(object)
}

fn source_name(text: &str) -> Result<SourceName, String> {
    let (namespace, name) =
        text.split_once('/').ok_or_else(|| format!("`{text}` is no `namespace/catalog`"))?;
    Ok(SourceName { namespace: namespace.to_owned(), name: name.to_owned() })
}

/// Reads what breaks for a reason, or is whole again with none.
fn hindrance(verb: &str, name: &str, reason: &str) -> Result<Step, String> {
    if verb.ends_with("-bundle") {
        let (catalog, bundle) = bundle_name(name)?;
        return Ok(Step::HinderBundle(catalog, bundle, reason.to_owned()));
    }
    Ok(Step::Hinder(source_name(name)?, reason.to_owned()))
}

/// Reads `namespace/catalog/bundle`.
fn bundle_name(text: &str) -> Result<(SourceName, String), String> {
    let (catalog, bundle) = text
        .rsplit_once('/')
        .ok_or_else(|| format!("`{text}` is no `namespace/catalog/bundle`"))?;
    Ok((source_name(catalog)?, bundle.to_owned()))
}

/// Reads `csv shop/etcd.v0.9.2` or `crd etcds.example.com`. A kind that nobody knows is written with its
/// group, as in `EtcdCluster.etcd.example.com shop/one`.
fn object_key(text: &str) -> Result<ObjectKey, String> {
    let (word, name) = text.split_once(' ').ok_or_else(|| format!("`{text}` is no `kind name`"))?;
    let kind = match word {
        "plan" => known::INSTALL_PLAN,
        _ => match kind_by_word(word) {
            Some(kind) => kind,
            None => {
                let (kind, group) =
                    word.split_once('.').ok_or_else(|| format!("`{word}` is no kind"))?;
                Kind::new(group, kind)
            }
        },
    };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    Ok(kind.key(namespace, name))
}

fn duration(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is no time such as `90s` or `5m`");
    let (digits, unit) = text.split_at(text.len().saturating_sub(1));
    let count: u64 = digits.parse().map_err(|_| fault())?;
    match unit {
        "s" => Ok(Duration::from_secs(count)),
        "m" => Ok(Duration::from_secs(count * 60)),
        "h" => Ok(Duration::from_secs(count * 3600)),
        _ => Err(fault()),
    }
}
