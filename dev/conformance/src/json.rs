//! The answer as JSON: upstream's members and a few more. Members without content are left out.

use std::time::Duration;

use operon_api::Subscription;
use operon_document::{
    is_unprintable,
    json::{Tape, alphabetical, canonical_string, write_pretty},
};
use operon_fbc::yaml_text;
use operon_resolve::{
    Addition, Because, BundleLookup, Explanation, NewSubscription, Operator, explain::WayOut,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    answer::{CaseAnswer, Notice, Outcome, PartAnswer, Steps, Timing},
    explanation::FailureReport,
};

/// Indentation of a bundle lookup's `properties` in the pretty form, in spaces.
const PROPERTIES_INDENT: usize = 8;

/// Renders the answer on one line.
pub(crate) fn line(answer: &CaseAnswer) -> String {
    let view = AnswerView::new(answer, Layout::Line);
    serde_json::to_string(&view).expect("bug: views are JSON")
}

/// Renders the answer with an indentation of two spaces.
pub(crate) fn pretty(answer: &CaseAnswer) -> String {
    let view = AnswerView::new(answer, Layout::Pretty);
    serde_json::to_string_pretty(&view).expect("bug: views are JSON") + "\n"
}

/// Renders the answer as YAML, with members sorted by key.
pub(crate) fn yaml(answer: &CaseAnswer) -> String {
    let json = pretty(answer);
    let mut tape = Tape::new();
    let root = tape.read(json.as_bytes()).expect("bug: views are JSON");
    let acts = |character: char| !matches!(character, '\n' | '\t') && is_unprintable(character);
    yaml_text(root).replace(acts, "\u{fffd}")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Line,
    Pretty,
}

#[derive(Serialize)]
struct AnswerView<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operators: Option<Vec<AdditionView<'a>>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    error: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    conflicts: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<StepsView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<NoticeView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<TimingView>,
}

impl<'a> AnswerView<'a> {
    fn new(answer: &'a CaseAnswer, layout: Layout) -> Self {
        let has_operators = answer.outcome == Outcome::Resolved || !answer.operators.is_empty();
        Self {
            id: &answer.id,
            namespace: &answer.namespace,
            outcome: answer.outcome.word(),
            operators: has_operators
                .then(|| answer.operators.iter().map(AdditionView::new).collect()),
            error: &answer.error,
            conflicts: &answer.conflicts,
            steps: answer.steps.as_ref().map(|steps| StepsView::new(steps, layout)),
            parts: answer.parts.iter().map(PartView::new).collect(),
            notices: answer.notices.iter().map(NoticeView::new).collect(),
            timing: answer.is_case().then(|| TimingView::new(answer.timing)),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AdditionView<'a> {
    name: &'a str,
    package: &'a str,
    channel: &'a str,
    catalog: &'a str,
    catalog_namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    replaces: &'a str,
    #[serde(rename = "startingCSV", skip_serializing_if = "Option::is_none")]
    starting_csv: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    bundle_path: &'a str,
}

impl<'a> AdditionView<'a> {
    fn new(addition: &'a Addition) -> Self {
        Self {
            name: &addition.name,
            package: &addition.package,
            channel: &addition.channel,
            catalog: &addition.source.name,
            catalog_namespace: &addition.source.namespace,
            version: &addition.version,
            replaces: &addition.replaces,
            starting_csv: addition.is_starting.then_some(&addition.name),
            bundle_path: &addition.image,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepsView<'a> {
    bundle_lookups: Vec<LookupView<'a>>,
    new_subscriptions: Vec<SubscriptionView<'a>>,
    updated_subscriptions: Vec<SubscriptionView<'a>>,
    /// Bundles whose manifests are applied as they are; upstream lists each manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inline_bundles: Vec<&'a str>,
}

impl<'a> StepsView<'a> {
    fn new(steps: &'a Steps, layout: Layout) -> Self {
        let lookups = steps.bundle_lookups.iter().map(|lookup| LookupView::new(lookup, layout));
        let updated = steps.updated_subscriptions.iter();
        Self {
            bundle_lookups: lookups.collect(),
            new_subscriptions: steps.new_subscriptions.iter().map(SubscriptionView::new).collect(),
            updated_subscriptions: updated
                .map(|(subscription, csv)| SubscriptionView::updated(subscription, csv))
                .collect(),
            inline_bundles: steps.inline.iter().map(|addition| addition.name.as_str()).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LookupView<'a> {
    identifier: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    replaces: &'a str,
    catalog: &'a str,
    catalog_namespace: &'a str,
    properties: Option<Box<RawValue>>,
}

impl<'a> LookupView<'a> {
    fn new(lookup: &'a BundleLookup, layout: Layout) -> Self {
        let property = |(kind, value): &(String, String)| {
            format!("{{\"type\":{},\"value\":{value}}}", canonical_string(kind))
        };
        let properties: Vec<String> = lookup.properties.iter().map(property).collect();
        let mut json = format!("{{\"properties\":[{}]}}", properties.join(","));
        if layout == Layout::Pretty {
            json = indented(&json);
        }
        Self {
            identifier: &lookup.identifier,
            path: &lookup.path,
            replaces: &lookup.replaces,
            catalog: &lookup.source.name,
            catalog_namespace: &lookup.source.namespace,
            properties: RawValue::from_string(json).ok(),
        }
    }
}

/// Returns a bundle lookup's `properties` as they stand in the pretty form, sorted by key.
fn indented(json: &str) -> String {
    let mut tape = Tape::new();
    let Ok(root) = tape.read(json.as_bytes()) else { return "null".to_owned() };
    let mut pretty = Vec::new();
    write_pretty(root, 2, &alphabetical, &mut pretty);
    let line_break = format!("\n{}", " ".repeat(PROPERTIES_INDENT));
    String::from_utf8_lossy(&pretty).replace('\n', &line_break)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubscriptionView<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_namespace: Option<&'a str>,
    #[serde(rename = "startingCSV", skip_serializing_if = "Option::is_none")]
    starting_csv: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_plan_approval: Option<&'a str>,
    #[serde(rename = "currentCSV", skip_serializing_if = "Option::is_none")]
    current_csv: Option<&'a str>,
}

impl<'a> SubscriptionView<'a> {
    fn new(subscription: &'a NewSubscription) -> Self {
        Self {
            name: &subscription.name,
            package: Some(&subscription.package),
            channel: Some(&subscription.channel),
            source: Some(&subscription.source.name),
            source_namespace: Some(&subscription.source.namespace),
            starting_csv: Some(&subscription.starting_csv),
            install_plan_approval: Some("Automatic"),
            current_csv: None,
        }
    }

    fn updated(subscription: &'a Subscription, current_csv: &'a str) -> Self {
        let some = |text: &'a str| (!text.is_empty()).then_some(text);
        Self {
            name: &subscription.metadata.name,
            package: some(&subscription.package),
            channel: some(&subscription.channel),
            source: some(&subscription.source),
            source_namespace: some(&subscription.source_namespace),
            starting_csv: some(&subscription.starting_csv),
            install_plan_approval: some(&subscription.install_plan_approval),
            current_csv: Some(current_csv),
        }
    }
}

#[derive(Serialize)]
struct PartView<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    subscriptions: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    installed: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    operators: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    kept: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    error: &'a str,
    #[serde(skip_serializing_if = "<[Vec<String>]>::is_empty")]
    conflicts: &'a [Vec<String>],
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<FailureView<'a>>,
}

impl<'a> PartView<'a> {
    fn new(part: &'a PartAnswer) -> Self {
        Self {
            outcome: part.outcome.word(),
            subscriptions: &part.requests,
            installed: &part.installed,
            operators: &part.operators,
            kept: &part.kept,
            error: &part.error,
            conflicts: &part.conflicts,
            explanation: part.explanation.as_ref().map(FailureView::new),
        }
    }
}

#[derive(Serialize)]
struct FailureView<'a> {
    kind: &'static str,
    headline: &'a str,
    explanations: Vec<ExplanationView<'a>>,
}

impl<'a> FailureView<'a> {
    fn new(failure: &'a FailureReport) -> Self {
        let explanations = failure.explanations.iter().map(ExplanationView::new).collect();
        Self { kind: failure.kind, headline: failure.headline(), explanations }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationView<'a> {
    requests: &'a [String],
    headline: &'a str,
    because: Vec<BecauseView<'a>>,
    ways_out: Vec<WayOutView<'a>>,
}

impl<'a> ExplanationView<'a> {
    fn new(explanation: &'a Explanation) -> Self {
        Self {
            requests: &explanation.requests,
            headline: &explanation.headline,
            because: explanation.because.iter().map(BecauseView::new).collect(),
            ways_out: explanation.ways_out.iter().map(WayOutView::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct WayOutView<'a> {
    text: &'a str,
    checked: bool,
}

impl<'a> WayOutView<'a> {
    fn new(way: &'a WayOut) -> Self {
        Self { text: &way.text, checked: way.checked }
    }
}

/// A step of an explanation. `operon_resolve` bounds the depth of the tree.
#[derive(Serialize)]
struct BecauseView<'a> {
    kind: &'static str,
    text: &'a str,
    message: &'a str,
    operators: Vec<OperatorView<'a>>,
    because: Vec<BecauseView<'a>>,
}

impl<'a> BecauseView<'a> {
    fn new(step: &'a Because) -> Self {
        Self {
            kind: step.kind.name(),
            text: &step.text,
            message: &step.message,
            operators: step.operators.iter().map(OperatorView::new).collect(),
            because: step.because.iter().map(BecauseView::new).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperatorView<'a> {
    name: &'a str,
    package: &'a str,
    version: &'a str,
    channel: &'a str,
    catalog: Option<&'a str>,
    catalog_namespace: Option<&'a str>,
}

impl<'a> OperatorView<'a> {
    fn new(operator: &'a Operator) -> Self {
        let source = operator.source.as_ref();
        Self {
            name: &operator.name,
            package: &operator.package,
            version: &operator.version,
            channel: &operator.channel,
            catalog: source.map(|source| source.name.as_str()),
            catalog_namespace: source.map(|source| source.namespace.as_str()),
        }
    }
}

#[derive(Serialize)]
struct NoticeView<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    subscription: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    help: &'a str,
}

impl<'a> NoticeView<'a> {
    fn new(notice: &'a Notice) -> Self {
        Self {
            kind: notice.kind,
            subscription: &notice.request,
            text: &notice.text,
            help: &notice.help,
        }
    }
}

/// Durations in nanoseconds, under upstream's names.
#[derive(Serialize)]
struct TimingView {
    #[serde(rename = "cacheBuildNs")]
    catalogs: u64,
    #[serde(rename = "resolveNs")]
    resolve: u64,
    #[serde(rename = "resolveStepsNs")]
    resolve_steps: u64,
}

impl TimingView {
    fn new(timing: Timing) -> Self {
        let nanoseconds =
            |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self {
            catalogs: nanoseconds(timing.catalogs),
            resolve: nanoseconds(timing.resolve),
            resolve_steps: nanoseconds(timing.resolve_steps),
        }
    }
}
