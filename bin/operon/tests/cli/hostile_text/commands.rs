//! The commands that run on hostile input, and those that do not, with the reason.

use std::borrow::Cow;

/// Stands for the address of the server in the arguments of a case.
pub(super) const SERVER: &str = "SERVER";

/// A command to run.
pub(super) struct Case {
    /// Its arguments, with blanks between them and marks where hostile text goes.
    pub(super) arguments: Cow<'static, str>,
    /// Arguments that choose formats for programs; each is tried besides plain text.
    pub(super) formats: &'static [&'static str],
    /// Whether answers for programs repeat a hostile text.
    pub(super) keeps_text: bool,
}

impl Case {
    /// Returns the case with the address of a server filled in.
    pub(super) fn at(&self, address: &str) -> Self {
        let arguments = self.arguments.replace(SERVER, address).into();
        Self { arguments, formats: self.formats, keeps_text: self.keeps_text }
    }
}

const fn text(arguments: &'static str) -> Case {
    Case { arguments: Cow::Borrowed(arguments), formats: &[], keeps_text: false }
}

const fn case(arguments: &'static str, formats: &'static [&'static str]) -> Case {
    Case { arguments: Cow::Borrowed(arguments), formats, keeps_text: true }
}

/// A command whose answers for programs quote a hostile text with escapes, or have none.
const fn quoting(arguments: &'static str, formats: &'static [&'static str]) -> Case {
    Case { arguments: Cow::Borrowed(arguments), formats, keeps_text: false }
}

const JSON: &[&str] = &["-o json"];
const BOTH: &[&str] = &["-o json", "-o yaml"];
const FINDINGS: &[&str] = &["--format json", "--format github"];

/// Commands that need no cluster.
pub(super) const OFFLINE: &[Case] = &[
    case("catalog validate broken", FINDINGS),
    quoting("catalog validate catalog", &["--format json"]),
    quoting("catalog lint catalog", FINDINGS),
    quoting("catalog lint broken --pedantic", FINDINGS),
    case("catalog list packages catalog", BOTH),
    case("catalog list packages broken", BOTH),
    case("catalog list channels catalog", BOTH),
    case("catalog list bundles catalog", BOTH),
    case("catalog list apis catalog", BOTH),
    text("catalog list bundles catalog --package nothing"),
    text("catalog list bundles catalog --package beacon --channel stabl"),
    case("catalog search catalog beacon", BOTH),
    text("catalog search catalog beacxn§"),
    case("catalog show catalog beacon¤", BOTH),
    case("catalog show catalog beacon¤ --full", BOTH),
    case("catalog show catalog beacon¤/stable§", BOTH),
    case("catalog show catalog beacon¤@1.2.0 --full", BOTH),
    case("catalog show catalog beacon¤@1.2.0 --document", BOTH),
    case("catalog show catalog beacon¤/stable§ --document", BOTH),
    text("catalog show catalog beacon¤/stabl"),
    text("catalog show catalog beaco"),
    text("catalog graph catalog beacon¤"),
    text("catalog graph catalog beacon¤ --ascii"),
    text("catalog graph catalog beacon¤ --format svg"),
    text("catalog graph catalog beacon¤ --format mermaid"),
    text("catalog graph catalog beacon¤ --format dot"),
    case("catalog path catalog beacon¤ 1.0.0 head", BOTH),
    case("catalog path catalog beacon¤ 1.2.0 1.0.0", BOTH),
    case("catalog path catalog beacon¤ beacon.v0.9.0§ 1.2.0", BOTH),
    text("catalog path catalog beacon¤ 1.0.0 beacon.v9"),
    case("catalog matrix catalog beacon¤", BOTH),
    case("catalog matrix catalog beacon¤ --width 20", BOTH),
    case("catalog diff catalog changed", BOTH),
    case("catalog diff changed broken", BOTH),
    case("catalog slice catalog --keep lamp", BOTH),
    case("catalog slice catalog --keep lamp --heads-only --format yaml", BOTH),
    text("catalog slice catalog --keep beacon¤ --dependencies none"),
    case("catalog check catalog", BOTH),
    case("catalog render bundles --image-template x/{package}:{version}", BOTH),
    text("catalog template semver template.yaml"),
    text("catalog init -c stable§ kiosk§"),
    text("catalog migrate broken migrated"),
    text("catalog build broken"),
    case("bundle show bundles/1.0.0", BOTH),
    case("bundle validate bundles/1.0.0 --select-optional suite=operatorframework", JSON),
    case("bundle diff bundles/1.0.0 bundles/1.1.0", JSON),
    case("bundle render bundles/1.0.0", BOTH),
    text("bundle build bundles/1.0.0"),
    case("plan --catalog port/local=catalog --cluster cluster.yaml", BOTH),
    text("plan --catalog port/local=catalog --cluster cluster.yaml -o mermaid"),
    text("plan -n port --catalog port/local=broken --subscribe tide¤/stable§"),
    case("why tide¤ -n port --catalog port/local=catalog --subscribe tide¤/stable§", BOTH),
    text("why beacon¤ --catalog port/local=catalog --cluster cluster.yaml"),
    case("why-not beacon¤ --catalog port/local=catalog --cluster cluster.yaml", BOTH),
    quoting("why-not beacon¤@1.1.0 -n port --catalog port/local=catalog", BOTH),
];

/// Commands on an embedded cluster, in this order.
pub(super) const CLUSTER: &[Case] = &[
    text("up . --once"),
    text("apply -f objects.yaml"),
    case("get subscriptions,csv,installplans,catalogsources,configmaps", BOTH),
    text("get subscriptions,csv,installplans,catalogsources,events -o wide"),
    text("get events -o name"),
    case("get configmap texts -n harbour", BOTH),
    text("get configmap texs"),
    text("describe subscription beacon"),
    text("describe subscription wrong"),
    text("describe subscription lost"),
    text("describe catalogsource wrong"),
    text("describe csv tide.v1.0.0"),
    text("describe configmap texts"),
    text("describe event told"),
    text("events"),
    text("events --for texts"),
    quoting("tree", BOTH),
    text("history"),
    case("status --local .", JSON),
    case("plan --dir .", BOTH),
    text("why beacon --dir ."),
    text("why-not foghorn --dir ."),
    text("pin beacon"),
    text("pause beacon"),
    text("approve lost"),
    text("reject lost"),
    text("rollback beacon"),
    text("uninstall beacon"),
    text("delete configmap texts"),
];

/// Questions to a server whose catalog is hostile.
pub(super) const REGISTRY: &[Case] = &[
    quoting("registry query SERVER health", BOTH),
    text("registry query SERVER health service§"),
    quoting("registry query SERVER packages", BOTH),
    case("registry query SERVER package beacon¤", BOTH),
    text("registry query SERVER package gone§"),
    case("registry query SERVER bundles", BOTH),
    case("registry query SERVER bundle beacon¤ stable§ beacon.v1.2.0¤", BOTH),
    text("registry query SERVER bundle beacon¤ stable§ gone§"),
    case("registry query SERVER head beacon¤ stable§", BOTH),
    case("registry query SERVER replacement beacon.v1.0.0¤ beacon¤ stable§", BOTH),
    case("registry query SERVER replacements beacon.v1.1.0¤", BOTH),
    case("registry query SERVER providers tide.example.com v1 Tide§", BOTH),
    case("registry query SERVER latest-providers tide.example.com v1 Tide§", BOTH),
    case("registry query SERVER default-provider tide.example.com v1 Tide§", BOTH),
];

/// Questions to a server that quotes its hostile catalog when it refuses to answer.
pub(super) const REFUSALS: &[Case] = &[
    text("registry query SERVER packages"),
    text("registry query SERVER package beacon¤"),
    text("registry query SERVER bundle beacon¤ stable§ beacon.v1.0.0¤"),
];

/// Commands that print no text of a catalog, a bundle or a cluster, or need a server to do so.
pub(super) const EXEMPT: &[(&str, &str)] = &[
    ("catalog mirror", "needs a registry; prints tables and cleaned lines"),
    ("serve", "serves until it is stopped; the tests of `REGISTRY` read its log"),
    ("cache ls", "prints paths and digests of the own cache"),
    ("cache prune", "prints numbers"),
    ("install", "needs a cluster; prints own manifests"),
    ("controller", "needs a cluster; its log has tests of its own"),
    ("crds", "prints own definitions"),
    ("manifests", "prints own manifests"),
    ("image", "packs the own program"),
    ("completion", "prints own options"),
    ("man", "writes files"),
];
