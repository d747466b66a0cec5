//! Where the image comes from: a registry on a free port of this machine, with one image that `umoci` made.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::{Context, bail};

use super::super::catalogs::bytes_below;
use crate::workspace::find_program;

/// The label of a catalog image that says where the catalog lies.
const CONFIGS_LABEL: &str = "operators.operatorframework.io.index.configs.v1=/configs";

/// The programs that are needed; all are packages of Debian.
const PROGRAMS: [&str; 3] = ["docker-registry", "umoci", "skopeo"];

/// A registry that ends with the measurement.
pub(super) struct Stand {
    registry: Child,
    /// The image in it.
    pub(super) image: String,
    /// How large the image is as it travels.
    pub(super) bytes: u64,
}

/// Returns the first program that is not there.
pub(super) fn missing_program() -> Option<&'static str> {
    PROGRAMS.into_iter().find(|program| find_program(program).is_none())
}

impl Stand {
    /// Makes an image of a catalog and starts a registry that has it.
    pub(super) fn new(scratch: &Path, catalog: &Path) -> anyhow::Result<Self> {
        let [layout, storage] = ["layout", "registry"].map(|name| scratch.join(name));
        for directory in [&layout, &storage] {
            if directory.exists() {
                fs::remove_dir_all(directory)?;
            }
        }
        let layout_text = layout.to_string_lossy();
        let image = format!("{layout_text}:catalog");
        run("umoci", &["init", "--layout", &layout_text])?;
        run("umoci", &["new", "--image", &image])?;
        run("umoci", &["insert", "--image", &image, &catalog.to_string_lossy(), "/configs"])?;
        run("umoci", &["config", "--image", &image, "--config.label", CONFIGS_LABEL])?;
        run("umoci", &["gc", "--layout", &layout_text])?;
        let bytes = bytes_below(&layout.join("blobs"))?;
        let (registry, host) = start(scratch, &storage)?;
        let stand = Self { registry, image: format!("{host}/catalog:latest"), bytes };
        let (from, to) = (format!("oci:{image}"), format!("docker://{}", stand.image));
        run("skopeo", &["--insecure-policy", "copy", "--dest-tls-verify=false", &from, &to])?;
        Ok(stand)
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.registry.kill();
        let _ = self.registry.wait();
    }
}

/// Starts the registry; returns it with its address.
fn start(scratch: &Path, storage: &Path) -> anyhow::Result<(Child, String)> {
    let file = scratch.join("registry.yml");
    let config = format!(
        "version: 0.1\nlog: {{level: info, accesslog: {{disabled: true}}}}\n\
         storage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp: {{addr: '127.0.0.1:0'}}\n",
        storage.display()
    );
    fs::write(&file, config)?;
    let mut registry = Command::new("docker-registry")
        .arg("serve")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run `docker-registry`")?;
    let output = registry.stderr.take().context("bug: the pipe was asked for")?;
    let mut lines = BufReader::new(output).lines();
    let port = loop {
        let line = lines.next().context("`docker-registry` ended at once")??;
        if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
            break rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        }
    };
    // Somebody has to read on, or the registry would wait for room to write.
    thread::spawn(move || lines.for_each(drop));
    Ok((registry, format!("127.0.0.1:{port}")))
}

fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{program}`"))?;
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        bail!("`{program} {}` failed: {complaints}", arguments.join(" "));
    }
    Ok(())
}
