//! What people may choose to do, and how often they do.

use operon_kinds::names;
use operon_object::{Kind, Object, Value, known, list, map};

use super::{FORGED, INSTALLER, People, account, annotation, catalog_source, group, is_home};
use crate::chaos::{
    deed::{Answer, Deed},
    packages::{api_of, names as names_of_packages},
};

/// What somebody may want to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Trade(Trade),
    Subscribe,
    AnswerPlan,
    DeletePlan,
    Subscription(Edit),
    Operator(Touch),
    DeletePart,
    EditDeployment,
    CustomResource,
    Possession,
    DeleteDefinition,
    Land(Land),
    Tenant(Tenant),
}

/// What a tenant may try in order to gain permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tenant {
    DeleteAccount,
    RestoreAccount,
    CreateOperator,
    EditPermissions,
    ForgeRole,
    ClaimApis,
    ChangeAccount,
}

/// What somebody may do with a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trade {
    Publish,
    Repair,
    Break,
    Remove,
}

/// What somebody may change about a Subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Approval,
    Channel,
    Pin,
    Unpin,
    Pause,
    FailForward,
    Delete,
}

/// What somebody may do to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touch {
    Delete,
    Uninstall,
    RollBack,
    Edit,
    Hold,
}

/// What somebody may do with namespaces and groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Land {
    NewNamespace,
    DeleteNamespace,
    SecondGroup,
    DeleteGroup,
    EditGroup,
    Label,
}

const WISHES: [(usize, Wish); 37] = [
    (22, Wish::Trade(Trade::Publish)),
    (3, Wish::Trade(Trade::Repair)),
    (5, Wish::Trade(Trade::Break)),
    (3, Wish::Trade(Trade::Remove)),
    (18, Wish::Subscribe),
    (18, Wish::AnswerPlan),
    (4, Wish::Subscription(Edit::Approval)),
    (4, Wish::Subscription(Edit::Channel)),
    (4, Wish::Subscription(Edit::Pin)),
    (5, Wish::Subscription(Edit::Unpin)),
    (4, Wish::Subscription(Edit::Pause)),
    (2, Wish::Subscription(Edit::FailForward)),
    (4, Wish::Subscription(Edit::Delete)),
    (4, Wish::Operator(Touch::Delete)),
    (6, Wish::Operator(Touch::Uninstall)),
    (8, Wish::Operator(Touch::RollBack)),
    (3, Wish::DeletePlan),
    (8, Wish::DeletePart),
    (3, Wish::EditDeployment),
    (2, Wish::Operator(Touch::Edit)),
    (2, Wish::Operator(Touch::Hold)),
    (6, Wish::CustomResource),
    (2, Wish::Possession),
    (2, Wish::DeleteDefinition),
    (2, Wish::Land(Land::NewNamespace)),
    (2, Wish::Land(Land::DeleteNamespace)),
    (3, Wish::Land(Land::SecondGroup)),
    (3, Wish::Land(Land::DeleteGroup)),
    (3, Wish::Land(Land::EditGroup)),
    (2, Wish::Land(Land::Label)),
    (3, Wish::Tenant(Tenant::DeleteAccount)),
    (4, Wish::Tenant(Tenant::RestoreAccount)),
    (2, Wish::Tenant(Tenant::CreateOperator)),
    (2, Wish::Tenant(Tenant::EditPermissions)),
    (2, Wish::Tenant(Tenant::ForgeRole)),
    (2, Wish::Tenant(Tenant::ClaimApis)),
    (3, Wish::Tenant(Tenant::ChangeAccount)),
];

/// How often somebody thinks again before nothing is done.
const SECOND_THOUGHTS: usize = 20;

impl People {
    /// Chooses what is done next, by what can be seen.
    pub(in crate::chaos) fn choose(&mut self, objects: &[Object]) -> Vec<Deed> {
        for _ in 0..SECOND_THOUGHTS {
            let Some(wish) = self.random.weighted(&WISHES) else { continue };
            let deeds = self.fulfil(wish, objects);
            if !deeds.is_empty() {
                return deeds;
            }
        }
        Vec::new()
    }

    fn fulfil(&mut self, wish: Wish, objects: &[Object]) -> Vec<Deed> {
        match wish {
            Wish::Trade(trade) => self.trade(trade, objects),
            Wish::Subscribe => self.subscribe(),
            Wish::AnswerPlan => self.look_at_plans(false, objects),
            Wish::DeletePlan => self.look_at_plans(true, objects),
            Wish::Subscription(edit) => self.edit_subscription(edit, objects),
            Wish::Operator(touch) => self.touch_operator(touch, objects),
            Wish::DeletePart => self.delete_part(objects),
            Wish::EditDeployment => {
                let found = self.any(objects, |object| object.kind() == known::DEPLOYMENT);
                let patch = map! { "spec" => map! { "replicas" => 3 } };
                found.map(|object| Deed::Patch(object.key(), patch)).into_iter().collect()
            }
            Wish::CustomResource => self.use_operator(objects),
            Wish::Possession => self.keep_something(),
            Wish::DeleteDefinition => {
                let found = self.any(objects, |object| {
                    object.kind() == known::CUSTOM_RESOURCE_DEFINITION
                        && object.name().ends_with(".example.com")
                });
                found.map(|object| Deed::Delete(object.key())).into_iter().collect()
            }
            Wish::Land(land) => self.settle_land(land, objects),
            Wish::Tenant(tenant) => self.try_to_gain(tenant, objects),
        }
    }

    fn any<'o>(
        &mut self,
        objects: &'o [Object],
        is_wanted: impl Fn(&Object) -> bool,
    ) -> Option<&'o Object> {
        let found: Vec<&Object> =
            objects.iter().filter(|object| is_wanted(object) && !object.is_deleting()).collect();
        self.random.pick(&found).copied()
    }

    fn trade(&mut self, trade: Trade, objects: &[Object]) -> Vec<Deed> {
        let index = self.random.below(self.shops.len());
        let random = &mut self.random;
        let shop = &mut self.shops[index];
        let source = shop.source.clone();
        match trade {
            Trade::Break => {
                shop.is_broken = !shop.is_broken;
                let reason = if shop.is_broken { "connection refused" } else { "" };
                vec![Deed::Hinder(source, reason)]
            }
            Trade::Remove => {
                let key = known::CATALOG_SOURCE.key(&source.namespace, &source.name);
                match objects.iter().any(|object| object.key() == key) {
                    true => vec![Deed::Delete(key)],
                    false => vec![Deed::Apply(catalog_source(&source))],
                }
            }
            Trade::Repair => {
                shop.repair(random);
                shop.is_broken = false;
                vec![Deed::Publish(source, Box::new(shop.publication()))]
            }
            Trade::Publish => {
                if !shop.publish_more(random) {
                    return Vec::new();
                }
                shop.is_broken = false;
                vec![Deed::Publish(source, Box::new(shop.publication()))]
            }
        }
    }

    fn look_at_plans(&mut self, is_deleting: bool, objects: &[Object]) -> Vec<Deed> {
        let found = self.any(objects, |object| {
            object.kind() == known::INSTALL_PLAN
                && (is_deleting || object.status().get("phase").str() == "RequiresApproval")
        });
        let Some(plan) = found else { return Vec::new() };
        let operators = plan.at(&["spec", "clusterServiceVersionNames"]);
        let operators = operators.iter_texts().map(str::to_owned).collect();
        let answer = match is_deleting {
            true => Answer::Delete,
            false if self.random.happens(120) => Answer::Reject,
            false => Answer::Approve,
        };
        vec![Deed::Plan(plan.namespace().to_owned(), operators, answer)]
    }

    fn edit_subscription(&mut self, edit: Edit, objects: &[Object]) -> Vec<Deed> {
        let is_pinned = |object: &Object| object.annotation(names::PIN_ANNOTATION).is_some();
        let found = self.any(objects, |object| {
            object.kind() == known::SUBSCRIPTION && (edit != Edit::Unpin || is_pinned(object))
        });
        let Some(subscription) = found else { return Vec::new() };
        let spec = subscription.spec();
        let toggle = |name: &str, value: &str| match subscription.annotation(name) {
            Some(_) => annotation(name, ""),
            None => annotation(name, value),
        };
        let patch = match edit {
            Edit::Approval => {
                let is_manual = spec.get("installPlanApproval").str() == "Manual";
                let approval = if is_manual { "Automatic" } else { "Manual" };
                map! { "spec" => map! { "installPlanApproval" => approval } }
            }
            Edit::Channel => {
                let is_fast = spec.get("channel").str() == "fast";
                map! { "spec" => map! { "channel" => if is_fast { "stable" } else { "fast" } } }
            }
            Edit::Pin => {
                let pins = ["1.1.0", "1.2.0", "<1.3.0", ">=1.0.0 <1.2.0", "latest"];
                toggle(names::PIN_ANNOTATION, self.random.pick(&pins).unwrap_or(&"1.1.0"))
            }
            Edit::Unpin => annotation(names::PIN_ANNOTATION, ""),
            Edit::Pause => toggle(names::PAUSE_ANNOTATION, "true"),
            Edit::FailForward => {
                let values = ["true", "false"];
                let value = self.random.pick(&values).unwrap_or(&"true");
                toggle(names::FAIL_FORWARD_ANNOTATION, value)
            }
            Edit::Delete => return vec![Deed::Delete(subscription.key())],
        };
        vec![Deed::Patch(subscription.key(), patch)]
    }

    fn touch_operator(&mut self, touch: Touch, objects: &[Object]) -> Vec<Deed> {
        // Only an operator that was upgraded can be rolled back.
        let is_upgraded = |object: &Object| !object.spec().get("replaces").str().is_empty();
        let found = self.any(objects, |object| {
            object.kind() == known::CLUSTER_SERVICE_VERSION
                && (touch != Touch::RollBack || is_upgraded(object))
        });
        let Some(operator) = found else { return Vec::new() };
        match touch {
            Touch::Delete => vec![Deed::Delete(operator.key())],
            Touch::Uninstall => vec![Deed::Uninstall(operator.key())],
            Touch::RollBack => {
                let to = self.random.happens(300).then(|| format!("1.{}.0", self.random.below(3)));
                vec![Deed::RollBack(operator.key(), to)]
            }
            Touch::Hold => {
                let key = known::OPERATOR_CONDITION.key(operator.namespace(), operator.name());
                let is_held = objects.iter().any(|object| {
                    object.key() == key && !object.at(&["spec", "overrides"]).is_empty()
                });
                let condition = map! {
                    "type" => "Upgradeable", "status" => "False", "reason" => "Busy",
                    "message" => "not now", "lastTransitionTime" => "2027-01-15T08:00:00Z",
                };
                let overrides = if is_held { Value::list([]) } else { list![condition] };
                vec![Deed::Patch(key, map! { "spec" => map! { "overrides" => overrides } })]
            }
            Touch::Edit => {
                let patch = map! { "spec" => map! { "description" => "edited by a person" } };
                vec![Deed::Patch(operator.key(), patch)]
            }
        }
    }

    fn delete_part(&mut self, objects: &[Object]) -> Vec<Deed> {
        let kinds = [
            known::ROLE,
            known::ROLE_BINDING,
            known::CLUSTER_ROLE,
            known::CLUSTER_ROLE_BINDING,
            known::SERVICE_ACCOUNT,
            known::DEPLOYMENT,
            known::SERVICE,
            known::SECRET,
            known::CONFIG_MAP,
            known::OPERATOR_CONDITION,
            known::OPERATOR,
            known::VALIDATING_WEBHOOK_CONFIGURATION,
        ];
        let Some(kind) = self.random.pick(&kinds).cloned() else { return Vec::new() };
        let found = self.any(objects, |object| object.kind() == kind);
        found.map(|object| Deed::Delete(object.key())).into_iter().collect()
    }

    /// Makes an object of a kind that an operator brought, or deletes one.
    fn use_operator(&mut self, objects: &[Object]) -> Vec<Deed> {
        let is_brought = |kind: &Kind| kind.group().ends_with(".example.com");
        if self.random.happens(300)
            && let Some(object) = self.any(objects, |object| is_brought(&object.kind()))
        {
            return vec![Deed::Delete(object.key())];
        }
        let found = self.any(objects, |object| {
            object.kind() == known::CUSTOM_RESOURCE_DEFINITION
                && object.name().ends_with(".example.com")
        });
        let Some(definition) = found else { return Vec::new() };
        let Some(namespace) = self.random.pick(&self.namespaces).cloned() else {
            return Vec::new();
        };
        let package = definition.spec().get("group").str().split('.').next().unwrap_or_default();
        let versions = definition.spec().get("versions").elements();
        let served = versions.iter().find(|version| version.get("served").as_bool() == Some(true));
        let version = served.map_or("v1", |version| version.get("name").str());
        let api = api_of(package, version);
        let name = format!("mine-{}", self.random.below(3));
        let api_version = format!("{}/{}", api.group, api.version);
        let mut object = Object::new(&api_version, &api.kind, &namespace, &name);
        object.set(&["spec", "size"], 3);
        vec![Deed::Apply(object)]
    }

    fn try_to_gain(&mut self, tenant: Tenant, objects: &[Object]) -> Vec<Deed> {
        let home = self.any(objects, is_home).map(|object| object.name().to_owned());
        let Some(home) = home else { return Vec::new() };
        let all =
            map! { "apiGroups" => list!["*"], "resources" => list!["*"], "verbs" => list!["*"] };
        let permission = |account: &str| {
            list![map! { "serviceAccountName" => account, "rules" => list![all.clone()] }]
        };
        let operator = self.any(objects, |object| object.kind() == known::CLUSTER_SERVICE_VERSION);
        match (tenant, operator) {
            (Tenant::DeleteAccount, _) => {
                vec![Deed::Delete(known::SERVICE_ACCOUNT.key(&home, INSTALLER))]
            }
            (Tenant::RestoreAccount, _) => vec![Deed::Apply(account(&home))],
            (Tenant::CreateOperator, _) => {
                let version = "operators.coreos.com/v1alpha1";
                let mut object =
                    Object::new(version, "ClusterServiceVersion", &home, "gain.v1.0.0");
                object.set_label(names::MANAGED_LABEL, "true");
                let modes = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
                let modes = modes.map(|mode| map! { "type" => mode, "supported" => true });
                let install = map! {
                    "deployments" => list![], "clusterPermissions" => permission("gain"),
                };
                let spec = map! {
                    "displayName" => "gain",
                    "version" => "1.0.0",
                    "installModes" => Value::list(modes),
                    "install" => map! { "strategy" => "deployment", "spec" => install },
                };
                object.set(&["spec"], spec);
                vec![Deed::Apply(object)]
            }
            (Tenant::EditPermissions, Some(operator)) => {
                let is_edited =
                    !operator.at(&["spec", "install", "spec", "clusterPermissions"]).is_empty();
                let wanted = if is_edited { Value::Null } else { permission("default") };
                let install = map! { "spec" => map! { "clusterPermissions" => wanted } };
                vec![Deed::Patch(operator.key(), map! { "spec" => map! { "install" => install } })]
            }
            (Tenant::ForgeRole, Some(operator)) => {
                let version = "rbac.authorization.k8s.io/v1";
                let mut role = Object::new(version, "Role", operator.namespace(), FORGED);
                operon_install::label_owner(&mut role, operator);
                role.set_label(names::MANAGED_LABEL, "true");
                role.set(&["rules"], list![all]);
                vec![Deed::Apply(role)]
            }
            (Tenant::ClaimApis, Some(operator)) => {
                let description = |name: &str, version: &str, kind: &str| map! { "name" => name, "version" => version, "kind" => kind };
                let path = ["spec", "customresourcedefinitions", "owned"];
                let own = operator.at(&path).elements().iter().cloned();
                let group =
                    description("operatorgroups.operators.coreos.com", "v1", "OperatorGroup");
                let owned = map! { "owned" => Value::list(own.chain([group])) };
                let definitions = map! { "customresourcedefinitions" => owned };
                vec![Deed::Patch(operator.key(), map! { "spec" => definitions })]
            }
            (Tenant::ChangeAccount, _) => {
                let found = self.any(objects, |object| object.kind() == known::OPERATOR_GROUP);
                let Some(group) = found else { return Vec::new() };
                let is_named = !group.spec().get("serviceAccountName").str().is_empty();
                let name = if is_named { Value::Null } else { Value::text(INSTALLER) };
                let spec = map! { "serviceAccountName" => name };
                vec![Deed::Patch(group.key(), map! { "spec" => spec })]
            }
            (Tenant::EditPermissions | Tenant::ForgeRole | Tenant::ClaimApis, None) => Vec::new(),
        }
    }

    fn keep_something(&mut self) -> Vec<Deed> {
        let Some(namespace) = self.random.pick(&self.namespaces).cloned() else {
            return Vec::new();
        };
        if self.random.happens(500) {
            return self.take_a_name(&namespace);
        }
        let kind = if self.random.happens(500) { "ConfigMap" } else { "Secret" };
        let name = format!("mine-{}", self.random.below(3));
        vec![Deed::Apply(Object::new("v1", kind, &namespace, &name))]
    }

    /// Makes an object under a name that an operator uses for its own, or will use; sometimes hands it over.
    fn take_a_name(&mut self, namespace: &str) -> Vec<Deed> {
        let package = names_of_packages(0, 8)[self.random.below(8)];
        let kinds = [
            ("v1", "ConfigMap", format!("{package}-settings")),
            ("v1", "ConfigMap", "shared-settings".to_owned()),
            ("v1", "ServiceAccount", format!("{package}-operator")),
            ("v1", "Service", format!("{package}-operator-service")),
            ("v1", "Secret", format!("{package}-operator-service-cert")),
            ("rbac.authorization.k8s.io/v1", "Role", format!("{package}.v1.0.0")),
        ];
        let Some((version, kind, name)) = self.random.pick(&kinds) else { return Vec::new() };
        let mut object = Object::new(version, kind, namespace, name);
        if self.random.happens(250) {
            object.set_annotation(names::ADOPT_ANNOTATION, package);
        }
        vec![Deed::Apply(object)]
    }

    fn settle_land(&mut self, land: Land, objects: &[Object]) -> Vec<Deed> {
        let home = self.any(objects, is_home).map(|object| object.name().to_owned());
        let group_here = self.any(objects, |object| object.kind() == known::OPERATOR_GROUP);
        match (land, home, group_here) {
            (Land::NewNamespace, ..) => {
                let Some(name) = self.random.pick(&self.namespaces).cloned() else {
                    return Vec::new();
                };
                let group = group(&name, &name, &mut self.random);
                vec![Deed::Apply(Object::new("v1", "Namespace", "", &name)), Deed::Apply(group)]
            }
            (Land::DeleteNamespace, Some(home), _) => {
                vec![Deed::Delete(known::NAMESPACE.key("", &home))]
            }
            (Land::SecondGroup, Some(home), _) => {
                vec![Deed::Apply(group(&home, "second", &mut self.random))]
            }
            (Land::DeleteGroup, _, Some(group)) => vec![Deed::Delete(group.key())],
            (Land::EditGroup, _, Some(found)) => {
                let fresh = group(found.namespace(), found.name(), &mut self.random);
                // What the fresh group does not say is taken away.
                let names = ["targetNamespaces", "selector", "upgradeStrategy"];
                let spec = Value::map(names.map(|name| (name, fresh.spec().get(name).clone())));
                vec![Deed::Patch(found.key(), map! { "spec" => spec })]
            }
            (Land::Label, Some(home), _) => {
                let Some(team) = self.random.pick(&self.namespaces).cloned() else {
                    return Vec::new();
                };
                let labels = map! { "labels" => map! { "team" => team } };
                vec![Deed::Patch(known::NAMESPACE.key("", &home), map! { "metadata" => labels })]
            }
            (
                Land::DeleteNamespace
                | Land::SecondGroup
                | Land::DeleteGroup
                | Land::EditGroup
                | Land::Label,
                ..,
            ) => Vec::new(),
        }
    }
}
