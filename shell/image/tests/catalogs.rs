//! Catalogs and bundles from directories: what is read, what stays in use, and what is said.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{collections::BTreeMap, fs, time::Duration};

use operon_driver::Catalogs;
use operon_image::DirectoryCatalogs;
use operon_lifecycle::{BundleKey, BundleState, CatalogState, CertificateRequest};
use operon_object::{Object, Timestamp, map};
use operon_resolve::SourceName;
use tempfile::TempDir;

/// A time at which files that were written before a test began are old.
const LATER: Timestamp = Timestamp::from_milliseconds(4_000_000_000_000);

struct Scene {
    directory: TempDir,
    catalogs: DirectoryCatalogs,
    looks: u64,
}

impl Scene {
    /// A catalog with one bundle in a directory and one in its document.
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let catalogs = DirectoryCatalogs::new(directory.path(), None);
        let scene = Self { directory, catalogs, looks: 0 };
        scene.write("catalog/tide.yaml", &tide_catalog(""));
        scene.write("bundles/tide.v1.0.0/manifests/tide.yaml", &service_version("tide.v1.0.0"));
        scene.write("bundles/tide.v1.0.0/manifests/.hidden.yaml", "{");
        scene.write("bundles/tide.v1.0.0/manifests/README.md", "{");
        scene
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        let root = self.directory.path();
        fs::rename(root.join(from), root.join(to)).unwrap();
    }

    /// Looks at one CatalogSource, a second after the last time.
    fn look_at(&mut self, spec: operon_object::Value) -> CatalogState {
        let mut source =
            Object::new("operators.coreos.com/v1alpha1", "CatalogSource", "harbour", "chandler");
        source.set(&["spec"], spec);
        self.looks += 1;
        let now = LATER.after(Duration::from_secs(self.looks));
        let mut states: BTreeMap<SourceName, CatalogState> = self.catalogs.read(&[&source], now);
        states.remove(&name()).unwrap()
    }

    fn look(&mut self) -> CatalogState {
        self.look_at(map! { "sourceType" => "grpc", "image" => "./catalog" })
    }

    fn bundle(&self, bundle: &str, image: &str, digest: &str) -> Result<usize, String> {
        let key = BundleKey {
            source: name(),
            name: bundle.to_owned(),
            image: image.to_owned(),
            digest: digest.to_owned(),
        };
        match self.catalogs.bundle(&key) {
            BundleState::Ready(contents) => Ok(1 + contents.objects.len()),
            BundleState::Pending { message } | BundleState::Failed { message, .. } => Err(message),
        }
    }
}

fn name() -> SourceName {
    SourceName { namespace: "harbour".to_owned(), name: "chandler".to_owned() }
}

fn service_version(name: &str) -> String {
    format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: {name}\nspec: {{}}\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: tables\n"
    )
}

/// The package `tide`: 1.0.0 in a directory, 1.1.0 inline, and more text behind it.
fn tide_catalog(more: &str) -> String {
    // {"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"tide.v1.1.0"}}
    let inline = "eyJhcGlWZXJzaW9uIjoib3BlcmF0b3JzLmNvcmVvcy5jb20vdjFhbHBoYTEiLCJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwibWV0YWRhdGEiOnsibmFtZSI6InRpZGUudjEuMS4wIn19";
    format!(
        "schema: olm.package\nname: tide\ndefaultChannel: stable\n\
         ---\nschema: olm.channel\npackage: tide\nname: stable\nentries:\n- name: tide.v1.1.0\n  replaces: tide.v1.0.0\n- name: tide.v1.0.0\n\
         ---\nschema: olm.bundle\npackage: tide\nname: tide.v1.0.0\nimage: ../bundles/tide.v1.0.0\nproperties:\n\
         - type: olm.package\n  value: {{ packageName: tide, version: 1.0.0 }}\n\
         ---\nschema: olm.bundle\npackage: tide\nname: tide.v1.1.0\nimage: ''\nproperties:\n\
         - type: olm.package\n  value: {{ packageName: tide, version: 1.1.0 }}\n\
         - type: olm.bundle.object\n  value: {{ data: {inline} }}\n{more}"
    )
}

#[test]
fn bundles_come_from_directories_and_documents() {
    let mut scene = Scene::new();
    let state = scene.look();
    assert_eq!(state.problem, "");
    assert_eq!(state.address, "./catalog");
    assert_eq!(state.catalog.unwrap().counts().bundles, 2);
    assert_eq!(scene.bundle("tide.v1.0.0", "../bundles/tide.v1.0.0", &state.digest), Ok(2));
    assert_eq!(scene.bundle("tide.v1.1.0", "", &state.digest), Ok(1));
    let again = scene.look();
    assert_eq!((again.digest, again.read), (state.digest.clone(), state.read), "nothing changed");

    // Whatever belongs to a bundle counts, and what came of it before is not asked for again.
    scene.write("bundles/tide.v1.0.0/manifests/more.yaml", &service_version("other"));
    let changed = scene.look();
    assert_ne!(changed.digest, state.digest);
    let stale = scene.bundle("tide.v1.0.0", "../bundles/tide.v1.0.0", &state.digest);
    assert_eq!(stale, Err("the catalog is read again".to_owned()));
    let error = scene.bundle("tide.v1.0.0", "../bundles/tide.v1.0.0", &changed.digest).unwrap_err();
    assert!(error.contains("2 ClusterServiceVersions instead of one"), "{error}");
}

#[test]
fn what_cannot_be_unpacked_is_told_with_its_place() {
    let mut scene = Scene::new();
    scene.write("bundles/empty/README.md", "");
    scene.write("bundles/broken/manifests/a.yaml", "kind: [");
    scene.write("bundles/typeless/manifests/a.yaml", "metadata:\n  name: a\n");
    scene.write("bundles/none/manifests/a.yaml", "kind: Role\napiVersion: v1\n");
    let digest = scene.look().digest;
    let claims = [
        ("tide.v9.0.0", "", "the catalog has no bundle tide.v9.0.0"),
        (
            "tide.v1.0.0",
            "quay.io/tide:1",
            "lies in the image `quay.io/tide:1`; images come with a later version",
        ),
        ("tide.v1.0.0", "", "has no manifests: put them into the catalog"),
        ("tide.v1.0.0", "../bundles/gone", "cannot read `"),
        ("tide.v1.0.0", "../bundles/empty", "manifests`: No such file or directory"),
        ("tide.v1.0.0", "../bundles/broken", "manifests/a.yaml:1: this is not YAML"),
        ("tide.v1.0.0", "../bundles/typeless", "`kind` is missing; say in `kind` and `apiVersion`"),
        ("tide.v1.0.0", "../bundles/none", "contains no ClusterServiceVersion"),
        (
            "tide.v2.0.0",
            "../bundles/tide.v1.0.0",
            "is called tide.v1.0.0; both must have the same name",
        ),
    ];
    for (bundle, image, expected) in claims {
        let error = scene.bundle(bundle, image, &digest).unwrap_err();
        assert!(error.contains(expected) && error.contains(bundle), "{image}: {error}");
    }
}

#[test]
fn the_last_good_content_stays_in_use() {
    let mut scene = Scene::new();
    let good = scene.look();

    scene.write("catalog/tide.yaml", &tide_catalog("---\n}{\n"));
    let broken = scene.look();
    assert!(
        broken.problem.starts_with("the catalog has an error: tide.yaml:31: "),
        "{}",
        broken.problem
    );
    assert_eq!(broken.digest, good.digest);
    assert_eq!(broken.catalog.unwrap().counts().bundles, 2);
    // What is in a file that changed cannot be had; what is in a directory can.
    let error = scene.bundle("tide.v1.1.0", "", &good.digest).unwrap_err();
    assert!(error.contains("changed since the catalog was opened"), "{error}");
    assert_eq!(scene.bundle("tide.v1.0.0", "../bundles/tide.v1.0.0", &good.digest), Ok(2));

    scene.rename("catalog", "elsewhere");
    let gone = scene.look();
    assert!(gone.problem.starts_with("there is no catalog at `"), "{}", gone.problem);
    assert_eq!(gone.catalog.unwrap().counts().bundles, 2);

    scene.rename("elsewhere", "catalog");
    scene.write("catalog/tide.yaml", &tide_catalog(""));
    let back = scene.look();
    assert_eq!(back.problem, "");
    assert_ne!(back.digest, good.digest, "what could not be had is asked for again");
    assert_eq!(scene.bundle("tide.v1.1.0", "", &back.digest), Ok(1));
    assert_eq!(scene.look().digest, back.digest, "and then nothing changes");
}

#[test]
fn of_a_catalog_that_never_was_good_the_sound_part_is_used() {
    let mut scene = Scene::new();
    scene.write("catalog/other.yaml", "schema: [");
    let state = scene.look();
    assert!(state.problem.contains("other.yaml:1: "), "{}", state.problem);
    assert_eq!(state.catalog.unwrap().counts().bundles, 2);
}

#[test]
fn other_sources_say_what_to_do() {
    let mut scene = Scene::new();
    let claims = [
        (
            map! { "sourceType" => "grpc", "image" => "quay.io/catalog:latest" },
            "`quay.io/catalog:latest` is an image",
        ),
        (
            map! { "sourceType" => "grpc", "address" => "registry:50051" },
            "`registry:50051` is an address",
        ),
        (map! { "sourceType" => "configmap", "configMap" => "c" }, "catalogs of type `configmap`"),
        (map! { "sourceType" => "grpc", "image" => "./nowhere" }, "there is no catalog at `"),
    ];
    for (spec, expected) in claims {
        let state = scene.look_at(spec);
        assert!(state.problem.contains(expected), "{}", state.problem);
        assert!(state.catalog.is_none());
    }
}

#[test]
fn certificates_are_for_their_hosts_and_made_anew_in_time() {
    let scene = Scene::new();
    let request = CertificateRequest {
        operator: Object::new("v1", "ClusterServiceVersion", "harbour", "tide.v1.0.0"),
        deployment: "tide-operator".to_owned(),
        hosts: vec!["tide-service.harbour".to_owned(), "tide-service.harbour.svc".to_owned()],
    };
    let now = Timestamp::parse("2026-11-16T05:54:39Z").unwrap();
    let (first, rotate) = scene.catalogs.certify(&request, now).unwrap();
    assert_eq!(rotate.to_string(), "2028-11-14T05:54:39Z");
    let pem = |text: &str| {
        String::from_utf8(operon_document::decode_base64(text.as_bytes()).unwrap()).unwrap()
    };
    assert!(pem(&first.certificate).starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(pem(&first.ca).starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(pem(&first.key).starts_with("-----BEGIN PRIVATE KEY-----"));
    assert_eq!(first.ca_hash, operon_object::sha256_hex(pem(&first.ca)));
    let (second, _) = scene.catalogs.certify(&request, now).unwrap();
    assert_ne!(first.ca_hash, second.ca_hash, "each has an authority of its own");

    let nobody = CertificateRequest { hosts: vec!["ö".to_owned()], ..request };
    let error = scene.catalogs.certify(&nobody, now).unwrap_err().message;
    assert!(
        error.starts_with("cannot make a certificate for Deployment tide-operator: "),
        "{error}"
    );
}
