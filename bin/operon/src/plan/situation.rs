//! A namespace, what it sees and what it wants: gathered from the command line, ready to be asked.
//!
//! Everything is opened and named here once; what follows from it is decided by the resolution.

use std::{cell::RefCell, cmp::Reverse, collections::BTreeSet, path::Path, rc::Rc};

use anyhow::{anyhow, bail};
use operon_api::{
    Cluster, Manifests, NamespaceView, OperatorGroup, lower_service_version, lower_subscription,
};
use operon_catalog::{Catalog, GroupVersionKind, nearest};
use operon_image::OpenedCatalog;
use operon_resolve::{
    Budget, Content, Failure, Installed, Limits, Request, Resolution, Semantics, Source,
    SourceName, Universe,
};

use super::{
    arguments::{CatalogArgument, SituationArguments, is_object_name},
    directory::{self, Described},
    manifests, subscribe,
};
use crate::{
    catalog::open::CatalogPath,
    explanation::Told,
    output::{clean, stderr_line},
    semantics::SemanticsChoice,
};

/// The namespace that is planned when nothing says which.
const DEFAULT_NAMESPACE: &str = "operators";

/// A namespace, what it sees and what it wants.
pub(crate) struct Situation {
    pub(crate) namespace: String,
    /// The visible catalogs, in the order they are searched.
    pub(crate) catalogs: Vec<VisibleCatalog>,
    pub(crate) installed: Vec<Installed>,
    pub(crate) requests: Vec<Request>,
    /// The names of the requests that were made on the command line.
    pub(crate) subscribed: Vec<String>,
    /// What a person would do to make those requests true; empty when they are already.
    pub(crate) next: &'static str,
    /// What people should know about how the situation was gathered.
    pub(crate) remarks: Vec<String>,
    pub(crate) semantics: SemanticsChoice,
    fail_forward: bool,
    native_apis: Option<BTreeSet<GroupVersionKind>>,
}

/// A catalog that the namespace sees.
pub(crate) struct VisibleCatalog {
    pub(crate) name: SourceName,
    pub(crate) priority: i64,
    /// Where it was opened, as it was typed; empty when it was not.
    pub(crate) path: String,
    /// The catalog, or why it is not available.
    pub(crate) opened: Result<OpenedCatalog, String>,
}

/// What is asked: it may differ from the situation to find out what would be if.
#[derive(Clone)]
pub(crate) struct Question<'s> {
    pub(crate) universe: Universe<'s>,
    pub(crate) requests: Vec<Request>,
    pub(crate) semantics: Semantics,
    /// What all questions of a command may spend together: clones share it.
    pub(crate) budget: Rc<RefCell<Budget>>,
}

impl Question<'_> {
    /// Explains why a part has no answer, and looks for ways out.
    pub(crate) fn explain(&self, failure: &Failure) -> Told {
        let mut budget = self.budget.borrow_mut();
        Told::of(&self.universe, &self.requests, &self.semantics, &mut budget, failure)
    }

    pub(crate) fn resolve(&self) -> Resolution {
        let mut budget = self.budget.borrow_mut();
        operon_resolve::resolve(&self.universe, &self.requests, &self.semantics, &mut budget)
    }

    /// Returns the same question with a budget of its own.
    pub(crate) fn with_new_budget(&self) -> Self {
        let budget = Rc::new(RefCell::new(Budget::new(&Limits::default())));
        Self { budget, ..self.clone() }
    }

    /// Returns the catalog of this name, if it can be read.
    pub(crate) fn catalog(&self, name: &SourceName) -> Option<&Catalog> {
        self.universe.catalog(name)
    }

    pub(crate) fn request(&self, name: &str) -> Option<&Request> {
        self.requests.iter().find(|request| request.name == name)
    }

    pub(crate) fn installed(&self, name: &str) -> Option<&Installed> {
        self.universe.installed.iter().find(|installed| installed.name == name)
    }
}

impl VisibleCatalog {
    pub(crate) fn catalog(&self) -> Option<&Catalog> {
        self.opened.as_ref().ok().map(OpenedCatalog::catalog)
    }
}

impl Situation {
    /// Gathers what the command line describes.
    pub(crate) fn gather(arguments: &SituationArguments) -> anyhow::Result<Self> {
        let Described { manifests, catalogs: given, remarks: noted } = match arguments.living() {
            Some(cluster) => directory::read(&cluster, &arguments.fetching)?,
            None => Described {
                manifests: manifests::read(&arguments.cluster)?,
                catalogs: arguments.catalog.clone(),
                remarks: Vec::new(),
            },
        };
        let namespace = match &arguments.namespace {
            Some(namespace) => namespace.clone(),
            None => only_namespace(&manifests)?,
        };
        let global = arguments.global_namespace.as_str();
        let cluster = Cluster::new(manifests, &namespace);
        manifests::check(&cluster, &[&namespace, global])?;
        let view = cluster.view(&namespace, global);
        let mut remarks: Vec<String> = noted
            .into_iter()
            .filter(|(place, _)| *place == namespace)
            .map(|(_, remark)| remark)
            .collect();
        if let (Err(problem), true) = (&view.group, arguments.has_manifests()) {
            remarks.push(format!(
                "namespace {namespace} has {} OperatorGroups, and operators run only where there is \
                 exactly one",
                problem.found
            ));
        }
        let mut catalogs = visible_catalogs(arguments, &given, &namespace, &view, &mut remarks)?;
        leave_out(&mut catalogs, &arguments.without)?;
        let mut situation = Self {
            installed: view.service_versions.iter().map(|csv| lower_service_version(csv)).collect(),
            requests: view.subscriptions.iter().map(|wanted| lower_subscription(wanted)).collect(),
            fail_forward: view.fails_forward(),
            native_apis: cluster.native_apis.clone(),
            namespace,
            catalogs,
            subscribed: Vec::new(),
            next: "",
            remarks,
            semantics: arguments.semantics,
        };
        for wanted in &arguments.subscribe {
            subscribe::add(&mut situation, wanted)?;
        }
        Ok(situation)
    }

    /// Returns the question that the situation asks.
    pub(crate) fn question(&self) -> Question<'_> {
        let sources = self.catalogs.iter().map(|catalog| Source {
            name: catalog.name.clone(),
            priority: catalog.priority,
            content: match &catalog.opened {
                Ok(opened) => Content::Ready(opened.catalog()),
                Err(reason) => Content::Unavailable(reason.clone()),
            },
        });
        Question {
            universe: Universe {
                namespace: self.namespace.clone(),
                sources: sources.collect(),
                installed: self.installed.clone(),
                fail_forward: self.fail_forward,
                native_apis: self.native_apis.clone(),
            },
            requests: self.requests.clone(),
            semantics: self.semantics.semantics(),
            budget: Rc::new(RefCell::new(Budget::new(&Limits::default()))),
        }
    }

    /// Returns the name of a catalog as people call it: without the namespace where that is plain.
    pub(crate) fn short_name(&self, name: &SourceName) -> String {
        let same = self.catalogs.iter().filter(|catalog| catalog.name.name == name.name).count();
        if same > 1 { name.to_string() } else { name.name.clone() }
    }
}

/// Finds the visible catalog that a person names, as `NAME` or `NAMESPACE/NAME`.
pub(super) fn find_catalog(catalogs: &[VisibleCatalog], text: &str) -> anyhow::Result<usize> {
    let is_meant = |catalog: &VisibleCatalog| match text.split_once('/') {
        Some((namespace, name)) => catalog.name.namespace == namespace && catalog.name.name == name,
        None => catalog.name.name == text,
    };
    let mut found = (0..catalogs.len()).filter(|&position| is_meant(&catalogs[position]));
    match (found.next(), found.next()) {
        (Some(position), None) => Ok(position),
        (Some(_), Some(_)) => {
            Err(anyhow!("several catalogs are called `{text}`\nhint: write NAMESPACE/{text}"))
        }
        (None, _) => {
            let full: Vec<String> =
                catalogs.iter().map(|catalog| catalog.name.to_string()).collect();
            let short = catalogs.iter().map(|catalog| catalog.name.name.as_str());
            let near = nearest(text, short.chain(full.iter().map(String::as_str)));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("visible are `{}`", full.join("`, `")),
            };
            Err(anyhow!("no catalog `{text}` is visible\nhint: {hint}"))
        }
    }
}

/// Returns the namespace that the manifests are about.
fn only_namespace(manifests: &Manifests) -> anyhow::Result<String> {
    if let Some(namespace) = manifests.only_group_namespace() {
        return Ok(namespace.to_owned());
    }
    let groups = manifests.operator_groups.iter().map(|group| &group.object.metadata);
    let wanted = manifests.subscriptions.iter().map(|wanted| &wanted.object.metadata);
    let running = manifests.service_versions.iter().map(|csv| &csv.object);
    let running = running.filter(|csv| !csv.is_copied()).map(|csv| &csv.metadata);
    let mut namespaces: Vec<&str> = groups
        .chain(wanted)
        .chain(running)
        .map(|metadata| metadata.namespace.as_str())
        .filter(|namespace| !namespace.is_empty())
        .collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    match namespaces.as_slice() {
        [] => Ok(DEFAULT_NAMESPACE.to_owned()),
        [only] => Ok((*only).to_owned()),
        several => bail!(
            "the manifests are about several namespaces: `{}`\nhint: choose one with --namespace",
            clean(&several.join("`, `"))
        ),
    }
}

/// Brings the catalogs that were given together with those of the manifests, in the order they are
/// searched.
fn visible_catalogs(
    arguments: &SituationArguments,
    given: &[CatalogArgument],
    namespace: &str,
    view: &NamespaceView<'_>,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Vec<VisibleCatalog>> {
    let global = arguments.global_namespace.as_str();
    let mut given = open_catalogs(arguments, given)?;
    let mut catalogs = Vec::new();
    for source in &view.catalog_sources {
        let metadata = &source.metadata;
        let name =
            SourceName { namespace: metadata.namespace.clone(), name: metadata.name.clone() };
        let position = given.iter().position(|given| given.name == name);
        catalogs.push(match position {
            Some(position) => {
                VisibleCatalog { priority: source.priority, ..given.swap_remove(position) }
            }
            None => without_content(name, source.priority, arguments.living().is_some()),
        });
    }
    let hides_global = view.group.is_ok_and(OperatorGroup::exclude_global);
    for catalog in given {
        let name = &catalog.name;
        if name.namespace == namespace || (name.namespace == global && !hides_global) {
            catalogs.push(catalog);
        } else if name.namespace == global {
            remarks.push(format!(
                "catalog {name} is not visible in namespace {namespace}: its OperatorGroup hides \
                 the catalogs of {global}"
            ));
        } else {
            bail!(
                "catalog `{name}` is not visible in namespace `{namespace}`\nhint: visible are \
                 those of `{namespace}` and of the global namespace, `{global}`"
            );
        }
    }
    if catalogs.is_empty() && !arguments.has_manifests() {
        bail!("there is no catalog to choose from\nhint: give one with --catalog PATH");
    }
    catalogs.sort_by(|left, right| search_order(left, namespace, right));
    Ok(catalogs)
}

fn open_catalogs(
    arguments: &SituationArguments,
    given: &[CatalogArgument],
) -> anyhow::Result<Vec<VisibleCatalog>> {
    let mut opened: Vec<VisibleCatalog> = Vec::new();
    for argument in given {
        let name = name_of(argument, &arguments.global_namespace)?;
        if let Some(other) = opened.iter().find(|other| other.name == name) {
            bail!(
                "two catalogs would be called `{name}`: `{}` and `{}`\nhint: name one of them with \
                 --catalog NAME=PATH",
                other.path,
                argument.path.display()
            );
        }
        let path = argument.path.display().to_string();
        let fetching = arguments.fetching.clone();
        let content = CatalogPath { path: argument.path.clone(), fetching };
        // What is wrong with the catalogs of a directory is told by `operon up`.
        let content =
            if arguments.living().is_some() { content.open_quietly() } else { content.open() }?;
        opened.push(VisibleCatalog { name, priority: 0, path, opened: Ok(content) });
    }
    Ok(opened)
}

/// Names a catalog as it was said, or else after its directory or file.
fn name_of(argument: &CatalogArgument, global: &str) -> anyhow::Result<SourceName> {
    let namespace = argument.namespace.clone().unwrap_or_else(|| global.to_owned());
    if let Some(name) = &argument.name {
        return Ok(SourceName { namespace, name: name.clone() });
    }
    let path: &Path = &argument.path;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = if whole.is_dir() { whole.file_name() } else { whole.file_stem() };
    let name = stem.map(|stem| stem.to_string_lossy().to_lowercase().replace(['_', ' '], "-"));
    match name.filter(|name| is_object_name(name)) {
        Some(name) => Ok(SourceName { namespace, name }),
        None => bail!(
            "the catalog at `{0}` cannot be named after its path\nhint: --catalog NAME={0}",
            path.display()
        ),
    }
}

fn without_content(name: SourceName, priority: i64, is_embedded: bool) -> VisibleCatalog {
    let reason = if is_embedded {
        "its directory cannot be read".to_owned()
    } else {
        format!("give its content with --catalog {name}=PATH")
    };
    VisibleCatalog { name, priority, path: String::new(), opened: Err(reason) }
}

/// Orders catalogs as they are searched: by priority, then those of the namespace, then by name.
fn search_order(
    left: &VisibleCatalog,
    namespace: &str,
    right: &VisibleCatalog,
) -> std::cmp::Ordering {
    let key = |catalog: &VisibleCatalog| {
        let SourceName { namespace: place, name } = catalog.name.clone();
        (Reverse(catalog.priority), place != namespace, name, place)
    };
    key(left).cmp(&key(right))
}

fn leave_out(catalogs: &mut [VisibleCatalog], without: &[String]) -> anyhow::Result<()> {
    for text in without {
        let position = find_catalog(catalogs, text)?;
        catalogs[position].opened = Err("--without says so".to_owned());
    }
    if catalogs.iter().all(|catalog| catalog.opened.is_err()) {
        stderr_line!("warning: no catalog can be read, so nothing can be added or updated");
    }
    Ok(())
}
