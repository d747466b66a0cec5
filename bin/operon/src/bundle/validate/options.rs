//! The values that validators take, from the command line and the environment.

use std::{collections::BTreeSet, env, path::Path, str::FromStr};

use anyhow::{Context, ensure};
use operon_bundle::{BundleFile, ValidationOptions};
use operon_document::json::{Node, Tape};
use operon_version::Version;

use crate::catalog::render::directory::read_file;

/// Names a JSON file with the categories that count in place of the standard ones.
const CATEGORIES_VARIABLE: &str = "OPERATOR_BUNDLE_CATEGORIES";

/// The largest file that is read for a validator: a Dockerfile or a list of categories.
const MAX_FILE_BYTES: usize = 1 << 20;

/// A value for validators.
#[derive(Debug, Clone)]
pub(super) enum OptionalValue {
    KubernetesVersion(Version),
    ImageFile(String),
    /// Says which program pulls images; none is needed here.
    Unused,
}

impl FromStr for OptionalValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is not a key and a value with `=` between them"))?;
        match key.trim() {
            "k8s-version" => Version::parse_tolerant(value.trim())
                .map(Self::KubernetesVersion)
                .map_err(|error| format!("`{value}` is not a Kubernetes version: {error}")),
            "index-path" | "image-path" => Ok(Self::ImageFile(value.trim().to_owned())),
            "container-tools" => Ok(Self::Unused),
            other => Err(format!(
                "no validator takes `{other}`; there are `k8s-version` and `index-path`"
            )),
        }
    }
}

/// Returns what to validate by, but for the choice of validators.
pub(super) fn read(values: &[OptionalValue]) -> anyhow::Result<ValidationOptions> {
    let mut options = ValidationOptions::default();
    for value in values {
        match value {
            OptionalValue::KubernetesVersion(version) => {
                options.kubernetes_version = Some(version.clone());
            }
            OptionalValue::ImageFile(path) => {
                let content = read_small_file(path)?;
                options.image_file = Some(BundleFile { path: path.clone(), content });
            }
            OptionalValue::Unused => {}
        }
    }
    if let Ok(path) = env::var(CATEGORIES_VARIABLE)
        && !path.is_empty()
    {
        let categories = read_categories(&path);
        options.categories =
            Some(categories.with_context(|| format!("`{CATEGORIES_VARIABLE}` cannot be used"))?);
    }
    Ok(options)
}

fn read_small_file(path: &str) -> anyhow::Result<Vec<u8>> {
    let content = read_file(Path::new(path), MAX_FILE_BYTES)?;
    content.with_context(|| format!("`{path}` has more than {MAX_FILE_BYTES} bytes"))
}

fn read_categories(path: &str) -> anyhow::Result<BTreeSet<String>> {
    let content = read_small_file(path)?;
    let mut tape = Tape::new();
    let root = tape.read(&content).with_context(|| format!("`{path}` is not JSON"))?;
    let list = root.field("categories");
    ensure!(list.is_some(), "`{path}` has no list `categories`");
    let categories = list.into_iter().flat_map(Node::elements).filter_map(Node::as_str);
    Ok(categories.map(|category| category.into_owned()).collect())
}
