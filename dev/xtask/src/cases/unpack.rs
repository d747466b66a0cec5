//! The packed cases, unpacked once below the target directory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use anyhow::{Context, bail};

/// Unpacks every archive of a directory that changed since it was last unpacked.
///
/// Files that are not packed are used where they lie when there is nothing to unpack at all.
pub(crate) fn unpack(directory: &Path, scratch: &Path) -> anyhow::Result<PathBuf> {
    let mut archives: Vec<PathBuf> = fs::read_dir(directory)
        .with_context(|| format!("cannot read `{}`", directory.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .collect();
    archives.sort();
    if archives.is_empty() {
        return Ok(directory.to_owned());
    }
    let place = scratch.join(place_name(directory));
    fs::create_dir_all(&place)?;
    for archive in &archives {
        let name = archive.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let mark = place.join(format!(".{name}.unpacked"));
        if modified(&mark) >= modified(archive) {
            continue;
        }
        unpack_one(archive, name, &place)?;
        fs::write(&mark, b"")?;
    }
    Ok(place)
}

fn unpack_one(archive: &Path, name: &str, place: &Path) -> anyhow::Result<()> {
    let mut command = if name.ends_with(".tar") {
        let mut command = Command::new("tar");
        command.args(["--zstd", "-xf"]).arg(archive).arg("-C").arg(place);
        command
    } else {
        let mut command = Command::new("zstd");
        command.args(["--decompress", "--quiet", "--force"]).arg(archive);
        command.arg("-o").arg(place.join(name));
        command
    };
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot run `{shown}`\nhint: install tar and zstd"))?;
    if !status.success() {
        bail!("`{shown}` could not unpack `{}`", archive.display());
    }
    Ok(())
}

/// Names the scratch place after the directory, so that two sets do not mix.
fn place_name(directory: &Path) -> String {
    let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let allowed = |character: char| if character.is_alphanumeric() { character } else { '-' };
    path.to_string_lossy().chars().map(allowed).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
