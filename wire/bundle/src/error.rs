//! What makes it impossible to render a bundle.
//!
//! Only what a catalog document cannot be made without is here; everything else is a finding.

use std::{error::Error, fmt, ops::Range};

use crate::read::{MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES};

/// A place in a file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePlace {
    /// The path of the file, as it was given.
    pub file: String,
    /// The bytes of the file.
    pub range: Range<usize>,
    /// The line of the first byte, from one.
    pub line: usize,
    /// The column of the first byte, from one, counted in characters.
    pub column: usize,
}

/// Why a bundle cannot be read or rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BundleError {
    /// The list of files is longer than [`MAX_BUNDLE_FILES`].
    TooManyFiles {
        /// How many files were given.
        count: usize,
    },
    /// The files together are larger than [`MAX_BUNDLE_BYTES`].
    TooLarge {
        /// How many bytes were given.
        bytes: usize,
    },
    /// There is no file below `manifests/`, as in a directory of the older package format.
    NoManifests,
    /// No manifest is a ClusterServiceVersion.
    NoServiceVersion {
        /// The manifests that could not be read; one of them may be meant.
        unreadable: Vec<String>,
    },
    /// The ClusterServiceVersion lacks something that the document needs.
    ServiceVersionIncomplete {
        /// Where the ClusterServiceVersion is.
        place: BundlePlace,
        /// The field that is missing, such as `metadata.name`.
        field: &'static str,
    },
    /// No file below `metadata/` has bundle annotations.
    NoAnnotations {
        /// The metadata files that could not be read; one of them may be meant.
        unreadable: Vec<String>,
    },
    /// The annotations do not name the package.
    NoPackage {
        /// Where the annotations are.
        place: BundlePlace,
    },
    /// A field of the ClusterServiceVersion does not fit `olm.csv.metadata`.
    MetadataWrongType {
        /// The fields that lead to it, joined by dots.
        path: String,
        /// What should be there, such as "a string".
        expected: &'static str,
        /// What is there, such as "number".
        found: String,
    },
}

impl BundlePlace {
    pub(crate) fn new(file: &str, content: &[u8], range: Range<usize>) -> Self {
        let (line, column) = line_and_column(content, range.start);
        Self { file: file.to_owned(), range, line, column }
    }
}

/// Returns the line and column of an offset, both from one.
pub(crate) fn line_and_column(content: &[u8], offset: usize) -> (usize, usize) {
    let before = &content[..offset.min(content.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
}

impl fmt::Display for BundlePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for BundleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyFiles { count } => {
                write!(formatter, "the bundle has {count} files; the limit is {MAX_BUNDLE_FILES}")
            }
            Self::TooLarge { bytes } => {
                write!(formatter, "the bundle has {bytes} bytes; the limit is {MAX_BUNDLE_BYTES}")
            }
            Self::NoManifests => formatter.write_str(
                "the bundle has no file in `manifests/`; a registry+v1 bundle holds its manifests there \
                 and its annotations in `metadata/`",
            ),
            Self::NoServiceVersion { unreadable } => {
                formatter.write_str("no manifest in `manifests/` is a ClusterServiceVersion")?;
                write_unreadable(formatter, unreadable)
            }
            Self::ServiceVersionIncomplete { place, field } => {
                write!(formatter, "{place}: the ClusterServiceVersion has no `{field}`")
            }
            Self::NoAnnotations { unreadable } => {
                formatter.write_str(
                    "no file in `metadata/` has bundle annotations; \
                     `metadata/annotations.yaml` must name the package",
                )?;
                write_unreadable(formatter, unreadable)
            }
            Self::NoPackage { place } => write!(
                formatter,
                "{place}: the annotation `operators.operatorframework.io.bundle.package.v1`, \
                 which names the package, is missing or empty"
            ),
            Self::MetadataWrongType { path, expected, found } => write!(
                formatter,
                "`{path}` of the ClusterServiceVersion must be {expected}, not {found}"
            ),
        }
    }
}

impl Error for BundleError {}

fn write_unreadable(formatter: &mut fmt::Formatter<'_>, unreadable: &[String]) -> fmt::Result {
    for (index, file) in unreadable.iter().enumerate() {
        let lead = if index == 0 { "; could not be read: " } else { ", " };
        write!(formatter, "{lead}{file}")?;
    }
    Ok(())
}
