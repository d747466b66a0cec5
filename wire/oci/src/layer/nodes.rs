//! The tree of names while layers are applied, as one sorted map of whole paths.
//!
//! What lies below a directory is one range of the map. Each node knows the layer that wrote it last,
//! because a whiteout hides only what lower layers wrote. Contents are counted, not held.

use std::{cell::Cell, collections::BTreeMap, ops::Bound};

use super::{
    BlobId, LayerLimits, LayerProblem, MAX_LINK_HOPS, MAX_LINK_STEPS, MAX_PATH_BYTES, path,
};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Directory,
    File {
        blob: BlobId,
        size: u64,
    },
    /// A symbolic link and the text of its target.
    Link {
        target: String,
    },
    /// A hard link to a file whose content was not kept.
    Elsewhere {
        target: String,
    },
}

/// A path in use.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) layer: usize,
    pub(super) content: Content,
}

/// Says why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// Links lead in a circle, or too far to tell.
    InLinks,
    /// So many links were followed that there has to be an end.
    OutOfSteps,
}

/// The tree of names.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: BTreeMap<String, Node>,
    limits: LayerLimits,
    name_bytes: usize,
    /// How many nodes are symbolic links; without any, no path has to be walked.
    links: usize,
    /// How many files have a content.
    uses: BTreeMap<BlobId, u32>,
    kept_bytes: u64,
    /// The contents that no file has any more.
    released: Vec<BlobId>,
    /// How many parts of paths may still be walked.
    steps: Cell<u64>,
}

impl Nodes {
    pub(super) fn new(limits: LayerLimits) -> Self {
        Self {
            nodes: BTreeMap::new(),
            limits,
            name_bytes: 0,
            links: 0,
            uses: BTreeMap::new(),
            kept_bytes: 0,
            released: Vec::new(),
            steps: Cell::new(MAX_LINK_STEPS),
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&Content> {
        self.nodes.get(path).map(|node| &node.content)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), &node.content))
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// Returns the contents that no file has any more, once.
    pub(super) fn take_released(&mut self) -> Vec<BlobId> {
        std::mem::take(&mut self.released)
    }

    /// Puts something at a path, with the directories above it. A directory keeps what lies in it;
    /// everything else takes the place of what was there.
    pub(super) fn insert(
        &mut self,
        path: &str,
        layer: usize,
        content: Content,
    ) -> Result<(), LayerProblem> {
        // The new content is counted first: it may be that of a file that makes room.
        if let Content::File { blob, size } = &content {
            let uses = self.uses.entry(*blob).or_default();
            *uses += 1;
            if *uses == 1 {
                self.kept_bytes += size;
            }
        }
        // What lies above a directory are directories, so that mostly one look suffices.
        if !matches!(self.get(path::split(path).0), Some(Content::Directory)) {
            for (slash, _) in path.match_indices('/') {
                self.make_directory(&path[..slash], layer)?;
            }
        }
        if content == Content::Directory {
            self.make_directory(path, layer)?;
            if let Some(node) = self.nodes.get_mut(path) {
                node.layer = layer;
            }
            return Ok(());
        }
        self.remove(path);
        self.put(path, Node { layer, content })
    }

    fn make_directory(&mut self, path: &str, layer: usize) -> Result<(), LayerProblem> {
        if matches!(self.get(path), Some(Content::Directory)) {
            return Ok(());
        }
        self.remove(path);
        self.put(path, Node { layer, content: Content::Directory })
    }

    fn put(&mut self, path: &str, node: Node) -> Result<(), LayerProblem> {
        self.links += usize::from(matches!(node.content, Content::Link { .. }));
        self.name_bytes += name_bytes(path, &node.content);
        self.nodes.insert(path.to_owned(), node);
        if self.nodes.len() > self.limits.tree_entries {
            let limit = format!("{} entries", self.limits.tree_entries);
            return Err(LayerProblem::TooManyFiles { limit });
        }
        if self.name_bytes > self.limits.name_bytes {
            let limit = format!("{} bytes of names", self.limits.name_bytes);
            return Err(LayerProblem::TooManyFiles { limit });
        }
        Ok(())
    }

    /// Takes away what is at a path and all below it.
    pub(super) fn remove(&mut self, path: &str) {
        self.remove_node(path);
        self.remove_below(path, usize::MAX);
    }

    /// Hides what lower layers wrote at a path and below it.
    pub(super) fn hide(&mut self, path: &str, layer: usize) {
        self.hide_below(path, layer);
        let is_lower = self.nodes.get(path).is_some_and(|node| node.layer < layer);
        // A directory with something of this layer in it is one of this layer.
        if is_lower && !self.has_children(path) {
            self.remove_node(path);
        }
    }

    /// Hides what lower layers wrote below a path.
    pub(super) fn hide_below(&mut self, path: &str, layer: usize) {
        self.remove_below(path, layer);
    }

    /// Removes nodes below a path that a lower layer wrote, but no directory that is still needed.
    fn remove_below(&mut self, path: &str, layer: usize) {
        let hidden: Vec<String> = self
            .below(path)
            .filter(|(_, node)| node.layer < layer)
            .map(|(path, _)| path.clone())
            .collect();
        // From the deepest up, so that a directory is looked at after what lies in it.
        for path in hidden.iter().rev() {
            if !self.has_children(path) {
                self.remove_node(path);
            }
        }
    }

    fn below(&self, path: &str) -> impl Iterator<Item = (&String, &Node)> {
        // The byte behind `/` is `0`: all paths below lie between the two.
        let range: (Bound<String>, Bound<String>) = match path {
            "" => (Bound::Unbounded, Bound::Unbounded),
            path => (Bound::Included(format!("{path}/")), Bound::Excluded(format!("{path}0"))),
        };
        self.nodes.range(range)
    }

    fn has_children(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    fn remove_node(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else {
            return;
        };
        self.name_bytes -= name_bytes(path, &node.content);
        match node.content {
            Content::File { blob, size } => self.release(blob, size),
            Content::Link { .. } => self.links -= 1,
            Content::Directory | Content::Elsewhere { .. } => {}
        }
    }

    fn release(&mut self, blob: BlobId, size: u64) {
        let Some(uses) = self.uses.get_mut(&blob) else {
            return;
        };
        *uses -= 1;
        if *uses == 0 {
            self.uses.remove(&blob);
            self.kept_bytes -= size;
            self.released.push(blob);
        }
    }

    /// Follows the links of a path, the root being the image's, and returns the path that is meant. What
    /// is not there is taken by its name.
    pub(super) fn walk(&self, path: &str) -> Result<String, Lost> {
        if self.links == 0 {
            return Ok(path.to_owned());
        }
        let mut pending: Vec<&str> = path.rsplit('/').collect();
        let mut current = String::with_capacity(path.len());
        let mut hops = 0;
        while let Some(part) = pending.pop() {
            self.steps.set(self.steps.get().checked_sub(1).ok_or(Lost::OutOfSteps)?);
            let directory = current.len();
            match part {
                "" | "." => continue,
                ".." => {
                    current.truncate(path::split(&current).0.len());
                    continue;
                }
                part => {
                    let slash = if current.is_empty() { "" } else { "/" };
                    current.extend([slash, part]);
                }
            }
            if current.len() > MAX_PATH_BYTES {
                return Err(Lost::InLinks);
            }
            if let Some(Content::Link { target }) = self.get(&current) {
                hops += 1;
                if hops > MAX_LINK_HOPS {
                    return Err(Lost::InLinks);
                }
                current.truncate(if target.starts_with('/') { 0 } else { directory });
                pending.extend(target.rsplit('/'));
            }
        }
        Ok(current)
    }
}

fn name_bytes(path: &str, content: &Content) -> usize {
    match content {
        Content::Link { target } | Content::Elsewhere { target } => path.len() + target.len(),
        Content::Directory | Content::File { .. } => path.len(),
    }
}
