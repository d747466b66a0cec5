//! Catalogs for tests, held in memory and served from a free port.

use std::{fs, path::Path, sync::Arc};

use operon_catalog::{Catalog, Place};
use operon_document::{
    json::{Tape, canonical},
    yaml::{YamlOptions, to_json},
};
use operon_fbc::{MemoryFile, read_catalog};
use operon_registry::{Address, Client, ClientOptions, Content, Listening, Server};

/// A catalog whose files are held in memory.
pub(crate) struct MemoryContent {
    catalog: Catalog,
    files: Vec<MemoryFile>,
}

impl MemoryContent {
    pub(crate) fn new(files: Vec<MemoryFile>) -> Arc<Self> {
        Arc::new(Self { catalog: read_catalog(&files), files })
    }

    pub(crate) fn of_text(text: &str) -> Arc<Self> {
        let content = text.as_bytes().to_vec();
        Self::new(vec![MemoryFile { path: "catalog.yaml".to_owned(), content }])
    }

    /// The catalog of the examples.
    pub(crate) fn example() -> Arc<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/catalog");
        let files = fs::read_dir(folder).unwrap().map(|file| {
            let file = file.unwrap();
            let path = file.file_name().into_string().unwrap();
            MemoryFile { path, content: fs::read(file.path()).unwrap() }
        });
        Self::new(files.collect())
    }
}

impl Content for MemoryContent {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn document(&self, place: Place) -> Result<String, String> {
        let path = self.catalog.file_path(place.file);
        let file = self.files.iter().find(|file| file.path == path).ok_or("no such file")?;
        let text = &file.content[place.range()];
        let mut tape = Tape::new();
        if let Ok(root) = tape.read(text) {
            return Ok(canonical(root));
        }
        let json = to_json(text, &YamlOptions::default()).map_err(|error| error.to_string())?;
        tape.read(&json.json).map(canonical).map_err(|error| error.to_string())
    }
}

/// Any free port of this machine.
pub(crate) fn any_port() -> Address {
    Address::parse("127.0.0.1:0").unwrap()
}

/// Serves a catalog from a free port.
pub(crate) fn serve(content: Arc<dyn Content>) -> (Server, Listening) {
    let server = Server::new();
    server.set_content(content);
    let listening = server.listen(&any_port()).unwrap();
    (server, listening)
}

pub(crate) fn connect(listening: &Listening) -> Client {
    Client::connect(listening.address(), ClientOptions::default()).unwrap()
}

/// A package with inlined manifests, metadata, skips, deprecations and a document of
/// another schema; and a package whose channel has no head.
pub(crate) const HARBOUR: &str = r#"
schema: olm.package
name: crane
defaultChannel: stable
icon: {base64data: aGk=, mediatype: image/png}
description: Lifts things.
---
schema: olm.channel
package: crane
name: stable
entries:
- {name: crane.v2, replaces: crane.v1, skips: [crane.v1a, crane.v0], skipRange: '<2.0.0'}
- {name: crane.v1}
- {name: crane.v1a, replaces: crane.v1}
---
schema: olm.channel
package: crane
name: beta
entries:
- {name: crane.v2, skips: [crane.v1]}
---
schema: olm.bundle
package: crane
name: crane.v1
properties:
- {type: olm.package, value: {packageName: crane, version: 1.0.0}}
- {type: olm.gvk, value: {group: crane.example.com, version: v1, kind: Crane}}
- {type: olm.bundle.object, value: {data: eyJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwibWV0YWRhdGEiOnsibmFtZSI6ImNyYW5lLnYxIn19}}
- {type: olm.bundle.object, value: {data: eyJraW5kIjoiQ29uZmlnTWFwIn0=}}
---
schema: olm.bundle
package: crane
name: crane.v1a
image: example.com/crane:v1a
properties:
- {type: olm.package, value: {packageName: crane, version: 1.0.1}}
---
schema: olm.bundle
package: crane
name: crane.v2
image: example.com/crane:v2
properties:
- {type: olm.package, value: {packageName: crane, version: 2.0.0}}
- {type: olm.gvk, value: {group: crane.example.com, version: v1, kind: Crane}}
- {type: olm.gvk.required, value: {group: tide.example.com, version: v1, kind: Tide}}
- {type: olm.package.required, value: {packageName: tide, versionRange: '>=1.0.0'}}
- {type: olm.csv.metadata, value: {displayName: Crane}}
---
schema: olm.deprecations
package: crane
entries:
- {reference: {schema: olm.package}, message: cranes are old}
- {reference: {schema: olm.channel, name: beta}, message: no beta}
- {reference: {schema: olm.bundle, name: crane.v1}, message: first crane}
---
schema: example.lifecycle
package: crane
phases: [{name: full, months: 12.5}, {name: "", open: true, end: null}]
---
schema: example.lifecycle
note: of no package
---
schema: olm.package
name: wreck
defaultChannel: stable
---
schema: olm.channel
package: wreck
name: stable
entries:
- {name: wreck.v1}
- {name: wreck.v2}
---
schema: olm.bundle
package: wreck
name: wreck.v1
image: example.com/wreck:v1
properties:
- {type: olm.package, value: {packageName: wreck, version: 1.0.0}}
- {type: olm.gvk, value: {group: crane.example.com, version: v1, kind: Crane}}
---
schema: olm.bundle
package: wreck
name: wreck.v2
image: example.com/wreck:v2
properties:
- {type: olm.package, value: {packageName: wreck, version: 2.0.0}}
"#;
