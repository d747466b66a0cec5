//! One namespace of a snapshot: the catalogs it sees, hypothetical changes to it, and what the engine answers.
//!
//! Names given on the command line are looked up here once; what follows from them is the engine's answer.

use std::{
    cell::RefCell, cmp::Reverse, collections::BTreeMap, ops::Deref, path::Path, rc::Rc, sync::Arc,
};

use anyhow::{anyhow, bail};
use operon_catalog::{Catalog, nearest};
use operon_image::Location;
use operon_lifecycle::{
    CatalogState, Objects, World,
    views::{Forecast, carried_out, forecast, tree, visible_catalogs},
};
use operon_object::{Object, known};
use operon_resolve::{Budget, Failure, Installed, Limits, Request, Semantics, SourceName};

use super::{
    arguments::{CatalogArgument, SituationArguments, is_object_name},
    manifests,
    snapshot::{GivenCatalog, Snapshot, Taken},
    subscribe,
};
use crate::{
    catalog::open::CatalogPath, explanation::Told, output::stderr_line, semantics::SemanticsChoice,
};

/// A namespace and what it sees.
#[derive(Clone)]
pub(crate) struct Situation {
    pub(crate) namespace: String,
    /// The visible catalogs, in the order they are searched.
    pub(crate) catalogs: Vec<VisibleCatalog>,
    /// The Subscriptions that were changed or created on the command line.
    pub(crate) subscribed: Vec<String>,
    /// What a user would do to make those Subscriptions true; empty if they exist.
    pub(crate) next: &'static str,
    /// What users should know about how the situation was read.
    pub(crate) remarks: Vec<String>,
    pub(crate) semantics: SemanticsChoice,
    /// The options that make other commands look at the same cluster, with a blank before them; `None` if the
    /// situation was read from files.
    pub(crate) option: Option<String>,
    snapshot: Snapshot,
}

/// The situations of all namespaces that a command is about.
pub(super) struct Gathered {
    pub(super) situations: Vec<Situation>,
    /// What is wrong with the manifests of a directory.
    pub(super) problems: Vec<String>,
}

/// A catalog that the namespace sees.
#[derive(Clone)]
pub(crate) struct VisibleCatalog {
    pub(crate) name: SourceName,
    pub(crate) priority: i64,
    /// Where it was read from; empty if it was not.
    pub(crate) path: String,
    /// The catalog, or why it is not available.
    pub(crate) content: Result<Arc<Catalog>, String>,
    pub(crate) digest: String,
}

/// A forecast, and how to ask more about it.
pub(crate) struct Question<'s> {
    pub(crate) forecast: Forecast<'s>,
    pub(crate) semantics: Semantics,
    /// The budget that all questions of a command share.
    pub(crate) budget: Rc<RefCell<Budget>>,
}

impl<'s> Deref for Question<'s> {
    type Target = Forecast<'s>;

    fn deref(&self) -> &Forecast<'s> {
        &self.forecast
    }
}

impl Question<'_> {
    /// Explains why a part has no solution, and looks for ways out.
    pub(crate) fn explain(&self, failure: &Failure) -> Told {
        let mut budget = self.budget.borrow_mut();
        Told::of(&self.universe, &self.requests, &self.semantics, &mut budget, failure)
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
        self.content.as_deref().ok()
    }
}

impl Situation {
    /// Reads the one namespace that the command line describes.
    pub(crate) fn gather(arguments: &SituationArguments) -> anyhow::Result<Self> {
        let taken = Snapshot::take(arguments, None)?;
        for problem in &taken.problems {
            stderr_line!("warning: not applied: {problem}");
        }
        let namespace = match &arguments.namespace {
            Some(namespace) => namespace.clone(),
            None => manifests::only_namespace(&taken.snapshot.objects)?,
        };
        Self::new(arguments, &taken, namespace)
    }

    /// Reads every namespace that the command line describes.
    pub(super) fn gather_all(
        arguments: &SituationArguments,
        kube_version: Option<&str>,
    ) -> anyhow::Result<Gathered> {
        let taken = Snapshot::take(arguments, kube_version)?;
        let objects = &taken.snapshot.objects;
        let namespaces = match &arguments.namespace {
            Some(namespace) => {
                if arguments.living().is_some() {
                    check_namespace(objects, namespace)?;
                }
                vec![namespace.clone()]
            }
            None if arguments.living().is_none() || arguments.asks_what_if() => {
                vec![manifests::only_namespace(objects)?]
            }
            None => busy_namespaces(objects),
        };
        let situations = namespaces.into_iter().map(|name| Self::new(arguments, &taken, name));
        Ok(Gathered {
            situations: situations.collect::<anyhow::Result<_>>()?,
            problems: taken.problems,
        })
    }

    fn new(
        arguments: &SituationArguments,
        taken: &Taken,
        namespace: String,
    ) -> anyhow::Result<Self> {
        let mut situation = Self {
            namespace,
            catalogs: Vec::new(),
            subscribed: Vec::new(),
            next: "",
            remarks: Vec::new(),
            semantics: arguments.semantics,
            option: arguments.living().map(|cluster| cluster.option()),
            snapshot: taken.snapshot.clone(),
        };
        if let Some(manifests) = &taken.manifests {
            manifests.check(&[&situation.namespace, &arguments.global_namespace])?;
            situation.add_homeless(manifests);
        }
        situation.find_catalogs();
        if arguments.living().is_none() {
            situation.check_given_catalogs(arguments)?;
        }
        situation.leave_out(&arguments.without)?;
        for wanted in &arguments.subscribe {
            subscribe::add(&mut situation, wanted)?;
        }
        situation.snapshot.complete(&situation.namespace)?;
        Ok(situation)
    }

    /// Adds what manifests leave to the namespace: objects that name none, and the namespace itself.
    fn add_homeless(&mut self, manifests: &manifests::Manifests) {
        let objects = &mut self.snapshot.objects;
        manifests.homeless(&self.namespace).for_each(|object| objects.insert(object));
        if objects.get(&known::NAMESPACE, "", &self.namespace).is_none() {
            objects.insert(Object::new("v1", "Namespace", "", &self.namespace));
        }
        if manifests.is_empty() {
            // The question is about catalogs alone: nothing is known that plans could be checked against.
            self.snapshot.reads_contents = false;
            let name = &self.namespace;
            objects.insert(Object::new("operators.coreos.com/v1", "OperatorGroup", name, name));
        }
    }

    fn find_catalogs(&mut self) {
        let world = self.snapshot.world();
        let visible =
            visible_catalogs(&world, &self.namespace).into_iter().map(|(name, priority)| {
                let unread = CatalogState::default();
                let state = world.catalogs.get(&name).unwrap_or(&unread);
                let problem = match state.problem.as_str() {
                    "" => "it was not read yet".to_owned(),
                    problem => problem.to_owned(),
                };
                let (path, digest) = match &state.catalog {
                    Some(_) => (state.address.clone(), self.snapshot.digest(&name)),
                    None => (String::new(), String::new()),
                };
                let content = state.catalog.clone().ok_or(problem);
                VisibleCatalog { name, priority, path, content, digest }
            });
        let mut catalogs: Vec<VisibleCatalog> = visible.collect();
        catalogs.sort_by_cached_key(|catalog| {
            let SourceName { namespace, name } = catalog.name.clone();
            (Reverse(catalog.priority), namespace != self.namespace, name, namespace)
        });
        self.catalogs = catalogs;
    }

    /// Reports catalogs of the command line that the namespace does not see.
    fn check_given_catalogs(&mut self, arguments: &SituationArguments) -> anyhow::Result<()> {
        let (namespace, global) = (&self.namespace, &arguments.global_namespace);
        for argument in &arguments.catalog {
            let name = name_of(argument, global)?;
            if self.catalogs.iter().any(|catalog| catalog.name == name) {
                continue;
            }
            if name.namespace != *global {
                bail!(
                    "catalog `{name}` is not visible in namespace `{namespace}`\nhint: visible are \
                     those of `{namespace}` and of the global namespace, `{global}`"
                );
            }
            self.remarks.push(format!(
                "catalog {name} is not visible in namespace {namespace}: its OperatorGroup hides \
                 the catalogs of {global}"
            ));
        }
        if self.catalogs.is_empty() && !arguments.has_manifests() {
            bail!("no catalog is given\nhint: give one with --catalog PATH");
        }
        Ok(())
    }

    /// Makes catalogs unavailable.
    fn leave_out(&mut self, without: &[String]) -> anyhow::Result<()> {
        for text in without {
            let position = find_catalog(&self.catalogs, text)?;
            let problem = "--without says so".to_owned();
            let catalog = &mut self.catalogs[position];
            catalog.content = Err(problem.clone());
            let state = CatalogState { problem, ..CatalogState::default() };
            self.snapshot.catalogs.insert(catalog.name.clone(), state);
        }
        if self.catalogs.iter().all(|catalog| catalog.content.is_err()) {
            stderr_line!("warning: no catalog can be read, so nothing can be added or updated");
        }
        Ok(())
    }

    pub(crate) fn world(&self) -> World<'_> {
        self.snapshot.world()
    }

    /// Returns the objects, to be changed for a hypothetical question.
    pub(crate) fn objects_mut(&mut self) -> &mut Objects {
        &mut self.snapshot.objects
    }

    /// Asks the engine for the next state of the namespace.
    pub(crate) fn question<'s>(&'s self, world: &'s World<'s>) -> Question<'s> {
        Question {
            forecast: forecast(world, &self.namespace),
            semantics: self.semantics.semantics(),
            budget: Rc::new(RefCell::new(Budget::new(&Limits::default()))),
        }
    }

    /// Returns the situation after a forecast has come true.
    pub(crate) fn after(&self, forecast: &Forecast<'_>) -> Self {
        let objects = carried_out(&self.world(), &self.namespace, forecast);
        let mut after = self.clone();
        after.snapshot.objects = objects;
        after
    }

    /// Returns the name of a catalog as users call it: without the namespace where that is clear.
    pub(crate) fn short_name(&self, name: &SourceName) -> String {
        let same = self.catalogs.iter().filter(|catalog| catalog.name.name == name.name).count();
        if same > 1 { name.to_string() } else { name.name.clone() }
    }

    /// Returns the options of another command about this namespace, with a blank before them.
    pub(crate) fn options(&self) -> String {
        let option = self.option.as_deref().unwrap_or_default();
        format!(" -n {}{option}", self.namespace)
    }
}

/// Finds the visible catalog that a user names, as `NAME` or `NAMESPACE/NAME`.
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

/// Returns the namespaces that have Subscriptions or operators.
fn busy_namespaces(objects: &Objects) -> Vec<String> {
    let subscribed = objects.all(&known::SUBSCRIPTION).map(|object| object.namespace().to_owned());
    let running = tree(objects, None).into_iter().map(|node| node.namespace);
    let mut namespaces: Vec<String> = subscribed.chain(running).collect();
    namespaces.sort();
    namespaces.dedup();
    namespaces
}

fn check_namespace(objects: &Objects, wanted: &str) -> anyhow::Result<()> {
    if objects.get(&known::NAMESPACE, "", wanted).is_some() {
        return Ok(());
    }
    let names = objects.all(&known::NAMESPACE).map(Object::name);
    let hint = match nearest(wanted, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "operon get namespaces lists them".to_owned(),
    };
    bail!("namespace `{wanted}` not found\nhint: {hint}")
}

impl SituationArguments {
    /// Opens the catalogs of the command line.
    pub(super) fn open_catalogs(&self) -> anyhow::Result<BTreeMap<SourceName, GivenCatalog>> {
        let mut opened: BTreeMap<SourceName, GivenCatalog> = BTreeMap::new();
        for argument in &self.catalog {
            let name = name_of(argument, &self.global_namespace)?;
            if let Some(other) = opened.get(&name) {
                bail!(
                    "two catalogs would be called `{name}`: `{}` and `{}`\nhint: name one of them \
                     with --catalog NAME=PATH",
                    other.path,
                    argument.path.display()
                );
            }
            let path = argument.path.display().to_string();
            let is_local = matches!(Location::parse(&path), Ok(Location::Path(_)));
            let content =
                CatalogPath { path: argument.path.clone(), fetching: self.fetching.clone() };
            let given = GivenCatalog { path, opened: Arc::new(content.open()?), is_local };
            opened.insert(name, given);
        }
        Ok(opened)
    }
}

/// Names a catalog as the command line does, or else after its directory or file.
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
