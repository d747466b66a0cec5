//! The catalogs of CatalogSources: what is read, what stays in use, and what is said.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{collections::BTreeMap, fs, sync::Arc, thread, time::Duration};

use operon_driver::{CatalogRequest, Catalogs};
use operon_image::{Fetcher, ImagesOptions, SourceCatalogs};
use operon_install::ServingCertificate;
use operon_lifecycle::{
    BundleKey, BundleState, CatalogState, CertificateRequest, ReplacedCertificate,
};
use operon_object::{Object, Timestamp, map};
use operon_resolve::SourceName;
use tempfile::TempDir;

/// A time at which files that were written before a test began are old.
const LATER: Timestamp = Timestamp::from_milliseconds(4_000_000_000_000);

struct Scene {
    directory: TempDir,
    catalogs: SourceCatalogs,
    config_map: Option<Object>,
    looks: u64,
}

impl Scene {
    /// A catalog with one bundle in a directory and one in its document.
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let fetcher = Fetcher::new(None, |cache| Ok(ImagesOptions::bare(cache)), None).unwrap();
        let catalogs = SourceCatalogs::new(directory.path(), Arc::new(fetcher));
        let scene = Self { directory, catalogs, config_map: None, looks: 0 };
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

    /// Looks at one CatalogSource, a second after the last time, until it is not being read.
    fn look_at(&mut self, spec: operon_object::Value) -> CatalogState {
        let mut source =
            Object::new("operators.coreos.com/v1alpha1", "CatalogSource", "harbour", "chandler");
        source.set(&["spec"], spec);
        self.looks += 1;
        let now = LATER.after(Duration::from_secs(self.looks));
        let request = CatalogRequest {
            source: &source,
            config_map: self.config_map.as_ref(),
            pull_secrets: Vec::new(),
        };
        loop {
            let requests = std::slice::from_ref(&request);
            let mut states: BTreeMap<SourceName, CatalogState> = self.catalogs.read(requests, now);
            let state = states.remove(&name()).unwrap();
            if !state.is_being_read {
                return state;
            }
            thread::sleep(Duration::from_millis(2));
        }
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
        loop {
            match self.catalogs.bundle(&key) {
                BundleState::Ready(contents) => return Ok(1 + contents.objects.len()),
                BundleState::Pending { message } if message.contains("pulling") => {
                    thread::sleep(Duration::from_millis(2));
                }
                BundleState::Pending { message } | BundleState::Failed { message, .. } => {
                    return Err(message);
                }
            }
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
    // Nobody listens on port 1, so the image cannot be had.
    let error = scene.bundle("tide.v1.0.0", "127.0.0.1:1/tide:1", &digest).unwrap_err();
    assert!(error.contains("127.0.0.1:1"), "{error}");
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
fn empty_directory_is_reported_until_filled() {
    let mut scene = Scene::new();
    scene.rename("catalog/tide.yaml", "tide.yaml");
    let source = || map! { "sourceType" => "grpc", "image" => "./catalog" };
    let expected = "`./catalog` holds no catalog: no olm.package document was found";
    assert_eq!(scene.look_at(source()).problem, expected);
    assert_eq!(scene.look_at(source()).problem, expected);

    scene.rename("tide.yaml", "catalog/tide.yaml");
    let filled = scene.look_at(source());
    assert_eq!(filled.problem, "");
    assert_eq!(filled.catalog.unwrap().counts().bundles, 2);

    // A catalog that becomes empty is most likely being replaced: its last content stays in use.
    scene.rename("catalog/tide.yaml", "tide.yaml");
    let emptied = scene.look_at(source());
    assert_eq!(emptied.problem, expected);
    assert_eq!(emptied.catalog.unwrap().counts().bundles, 2);
}

#[test]
fn what_cannot_be_fetched_is_told_with_its_name() {
    let mut scene = Scene::new();
    let claims = [
        (map! { "sourceType" => "grpc", "image" => "127.0.0.1:1/catalog:latest" }, "127.0.0.1:1"),
        (
            map! { "sourceType" => "grpc", "image" => "Quay.io/Catalog" },
            "must not have capital letters",
        ),
        (map! { "sourceType" => "grpc", "address" => "registry:50051" }, "`registry:50051`"),
        (
            map! { "sourceType" => "configmap", "configMap" => "c" },
            "there is no ConfigMap of that name",
        ),
        (map! { "sourceType" => "grpc", "image" => "./nowhere" }, "there is no catalog at `"),
    ];
    for (spec, expected) in claims {
        let state = scene.look_at(spec);
        assert!(state.problem.contains(expected), "{}", state.problem);
        assert!(state.catalog.is_none());
    }
}

/// A ConfigMap with the package `tide`.
fn config_map(packages: &str) -> Object {
    let mut config_map = Object::new("v1", "ConfigMap", "harbour", "charts");
    config_map.set(
        &["data"],
        map! {
            "packages" => packages,
            "clusterServiceVersions" => "
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: tide.v1.0.0}
  spec: {version: 1.0.0}
",
        },
    );
    config_map
}

#[test]
fn a_config_map_is_read_and_the_last_good_content_stays_in_use() {
    let mut scene = Scene::new();
    let spec = || map! { "sourceType" => "internal", "configMap" => "charts" };
    scene.config_map = Some(config_map(
        "[{packageName: tide, channels: [{name: stable, currentCSV: tide.v1.0.0}]}]",
    ));
    let good = scene.look_at(spec());
    assert_eq!(good.problem, "");
    assert_eq!(good.address, "charts");
    assert_eq!(good.catalog.unwrap().counts().bundles, 1);
    assert_eq!(scene.bundle("tide.v1.0.0", "", &good.digest), Ok(1));

    scene.config_map =
        Some(config_map("[{packageName: tide, channels: [{name: stable, currentCSV: moon}]}]"));
    let broken = scene.look_at(spec());
    assert!(broken.problem.contains("names `moon`"), "{}", broken.problem);
    assert_eq!(broken.digest, good.digest);
    assert_eq!(broken.catalog.unwrap().counts().bundles, 1);

    scene.config_map = None;
    let gone = scene.look_at(spec());
    assert!(gone.problem.contains("there is no ConfigMap"), "{}", gone.problem);
    assert_eq!(gone.catalog.unwrap().counts().bundles, 1);
}

#[test]
fn a_catalog_that_was_fetched_cannot_name_files_of_this_machine() {
    let mut scene = Scene::new();
    let archive = scene.directory.path().join("shipped.tar");
    let mut tar = tar::Builder::new(fs::File::create(&archive).unwrap());
    tar.append_dir_all(".", scene.directory.path().join("catalog")).unwrap();
    tar.into_inner().unwrap();
    let image = format!("tar:{}", archive.display());
    let state = scene.look_at(map! { "sourceType" => "grpc", "image" => image });
    assert!(state.problem.contains("../bundles/tide.v1.0.0"), "{}", state.problem);
    assert_eq!(state.catalog.unwrap().counts().bundles, 2);
    let directory = scene.directory.path().join("bundles/tide.v1.0.0");
    let forms = ["", "dir:", "oci:", "docker-archive:", "tar:"];
    for form in forms {
        let image = format!("{form}{}", directory.display());
        let error = scene.bundle("tide.v1.0.0", &image, &state.digest).unwrap_err();
        let is_refused = error.contains("cannot name paths") || error.contains("image reference");
        assert!(is_refused, "{image}: {error}");
    }
}

#[test]
fn certificates_are_for_their_hosts_and_made_anew_in_time() {
    let scene = Scene::new();
    let request = CertificateRequest {
        operator: Object::new("v1", "ClusterServiceVersion", "harbour", "tide.v1.0.0"),
        deployment: "tide-operator".to_owned(),
        hosts: vec!["tide-service.harbour".to_owned(), "tide-service.harbour.svc".to_owned()],
        replaces: None,
    };
    let now = Timestamp::parse("2026-11-16T05:54:39Z").unwrap();
    let (first, rotate) = scene.catalogs.certify(&request, now).unwrap();
    assert_eq!(rotate.to_string(), "2028-10-16T05:54:39Z");
    let pem = |text: &str| {
        String::from_utf8(operon_document::decode_base64(text.as_bytes()).unwrap()).unwrap()
    };
    assert!(pem(&first.certificate).starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(pem(&first.ca).starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(pem(&first.key).starts_with("-----BEGIN PRIVATE KEY-----"));
    assert_eq!(first.ca_hash, operon_object::sha256_hex(pem(&first.ca)));
    let (second, _) = scene.catalogs.certify(&request, now).unwrap();
    assert_ne!(first.ca_hash, second.ca_hash, "each has an authority of its own");

    // A rotation: both are trusted while pods read the new one, and pods are told nothing new. The next one
    // lets the first go, which has ended by then.
    let authority = |certificate: &ServingCertificate| {
        pem(&certificate.ca)
            .split_inclusive("-----END CERTIFICATE-----\n")
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let rotate = |certificate: &ServingCertificate| {
        let ServingCertificate { ca, ca_hash, .. } = certificate.clone();
        let replaces = Some(ReplacedCertificate { ca_bundle: ca, ca_hash });
        scene.catalogs.certify(&CertificateRequest { replaces, ..request.clone() }, now).unwrap().0
    };
    let rotated = rotate(&first);
    assert_eq!(authority(&rotated)[1..], authority(&first)[..]);
    assert_eq!(rotated.ca_hash, first.ca_hash);
    let again = rotate(&rotated);
    assert_eq!(authority(&again)[1..], authority(&rotated)[..1]);
    assert_eq!(again.ca_hash, first.ca_hash);

    let nobody = CertificateRequest { hosts: vec!["ö".to_owned()], ..request };
    let error = scene.catalogs.certify(&nobody, now).unwrap_err().message;
    assert!(
        error.starts_with("cannot make a certificate for Deployment tide-operator: "),
        "{error}"
    );
}
