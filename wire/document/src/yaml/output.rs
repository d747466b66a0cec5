//! JSON text from nodes: keys sorted, merges and aliases expanded, the last of equal keys kept.
//!
//! Nothing recurses, however deep the nodes or the aliases of aliases go.

use std::{collections::BTreeMap, io::Write as _, mem};

use super::{
    Converted, DuplicateKey, DuplicateKeys, MAX_JSON_GROWTH, SMALLEST_JSON_LIMIT, SourceMap,
    YamlOptions,
    document::{Content, Document, Node},
    error::Problem,
    intake::Intake,
    literal::write_literal,
    number::{Number, float_key},
};
use crate::json::format_float;

/// Writes a document as JSON text.
pub(super) fn write(
    document: Document,
    intake: &Intake<'_>,
    options: &YamlOptions,
) -> Result<Converted, Problem> {
    let length = intake.text().len();
    let mut writer = Writer {
        limit: SMALLEST_JSON_LIMIT.max(length * MAX_JSON_GROWTH),
        out: Vec::with_capacity(length),
        places: SourceMap::with_capacity(document.nodes.len()),
        document,
        intake,
        options,
        frames: Vec::new(),
        members: Vec::new(),
        duplicates: Vec::new(),
    };
    writer.write_node(0)?;
    while let Some(next) = writer.next_node() {
        writer.write_node(next)?;
    }
    let mut duplicates = mem::take(&mut writer.duplicates);
    duplicates.sort_by_key(|duplicate| (duplicate.second.start, duplicate.first.start));
    duplicates.dedup();
    Ok(Converted { json: writer.out, places: writer.places, duplicates })
}

/// A collection that is being written.
struct Frame {
    kind: FrameKind,
    /// Its entry in the map of places.
    place: usize,
    is_first: bool,
}

enum FrameKind {
    /// The next element, and where the elements end.
    Sequence { next: u32, after: u32 },
    /// The next of the members on the stack, and where those of this mapping start.
    Mapping { next: usize, base: usize },
}

/// A key of a mapping and its value.
#[derive(Clone, Copy)]
struct Member {
    /// The text of the key: its start and length in the pool.
    text: (u32, u32),
    /// The position among the keys of its mapping, in the order in which upstream sets them.
    order: u32,
    key: u32,
    value: u32,
}

struct Writer<'w> {
    document: Document,
    intake: &'w Intake<'w>,
    options: &'w YamlOptions,
    out: Vec<u8>,
    limit: usize,
    places: SourceMap,
    frames: Vec<Frame>,
    /// The members of all open mappings, those of the innermost last.
    members: Vec<Member>,
    duplicates: Vec<DuplicateKey>,
}

impl Writer<'_> {
    /// Writes a scalar whole, and of a collection the beginning.
    fn write_node(&mut self, index: u32) -> Result<(), Problem> {
        let (index, node) = self.document.resolved(index);
        if self.out.len() > self.limit {
            let message = format!("the JSON text grows beyond {} bytes by aliases", self.limit);
            return Err(Problem::at(node.start, message));
        }
        let place = self.open_place(node);
        match node.content {
            Content::Null => self.out.extend_from_slice(b"null"),
            Content::Bool(true) => self.out.extend_from_slice(b"true"),
            Content::Bool(false) => self.out.extend_from_slice(b"false"),
            Content::Number(number) => self.write_number(number, node.start)?,
            Content::Text(start, length) => self.write_text((start, length)),
            Content::Merge => write_literal(b"<<", self.options.html_escape, &mut self.out),
            Content::Sequence => {
                self.out.push(b'[');
                let kind = FrameKind::Sequence { next: index + 1, after: node.after };
                self.frames.push(Frame { kind, place, is_first: true });
                return Ok(());
            }
            Content::Mapping => {
                self.out.push(b'{');
                let base = self.members.len();
                self.collect_members(index)?;
                let kind = FrameKind::Mapping { next: base, base };
                self.frames.push(Frame { kind, place, is_first: true });
                return Ok(());
            }
            Content::Alias(_) => unreachable!("bug: an alias stands for a node that is none"),
        }
        self.places.close(place, self.out.len());
        Ok(())
    }

    /// Writes what stands between two values, and finds the next one to be written.
    fn next_node(&mut self) -> Option<u32> {
        loop {
            let frame = self.frames.last_mut()?;
            let is_first = mem::take(&mut frame.is_first);
            match &mut frame.kind {
                FrameKind::Sequence { next, after } if *next < *after => {
                    let element = *next;
                    *next = self.document.nodes[element as usize].after;
                    if !is_first {
                        self.out.push(b',');
                    }
                    return Some(element);
                }
                FrameKind::Mapping { next, .. } if *next < self.members.len() => {
                    let member = self.members[*next];
                    *next += 1;
                    if !is_first {
                        self.out.push(b',');
                    }
                    self.write_key(member);
                    return Some(member.value);
                }
                FrameKind::Sequence { .. } => self.out.push(b']'),
                FrameKind::Mapping { base, .. } => {
                    self.members.truncate(*base);
                    self.out.push(b'}');
                }
            }
            self.places.close(frame.place, self.out.len());
            self.frames.pop();
        }
    }

    fn open_place(&mut self, node: Node) -> usize {
        let parent = self.frames.last().map_or(0, |frame| frame.place);
        let place = self.intake.original(node.start..node.end);
        self.places.open(self.out.len(), place, parent)
    }

    fn write_key(&mut self, member: Member) {
        let (_, key) = self.document.resolved(member.key);
        let place = self.open_place(key);
        self.write_text(member.text);
        self.places.close(place, self.out.len());
        self.out.push(b':');
    }

    fn write_text(&mut self, text: (u32, u32)) {
        write_literal(self.document.pooled(text), self.options.html_escape, &mut self.out);
    }

    fn write_number(&mut self, number: Number, start: u32) -> Result<(), Problem> {
        let written = match number {
            Number::Integer(value) => write!(self.out, "{value}"),
            Number::Unsigned(value) => write!(self.out, "{value}"),
            Number::Float(value) if value.is_finite() => {
                self.out.write_all(format_float(value).as_bytes())
            }
            Number::Float(value) => {
                let message = format!("JSON has no number for `{}`", float_key(value));
                return Err(Problem::at(start, message));
            }
        };
        written.expect("bug: writing to memory cannot fail");
        Ok(())
    }

    /// Puts the members of a mapping on the stack, sorted, each key once.
    fn collect_members(&mut self, mapping: u32) -> Result<(), Problem> {
        let base = self.members.len();
        let mut cursors = vec![(mapping + 1, self.document.nodes[mapping as usize].after)];
        while let Some((cursor, after)) = cursors.last_mut() {
            if cursor == after {
                cursors.pop();
                continue;
            }
            let key = *cursor;
            let value = self.document.nodes[key as usize].after;
            *cursor = self.document.nodes[value as usize].after;
            if let Content::Merge = self.document.nodes[key as usize].content {
                self.push_merged(value, &mut cursors);
            } else {
                let text = self.key_text(key)?;
                let order = (self.members.len() - base) as u32;
                self.members.push(Member { text, order, key, value });
            }
        }
        self.sort_members(base);
        Ok(())
    }

    /// Lets the members of a merged mapping, or of several, come next.
    ///
    /// Upstream: they are set where the merge key stands, over what was set before; of several
    /// mappings the first is set last.
    fn push_merged(&self, value: u32, cursors: &mut Vec<(u32, u32)>) {
        let mut push = |index: u32| {
            let (index, node) = self.document.resolved(index);
            cursors.push((index + 1, node.after));
        };
        match self.document.nodes[value as usize].content {
            Content::Sequence => self.document.children(value).for_each(push),
            _ => push(value),
        }
    }

    /// Returns the text of a key, which need not have been a text.
    fn key_text(&mut self, key: u32) -> Result<(u32, u32), Problem> {
        let (_, node) = self.document.resolved(key);
        let text = match node.content {
            Content::Text(start, length) => return Ok((start, length)),
            Content::Bool(true) => "true".into(),
            Content::Bool(false) => "false".into(),
            Content::Number(Number::Integer(value)) => value.to_string(),
            Content::Number(Number::Float(value)) => float_key(value),
            Content::Merge => "<<".into(),
            Content::Null => return Err(key_problem(node, "null")),
            Content::Number(Number::Unsigned(_)) => {
                return Err(key_problem(node, "an integer beyond the signed 64-bit range"));
            }
            Content::Sequence | Content::Mapping | Content::Alias(_) => {
                return Err(key_problem(node, "a collection"));
            }
        };
        Ok(self.document.pool_text(text.as_bytes()))
    }

    fn sort_members(&mut self, base: usize) {
        let document = &self.document;
        let members = &mut self.members[base..];
        let is_sorted = members
            .windows(2)
            .all(|pair| document.pooled(pair[0].text) < document.pooled(pair[1].text));
        if is_sorted {
            return;
        }
        members.sort_unstable_by(|one, other| {
            let texts = document.pooled(one.text).cmp(document.pooled(other.text));
            texts.then(one.order.cmp(&other.order))
        });
        if self.options.duplicate_keys == DuplicateKeys::Report {
            self.report_duplicates(base);
        }
        let mut kept = base;
        for index in base..self.members.len() {
            let member = self.members[index];
            let text = self.document.pooled(member.text);
            let next = self.members.get(index + 1);
            if next.is_none_or(|next| self.document.pooled(next.text) != text) {
                self.members[kept] = member;
                kept += 1;
            }
        }
        self.members.truncate(kept);
    }

    /// Lists the keys that are set more than once.
    ///
    /// Upstream: `1` and `"1"` are two keys even for the strict reading; one of them is lost
    /// without a word.
    fn report_duplicates(&mut self, base: usize) {
        let mut firsts = BTreeMap::new();
        for index in base..self.members.len() {
            let Member { text, key, .. } = self.members[index];
            let text = self.document.pooled(text);
            if index > base && self.document.pooled(self.members[index - 1].text) != text {
                firsts.clear();
            }
            let Some(identity) = self.document.key_identity(key) else {
                continue;
            };
            if let Some(&first) = firsts.get(&identity) {
                let place = |key: u32| {
                    let node = self.document.nodes[key as usize];
                    self.intake.original(node.start..node.end)
                };
                self.duplicates.push(DuplicateKey {
                    key: String::from_utf8_lossy(text).into_owned(),
                    first: place(first),
                    second: place(key),
                });
            } else {
                firsts.insert(identity, key);
            }
        }
    }
}

fn key_problem(node: Node, what: &str) -> Problem {
    Problem::at(node.start, format!("the key of a mapping cannot be {what}; put it in quotes"))
}
