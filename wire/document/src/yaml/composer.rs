//! From scanner events to a flat list of nodes.
//!
//! Keys are not compared here: which of two equal keys wins is decided when the document is
//! written.

use std::{collections::BTreeMap, ops::Range};

use libyaml_safer::{Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};

use super::{
    MAX_YAML_DEPTH,
    brackets::Brackets,
    compose::Refusal,
    document::{Content, Document, Node},
    error::Problem,
    intake::Portions,
    repair::Repairs,
    upstream::{self, FinalLine},
};

/// Stands for the node behind a collection as long as the collection is open.
const UNKNOWN: u32 = u32::MAX;

/// A collection whose end has not come yet.
struct Open {
    node: u32,
    children: u32,
    /// Where its last child ended.
    last_end: u32,
    bracket: Bracket,
    /// The child that was admitted last is merged; of a sequence, all of them are.
    merging: bool,
    /// It is the first key of the document; see [`Composer::is_lone_key`].
    is_lone_key: bool,
}

/// How a collection shows where it ends, and against which limit its depth counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// `[1, 2]`, `{a: 1}`.
    Flow,
    /// An indented block.
    Block,
    /// A block without indentation of its own, or the pair `a: 1` in `[a: 1]`.
    None,
}

/// The kind of a node as far as its parent cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Scalar,
    Sequence,
    Mapping,
}

/// Takes events in, one after the other.
pub(super) struct Composer<'t> {
    /// The text that is read.
    pub(super) text: &'t [u8],
    repairs: &'t Repairs<'t>,
    /// The nodes so far.
    pub(super) document: Document,
    open: Vec<Open>,
    anchors: BTreeMap<String, u32>,
    brackets: Brackets,
    block_depth: usize,
    /// A block scalar that ends with a blank last line.
    pub(super) doubtful: Option<u32>,
}

impl<'t> Composer<'t> {
    /// Starts with an empty document.
    pub(super) fn new(text: &'t [u8], repairs: &'t Repairs<'t>) -> Self {
        Composer {
            text,
            repairs,
            document: Document::default(),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            brackets: Brackets::after(repairs.looks()),
            block_depth: 0,
            doubtful: None,
        }
    }

    /// Returns the looks at brackets that this and earlier attempts have spent.
    pub(super) fn looks(&self) -> usize {
        self.brackets.looks()
    }

    /// Takes in the events of the first document.
    pub(super) fn run(&mut self, parser: &mut Parser<Portions<'_>>) -> Result<(), Refusal> {
        loop {
            let event = parser.parse().map_err(Refusal::Scanner)?;
            if !self.brackets.look() {
                let offset = self.offset(event.start_mark.index);
                return Err(Problem::at(offset, "too much text this deep in brackets").into());
            }
            if self.accept(event)? {
                return Ok(());
            }
        }
    }

    /// Takes an event in; returns whether it was the last one of the document.
    fn accept(&mut self, event: Event) -> Result<bool, Refusal> {
        let start = self.offset(event.start_mark.index);
        let end = self.offset(event.end_mark.index);
        match event.data {
            EventData::StreamStart { .. } => {}
            EventData::DocumentStart { version_directive, .. } => {
                upstream::check_version(version_directive, self.text, start)?;
            }
            EventData::StreamEnd if self.document.nodes.is_empty() => {
                self.push(0, 0, Content::Null);
                return Ok(true);
            }
            EventData::StreamEnd => return Ok(true),
            EventData::DocumentEnd { .. } => {
                // The scanner has already looked at what follows the document.
                upstream::check_escapes(self.text, start as usize)?;
                return Ok(true);
            }
            EventData::Alias { anchor } => self.alias(&anchor, start, end)?,
            EventData::Scalar { anchor, tag, value, plain_implicit, style, .. } => {
                let reaches_past_end = event.end_mark.index as usize > self.text.len();
                let has_properties = anchor.is_some() || tag.is_some();
                if let Some(position) = self.repairs.mistake(start..end, has_properties) {
                    return Err(Refusal::Mistake(position));
                }
                self.admit(Shape::Scalar, false, start)?;
                self.note_anchor(anchor);
                let mut value = self.repairs.restore(value, style, start..end);
                self.check_scalar(&mut value, style, start..end, reaches_past_end)?;
                let content = self.document.scalar(tag.as_deref(), plain_implicit, &value);
                let content = content.map_err(|message| Problem::at(start, message))?;
                self.push(start, end, content);
                self.child_ended(end);
            }
            EventData::SequenceStart { anchor, style, .. } => {
                // Sequences without indentation of their own start with the token of an entry.
                let bracket = match style {
                    SequenceStyle::Flow => Bracket::Flow,
                    _ if start == end => Bracket::Block,
                    _ => Bracket::None,
                };
                self.start(Shape::Sequence, bracket, anchor, start)?;
            }
            EventData::MappingStart { anchor, tag, style, .. } => {
                let is_bare = anchor.is_none() && tag.is_none();
                let bracket = match style {
                    MappingStyle::Flow if is_bare && self.byte(start) != Some(b'{') => {
                        Bracket::None
                    }
                    MappingStyle::Flow => Bracket::Flow,
                    _ => Bracket::Block,
                };
                self.start(Shape::Mapping, bracket, anchor, start)?;
            }
            EventData::SequenceEnd | EventData::MappingEnd => return Ok(self.close(end)),
        }
        Ok(false)
    }

    /// Cuts a mark of the scanner to the text; the line break added behind it is not part of it.
    fn offset(&self, index: u64) -> u32 {
        index.min(self.text.len() as u64) as u32
    }

    fn byte(&self, offset: u32) -> Option<u8> {
        self.text.get(offset as usize).copied()
    }

    fn push(&mut self, start: u32, end: u32, content: Content) -> u32 {
        let index = self.document.nodes.len() as u32;
        self.document.nodes.push(Node { start, end, after: index + 1, content });
        index
    }

    fn note_anchor(&mut self, anchor: Option<String>) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, self.document.nodes.len() as u32);
        }
    }

    fn check_scalar(
        &mut self,
        value: &mut String,
        style: ScalarStyle,
        place: Range<u32>,
        reaches_past_end: bool,
    ) -> Result<(), Problem> {
        match style {
            ScalarStyle::Plain if self.brackets.depth > 0 => {
                upstream::check_flow_plain(value, place)
            }
            ScalarStyle::DoubleQuoted if value.contains('/') => {
                let start = upstream::skip_properties(self.text, place.start as usize);
                upstream::check_escapes(self.text, start)
            }
            ScalarStyle::Literal | ScalarStyle::Folded if reaches_past_end => {
                match upstream::final_line(self.text, place.start) {
                    FinalLine::Unaffected => {}
                    FinalLine::TakeBreakOff => {
                        value.pop();
                    }
                    FinalLine::Doubtful => self.doubtful = Some(self.document.nodes.len() as u32),
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn alias(&mut self, anchor: &str, start: u32, end: u32) -> Result<(), Problem> {
        let Some(&target) = self.anchors.get(anchor) else {
            return Err(Problem::at(
                start,
                format!("no anchor `{anchor}` stands before this alias"),
            ));
        };
        if self.document.nodes[target as usize].after == UNKNOWN {
            return Err(Problem::at(
                start,
                format!("the value of anchor `{anchor}` contains itself"),
            ));
        }
        let shape = match self.document.nodes[target as usize].content {
            Content::Mapping => Shape::Mapping,
            Content::Sequence => Shape::Sequence,
            _ => Shape::Scalar,
        };
        self.admit(shape, true, start)?;
        self.document.has_aliases = true;
        self.push(start, end, Content::Alias(target));
        self.child_ended(end);
        Ok(())
    }

    fn start(
        &mut self,
        shape: Shape,
        bracket: Bracket,
        anchor: Option<String>,
        start: u32,
    ) -> Result<(), Problem> {
        let is_lone_key = self.is_lone_key(bracket, start);
        if !is_lone_key {
            self.admit(shape, false, start)?;
        }
        match bracket {
            Bracket::Flow => self.brackets.depth += 1,
            Bracket::Block => self.block_depth += 1,
            Bracket::None => {}
        }
        if self.brackets.depth > MAX_YAML_DEPTH || self.block_depth > MAX_YAML_DEPTH {
            let message = format!("nested deeper than {MAX_YAML_DEPTH} levels");
            return Err(Problem::at(start, message));
        }
        self.note_anchor(anchor);
        let is_list = shape == Shape::Sequence;
        let merging = is_list && self.open.last().is_some_and(|open| open.merging);
        let content = if is_list { Content::Sequence } else { Content::Mapping };
        let node = self.push(start, start, content);
        self.document.nodes[node as usize].after = UNKNOWN;
        self.open.push(Open { node, children: 0, last_end: start, bracket, merging, is_lone_key });
        Ok(())
    }

    /// Tells whether a collection is the first key of a document whose root is a block mapping.
    ///
    /// Upstream: the scanner forgets that an empty `[]` or `{}` there might be a key, so the
    /// document ends in front of the colon: `[]: a` is an empty sequence.
    fn is_lone_key(&self, bracket: Bracket, start: u32) -> bool {
        bracket == Bracket::Flow
            && matches!(self.byte(start), Some(b'[' | b'{'))
            && matches!(&self.open[..], [root] if root.children == 0
                && root.bracket == Bracket::Block
                && self.document.nodes[0].start == start)
    }

    /// Checks that a node may stand where it does, and notes what may follow it.
    fn admit(&mut self, shape: Shape, is_alias: bool, start: u32) -> Result<(), Problem> {
        let Some(parent) = self.open.last_mut() else {
            return Ok(());
        };
        if parent.is_lone_key {
            return Err(key_problem(self.document.nodes[parent.node as usize].start));
        }
        let is_list =
            matches!(self.document.nodes[parent.node as usize].content, Content::Sequence);
        let is_key = !is_list && parent.children.is_multiple_of(2);
        if is_key && shape != Shape::Scalar {
            return Err(key_problem(start));
        }
        if !is_list {
            let last = self.document.nodes.last().map(|node| node.content);
            parent.merging = !is_key && matches!(last, Some(Content::Merge));
        }
        // Upstream: of sequences, only one that is written in place may list what to merge.
        let may_merge = match shape {
            Shape::Mapping => true,
            Shape::Sequence => !is_list && !is_alias,
            Shape::Scalar => false,
        };
        if parent.merging && !may_merge { Err(merge_problem(start)) } else { Ok(()) }
    }

    fn child_ended(&mut self, end: u32) {
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
            parent.last_end = end;
        }
    }

    /// Ends the innermost collection; returns whether the document ends with it.
    fn close(&mut self, event_end: u32) -> bool {
        let Some(closed) = self.open.pop() else {
            return false;
        };
        let end = match closed.bracket {
            Bracket::Flow => {
                self.brackets.depth -= 1;
                event_end
            }
            Bracket::Block => {
                self.block_depth -= 1;
                closed.last_end
            }
            Bracket::None => closed.last_end,
        };
        let after = self.document.nodes.len() as u32;
        let node = &mut self.document.nodes[closed.node as usize];
        node.end = end;
        node.after = after;
        if closed.is_lone_key {
            let lone = Node { after: 1, ..*node };
            self.document.nodes = vec![lone];
            return true;
        }
        self.child_ended(end);
        false
    }
}

fn key_problem(start: u32) -> Problem {
    Problem::at(start, "the key of a mapping must be a scalar, not a sequence or a mapping")
}

fn merge_problem(start: u32) -> Problem {
    Problem::at(start, "`<<` merges a mapping, an alias of one, or a sequence of these")
}
