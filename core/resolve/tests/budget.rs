//! Hostile catalogs never cost more than a decision may: each family ends with an answer, a conflict
//! that is explained, or a clear "too expensive", within counted steps.

#![expect(clippy::panic, reason = "helpers of tests report what they did not expect")]

mod families;

use families::{Family, GROUP, Need, Package, VERSION};
use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, EntryDeclaration, FileId,
    GroupVersionKind, PackageDeclaration, PackageProperty, PackageRequirement, Place, Placed,
    PropertyDeclaration, SourceFile, Summary, build, lint,
};
use operon_resolve::survey::{Install, survey};
use operon_resolve::{
    Because, Budget, ConstraintCache, Content, DEFAULT_STEPS, Expense, Explanation, Failure,
    Limits, Request, Semantics, Source, SourceName, Spent, Universe, explain, resolve,
};

const PLACE: Place = Place { file: FileId(0), start: 0, end: 0 };

fn placed<T>(value: T) -> Placed<T> {
    Placed { value, place: PLACE }
}

fn catalog(family: &Family) -> Catalog {
    let mut declarations = Declarations::default();
    for package in &family.packages {
        declarations.packages.push(PackageDeclaration {
            name: placed(package.name.clone()),
            default_channel: placed("c0".to_owned()),
            description: String::new(),
            has_icon: false,
            place: PLACE,
        });
        for channel in 0..package.channels {
            declarations.channels.push(ChannelDeclaration {
                package: package.name.clone(),
                name: placed(format!("c{channel}")),
                entries: entries(package),
                place: PLACE,
            });
        }
        declarations.bundles.extend(bundles(package));
    }
    let file = SourceFile { path: "catalog.json".to_owned(), size: 0 };
    build(&[file], declarations)
}

fn entries(package: &Package) -> Vec<EntryDeclaration> {
    let names: Vec<String> =
        package.bundles.iter().map(|bundle| package.bundle_name(bundle)).collect();
    let entry = |place: usize| EntryDeclaration {
        name: names[place].clone(),
        replaces: place.checked_sub(1).map(|older| names[older].clone()).unwrap_or_default(),
        skips: Vec::new(),
        skip_range: String::new(),
        place: PLACE,
    };
    (0..names.len()).map(entry).collect()
}

fn bundles(package: &Package) -> impl Iterator<Item = BundleDeclaration> + '_ {
    package.bundles.iter().map(|bundle| {
        let property = |(kind, value)| PropertyDeclaration { kind, value, place: PLACE };
        let api = |kind: &String| GroupVersionKind {
            group: GROUP.to_owned(),
            version: VERSION.to_owned(),
            kind: kind.clone(),
        };
        let required = bundle.needs.iter().filter_map(|need| match need {
            Need::Package { name, range } => Some(PackageRequirement {
                package: name.clone(),
                range: range.clone(),
                place: PLACE,
            }),
            Need::Api(_) | Need::Rule(_) => None,
        });
        BundleDeclaration {
            name: placed(package.bundle_name(bundle)),
            package: package.name.clone(),
            image: placed(format!("example.com/{}", package.name)),
            properties: package.properties(bundle).into_iter().map(property).collect(),
            package_properties: vec![placed(PackageProperty {
                package: package.name.clone(),
                version: bundle.version.clone(),
                release: String::new(),
            })],
            provided_apis: bundle.provides.iter().map(api).collect(),
            required_apis: Vec::new(),
            required_packages: required.collect(),
            labels: Vec::new(),
            related_images: Vec::new(),
            object_count: 0,
            metadata_count: 0,
            summary: Summary::default(),
            place: PLACE,
            broken: false,
        }
    })
}

fn universe(catalog: &Catalog) -> Universe<'_> {
    Universe {
        namespace: "operators".to_owned(),
        sources: vec![Source { name: source(), priority: 0, content: Content::Ready(catalog) }],
        installed: Vec::new(),
        fail_forward: false,
        native_apis: None,
    }
}

fn source() -> SourceName {
    SourceName { namespace: "olm".to_owned(), name: "hostile".to_owned() }
}

fn subscription(package: &str) -> Request {
    Request {
        name: package.to_owned(),
        package: package.to_owned(),
        channel: "c0".to_owned(),
        source: Some(source()),
        ..Request::default()
    }
}

/// How a decision ended.
#[derive(Debug)]
enum Outcome {
    /// So many operators are added.
    Answer(usize),
    Conflict(Vec<Explanation>),
    TooExpensive(Expense),
}

/// Decides as the engine does: resolves, and explains every conflict with the same budget. Returns
/// how each Subscription ended, and the steps that were spent.
fn decide(
    catalog: &Catalog,
    packages: &[&str],
    semantics: &Semantics,
    cache: &ConstraintCache,
) -> (Vec<Outcome>, u64) {
    let universe = universe(catalog);
    let requests: Vec<Request> = packages.iter().map(|package| subscription(package)).collect();
    let mut budget = Budget::with_cache(&Limits::default(), cache.clone());
    let resolution = resolve(&universe, &requests, semantics, &mut budget);
    let outcomes = packages.iter().map(|package| {
        let is_about = |names: &[String]| names.iter().any(|name| name == package);
        let part = resolution.parts.iter().find(|part| is_about(&part.requests));
        match &part.expect("each request is in a part").result {
            Ok(answer) => Outcome::Answer(answer.additions.len()),
            Err(Failure::Conflicts(conflicts)) => {
                let explained = conflicts.iter().map(|conflict| {
                    explain(&universe, &requests, semantics, &mut budget, conflict)
                });
                Outcome::Conflict(explained.collect())
            }
            Err(Failure::TooExpensive(expense)) => Outcome::TooExpensive(expense.clone()),
            Err(failure @ (Failure::Error(_) | Failure::Defect(_))) => {
                panic!("{package}: {failure:?}")
            }
        }
    });
    let outcomes = outcomes.collect();
    (outcomes, budget.steps_spent())
}

/// Decides about the root of a family in both dialects, within the budget, and returns how it ended
/// in the documented one.
fn decided(family: &Family) -> (Outcome, u64) {
    let catalog = catalog(family);
    let mut ended = Vec::new();
    for semantics in [Semantics::upstream(), Semantics::documented()] {
        let cache = ConstraintCache::new();
        let (mut outcomes, steps) = decide(&catalog, &[&family.root], &semantics, &cache);
        assert!(steps <= DEFAULT_STEPS, "{steps} steps");
        let outcome = outcomes.remove(0);
        if let Outcome::Conflict(explanations) = &outcome {
            explanations.iter().for_each(assert_readable);
        }
        ended.push((outcome, steps));
    }
    ended.pop().expect("two dialects were tried")
}

/// Checks that an explanation has a sentence, and a tree that can be printed.
fn assert_readable(explanation: &Explanation) {
    assert!(!explanation.headline.is_empty());
    let mut open: Vec<&Because> = explanation.because.iter().collect();
    let mut count = 0;
    while let Some(step) = open.pop() {
        count += 1;
        open.extend(&step.because);
    }
    assert!(count <= 151, "{count} steps: {}", explanation.headline);
}

fn assert_too_expensive(outcome: &Outcome, bundle: &str) {
    match outcome {
        Outcome::TooExpensive(expense) => {
            assert!(expense.bundle.starts_with(bundle), "{expense}");
            assert_eq!((expense.spent, expense.limit), (Spent::Steps, DEFAULT_STEPS));
            assert!(expense.to_string().contains("too expensive"), "{expense}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn colourings_are_explained_without_exponential_memory() {
    let table = [
        (20, 3, false),
        (26, 3, false),
        (26, 4, true),
        (50, 3, false),
        (50, 4, false),
        (50, 5, false),
        (50, 6, false),
        (200, 3, false),
    ];
    for (vertices, seed, is_possible) in table {
        let (outcome, steps) = decided(&families::colouring(vertices, seed));
        assert_eq!(matches!(outcome, Outcome::Answer(_)), is_possible, "{}", kind(&outcome));
        assert_eq!(matches!(outcome, Outcome::Conflict(_)), !is_possible, "{}", kind(&outcome));
        assert!(steps < 50_000 * vertices as u64, "{steps} steps for {vertices} vertices");
    }
}

#[test]
fn three_sat_is_answered_or_too_expensive() {
    let (outcome, steps) = decided(&families::three_sat(50, 1));
    assert!(matches!(outcome, Outcome::Answer(_)), "{}", kind(&outcome));
    assert!(steps < 1_000_000, "{steps} steps");
    let (outcome, _) = decided(&families::three_sat(400, 1));
    assert!(matches!(outcome, Outcome::TooExpensive(_)), "{}", kind(&outcome));
}

#[test]
fn nested_rule_is_too_expensive_and_names_its_bundle() {
    let (outcome, _) = decided(&families::nested_rule(2_000));
    assert_too_expensive(&outcome, "root.v1.0.0");
}

#[test]
fn nested_rule_leaves_independent_subscriptions_their_answer() {
    let catalog = catalog(&families::nested_rule(2_000));
    let packages = ["root", "plain-7", "plain-8"];
    let cache = ConstraintCache::new();
    let (outcomes, steps) = decide(&catalog, &packages, &Semantics::documented(), &cache);
    assert_too_expensive(&outcomes[0], "root.v1.0.0");
    assert!(matches!(outcomes[1..], [Outcome::Answer(1), Outcome::Answer(1)]), "{outcomes:?}");
    // Answers that were kept change nothing but the time.
    assert!(!cache.is_empty());
    let (again, same_steps) = decide(&catalog, &packages, &Semantics::documented(), &cache);
    assert_eq!(format!("{outcomes:?}"), format!("{again:?}"));
    assert_eq!(steps, same_steps);
}

#[test]
fn spent_bytes_are_reported_and_leave_others_their_answer() {
    let mut family = families::failing_providers(20_000);
    let unrelated = families::Bundle { version: "1.0.0".to_owned(), ..Default::default() };
    let (name, bundles) = ("unrelated".to_owned(), vec![unrelated]);
    family.packages.push(Package { name, bundles, channels: 1 });
    let catalog = catalog(&family);
    let universe = universe(&catalog);
    let requests = [subscription("root"), subscription("unrelated")];
    let limits = Limits { bytes: 3 * 1024 * 1024, ..Limits::default() };
    let mut budget = Budget::new(&limits);
    let resolution = resolve(&universe, &requests, &Semantics::documented(), &mut budget);
    assert!(budget.was_cut());
    let result = |name: &str| {
        let part = resolution.parts.iter().find(|part| part.requests == [name]);
        &part.expect("the requests are independent").result
    };
    let Err(Failure::TooExpensive(expense)) = result("root") else {
        panic!("{:?}", result("root"))
    };
    let text = "resolution is too expensive: it exceeds the budget of 3 MiB of memory; bundle \
                root.v1.0.0 costs the most, because it needs API Wanted.v1 (example.com)";
    assert_eq!(expense.to_string(), text);
    assert!(result("unrelated").is_ok(), "{:?}", result("unrelated"));
}

#[test]
fn type_checking_and_patterns_draw_on_the_budget() {
    // Each of them is short, and takes all steps that checking one rule may take.
    let chains = |number: usize| format!("[{number}]{}.size() == 1", ".map(x, {x: x})".repeat(60));
    // Each of them is short, and compiles to almost as much as a pattern may.
    let patterns =
        |number: usize| format!("'{number}'.matches('[a-z{number}]{{1000}}[ab]{{1000}}')");
    let rules: [&dyn Fn(usize) -> String; 2] = [&chains, &patterns];
    for rule in rules {
        let needs = (0..40).map(|number| Need::Rule(rule(number))).collect();
        let root = families::Bundle { version: "1.0.0".to_owned(), needs, ..Default::default() };
        let root = Package { name: "root".to_owned(), bundles: vec![root], channels: 1 };
        let catalog = catalog(&Family { packages: vec![root], root: "root".to_owned() });
        let limits = Limits { steps: 100_000, ..Limits::default() };
        let mut budget = Budget::new(&limits);
        let universe = universe(&catalog);
        let requests = [subscription("root")];
        let resolution = resolve(&universe, &requests, &Semantics::documented(), &mut budget);
        match &resolution.parts[0].result {
            Err(Failure::TooExpensive(expense)) => assert_eq!(expense.bundle, "root.v1.0.0"),
            other => panic!("{}: {other:?}", rule(0)),
        }
    }
}

#[test]
fn cheap_decisions_are_not_cut() {
    let catalog = catalog(&families::chain(100, false));
    let mut budget = Budget::new(&Limits::default());
    resolve(&universe(&catalog), &[subscription("root")], &Semantics::documented(), &mut budget);
    assert!(!budget.was_cut());
}

#[test]
fn long_chains_take_linear_steps() {
    let (short, short_steps) = decided(&families::chain(1_500, false));
    assert!(matches!(short, Outcome::Answer(1_501)), "{short:?}");
    let (long, steps) = decided(&families::chain(15_000, false));
    assert!(matches!(long, Outcome::Answer(15_001)), "{}", kind(&long));
    assert!(steps < short_steps * 15, "{short_steps} became {steps}");
}

#[test]
fn broken_chains_are_conflicts() {
    let (outcome, _) = decided(&families::chain(15_000, true));
    assert!(matches!(outcome, Outcome::Conflict(_)), "{}", kind(&outcome));
}

#[test]
fn failing_providers_are_conflicts() {
    let (outcome, _) = decided(&families::failing_providers(20_000));
    assert!(matches!(outcome, Outcome::Conflict(_)), "{}", kind(&outcome));
}

#[test]
fn dense_apis_are_answered() {
    let (outcome, _) = decided(&families::dense_apis(1_200, 200));
    assert!(matches!(outcome, Outcome::Answer(1_201)), "{}", kind(&outcome));
}

#[test]
fn packages_with_many_channels_are_read_and_answered() {
    let mut family = families::channels(100_000);
    let (outcome, _) = decided(&family);
    assert!(matches!(outcome, Outcome::Answer(1)), "{}", kind(&outcome));
    // Without a channel, upstream counts each bundle in each channel as often as it is found.
    family.packages[0].channels = 5_000;
    let catalog = catalog(&family);
    let universe = universe(&catalog);
    let requests = [Request { channel: String::new(), ..subscription("wide") }];
    for semantics in [Semantics::documented(), Semantics::upstream()] {
        let mut budget = Budget::new(&Limits::default());
        let resolution = resolve(&universe, &requests, &semantics, &mut budget);
        assert!(budget.steps_spent() <= DEFAULT_STEPS);
        let is_bounded =
            matches!(resolution.parts[0].result, Ok(_) | Err(Failure::TooExpensive(_)));
        assert!(is_bounded, "{:?}", resolution.parts[0].result);
    }
}

#[test]
fn cycles_are_surveyed() {
    let catalog = catalog(&families::cycle(2_000));
    let survey = survey(&universe(&catalog), &Semantics::documented());
    let entries = survey.packages.iter().flat_map(|package| &package.channels);
    let installs = entries.flat_map(|channel| &channel.entries).map(|entry| entry.install);
    let impossible = installs.filter(|install| matches!(install, Install::Impossible(_)));
    assert_eq!(impossible.count(), 6_001);
}

#[test]
fn long_ranges_are_linted_in_short_texts() {
    let catalog = catalog(&families::long_ranges(20));
    let findings = lint(&catalog);
    let bytes: usize = findings.iter().map(|finding| finding.message.len()).sum();
    assert!(!findings.is_empty());
    assert!(findings.len() <= 20 * 10, "{} findings", findings.len());
    assert!(bytes < 200_000, "{bytes} bytes");
}

#[test]
fn families_are_written_as_one_document_a_line() {
    let text = families::cycle(5).text();
    let count = |schema: &str| {
        let schema = format!("{{\"schema\":\"{schema}\"");
        text.lines().filter(|line| line.starts_with(&schema) && line.ends_with('}')).count()
    };
    assert_eq!([count("olm.package"), count("olm.channel"), count("olm.bundle")], [6, 6, 16]);
}

fn kind(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(count) => format!("{count} operators"),
        Outcome::Conflict(explanations) => {
            let headlines = explanations.iter().map(|explanation| explanation.headline.clone());
            headlines.collect::<Vec<_>>().join(" | ")
        }
        Outcome::TooExpensive(expense) => expense.to_string(),
    }
}
