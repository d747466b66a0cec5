//! States how requirements are read and tested, beyond what upstream shows.

use operon_constraint::cel::Exhausted;
use operon_constraint::{
    Candidate, CompileBudget, Constraint, ConstraintDocument, Dialect, Json,
    MAX_CONSTRAINT_NESTING, MAX_DOCUMENTED_CONSTRAINT_BYTES, Property, Requirement, matches,
    parse_property, parse_property_within, requirements, upstream_predicate_text,
};
use operon_version::Version;
use proptest::prelude::*;

fn constraint(value: &str, dialect: Dialect) -> Result<Constraint, String> {
    match parse_property("olm.constraint", value, dialect) {
        Ok(Some(parsed)) => Ok(parsed.constraint),
        Ok(None) => Err("no requirement".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn warnings(value: &str, dialect: Dialect) -> Vec<String> {
    let parsed = parse_property("olm.constraint", value, dialect);
    let parsed = parsed.expect("the value is good").expect("it states a requirement");
    parsed.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn the_documented_spelling_of_a_package_is_read() {
    let documented = r#"{"package":{"name":"blue","versionRange":">=1.0.0"}}"#;
    let upstream = r#"{"package":{"packageName":"blue","versionRange":">=1.0.0"}}"#;
    let expected = constraint(upstream, Dialect::Upstream);
    assert!(expected.is_ok());
    assert_eq!(constraint(documented, Dialect::Documented), expected);
    assert_eq!(constraint(upstream, Dialect::Documented), expected);
    let refusal = r#"parse olm.constraint: json: unknown field "name""#;
    assert_eq!(constraint(documented, Dialect::Upstream), Err(refusal.to_owned()));
}

#[test]
fn the_documented_size_is_enforced_where_it_is_promised() {
    let value = |bytes: usize| {
        let frame = r#"{"failureMessage":"","cel":{"rule":"true"}}"#;
        let filler = "a".repeat(bytes - frame.len());
        frame.replace("\"\",", &format!("\"{filler}\","))
    };
    let largest = value(MAX_DOCUMENTED_CONSTRAINT_BYTES);
    assert_eq!(largest.len(), MAX_DOCUMENTED_CONSTRAINT_BYTES);
    assert!(constraint(&largest, Dialect::Documented).is_ok());
    let larger = value(MAX_DOCUMENTED_CONSTRAINT_BYTES + 1);
    assert!(constraint(&larger, Dialect::Upstream).is_ok());
    let refusal = "parse olm.constraint: olm.constraint value is greater than max constraint \
                   size 65536 bytes";
    assert_eq!(constraint(&larger, Dialect::Documented), Err(refusal.to_owned()));
}

#[test]
fn requirements_are_named_in_sentences() {
    let label = |name: &str| format!(r#"{{"cel":{{"rule":"{name}"}}}}"#);
    let package = r#"{"package":{"packageName":"blue","versionRange":"<2.0.0"}}"#;
    let api = r#"{"gvk":{"group":"install.istio.io","version":"v1","kind":"Istio"}}"#;
    let plain = r#"{"gvk":{"group":"","version":"v1","kind":"Pod"}}"#;
    let compound = |kind: &str, parts: &[&str]| {
        format!(r#"{{"{kind}":{{"constraints":[{}]}}}}"#, parts.join(","))
    };
    let rule = label("true");
    let five = [plain; 5];
    let claims = [
        (api.to_owned(), "API Istio.v1 (install.istio.io)"),
        (plain.to_owned(), "API Pod.v1"),
        (package.to_owned(), "package blue <2.0.0"),
        (rule.clone(), "an operator that fulfils the rule true"),
        (
            rule.replacen('{', r#"{"failureMessage":"be red","#, 1),
            r#"an operator that fulfils "be red""#,
        ),
        (
            compound("all", &[api, package]),
            "API Istio.v1 (install.istio.io) and package blue <2.0.0",
        ),
        (
            compound("any", &[plain, &compound("all", &[plain, package])]),
            "API Pod.v1 or (API Pod.v1 and package blue <2.0.0)",
        ),
        (compound("not", &[package]), "no package blue <2.0.0"),
        (compound("not", &[package, plain]), "neither package blue <2.0.0 nor API Pod.v1"),
        (compound("any", &five), "API Pod.v1 or API Pod.v1 or API Pod.v1 or API Pod.v1 or 1 more"),
        (compound("any", &[]), "0 conditions"),
    ];
    for (value, expected) in claims {
        let read = constraint(&value, Dialect::Documented).expect(expected);
        assert_eq!(read.to_string(), expected, "{value}");
    }
}

#[test]
fn malformed_requirements_are_reported_not_dropped() {
    let properties = [
        ("olm.package", r#"{"packageName":"a","version":"1.0.0"}"#),
        ("olm.gvk.required", r#"{"group":"g","version":"v1","kind":"K"}"#),
        ("olm.package.required", r#"{"packageName":"blue","versionRange":"^1"}"#),
        ("olm.label.required", r#"{"label":"lts"}"#),
        ("olm.constraint", "{}"),
    ];
    let mut budget = CompileBudget::unlimited();
    let stated = requirements(properties, Dialect::Documented, &mut budget);
    let texts: Vec<String> = stated.iter().map(ToString::to_string).collect();
    assert_eq!(texts[0], "API K.v1 (g)");
    let malformed = r#"olm.package.required {"packageName":"blue","versionRange":"^1"}, which cannot be read: "#;
    assert!(texts[1].starts_with(malformed), "{}", texts[1]);
    assert_eq!(texts[2], "an operator with the label lts");
    assert!(texts[3].ends_with("constraint is empty"), "{}", texts[3]);
    assert_eq!(texts.len(), 4);
}

#[test]
fn leaves_leave_out_what_is_excluded() {
    let value = r#"{"any":{"constraints":[
        {"package":{"packageName":"blue","versionRange":"<2.0.0"}},
        {"not":{"constraints":[{"package":{"packageName":"red","versionRange":"<2.0.0"}}]}},
        {"all":{"constraints":[{"gvk":{"group":"g","version":"v1","kind":"K"}}]}}]}}"#;
    let read = constraint(value, Dialect::Documented).expect("it is good");
    let headings: Vec<String> =
        read.leaves().into_iter().map(|leaf| leaf.requirement.heading()).collect();
    assert_eq!(headings, ["package blue <2.0.0", "API K.v1 (g)"]);
}

#[test]
fn rules_of_one_constraint_share_a_compile_budget() {
    let chain = format!("[1]{}.size() == 1", ".map(x, {x: x})".repeat(14));
    let rule = format!(r#"{{"cel":{{"rule":"{chain}"}}}}"#);
    let value = |count: usize| {
        format!(r#"{{"all":{{"constraints":[{}]}}}}"#, vec![rule.as_str(); count].join(","))
    };
    let read = |count: usize, budget: &mut CompileBudget| {
        parse_property_within("olm.constraint", value(count), Dialect::Documented, budget).is_ok()
    };
    let mut budget = CompileBudget::unlimited();
    assert!(read(1, &mut budget) && budget.exhausted().is_none());
    let steps = budget.steps();
    assert!(steps > 10_000, "{steps}");
    let mut budget = CompileBudget::new(3 * steps, u64::MAX);
    assert!(read(3, &mut budget));
    assert_eq!((budget.steps(), budget.exhausted()), (3 * steps, None));
    let mut budget = CompileBudget::new(3 * steps - 1, u64::MAX);
    assert!(!read(30, &mut budget));
    assert_eq!(budget.exhausted(), Some(Exhausted::Steps));
    assert!(budget.steps() < 3 * steps);
}

#[test]
fn compiled_patterns_hold_bytes_of_the_budget() {
    let value = r#"{"cel":{"rule":"'a'.matches('[a-z]{900}')"}}"#;
    let read = |bytes: u64| {
        let mut budget = CompileBudget::new(u64::MAX, bytes);
        let parsed =
            parse_property_within("olm.constraint", value, Dialect::Documented, &mut budget);
        (parsed.is_ok(), budget.exhausted(), budget.bytes() > 0)
    };
    assert_eq!(read(1 << 20), (true, None, true));
    assert_eq!(read(1_000), (true, Some(Exhausted::Bytes), false));
}

#[test]
fn questionable_constraints_are_warned_about() {
    let claims: [(&str, &[&str]); 6] = [
        (r#"{"gvk":{"group":"g","version":"v1","kind":"K"}}"#, &[]),
        (
            r#"{"cel":{"rule":"true"},"gvk":{},"any":{}}"#,
            &["only `gvk` counts, `any`, `cel` beside it is ignored: put them in `all`"],
        ),
        (
            r#"{"package":{"name":"a","versionRange":"1.x"}}"#,
            &["`package.name` is documented but refused by upstream: write `packageName`"],
        ),
        (
            r#"{"not":{"constraints":[{"cel":{"rule":"true"}}]}}"#,
            &["`not` outside `all` or `any` is fulfilled by any other operator"],
        ),
        (
            r#"{"all":{"constraints":[{"gvk":{}},{"not":{"constraints":[{"any":{}}]}}]}}"#,
            &["all[1].not[0]: `any` without constraints is never fulfilled"],
        ),
        (
            r#"{"all":{"constraints":[{"gvk":{},"cel":{}},{"package":{"name":"a","versionRange":"1.x"}}]}}"#,
            &[
                "all[0]: only `gvk` counts, `cel` beside it is ignored: put them in `all`",
                "all[1]: `package.name` is documented but refused by upstream: write \
                 `packageName`",
            ],
        ),
    ];
    for (value, expected) in claims {
        assert_eq!(warnings(value, Dialect::Documented), expected, "{value}");
    }
    let quiet = r#"{"cel":{"rule":"true"},"gvk":{}}"#;
    assert_eq!(warnings(quiet, Dialect::Upstream), Vec::<String>::new());
}

/// Depth must cost no stack, whatever is done with the constraint.
#[test]
fn the_deepest_constraint_is_harmless() {
    let nested = |levels: usize| {
        let open = r#"{"all":{"constraints":["#.repeat(levels - 1);
        open + r#"{"cel":{"rule":"true"}}"# + &"]}}".repeat(levels - 1)
    };
    let work = move || {
        // The innermost constraint has no list of its own and nests one level of JSON less.
        let deepest = nested(MAX_CONSTRAINT_NESTING - 1);
        let first = constraint(&deepest, Dialect::Upstream).expect("it is read");
        assert_eq!(first, constraint(&deepest, Dialect::Upstream).expect("again"));
        assert!(format!("{:?}", first.clone()).contains("with constraint"));
        assert_eq!(upstream_predicate_text(&first), "with constraint: \"true\" and message: \"\"");
        assert!(matches(&first, &candidate(&[])));
        let document = ConstraintDocument::parse(&deepest, Dialect::Upstream);
        assert_eq!(document.map(|document| document.to_upstream_json()), Ok(deepest));
        let refused = constraint(&nested(MAX_CONSTRAINT_NESTING), Dialect::Upstream);
        let refusal = "parse olm.constraint: invalid character '{' exceeded max depth";
        assert_eq!(refused, Err(refusal.to_owned()));
    };
    let builder = std::thread::Builder::new().stack_size(256 * 1024);
    let handle = builder.spawn(work).expect("a thread starts");
    handle.join().expect("the thread does not panic");
}

fn candidate(properties: &[Property]) -> Candidate<'_> {
    Candidate { name: "etcdoperator.v1.0.0", package: "etcd", version: None, properties }
}

fn required(property_type: &str, value: &str) -> Constraint {
    let parsed = parse_property(property_type, value, Dialect::Upstream);
    let parsed = parsed.expect("the value is good").expect("it states a requirement");
    parsed.constraint
}

#[test]
fn properties_are_read_as_upstream_reads_them() {
    let gvk = required("olm.gvk.required", r#"{"group":"g","version":"v1","kind":"K"}"#);
    let claims = [
        (r#"{"group":"g","version":"v1","kind":"K"}"#, true),
        (r#"{"GROUP":"g","Version":"v1","\u212aind":"K","x":1}"#, true),
        (r#"{"group":"g","version":"v1","kind":"k"}"#, false),
        (r#"{"group":"g","version":"v1","kind":["K"]}"#, false),
        (r#"{"group":"g","version":"v1"}"#, false),
        (r#"["g","v1","K"]"#, false),
        ("null", false),
        ("{bad", false),
    ];
    for (value, expected) in claims {
        let properties = [Property::from_text("olm.gvk", value)];
        assert_eq!(matches(&gvk, &candidate(&properties)), expected, "{value}");
    }
    let nothing = required("olm.gvk.required", "{}");
    let null = [Property::from_text("olm.gvk", "null")];
    assert!(matches(&nothing, &candidate(&null)));
}

#[test]
fn package_and_version_may_come_from_the_catalog_or_a_property() {
    let wanted = required(
        "olm.package.required",
        r#"{"packageName":"etcd","versionRange":">=1.0.0 <2.0.0"}"#,
    );
    let stated = |version: &str| {
        let text = format!(r#"{{"packageName":"other","version":"{version}"}}"#);
        vec![Property::from_text("olm.package", text)]
    };
    let one = Version::parse("1.5.0").expect("a version");
    let two = Version::parse("2.5.0").expect("a version");
    // The name is the catalog's and the version the property's: upstream does not ask for both in
    // one place.
    let claims = [
        (stated("1.0.0"), None, true),
        (stated("v1.0.0"), None, false),
        (stated("2.0.0"), Some(&one), true),
        (stated("1.0.0"), Some(&two), true),
        (stated("2.0.0"), Some(&two), false),
        (Vec::new(), Some(&one), true),
        (Vec::new(), None, false),
    ];
    for (properties, version, expected) in claims {
        let candidate = Candidate { version, ..candidate(&properties) };
        assert_eq!(matches(&wanted, &candidate), expected, "{candidate:?}");
    }
}

#[test]
fn a_rule_without_an_answer_is_not_fulfilled() {
    let value = r#"{"cel":{"rule":"properties.exists(p, p.value.x == 1)"}}"#;
    let wanted = constraint(value, Dialect::Documented).expect("a constraint");
    assert!(matches!(wanted.requirement, Requirement::Cel(_)));
    let with =
        [Property::from(("t".to_owned(), Json::object([("x".to_owned(), Json::Number(1.0))])))];
    assert!(matches(&wanted, &candidate(&with)));
    let without = [Property::from(("t".to_owned(), Json::Null))];
    assert!(!matches(&wanted, &candidate(&without)));
}

/// Trees of labels, beside which the same logic can be written with plain booleans.
#[derive(Clone, Debug)]
enum Plan {
    Label(u8),
    All(Vec<Plan>),
    Any(Vec<Plan>),
    Not(Vec<Plan>),
}

impl Plan {
    fn text(&self) -> String {
        let (key, parts) = match self {
            Self::Label(label) => {
                return format!(
                    r#"{{"cel":{{"rule":"properties.exists(p, p.value == '{label}')"}}}}"#
                );
            }
            Self::All(parts) => ("all", parts),
            Self::Any(parts) => ("any", parts),
            Self::Not(parts) => ("not", parts),
        };
        let parts: Vec<String> = parts.iter().map(Self::text).collect();
        format!(r#"{{"{key}":{{"constraints":[{}]}}}}"#, parts.join(","))
    }

    fn holds(&self, labels: &[u8]) -> bool {
        match self {
            Self::Label(label) => labels.contains(label),
            Self::All(parts) => parts.iter().all(|part| part.holds(labels)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(labels)),
            Self::Not(parts) => !parts.iter().any(|part| part.holds(labels)),
        }
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let leaf = (0..4_u8).prop_map(Plan::Label);
    leaf.prop_recursive(4, 30, 4, |inner| {
        let parts = prop::collection::vec(inner, 0..4);
        prop_oneof![
            parts.clone().prop_map(Plan::All),
            parts.clone().prop_map(Plan::Any),
            parts.prop_map(Plan::Not),
        ]
    })
}

proptest! {
    #[test]
    fn compounds_are_plain_logic(plan in plan(), labels in prop::collection::vec(0..4_u8, 0..4)) {
        let text = plan.text();
        let wanted = constraint(&text, Dialect::Upstream).expect("a constraint");
        let properties: Vec<Property> = labels
            .iter()
            .map(|label| Property::from_text("t", format!("\"{label}\"")))
            .collect();
        prop_assert_eq!(matches(&wanted, &candidate(&properties)), plan.holds(&labels));
        let printed = ConstraintDocument::parse(&text, Dialect::Upstream)
            .map(|document| document.to_upstream_json());
        prop_assert_eq!(printed, Ok(text));
    }

    #[test]
    fn printing_a_document_is_stable(value in "[{}\\[\\],:\"a-zA-Z ]{0,40}") {
        for dialect in [Dialect::Documented, Dialect::Upstream] {
            if let Ok(document) = ConstraintDocument::parse(&value, dialect) {
                let printed = document.to_upstream_json();
                let again = ConstraintDocument::parse(&printed, dialect);
                prop_assert_eq!(again.map(|again| again.to_upstream_json()), Ok(printed));
            }
        }
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        for property_type in ["olm.constraint", "olm.gvk.required", "olm.package.required"] {
            let _ = parse_property(property_type, &bytes, Dialect::Documented);
        }
    }
}
