//! Manifests and indexes to bytes: no blanks, sorted names, nothing that is empty.
//!
//! The bytes are what digests are made of, so changing them here changes every digest of every image
//! that is built.

use std::collections::BTreeMap;

use operon_object::{Map, Value, go_json};

use super::{Descriptor, Index, Manifest};
use crate::Platform;

const SCHEMA_VERSION: i64 = 2;

pub(super) fn manifest(manifest: &Manifest) -> Vec<u8> {
    let mut map = top(&manifest.media_type, &manifest.annotations);
    if let Some(artifact_type) = &manifest.artifact_type {
        map.insert("artifactType", artifact_type.as_str());
    }
    map.insert("config", descriptor(&manifest.config));
    map.insert("layers", Value::list(manifest.layers.iter().map(descriptor)));
    go_json(&Value::Map(map)).into_bytes()
}

pub(super) fn index(index: &Index) -> Vec<u8> {
    let mut map = top(&index.media_type, &index.annotations);
    map.insert("manifests", Value::list(index.manifests.iter().map(descriptor)));
    go_json(&Value::Map(map)).into_bytes()
}

fn top(media_type: &str, annotations: &BTreeMap<String, String>) -> Map {
    let mut map = Map::default();
    map.insert("schemaVersion", SCHEMA_VERSION);
    map.insert("mediaType", media_type);
    insert_annotations(&mut map, annotations);
    map
}

fn descriptor(descriptor: &Descriptor) -> Value {
    let mut map = Map::default();
    map.insert("mediaType", descriptor.media_type.as_str());
    map.insert("digest", descriptor.digest.to_string());
    // A size beyond the integers of JSON's readers is not one of anything that exists.
    map.insert("size", i64::try_from(descriptor.size).unwrap_or(i64::MAX));
    if let Some(platform) = &descriptor.platform {
        map.insert("platform", self::platform(platform));
    }
    insert_annotations(&mut map, &descriptor.annotations);
    Value::Map(map)
}

fn platform(platform: &Platform) -> Map {
    let mut map = Map::default();
    map.insert("os", platform.os.as_str());
    map.insert("architecture", platform.architecture.as_str());
    if let Some(variant) = &platform.variant {
        map.insert("variant", variant.as_str());
    }
    if let Some(version) = &platform.os_version {
        map.insert("os.version", version.as_str());
    }
    map
}

fn insert_annotations(map: &mut Map, annotations: &BTreeMap<String, String>) {
    if !annotations.is_empty() {
        map.insert("annotations", crate::config::text_map(annotations));
    }
}
