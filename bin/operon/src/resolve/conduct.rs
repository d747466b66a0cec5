//! From a case to its answer: gather, open, resolve, work out the steps.
//!
//! What stops a case in one dialect and is only told in the other is decided here; everything else
//! is decided in the rooms below.

use std::{collections::BTreeSet, time::Instant};

use operon_api::{
    CatalogSource, Cluster, ManifestRule, ManifestSeverity, NamespaceView, lower_service_version,
    lower_subscription,
};
use operon_catalog::GroupVersionKind;
use operon_resolve::{
    Answer, Budget, Content, Failure, Limits, Part, Request, Resolution, Source, Universe, resolve,
    steps, upstream_texts,
};

use super::{
    answer::{Answered, PartAnswer, StepsToTake, Told, Verdict, notice_name},
    case::Case,
    catalogs::{Catalogs, source_name},
};
use crate::{explanation, fetching::FetchOptions, semantics::SemanticsChoice};

/// How cases are answered.
#[derive(Debug, Clone)]
pub(super) struct Conduct {
    pub(super) semantics: SemanticsChoice,
    /// How catalogs are brought here.
    pub(super) fetching: FetchOptions,
    /// Whether catalogs that a case does not have are brought, too.
    pub(super) fetches: bool,
    /// Whether failures are explained to people, which means resolving again many times.
    pub(super) explains: bool,
}

impl Conduct {
    /// Answers a case.
    pub(super) fn answer(&self, case: Case) -> Answered {
        let mut answered = Answered { id: case.id.clone(), ..Answered::default() };
        if let Err((outcome, error)) = self.fill(case, &mut answered) {
            answered.outcome = outcome;
            answered.error = error;
        }
        answered
    }

    /// Fills in the answer, unless something stops the case.
    fn fill(&self, case: Case, answered: &mut Answered) -> Result<(), (Verdict, String)> {
        let error = |text: String| (Verdict::Error, text);
        let namespace = namespace_of(&case).map_err(error)?;
        answered.namespace.clone_from(&namespace);
        let cluster = Cluster::new(case.manifests, &namespace);
        let global_catalogs = &case.settings.global_catalogs;
        self.tell_manifests(&cluster, global_catalogs, answered).map_err(error)?;
        let view = cluster.view(&namespace, global_catalogs);
        self.tell_group(&view, answered).map_err(error)?;

        let start = Instant::now();
        // Upstream: a catalog that cannot be loaded stops a case even if the namespace does not see it.
        let needed: Vec<&CatalogSource> = match self.semantics {
            SemanticsChoice::Upstream => cluster.catalog_sources.iter().collect(),
            SemanticsChoice::Documented => view.catalog_sources.clone(),
        };
        let catalogs = Catalogs::open(case.catalogs, &needed, &self.fetching, self.fetches);
        answered.timing.catalogs = start.elapsed();
        self.tell_catalogs(&catalogs, answered).map_err(|text| (Verdict::CatalogInvalid, text))?;

        let native_apis = cluster.native_apis.clone();
        let universe = universe(&namespace, &view, &catalogs, native_apis);
        let requests: Vec<Request> =
            view.subscriptions.iter().copied().map(lower_subscription).collect();
        let start = Instant::now();
        let semantics = self.semantics.semantics();
        let mut budget = Budget::new(&Limits::default());
        let resolution = resolve(&universe, &requests, &semantics, &mut budget);
        answered.timing.resolve = start.elapsed();
        let all = whole_answer(&resolution);
        answered.steps = Some(steps_to_take(&universe, &requests, &all, &view));
        answered.timing.resolve_steps = start.elapsed();
        answered.operators = all.additions;
        self.judge(&resolution, &namespace, answered);
        if self.explains {
            for (part, resolved) in answered.parts.iter_mut().zip(&resolution.parts) {
                let failure = resolved.result.as_ref().err();
                part.explanation = failure.map(|failure| {
                    explanation::Told::of(&universe, &requests, &semantics, &mut budget, failure)
                });
            }
        }
        Ok(())
    }

    /// Tells what is wrong with manifests; stops where it cannot be known what is meant.
    fn tell_manifests(
        &self,
        cluster: &Cluster,
        global_catalogs: &str,
        answered: &mut Answered,
    ) -> Result<(), String> {
        let mut stopping = Vec::new();
        for diagnostic in &cluster.diagnostics {
            let is_here = diagnostic.object.as_ref().is_none_or(|object| {
                object.namespace == answered.namespace || object.namespace == global_catalogs
            });
            let stops = match diagnostic.severity {
                ManifestSeverity::Warning => false,
                ManifestSeverity::Error => match self.semantics {
                    SemanticsChoice::Upstream => true,
                    SemanticsChoice::Documented => {
                        is_here && diagnostic.rule == ManifestRule::Contradiction
                    }
                },
            };
            if stops {
                stopping.push(diagnostic.to_string());
            }
            let told = Told::new(diagnostic.rule.id(), diagnostic.to_string(), &diagnostic.help);
            answered.notices.push(told);
        }
        if cluster.unreported > 0 {
            let text =
                format!("{} more findings about manifests are not shown", cluster.unreported);
            answered.notices.push(Told::new("manifest-too-many", text, ""));
        }
        if stopping.is_empty() { Ok(()) } else { Err(stopping.join("; ")) }
    }

    /// Tells that the namespace does not have exactly one OperatorGroup.
    fn tell_group(&self, view: &NamespaceView<'_>, answered: &mut Answered) -> Result<(), String> {
        let Err(problem) = view.group else { return Ok(()) };
        let namespace = &answered.namespace;
        if self.semantics == SemanticsChoice::Upstream {
            return Err(format!("error using catalogsource {namespace}/@existing: {problem}"));
        }
        let text = format!(
            "the namespace {namespace} has {} OperatorGroups; until it has exactly one, nothing is installed in it",
            problem.found
        );
        let help = "the answer supposes one with default settings";
        answered.notices.push(Told::new("operator-group", text, help));
        Ok(())
    }

    /// Tells which catalogs have errors.
    fn tell_catalogs(&self, catalogs: &Catalogs, answered: &mut Answered) -> Result<(), String> {
        let refused = catalogs.refused();
        if self.semantics == SemanticsChoice::Upstream && !refused.is_empty() {
            let texts =
                refused.iter().map(|(source, errors)| format!("catalog {source}: {errors}"));
            return Err(texts.collect::<Vec<_>>().join("\n"));
        }
        for (source, errors) in refused {
            let text = format!("the catalog {source} has errors; what is sound is used: {errors}");
            let help = "`operon catalog validate` shows them all, with their places";
            answered.notices.push(Told::new("catalog-invalid", text, help));
        }
        Ok(())
    }

    /// Says how the resolution ended, part by part and as a whole.
    fn judge(&self, resolution: &Resolution, namespace: &str, answered: &mut Answered) {
        for notice in &resolution.notices {
            answered.notices.push(Told {
                kind: notice_name(notice.kind),
                request: notice.request.clone(),
                text: notice.text.clone(),
                help: String::new(),
            });
        }
        answered.parts = resolution.parts.iter().map(|part| part_answer(part, namespace)).collect();
        let has = |wanted: fn(&Failure) -> bool| {
            resolution.parts.iter().any(|part| part.result.as_ref().is_err_and(wanted))
        };
        answered.outcome =
            if has(|failure| matches!(failure, Failure::Error(_) | Failure::Defect(_))) {
                Verdict::Error
            } else if has(|failure| matches!(failure, Failure::Conflicts(_))) {
                Verdict::Unsatisfiable
            } else if has(|failure| matches!(failure, Failure::TooExpensive(_))) {
                Verdict::Error
            } else {
                Verdict::Resolved
            };
        let mut conflicts: Vec<String> = Vec::new();
        let mut errors: Vec<&str> = Vec::new();
        for part in &answered.parts {
            if part.outcome == answered.outcome && !part.error.is_empty() {
                errors.push(&part.error);
            }
            // Upstream: one conflict is told, the first.
            let told = match self.semantics {
                SemanticsChoice::Upstream => 1,
                SemanticsChoice::Documented => part.conflicts.len(),
            };
            conflicts.extend(part.conflicts.iter().take(told).flatten().cloned());
        }
        conflicts.sort();
        match self.semantics {
            // Upstream: bundles of one name in several channels say the same, each for itself.
            SemanticsChoice::Upstream => {}
            SemanticsChoice::Documented => conflicts.dedup(),
        }
        answered.error = match answered.outcome {
            Verdict::Unsatisfiable => {
                format!("constraints not satisfiable: {}", conflicts.join(", "))
            }
            Verdict::Resolved | Verdict::CatalogInvalid | Verdict::Error | Verdict::NotACase => {
                errors.join("; ")
            }
        };
        answered.conflicts = conflicts;
        if answered.outcome != Verdict::Resolved && answered.operators.is_empty() {
            answered.steps = None;
        }
    }
}

fn namespace_of(case: &Case) -> Result<String, String> {
    if !case.settings.namespace.is_empty() {
        return Ok(case.settings.namespace.clone());
    }
    case.manifests.only_group_namespace().map(str::to_owned).ok_or_else(|| {
        let found = case.manifests.operator_groups.len();
        format!("which namespace to resolve is not said, and there are {found} OperatorGroups to tell it from; write `namespace`")
    })
}

fn universe<'c>(
    namespace: &str,
    view: &NamespaceView<'_>,
    catalogs: &'c Catalogs,
    native_apis: Option<BTreeSet<GroupVersionKind>>,
) -> Universe<'c> {
    let sources = view.catalog_sources.iter().map(|&source| {
        let name = source_name(source);
        let content = match catalogs.get(&name) {
            Ok(catalog) => Content::Ready(catalog),
            Err(reason) => Content::Unavailable(reason),
        };
        Source { name, priority: source.priority, content }
    });
    Universe {
        namespace: namespace.to_owned(),
        sources: sources.collect(),
        installed: view.service_versions.iter().copied().map(lower_service_version).collect(),
        fail_forward: view.fails_forward(),
        native_apis,
    }
}

/// Puts the answers of all parts together.
fn whole_answer(resolution: &Resolution) -> Answer {
    let answers = resolution.parts.iter().filter_map(|part| part.result.as_ref().ok());
    let mut whole = Answer::default();
    for answer in answers {
        whole.additions.extend(answer.additions.iter().cloned());
    }
    whole.additions.sort_by(|left, right| {
        let key = |addition: &operon_resolve::Addition| {
            let source = addition.source.clone();
            (addition.package.clone(), addition.name.clone(), addition.channel.clone(), source)
        };
        key(left).cmp(&key(right))
    });
    whole
}

fn steps_to_take(
    universe: &Universe<'_>,
    requests: &[Request],
    answer: &Answer,
    view: &NamespaceView<'_>,
) -> StepsToTake {
    let steps = steps(universe, requests, answer);
    let updated = steps.updated_subscriptions.into_iter().filter_map(|updated| {
        let named = |wanted: &&&operon_api::Subscription| wanted.metadata.name == updated.request;
        let subscription = view.subscriptions.iter().find(named)?;
        Some(((*subscription).clone(), updated.current_csv))
    });
    StepsToTake {
        updated_subscriptions: updated.collect(),
        bundle_lookups: steps.bundle_lookups,
        new_subscriptions: steps.new_subscriptions,
        inline: steps.inline,
    }
}

fn part_answer(part: &Part, namespace: &str) -> PartAnswer {
    let (outcome, error) = match &part.result {
        Ok(_) => (Verdict::Resolved, String::new()),
        Err(Failure::Conflicts(_)) => (Verdict::Unsatisfiable, String::new()),
        Err(Failure::Error(text)) => (Verdict::Error, text.clone()),
        Err(Failure::Defect(text)) => {
            (Verdict::Error, format!("a defect of this program, please report it: {text}"))
        }
        Err(Failure::TooExpensive(expense)) => (Verdict::Error, expense.to_string()),
    };
    let conflicts = match &part.result {
        Err(Failure::Conflicts(conflicts)) => {
            conflicts.iter().map(|conflict| upstream_texts(conflict, namespace)).collect()
        }
        Ok(_) | Err(Failure::Error(_) | Failure::Defect(_) | Failure::TooExpensive(_)) => {
            Vec::new()
        }
    };
    let (operators, kept) = part.result.as_ref().map_or_else(
        |_| (Vec::new(), Vec::new()),
        |answer| {
            let operators = answer.additions.iter().map(|addition| addition.name.clone());
            (operators.collect(), answer.kept.iter().map(|kept| kept.name.clone()).collect())
        },
    );
    PartAnswer {
        requests: part.requests.clone(),
        installed: part.installed.clone(),
        outcome,
        operators,
        kept,
        error,
        conflicts,
        explanation: None,
    }
}
