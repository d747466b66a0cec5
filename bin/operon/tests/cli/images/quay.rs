//! A directory for `operon up`, a registry, and the images in it: the harbour's operators as they are shipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use operon_docker_registry::has;
pub(super) use operon_docker_registry::{RegistryServer as Registry, Setup};
use tempfile::TempDir;

use crate::harbour::{Following, copy};

/// The label of a catalog image that says where the catalog lies.
const CONFIGS_LABEL: &str = "operators.operatorframework.io.index.configs.v1";

/// The labels of a bundle image that say where its parts lie.
const BUNDLE_LABELS: [&str; 3] = [
    "operators.operatorframework.io.bundle.mediatype.v1=registry+v1",
    "operators.operatorframework.io.bundle.manifests.v1=manifests/",
    "operators.operatorframework.io.bundle.metadata.v1=metadata/",
];

/// A directory, and everything that a test does in it.
pub(super) struct Quay {
    root: TempDir,
}

impl Quay {
    /// Makes an empty place, unless a program is missing.
    pub(super) fn new() -> Option<Self> {
        if !has(&["docker-registry", "skopeo", "umoci", "htpasswd"]) {
            return None;
        }
        let quay = Self { root: TempDir::new().unwrap() };
        fs::create_dir(quay.path("up")).unwrap();
        Some(quay)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Prepares `operon …`, to be run beside the directory `up`. Nothing of the user is read.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_operon"));
        command
            .args(arguments)
            .current_dir(self.root.path())
            .env_clear()
            .env("HOME", self.root.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("OPERON_CACHE_DIR", self.path("cache"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs `operon …`; returns all it printed, and its exit code.
    pub(super) fn operon(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let [printed, told] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        format!("{printed}{told}[exit code {}]", output.status.code().unwrap())
    }

    /// Runs `operon up --once`.
    pub(super) fn up(&self) -> String {
        self.operon(&["up", "--once", "up"])
    }

    /// Begins a program of its own name for its log.
    pub(super) fn begin(&self, name: &str, arguments: &[&str]) -> Following {
        Following::begin(&mut self.command(arguments), self.path(&format!("{name}.log")))
    }

    /// Returns an object as YAML.
    pub(super) fn get(&self, kind: &str, name: &str) -> String {
        self.operon(&["get", "--dir", "up", kind, name, "-n", "harbour", "-o", "yaml"])
    }

    /// Makes the image of a bundle of the quickstart, such as `tide.v1.0.0`.
    pub(super) fn bundle_image(&self, bundle: &str) {
        let files = format!("files/{bundle}");
        copy(&quickstart().join("bundles").join(bundle), &self.path(&files));
        let package = bundle.split('.').next().unwrap();
        self.write(&format!("{files}/metadata/annotations.yaml"), &annotations(package));
        let mut labels = BUNDLE_LABELS.map(str::to_owned).to_vec();
        labels.push(format!("operators.operatorframework.io.bundle.package.v1={package}"));
        self.image(bundle, &files, &labels);
    }

    /// Makes the image of a catalog, with the documents below `/configs`.
    pub(super) fn catalog_image(&self, tag: &str, documents: &str) {
        let files = format!("files/{tag}");
        self.write(&format!("{files}/configs/catalog.yaml"), documents);
        self.write(&format!("{files}/etc/hostname"), "nobody needs this\n");
        self.image(tag, &files, &[format!("{CONFIGS_LABEL}=/configs")]);
    }

    fn image(&self, tag: &str, files: &str, labels: &[String]) {
        let layout = self.text("layout");
        if !self.path("layout").exists() {
            run("umoci", &["init", "--layout", &layout]);
        }
        let image = format!("{layout}:{tag}");
        run("umoci", &["new", "--image", &image]);
        run("umoci", &["insert", "--image", &image, &self.text(files), "/"]);
        let mut arguments = vec!["config", "--image", &image];
        arguments.extend(labels.iter().flat_map(|label| ["--config.label", label]));
        run("umoci", &arguments);
    }

    /// Pushes an image of the layout to a registry.
    pub(super) fn push(&self, tag: &str, registry: &Registry, name: &str) {
        let from = format!("oci:{}:{tag}", self.text("layout"));
        let to = format!("docker://{}/{name}", registry.host);
        let mut arguments = vec!["--insecure-policy", "copy", "-q", "--dest-tls-verify=false"];
        let login = registry.setup.login.map(|(user, password)| format!("{user}:{password}"));
        if let Some(login) = &login {
            arguments.extend(["--dest-creds", login]);
        }
        arguments.extend([from.as_str(), to.as_str()]);
        run("skopeo", &arguments);
    }

    /// Starts a registry with the operators `tide` and `beacon` in it, and a catalog `catalog:latest`
    /// that offers them.
    pub(super) fn stocked(&self, setup: Setup) -> Registry {
        let registry = Registry::start(self.root.path(), "registry", &setup);
        for bundle in ["tide.v1.0.0", "beacon.v1.0.0"] {
            self.bundle_image(bundle);
            self.push(bundle, &registry, &bundle_name(bundle));
        }
        self.catalog_image("first", &catalog(&registry.host, &TIDE_1_0, &[]));
        self.push("first", &registry, "catalog:latest");
        registry
    }
}

/// The versions of `tide` before and after an update.
pub(super) const TIDE_1_0: [&str; 1] = ["tide.v1.0.0"];
pub(super) const TIDE_1_1: [&str; 2] = ["tide.v1.0.0", "tide.v1.1.0"];

/// Where the image of a bundle lies in a registry.
pub(super) fn bundle_name(bundle: &str) -> String {
    bundle.replacen('.', ":", 1)
}

/// The catalog of the harbour: `beacon`, which needs `tide`, and versions of `tide`, each replacing the one
/// before. More documents can be added.
pub(super) fn catalog(host: &str, tides: &[&str], more: &[String]) -> String {
    let mut documents = vec![package("beacon", &["beacon.v1.0.0"]), package("tide", tides)];
    documents.push(bundle(host, "beacon.v1.0.0", Some("tide"), "Lamp"));
    documents.extend(tides.iter().map(|name| bundle(host, name, None, "Tide")));
    documents.extend_from_slice(more);
    documents.join("---\n")
}

/// A package with a channel `stable`.
pub(super) fn package(name: &str, bundles: &[&str]) -> String {
    let mut text = format!(
        "schema: olm.package\nname: {name}\ndefaultChannel: stable\n---\n\
         schema: olm.channel\npackage: {name}\nname: stable\nentries:\n"
    );
    for (index, bundle) in bundles.iter().enumerate() {
        text += &format!("- name: {bundle}\n");
        if let Some(replaced) = index.checked_sub(1) {
            text += &format!("  replaces: {}\n", bundles[replaced]);
        }
    }
    text
}

/// A bundle that lies in an image.
pub(super) fn bundle(host: &str, name: &str, needs: Option<&str>, kind: &str) -> String {
    let (package, version) = name.split_once(".v").unwrap();
    let mut text = format!(
        "schema: olm.bundle\npackage: {package}\nname: {name}\nimage: {host}/{}\nproperties:\n\
         - {{type: olm.package, value: {{packageName: {package}, version: {version}}}}}\n\
         - {{type: olm.gvk, value: {{group: {package}.example.com, version: v1, kind: {kind}}}}}\n",
        bundle_name(name)
    );
    if let Some(needed) = needs {
        text += &format!(
            "- {{type: olm.package.required, value: {{packageName: {needed}, versionRange: '>=1.0.0'}}}}\n"
        );
    }
    text
}

fn annotations(package: &str) -> String {
    let prefix = "operators.operatorframework.io.bundle";
    format!(
        "annotations:\n  {prefix}.mediatype.v1: registry+v1\n  {prefix}.manifests.v1: manifests/\n  \
         {prefix}.metadata.v1: metadata/\n  {prefix}.package.v1: {package}\n  {prefix}.channels.v1: stable\n"
    )
}

/// A namespace with an OperatorGroup.
pub(super) const NAMESPACE: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: harbour}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: harbour, namespace: harbour}
spec: {targetNamespaces: [harbour]}
";

/// A CatalogSource with the lines of its specification.
pub(super) fn source(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\n\
         metadata: {{name: {name}, namespace: harbour}}\nspec: {spec}\n"
    )
}

/// A Subscription to the channel `stable` of a package.
pub(super) fn subscription(package: &str, source: &str) -> String {
    format!(
        "---\napiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n\
         metadata: {{name: {package}, namespace: harbour}}\n\
         spec: {{name: {package}, channel: stable, source: {source}, sourceNamespace: harbour}}\n"
    )
}

pub(super) fn quickstart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart")
}

/// Runs a program to its end, which must be a good one.
pub(super) fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
}
