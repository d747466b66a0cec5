//! `operon get`: objects of a cluster, as `kubectl get` shows them.

use std::{collections::BTreeSet, time::Duration};

use clap::{Args, ValueEnum};
use operon_api::{TableOptions, render_table, table_for, write_json_pretty, write_yaml};
use operon_driver::{Change, Cluster, Cursor};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, Value, list, map};

use crate::{
    cluster::{
        ClusterArguments, FoundKind, Kinds, NamespaceArguments, Reached, find_one, now, short_name,
    },
    exit::Outcome,
    output::{Rendered, clean, stderr_line},
};

/// How long a watcher waits for a change before it asks again.
const WAIT: Duration = Duration::from_secs(5);

/// Shows objects of the cluster
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  operon get subscriptions
  operon get csv,installplans -n harbour -o wide
  operon get sub beacon -o yaml --dir ./harbour
  operon get csv -w")]
pub(crate) struct Get {
    /// The kinds, with commas between them, such as `csv` or `deployments.apps`
    #[arg(value_name = "KIND[,KIND]")]
    kinds: String,
    /// The names; all objects where there is none
    name: Vec<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// All namespaces, which is the default
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// How to print them [default: a table]
    #[arg(short, long, value_enum)]
    output: Option<GetFormat>,
    /// Goes on printing objects as they change
    #[arg(short, long)]
    watch: bool,
    #[command(flatten)]
    cluster: ClusterArguments,
}

/// How objects are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GetFormat {
    /// A table with all columns
    Wide,
    /// Whole objects as YAML
    Yaml,
    /// Whole objects as JSON
    Json,
    /// Kinds and names
    Name,
}

pub(crate) fn run(command: &Get) -> anyhow::Result<Outcome> {
    let cluster = command.cluster.reach()?;
    let kinds = Kinds::of(&cluster)?;
    let words = command.kinds.split(',').filter(|word| !word.is_empty());
    let mut found = words.map(|word| kinds.find(word)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut seen = BTreeSet::new();
    found.retain(|found| seen.insert(found.kind.clone()));
    let interests = seen.into_iter().map(|kind| command.namespace.interest(kind)).collect();
    let listing = cluster.list(&interests)?;
    let printer = Printer { command, is_many: found.len() > 1 };
    let mut objects = Vec::new();
    for kind in &found {
        objects.extend(choose(&cluster, command, kind, &listing.objects)?);
    }
    let shown = objects.clone();
    printer.print_all(&found, objects)?;
    if !command.watch {
        return Ok(Outcome::Done);
    }
    if let (true, Some(directory)) = (cluster.is_idle(), cluster.directory()) {
        stderr_line!("hint: nothing changes here until operon up {}", directory.display());
        return Ok(Outcome::Done);
    }
    printer.watch(&cluster, &found, listing.cursor, shown)?;
    Ok(Outcome::Done)
}

fn choose(
    cluster: &Reached,
    command: &Get,
    kind: &FoundKind,
    listed: &[Object],
) -> anyhow::Result<Vec<Object>> {
    let of_kind = listed.iter().filter(|object| object.kind() == kind.kind);
    if command.name.is_empty() {
        return Ok(of_kind.cloned().collect());
    }
    let mut chosen = Vec::new();
    for name in &command.name {
        let named = of_kind.clone().filter(|object| object.name() == name);
        let before = chosen.len();
        chosen.extend(named.cloned());
        if chosen.len() == before {
            // It is not there: this says so, with the nearest name.
            let found = find_one(cluster, &kind.kind, name, &command.namespace, &|_| Vec::new());
            chosen.push(found?);
        }
    }
    Ok(chosen)
}

struct Printer<'c> {
    command: &'c Get,
    is_many: bool,
}

impl Printer<'_> {
    fn print_all(&self, kinds: &[FoundKind], objects: Vec<Object>) -> anyhow::Result<()> {
        let format = self.command.output;
        if objects.is_empty() && matches!(format, None | Some(GetFormat::Wide | GetFormat::Name)) {
            let place = match &self.command.namespace.namespace {
                Some(namespace) => format!(" in namespace `{namespace}`"),
                None => String::new(),
            };
            stderr_line!("nothing found{place}");
            return Ok(());
        }
        let rendered = match format {
            None | Some(GetFormat::Wide) => {
                let tables: Vec<String> = kinds
                    .iter()
                    .map(|kind| self.table(kind, &of_kind(kind, &objects)))
                    .filter(|table| !table.is_empty())
                    .collect();
                Rendered::Text(tables.join("\n"))
            }
            Some(GetFormat::Name) => {
                let names = objects.iter().map(|object| clean(&short_name(object)) + "\n");
                Rendered::Text(names.collect())
            }
            Some(format @ (GetFormat::Yaml | GetFormat::Json)) => {
                let is_one = !self.command.name.is_empty() && objects.len() == 1;
                let mut values: Vec<Value> = objects.into_iter().map(whole).collect();
                let value = if is_one { values.remove(0) } else { listed(values) };
                match format {
                    GetFormat::Json => Rendered::Json(write_json_pretty(&value)),
                    GetFormat::Yaml | GetFormat::Wide | GetFormat::Name => {
                        Rendered::Yaml(write_yaml(&value))
                    }
                }
            }
        };
        Ok(rendered.print()?)
    }

    fn table(&self, kind: &FoundKind, objects: &[Object]) -> String {
        if objects.is_empty() {
            return String::new();
        }
        let options = TableOptions {
            wide: self.command.output == Some(GetFormat::Wide),
            now: now(),
            with_namespace: objects.iter().any(|object| !object.namespace().is_empty())
                && self.command.namespace.namespace.is_none(),
            crd: kind.definition.as_ref(),
        };
        let mut table = table_for(&kind.kind, objects, options);
        if self.is_many {
            let names = objects.iter().map(short_name);
            let column = table.columns.iter().position(|column| column == "NAME");
            for (row, name) in table.rows.iter_mut().zip(names) {
                if let Some(cell) = column.and_then(|column| row.get_mut(column)) {
                    *cell = name;
                }
            }
        }
        render_table(&table)
    }

    /// Prints objects as they change, until nobody listens or the cluster is gone.
    fn watch(
        &self,
        cluster: &Reached,
        kinds: &[FoundKind],
        mut cursor: Cursor,
        mut shown: Vec<Object>,
    ) -> anyhow::Result<()> {
        let namespace = &self.command.namespace;
        let wanted = kinds.iter().map(|kind| namespace.interest(kind.kind.clone())).collect();
        loop {
            cluster.wait_for_change(&cursor, WAIT);
            let changes = match cluster.changes(&wanted, &cursor) {
                Ok(changes) => changes,
                Err(error) if error.kind == ErrorKind::Conflict => {
                    cursor = cluster.list(&wanted)?.cursor;
                    continue;
                }
                Err(error) if error.kind == ErrorKind::Unavailable => {
                    stderr_line!("operon up has ended");
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            cursor = changes.cursor;
            for change in changes.changes {
                let (object, is_gone) = match change {
                    Change::Is(object) => (object, false),
                    Change::Gone(object) => (object, true),
                };
                let is_named = self.command.name.is_empty()
                    || self.command.name.iter().any(|name| name == object.name());
                let Some(kind) = kinds.iter().find(|kind| kind.kind == object.kind()) else {
                    continue;
                };
                if is_named {
                    self.change(kind, &object, is_gone, &shown).print()?;
                    shown.retain(|other| other.key() != object.key());
                    shown.push(object);
                }
            }
        }
    }

    /// Prints an object that changed, below those that were shown before.
    fn change(
        &self,
        kind: &FoundKind,
        object: &Object,
        is_gone: bool,
        shown: &[Object],
    ) -> Rendered {
        match self.command.output {
            None | Some(GetFormat::Wide) if is_gone => {
                Rendered::Text(format!("{} is gone\n", clean(&short_name(object))))
            }
            None | Some(GetFormat::Wide) => {
                // Columns are as wide as those above, as far as that is known.
                let mut rows = of_kind(kind, shown);
                rows.push(object.clone());
                let text = self.table(kind, &rows);
                let lines: Vec<&str> = text.lines().collect();
                Rendered::Text(match lines[..] {
                    [header, only] => format!("{header}\n{only}\n"),
                    [.., last] => format!("{last}\n"),
                    [] => String::new(),
                })
            }
            Some(GetFormat::Name) => Rendered::Text(format!("{}\n", clean(&short_name(object)))),
            Some(GetFormat::Yaml) => {
                Rendered::Yaml(format!("---\n{}", write_yaml(&whole(object.clone()))))
            }
            Some(GetFormat::Json) => Rendered::Json(write_json_pretty(&whole(object.clone()))),
        }
    }
}

fn of_kind(kind: &FoundKind, objects: &[Object]) -> Vec<Object> {
    objects.iter().filter(|object| object.kind() == kind.kind).cloned().collect()
}

/// Returns the whole object but for who set which field, which nobody reads.
fn whole(mut object: Object) -> Value {
    object.metadata_mut().remove("managedFields");
    object.into_value()
}

fn listed(items: Vec<Value>) -> Value {
    map! {
        "apiVersion" => "v1",
        "kind" => "List",
        "metadata" => map! { "resourceVersion" => "" },
        "items" => if items.is_empty() { list![] } else { Value::from(items) },
    }
}
