//! Where the files of a rig lie: everything below one short path, so that removing it removes all.
//!
//! Paths stay short because sockets are below them: the system allows a socket about a hundred bytes.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use crate::{Component, RigError};

/// The directory of one rig.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    directory: PathBuf,
}

impl Places {
    /// Returns the places of a rig, whether it exists or not.
    pub(crate) fn of(name: &str) -> Self {
        Self { directory: root().join(name) }
    }

    /// Returns the names of all rigs that there is something of.
    pub(crate) fn names() -> Result<Vec<String>, RigError> {
        let root = root();
        let entries = match fs::read_dir(&root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RigError::file("read", root)(error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    /// Makes the directory of all rigs, readable for nobody else: keys are below it.
    pub(crate) fn make_root() -> Result<(), RigError> {
        let root = root();
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&root);
        made.map_err(RigError::file("make", &root))?;
        let metadata = fs::symlink_metadata(&root).map_err(RigError::file("read", &root))?;
        // Everybody can make a directory of this name below `/tmp` first.
        if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(RigError::ForeignDirectory { path: root });
        }
        Ok(())
    }

    /// Returns the directory of everything.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns a path below the directory.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.directory.join(relative)
    }

    /// Returns a path below the directory as text, for the command line of a program.
    pub(crate) fn text(&self, relative: &str) -> String {
        self.path(relative).to_string_lossy().into_owned()
    }

    /// Returns the file that the owner of the rig keeps locked, beside the directory that comes and goes.
    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.with_extension("lock")
    }

    /// Returns the log of a component.
    pub(crate) fn log(&self, component: Component) -> PathBuf {
        self.path("logs").join(format!("{component}.log"))
    }

    /// Returns the file that names the process of a component.
    pub(crate) fn process(&self, component: Component) -> PathBuf {
        self.path("processes").join(component.name())
    }

    /// Returns the kubeconfig of a user of the cluster.
    pub(crate) fn kubeconfig(&self, user: &str) -> PathBuf {
        self.path("kubeconfigs").join(user)
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn write(&self, relative: &str, text: &str) -> Result<PathBuf, RigError> {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(RigError::file("make", parent))?;
        }
        fs::write(&path, text).map_err(RigError::file("write", &path))?;
        Ok(path)
    }
}

fn root() -> PathBuf {
    PathBuf::from(format!("/tmp/operon-rig-{}", rustix::process::geteuid().as_raw()))
}
