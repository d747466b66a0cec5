//! Images made of files, such that the same files always make the same image.
//!
//! Nothing of the machine gets into an image: no time, no owner, no order of a directory. Sending an
//! image somewhere is left to others.

mod header;
mod layer;

use std::collections::BTreeMap;

pub use self::layer::{BuildError, BuiltLayer, LayerBuilder, LayerWriter};

use crate::{Descriptor, Digest, ImageConfig, Manifest, OCI_CONFIG, OCI_MANIFEST, Platform};

/// What an image is for, besides its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageSettings {
    /// What it runs on; an image of plain files says some platform too, because tools ask for one.
    pub platform: Platform,
    /// Labels, such as `operators.operatorframework.io.index.configs.v1`.
    pub labels: BTreeMap<String, String>,
    /// Notes in the manifest.
    pub annotations: BTreeMap<String, String>,
    /// The program that is run, with its first arguments.
    pub entrypoint: Vec<String>,
    /// The arguments that follow.
    pub command: Vec<String>,
    /// The user that runs it, such as `65532`.
    pub user: Option<String>,
}

/// An image, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltImage {
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
    /// The digest of the manifest, which names the image.
    pub digest: Digest,
    /// The bytes of the configuration.
    pub config: Vec<u8>,
    /// The layers, the lowest first.
    pub layers: Vec<BuiltLayer>,
}

impl BuiltImage {
    /// Makes an image of layers.
    pub fn new(settings: &ImageSettings, layers: Vec<BuiltLayer>) -> Self {
        let config = ImageConfig {
            platform: settings.platform.clone(),
            labels: settings.labels.clone(),
            entrypoint: settings.entrypoint.clone(),
            command: settings.command.clone(),
            user: settings.user.clone(),
            diff_ids: layers.iter().map(|layer| layer.diff_id.clone()).collect(),
            ..ImageConfig::default()
        };
        let config = config.to_bytes();
        let manifest = Manifest {
            media_type: OCI_MANIFEST.to_owned(),
            artifact_type: None,
            config: Descriptor::of(OCI_CONFIG, &config),
            layers: layers.iter().map(|layer| layer.descriptor.clone()).collect(),
            annotations: settings.annotations.clone(),
        };
        let manifest = manifest.to_bytes();
        Self { digest: Digest::of(&manifest), manifest, config, layers }
    }

    /// Points at the manifest.
    pub fn descriptor(&self) -> Descriptor {
        Descriptor::of(OCI_MANIFEST, &self.manifest)
    }

    /// Points at the configuration.
    pub fn config_descriptor(&self) -> Descriptor {
        Descriptor::of(OCI_CONFIG, &self.config)
    }
}
