//! A case that is a directory: settings, manifests and catalogs in files.

use std::{collections::BTreeMap, fs, io, path::Path};

use anyhow::{Context, bail};
use operon_api::ManifestReader;
use operon_document::json::{Kind, Tape};

use crate::{
    case::{Case, CatalogOrigin, Settings},
    catalogs::CatalogDirectories,
};

const SETTINGS: &str = "case.json";
const MANIFESTS: [&str; 3] = ["cluster.yaml", "cluster.yml", "cluster.json"];

/// Reads the case in a directory; its catalogs are opened later.
pub(crate) fn read(directory: &Path) -> anyhow::Result<Case> {
    let mut reader = ManifestReader::default();
    let mut found = 0;
    for name in MANIFESTS {
        if let Some(text) = read_if_there(&directory.join(name))? {
            reader.read_text(name, &text);
            found += 1;
        }
    }
    if found == 0 {
        let is_there = directory.is_dir();
        let directory = directory.display();
        if !is_there {
            bail!("there is no directory `{directory}`");
        }
        bail!("`{directory}` is not a case: it holds no `cluster.yaml` and no `cluster.json`");
    }
    let path = directory.join(SETTINGS);
    let (settings, named) = match read_if_there(&path)? {
        Some(text) => read_settings(&text)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("cannot read `{}`", path.display()))?,
        None => (Settings::read(None).map_err(anyhow::Error::msg)?, BTreeMap::new()),
    };
    let name = directory
        .canonicalize()
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
    Ok(Case {
        id: name.unwrap_or_default(),
        settings,
        manifests: reader.finish(),
        catalogs: CatalogOrigin::Directories(CatalogDirectories {
            named,
            directory: directory.to_owned(),
        }),
    })
}

fn read_if_there(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Reads the settings, and the locations of catalogs in them.
fn read_settings(text: &[u8]) -> Result<(Settings, BTreeMap<String, String>), String> {
    let mut tape = Tape::new();
    let root = tape.read(text).map_err(|error| error.to_string())?;
    if root.kind() != Kind::Object {
        return Err(format!("an object is expected, not {}", root.kind().name()));
    }
    let settings = Settings::read(Some(root))?;
    let mut named = BTreeMap::new();
    if let Some(directories) = root.get("catalogDirs") {
        for (name, path) in directories.members() {
            let name = name.as_str().unwrap_or_default().into_owned();
            let Some(path) = path.as_str() else {
                return Err(format!("`catalogDirs.{name}` must be a string"));
            };
            named.insert(name, path.into_owned());
        }
    }
    Ok((settings, named))
}
