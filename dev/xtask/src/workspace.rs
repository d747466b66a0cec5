//! Where things are: the repository, what lies beside it, and the tools it is built with.
//!
//! Nothing here looks into a file of the repository; the verbs do.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use serde_json::Value;

/// The repository that the verbs work on.
pub(crate) struct Workspace {
    /// The directory of the workspace's manifest.
    pub(crate) root: PathBuf,
}

impl Workspace {
    /// Finds the repository this program was started from.
    ///
    /// Cargo names the manifest when it runs us; the place we were built at may be another checkout
    /// that shared the target directory.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest_directory = env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&manifest_directory).join("../..");
        let root = root
            .canonicalize()
            .with_context(|| format!("cannot find the repository at `{}`", root.display()))?;
        Ok(Self { root })
    }

    /// Returns a path below `../shared`, where data lies that is not ours to publish; `None` when
    /// it is not there.
    pub(crate) fn shared(&self, path: &str) -> Option<PathBuf> {
        let path = self.root.parent()?.join("shared").join(path);
        path.exists().then_some(path)
    }

    /// Starts a command of Cargo in the repository.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(program);
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// Returns what Cargo knows about the crates of the repository.
    pub(crate) fn metadata(&self) -> anyhow::Result<Value> {
        let output = self
            .cargo(&["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .context("cannot run `cargo metadata`")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        serde_json::from_slice(&output.stdout).context("`cargo metadata` did not print JSON")
    }

    /// Returns the directory for everything that can be built again.
    pub(crate) fn target_directory(&self) -> anyhow::Result<PathBuf> {
        let metadata = self.metadata()?;
        let path = metadata["target_directory"].as_str();
        Ok(PathBuf::from(path.context("`cargo metadata` names no target directory")?))
    }
}

/// Finds a program on the search path or where `cargo install` puts programs.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let cargo_home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let search_path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search_path)
        .chain(cargo_home.map(|home| home.join("bin")))
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
}
