//! What a bundle's ClusterServiceVersion says for people, read from the catalog's file when asked.
//!
//! The catalog in memory holds no bodies. A body that cannot be read is left out without a word:
//! everything else about the bundle is still true.

use operon_catalog::Bundle;
use operon_document::json::{Node, Tape};
use operon_fbc::serve_bundle;
use operon_image::OpenedCatalog;

use crate::output::Json;

/// The texts of a ClusterServiceVersion; all may be empty.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) description: String,
    pub(super) maturity: String,
    pub(super) capabilities: String,
    pub(super) categories: String,
    pub(super) created: String,
    pub(super) repository: String,
    pub(super) minimum_kubernetes: String,
    pub(super) install_modes: Vec<String>,
    pub(super) maintainers: Vec<String>,
    pub(super) links: Vec<(String, String)>,
}

impl Manifest {
    /// Reads the manifest or the metadata that stands for it.
    pub(super) fn read(opened: &OpenedCatalog, bundle: Bundle<'_>) -> Self {
        let read = || {
            let entry = bundle.entries().next()?;
            let document = opened.document(bundle.place()).ok()?;
            let served = serve_bundle(entry, document.as_bytes(), b"{}").ok()?;
            let mut tape = Tape::new();
            Some(of_csv(tape.read(served.csv_json.as_bytes()).ok()?))
        };
        read().unwrap_or_default()
    }

    pub(super) fn value(&self) -> Json {
        let link = |(name, url): &(String, String)| {
            Json::Object(vec![("name", Json::text(name)), ("url", Json::text(url))])
        };
        Json::Object(vec![
            ("description", Json::text(&self.description)),
            ("maturity", Json::text(&self.maturity)),
            ("capabilities", Json::text(&self.capabilities)),
            ("categories", Json::text(&self.categories)),
            ("created", Json::text(&self.created)),
            ("repository", Json::text(&self.repository)),
            ("minimumKubernetesVersion", Json::text(&self.minimum_kubernetes)),
            ("installModes", Json::texts(&self.install_modes)),
            ("maintainers", Json::texts(&self.maintainers)),
            ("links", Json::list(self.links.iter().map(link))),
        ])
    }

    /// Returns the links in one line each.
    pub(super) fn link_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.links.iter().map(|(name, url)| format!("{name}: {url}"))
    }
}

fn of_csv(csv: Node<'_>) -> Manifest {
    let Some(spec) = csv.field("spec") else {
        return Manifest::default();
    };
    let annotations = csv.field("metadata").and_then(|metadata| metadata.field("annotations"));
    let annotation =
        |name| annotations.map(|annotations| text(annotations, name)).unwrap_or_default();
    let elements = |name| spec.field(name).into_iter().flat_map(Node::elements);
    let is_supported =
        |mode: &Node<'_>| mode.field("supported").and_then(Node::as_bool) == Some(true);
    let maintainer = |node: Node<'_>| match (text(node, "name"), text(node, "email")) {
        (name, email) if email.is_empty() => name,
        (name, email) => format!("{name} <{email}>"),
    };
    Manifest {
        description: text(spec, "description"),
        maturity: text(spec, "maturity"),
        capabilities: annotation("capabilities"),
        categories: annotation("categories"),
        created: annotation("createdAt"),
        repository: annotation("repository"),
        minimum_kubernetes: text(spec, "minKubeVersion"),
        install_modes: elements("installModes")
            .filter(is_supported)
            .map(|mode| text(mode, "type"))
            .collect(),
        maintainers: elements("maintainers").map(maintainer).collect(),
        links: elements("links").map(|link| (text(link, "name"), text(link, "url"))).collect(),
    }
}

fn text(node: Node<'_>, field: &str) -> String {
    node.field(field).and_then(Node::as_str).unwrap_or_default().into_owned()
}
