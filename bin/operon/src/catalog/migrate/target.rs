//! The directory that a catalog is written to: one directory for each package.
//!
//! Nothing is ever removed from it. What is in the way is named and left to the user.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use operon_image::find_files;

use crate::catalog::render::documents::Notation;

/// A directory that is ready to be written to.
#[derive(Debug)]
pub(super) struct Target {
    root: PathBuf,
    notation: Notation,
    replaces: bool,
}

impl Target {
    /// Makes the directory ready for the documents of packages; the empty name stands for those
    /// that belong to no package.
    ///
    /// Guarantees: nothing has been written if this fails, and afterwards the directory holds no
    /// file that would be read as a part of the catalog but will not be replaced.
    pub(super) fn prepare<'p>(
        root: &Path,
        notation: Notation,
        packages: impl Iterator<Item = &'p str> + Clone,
        source: &Path,
        force: bool,
    ) -> anyhow::Result<Self> {
        for package in packages.clone() {
            check_name(package)?;
        }
        check_apart(root, source)?;
        let target = Self { root: root.to_owned(), notation, replaces: force };
        if !is_empty(root)? {
            let shown = root.display();
            ensure!(
                force,
                "`{shown}` is not empty\n\
                 hint: give an empty or a new directory, or replace the catalog in it with `--force`"
            );
            let expected: BTreeSet<String> = packages.map(|package| target.file(package)).collect();
            let files = find_files(root)?;
            if let Some(stray) = files.iter().find(|file| !expected.contains(&file.path)) {
                bail!(
                    "`{}` is in the way: it would be read as a part of the catalog\n\
                     hint: nothing was written; remove what is not replaced first",
                    stray.location.display()
                );
            }
        }
        fs::create_dir_all(root).with_context(|| format!("cannot make `{}`", root.display()))?;
        Ok(target)
    }

    /// Writes the documents of a package, as one text.
    pub(super) fn write(&self, package: &str, text: &str) -> anyhow::Result<()> {
        let path = self.root.join(self.file(package));
        let cannot_write = || format!("cannot write `{}`", path.display());
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(cannot_write)?;
        }
        let mut options = OpenOptions::new();
        // On a disk that does not tell `A` from `a` two packages may want the same file.
        if self.replaces {
            options.create(true).truncate(true)
        } else {
            options.create_new(true)
        };
        let mut file = options.write(true).open(&path).with_context(cannot_write)?;
        file.write_all(text.as_bytes()).with_context(cannot_write)
    }

    /// Returns the path of a package's file below the directory.
    fn file(&self, package: &str) -> String {
        let name = format!("catalog.{}", self.notation.extension());
        if package.is_empty() { name } else { format!("{package}/{name}") }
    }
}

/// Refuses the names of packages that are not the name of a directory.
///
/// Readers of catalogs pass over directories that start with two dots.
fn check_name(package: &str) -> anyhow::Result<()> {
    let is_path = package.contains(['/', '\\', '\0']);
    ensure!(
        !is_path && package != "." && !package.starts_with(".."),
        "the package name {package:?} cannot be the name of a directory\n\
         hint: nothing was written; package names are DNS labels, such as `etcd-operator`"
    );
    Ok(())
}

/// Refuses a directory inside the catalog that is read, or around it.
fn check_apart(root: &Path, source: &Path) -> anyhow::Result<()> {
    let resolved = resolve(root);
    ensure!(
        !resolved.starts_with(source) && !source.starts_with(&resolved),
        "`{}` and the catalog `{}` lie within each other\n\
         hint: give a directory beside the catalog",
        root.display(),
        source.display()
    );
    Ok(())
}

/// Resolves the links of as much of a path as exists.
fn resolve(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in path.ancestors() {
        if let (Ok(resolved), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { resolved } else { resolved.join(rest) };
        }
    }
    path
}

fn is_empty(directory: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => {
            Err(error).with_context(|| format!("cannot write to `{}`", directory.display()))
        }
    }
}
