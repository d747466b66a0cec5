//! The map from JSON text back to YAML text.
//!
//! It is a plain sorted list; it keeps no copy of either text.

use std::ops::Range;

/// Maps a byte range of the JSON text back to the byte range of the YAML text it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceMap {
    /// One entry per scalar, key, sequence and mapping, sorted by `json_start`: a container comes
    /// before what it contains, and the root is the first.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    json_start: u32,
    json_end: u32,
    yaml_start: u32,
    yaml_end: u32,
    /// The index of the container; the root is its own.
    parent: u32,
}

impl SourceMap {
    /// Returns the place of the innermost value or key that starts at or contains `json_offset`.
    ///
    /// An offset between two values, such as that of a comma, belongs to their container; one
    /// outside the JSON text belongs to the root. A value that an alias repeats is placed where
    /// its text stands.
    pub fn place(&self, json_offset: usize) -> Range<usize> {
        let following =
            self.entries.partition_point(|entry| entry.json_start as usize <= json_offset);
        let mut index = following.saturating_sub(1);
        while let Some(entry) = self.entries.get(index) {
            if json_offset < entry.json_end as usize || index == 0 {
                return entry.yaml_start as usize..entry.yaml_end as usize;
            }
            index = entry.parent as usize;
        }
        0..0
    }

    /// Notes that a value or key starts here; returns what [`SourceMap::close`] wants to know.
    pub(super) fn open(&mut self, json_start: usize, yaml: Range<usize>, parent: usize) -> usize {
        self.entries.push(Entry {
            json_start: json_start as u32,
            json_end: u32::MAX,
            yaml_start: yaml.start as u32,
            yaml_end: yaml.end as u32,
            parent: parent as u32,
        });
        self.entries.len() - 1
    }

    /// Notes where an opened value or key ends.
    pub(super) fn close(&mut self, index: usize, json_end: usize) {
        self.entries[index].json_end = json_end as u32;
    }

    /// Makes room for a number of entries that is known beforehand.
    pub(super) fn with_capacity(entries: usize) -> Self {
        SourceMap { entries: Vec::with_capacity(entries) }
    }
}
