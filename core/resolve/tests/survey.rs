//! The survey against the resolver: on small random catalogs both say the same of every entry.

use operon_catalog::{
    BundleDeclaration, Catalog, ChannelDeclaration, Declarations, EntryDeclaration, FileId,
    GroupVersionKind, PackageDeclaration, PackageProperty, PackageRequirement, Place, Placed,
    PropertyDeclaration, SourceFile, Summary, build,
};
use operon_resolve::survey::{Install, Stuck, Survey, Surveyor, Update, survey};
use operon_resolve::{
    Addition, Budget, Content, Installed, InstalledProperties, Limits, Request, Semantics, Source,
    SourceName, Universe, resolve,
};
use operon_version::Version;
use proptest::prelude::*;

const PLACE: Place = Place { file: FileId(0), start: 0, end: 0 };
const PACKAGES: [&str; 4] = ["amber", "birch", "cedar", "denim"];
const CHANNELS: [&str; 2] = ["fast", "slow"];
const KINDS: [&str; 4] = ["Axe", "Bow", "Cup", "Dye"];

/// Decisions that a random catalog is made by; when they run out, all are 0.
struct Decisions<'d> {
    left: std::slice::Iter<'d, u8>,
}

impl Decisions<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.left.next().copied().unwrap_or(0)) % end
    }

    /// Is true once in so many times, never when decisions have run out.
    fn rarely(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }
}

fn placed<T>(value: T) -> Placed<T> {
    Placed { value, place: PLACE }
}

fn bundle_name(package: &str, number: usize) -> String {
    format!("{package}.v1.{number}.0")
}

fn random_catalog(decisions: &mut Decisions<'_>) -> Catalog {
    let mut declarations = Declarations::default();
    for package in PACKAGES {
        let count = decisions.below(4);
        if count == 0 {
            continue;
        }
        declarations.packages.push(PackageDeclaration {
            name: placed(package.to_owned()),
            default_channel: placed(CHANNELS[0].to_owned()),
            description: String::new(),
            has_icon: false,
            place: PLACE,
        });
        for channel in CHANNELS.iter().take(1 + decisions.below(2)) {
            declarations.channels.push(random_channel(decisions, package, channel, count));
        }
        for number in 0..count {
            declarations.bundles.push(random_bundle(decisions, package, number));
        }
    }
    build(&[SourceFile { path: "random".to_owned(), size: 0 }], declarations)
}

fn random_channel(
    decisions: &mut Decisions<'_>,
    package: &str,
    channel: &str,
    count: usize,
) -> ChannelDeclaration {
    let mut entries = Vec::new();
    for number in 0..count {
        let before = |back: usize| {
            number.checked_sub(back).map(|number| bundle_name(package, number)).unwrap_or_default()
        };
        let replaces = if decisions.rarely(5) { String::new() } else { before(1) };
        let mut skips = Vec::new();
        if number > 0 && decisions.rarely(4) {
            skips.push(before(1 + decisions.below(number)));
        }
        let skip_range = match decisions.below(5) {
            3 => ">=1.0.0 <1.2.0".to_owned(),
            4 => ">=1.0.0".to_owned(),
            _ => String::new(),
        };
        let name = bundle_name(package, number);
        entries.push(EntryDeclaration { name, replaces, skips, skip_range, place: PLACE });
    }
    let (package, name) = (package.to_owned(), placed(channel.to_owned()));
    ChannelDeclaration { package, name, entries, place: PLACE }
}

fn api_value(kind: &str) -> String {
    format!(r#"{{"group":"example.com","kind":"{kind}","version":"v1"}}"#)
}

fn random_requirement(decisions: &mut Decisions<'_>) -> (String, usize, String) {
    let package = decisions.below(PACKAGES.len());
    let range = ["<1.1.0", ">=1.0.0", ">=1.1.0", ">=2.0.0"][decisions.below(4)];
    let value = format!(r#"{{"packageName":"{}","versionRange":"{range}"}}"#, PACKAGES[package]);
    (value, package, range.to_owned())
}

fn random_part(decisions: &mut Decisions<'_>, depth: usize) -> String {
    match decisions.below(if depth == 0 { 2 } else { 5 }) {
        0 => format!(r#"{{"gvk":{}}}"#, api_value(KINDS[decisions.below(KINDS.len())])),
        1 => {
            let (_, package, range) = random_requirement(decisions);
            let package = PACKAGES[package];
            format!(r#"{{"package":{{"packageName":"{package}","versionRange":"{range}"}}}}"#)
        }
        compound => {
            let word = ["all", "any", "not"][compound - 2];
            let parts = [random_part(decisions, depth - 1), random_part(decisions, depth - 1)];
            format!(r#"{{"{word}":{{"constraints":[{}]}}}}"#, parts.join(","))
        }
    }
}

fn random_bundle(decisions: &mut Decisions<'_>, package: &str, number: usize) -> BundleDeclaration {
    let version = format!("1.{number}.0");
    let mut properties =
        vec![("olm.package", format!(r#"{{"packageName":"{package}","version":"{version}"}}"#))];
    let api = |kind: &str| GroupVersionKind {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
    };
    let [mut provided_apis, mut required_apis] = [Vec::new(), Vec::new()];
    for _ in 0..decisions.below(3) {
        let kind = KINDS[decisions.below(KINDS.len())];
        properties.push(("olm.gvk", api_value(kind)));
        provided_apis.push(api(kind));
    }
    let mut required_packages = Vec::new();
    for _ in 0..decisions.below(3) {
        match decisions.below(3) {
            0 => {
                let kind = KINDS[decisions.below(KINDS.len())];
                properties.push(("olm.gvk.required", api_value(kind)));
                required_apis.push(api(kind));
            }
            1 => {
                let (value, package, range) = random_requirement(decisions);
                properties.push(("olm.package.required", value));
                let package = PACKAGES[package].to_owned();
                required_packages.push(PackageRequirement { package, range, place: PLACE });
            }
            _ => {
                let part = random_part(decisions, 2);
                properties
                    .push(("olm.constraint", part.replacen('{', r#"{"failureMessage":"x","#, 1)));
            }
        }
    }
    if decisions.rarely(12) {
        properties.push(("olm.deprecated", "{}".to_owned()));
    }
    if decisions.rarely(16) {
        properties.push(("olm.constraint", "[]".to_owned()));
    }
    let property = |(kind, value): (&str, String)| PropertyDeclaration {
        kind: kind.to_owned(),
        value,
        place: PLACE,
    };
    BundleDeclaration {
        name: placed(bundle_name(package, number)),
        package: package.to_owned(),
        image: placed("example.com/image:v1".to_owned()),
        properties: properties.into_iter().map(property).collect(),
        package_properties: vec![placed(PackageProperty {
            package: package.to_owned(),
            version,
            release: String::new(),
        })],
        provided_apis,
        required_apis,
        required_packages,
        labels: Vec::new(),
        related_images: Vec::new(),
        object_count: 0,
        metadata_count: 0,
        summary: Summary::default(),
        place: PLACE,
        broken: false,
    }
}

fn source_name(number: usize) -> SourceName {
    SourceName { namespace: "olm".to_owned(), name: format!("catalog-{number}") }
}

fn universe(catalogs: &[Catalog]) -> Universe<'_> {
    let sources = catalogs.iter().enumerate().map(|(number, catalog)| Source {
        name: source_name(number),
        priority: 0,
        content: Content::Ready(catalog),
    });
    Universe {
        namespace: "operators".to_owned(),
        sources: sources.collect(),
        installed: Vec::new(),
        fail_forward: false,
        native_apis: None,
    }
}

fn request(package: &str, channel: &str, source: &SourceName) -> Request {
    Request {
        name: "asked".to_owned(),
        package: package.to_owned(),
        channel: channel.to_owned(),
        source: Some(source.clone()),
        ..Request::default()
    }
}

/// Returns what the resolver would add, or nothing when it has no answer.
fn additions(universe: &Universe<'_>, request: Request, semantics: &Semantics) -> Vec<Addition> {
    let resolution = resolve(universe, &[request], semantics, &mut Budget::new(&Limits::default()));
    let parts = resolution.parts.into_iter();
    let part = parts.filter(|part| !part.requests.is_empty()).map(|part| part.result).next();
    part.expect("the request is in a part").map(|answer| answer.additions).unwrap_or_default()
}

/// Follows the resolver's updates to the head; says in how many, or where they end.
fn follow(
    universe: &Universe<'_>,
    catalogs: &[Catalog],
    wanted: &Request,
    name: &str,
    semantics: &Semantics,
) -> Result<u32, String> {
    let own = catalogs
        .iter()
        .enumerate()
        .find(|(number, _)| Some(&source_name(*number)) == wanted.source.as_ref());
    let (_, catalog) = own.expect("the catalog is there");
    let package = catalog.package(&wanted.package).expect("the package is there");
    let channel = package.channel(&wanted.channel).expect("the channel is there");
    let mut bundle = package.bundle(name).expect("the bundle is there");
    let mut is_elsewhere_head = false;
    for steps in 0..20 {
        let head = channel.head().map(|head| head.name());
        if head == Some(bundle.name()) || is_elsewhere_head {
            return Ok(steps);
        }
        if head.is_none() {
            break;
        }
        let properties = bundle.properties();
        let properties = properties.map(|known| (known.kind.to_owned(), known.value.to_owned()));
        let mut universe = universe.clone();
        universe.installed.push(Installed {
            name: bundle.name().to_owned(),
            version: bundle.version().unwrap_or_else(|| Version::new(0, 0, 0)),
            replaces: String::new(),
            phase: "Succeeded".to_owned(),
            properties: InstalledProperties::Annotated(properties.collect()),
        });
        let request = Request { installed_csv: bundle.name().to_owned(), ..wanted.clone() };
        let added = additions(&universe, request, semantics);
        let Some(update) = added.iter().find(|addition| addition.updates == bundle.name()) else {
            break;
        };
        let number = (0..catalogs.len()).find(|&number| source_name(number) == update.source);
        let from = &catalogs[number.expect("an update comes from a catalog")];
        let entry = from.entry_by_id(update.entry);
        is_elsewhere_head = entry.channel().head().is_some_and(|head| head.id() == entry.id());
        bundle = entry.bundle().expect("an update has a bundle");
    }
    Err(bundle.name().to_owned())
}

fn check(catalogs: &[Catalog], semantics: &Semantics) -> [usize; 4] {
    let universe = universe(catalogs);
    let survey = survey(&universe, semantics);
    let mut seen = [0; 4];
    for package in &survey.packages {
        for channel in &package.channels {
            for entry in &channel.entries {
                let wanted = request(&package.package, &channel.channel, &channel.source);
                let start = Request { starting_csv: entry.name.clone(), ..wanted.clone() };
                let is_installed = additions(&universe, start, semantics).iter().any(|addition| {
                    (&addition.name, &addition.channel, &addition.source)
                        == (&entry.name, &channel.channel, &channel.source)
                });
                let told = match entry.install {
                    Install::Possible => "possible".to_owned(),
                    Install::Impossible(id) => package.obstacle(id).to_string(),
                    Install::Undecided => "undecided".to_owned(),
                };
                let place = format!("{} in {} of {}", entry.name, channel.channel, channel.source);
                assert_eq!(entry.install == Install::Possible, is_installed, "{place}: {told}");
                seen[usize::from(is_installed)] += 1;

                let followed = follow(&universe, catalogs, &wanted, &entry.name, semantics);
                let expected = match &entry.update {
                    Update::Head => Ok(0),
                    Update::Reaches { steps } => Ok(*steps),
                    Update::Stuck { at, .. } => Err(at.clone()),
                };
                match (&followed, &entry.update) {
                    // Where a circle is entered and left is not what is compared.
                    (Err(_), Update::Stuck { why: Stuck::Circle, .. }) => {}
                    _ => assert_eq!(followed, expected, "{place}: {:?}", entry.update),
                }
                seen[2 + usize::from(followed.is_ok())] += 1;
            }
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_survey_and_the_resolver_agree(
        tape in prop::collection::vec(any::<u8>(), 0..160),
        several in any::<bool>(),
        upstream in any::<bool>(),
    ) {
        let mut decisions = Decisions { left: tape.iter() };
        let count = if several { 2 } else { 1 };
        let catalogs: Vec<Catalog> = (0..count).map(|_| random_catalog(&mut decisions)).collect();
        let semantics = if upstream { Semantics::upstream() } else { Semantics::documented() };
        check(&catalogs, &semantics);
    }

    #[test]
    fn workers_agree_whatever_they_did_before(tape in prop::collection::vec(any::<u8>(), 0..160)) {
        let catalog = [random_catalog(&mut Decisions { left: tape.iter() })];
        let universe = universe(&catalog);
        let surveyor = Surveyor::new(&universe, &Semantics::documented());
        let numbers = 0..surveyor.package_count();
        let mut worker = surveyor.worker();
        let backwards = Survey::new(numbers.clone().rev().map(|number| worker.survey(number)).collect());
        let alone = Survey::new(numbers.map(|number| surveyor.worker().survey(number)).collect());
        prop_assert_eq!(format!("{backwards:?}"), format!("{alone:?}"));
    }
}

/// The random catalogs hold all that is compared: some can be installed and some not, and so on.
#[test]
fn random_catalogs_are_various() {
    let mut seen = [0; 4];
    let mut state = 1_u32;
    for _ in 0..60 {
        let tape: Vec<u8> = (0..160)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        let catalog = [random_catalog(&mut Decisions { left: tape.iter() })];
        for (total, count) in seen.iter_mut().zip(check(&catalog, &Semantics::documented())) {
            *total += count;
        }
    }
    assert!(seen.iter().all(|&count| count >= 20), "{seen:?}");
}
