//! The rights that an operator's accounts need.
//!
//! Roles that were made for the operator itself prove its rights by being there; only where one is
//! missing are all roles of the cluster looked at, as for an operator that was made by hand.

use operon_install::{
    AccountRbac, Authorizer, Permission, PolicyRule, RuleScope, Strategy, rbac_for, rule_text,
};
use operon_kinds::ServiceVersion;
use operon_object::{Object, Value, known, map};

use super::Requirement;
use crate::{covers::covers, scene::Scene};

/// Looks at the rights of every account, or says which rule makes no sense.
pub(super) fn requirements(
    scene: &Scene<'_>,
    operator: ServiceVersion<'_>,
) -> Result<Vec<Requirement>, String> {
    let strategy = Strategy::read(operator.object).map_err(|fault| fault.to_string())?;
    let accounts = rbac_for(operator.object, scene.namespace).map_err(|fault| fault.to_string())?;
    let rules = Rules { scene, strategy };
    accounts.iter().map(|account| rules.requirement(operator, account)).collect()
}

struct Rules<'s, 'w> {
    scene: &'s Scene<'w>,
    strategy: Strategy,
}

impl Rules<'_, '_> {
    fn requirement(
        &self,
        operator: ServiceVersion<'_>,
        account: &AccountRbac,
    ) -> Result<Requirement, String> {
        let scene = self.scene;
        let name = account.account.as_str();
        let requirement = |is_met| Requirement::new(("", "v1", "ServiceAccount"), name, is_met);
        let live = scene.world.objects.get(&known::SERVICE_ACCOUNT, scene.namespace, name);
        let Some(live) = live else {
            return Ok(requirement(false).say("Service account does not exist"));
        };
        if is_anothers(scene, live, operator) {
            return Ok(requirement(false)
                .with_status("PresentNotSatisfied")
                .say("Service account is owned by another ClusterServiceVersion"));
        }
        let is_proven = self.is_proven(account);
        let mut dependents = Vec::new();
        let mut is_met = true;
        let here = RuleScope::Namespace(scene.namespace);
        for (scope, permission) in self.permissions(name, here) {
            for rule in permission.rules().elements() {
                PolicyRule::read(rule).check().map_err(|fault| fault.to_string())?;
                let is_granted = is_proven || self.is_granted(name, scope, rule)?;
                is_met &= is_granted;
                let message = rule_text(scope, rule).map_err(|fault| fault.to_string())?;
                dependents.push(map! {
                    "group" => "rbac.authorization.k8s.io",
                    "version" => "v1",
                    "kind" => "PolicyRule",
                    "status" => if is_granted { "Satisfied" } else { "NotSatisfied" },
                    "message" => message,
                });
            }
        }
        let mut found = requirement(is_met);
        if !is_met {
            found = found
                .with_status("PresentNotSatisfied")
                .say("Policy rule not satisfied for service account");
        }
        found.dependents = dependents;
        Ok(found)
    }

    fn permissions<'p>(
        &'p self,
        account: &'p str,
        here: RuleScope<'p>,
    ) -> impl Iterator<Item = (RuleScope<'p>, &'p Permission)> {
        let Strategy { permissions, cluster_permissions, .. } = &self.strategy;
        let namespaced = permissions.iter().map(move |permission| (here, permission));
        let cluster = cluster_permissions.iter().map(|entry| (RuleScope::Cluster, entry));
        namespaced.chain(cluster).filter(move |(_, permission)| permission.account == account)
    }

    /// Tells whether all roles that an account should have are there as they should be.
    fn is_proven(&self, account: &AccountRbac) -> bool {
        let objects = self.scene.world.objects;
        let wanted = account
            .roles
            .iter()
            .chain(&account.role_bindings)
            .chain(&account.cluster_roles)
            .chain(&account.cluster_role_bindings);
        wanted.into_iter().all(|wanted| {
            let Some(live) = objects.find(&wanted.key()) else { return false };
            ["rules", "roleRef", "subjects"]
                .iter()
                .all(|field| covers(live.at(&[field]), wanted.at(&[field])))
        })
    }

    fn is_granted(
        &self,
        account: &str,
        scope: RuleScope<'_>,
        rule: &Value,
    ) -> Result<bool, String> {
        let Scene { world, namespace, authorizer, .. } = self.scene;
        let authorizer = authorizer.get_or_init(|| {
            let kinds = [
                known::ROLE,
                known::ROLE_BINDING,
                known::CLUSTER_ROLE,
                known::CLUSTER_ROLE_BINDING,
            ];
            let here = kinds.iter().take(2).flat_map(|kind| world.objects.within(kind, namespace));
            let everywhere = kinds.iter().skip(2).flat_map(|kind| world.objects.all(kind));
            Authorizer::new(here.chain(everywhere))
        });
        authorizer
            .covers(namespace, account, scope, &PolicyRule::read(rule))
            .map_err(|fault| fault.to_string())
    }
}

/// Tells whether an account belongs to other operators only; what else owns it does not matter.
fn is_anothers(scene: &Scene<'_>, account: &Object, operator: ServiceVersion<'_>) -> bool {
    let kind = known::CLUSTER_SERVICE_VERSION;
    let replaced = scene.replaced_by(operator.object);
    let owners: Vec<_> = account.owners().filter(|owner| owner.kind == kind.name()).collect();
    let is_own = owners.iter().any(|owner| {
        owner.uid == operator.object.uid()
            || owner.name == operator.name()
            || replaced.is_some_and(|replaced| owner.name == replaced.name())
    });
    !owners.is_empty() && !is_own
}
