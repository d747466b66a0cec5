//! What somebody may not read, told in one go: whoever asks for rights wants to ask once.

use std::collections::BTreeSet;

use operon_driver::{ClusterError, Interest, Part};
use operon_kube::KubeCluster;
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, known::known_kind};

/// The ClusterRole that a hint suggests.
const SUGGESTED_ROLE: &str = "operon-reader";

/// What the name of a ServiceAccount begins with where it is a user.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// Says of a refusal which of the rights that a look needs are missing; any other error stays as it is.
pub(super) fn told(
    cluster: &KubeCluster,
    error: ClusterError,
    interests: &BTreeSet<Interest>,
) -> ClusterError {
    if error.kind != ErrorKind::Forbidden {
        return error;
    }
    let places: BTreeSet<(&Kind, &str)> =
        interests.iter().map(|interest| (&interest.kind, place(interest))).collect();
    match missing(cluster, &places) {
        Ok(missing) if !missing.is_empty() => {
            let name = cluster.user_name().unwrap_or_default();
            ClusterError { kind: ErrorKind::Forbidden, message: message(&name, &missing) }
        }
        // Where the server does not say more, its refusal is what there is to say.
        _ => error,
    }
}

/// Returns the namespace that an interest stays in; nothing where it is about all of them.
fn place(interest: &Interest) -> &str {
    match &interest.part {
        Part::All => "",
        Part::Labelled { namespace, .. }
        | Part::Within { namespace }
        | Part::Named { namespace, .. } => namespace,
    }
}

fn missing<'p>(
    cluster: &KubeCluster,
    places: &BTreeSet<(&'p Kind, &'p str)>,
) -> Result<Vec<(&'p Kind, &'p str)>, ClusterError> {
    let mut missing = Vec::new();
    for (kind, namespace) in places {
        // What the server does not have is no question of rights.
        if cluster.serves(kind)? && !cluster.may("list", kind, namespace)? {
            missing.push((*kind, *namespace));
        }
    }
    Ok(missing)
}

fn message(name: &str, missing: &[(&Kind, &str)]) -> String {
    let namespaces: BTreeSet<&str> = missing.iter().map(|(_, namespace)| *namespace).collect();
    let mut lines = Vec::new();
    let mut hints = Vec::new();
    for namespace in namespaces {
        let here = missing.iter().filter(|(_, place)| *place == namespace);
        let resources: Vec<String> = here.map(|(kind, _)| resource(kind)).collect();
        let (place, option, flavour) = match namespace {
            "" => ("in the whole cluster".to_owned(), String::new(), "cluster"),
            _ => (format!("in namespace {namespace}"), format!(" -n {namespace}"), ""),
        };
        lines.push(format!("{place}: {}", resources.join(", ")));
        hints.push(format!(
            "kubectl create {flavour}role {SUGGESTED_ROLE} --verb=get,list,watch --resource={}{option}",
            resources.join(",")
        ));
        hints.push(format!(
            "kubectl create {flavour}rolebinding {SUGGESTED_ROLE} --{flavour}role={SUGGESTED_ROLE} {}{option}",
            subject(name)
        ));
    }
    let who = if name.is_empty() { String::new() } else { format!(", as `{name}`") };
    format!(
        "you may not list all that is looked at here{who}; what is missing {}\nhint: an administrator gives these rights: {}",
        lines.join("; "),
        hints.join(" && ")
    )
}

/// Returns the option of `kubectl create rolebinding` that names a user.
fn subject(name: &str) -> String {
    match name.strip_prefix(SERVICE_ACCOUNT) {
        Some(account) => format!("--serviceaccount={account}"),
        None if name.is_empty() => "--user=NAME".to_owned(),
        None => format!("--user={name}"),
    }
}

/// Returns a kind as rights name it, such as `subscriptions.operators.coreos.com`.
pub(crate) fn resource(kind: &Kind) -> String {
    let plural =
        known_kind(kind).map_or_else(|| kind.name().to_lowercase(), |k| k.plural.to_owned());
    match kind.group() {
        "" => plural,
        group => format!("{plural}.{group}"),
    }
}

#[cfg(test)]
mod tests {
    use operon_object::known;

    use super::*;

    #[test]
    fn missing_rights_are_told_with_what_gives_them() {
        let everywhere = [(&known::NAMESPACE, ""), (&known::SUBSCRIPTION, "")];
        assert_eq!(
            message("alice", &everywhere),
            "you may not list all that is looked at here, as `alice`; what is missing in the whole cluster: \
             namespaces, subscriptions.operators.coreos.com\n\
             hint: an administrator gives these rights: kubectl create clusterrole operon-reader \
             --verb=get,list,watch --resource=namespaces,subscriptions.operators.coreos.com && kubectl create \
             clusterrolebinding operon-reader --clusterrole=operon-reader --user=alice"
        );
        let here = [(&known::SUBSCRIPTION, "shop")];
        let text = message("system:serviceaccount:shop:robot", &here);
        assert!(text.contains("what is missing in namespace shop: subscriptions"), "{text}");
        assert!(
            text.ends_with(
                "&& kubectl create rolebinding operon-reader --role=operon-reader \
                 --serviceaccount=shop:robot -n shop"
            ),
            "{text}"
        );
    }
}
