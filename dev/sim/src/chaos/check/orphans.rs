//! Nothing is left of an operator that was uninstalled, but what belongs to its users.

use operon_kinds::names;
use operon_object::{Kind, Object, known};

use super::{super::people::FORGED, Objects, package_of, within};

/// Begins the label that says which package of which namespace an object belongs to.
const COMPONENT: &str = "operators.coreos.com/";

/// Looks at a cluster in which nothing is left to do.
pub(super) fn at_rest(objects: &Objects) -> Result<(), String> {
    for (key, object) in objects {
        // Whoever forges an object keeps it.
        if stays(&key.kind) || key.name == FORGED {
            continue;
        }
        if let Some(owner) = lost_owner(objects, object) {
            return Err(format!("{key} is left of {owner}"));
        }
        for (label, _) in object.labels() {
            let Some(component) = label.strip_prefix(COMPONENT) else { continue };
            let Some((package, namespace)) = component.split_once('.') else { continue };
            if !is_known(objects, package, namespace) {
                return Err(format!("{key} is left of package {package} in {namespace}"));
            }
        }
        if key.kind == known::OPERATOR {
            let Some((package, namespace)) = key.name.split_once('.') else { continue };
            let is_orphan =
                !is_known(objects, package, namespace) && components(objects, &key.name) == 0;
            if is_orphan && is_authority_known(objects, namespace) {
                return Err(format!("{key} stands for nothing"));
            }
        }
    }
    Ok(())
}

/// Tells whether objects of a kind outlive their operator.
fn stays(kind: &Kind) -> bool {
    let staying = [
        known::CUSTOM_RESOURCE_DEFINITION,
        known::INSTALL_PLAN,
        known::CONTROLLER_REVISION,
        known::EVENT,
    ];
    staying.contains(kind) || known::known_kind(kind).is_none()
}

/// Returns the owner that an object names and that is not there.
fn lost_owner(objects: &Objects, object: &Object) -> Option<String> {
    let (name, namespace) =
        (object.label(names::OWNER_LABEL), object.label(names::OWNER_NAMESPACE_LABEL));
    let kind = match object.label(names::OWNER_KIND_LABEL) {
        "ClusterServiceVersion" => known::CLUSTER_SERVICE_VERSION,
        "OperatorGroup" => known::OPERATOR_GROUP,
        _ => return None,
    };
    let key = kind.key(namespace, name);
    (!objects.contains_key(&key)).then(|| key.to_string())
}

/// Tells whether a package is installed, or asked for, in a namespace.
fn is_known(objects: &Objects, package: &str, namespace: &str) -> bool {
    let mut operators = within(objects, &known::CLUSTER_SERVICE_VERSION, namespace);
    let mut subscriptions = within(objects, &known::SUBSCRIPTION, namespace);
    operators.any(|operator| package_of(operator.name()) == package)
        || subscriptions.any(|subscription| subscription.spec().get("name").str() == package)
}

/// Returns `false` if OperatorGroups do not say on whose authority to write in a namespace: nothing may be
/// deleted there until they do.
fn is_authority_known(objects: &Objects, namespace: &str) -> bool {
    let groups: Vec<&Object> = within(objects, &known::OPERATOR_GROUP, namespace).collect();
    let accounts = groups.iter().map(|group| group.spec().get("serviceAccountName").str());
    let mut accounts = accounts.filter(|account| !account.is_empty()).peekable();
    accounts.peek().is_none()
        || groups.len() == 1
            && accounts
                .all(|name| objects.contains_key(&known::SERVICE_ACCOUNT.key(namespace, name)))
}

fn components(objects: &Objects, name: &str) -> usize {
    let label = format!("{COMPONENT}{name}");
    let has = |object: &&Object| object.labels().any(|(found, _)| found == label);
    objects.values().filter(has).count()
}
