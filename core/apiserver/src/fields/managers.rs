//! `metadata.managedFields`: who wrote which field.
//!
//! An entry belongs to a manager, its way of writing, and the part it wrote. Nothing else of an
//! object is looked at but the values that are compared.

use operon_object::{Object, Timestamp, Value, map, quote};

use super::{
    merge::{compare, field_set, merge, prune},
    set::{FieldSet, field_step},
    shape::Shape,
};
use crate::{ApiError, FieldTracking, Part, Reason};

/// Limits the entries of managers that update; the oldest become one entry, `ancient-changes`.
/// Upstream: the same number.
pub const UPDATE_MANAGERS_LIMIT: usize = 10;

const BEFORE_FIRST_APPLY: &str = "before-first-apply";
const ANCIENT_CHANGES: &str = "ancient-changes";

/// Fields that no manager owns, because the server alone writes them.
const SERVER_FIELDS: &[&str] = &[
    "name",
    "namespace",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "uid",
    "generation",
    "generateName",
    "managedFields",
    "resourceVersion",
];

/// Who writes, when, and what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer<'a> {
    /// The name that ownership is recorded under.
    pub(crate) manager: &'a str,
    /// The version that the writer speaks.
    pub(crate) api_version: &'a str,
    /// The part that is written.
    pub(crate) part: Part,
    /// When it is written.
    pub(crate) now: Timestamp,
}

/// What an applied configuration makes of an object.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The object with the configuration merged in.
    pub(crate) object: Object,
    /// The new `managedFields`.
    pub(crate) managed_fields: Value,
}

/// One entry of `managedFields`.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    manager: String,
    is_apply: bool,
    api_version: String,
    time: String,
    subresource: String,
    fields: FieldSet,
}

/// Returns the `managedFields` after a write that is no apply.
pub(crate) fn record_update(
    before: Option<&Object>,
    after: &Object,
    writer: Writer<'_>,
    shape: &Shape<'_>,
    tracking: FieldTracking,
) -> Value {
    let mut entries = before.map(read_entries).unwrap_or_default();
    let is_tracked = match (before, tracking) {
        (None, FieldTracking::Always) => true,
        (None, FieldTracking::FromFirstApply) => false,
        (Some(_), FieldTracking::Always | FieldTracking::FromFirstApply) => !entries.is_empty(),
    };
    if !is_tracked {
        return Value::Null;
    }
    let before = before.map_or(Value::Null, owned_part);
    update_entries(&mut entries, &before, &owned_part(after), writer, shape);
    cap_updaters(&mut entries);
    write_entries(entries)
}

/// Merges a configuration into an object, or says which fields others own.
pub(crate) fn apply(
    live: &Object,
    config: &Object,
    writer: Writer<'_>,
    force: bool,
    shape: &Shape<'_>,
) -> Result<Applied, ApiError> {
    let mut entries = read_entries(live);
    let live_value = owned_part(live);
    if entries.is_empty() && !live.uid().is_empty() {
        let earlier = Writer { manager: BEFORE_FIRST_APPLY, part: Part::Whole, ..writer };
        update_entries(&mut entries, &Value::Null, &live_value, earlier, shape);
    }
    let config = part_of(owned_part(config), writer.part);
    let fields = without_server_paths(field_set(&config, shape));
    let position = entries.iter().position(|entry| entry.is_of(writer, true));
    let last = position.map(|position| entries.remove(position));
    let mut kept = fields.clone();
    entries.iter().for_each(|entry| kept.union(&entry.fields));
    let merged = merge(&live_value, &config, shape);
    let merged = match &last {
        Some(last) => prune(&merged, &last.fields, &kept, shape),
        None => merged,
    };
    let difference = compare(&live_value, &merged, shape);
    let conflicts: Vec<(Entry, FieldSet)> = entries
        .iter()
        .map(|entry| (entry.clone(), entry.fields.intersection(&difference.changed)))
        .filter(|(_, fields)| !fields.is_empty())
        .collect();
    if !force && !conflicts.is_empty() {
        return Err(conflict_error(&conflicts));
    }
    for entry in &mut entries {
        entry.fields.subtract(&difference.changed);
        entry.fields.subtract(&difference.removed);
    }
    let is_same = last.as_ref().is_some_and(|last| last.fields == fields) && merged == live_value;
    let time = last.filter(|_| is_same).map_or(writer.now.to_string(), |last| last.time);
    entries.push(Entry::new(writer, true, time, fields));
    let object = with_owned_part(live, &merged);
    Ok(Applied { object, managed_fields: write_entries(entries) })
}

impl Entry {
    fn new(writer: Writer<'_>, is_apply: bool, time: String, fields: FieldSet) -> Self {
        let subresource = match writer.part {
            Part::Whole => "",
            Part::Status => "status",
        };
        Self {
            manager: writer.manager.to_owned(),
            is_apply,
            api_version: writer.api_version.to_owned(),
            time,
            subresource: subresource.to_owned(),
            fields,
        }
    }

    /// Tells whether it is the entry of a writer. Appliers have one, whatever version they speak.
    fn is_of(&self, writer: Writer<'_>, is_apply: bool) -> bool {
        let subresource = match writer.part {
            Part::Whole => "",
            Part::Status => "status",
        };
        self.manager == writer.manager
            && self.is_apply == is_apply
            && self.subresource == subresource
            && (is_apply || self.api_version == writer.api_version)
    }

    fn read(value: &Value) -> Self {
        let text = |name| value.get(name).str().to_owned();
        Self {
            manager: text("manager"),
            is_apply: value.get("operation").str() == "Apply",
            api_version: text("apiVersion"),
            time: text("time"),
            subresource: text("subresource"),
            fields: FieldSet::read(value.get("fieldsV1")),
        }
    }

    fn write(&self) -> Value {
        let mut value = map! {
            "manager" => self.manager.as_str(),
            "operation" => if self.is_apply { "Apply" } else { "Update" },
            "apiVersion" => self.api_version.as_str(),
            "time" => self.time.as_str(),
            "fieldsType" => "FieldsV1",
            "fieldsV1" => self.fields.write(),
        };
        if !self.subresource.is_empty() {
            value.set(&["subresource"], self.subresource.as_str());
        }
        value
    }

    fn rank(&self) -> (bool, [&str; 4]) {
        let Self { is_apply, time, manager, api_version, subresource, .. } = self;
        (!is_apply, [time, manager, api_version, subresource])
    }

    /// Shows the manager as messages do.
    fn shown(&self) -> String {
        let mut shown = quote(&self.manager);
        if !self.subresource.is_empty() {
            shown = format!("{shown} with subresource {}", quote(&self.subresource));
        }
        if !self.is_apply {
            shown = format!("{shown} using {}", self.api_version);
        }
        shown
    }
}

fn read_entries(object: &Object) -> Vec<Entry> {
    object.metadata("managedFields").elements().iter().map(Entry::read).collect()
}

/// Upstream: appliers come first, then by time.
fn write_entries(mut entries: Vec<Entry>) -> Value {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|left, right| left.rank().cmp(&right.rank()));
    if entries.is_empty() { Value::Null } else { Value::list(entries.iter().map(Entry::write)) }
}

fn update_entries(
    entries: &mut Vec<Entry>,
    before: &Value,
    after: &Value,
    writer: Writer<'_>,
    shape: &Shape<'_>,
) {
    let difference = compare(before, after, shape);
    for entry in entries.iter_mut() {
        let is_own = entry.is_of(writer, false);
        if !is_own {
            entry.fields.subtract(&difference.changed);
        }
        entry.fields.subtract(&difference.removed);
    }
    let changed = without_server_paths(difference.changed);
    if changed.is_empty() {
        return;
    }
    let time = writer.now.to_string();
    match entries.iter_mut().find(|entry| entry.is_of(writer, false)) {
        Some(entry) => {
            entry.fields.union(&changed);
            entry.time = time;
        }
        None => entries.push(Entry::new(writer, false, time, changed)),
    }
}

fn cap_updaters(entries: &mut Vec<Entry>) {
    loop {
        let mut oldest: Vec<usize> =
            (0..entries.len()).filter(|index| !entries[*index].is_apply).collect();
        if oldest.len() <= UPDATE_MANAGERS_LIMIT {
            return;
        }
        oldest.sort_by_key(|index| {
            let entry = &entries[*index];
            (entry.time.clone(), entry.manager.clone(), entry.api_version.clone())
        });
        let (first, second) = (oldest[0].min(oldest[1]), oldest[0].max(oldest[1]));
        let newer = entries.remove(second);
        let bucket = &mut entries[first];
        bucket.fields.union(&newer.fields);
        bucket.time = bucket.time.clone().max(newer.time);
        bucket.manager = ANCIENT_CHANGES.to_owned();
        bucket.subresource = String::new();
    }
}

fn conflict_error(conflicts: &[(Entry, FieldSet)]) -> ApiError {
    let mut by_manager: Vec<(String, Vec<String>)> =
        conflicts.iter().map(|(entry, fields)| (entry.shown(), fields.paths())).collect();
    by_manager.sort();
    let count: usize = by_manager.iter().map(|(_, paths)| paths.len()).sum();
    let message = match &by_manager[..] {
        [(manager, paths)] if paths.len() == 1 => {
            let path = paths.first().map(String::as_str).unwrap_or_default();
            format!("Apply failed with 1 conflict: conflict with {manager}: {path}")
        }
        several => {
            let lines = several.iter().flat_map(|(manager, paths)| {
                let paths = paths.iter().map(|path| format!("- {path}"));
                std::iter::once(format!("conflicts with {manager}:")).chain(paths)
            });
            let lines = lines.collect::<Vec<_>>().join("\n");
            format!("Apply failed with {count} conflicts: {lines}")
        }
    };
    ApiError::new(Reason::Conflict, message)
}

/// Returns an object without what no manager can own.
fn owned_part(object: &Object) -> Value {
    let mut value = object.value().clone();
    value.remove(&["apiVersion"]);
    value.remove(&["kind"]);
    for name in SERVER_FIELDS {
        value.remove(&["metadata", name]);
    }
    if value.get("metadata").is_empty() {
        value.remove(&["metadata"]);
    }
    value
}

/// Nobody owns an object as such, nor its metadata as such.
fn without_server_paths(mut fields: FieldSet) -> FieldSet {
    let mut unowned = FieldSet::here();
    unowned.place(field_step("metadata"), FieldSet::here());
    fields.subtract(&unowned);
    fields
}

fn part_of(mut value: Value, part: Part) -> Value {
    match part {
        Part::Whole => value,
        Part::Status => {
            value.make_map().retain(|name, _| name == "status");
            value
        }
    }
}

/// Puts the parts that managers own back into an object.
fn with_owned_part(object: &Object, owned: &Value) -> Object {
    let mut whole = object.clone();
    let metadata = whole.value().get("metadata").clone();
    let mut root = owned.clone();
    for name in ["apiVersion", "kind"] {
        root.set(&[name], object.value().get(name).clone());
    }
    for name in SERVER_FIELDS {
        if let Value::Map(map) = &metadata
            && map.contains(name)
        {
            root.set(&["metadata", name], map.get(name).clone());
        }
    }
    *whole.value_mut() = root;
    whole
}
