//! The one door: from a world to a verdict.

use std::collections::BTreeSet;

use operon_object::known;

use crate::{
    Verdict, World, catalog_sources, components, generations, groups, operator_conditions,
    outlook::Outlook, plans, rights, scene::Scene, service_versions, subscriptions,
};

/// What a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The whole cluster.
    Everything,
    /// These namespaces.
    Namespaces(BTreeSet<String>),
}

/// Decides what is to be done next, everywhere.
///
/// The same world gives the same verdict, and a world in which everything is as it should be gives
/// none: deciding until nothing is left to do always ends.
pub fn decide(world: &World<'_>) -> Verdict {
    decide_within(world, &Scope::Everything)
}

/// Decides what is to be done next in a part of the cluster.
pub fn decide_within(world: &World<'_>, scope: &Scope) -> Verdict {
    let mut verdict = Verdict::default();
    let namespaces = match scope {
        Scope::Everything => {
            let all = world.objects.all(&known::NAMESPACE).map(|namespace| namespace.name());
            // Namespaces that are gone may have left something behind.
            all.chain(world.objects.left_namespaces()).map(str::to_owned).collect()
        }
        Scope::Namespaces(names) => names.clone(),
    };
    for name in &namespaces {
        if let Some(namespace) = world.objects.get(&known::NAMESPACE, "", name) {
            groups::label_namespace(world, namespace, &mut verdict);
        }
        decide_namespace(world, name, &mut verdict);
    }
    verdict
}

fn decide_namespace(world: &World<'_>, namespace: &str, verdict: &mut Verdict) {
    let is_going = world
        .objects
        .get(&known::NAMESPACE, "", namespace)
        .is_some_and(|object| object.is_deleting());
    if is_going {
        // Nothing new may be made in it; its operators still have to be let go.
        service_versions::let_go(&Scene::new(world, namespace), verdict);
        return;
    }
    catalog_sources::decide(world, namespace, verdict);
    let scene = Scene::new(world, namespace);
    rights::clean_up(&scene, verdict);
    components::clean_up(&scene, verdict);
    if scene.is_empty() {
        return;
    }
    groups::decide(&scene, verdict);
    let outlook = Outlook::of(&scene);
    verdict.looks_elsewhere |= outlook.looks_elsewhere;
    verdict.steps += outlook.cost.steps;
    verdict.was_cut |= outlook.cost.was_cut;
    plans::decide(&scene, &outlook, verdict);
    service_versions::decide(&scene, verdict);
    operator_conditions::decide(&scene, verdict);
    rights::decide(&scene, verdict);
    components::decide(&scene, verdict);
    subscriptions::decide(&scene, &outlook, verdict);
    generations::decide(&scene, verdict);
}
