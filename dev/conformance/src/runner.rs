//! Answers a case: reads its objects, opens its catalogs, resolves, and computes the steps.
//!
//! Decides which problems stop a case under one set of rules and are only reported under the other.

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

use crate::{
    SemanticsChoice,
    answer::{CaseAnswer, Notice, Outcome, PartAnswer, Steps, notice_name},
    case::Case,
    catalogs::{Catalogs, source_name},
    explanation::FailureReport,
    fetching::FetchOptions,
};

/// Options for answering cases.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) semantics: SemanticsChoice,
    pub(crate) fetching: FetchOptions,
    /// Whether catalogs that a case does not contain are fetched.
    pub(crate) fetches: bool,
    /// Whether failures are explained, which means resolving again many times.
    pub(crate) explains: bool,
}

impl Runner {
    /// Answers a case.
    pub(crate) fn answer(&self, case: Case) -> CaseAnswer {
        let mut answer = CaseAnswer { id: case.id.clone(), ..CaseAnswer::default() };
        if let Err((outcome, error)) = self.fill(case, &mut answer) {
            answer.outcome = outcome;
            answer.error = error;
        }
        answer
    }

    /// Fills in the answer; the error stops the case.
    fn fill(&self, case: Case, answer: &mut CaseAnswer) -> Result<(), (Outcome, String)> {
        let error = |text: String| (Outcome::Error, text);
        let namespace = namespace_of(&case).map_err(error)?;
        answer.namespace.clone_from(&namespace);
        let cluster = Cluster::new(case.manifests, &namespace);
        let global_catalogs = &case.settings.global_catalogs;
        self.check_manifests(&cluster, global_catalogs, answer).map_err(error)?;
        let view = cluster.view(&namespace, global_catalogs);
        self.check_group(&view, answer).map_err(error)?;

        let start = Instant::now();
        // Upstream: a catalog that cannot be loaded stops a case even if the namespace does not see it.
        let needed: Vec<&CatalogSource> = match self.semantics {
            SemanticsChoice::Upstream => cluster.catalog_sources.iter().collect(),
            SemanticsChoice::Documented => view.catalog_sources.clone(),
        };
        let catalogs = Catalogs::open(case.catalogs, &needed, &self.fetching, self.fetches);
        answer.timing.catalogs = start.elapsed();
        self.check_catalogs(&catalogs, answer).map_err(|text| (Outcome::CatalogInvalid, text))?;

        let native_apis = cluster.native_apis.clone();
        let universe = universe(&namespace, &view, &catalogs, native_apis);
        let requests: Vec<Request> =
            view.subscriptions.iter().copied().map(lower_subscription).collect();
        let start = Instant::now();
        let semantics = self.semantics.semantics();
        let mut budget = Budget::new(&Limits::default());
        let resolution = resolve(&universe, &requests, &semantics, &mut budget);
        answer.timing.resolve = start.elapsed();
        let all = merged_answer(&resolution);
        answer.steps = Some(case_steps(&universe, &requests, &all, &view));
        answer.timing.resolve_steps = start.elapsed();
        answer.operators = all.additions;
        self.conclude(&resolution, &namespace, answer);
        if self.explains {
            for (part, resolved) in answer.parts.iter_mut().zip(&resolution.parts) {
                let failure = resolved.result.as_ref().err();
                part.explanation = failure.map(|failure| {
                    FailureReport::new(&universe, &requests, &semantics, &mut budget, failure)
                });
            }
        }
        Ok(())
    }

    /// Reports problems in manifests; an ambiguous one stops the case.
    fn check_manifests(
        &self,
        cluster: &Cluster,
        global_catalogs: &str,
        answer: &mut CaseAnswer,
    ) -> Result<(), String> {
        let mut stopping = Vec::new();
        for diagnostic in &cluster.diagnostics {
            let is_here = diagnostic.object.as_ref().is_none_or(|object| {
                object.namespace == answer.namespace || object.namespace == global_catalogs
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
            let (kind, text) = (diagnostic.rule.id(), diagnostic.to_string());
            answer.notices.push(Notice::new(kind, text, &diagnostic.help));
        }
        if cluster.unreported > 0 {
            let text =
                format!("{} more findings about manifests are not shown", cluster.unreported);
            answer.notices.push(Notice::new("manifest-too-many", text, ""));
        }
        if stopping.is_empty() { Ok(()) } else { Err(stopping.join("; ")) }
    }

    /// Reports that the namespace does not have exactly one OperatorGroup.
    fn check_group(&self, view: &NamespaceView<'_>, answer: &mut CaseAnswer) -> Result<(), String> {
        let Err(problem) = view.group else { return Ok(()) };
        let namespace = &answer.namespace;
        if self.semantics == SemanticsChoice::Upstream {
            return Err(format!("error using catalogsource {namespace}/@existing: {problem}"));
        }
        let text = format!(
            "the namespace {namespace} has {} OperatorGroups; until it has exactly one, nothing is installed in it",
            problem.found
        );
        let help = "the answer supposes one with default settings";
        answer.notices.push(Notice::new("operator-group", text, help));
        Ok(())
    }

    /// Reports catalogs with errors.
    fn check_catalogs(&self, catalogs: &Catalogs, answer: &mut CaseAnswer) -> Result<(), String> {
        let rejected = catalogs.rejected();
        if self.semantics == SemanticsChoice::Upstream && !rejected.is_empty() {
            let texts =
                rejected.iter().map(|(source, errors)| format!("catalog {source}: {errors}"));
            return Err(texts.collect::<Vec<_>>().join("\n"));
        }
        for (source, errors) in rejected {
            let text = format!("the catalog {source} has errors; what is sound is used: {errors}");
            let help = "`operon catalog validate` shows them all, with their places";
            answer.notices.push(Notice::new("catalog-invalid", text, help));
        }
        Ok(())
    }

    /// Sets the outcome, for each part and as a whole.
    fn conclude(&self, resolution: &Resolution, namespace: &str, answer: &mut CaseAnswer) {
        for notice in &resolution.notices {
            answer.notices.push(Notice {
                kind: notice_name(notice.kind),
                request: notice.request.clone(),
                text: notice.text.clone(),
                help: String::new(),
            });
        }
        answer.parts = resolution.parts.iter().map(|part| part_answer(part, namespace)).collect();
        let has = |wanted: fn(&Failure) -> bool| {
            resolution.parts.iter().any(|part| part.result.as_ref().is_err_and(wanted))
        };
        answer.outcome = if has(|failure| matches!(failure, Failure::Error(_) | Failure::Defect(_)))
        {
            Outcome::Error
        } else if has(|failure| matches!(failure, Failure::Conflicts(_))) {
            Outcome::Unsatisfiable
        } else if has(|failure| matches!(failure, Failure::TooExpensive(_))) {
            Outcome::Error
        } else {
            Outcome::Resolved
        };
        let mut conflicts: Vec<String> = Vec::new();
        let mut errors: Vec<&str> = Vec::new();
        for part in &answer.parts {
            if part.outcome == answer.outcome && !part.error.is_empty() {
                errors.push(&part.error);
            }
            // Upstream: only the first conflict is reported.
            let reported = match self.semantics {
                SemanticsChoice::Upstream => 1,
                SemanticsChoice::Documented => part.conflicts.len(),
            };
            conflicts.extend(part.conflicts.iter().take(reported).flatten().cloned());
        }
        conflicts.sort();
        match self.semantics {
            // Upstream: bundles of one name in several channels repeat the same fact.
            SemanticsChoice::Upstream => {}
            SemanticsChoice::Documented => conflicts.dedup(),
        }
        answer.error = match answer.outcome {
            Outcome::Unsatisfiable => {
                format!("constraints not satisfiable: {}", conflicts.join(", "))
            }
            Outcome::Resolved | Outcome::CatalogInvalid | Outcome::Error | Outcome::NotACase => {
                errors.join("; ")
            }
        };
        answer.conflicts = conflicts;
        if answer.outcome != Outcome::Resolved && answer.operators.is_empty() {
            answer.steps = None;
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

/// Merges the solutions of all parts.
fn merged_answer(resolution: &Resolution) -> Answer {
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

fn case_steps(
    universe: &Universe<'_>,
    requests: &[Request],
    answer: &Answer,
    view: &NamespaceView<'_>,
) -> Steps {
    let steps = steps(universe, requests, answer);
    let updated = steps.updated_subscriptions.into_iter().filter_map(|updated| {
        let named = |wanted: &&&operon_api::Subscription| wanted.metadata.name == updated.request;
        let subscription = view.subscriptions.iter().find(named)?;
        Some(((*subscription).clone(), updated.current_csv))
    });
    Steps {
        updated_subscriptions: updated.collect(),
        bundle_lookups: steps.bundle_lookups,
        new_subscriptions: steps.new_subscriptions,
        inline: steps.inline,
    }
}

fn part_answer(part: &Part, namespace: &str) -> PartAnswer {
    let (outcome, error) = match &part.result {
        Ok(_) => (Outcome::Resolved, String::new()),
        Err(Failure::Conflicts(_)) => (Outcome::Unsatisfiable, String::new()),
        Err(Failure::Error(text)) => (Outcome::Error, text.clone()),
        Err(Failure::Defect(text)) => {
            (Outcome::Error, format!("a defect of this program, please report it: {text}"))
        }
        Err(Failure::TooExpensive(expense)) => (Outcome::Error, expense.to_string()),
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
