//! A scene of its own for each test: a directory, a cache, images made by real tools.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

pub(crate) use operon_docker_registry::has;
use operon_image::{CacheDirectory, Images, ImagesOptions, Limits, Location};
use tempfile::TempDir;

/// The label that makes an image a catalog.
pub(crate) const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// Runs a program to its end and returns what it printed.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory that goes with the test.
pub(crate) struct Scene {
    pub(crate) directory: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn cache(&self) -> CacheDirectory {
        CacheDirectory::at(self.path("cache"))
    }

    /// Options that know nothing of this machine, with short pauses.
    pub(crate) fn options(&self) -> ImagesOptions {
        ImagesOptions { limits: quick(), ..ImagesOptions::bare(self.cache()) }
    }

    pub(crate) fn images(&self) -> Images {
        Images::new(self.options()).unwrap()
    }

    /// Makes an empty image in the layout `layout` with `umoci`.
    pub(crate) fn new_image(&self, tag: &str) {
        let layout = self.text("layout");
        if !self.path("layout").exists() {
            run("umoci", &["init", "--layout", &layout]);
        }
        run("umoci", &["new", "--image", &format!("{layout}:{tag}")]);
    }

    /// Adds a layer to an image: the files of a directory, packed by GNU tar.
    pub(crate) fn add_layer(&self, tag: &str, directory: &str) {
        let archive = self.text("layer.tar");
        run("tar", &["-C", &self.text(directory), "-cf", &archive, "."]);
        let image = format!("{}:{tag}", self.text("layout"));
        run("umoci", &["raw", "add-layer", "--image", &image, &archive]);
    }

    pub(crate) fn label(&self, tag: &str, name: &str, value: &str) {
        let image = format!("{}:{tag}", self.text("layout"));
        run("umoci", &["config", "--image", &image, "--config.label", &format!("{name}={value}")]);
    }

    /// Makes a catalog image of one layer in the layout.
    pub(crate) fn catalog_image(&self, tag: &str, package: &str) {
        let directory = format!("files-{tag}");
        self.write(&format!("{directory}/configs/{package}/catalog.json"), catalog(package));
        self.write(&format!("{directory}/etc/passwd"), "root:x:0:0::/:/bin/sh\n");
        self.new_image(tag);
        self.add_layer(tag, &directory);
        self.label(tag, CONFIGS, "/configs");
    }

    /// Copies an image of the layout to a registry with `skopeo`.
    pub(crate) fn upload(&self, tag: &str, host: &str, name: &str, more: &[&str]) {
        let from = format!("oci:{}:{tag}", self.text("layout"));
        let to = format!("docker://{host}/{name}");
        let mut arguments = vec!["--insecure-policy", "copy", "--dest-tls-verify=false"];
        arguments.extend(more);
        arguments.extend([from.as_str(), to.as_str()]);
        run("skopeo", &arguments);
    }
}

/// Limits with which a test need not wait.
pub(crate) fn quick() -> Limits {
    Limits {
        connect_timeout: Duration::from_secs(5),
        answer_timeout: Duration::from_secs(10),
        stall_window: Duration::from_secs(10),
        deadline: Duration::from_secs(120),
        attempts: 3,
        first_pause: Duration::from_millis(5),
        longest_pause: Duration::from_millis(50),
        ..Limits::default()
    }
}

pub(crate) fn image(host: &str, name: &str) -> Location {
    Location::parse(&format!("docker://{host}/{name}")).unwrap()
}

/// A catalog of one package with one bundle.
pub(crate) fn catalog(package: &str) -> String {
    format!(
        r#"{{"schema": "olm.package", "name": "{package}", "defaultChannel": "stable"}}
{{"schema": "olm.channel", "package": "{package}", "name": "stable", "entries": [{{"name": "{package}.v1.0.0"}}]}}
{{"schema": "olm.bundle", "package": "{package}", "name": "{package}.v1.0.0", "image": "example.com/{package}:v1.0.0",
 "properties": [{{"type": "olm.package", "value": {{"packageName": "{package}", "version": "1.0.0"}}}}]}}
"#
    )
}

/// Returns the files below a directory, with their contents.
pub(crate) fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
