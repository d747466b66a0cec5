//! One lane made ready for drawing: checked edges, unique labels, and who stands on the spine.
//!
//! Every drawing asks the same questions about a lane ("is this edge a straight line?", "why is
//! this version stranded?"); they are answered here once, in time linear in the edges. It
//! deliberately knows nothing of characters, pixels or formats.

use std::collections::BTreeMap;

use crate::{
    graph::{Lane, Node, Role},
    words::{
        BUNDLE_ABOVE, VIRTUAL_SENTENCE, clean, clean_name, deprecated_sentence, listed,
        skip_range_sentence,
    },
};

/// Says where a version stands in its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the vertical line of the channel: the head, what it replaces, and stranded pieces.
    Spine,
    /// Beside that line: what is skipped.
    Side,
}

/// Describes one edge for the drawings that leave the layout to others.
pub(crate) enum Link {
    /// `newer` replaces `older`.
    Replaces { older: usize, newer: usize },
    /// `newer` skips `older`.
    Skips { older: usize, newer: usize },
    /// The `skipRange` of `newer` covers `older`; the text is the range.
    Range { older: usize, newer: usize, text: String },
    /// The `skipRange` of `newer` covers too many (or none) to be drawn one by one.
    Bundle { newer: usize, sentence: String },
}

/// Holds one lane with everything that the drawings ask about it.
pub(crate) struct Outline<'lane> {
    pub(crate) lane: &'lane Lane,
    /// The cleaned label of each node, unique within the lane where the names are.
    pub(crate) labels: Vec<String>,
    pub(crate) places: Vec<Place>,
    /// The edges, without those out of bounds and without repetition.
    pub(crate) replaces: Vec<Option<usize>>,
    pub(crate) skips: Vec<Vec<usize>>,
    pub(crate) covers: Vec<Vec<usize>>,
    /// The next node below on the spine, for every node.
    pub(crate) next_on_spine: Vec<Option<usize>>,
    replaced_by: Vec<Vec<usize>>,
    skipped_by: Vec<Vec<usize>>,
    /// The newest installable node whose `skipRange` covers the node.
    covered_by: Vec<Option<usize>>,
}

impl<'lane> Outline<'lane> {
    pub(crate) fn of(lane: &'lane Lane) -> Self {
        let nodes = &lane.nodes;
        let count = nodes.len();
        let mut seen = Seen::new(count);
        let replaces: Vec<_> =
            nodes.iter().map(|node| node.replaces.filter(|&target| target < count)).collect();
        let skips: Vec<_> = nodes.iter().map(|node| seen.distinct(&node.skips)).collect();
        let covers: Vec<Vec<usize>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| match &node.skip_range {
                Some(range) => {
                    let mut covers = seen.distinct(&range.covers);
                    covers.retain(|&target| target != index);
                    covers
                }
                None => Vec::new(),
            })
            .collect();

        let mut replaced_by = vec![Vec::new(); count];
        let mut skipped_by = vec![Vec::new(); count];
        let mut covered_by = vec![None; count];
        for index in 0..count {
            if let Some(target) = replaces[index] {
                replaced_by[target].push(index);
            }
            for &target in &skips[index] {
                skipped_by[target].push(index);
            }
            if is_installable(nodes[index].role) {
                for &target in &covers[index] {
                    covered_by[target].get_or_insert(index);
                }
            }
        }
        let places: Vec<_> = (0..count)
            .map(|index| place(nodes, index, &replaced_by[index], &skipped_by[index]))
            .collect();
        let next_on_spine = next_on_spine(&places);
        Self {
            lane,
            labels: unique_labels(nodes),
            places,
            replaces,
            skips,
            covers,
            next_on_spine,
            replaced_by,
            skipped_by,
            covered_by,
        }
    }

    /// Returns whether the `replaces` edge of a spine node is the straight line to the next one.
    pub(crate) fn is_linked(&self, index: usize) -> bool {
        self.places[index] == Place::Spine
            && self.replaces[index].is_some()
            && self.replaces[index] == self.next_on_spine[index]
    }

    /// Returns whether `target` is among the skips of `skipper`.
    pub(crate) fn is_skipped_by(&self, target: usize, skipper: usize) -> bool {
        self.skipped_by[target].binary_search(&skipper).is_ok()
    }

    /// Returns the labels of those who skip the node.
    pub(crate) fn skippers(&self, index: usize) -> String {
        self.listed(&self.skipped_by[index])
    }

    /// Returns the labels of the nodes, cut where there are many.
    pub(crate) fn listed(&self, indices: &[usize]) -> String {
        listed(indices.iter().map(|&index| self.labels[index].as_str()))
    }

    /// Returns what is special about the node's role, when anything is.
    pub(crate) fn role_sentence(&self, index: usize) -> Option<String> {
        match self.lane.nodes[index].role {
            Role::Head => Some("head".to_owned()),
            Role::Chain | Role::Skipped => None,
            Role::Virtual => Some(VIRTUAL_SENTENCE.to_owned()),
            Role::Stranded => Some(self.stranded_sentence(index)),
        }
    }

    /// Returns the sentence about the node's deprecation.
    pub(crate) fn deprecated_sentence(&self, index: usize) -> Option<String> {
        self.lane.nodes[index].deprecation.as_deref().map(deprecated_sentence)
    }

    /// Returns the sentence about the node's `skipRange`.
    pub(crate) fn skip_range_sentence(&self, index: usize) -> Option<String> {
        let range = self.lane.nodes[index].skip_range.as_ref()?;
        Some(skip_range_sentence(range, self.covers[index].len()))
    }

    /// Returns everything there is to say about the node, one fact per line, its full name first.
    pub(crate) fn facts(&self, index: usize) -> Vec<String> {
        let node = &self.lane.nodes[index];
        let mut facts = vec![clean_name(node)];
        facts.extend(self.role_sentence(index));
        if node.role == Role::Skipped {
            facts.push(format!("skipped by {}", self.skippers(index)));
        }
        facts.extend(self.deprecated_sentence(index));
        if let Some(target) = self.replaces[index] {
            facts.push(format!("replaces {}", self.labels[target]));
        }
        if !self.skips[index].is_empty() {
            facts.push(format!("skips {}", self.listed(&self.skips[index])));
        }
        facts.extend(self.skip_range_sentence(index));
        facts
    }

    /// Returns every edge of the lane, by the newer version, in the order of the nodes.
    pub(crate) fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (newer, node) in self.lane.nodes.iter().enumerate() {
            links.extend(self.replaces[newer].map(|older| Link::Replaces { older, newer }));
            links.extend(self.skips[newer].iter().map(|&older| Link::Skips { older, newer }));
            let Some(range) = &node.skip_range else {
                continue;
            };
            let covers = &self.covers[newer];
            if (1..=BUNDLE_ABOVE).contains(&covers.len()) {
                let text = clean(&range.text);
                links.extend(covers.iter().map(|&older| Link::Range {
                    older,
                    newer,
                    text: text.clone(),
                }));
            } else {
                let sentence = skip_range_sentence(range, covers.len());
                links.push(Link::Bundle { newer, sentence });
            }
        }
        links
    }

    /// Returns the label of the first head, when there is one.
    pub(crate) fn head_label(&self) -> Option<&str> {
        let head = self.lane.nodes.iter().position(|node| node.role == Role::Head)?;
        Some(&self.labels[head])
    }

    /// The reason is what an author needs: which edge exists, and why it does not count.
    fn stranded_sentence(&self, index: usize) -> String {
        let nodes = &self.lane.nodes;
        let replacers = &self.replaced_by[index];
        let stranded_above =
            replacers.iter().find(|&&replacer| nodes[replacer].role == Role::Stranded);
        let reason = if let Some(&above) = stranded_above {
            format!("stranded with {}, which replaces it", self.labels[above])
        } else if replacers.is_empty() {
            "stranded: no path to the head (nothing replaces or skips it)".to_owned()
        } else {
            let skipped = self.listed(replacers);
            format!("stranded: no path to the head (only {skipped} replaces it, and is skipped)")
        };
        match self.covered_by[index] {
            Some(cover) => {
                format!("{reason}, though the skipRange of {} covers it", self.labels[cover])
            }
            None => reason,
        }
    }
}

/// Returns whether the version may be installed.
pub(crate) fn is_installable(role: Role) -> bool {
    match role {
        Role::Head | Role::Chain => true,
        Role::Skipped | Role::Virtual | Role::Stranded => false,
    }
}

/// Tells repeated positions from new ones without clearing or sorting anything per list.
struct Seen {
    round: usize,
    last_round: Vec<usize>,
}

impl Seen {
    fn new(count: usize) -> Self {
        Self { round: 0, last_round: vec![0; count] }
    }

    fn distinct(&mut self, targets: &[usize]) -> Vec<usize> {
        self.round += 1;
        let mut distinct = Vec::new();
        for &target in targets {
            if let Some(last) = self.last_round.get_mut(target)
                && *last != self.round
            {
                *last = self.round;
                distinct.push(target);
            }
        }
        distinct
    }
}

/// A name without content stands where its reference puts it: in the chain when the chain runs
/// into it, beside the chain when it is only skipped.
fn place(nodes: &[Node], index: usize, replaced_by: &[usize], skipped_by: &[usize]) -> Place {
    match nodes[index].role {
        Role::Head | Role::Chain | Role::Stranded => Place::Spine,
        Role::Skipped => Place::Side,
        Role::Virtual => {
            let in_a_chain = replaced_by.iter().any(|&replacer| match nodes[replacer].role {
                Role::Head | Role::Chain | Role::Stranded => true,
                Role::Skipped | Role::Virtual => false,
            });
            let unreferenced = replaced_by.is_empty() && skipped_by.is_empty();
            if in_a_chain || unreferenced { Place::Spine } else { Place::Side }
        }
    }
}

fn next_on_spine(places: &[Place]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut below = vec![None; places.len()];
    for index in (0..places.len()).rev() {
        below[index] = next;
        match places[index] {
            Place::Spine => next = Some(index),
            Place::Side => {}
        }
    }
    below
}

/// Two versions of one lane with the same label would be indistinguishable in "replaces 1.0.0".
fn unique_labels(nodes: &[Node]) -> Vec<String> {
    let labels: Vec<String> = nodes.iter().map(|node| clean(&node.label)).collect();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for label in &labels {
        *uses.entry(label).or_default() += 1;
    }
    nodes
        .iter()
        .zip(&labels)
        .map(|(node, label)| {
            if label.is_empty() || uses[label.as_str()] > 1 {
                clean_name(node)
            } else {
                label.clone()
            }
        })
        .collect()
}
