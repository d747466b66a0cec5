//! Bundle directories: finding them, and reading their files in bounded memory.
//!
//! Only what lies below `manifests/` and `metadata/` is read; what the files mean is decided in
//! `wire/bundle`.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use operon_bundle::{BundleFile, MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES};
use operon_image::check_link;

/// The directories that make a directory a bundle, and hold all that is read of it.
const PARTS: [&str; 2] = ["manifests", "metadata"];

/// The most directories that are searched for bundles: a hundred times the community's repository.
const MAX_SEARCHED_DIRECTORIES: usize = 1_000_000;

/// Finds the bundle directories among and below the given directories, in the order of their paths.
pub(crate) fn find_bundles(arguments: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    for argument in arguments {
        let found = find_below(argument)?;
        ensure!(!found.is_empty(), no_bundle(argument));
        bundles.extend(found);
    }
    bundles.sort();
    bundles.dedup();
    Ok(bundles)
}

/// Tells whether a directory has the two directories of a bundle.
pub(crate) fn is_bundle(directory: &Path) -> bool {
    PARTS.iter().all(|part| directory.join(part).is_dir())
}

/// Says why there is no bundle at a path, and what to give instead.
pub(crate) fn no_bundle(path: &Path) -> String {
    let shown = path.display();
    let missing: Vec<&str> = PARTS.into_iter().filter(|part| !path.join(part).is_dir()).collect();
    if !path.exists() {
        format!(
            "there is no directory `{shown}`\n\
             hint: `operon bundle` takes images too"
        )
    } else if !path.is_dir() {
        format!("`{shown}` is a file; a bundle is a directory with `manifests/` and `metadata/`")
    } else if let [missing] = missing.as_slice() {
        format!("`{shown}` is not a bundle: it has no directory `{missing}/`")
    } else {
        format!("`{shown}` holds no bundle: no directory in it has `manifests/` and `metadata/`")
    }
}

/// Reads the files of a bundle in the order of their paths.
///
/// Links to files are followed as long as they stay inside the bundle. Links that lead out of it,
/// links to directories, pipes and devices are refused: the first would show the content of any file,
/// a directory could lead in a circle, and a pipe would never end.
pub(crate) fn read_files(bundle: &Path) -> anyhow::Result<Vec<BundleFile>> {
    let mut files = Vec::new();
    let mut bytes = 0;
    let mut pending: Vec<(PathBuf, String)> =
        PARTS.iter().map(|part| (bundle.join(part), (*part).to_owned())).collect();
    for (directory, _) in &pending {
        check_link(bundle, directory)?;
    }
    while let Some((directory, prefix)) = pending.pop() {
        for (name, location) in entries(&directory)? {
            let path = format!("{prefix}/{}", name.to_string_lossy());
            let cannot_read = || format!("cannot read `{}`", location.display());
            let is_link = fs::symlink_metadata(&location).with_context(cannot_read)?.is_symlink();
            let metadata = fs::metadata(&location).with_context(cannot_read)?;
            if metadata.is_dir() && !is_link {
                pending.push((location, path));
                continue;
            }
            let shown = location.display();
            ensure!(
                metadata.is_file(),
                "`{shown}` is a link to a directory, or a device; bundles hold files and directories"
            );
            if is_link {
                check_link(bundle, &location)?;
            }
            ensure!(
                files.len() < MAX_BUNDLE_FILES,
                "`{}` has more than {MAX_BUNDLE_FILES} files; is it a bundle?",
                bundle.display()
            );
            let content = read_file(&location, MAX_BUNDLE_BYTES - bytes)?;
            let Some(content) = content else {
                bail!(
                    "`{}` has more than {MAX_BUNDLE_BYTES} bytes, with `{shown}`",
                    bundle.display()
                );
            };
            bytes += content.len();
            files.push(BundleFile { path, content });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

/// Reads a file of at most `limit` bytes; nothing if it is larger.
pub(crate) fn read_file(path: &Path, limit: usize) -> anyhow::Result<Option<Vec<u8>>> {
    let cannot_read = || format!("cannot read `{}`", path.display());
    let file = File::open(path).with_context(cannot_read)?;
    let mut content = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut content).with_context(cannot_read)?;
    Ok((content.len() <= limit).then_some(content))
}

/// Finds bundle directories from a directory downwards, without looking into them or into links.
fn find_below(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    let mut pending = vec![root.to_owned()];
    let mut searched = 0;
    while let Some(directory) = pending.pop() {
        if is_bundle(&directory) {
            bundles.push(directory);
            continue;
        }
        searched += 1;
        ensure!(
            searched <= MAX_SEARCHED_DIRECTORIES,
            "`{}` holds more than {MAX_SEARCHED_DIRECTORIES} directories",
            root.display()
        );
        if !directory.is_dir() {
            bail!(no_bundle(root));
        }
        for (name, location) in entries(&directory)? {
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if !is_hidden && fs::symlink_metadata(&location).is_ok_and(|metadata| metadata.is_dir())
            {
                pending.push(location);
            }
        }
    }
    Ok(bundles)
}

fn entries(directory: &Path) -> anyhow::Result<Vec<(Box<OsStr>, PathBuf)>> {
    let cannot_read = || format!("cannot read the directory `{}`", directory.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).with_context(cannot_read)? {
        let entry = entry.with_context(cannot_read)?;
        entries.push((entry.file_name().into_boxed_os_str(), entry.path()));
    }
    Ok(entries)
}
