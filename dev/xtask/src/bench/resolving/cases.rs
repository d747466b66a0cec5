//! The reference cases that are measured, unpacked once below the target directory.
//!
//! Their catalog is the community's without bodies; a copy of each case that uses it looks at the
//! whole catalog instead. What upstream answered is not read here.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde_json::Value;

use crate::{
    bench::catalogs::{community_catalog, make_once, unpack},
    workspace::Workspace,
};

/// The cases that are directories, packed.
const ARCHIVE: &str = "cases/cases.tar.zst";

/// The groups of cases that are measured; others are about wrong catalogs.
const GROUPS: [&str; 2] = ["perf", "hard"];

/// How the directory of the community catalog without bodies is called.
const SLIM_CATALOG: &str = "operatorhub-slim";

/// A case to measure.
#[derive(Debug)]
pub(crate) struct ReferenceCase {
    /// Its group and its own name, such as `perf/fifty-subs`.
    pub(crate) name: String,
    pub(crate) directory: PathBuf,
    /// The same case on the whole community catalog, where it is about that.
    pub(crate) on_whole_catalog: Option<PathBuf>,
}

/// Makes the cases ready; `None` where they are not at hand.
pub(crate) fn find(
    workspace: &Workspace,
    scratch: &Path,
) -> anyhow::Result<Option<Vec<ReferenceCase>>> {
    let Some(archive) = workspace.shared(ARCHIVE) else {
        return Ok(None);
    };
    fs::create_dir_all(scratch)?;
    let unpacked = make_once(&scratch.join("cases"), |new| unpack(&archive, new))?;
    let whole_catalog = community_catalog(workspace, scratch)?;
    let mut cases = Vec::new();
    for group in GROUPS {
        for directory in directories_in(&unpacked.join("cases").join(group))? {
            let own_name = directory.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{group}/{own_name}");
            let on_whole_catalog = match &whole_catalog {
                Some(catalog) => copy(&directory, &scratch.join("whole").join(&name), catalog)?,
                None => None,
            };
            cases.push(ReferenceCase { name, directory, on_whole_catalog });
        }
    }
    Ok(Some(cases))
}

/// Copies a case so that it looks at the whole catalog; `None` when it uses any but the slim one.
fn copy(case: &Path, copy: &Path, catalog: &Path) -> anyhow::Result<Option<PathBuf>> {
    if case.join("catalogs").exists() {
        return Ok(None);
    }
    let path = case.join("case.json");
    let text = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let settings: Value = serde_json::from_slice(&text)
        .with_context(|| format!("`{}` is not JSON", path.display()))?;
    let Some(settings) = redirect(settings, catalog) else {
        return Ok(None);
    };
    fs::create_dir_all(copy)?;
    fs::write(copy.join("case.json"), settings.to_string())?;
    let cluster = fs::copy(case.join("cluster.json"), copy.join("cluster.json"));
    cluster.with_context(|| format!("cannot copy the cluster of `{}`", case.display()))?;
    Ok(Some(copy.to_owned()))
}

/// Points every catalog of a case at another directory; `None` unless all are the slim one.
fn redirect(mut settings: Value, catalog: &Path) -> Option<Value> {
    let directories = settings["catalogDirs"].as_object_mut()?;
    for directory in directories.values_mut() {
        if Path::new(directory.as_str()?).file_name()? != SLIM_CATALOG {
            return None;
        }
        *directory = Value::from(catalog.to_str()?);
    }
    Some(settings)
}

fn directories_in(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("cannot list `{}`", directory.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut directories: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    directories.sort();
    Ok(directories)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_cases_on_the_slim_catalog_alone_are_redirected() {
        let whole = Path::new("/whole");
        let slim = json!({"namespace": "a", "catalogDirs": {"olm/b": "../data/operatorhub-slim"}});
        let expected = json!({"namespace": "a", "catalogDirs": {"olm/b": "/whole"}});
        assert_eq!(redirect(slim, whole), Some(expected));
        let others = [
            json!({"namespace": "a"}),
            json!({"catalogDirs": {"olm/b": "../data/operatorhub-slim", "olm/c": "other"}}),
            json!({"catalogDirs": {"olm/b": 7}}),
        ];
        for other in others {
            assert_eq!(redirect(other, whole), None);
        }
    }
}
