//! What is asked of an operator in every phase, before its phase counts.
//!
//! All of it is about its OperatorGroup: whether there is exactly one, whether the operator can look
//! after the namespaces that the group targets, and whether its APIs clash with another group's.

use std::collections::BTreeSet;

use operon_kinds::{InstallMode, OperatorGroup, Phase, ServiceVersion, names};
use operon_object::{Object, known};

use super::change::Change;
use crate::{
    groups::{provided_names, target_namespaces},
    scene::Scene,
};

/// What the gates say.
#[derive(Debug)]
pub(super) enum Gate {
    /// The phase counts.
    Open,
    /// The operator cannot be looked at.
    Ignore,
    /// The operator fails, and its Deployments may have to go.
    Fail {
        /// What is said.
        change: Change,
        /// Whether its Deployments go.
        removes_deployments: bool,
    },
    /// The operator has to be changed first.
    Adjust(Object),
    /// Its APIs have to be put on its group's list first.
    List(BTreeSet<String>),
    /// Its APIs have to be taken off its group's list first.
    Unlist(BTreeSet<String>),
}

/// Asks what is asked of an operator in every phase.
pub(super) fn ask(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Gate {
    let crds = operator.owned_crds().iter().chain(operator.required_crds());
    if crds.into_iter().any(|crd| !crd.get("name").str().contains('.')) {
        return Gate::Ignore;
    }
    let fail = |reason, message: &str| Gate::Fail {
        change: Change::new(Phase::Failed, reason, message),
        removes_deployments: false,
    };
    let group = match scene.groups[..] {
        [] => return fail("NoOperatorGroup", "csv in namespace with no operatorgroups"),
        [group] => group,
        _ => {
            return fail(
                "TooManyOperatorGroups",
                "csv created in namespace with multiple operatorgroups, can't pick one automatically",
            );
        }
    };
    let targets = target_namespaces(scene.world, group);
    if let Some(annotated) = with_group(operator, group, &targets) {
        return Gate::Adjust(annotated);
    }
    if let Some((reason, message)) = targets_refuse(scene.namespace, operator, &targets) {
        return fail(reason, &message);
    }
    ask_about_apis(scene, operator, group)
}

/// Says why an operator cannot look after the namespaces that a group targets: one word, and a sentence.
pub(super) fn group_refusal(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    group: OperatorGroup<'_>,
) -> Option<(&'static str, String)> {
    let targets = target_namespaces(scene.world, group);
    targets_refuse(scene.namespace, operator, &targets)
}

fn targets_refuse(
    own: &str,
    operator: ServiceVersion<'_>,
    targets: &[String],
) -> Option<(&'static str, String)> {
    if targets.is_empty() {
        let message = "no targetNamespaces are matched operatorgroups namespace selection";
        return Some(("NoTargetNamespaces", message.to_owned()));
    }
    modes_refuse(own, operator, targets)
}

/// Returns the operator with the annotations that tell its group, if it has others.
fn with_group(
    operator: ServiceVersion<'_>,
    group: OperatorGroup<'_>,
    targets: &[String],
) -> Option<Object> {
    let wanted = group_annotations(group, targets);
    let has = |(name, value): &(&str, String)| operator.object.annotation(name) == Some(value);
    if wanted.iter().all(has) {
        return None;
    }
    let mut changed = operator.object.clone();
    for (name, value) in wanted {
        changed.set_annotation(name, &value);
    }
    Some(changed)
}

/// Returns the annotations that tell the group of an operator.
pub(super) fn group_annotations(
    group: OperatorGroup<'_>,
    targets: &[String],
) -> [(&'static str, String); 3] {
    [
        (names::OPERATOR_GROUP_ANNOTATION, group.name().to_owned()),
        (names::OPERATOR_NAMESPACE_ANNOTATION, group.object.namespace().to_owned()),
        (names::TARGET_NAMESPACES_ANNOTATION, targets.join(",")),
    ]
}

/// Says why the operator's install modes do not fit the targets.
fn modes_refuse(
    own: &str,
    operator: ServiceVersion<'_>,
    targets: &[String],
) -> Option<(&'static str, String)> {
    let mut seen = BTreeSet::new();
    if operator.install_modes().any(|(name, _)| !seen.insert(name)) {
        let modes = operator.install_modes();
        let listed: Vec<String> =
            modes.map(|(name, supported)| format!("{{{name} {supported}}}")).collect();
        let listed = listed.join(" ");
        let message = format!("InstallMode list contains duplicates, cannot make set: [{listed}]");
        return Some(("InvalidInstallModes", message));
    }
    let refused = |mode: InstallMode, what: &str| {
        let message = format!(
            "{} InstallModeType not supported, cannot configure to watch {what}",
            mode.text()
        );
        Some(("UnsupportedOperatorGroup", message))
    };
    let supports = |mode| operator.supports(mode);
    match targets {
        [all] if all.is_empty() => (!supports(InstallMode::AllNamespaces))
            .then(|| refused(InstallMode::AllNamespaces, "all namespaces"))
            .flatten(),
        [one] if one == own => (!supports(InstallMode::OwnNamespace))
            .then(|| refused(InstallMode::OwnNamespace, "own namespace"))
            .flatten(),
        [_] => (!supports(InstallMode::SingleNamespace))
            .then(|| refused(InstallMode::SingleNamespace, "one namespace"))
            .flatten(),
        several => {
            if several.iter().any(String::is_empty) {
                let message = "operatorgroup has invalid selected namespaces, NamespaceAll found when |selected namespaces| > 1";
                return Some(("UnsupportedOperatorGroup", message.to_owned()));
            }
            if several.iter().any(|name| name == own) && !supports(InstallMode::OwnNamespace) {
                return refused(InstallMode::OwnNamespace, "own namespace");
            }
            if !supports(InstallMode::MultiNamespace) {
                let count = format!("{} namespaces", several.len());
                return refused(InstallMode::MultiNamespace, &count);
            }
            None
        }
    }
}

/// Asks whether the operator's APIs are its group's, and nobody else's.
fn ask_about_apis(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
    group: OperatorGroup<'_>,
) -> Gate {
    let provided: BTreeSet<String> = provided_names(operator.object).collect();
    let listed: BTreeSet<String> = group.provided_apis().collect();
    let is_listed = provided.is_subset(&listed);
    if group.is_static() {
        if is_listed {
            return Gate::Open;
        }
        return Gate::Fail {
            change: Change::new(
                Phase::Failed,
                "CannotModifyStaticOperatorGroupProvidedAPIs",
                "static provided api operatorgroup cannot be modified by these apis",
            ),
            removes_deployments: operator.reason() != "InterOperatorGroupOwnerConflict",
        };
    }
    let clashes = clashes(scene, group, &provided);
    match (is_listed, clashes) {
        (true, false) => Gate::Open,
        (true, true) => Gate::Unlist(provided),
        (false, false) => Gate::List(provided),
        (false, true) => Gate::Fail {
            change: Change::new(
                Phase::Failed,
                "InterOperatorGroupOwnerConflict",
                "intersecting operatorgroups provide the same apis",
            ),
            removes_deployments: true,
        },
    }
}

/// Tells whether a group that targets some of the same namespaces provides some of the same APIs.
fn clashes(scene: &Scene<'_>, group: OperatorGroup<'_>, provided: &BTreeSet<String>) -> bool {
    if provided.is_empty() {
        return false;
    }
    let own = covered(group);
    let objects = scene.world.objects;
    let meets = |other: &Object| {
        let is_other = other.namespace() != scene.namespace && !other.is_deleting();
        is_other && OperatorGroup::read(other).provided_apis().any(|api| provided.contains(&api))
    };
    if own.contains("") {
        return objects.all(&known::OPERATOR_GROUP).any(meets);
    }
    let beside = own.iter().flat_map(|namespace| objects.groups_covering(namespace));
    beside.chain(objects.groups_covering("")).any(meets)
}

/// Returns the namespaces a group was last seen to target, with its own; one empty text for all.
fn covered(group: OperatorGroup<'_>) -> BTreeSet<&str> {
    let mut namespaces: BTreeSet<&str> = group.status_namespaces().into_iter().collect();
    if !namespaces.contains("") {
        namespaces.insert(group.object.namespace());
    }
    namespaces
}

#[cfg(test)]
mod tests {
    use operon_kinds::ServiceVersion;
    use operon_object::{Object, Value, map};

    use super::modes_refuse;

    /// Upstream's truth table: which modes are needed for which targets.
    #[test]
    fn install_modes_fit_targets_as_documented() {
        let claims: [(&[&str], &[&str], Option<&str>); 12] = [
            (&["AllNamespaces"], &[""], None),
            (
                &["OwnNamespace"],
                &[""],
                Some(
                    "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces",
                ),
            ),
            (&["OwnNamespace"], &["own"], None),
            (
                &["AllNamespaces"],
                &["own"],
                Some(
                    "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
                ),
            ),
            (
                &["SingleNamespace"],
                &["own"],
                Some(
                    "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
                ),
            ),
            (&["SingleNamespace"], &["other"], None),
            (
                &["OwnNamespace"],
                &["other"],
                Some(
                    "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace",
                ),
            ),
            (&["MultiNamespace"], &["a", "b"], None),
            (
                &["SingleNamespace"],
                &["a", "b"],
                Some(
                    "MultiNamespace InstallModeType not supported, cannot configure to watch 2 namespaces",
                ),
            ),
            (
                &["MultiNamespace"],
                &["a", "own"],
                Some(
                    "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
                ),
            ),
            (&["MultiNamespace", "OwnNamespace"], &["a", "own"], None),
            (
                &["MultiNamespace", "AllNamespaces"],
                &["", "a"],
                Some(
                    "operatorgroup has invalid selected namespaces, NamespaceAll found when |selected namespaces| > 1",
                ),
            ),
        ];
        for (modes, targets, expected) in claims {
            let modes = modes.iter().map(|mode| map! { "type" => *mode, "supported" => true });
            let got = refusal(Value::list(modes), targets);
            assert_eq!(got.as_deref(), expected, "{targets:?}");
        }
        let mode = map! { "type" => "OwnNamespace", "supported" => true };
        let twice = refusal(Value::list([mode.clone(), mode]), &["own"]);
        assert_eq!(
            twice.as_deref(),
            Some(
                "InstallMode list contains duplicates, cannot make set: [{OwnNamespace true} {OwnNamespace true}]"
            )
        );
    }

    fn refusal(modes: Value, targets: &[&str]) -> Option<String> {
        let mut object =
            Object::new("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "own", "a.v1");
        object.set(&["spec", "installModes"], modes);
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        modes_refuse("own", ServiceVersion::read(&object), &targets).map(|(_, message)| message)
    }
}
