//! What a rig is to be like, and how that is remembered for whoever finds it later.
//!
//! Versions and addresses are no settings: they are the same for every rig.

use std::{fs, io};

use serde_json::{Value, json};

use crate::{RigError, places::Places};

/// The longest name of a rig: it is part of the paths of sockets, which may have about 100 bytes.
pub const MAX_NAME_LENGTH: usize = 24;

/// What a rig is to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RigOptions {
    /// What it is called; rigs with different names stand side by side.
    pub name: String,
    /// Whether it has a node that runs containers, or is a control plane alone.
    pub nodes: bool,
    /// Whether etcd writes to the disk before it answers, so that killing the machine loses nothing.
    pub durable: bool,
    /// More flags for the API server, such as `--feature-gates=…`.
    pub apiserver_flags: Vec<String>,
}

/// The file below a rig's directory.
const FILE: &str = "rig.json";

impl RigOptions {
    /// Describes a control plane alone: etcd, the API server and the controllers.
    pub fn control_plane(name: &str) -> Self {
        Self { name: name.to_owned(), nodes: false, durable: false, apiserver_flags: Vec::new() }
    }

    /// Describes a whole cluster: also a scheduler, a registry, and a node that runs containers.
    pub fn cluster(name: &str) -> Self {
        Self { nodes: true, ..Self::control_plane(name) }
    }

    pub(crate) fn check_name(name: &str) -> Result<(), RigError> {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_short = (1..=MAX_NAME_LENGTH).contains(&name.len());
        if is_short && name.bytes().all(is_part) && !name.starts_with('-') {
            return Ok(());
        }
        Err(RigError::BadName { name: name.to_owned() })
    }

    /// Writes the settings of a rig.
    pub(crate) fn save(&self, places: &Places) -> Result<(), RigError> {
        let flags = &self.apiserver_flags;
        let text = json!({ "nodes": self.nodes, "durable": self.durable, "apiserverFlags": flags });
        places.write(FILE, &format!("{text:#}\n"))?;
        Ok(())
    }

    /// Reads the settings of a rig that somebody started; `None` when there is none.
    pub(crate) fn load(name: &str, places: &Places) -> Result<Option<Self>, RigError> {
        let path = places.path(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RigError::file("read", path)(error)),
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| RigError::file("read", path)(error.into()))?;
        let flags = value["apiserverFlags"].as_array().into_iter().flatten();
        Ok(Some(Self {
            name: name.to_owned(),
            nodes: value["nodes"].as_bool().unwrap_or(false),
            durable: value["durable"].as_bool().unwrap_or(false),
            apiserver_flags: flags.filter_map(Value::as_str).map(str::to_owned).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_paths_are_refused() {
        for name in ["a", "default", "test-4711", "0"] {
            RigOptions::check_name(name).expect(name);
        }
        let long = "a".repeat(MAX_NAME_LENGTH + 1);
        for name in ["", "..", "a/b", "A", "-x", "a b", "ä", long.as_str()] {
            let error = RigOptions::check_name(name).expect_err(name).to_string();
            assert!(error.contains("is no name for a rig"), "{error}");
        }
    }
}
