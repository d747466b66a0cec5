//! The price of aliases, as go-yaml counts it.
//!
//! Upstream counts the nodes it visits, and how many of those it visits through an alias; a
//! document in which aliases do nearly all the work is refused. This room only counts: expansion
//! itself happens when the document is written.

use super::{
    document::{Content, Document},
    error::Problem,
};

/// Documents with fewer nodes repeated by aliases than this are never refused.
pub const FREE_ALIAS_REPEATS: usize = 100;

/// Documents that take fewer visits to nodes than this are never refused.
pub const FREE_ALIAS_VISITS: usize = 1_000;

/// Up to this many visits a document counts as small; between the two the share falls evenly.
pub const SMALL_DOCUMENT_VISITS: usize = 400_000;

/// From this many visits on a document counts as large.
pub const LARGE_DOCUMENT_VISITS: usize = 4_000_000;

/// The share of visits that aliases may cause in a small document: nearly all.
pub const SMALL_DOCUMENT_ALIAS_SHARE: f64 = 0.99;

/// The share of visits that aliases may cause in a large document.
pub const LARGE_DOCUMENT_ALIAS_SHARE: f64 = 0.10;

/// Refuses a document whose aliases repeat too much.
pub(super) fn check(document: &Document) -> Result<(), Problem> {
    if !document.has_aliases {
        return Ok(());
    }
    // The document itself is the first visit.
    let mut count = Count { visits: 1, repeats: 0 };
    let mut alias_depth = 0usize;
    let mut tasks = vec![Task::Visit(0)];
    while let Some(task) = tasks.pop() {
        let index = match task {
            Task::Visit(index) => index,
            Task::LeaveAlias => {
                alias_depth -= 1;
                continue;
            }
        };
        let node = document.nodes[index as usize];
        if count.is_excessive_after(alias_depth > 0) {
            return Err(Problem::at(node.start, "aliases repeat too much of the document"));
        }
        let first_task = tasks.len();
        match node.content {
            Content::Alias(target) => {
                alias_depth += 1;
                tasks.extend([Task::Visit(target), Task::LeaveAlias]);
            }
            Content::Sequence => tasks.extend(document.children(index).map(Task::Visit)),
            Content::Mapping => push_pairs(document, index, &mut tasks),
            Content::Null
            | Content::Bool(_)
            | Content::Number(_)
            | Content::Text(..)
            | Content::Merge => {}
        }
        tasks[first_task..].reverse();
    }
    Ok(())
}

enum Task {
    Visit(u32),
    LeaveAlias,
}

/// Lists the visits to keys and values; a merge key costs only what it merges.
fn push_pairs(document: &Document, mapping: u32, tasks: &mut Vec<Task>) {
    let mut children = document.children(mapping);
    while let (Some(key), Some(value)) = (children.next(), children.next()) {
        let is_merge = matches!(document.nodes[key as usize].content, Content::Merge);
        if !is_merge {
            tasks.extend([Task::Visit(key), Task::Visit(value)]);
        } else if let Content::Sequence = document.nodes[value as usize].content {
            let merged = tasks.len();
            tasks.extend(document.children(value).map(Task::Visit));
            tasks[merged..].reverse();
        } else {
            tasks.push(Task::Visit(value));
        }
    }
}

struct Count {
    visits: usize,
    repeats: usize,
}

impl Count {
    /// Counts one more visit; returns whether the repeats have become too many.
    fn is_excessive_after(&mut self, is_repeat: bool) -> bool {
        self.visits += 1;
        self.repeats += usize::from(is_repeat);
        self.repeats > FREE_ALIAS_REPEATS
            && self.visits > FREE_ALIAS_VISITS
            && self.repeats as f64 / self.visits as f64 > allowed_share(self.visits)
    }
}

fn allowed_share(visits: usize) -> f64 {
    let range = (LARGE_DOCUMENT_VISITS - SMALL_DOCUMENT_VISITS) as f64;
    let progress =
        visits.clamp(SMALL_DOCUMENT_VISITS, LARGE_DOCUMENT_VISITS) - SMALL_DOCUMENT_VISITS;
    let fall = SMALL_DOCUMENT_ALIAS_SHARE - LARGE_DOCUMENT_ALIAS_SHARE;
    SMALL_DOCUMENT_ALIAS_SHARE - fall * (progress as f64 / range)
}
