//! Reading a bundle: its files become manifests, annotations, dependencies and properties.
//!
//! Files are found the way upstream finds them: everything directly below `manifests/` is a
//! manifest, and what a file below `metadata/` is for is told by its content, not by its name.
//! Unlike upstream, every document of a file is read, not only the first.

use std::ops::Range;

use operon_document::{
    json::{Node, Tape},
    stream::Document,
};

use crate::{BundleError, BundleFinding, BundlePlace, BundleRule, Property, finding::Findings};

mod cross_check;
mod definition;
mod kinds;
mod manifests;
mod metadata;
mod service_version;
mod shapes;
mod spelling;
mod values;

pub use definition::ProvidedApi;
pub use manifests::Manifest;
pub use metadata::{BundleAnnotations, annotation_texts};
pub use service_version::{DefinitionKey, Icon, RelatedImage, ServiceVersion};

/// Limits the files of a bundle. The largest real bundles have a few hundred; the limit keeps a
/// mistaken directory (a whole repository) from being read as a bundle.
pub const MAX_BUNDLE_FILES: usize = 10_000;

/// Limits the bytes of a bundle: forty times the largest real one. What is read is held in memory
/// about three times: as given, as printed, and as base64.
pub const MAX_BUNDLE_BYTES: usize = 256 << 20;

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Its path inside the bundle, with `/` between the parts: `manifests/etcd.crd.yaml`.
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// What reading a bundle gave: the bundle if there is one, and what was found on the way.
#[derive(Debug)]
pub struct BundleReading {
    /// The bundle, or why there is none.
    pub bundle: Result<BundleSource, BundleError>,
    /// The findings, in the order of files and places.
    pub findings: Vec<BundleFinding>,
}

/// A bundle that has been read and can be rendered.
#[derive(Debug, Clone)]
pub struct BundleSource {
    /// The manifests in the order of file names, without second ClusterServiceVersions.
    pub manifests: Vec<Manifest>,
    /// What the ClusterServiceVersion says.
    pub service_version: ServiceVersion,
    /// The APIs of every CRD among the manifests, sorted, each once.
    pub provided_apis: Vec<ProvidedApi>,
    /// The package and the channels.
    pub annotations: BundleAnnotations,
    /// The entries of `metadata/dependencies.yaml`.
    pub dependencies: Vec<Property>,
    /// The entries of `metadata/properties.yaml`.
    pub properties: Vec<Property>,
}

/// Reads a bundle.
///
/// Files outside of `manifests/` and `metadata/` are passed over, as are files in sub-directories
/// of the two, and hidden manifests.
pub fn read_bundle(files: &[BundleFile]) -> BundleReading {
    let mut findings = Findings::default();
    let bundle = read(files, &mut findings);
    BundleReading { bundle, findings: findings.into_sorted() }
}

fn read(files: &[BundleFile], findings: &mut Findings) -> Result<BundleSource, BundleError> {
    if files.len() > MAX_BUNDLE_FILES {
        return Err(BundleError::TooManyFiles { count: files.len() });
    }
    let bytes = files.iter().map(|file| file.content.len()).sum();
    if bytes > MAX_BUNDLE_BYTES {
        return Err(BundleError::TooLarge { bytes });
    }
    let mut tape = Tape::new();
    let manifests = manifests::read(files, &mut tape, findings);
    let metadata = metadata::read(files, &mut tape, findings);
    let manifests = manifests?;
    let metadata = metadata?;
    let source = BundleSource {
        manifests: manifests.manifests,
        service_version: manifests.service_version,
        provided_apis: manifests.provided_apis,
        annotations: metadata.annotations,
        dependencies: metadata.dependencies,
        properties: metadata.properties,
    };
    cross_check::check(&source, findings);
    Ok(source)
}

/// A document of a file, with the means to make a finding about it.
struct Page<'a> {
    file: &'a BundleFile,
    document: &'a Document<'a>,
}

impl Page<'_> {
    fn range(&self, node: Node<'_>) -> Range<usize> {
        self.document.place(node.span())
    }

    fn place(&self) -> BundlePlace {
        BundlePlace::new(&self.file.path, &self.file.content, self.document.span())
    }

    fn find<'f>(
        &self,
        findings: &'f mut Findings,
        rule: BundleRule,
        node: Node<'_>,
        message: impl Into<String>,
    ) -> &'f mut BundleFinding {
        findings.add(rule, &self.file.path, self.range(node), message)
    }
}

/// A file directly inside a directory, with its name.
struct Entry<'a> {
    name: &'a str,
    file: &'a BundleFile,
}

/// The files directly inside a directory of the bundle in the order of their names, and those
/// further below.
fn directory<'a>(files: &'a [BundleFile], name: &str) -> (Vec<Entry<'a>>, Vec<&'a BundleFile>) {
    let mut direct = Vec::new();
    let mut nested = Vec::new();
    for file in files {
        let path = file.path.strip_prefix("./").unwrap_or(&file.path);
        let Some(rest) = path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')) else {
            continue;
        };
        if rest.contains('/') {
            nested.push(file);
        } else {
            direct.push(Entry { name: rest, file });
        }
    }
    direct.sort_by_key(|entry| entry.name);
    (direct, nested)
}
