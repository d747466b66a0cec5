//! The plan of the house: which room may use which.
//!
//! The folder of a crate is its ring. A room uses only rings inside its own, or rooms below it in
//! the orders written here; adding an edge there is a change of the plan.

use super::{
    Findings, Violation,
    rooms::{Dependency, Room},
};

/// A ring of the house, innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ring {
    /// Values in, values out, such as `core/version`.
    Core,
    /// Bytes to values and back, such as `wire/fbc`.
    Wire,
    /// One outside world per room, such as `shell/image`.
    Shell,
    /// The program, `bin/operon`.
    Bin,
    /// The tools of development, such as `dev/xtask`.
    Dev,
}

impl Ring {
    /// Returns the ring that a folder at the root is.
    pub(crate) fn of_folder(folder: &str) -> Option<Self> {
        match folder {
            "core" => Some(Self::Core),
            "wire" => Some(Self::Wire),
            "shell" => Some(Self::Shell),
            "bin" => Some(Self::Bin),
            "dev" => Some(Self::Dev),
            _ => None,
        }
    }
}

/// The rooms of core and wire, each with the rooms of its ring directly below it.
const ORDERS: &[(Ring, &str, &[&str])] = &[
    (Ring::Core, "version", &[]),
    (Ring::Core, "object", &[]),
    (Ring::Core, "constraint", &["object", "version"]),
    (Ring::Core, "catalog", &["constraint"]),
    (Ring::Core, "sat", &[]),
    (Ring::Core, "resolve", &["catalog", "sat"]),
    (Ring::Core, "schema", &["object"]),
    (Ring::Core, "install", &["object", "version"]),
    (Ring::Core, "kinds", &["object", "resolve", "install"]),
    (Ring::Core, "plan", &["kinds", "install", "schema"]),
    (Ring::Core, "lifecycle", &["plan"]),
    (Ring::Core, "apiserver", &["schema"]),
    (Ring::Wire, "document", &[]),
    (Ring::Wire, "fbc", &["document"]),
    (Ring::Wire, "bundle", &["document"]),
    (Ring::Wire, "api", &["document"]),
    (Ring::Wire, "draw", &[]),
    (Ring::Wire, "oci", &["document"]),
];

/// The room of the shell that holds the ports; its neighbours know it and not each other.
const PORTS: &str = "driver";

/// What core rooms may take from outside the house, each with its reason.
const CORE_DEPENDENCIES: &[(&str, &str)] = &[
    // CEL's `matches` promises linear time on patterns that strangers write.
    ("constraint", "regex"),
    // Plans of large bundles fit into a cluster only when they are compressed.
    ("kinds", "flate2"),
    // Names and labels that clusters already carry are SHA-2 digests.
    ("object", "sha2"),
    // The patterns of CRD schemas are strangers' too.
    ("schema", "regex"),
];

/// Checks every room against the plan.
pub(crate) fn check(rooms: &[Room], findings: &mut Findings) {
    for room in rooms {
        check_manifest(room, findings);
        for dependency in &room.dependencies {
            check_dependency(room, dependency, rooms, findings);
        }
    }
}

fn report(room: &Room, word: &str, rule: &'static str, advice: String, findings: &mut Findings) {
    let (path, line) = (room.manifest.clone(), room.line_of(word));
    findings.violations.push(Violation { path, line, rule, advice });
}

fn check_manifest(room: &Room, findings: &mut Findings) {
    let expected = format!("operon-{}", room.folder);
    let may_be_short = matches!(room.ring, Ring::Bin | Ring::Dev);
    if room.name != expected && !(may_be_short && room.name == room.folder) {
        let advice = format!("call the crate `{expected}`, after its folder");
        report(room, "name", "crate-name", advice, findings);
    }
    let is_ordered = matches!(room.ring, Ring::Core | Ring::Wire);
    if is_ordered && below(room.ring, &room.folder).is_none() {
        let advice = "write its place into the orders in `dev/xtask/src/tidy/rings.rs`".to_owned();
        report(room, "name", "unknown-room", advice, findings);
    }
    if !room.takes_workspace_lints() {
        let advice = "add `[lints]` with `workspace = true`".to_owned();
        report(room, "[lints]", "manifest", advice, findings);
    }
    if !room.has_description {
        let advice = "say in `description` what the room is for".to_owned();
        report(room, "[package]", "manifest", advice, findings);
    }
    if room.is_published {
        let advice = "add `publish.workspace = true`".to_owned();
        report(room, "[package]", "manifest", advice, findings);
    }
}

fn check_dependency(room: &Room, dependency: &Dependency, rooms: &[Room], findings: &mut Findings) {
    let name = dependency.name.as_str();
    if !dependency.is_room {
        let is_listed = CORE_DEPENDENCIES.contains(&(room.folder.as_str(), name));
        if room.ring == Ring::Core && !dependency.is_for_tests && !is_listed {
            let advice = format!("do without `{name}`: core takes nothing from outside");
            report(room, name, "core-dependency", advice, findings);
        }
        return;
    }
    let Some(used) = rooms.iter().find(|other| other.name == name) else {
        let advice = format!("`{name}` lies outside the workspace: move it into a ring");
        report(room, name, "ring", advice, findings);
        return;
    };
    let is_tool_of_tests = dependency.is_for_tests && used.ring == Ring::Dev;
    if !may_use(room, used) && !is_tool_of_tests {
        let advice = format!(
            "`{}` may not use `{}`: move what it needs inwards, or itself outwards",
            room.manifest.trim_end_matches("/Cargo.toml"),
            used.manifest.trim_end_matches("/Cargo.toml"),
        );
        report(room, name, "ring", advice, findings);
    }
}

fn may_use(room: &Room, used: &Room) -> bool {
    match room.ring {
        Ring::Dev => true,
        _ if used.ring != room.ring => used.ring < room.ring,
        Ring::Core | Ring::Wire => is_below(room.ring, &used.folder, &room.folder),
        Ring::Shell => used.folder == PORTS,
        Ring::Bin => false,
    }
}

fn below(ring: Ring, folder: &str) -> Option<&'static [&'static str]> {
    let row = ORDERS.iter().find(|(row_ring, name, _)| *row_ring == ring && *name == folder)?;
    Some(row.2)
}

/// Tells whether `lower` is reached from `upper` by going down the written order.
fn is_below(ring: Ring, lower: &str, upper: &str) -> bool {
    let next = below(ring, upper).unwrap_or(&[]);
    next.iter().any(|name| *name == lower || is_below(ring, lower, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";

    /// Makes a sound room from `ring/folder`, with dependencies such as `core/version`, `regex` or
    /// `dev:proptest`.
    fn room(path: &str, dependencies: &[&str]) -> Room {
        let crate_name = |path: &str| match path.split_once('/') {
            Some(("bin", folder)) => folder.to_owned(),
            Some((_, folder)) => format!("operon-{folder}"),
            None => path.to_owned(),
        };
        let (ring, folder) = path.split_once('/').expect("a path such as `core/version`");
        Room {
            name: crate_name(path),
            ring: Ring::of_folder(ring).expect("a ring"),
            folder: folder.to_owned(),
            manifest: format!("{path}/Cargo.toml"),
            manifest_text: MANIFEST.to_owned(),
            has_description: true,
            is_published: false,
            dependencies: dependencies
                .iter()
                .map(|written| {
                    let path = written.strip_prefix("dev:");
                    Dependency {
                        name: crate_name(path.unwrap_or(written)),
                        is_for_tests: path.is_some(),
                        is_room: written.contains('/'),
                    }
                })
                .collect(),
        }
    }

    fn rules(rooms: &[Room]) -> Vec<&'static str> {
        let mut findings = Findings::default();
        check(rooms, &mut findings);
        findings.violations.iter().map(|violation| violation.rule).collect()
    }

    const HOUSE: &[&str] = &[
        "core/version",
        "core/constraint",
        "core/catalog",
        "core/sat",
        "core/resolve",
        "core/plan",
        "core/lifecycle",
        "wire/document",
        "wire/fbc",
        "wire/bundle",
        "wire/draw",
        "wire/api",
        "shell/driver",
        "shell/image",
        "shell/kube",
        "bin/operon",
        "dev/sim",
    ];

    #[test]
    fn edges_follow_the_plan() {
        let cases: &[(&str, &str, bool)] = &[
            ("core/constraint", "core/version", true),
            ("core/lifecycle", "core/version", true),
            ("core/plan", "core/sat", true),
            ("core/version", "core/constraint", false),
            ("core/sat", "core/version", false),
            ("core/catalog", "wire/fbc", false),
            ("core/catalog", "dev:wire/fbc", false),
            ("core/catalog", "dev:dev/sim", true),
            ("core/catalog", "dev/sim", false),
            ("wire/fbc", "core/catalog", true),
            ("wire/fbc", "wire/document", true),
            ("wire/draw", "wire/document", false),
            ("wire/bundle", "wire/fbc", false),
            ("wire/fbc", "shell/image", false),
            ("shell/image", "wire/fbc", true),
            ("shell/kube", "shell/driver", true),
            ("shell/driver", "shell/kube", false),
            ("shell/kube", "shell/image", false),
            ("bin/operon", "shell/image", true),
            ("bin/operon", "dev/sim", false),
            ("dev/sim", "bin/operon", true),
            ("core/constraint", "regex", true),
            ("core/version", "regex", false),
            ("core/version", "dev:proptest", true),
            ("wire/fbc", "serde", true),
        ];
        for (from, to, expected) in cases {
            let mut rooms: Vec<Room> = HOUSE.iter().map(|path| room(path, &[])).collect();
            rooms.retain(|other| other.manifest != format!("{from}/Cargo.toml"));
            rooms.push(room(from, &[to]));
            assert_eq!(rules(&rooms).is_empty(), *expected, "{from} -> {to}");
        }
    }

    #[test]
    fn manifests_are_complete() {
        let sound = room("core/version", &[]);
        assert!(rules(std::slice::from_ref(&sound)).is_empty());
        let cases: [(Room, &str); 6] = [
            (Room { name: "version".into(), ..sound.clone() }, "crate-name"),
            (Room { manifest_text: "[package]\n".into(), ..sound.clone() }, "manifest"),
            (Room { has_description: false, ..sound.clone() }, "manifest"),
            (Room { is_published: true, ..sound }, "manifest"),
            (room("wire/extra", &[]), "unknown-room"),
            (room("shell/web", &["core/gone"]), "ring"),
        ];
        for (room, rule) in cases {
            assert_eq!(rules(std::slice::from_ref(&room)), [rule], "{room:?}");
        }
    }
}
