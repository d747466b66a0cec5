//! The rooms of the house as their manifests describe them.
//!
//! Reading only: whether a room may be as it is, is decided in `rings`.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use serde_json::Value;

use super::rings::Ring;
use crate::workspace::Workspace;

/// A crate of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// The name of the crate.
    pub(crate) name: String,
    /// The ring its folder lies in.
    pub(crate) ring: Ring,
    /// The last part of its folder.
    pub(crate) folder: String,
    /// Its manifest, from the root of the repository.
    pub(crate) manifest: String,
    /// The text of its manifest.
    pub(crate) manifest_text: String,
    pub(crate) has_description: bool,
    pub(crate) is_published: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A line of a manifest's dependencies.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// The name of the crate.
    pub(crate) name: String,
    /// Whether only tests need it.
    pub(crate) is_for_tests: bool,
    /// Whether it lies in this repository.
    pub(crate) is_room: bool,
}

/// Reads the rooms of the workspace.
pub(crate) fn read(workspace: &Workspace) -> anyhow::Result<Vec<Room>> {
    let metadata = workspace.metadata()?;
    let mut rooms = from_metadata(&metadata, &workspace.root)?;
    for room in &mut rooms {
        let location = workspace.root.join(&room.manifest);
        room.manifest_text = fs::read_to_string(&location)
            .with_context(|| format!("cannot read `{}`", location.display()))?;
    }
    Ok(rooms)
}

impl Room {
    /// Returns the line of the manifest that begins with a word; the first line when none does.
    pub(crate) fn line_of(&self, word: &str) -> usize {
        let begins = |line: &str| {
            let rest = line.strip_prefix(word)?;
            (!rest.starts_with(|next: char| next.is_alphanumeric() || "-_".contains(next)))
                .then_some(())
        };
        self.manifest_text
            .lines()
            .position(|line| begins(line).is_some())
            .map_or(1, |index| index + 1)
    }

    /// Tells whether the manifest takes the workspace's lints.
    pub(crate) fn takes_workspace_lints(&self) -> bool {
        let mut section = "";
        self.manifest_text.lines().map(str::trim).any(|line| {
            if line.starts_with('[') {
                section = line;
            }
            section == "[lints]" && line.split_whitespace().eq(["workspace", "=", "true"])
        })
    }
}

/// Reads what `cargo metadata --no-deps` prints; the texts of the manifests are left empty.
fn from_metadata(metadata: &Value, root: &Path) -> anyhow::Result<Vec<Room>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    packages.iter().map(|package| room(package, root)).collect()
}

fn room(package: &Value, root: &Path) -> anyhow::Result<Room> {
    let name = package["name"].as_str().context("a package has no name")?;
    let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
    let manifest = Path::new(manifest).strip_prefix(root)?.to_string_lossy().into_owned();
    let parts: Vec<&str> = manifest.split('/').collect();
    let [ring, folder, "Cargo.toml"] = parts[..] else {
        bail!("`{manifest}` does not lie at `RING/ROOM/Cargo.toml`");
    };
    let Some(ring) = Ring::of_folder(ring) else {
        bail!("`{manifest}` lies in no ring; rings are core, wire, shell, bin and dev");
    };
    let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(Room {
        name: name.to_owned(),
        ring,
        folder: folder.to_owned(),
        manifest_text: String::new(),
        has_description: package["description"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty()),
        // Cargo writes `publish = false` as an empty list of registries.
        is_published: package["publish"].as_array().is_none_or(|list| !list.is_empty()),
        dependencies: dependencies.iter().map(dependency).collect::<anyhow::Result<_>>()?,
        manifest: manifest.clone(),
    })
}

fn dependency(value: &Value) -> anyhow::Result<Dependency> {
    Ok(Dependency {
        name: value["name"].as_str().context("a dependency has no name")?.to_owned(),
        is_for_tests: value["kind"] == "dev",
        is_room: value["path"].is_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(manifest: &str, publish: &Value) -> Value {
        json!({ "packages": [{
            "name": "operon-catalog",
            "manifest_path": manifest,
            "description": "Packages",
            "publish": publish,
            "dependencies": [
                { "name": "operon-version", "kind": null, "path": "/r/core/version" },
                { "name": "proptest", "kind": "dev", "source": "registry+https://x" },
            ],
        }]})
    }

    #[test]
    fn metadata_is_read() {
        let metadata = metadata("/r/core/catalog/Cargo.toml", &json!([]));
        let rooms = from_metadata(&metadata, Path::new("/r")).expect("well formed");
        let [room] = &rooms[..] else { panic!("one room") };
        assert_eq!((room.ring, room.folder.as_str()), (Ring::Core, "catalog"));
        assert_eq!(room.manifest, "core/catalog/Cargo.toml");
        assert!(room.has_description && !room.is_published);
        let facts: Vec<(&str, bool, bool)> = room
            .dependencies
            .iter()
            .map(|dependency| {
                (dependency.name.as_str(), dependency.is_for_tests, dependency.is_room)
            })
            .collect();
        assert_eq!(facts, [("operon-version", false, true), ("proptest", true, false)]);
    }

    #[test]
    fn published_and_homeless_crates_are_seen() {
        let published = metadata("/r/core/catalog/Cargo.toml", &Value::Null);
        let rooms = from_metadata(&published, Path::new("/r")).expect("well formed");
        assert!(rooms[0].is_published);
        for manifest in ["/r/Cargo.toml", "/r/extra/catalog/Cargo.toml", "/r/core/a/b/Cargo.toml"] {
            from_metadata(&metadata(manifest, &json!([])), Path::new("/r")).expect_err(manifest);
        }
    }

    #[test]
    fn lines_and_lints_are_found_in_the_text() {
        let metadata = metadata("/r/core/catalog/Cargo.toml", &json!([]));
        let mut room = from_metadata(&metadata, Path::new("/r")).expect("well formed").remove(0);
        room.manifest_text =
            "[package]\nname = \"a\"\n\n[dependencies]\nserde-json = \"1\"\nserde = \"1\"\n".into();
        assert_eq!(
            [room.line_of("serde"), room.line_of("serde-json"), room.line_of("b")],
            [6, 5, 1]
        );
        let cases = [
            ("[lints]\nworkspace = true\n", true),
            ("[lints]\nworkspace=true\n", false),
            ("[lints.rust]\nworkspace = true\n", false),
            ("[lints]\n[dependencies]\nworkspace = true\n", false),
        ];
        for (text, expected) in cases {
            room.manifest_text = text.to_owned();
            assert_eq!(room.takes_workspace_lints(), expected, "{text}");
        }
    }
}
