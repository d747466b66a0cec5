//! Labels, annotations, finalizers and field managers: the contract with users' tools.
//!
//! Those that begin with `operon.dev` are ours; all others are upstream's, letter for letter.

pub use operon_install::{
    CA_HASH_ANNOTATION, COPIED_FROM_LABEL, DEPLOYMENT_HASH_LABEL,
    GROUP_LABEL_PREFIX as GROUP_UID_LABEL, MANAGED_LABEL, OWNER_KIND_LABEL, OWNER_LABEL,
    OWNER_NAMESPACE_LABEL,
};

/// Names the OperatorGroup of an operator.
pub const OPERATOR_GROUP_ANNOTATION: &str = "olm.operatorGroup";
/// Names the namespace in which an operator runs.
pub const OPERATOR_NAMESPACE_ANNOTATION: &str = "olm.operatorNamespace";
/// Lists the namespaces that an operator looks after.
pub const TARGET_NAMESPACES_ANNOTATION: &str = "olm.targetNamespaces";
/// Lists the APIs that the operators of a group provide.
pub const PROVIDED_APIS_ANNOTATION: &str = "olm.providedAPIs";
/// Carries the properties of the bundle that an operator comes from.
pub const PROPERTIES_ANNOTATION: &str = "operatorframework.io/properties";
/// Names the InstallPlan that made a Subscription for a dependency.
pub const GENERATED_BY_ANNOTATION: &str = "olm.generated-by";
/// Hides the catalogs of the global namespace.
pub const EXCLUDE_GLOBAL_ANNOTATION: &str =
    "olm.operatorframework.io/exclude-global-namespace-resolution";

/// Keeps a ClusterServiceVersion until what it owns outside its namespace is gone.
pub const CSV_FINALIZER: &str = "operators.coreos.com/csv-cleanup";

/// On a Subscription: the only version, or the range of versions, that it may move to.
pub const PIN_ANNOTATION: &str = "operon.dev/pin";
/// On a Subscription: nothing changes while it says `true`.
pub const PAUSE_ANNOTATION: &str = "operon.dev/pause";
/// On a Subscription: lets this operator fail forward whatever its OperatorGroup says.
pub const FAIL_FORWARD_ANNOTATION: &str = "operon.dev/fail-forward";
/// On a Subscription: the findings about CRDs that are accepted, by name, with commas between them.
pub const WAIVE_ANNOTATION: &str = "operon.dev/waive";
/// On a Subscription: it may move together with Subscriptions of other namespaces, where neither can go
/// first.
pub const JOINT_ANNOTATION: &str = "operon.dev/joint";
/// On an InstallPlan: the contents of the plans of other namespaces that it is carried out with.
pub const JOINT_PLANS_ANNOTATION: &str = "operon.dev/joint-plans";
/// On an InstallPlan: the hash of its content.
pub const CONTENT_ANNOTATION: &str = "operon.dev/content";
/// On an InstallPlan: which Subscription moves to which operator.
pub const TARGETS_ANNOTATION: &str = "operon.dev/targets";
/// On an InstallPlan: why it was made, for `operon history`.
pub const BECAUSE_ANNOTATION: &str = "operon.dev/because";
/// On an InstallPlan: a person said no.
pub const REJECTED_ANNOTATION: &str = "operon.dev/rejected";
/// On an InstallPlan: it rolls back from this operator to an earlier one.
pub const ROLLBACK_ANNOTATION: &str = "operon.dev/rollback";
/// On an object that exists: the package whose operator may take it over.
pub const ADOPT_ANNOTATION: &str = "operon.dev/adopt";
/// On an OperatorGroup: one plan for the whole namespace, as upstream does, where it says
/// `namespace`.
pub const PLAN_SCOPE_ANNOTATION: &str = "operon.dev/plan-scope";

/// On a CatalogSource: whether a pod serves it to others. Where nothing is said, there is one if
/// `spec.grpcPodConfig` says where or with what it should run.
pub const CATALOG_POD_ANNOTATION: &str = "operon.dev/catalog-pod";

/// On the Secret of a certificate: when it is to be made anew.
pub const ROTATE_ANNOTATION: &str = "operon.dev/rotate-at";

/// The property by which an author forbids to fail forward from a bundle.
pub const FAIL_FORWARD_PROPERTY: &str = "olm.failForward";

/// The field manager of everything Operon applies.
pub const FIELD_MANAGER: &str = "operon";
