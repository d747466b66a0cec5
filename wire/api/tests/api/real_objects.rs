//! Every manifest of the community's newest bundles, as whole objects.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use operon_api::{crd_objects, read_objects, write_json_pretty, write_yaml};
use operon_object::{Object, Value, known::CLUSTER_SERVICE_VERSION};
use tempfile::TempDir;

/// ClusterServiceVersions are all read, and of the other manifests those up to this size: the few
/// beyond it are four fifths of the bytes, and only more of the same schemas.
const LARGEST_OTHER: u64 = 20_000;

/// Fields that authors wrote by mistake; a cluster drops them, and OLM's own schema does too.
const MISTAKES: &[&str] = &[
    "ddapiVersion",
    "spec.MinKubeVersion",
    "spec.crds",
    "spec.customresourcedefinitions.install",
    "spec.customresourcedefinitions.owned[].group",
    "spec.customresourcedefinitions.owned[].replaces",
    "spec.customresourcedefinitions.owned[].resources[].Kind",
    "spec.customresourcedefinitions.owned[].resources[].replaces",
    "spec.customresourcedefinitions.owned[].specDescriptors[].x-descriptios",
    "spec.customresourcedefinitions.owned[].specDescriptors[].x-descriptor",
    "spec.install.permissions",
    "spec.install.spec.clusterpermissions",
    "spec.install.spec.deployments[].apiVersion",
    "spec.install.spec.deployments[].kind",
    "spec.install.spec.deployments[].metadata",
    "spec.install.spec.deployments[].namespace",
    "spec.install.spec.deployments[].spec.template.containers",
    "spec.install.spec.services",
    "spec.maxKubeVersion",
    "spec.miniKubeVersion",
    "spec.minikubeVersion",
    "spec.olm.skipRange",
    "spec.skipRange",
    "spec.support",
];

/// What was seen of some files.
#[derive(Default)]
struct Seen {
    service_versions: usize,
    others: usize,
    unread: usize,
    dropped: BTreeSet<String>,
}

#[test]
fn every_real_manifest_reads_and_writes_back_and_keeps_its_fields() {
    let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/bundles.tar.zst");
    let directory = TempDir::new().unwrap();
    let mut unpack = Command::new("tar");
    unpack.args(["--zstd", "-xf", archive, "-C"]).arg(directory.path());
    let unpacked = unpack.output().is_ok_and(|output| output.status.success());
    if !Path::new(archive).exists() || !unpacked {
        let reason = format!("{archive} is not present, or tar and zstd are not");
        operon_parts::leave_out(operon_parts::Part::Shared, &reason);
        return;
    }
    let files = manifests_below(directory.path());
    let schema = crd_objects()[0].spec().get("versions").elements()[0]
        .at(&["schema", "openAPIV3Schema"])
        .clone();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut total = Seen::default();
    thread::scope(|scope| {
        let work = |worker| {
            let (files, schema) = (&files, &schema);
            scope.spawn(move || look_at(files.iter().skip(worker).step_by(workers), schema))
        };
        let started: Vec<_> = (0..workers).map(work).collect();
        for handle in started {
            let seen = handle.join().expect("a worker saw a difference");
            total.service_versions += seen.service_versions;
            total.others += seen.others;
            total.unread += seen.unread;
            total.dropped.extend(seen.dropped);
        }
    });
    // Five authors forgot the `apiVersion`.
    assert_eq!((total.service_versions, total.unread), (797, 5));
    assert!(total.others > 4000, "{}", total.others);
    assert_eq!(total.dropped, MISTAKES.iter().map(|path| (*path).to_owned()).collect());
}

fn manifests_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the unpacked directory can be read");
            waiting.extend(entries.map(|entry| entry.expect("its entries too").path()));
        } else if path.parent().is_some_and(|parent| parent.ends_with("manifests")) {
            found.push(path);
        }
    }
    found
}

fn look_at<'p>(files: impl Iterator<Item = &'p PathBuf>, schema: &Value) -> Seen {
    let mut seen = Seen::default();
    for path in files {
        let text = fs::read(path).expect("the unpacked file can be read");
        let is_small = text.len() as u64 <= LARGEST_OTHER;
        if !is_small && !text.windows(21).any(|word| word == b"ClusterServiceVersion") {
            continue;
        }
        let manifests = read_objects(&path.to_string_lossy(), &text);
        seen.unread += manifests.diagnostics.len();
        for located in manifests.objects {
            check_round_trip(&located.object, path);
            if located.object.kind().name() == CLUSTER_SERVICE_VERSION.name() {
                seen.service_versions += 1;
                find_dropped(schema, located.object.value(), "", &mut seen.dropped);
            } else {
                seen.others += 1;
            }
        }
    }
    seen
}

fn check_round_trip(object: &Object, path: &Path) {
    for text in [write_yaml(object.value()), write_json_pretty(object.value())] {
        let back = read_objects("f", text.as_bytes());
        assert_eq!(back.diagnostics.len(), 0, "{}", path.display());
        assert_eq!(back.objects.len(), 1, "{}", path.display());
        assert!(back.objects[0].object == *object, "{} differs:\n{text}", path.display());
    }
}

/// Finds the fields that a cluster would drop, because the schema does not know them.
fn find_dropped(schema: &Value, value: &Value, path: &str, dropped: &mut BTreeSet<String>) {
    for element in value.elements() {
        find_dropped(schema.get("items"), element, &format!("{path}[]"), dropped);
    }
    let keeps_all = schema.get("x-kubernetes-preserve-unknown-fields").as_bool() == Some(true);
    for (name, below) in value.entries() {
        if path.is_empty() && name == "metadata" {
            continue;
        }
        let place = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let field = schema.get("properties").get(name);
        let of_map = schema.get("additionalProperties");
        if !field.is_null() {
            find_dropped(field, below, &place, dropped);
        } else if !of_map.is_null() {
            find_dropped(of_map, below, &place, dropped);
        } else if !keeps_all {
            dropped.insert(place);
        }
    }
}
