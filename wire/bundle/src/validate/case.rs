//! A bundle laid out for its validators, and the report they write.
//!
//! Validators look at objects as upstream sees them; where a value stands in its file is looked up
//! only for what is found.

use std::{collections::BTreeMap, ops::Range};

use operon_document::json::{Node, Tape};

use super::{ValidationOptions, place};
use crate::{BundleFile, BundleFinding, BundleRule, BundleSource, Manifest, finding};

/// Limits the findings of one rule about one bundle. Nobody reads more, and each costs a look into
/// its file.
pub const MAX_FINDINGS_PER_RULE: usize = 100;

/// An object of the bundle, opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exhibit<'a> {
    /// Its number among the manifests.
    number: usize,
    pub(super) manifest: &'a Manifest,
    pub(super) root: Node<'a>,
}

/// The bundle that is being validated.
pub(super) struct Case<'a> {
    pub(super) source: &'a BundleSource,
    pub(super) files: &'a [BundleFile],
    pub(super) options: &'a ValidationOptions,
    pub(super) exhibits: Vec<Exhibit<'a>>,
    pub(super) service_version: Exhibit<'a>,
}

/// What validators found.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Findings with the number of the manifest that their range is in; nothing if the range is one
    /// of the file already.
    findings: Vec<(Option<usize>, BundleFinding)>,
    /// How often each rule was broken.
    counts: BTreeMap<&'static str, usize>,
    /// The last finding beyond the limit of its rule; its writer may still add to it.
    unlisted: Option<BundleFinding>,
}

impl<'a> Exhibit<'a> {
    /// Returns the value behind these fields.
    pub(super) fn at(&self, path: &[&str]) -> Option<Node<'a>> {
        at(self.root, path)
    }

    /// Returns the key at the end of these fields, or the nearest one before it that exists: the
    /// place to show for something that is missing.
    pub(super) fn key(&self, path: &[&str]) -> Node<'a> {
        let mut nearest = self.root;
        let mut inside = self.root;
        for name in path {
            let Some((key, value)) = inside.members().find(|(key, _)| key.folds_to(name)) else {
                break;
            };
            (nearest, inside) = (key, value);
        }
        nearest
    }
}

impl<'a> Case<'a> {
    /// Lays out a bundle, lets it be validated, and returns the findings with their places.
    pub(super) fn examine(
        source: &'a BundleSource,
        files: &'a [BundleFile],
        options: &'a ValidationOptions,
        validate: impl FnOnce(&Case<'_>, &mut Report),
    ) -> Vec<BundleFinding> {
        let mut tapes: Vec<Tape> = source.manifests.iter().map(|_| Tape::new()).collect();
        let mut exhibits = Vec::with_capacity(tapes.len());
        for (number, (manifest, tape)) in source.manifests.iter().zip(&mut tapes).enumerate() {
            // A manifest was printed by ourselves; only its printed form can have become too large.
            if let Ok(root) = tape.read(manifest.json.as_bytes()) {
                exhibits.push(Exhibit { number, manifest, root });
            }
        }
        let is_service_version = |exhibit: &&Exhibit<'_>| {
            (&exhibit.manifest.file, &exhibit.manifest.range)
                == (&source.service_version.file, &source.service_version.range)
        };
        let Some(service_version) = exhibits.iter().find(is_service_version).copied() else {
            return Vec::new();
        };
        let mut report = Report::default();
        validate(&Case { source, files, options, exhibits, service_version }, &mut report);
        report.into_placed(source, files)
    }

    /// Returns the elements of a list of the ClusterServiceVersion.
    pub(super) fn list(&self, path: &[&str]) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.service_version.at(path).into_iter().flat_map(Node::elements)
    }

    /// Returns the deployments that the ClusterServiceVersion installs.
    pub(super) fn deployments(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.list(&["spec", "install", "spec", "deployments"])
    }

    /// Returns an annotation of the ClusterServiceVersion.
    pub(super) fn annotation(&self, name: &str) -> Option<Node<'a>> {
        self.service_version.at(&["metadata", "annotations"])?.get(name)
    }
}

impl Report {
    /// Adds a finding about a value of an object.
    pub(super) fn add(
        &mut self,
        rule: BundleRule,
        exhibit: &Exhibit<'_>,
        node: Node<'_>,
        message: impl Into<String>,
    ) -> &mut BundleFinding {
        let finding = new_finding(rule, &exhibit.manifest.file, node.span(), message.into());
        self.push(Some(exhibit.number), finding)
    }

    /// Adds a finding about bytes of a file; without a file it is about the bundle as a whole.
    pub(super) fn add_in_file(
        &mut self,
        rule: BundleRule,
        file: &str,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> &mut BundleFinding {
        self.push(None, new_finding(rule, file, range, message.into()))
    }

    fn push(&mut self, manifest: Option<usize>, finding: BundleFinding) -> &mut BundleFinding {
        let count = self.counts.entry(finding.rule_id).or_default();
        *count += 1;
        if *count > MAX_FINDINGS_PER_RULE {
            return self.unlisted.insert(finding);
        }
        self.findings.push((manifest, finding));
        let (_, finding) = self.findings.last_mut().expect("bug: a finding was just pushed");
        finding
    }

    fn into_placed(mut self, source: &BundleSource, files: &[BundleFile]) -> Vec<BundleFinding> {
        place::find(&mut self.findings, source, files);
        let mut findings: Vec<BundleFinding> =
            self.findings.into_iter().map(|(_, finding)| finding).collect();
        for (rule_id, count) in self.counts {
            if let Some(more) = count.checked_sub(MAX_FINDINGS_PER_RULE).filter(|more| *more > 0) {
                let message = format!("`{rule_id}` found {more} more that are not listed");
                let rule = BundleRule::MoreFindings;
                findings.push(new_finding(rule, "", 0..0, message));
            }
        }
        // Two validators may look at the same thing.
        finding::sort(&mut findings);
        findings.dedup();
        findings
    }
}

fn new_finding(
    rule: BundleRule,
    file: &str,
    range: Range<usize>,
    message: String,
) -> BundleFinding {
    BundleFinding {
        file: file.to_owned(),
        range,
        severity: rule.severity(),
        rule_id: rule.id(),
        message,
        help: None,
    }
}

/// Returns the value behind these fields, matched as upstream matches them.
pub(super) fn at<'a>(from: Node<'a>, path: &[&str]) -> Option<Node<'a>> {
    path.iter().try_fold(from, |node, name| node.field(name))
}

/// Returns the elements of a list below a value.
pub(super) fn list<'a>(from: Node<'a>, path: &[&str]) -> impl Iterator<Item = Node<'a>> + use<'a> {
    at(from, path).into_iter().flat_map(Node::elements)
}
