//! Catalogs in a few words.
//!
//! ```yaml
//! etcd:
//!   default: stable
//!   provides: [EtcdCluster.v1.etcd.example.com]
//!   channels:
//!     stable: [0.9.0, 0.9.2 replaces 0.9.0 skips 0.9.1, 0.9.4 skipRange >=0.9.0 <0.9.4]
//!   bundles:
//!     0.9.2: { workload: crash, requires: [Backup.v1.backup.example.com] }
//! ```
//!
//! What is said about a package holds for all its bundles, unless one says otherwise.

use operon_object::{Value, map};

use crate::{Api, Bundle, Channel, Publication};

/// Reads what a catalog publishes.
pub(super) fn publication(packages: &Value) -> Result<Publication, String> {
    let mut publication = Publication::default();
    for (package, words) in packages.entries() {
        if package == "documents" {
            publication.documents.extend(words.elements().iter().cloned());
            continue;
        }
        read_package(&mut publication, package, words)
            .map_err(|reason| format!("package {package}: {reason}"))?;
    }
    Ok(publication)
}

fn read_package(publication: &mut Publication, package: &str, words: &Value) -> Result<(), String> {
    known_words(
        words,
        &[
            "default",
            "channels",
            "bundles",
            "provides",
            "requires",
            "properties",
            "workload",
            "spec",
            "definitions",
            "objects",
        ],
    )?;
    let channels = words.get("channels");
    let first = channels.entries().next().map(|(name, _)| name);
    let default = words.get("default").as_text().or(first).ok_or("it has no channel")?;
    publication.defaults.insert(package.to_owned(), default.to_owned());
    let mut versions: Vec<String> = Vec::new();
    for (name, entries) in channels.entries() {
        let mut lifted = Vec::new();
        for entry in entries.elements() {
            let text = match entry {
                Value::Text(text) => text.to_string(),
                other => other.to_string(),
            };
            let (version, entry) = read_entry(package, &text)?;
            if !versions.contains(&version) {
                versions.push(version);
            }
            lifted.push(entry);
        }
        publication.channels.push(Channel {
            package: package.to_owned(),
            name: name.to_owned(),
            entries: lifted,
        });
    }
    for (version, _) in words.get("bundles").entries() {
        if !versions.iter().any(|known| known == version) {
            return Err(format!("no channel has {version}"));
        }
    }
    for version in versions {
        let own = words.get("bundles").get(&version);
        if own.as_text() != Some("absent") {
            publication.bundles.push(read_bundle(package, &version, words, own)?);
        }
    }
    Ok(())
}

/// Reads an entry of a channel: a version and what it takes the place of.
fn read_entry(package: &str, text: &str) -> Result<(String, Value), String> {
    let (text, range) = match text.split_once(" skipRange ") {
        Some((text, range)) => (text, Some(range.trim())),
        None => (text, None),
    };
    let mut words = text.split_whitespace();
    let version = words.next().ok_or("an entry begins with a version")?;
    // A version with its package names a bundle of another one, as in `replaces etcd.v0.9.0`.
    let name = |version: &str| match version.contains(".v") {
        true => version.to_owned(),
        false => format!("{package}.v{version}"),
    };
    let mut entry = map! { "name" => name(version) };
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("nothing follows `{word}`"))?;
        match word {
            "replaces" => entry.set(&["replaces"], name(value)),
            "skips" => entry.set(&["skips"], Value::texts(value.split(',').map(name))),
            _ => return Err(format!("`{word}` is no word for an entry")),
        }
    }
    if let Some(range) = range {
        entry.set(&["skipRange"], range);
    }
    Ok((version.to_owned(), entry))
}

fn read_bundle(
    package: &str,
    version: &str,
    common: &Value,
    own: &Value,
) -> Result<Bundle, String> {
    known_words(
        own,
        &["provides", "requires", "properties", "workload", "spec", "definitions", "objects"],
    )?;
    let said = |name: &str| {
        if own.get(name).is_null() { common.get(name) } else { own.get(name) }
    };
    let apis = |name: &str| -> Result<Vec<Api>, String> {
        let texts = said(name).iter_texts();
        texts.map(|text| Api::parse(text).ok_or_else(|| format!("`{text}` is no API"))).collect()
    };
    let properties = said("properties").entries().flat_map(|(kind, values)| {
        values.elements().iter().map(move |value| (kind.to_owned(), value.clone()))
    });
    Ok(Bundle {
        package: package.to_owned(),
        version: version.to_owned(),
        provides: apis("provides")?,
        requires: apis("requires")?,
        properties: properties.collect(),
        workload: said("workload").str().to_owned(),
        spec: said("spec").clone(),
        definitions: said("definitions").clone(),
        objects: said("objects").elements().to_vec(),
    })
}

/// Refuses words that mean nothing: a scenario that is misspelt would show nothing.
pub(super) fn known_words(value: &Value, known: &[&str]) -> Result<(), String> {
    match value.entries().find(|(name, _)| !known.contains(name)) {
        Some((name, _)) => {
            Err(format!("`{name}` means nothing here; known are {}", known.join(", ")))
        }
        None => Ok(()),
    }
}
