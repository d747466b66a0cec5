//! The oldest version of the cluster that an operator runs on.

use operon_kinds::ServiceVersion;
use operon_version::Version;

use super::Requirement;
use crate::scene::Scene;

/// Looks at `minKubeVersion`, where there is one.
pub(super) fn requirement(scene: &Scene<'_>, operator: ServiceVersion<'_>) -> Option<Requirement> {
    let wanted = operator.object.spec().get("minKubeVersion").str();
    if wanted.is_empty() {
        return None;
    }
    let kind = ("operators.coreos.com", "v1alpha1", "ClusterServiceVersion");
    let requirement = |is_met| Requirement::new(kind, operator.name(), is_met);
    let server = scene.world.settings.kube_version.trim_start_matches('v');
    // Upstream: what a vendor adds behind a dash says nothing about the API.
    let server = server.split('-').next().unwrap_or_default();
    let Ok(running) = Version::parse(server) else {
        return Some(requirement(false).say("Server version parsing error"));
    };
    let Ok(minimum) = Version::parse(wanted.trim_start_matches('v')) else {
        return Some(requirement(false).say("CSV version parsing error"));
    };
    let met = running >= minimum;
    let message = if met {
        format!("CSV minKubeVersion ({wanted}) less than server version ({server})")
    } else {
        format!(
            "CSV version requirement not met: minKubeVersion ({wanted}) > server version ({server})"
        )
    };
    Some(requirement(met).say(message))
}
