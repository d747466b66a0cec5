//! The configuration of an image: what it runs on, its labels, and the digests of its layers.
//!
//! The history and the many settings of a running container are not read.

use std::collections::BTreeMap;

use operon_object::{Map, Value, go_json, map};

use crate::{
    Digest, DocumentError, MAX_LAYERS, Manifest, Platform,
    fields::{Place, parse},
};

/// Limits the configuration of an image, as manifests are limited: it has a line for each step that
/// built the image, and labels.
pub const MAX_CONFIG_BYTES: usize = 4 * 1024 * 1024;
/// Limits the words of a command line.
const MAX_ARGUMENTS: usize = 10_000;

const CONFIG: &str = "image configuration";

/// Says what an image is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageConfig {
    /// What it runs on.
    pub platform: Platform,
    /// Labels, such as `operators.operatorframework.io.index.configs.v1`.
    pub labels: BTreeMap<String, String>,
    /// The program that is run, with its first arguments.
    pub entrypoint: Vec<String>,
    /// The arguments that follow, or the program where there is no entrypoint.
    pub command: Vec<String>,
    /// The directory in which the program is run.
    pub working_directory: Option<String>,
    /// The user that runs it.
    pub user: Option<String>,
    /// The digests of the layers before they were compressed, the lowest first.
    pub diff_ids: Vec<Digest>,
}

impl ImageConfig {
    /// Reads a configuration of the OCI or of Docker.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let value = parse(CONFIG, bytes, MAX_CONFIG_BYTES)?;
        let top = Place::top(CONFIG, &value)?;
        let text = |name| top.text(name).map(|text| text.map(str::to_owned));
        let mut config = Self {
            platform: Platform {
                os: text("os")?.unwrap_or_default(),
                architecture: text("architecture")?.unwrap_or_default(),
                variant: text("variant")?,
                os_version: text("os.version")?,
            },
            ..Self::default()
        };
        if let Some(running) = top.map("config")? {
            config.labels = running.text_map("Labels")?;
            config.entrypoint = running.texts("Entrypoint", MAX_ARGUMENTS)?;
            config.command = running.texts("Cmd", MAX_ARGUMENTS)?;
            config.working_directory = running.text("WorkingDir")?.map(str::to_owned);
            config.user = running.text("User")?.map(str::to_owned);
        }
        if let Some(root) = top.map("rootfs")? {
            let diff_ids = root.list("diff_ids", MAX_LAYERS)?;
            config.diff_ids = diff_ids.iter().map(Place::as_digest).collect::<Result<_, _>>()?;
        }
        Ok(config)
    }

    /// Compares the number of layers with the manifest's.
    pub fn check_layers(&self, manifest: &Manifest) -> Result<(), DocumentError> {
        let (layers, diff_ids) = (manifest.layers.len(), self.diff_ids.len());
        if layers != diff_ids {
            return Err(DocumentError::LayersDiffer { layers, diff_ids });
        }
        Ok(())
    }

    /// Writes the configuration; the same configuration always has the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut running = Map::default();
        if !self.labels.is_empty() {
            running.insert("Labels", text_map(&self.labels));
        }
        if !self.entrypoint.is_empty() {
            running.insert("Entrypoint", Value::texts(&self.entrypoint));
        }
        if !self.command.is_empty() {
            running.insert("Cmd", Value::texts(&self.command));
        }
        let settings = [("WorkingDir", &self.working_directory), ("User", &self.user)];
        let platform = &self.platform;
        let details = [("variant", &platform.variant), ("os.version", &platform.os_version)];
        let mut top = map! {
            "os" => platform.os.as_str(),
            "architecture" => platform.architecture.as_str(),
            "rootfs" => map! {
                "type" => "layers",
                "diff_ids" => Value::texts(self.diff_ids.iter().map(Digest::to_string)),
            },
        };
        for (name, text) in settings {
            if let Some(text) = text {
                running.insert(name, text.as_str());
            }
        }
        for (name, text) in details {
            if let Some(text) = text {
                top.set(&[name], text.as_str());
            }
        }
        top.set(&["config"], running);
        go_json(&top).into_bytes()
    }
}

/// Returns texts by name as a value.
pub(crate) fn text_map(texts: &BTreeMap<String, String>) -> Value {
    Value::map(texts.iter().map(|(name, text)| (name, Value::text(text))))
}
