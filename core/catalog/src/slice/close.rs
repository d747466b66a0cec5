//! The entries of a channel that have to be kept so that the wanted ones stay usable.
//!
//! Flow: the wanted entry nearest the head becomes the head; everything on the chain between it and
//! the oldest wanted entry stays; skipped entries stay if they can be updated to what is kept.
//! Original edges are kept, also to names that are dropped. An edge is added or removed only where
//! the channel would have two heads, none, or a version without a way to the head.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cause, LeftOut, LeftOutReason, MAX_SLICE_STEPS, Repair, SliceError,
    draft::{ChannelDraft, EntryDraft},
};
use crate::graph::GraphEntry;

/// A channel cut down to what is wanted, and what had to be done for it.
#[derive(Debug)]
pub(super) struct Closed<'a> {
    pub(super) channel: ChannelDraft<'a>,
    pub(super) repairs: Vec<Repair>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Cuts a channel down; `None` when nothing that is wanted can be installed from it.
pub(super) fn close<'a>(
    channel: &ChannelDraft<'a>,
    wanted: &BTreeMap<usize, Cause>,
    steps: &mut usize,
) -> Result<Option<Closed<'a>>, SliceError> {
    let mut rank = vec![None; channel.entries.len()];
    for (position, &entry) in channel.order.iter().enumerate() {
        rank[entry] = Some(position);
    }
    let on_chain = || wanted.keys().filter_map(|&entry| rank[entry]);
    let (Some(head), Some(oldest)) = (on_chain().min(), on_chain().max()) else {
        return Ok(None);
    };
    let off_chain: Vec<usize> =
        wanted.keys().copied().filter(|&entry| rank[entry].is_none()).collect();
    *steps = steps.saturating_add(off_chain.len().saturating_mul(channel.order.len()) + 1);
    if *steps > MAX_SLICE_STEPS {
        return Err(SliceError::TooLarge);
    }
    let mut cut = Cut::new(channel, head, oldest);
    for entry in off_chain {
        cut.admit(entry);
    }
    Ok(Some(cut.finish(wanted)))
}

/// The work on one channel.
struct Cut<'c, 'a> {
    channel: &'c ChannelDraft<'a>,
    chain: Vec<GraphEntry<'a>>,
    head: usize,
    oldest: usize,
    /// Entries off the chain that are kept, and the position on the chain of what updates them.
    skipped: BTreeMap<usize, usize>,
    repairs: Vec<Repair>,
    left_out: Vec<LeftOut>,
}

impl<'c, 'a> Cut<'c, 'a> {
    fn new(channel: &'c ChannelDraft<'a>, head: usize, oldest: usize) -> Self {
        let chain = channel.order.iter().map(|&entry| channel.entries[entry].graph_entry());
        Self {
            channel,
            chain: chain.collect(),
            head,
            oldest,
            skipped: BTreeMap::new(),
            repairs: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn on_chain(&self, rank: usize) -> &'c EntryDraft<'a> {
        &self.channel.entries[self.channel.order[rank]]
    }

    /// Keeps an entry off the chain if it has a way to the head.
    fn admit(&mut self, entry: usize) {
        let draft = &self.channel.entries[entry];
        let version = draft.entry.graph_entry().version;
        let updates: Vec<usize> = (0..self.chain.len())
            .filter(|&rank| self.chain[rank].updates(draft.name(), version.as_ref()))
            .collect();
        if let Some(&nearest) = updates.iter().find(|&&rank| rank >= self.head) {
            self.oldest = self.oldest.max(nearest);
            self.skipped.insert(entry, nearest);
            return;
        }
        let head = self.on_chain(self.head);
        let reason = match updates.last() {
            // It was stuck before; an update to the head is the least that makes it usable.
            None if (1..head.version_rank()).contains(&draft.version_rank()) => {
                self.skipped.insert(entry, self.head);
                return;
            }
            None => LeftOutReason::NewerThanHead { head: head.name().to_owned() },
            Some(&newer) => {
                LeftOutReason::UpdatedByDropped { update: self.on_chain(newer).name().to_owned() }
            }
        };
        self.left_out.push(LeftOut {
            package: self.channel.channel.package().name().to_owned(),
            channel: self.channel.channel.name().to_owned(),
            name: draft.name().to_owned(),
            reason,
        });
    }

    fn finish(mut self, wanted: &BTreeMap<usize, Cause>) -> Closed<'a> {
        let channel = self.channel;
        let segment = &channel.order[self.head..=self.oldest];
        let kept: BTreeSet<usize> = segment.iter().chain(self.skipped.keys()).copied().collect();
        let mut entries: BTreeMap<usize, EntryDraft<'a>> = BTreeMap::new();
        for position in kept {
            let cause = wanted.get(&position).copied().unwrap_or(Cause::Between);
            entries.insert(position, EntryDraft { cause, ..channel.entries[position].clone() });
        }
        self.free_the_head(&mut entries);
        self.keep_skipped(&mut entries);
        let positions: BTreeMap<usize, usize> = entries.keys().copied().zip(0..).collect();
        let order = segment.iter().map(|position| positions[position]).collect();
        Closed {
            channel: ChannelDraft {
                channel: channel.channel,
                entries: entries.into_values().collect(),
                order,
            },
            repairs: self.repairs,
            left_out: self.left_out,
        }
    }

    /// Removes edges to the new head: what was below another entry may not stay below a skipped one.
    fn free_the_head(&mut self, entries: &mut BTreeMap<usize, EntryDraft<'a>>) {
        let head = self.on_chain(self.head).name();
        for entry in entries.values_mut().filter(|entry| entry.replaces == Some(head)) {
            entry.replaces = None;
            self.repairs.push(Repair::ReplacesRemoved {
                package: self.channel.channel.package().name().to_owned(),
                channel: self.channel.channel.name().to_owned(),
                entry: entry.name().to_owned(),
                replaced: head.to_owned(),
            });
        }
    }

    /// Lets what updates a skipped entry skip it, where nothing that is kept does.
    fn keep_skipped(&mut self, entries: &mut BTreeMap<usize, EntryDraft<'a>>) {
        let skips: BTreeSet<&str> = entries.values().flat_map(EntryDraft::skips).collect();
        for (&entry, &update) in &self.skipped {
            let name = self.channel.entries[entry].name();
            let is_stuck = !self.chain[update]
                .updates(name, self.channel.entries[entry].entry.graph_entry().version.as_ref());
            if skips.contains(name) && !is_stuck {
                continue;
            }
            let Some(updating) = entries.get_mut(&self.channel.order[update]) else {
                continue;
            };
            updating.added_skips.push(name);
            self.repairs.push(Repair::SkipAdded {
                package: self.channel.channel.package().name().to_owned(),
                channel: self.channel.channel.name().to_owned(),
                entry: updating.name().to_owned(),
                skipped: name.to_owned(),
            });
        }
    }
}
