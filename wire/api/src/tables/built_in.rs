//! The columns of the kinds that Kubernetes has by itself.
//!
//! Kinds without a row here are shown with name and age, or as their CustomResourceDefinition says.

use operon_object::{
    Kind, Object, Timestamp,
    known::{
        CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT,
        EVENT, JOB, MUTATING_WEBHOOK_CONFIGURATION, NAMESPACE, POD, ROLE, ROLE_BINDING, SECRET,
        SERVICE, SERVICE_ACCOUNT, VALIDATING_WEBHOOK_CONFIGURATION,
    },
};

use super::{
    Cell, Column,
    age::age_of,
    cells::{self, binding, deployment, event, job, pod, service},
};

type Rule = fn(&Object, Timestamp) -> String;

/// A column: its name, and how its cells are made. A name in parentheses is shown in wide tables.
type Row = (&'static str, Rule);

/// Returns the columns of a kind that Kubernetes has by itself.
pub(super) fn columns(kind: &Kind) -> Option<Vec<Column>> {
    let (_, rows) = BUILT_IN.iter().find(|(kinds, _)| kinds.contains(kind))?;
    let column = |(name, rule): &Row| {
        let wide_name = name.strip_prefix('(').and_then(|name| name.strip_suffix(')'));
        Column {
            name: wide_name.unwrap_or(name).to_owned(),
            is_wide: wide_name.is_some(),
            cell: Cell::Rule(*rule),
        }
    };
    Some(rows.iter().map(column).collect())
}

const BUILT_IN: &[(&[Kind], &[Row])] = &[
    (&[NAMESPACE], &[NAME, ("STATUS", cells::phase), AGE]),
    (&[SERVICE_ACCOUNT], &[NAME, ("SECRETS", cells::secret_count), AGE]),
    (&[SECRET], &[NAME, ("TYPE", cells::secret_type), ("DATA", cells::data_count), AGE]),
    (&[CONFIG_MAP], &[NAME, ("DATA", cells::data_count), AGE]),
    (&[ROLE, CLUSTER_ROLE, CUSTOM_RESOURCE_DEFINITION], &[NAME, ("CREATED AT", cells::created_at)]),
    (
        &[ROLE_BINDING, CLUSTER_ROLE_BINDING],
        &[
            NAME,
            ("ROLE", binding::role),
            AGE,
            ("(USERS)", binding::users),
            ("(GROUPS)", binding::groups),
            ("(SERVICEACCOUNTS)", binding::service_accounts),
        ],
    ),
    (
        &[VALIDATING_WEBHOOK_CONFIGURATION, MUTATING_WEBHOOK_CONFIGURATION],
        &[NAME, ("WEBHOOKS", cells::webhook_count), AGE],
    ),
    (
        &[DEPLOYMENT],
        &[
            NAME,
            ("READY", deployment::ready),
            ("UP-TO-DATE", deployment::up_to_date),
            ("AVAILABLE", deployment::available),
            AGE,
            ("(CONTAINERS)", deployment::containers),
            ("(IMAGES)", deployment::images),
            ("(SELECTOR)", deployment::selector),
        ],
    ),
    (
        &[SERVICE],
        &[
            NAME,
            ("TYPE", service::service_type),
            ("CLUSTER-IP", service::cluster_ip),
            ("EXTERNAL-IP", service::external_ip),
            ("PORT(S)", service::ports),
            AGE,
            ("(SELECTOR)", service::selector),
        ],
    ),
    (
        &[POD],
        &[
            NAME,
            ("READY", pod::ready),
            ("STATUS", pod::status),
            ("RESTARTS", pod::restarts),
            AGE,
            ("(IP)", pod::address),
            ("(NODE)", pod::node),
        ],
    ),
    (
        &[JOB],
        &[
            NAME,
            ("STATUS", job::status),
            ("COMPLETIONS", job::completions),
            ("DURATION", job::duration),
            AGE,
        ],
    ),
    (
        &[EVENT],
        &[
            ("LAST SEEN", event::last_seen),
            ("TYPE", event::event_type),
            ("REASON", event::reason),
            ("OBJECT", event::object),
            ("MESSAGE", event::message),
            ("(FIRST SEEN)", event::first_seen),
            ("(COUNT)", event::count),
            ("(NAME)", NAME.1),
        ],
    ),
];

const NAME: Row = ("NAME", |object, _| object.name().to_owned());

const AGE: Row = ("AGE", age_of);
