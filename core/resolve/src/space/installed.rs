//! The installed operators that count, what they say about themselves, and which request each
//! belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use operon_constraint::{GroupVersionKind, PropertiesDigest, Property, stated_packages};
use operon_version::Version;

use super::sources::ReadySource;
use crate::resolution::{Notice, NoticeKind};
use crate::semantics::Semantics;
use crate::universe::{Installed, InstalledProperties, Request, Universe};

/// An installed operator that counts.
#[derive(Debug)]
pub(crate) struct InstalledOperator<'u> {
    pub(crate) installed: &'u Installed,
    pub(crate) properties: Vec<Property>,
    /// Types and JSON texts of the properties.
    pub(super) texts: Vec<(String, String)>,
    /// The digest of the texts, for answers of rules that are kept.
    pub(super) digest: OnceLock<PropertiesDigest>,
    /// Types and JSON texts of the properties that state needs.
    pub(super) needs: Vec<(String, String)>,
    /// The package it says it is of; may be empty.
    pub(crate) package: String,
    /// The request it belongs to; none for a freestanding one.
    pub(crate) request: Option<usize>,
    /// Whether it must stay as it is for now: it is still replacing another one.
    pub(super) held: bool,
}

/// The installed operators and how they belong to requests.
pub(super) struct Attribution<'u> {
    pub(super) installed: Vec<InstalledOperator<'u>>,
    pub(super) currents: Vec<Option<usize>>,
    pub(super) notices: Vec<Notice>,
}

/// Finds out which installed operators count and which request each belongs to.
pub(super) fn attribute<'u>(
    universe: &'u Universe<'u>,
    requests: &[&'u Request],
    sources: &[ReadySource<'u>],
    semantics: Semantics,
) -> Result<Attribution<'u>, String> {
    let mut all: Vec<&Installed> = universe.installed.iter().collect();
    all.sort_by(|left, right| left.name.cmp(&right.name));
    all.dedup_by(|second, first| second.name == first.name);
    let mut notices = Vec::new();
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, request) in requests.iter().enumerate() {
        if !request.installed_csv.is_empty() {
            owners.insert(&request.installed_csv, number);
        }
    }
    let mut held = BTreeSet::new();
    if semantics.release_replaced {
        let replacement = Replacements::new(&all);
        release_replaced(&mut all, &replacement, &mut owners, &mut held, universe, &mut notices);
    } else if universe.fail_forward {
        all = upstream_fail_forward(&all, universe)?;
    }
    let mut installed = Vec::with_capacity(all.len());
    for operator in all {
        let request = owners.get(operator.name.as_str()).copied();
        let held = held.contains(operator.name.as_str());
        installed.push(describe(operator, request, held, requests, semantics, &mut notices)?);
    }
    let mut currents = vec![None; requests.len()];
    for (number, request) in requests.iter().enumerate() {
        // Upstream: every request that names an operator has it as its current one, although the
        // operator belongs to the last of them.
        let named =
            installed.iter().position(|operator| operator.installed.name == request.installed_csv);
        currents[number] =
            installed.iter().position(|operator| operator.request == Some(number)).or(named);
    }
    if semantics.adopt_freestanding {
        super::adopt::adopt(&mut installed, &mut currents, requests, sources, &mut notices);
    }
    Ok(Attribution { installed, currents, notices })
}

/// Which installed operator replaces which.
struct Replacements<'u> {
    by_replaced: BTreeMap<&'u str, &'u Installed>,
}

impl<'u> Replacements<'u> {
    fn new(all: &[&'u Installed]) -> Self {
        let replacing = all.iter().filter(|operator| !operator.replaces.is_empty());
        let by_replaced =
            replacing.map(|operator| (operator.replaces.as_str(), *operator)).collect();
        Self { by_replaced }
    }

    fn of(&self, name: &str) -> Option<&'u Installed> {
        self.by_replaced.get(name).copied().filter(|next| next.name != name)
    }
}

/// Leaves out operators that another installed one replaces, and moves their requests along.
fn release_replaced<'u>(
    all: &mut Vec<&'u Installed>,
    replacements: &Replacements<'u>,
    owners: &mut BTreeMap<&'u str, usize>,
    held: &mut BTreeSet<&'u str>,
    universe: &Universe<'_>,
    notices: &mut Vec<Notice>,
) {
    let names: BTreeSet<&str> = all.iter().map(|operator| operator.name.as_str()).collect();
    let mut released: BTreeMap<&str, &str> = BTreeMap::new();
    for operator in all.iter() {
        let Some(next) = replacements.of(&operator.name) else { continue };
        // Two that replace each other tell nothing about which of them goes.
        let circular = chain_returns(operator, replacements, names.len());
        let both_requested =
            owners.contains_key(operator.name.as_str()) && owners.contains_key(next.name.as_str());
        if !circular && !both_requested {
            released.insert(&operator.name, &next.name);
        }
    }
    for (&old, &new) in &released {
        if let Some(request) = owners.remove(old) {
            let mut last = new;
            while let Some(next) = released.get(last) {
                last = next;
            }
            owners.entry(last).or_insert(request);
        }
        notices.push(Notice {
            request: String::new(),
            kind: NoticeKind::BeingReplaced,
            text: format!("{old} is being replaced by {new}, so it does not count"),
        });
    }
    for operator in all.iter() {
        let replaces_someone = released.values().any(|new| *new == operator.name);
        let moves_on = universe.fail_forward && operator.phase == "Failed";
        if replaces_someone && !moves_on && !released.contains_key(operator.name.as_str()) {
            held.insert(operator.name.as_str());
        }
    }
    all.retain(|operator| !released.contains_key(operator.name.as_str()));
}

fn chain_returns(start: &Installed, replacements: &Replacements<'_>, limit: usize) -> bool {
    let mut current = replacements.of(&start.name);
    for _ in 0..=limit {
        match current {
            None => return false,
            Some(operator) if operator.name == start.name => return true,
            Some(operator) => current = replacements.of(&operator.name),
        }
    }
    true
}

/// Upstream: with fail-forward, operators in phase `Replacing` whose chain of replacements ends in a
/// failed one are left out, and a chain with an operator in another phase is an error.
fn upstream_fail_forward<'u>(
    all: &[&'u Installed],
    universe: &Universe<'_>,
) -> Result<Vec<&'u Installed>, String> {
    let replacements = Replacements::new(all);
    let namespace = &universe.namespace;
    let failure = |text: String| format!("error using catalogsource {namespace}/@existing: {text}");
    let mut counting = Vec::new();
    for operator in all {
        let mut seen = BTreeSet::new();
        let mut last: &Installed = operator;
        while let Some(next) = replacements.by_replaced.get(last.name.as_str()) {
            if last.phase != "Replacing" {
                let (name, phase) = (&last.name, &last.phase);
                let text = format!("csv {namespace}/{name} in phase {phase} instead of Replacing");
                return Err(failure(text));
            }
            if !seen.insert(last.name.as_str()) {
                return Err(failure(format!(
                    "csv {namespace}/{} has already been seen",
                    last.name
                )));
            }
            last = next;
        }
        if !(operator.phase == "Replacing" && last.phase == "Failed") {
            counting.push(*operator);
        }
    }
    Ok(counting)
}

fn describe<'u>(
    installed: &'u Installed,
    request: Option<usize>,
    held: bool,
    requests: &[&Request],
    semantics: Semantics,
    notices: &mut Vec<Notice>,
) -> Result<InstalledOperator<'u>, String> {
    let mut texts = Vec::new();
    let mut held = held;
    match &installed.properties {
        InstalledProperties::Annotated(properties) => texts.clone_from(properties),
        InstalledProperties::Derived { owned, required } => {
            texts.extend(sorted(owned).map(|api| ("olm.gvk".to_owned(), api_json(api))));
            texts
                .extend(sorted(required).map(|api| ("olm.gvk.required".to_owned(), api_json(api))));
            texts.extend(inferred_package(installed, requests));
        }
        InstalledProperties::Unreadable(reason) => {
            if semantics.failures == crate::semantics::FailureScope::Namespace {
                return Err(reason.clone());
            }
            held = true;
            notices.push(Notice {
                request: request.map(|number| requests[number].name.clone()).unwrap_or_default(),
                kind: NoticeKind::Unreadable,
                text: format!(
                    "{} is kept as it is, because what it says about itself cannot be read: {reason}",
                    installed.name
                ),
            });
        }
    }
    let properties: Vec<Property> =
        texts.iter().map(|(kind, value)| Property::from_text(kind, value)).collect();
    let package = stated_packages(&properties).last().map(|[name, _]| name.to_owned());
    let needs = texts
        .iter()
        .filter(|(kind, _)| super::needs::states_a_need(kind) || kind == super::needs::DEPRECATED)
        .cloned()
        .collect();
    Ok(InstalledOperator {
        installed,
        texts,
        digest: OnceLock::new(),
        package: package.unwrap_or_default(),
        properties,
        needs,
        request,
        held,
    })
}

fn sorted(apis: &[GroupVersionKind]) -> impl Iterator<Item = &GroupVersionKind> {
    let mut list: Vec<&GroupVersionKind> = apis.iter().collect();
    list.sort();
    list.into_iter()
}

fn api_json(api: &GroupVersionKind) -> String {
    let [group, kind, version] = [&api.group, &api.kind, &api.version].map(|text| json_text(text));
    format!("{{\"group\":{group},\"kind\":{kind},\"version\":{version}}}")
}

/// Writes a text as a JSON string.
fn json_text(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            control if (control as u32) < 0x20 => {
                json.push_str(&format!("\\u{:04x}", control as u32));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

/// An operator without an annotation belongs to the package that its requests agree on.
fn inferred_package(installed: &Installed, requests: &[&Request]) -> Option<(String, String)> {
    let mut packages = requests
        .iter()
        .filter(|request| request.installed_csv == installed.name && !request.package.is_empty())
        .map(|request| &request.package);
    let package = packages.next()?;
    if packages.any(|other| other != package) {
        return None;
    }
    let version =
        if is_zero(&installed.version) { String::new() } else { installed.version.to_string() };
    let (name, version) = (json_text(package), json_text(&version));
    Some(("olm.package".to_owned(), format!("{{\"packageName\":{name},\"version\":{version}}}")))
}

fn is_zero(version: &Version) -> bool {
    [version.major(), version.minor(), version.patch()] == [0; 3] && !version.has_prerelease()
}
