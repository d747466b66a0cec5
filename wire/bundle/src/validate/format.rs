//! The format of a bundle, which is always checked: the annotations that tools find its parts by.
//!
//! Upstream: a default channel need not be named, and the names of the directories are not compared.

use operon_document::{
    json::Tape,
    stream::{self, Event},
};

use super::case::{Case, Report};
use crate::{BundleRule, property::text};

/// The annotations that every bundle has.
const REQUIRED: [&str; 4] = [
    "operators.operatorframework.io.bundle.channels.v1",
    "operators.operatorframework.io.bundle.manifests.v1",
    "operators.operatorframework.io.bundle.mediatype.v1",
    "operators.operatorframework.io.bundle.metadata.v1",
];

/// The media type of bundles with manifests.
const MEDIA_TYPE: &str = "registry+v1";

/// Validates the annotations of the bundle.
pub(super) fn validate(case: &Case<'_>, report: &mut Report) {
    let annotations = &case.source.annotations;
    let Some(file) = case.files.iter().find(|file| file.path == annotations.file) else { return };
    stream::read(&file.content, &mut Tape::new(), &mut |event| {
        let Event::Document(document) = event else { return };
        let Some(node) = document.root.field("annotations") else { return };
        if document.place(node.span()) != annotations.range {
            return;
        }
        for name in REQUIRED {
            let value = node.field(name);
            let range = annotations.range.clone();
            if value.is_none_or(|value| value.is_null()) {
                let message = format!("the annotation `{name}` is missing");
                report.add_in_file(BundleRule::AnnotationMissing, &file.path, range, message);
            } else if name == REQUIRED[2] && text(value) != MEDIA_TYPE {
                let range = document.place(value.unwrap_or(node).span());
                let message =
                    format!("the media type must be `{MEDIA_TYPE}`, not `{}`", text(value));
                report.add_in_file(BundleRule::AnnotationMissing, &file.path, range, message);
            }
        }
    });
}
