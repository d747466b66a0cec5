//! The manifests of a bundle: every document of every file directly below `manifests/`.

use std::ops::Range;

use operon_document::{
    json::{Node, Tape},
    stream::{self, Event},
};

use super::{
    BundleFile, Page, ProvidedApi, ServiceVersion, definition, directory,
    kinds::{DEFINITION_KIND, Identity, SERVICE_VERSION_KIND, is_supported},
};
use crate::{BundleError, BundleRule, finding::Findings, json::print_manifest};

/// An object of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The path of the file it is in.
    pub file: String,
    /// The bytes of the file that hold it.
    pub range: Range<usize>,
    /// The group and version of its API.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name; empty if it has none.
    pub name: String,
    /// The object as upstream prints it: compact, keys sorted, HTML characters escaped.
    pub json: String,
}

/// What the directory `manifests/` gave.
#[derive(Debug)]
pub(super) struct Manifests {
    pub(super) manifests: Vec<Manifest>,
    pub(super) service_version: ServiceVersion,
    pub(super) provided_apis: Vec<ProvidedApi>,
}

/// Reads the manifests of a bundle.
///
/// Upstream reads the first document of a file only, so that a list of thirty roles in one file
/// becomes one role, and a file that begins with a comment and a separator becomes nothing. Here
/// every document is kept, and the difference is a finding.
pub(super) fn read(
    files: &[BundleFile],
    tape: &mut Tape,
    findings: &mut Findings,
) -> Result<Manifests, BundleError> {
    let (entries, nested) = directory(files, "manifests");
    if entries.is_empty() {
        return Err(BundleError::NoManifests);
    }
    for file in nested {
        pass_over(file, "files in sub-directories of `manifests/` are not read", findings);
    }
    let mut gathered = Gathered::default();
    for entry in entries {
        if entry.name.starts_with('.') {
            pass_over(entry.file, "hidden files are not read", findings);
        } else {
            read_file(entry.file, tape, &mut gathered, findings);
        }
    }
    gathered.provided_apis.sort();
    gathered.provided_apis.dedup();
    let service_version = match gathered.service_version {
        Some(service_version) => service_version?,
        None => {
            return Err(BundleError::NoServiceVersion { unreadable: gathered.unreadable });
        }
    };
    Ok(Manifests {
        manifests: gathered.manifests,
        service_version,
        provided_apis: gathered.provided_apis,
    })
}

fn pass_over(file: &BundleFile, why: &str, findings: &mut Findings) {
    findings
        .add(BundleRule::ManifestPassedOver, &file.path, 0..0, why)
        .help("move the file directly below `manifests/`, or out of it if it is no manifest");
}

#[derive(Default)]
struct Gathered {
    manifests: Vec<Manifest>,
    service_version: Option<Result<ServiceVersion, BundleError>>,
    provided_apis: Vec<ProvidedApi>,
    unreadable: Vec<String>,
}

/// What was met in one file.
#[derive(Default)]
struct Count {
    documents: usize,
    objects: usize,
    first_is_empty: bool,
    /// The place of the first object behind the first document.
    beyond_first: Option<Range<usize>>,
}

fn read_file(file: &BundleFile, tape: &mut Tape, gathered: &mut Gathered, findings: &mut Findings) {
    let mut count = Count::default();
    stream::read(&file.content, tape, &mut |event| {
        count.documents += 1;
        match event {
            Event::Document(document) if document.root.is_null() => {
                count.first_is_empty |= count.documents == 1;
            }
            Event::Document(document) => {
                count.objects += 1;
                if count.documents > 1 && count.beyond_first.is_none() {
                    count.beyond_first = Some(document.span());
                }
                read_document(&Page { file, document: &document }, gathered, findings);
            }
            Event::Broken(broken) => {
                count.objects += 1;
                gathered.unreadable.push(file.path.clone());
                let message = format!("the manifest cannot be read: {}", broken.message);
                findings
                    .add(BundleRule::ManifestUnreadable, &file.path, broken.place, message)
                    .help("upstream tools leave such a manifest out without a word");
            }
            Event::Ignored(range) => {
                let message = "text behind the end of a document is not read";
                findings.add(BundleRule::IgnoredText, &file.path, range, message);
            }
        }
    });
    report_count(file, &count, findings);
}

fn report_count(file: &BundleFile, count: &Count, findings: &mut Findings) {
    if count.objects == 0 {
        let message = "the file holds no object";
        findings.add(BundleRule::ManifestEmpty, &file.path, 0..0, message);
    }
    let Some(range) = count.beyond_first.clone() else {
        return;
    };
    let message = if count.first_is_empty {
        "upstream tools read only the first document of this file, which holds nothing but comments"
    } else {
        "upstream tools read only the first document of this file"
    };
    findings
        .add(BundleRule::SeveralDocuments, &file.path, range, message)
        .help("put each object into a file of its own, without a separator before it");
}

fn read_document(page: &Page<'_>, gathered: &mut Gathered, findings: &mut Findings) {
    let root = page.document.root;
    let identity = match Identity::read(root) {
        Ok(identity) => identity,
        Err(reason) => {
            page.find(findings, BundleRule::ManifestWithoutKind, root, reason)
                .help("upstream tools leave such a document out without a word");
            return;
        }
    };
    match identity.kind.as_str() {
        SERVICE_VERSION_KIND if gathered.service_version.is_some() => {
            let message = "the bundle has a ClusterServiceVersion already; this one is left out";
            page.find(findings, BundleRule::SecondServiceVersion, root, message)
                .help("a bundle describes one version of one operator");
            return;
        }
        SERVICE_VERSION_KIND => {
            gathered.service_version = Some(ServiceVersion::read(page, &identity, findings));
        }
        DEFINITION_KIND => {
            gathered.provided_apis.extend(definition::read(page, &identity, findings));
        }
        kind if !is_supported(kind) => {
            let message = format!("OLM does not install a `{kind}` from a bundle");
            page.find(
                findings,
                BundleRule::UnsupportedKind,
                root.get("kind").unwrap_or(root),
                message,
            );
        }
        _ => {}
    }
    gathered.manifests.push(Manifest {
        file: page.file.path.clone(),
        range: page.document.span(),
        api_version: identity.api_version(),
        name: object_name(root),
        kind: identity.kind,
        json: print_manifest(root),
    });
}

fn object_name(root: Node<'_>) -> String {
    let metadata = root.field("metadata");
    crate::property::text(metadata.and_then(|metadata| metadata.field("name")))
}
