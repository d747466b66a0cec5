//! What is left when all layers were applied.
//!
//! Links to files are replaced by what they lead to, as a program that opens them would see it. Links
//! that lead nowhere useful are told about and left out; none is followed out of what was kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    BlobId, Wanted,
    nodes::{Content, Nodes},
    path::SHOWN_CHARACTERS,
};
use crate::printable::excerpt;

/// A file and the number of its content in the sink. Several files may have one content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptFile {
    /// The number of its content.
    pub blob: BlobId,
    /// The number of its bytes.
    pub size: u64,
}

/// The files of an image. Contents in the sink that no file has can be thrown away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The files by path, such as `configs/etcd/catalog.yaml`; also links to files.
    pub files: BTreeMap<String, KeptFile>,
    /// The directories.
    pub directories: BTreeSet<String>,
    /// What was left out.
    pub findings: Vec<TreeFinding>,
    /// Files that are not wanted, but which hard links of wanted ones lead to.
    pub needed: BTreeSet<String>,
}

/// Says what was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeFinding {
    /// A link leads to something that is not wanted or not in the image.
    LinkOutside {
        /// The link.
        path: String,
        /// Its target as it is written.
        target: String,
    },
    /// A link leads to nothing.
    LinkToNothing {
        /// The link.
        path: String,
        /// Its target as it is written.
        target: String,
    },
    /// A link leads to itself, or through more than [`MAX_LINK_HOPS`](super::MAX_LINK_HOPS) others, or to
    /// a path that is too long.
    LinkLoop {
        /// The link.
        path: String,
        /// Its target as it is written.
        target: String,
    },
    /// A link leads to a directory; programs that walk through directories do not follow it.
    LinkToDirectory {
        /// The link.
        path: String,
        /// Its target as it is written.
        target: String,
    },
    /// A hard link needs a file that was not kept; see [`Unpacked::needed`].
    HardLinkOutside {
        /// The link.
        path: String,
        /// The file.
        target: String,
    },
    /// An entry lies below a link that leads out of what is wanted, or in a circle.
    BelowLink {
        /// The entry.
        path: String,
    },
}

impl Unpacked {
    /// Collects what is left.
    pub(super) fn collect(nodes: &Nodes, wanted: &Wanted, findings: BTreeSet<TreeFinding>) -> Self {
        let mut unpacked = Self::default();
        let mut findings = findings;
        for (path, content) in nodes.iter().filter(|(path, _)| wanted.is_result(path)) {
            match content {
                Content::Directory => {
                    unpacked.directories.insert(path.to_owned());
                }
                Content::File { blob, size } => {
                    let file = KeptFile { blob: *blob, size: *size };
                    unpacked.files.insert(path.to_owned(), file);
                }
                Content::Elsewhere { target } => {
                    unpacked.needed.insert(target.clone());
                    let (path, target) = (path.to_owned(), target.clone());
                    findings.insert(TreeFinding::HardLinkOutside { path, target });
                }
                Content::Link { target } => match follow(nodes, wanted, path, target) {
                    Ok(file) => {
                        unpacked.files.insert(path.to_owned(), file);
                    }
                    Err(finding) => {
                        findings.insert(finding);
                    }
                },
            }
        }
        unpacked.findings = findings.into_iter().collect();
        unpacked
    }
}

fn follow(
    nodes: &Nodes,
    wanted: &Wanted,
    path: &str,
    target: &str,
) -> Result<KeptFile, TreeFinding> {
    let (path, target) = (path.to_owned(), target.to_owned());
    let Ok(end) = nodes.walk(&path) else {
        return Err(TreeFinding::LinkLoop { path, target });
    };
    if !wanted.is_result(&end) {
        return Err(TreeFinding::LinkOutside { path, target });
    }
    match nodes.get(&end) {
        Some(Content::File { blob, size }) => Ok(KeptFile { blob: *blob, size: *size }),
        Some(Content::Directory) => Err(TreeFinding::LinkToDirectory { path, target }),
        Some(Content::Elsewhere { target }) => {
            Err(TreeFinding::HardLinkOutside { path, target: target.clone() })
        }
        // A walk ends at no link; were it to, it would lead nowhere.
        Some(Content::Link { .. }) | None if end.is_empty() => {
            Err(TreeFinding::LinkToDirectory { path, target })
        }
        Some(Content::Link { .. }) | None => Err(TreeFinding::LinkToNothing { path, target }),
    }
}

impl fmt::Display for TreeFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| excerpt(text, SHOWN_CHARACTERS);
        match self {
            Self::LinkOutside { path, target } => write!(
                formatter,
                "`{}` is left out: it is a link to `{}`, outside of what is unpacked",
                shown(path),
                shown(target)
            ),
            Self::LinkToNothing { path, target } => write!(
                formatter,
                "`{}` is left out: it is a link to `{}`, which does not exist",
                shown(path),
                shown(target)
            ),
            Self::LinkLoop { path, target } => write!(
                formatter,
                "`{}` is left out: it is a link to `{}`, which leads back or through too many links",
                shown(path),
                shown(target)
            ),
            Self::LinkToDirectory { path, target } => write!(
                formatter,
                "`{}` is left out: it is a link to the directory `{}`, which is not followed",
                shown(path),
                shown(target)
            ),
            Self::HardLinkOutside { path, target } => write!(
                formatter,
                "`{}` is left out: it is a hard link to `{}`, which was not unpacked",
                shown(path),
                shown(target)
            ),
            Self::BelowLink { path } => write!(
                formatter,
                "`{}` is left out: it lies below a link that leads out of what is unpacked",
                shown(path)
            ),
        }
    }
}
