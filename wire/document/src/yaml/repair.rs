//! Texts that upstream reads and the scanner would not: they are put into words it understands.
//!
//! A repair replaces characters by stand-ins of the same length, so no place moves, and takes the
//! stand-ins back out of the scalars that were read. Nearly every text needs none and is not
//! copied. What follows the first document is not repaired: nonsense there, which upstream may
//! overlook, can still be refused.

use std::{borrow::Cow, cell::Cell, collections::BTreeSet, ops::Range};

use libyaml_safer::{Error, ScalarStyle};

use super::{
    intake::Intake,
    tags::{Finding, commas_behind_tags, look_at_commas},
    upstream::skip_properties,
};

/// How many bytes may be scanned again because of repairs; every time starts from the beginning.
///
/// Texts of people need no repair, texts of programs that write `{a:}` a few. This is about two
/// seconds of scanning.
pub const MAX_RESCANNED_BYTES: usize = 128 << 20;

/// How much more a look of a failed attempt counts, as measured on hostile texts.
const FAILED_ATTEMPT_WEIGHT: usize = 8;

/// How often a text may be scanned again in any case.
const FREE_RESCANS: usize = 4;

/// Stands for a colon at the end of a scalar, and in tags for `,`, `[` and `]`; no tag that means
/// anything holds one.
const PLAIN_STAND_IN: u8 = b'~';

/// Stand-ins for the two bytes of the escape `\'`: characters without a meaning.
const QUOTE_STAND_INS: [&str; 4] = ["\u{530}", "\u{557}", "\u{58b}", "\u{5ff}"];

/// Stand-ins for the byte order mark: characters that may not be interchanged.
const MARK_STAND_INS: [&str; 4] = ["\u{fdd0}", "\u{fdd1}", "\u{fdd2}", "\u{fdd3}"];

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text and what was replaced in it.
pub(super) struct Repairs<'t> {
    intake: &'t Intake<'t>,
    text: Cow<'t, [u8]>,
    /// The offsets of replaced colons.
    colons: BTreeSet<u32>,
    /// The offsets of replaced escapes, and what stands for them.
    quotes: BTreeSet<u32>,
    quote_stand_in: Option<&'static str>,
    mark_stand_in: Option<&'static str>,
    /// The offsets of commas that were replaced as parts of tags.
    tag_commas: BTreeSet<u32>,
    /// The offsets of commas that look like parts of tags and are none.
    other_commas: BTreeSet<u32>,
    rescans: usize,
    is_exhausted: bool,
    /// The looks at brackets that all attempts have spent.
    looks: Cell<usize>,
}

impl<'t> Repairs<'t> {
    /// Makes the repairs that have to be made before a text is read.
    pub(super) fn new(intake: &'t Intake<'t>) -> Self {
        let mut repairs = Repairs {
            intake,
            text: Cow::Borrowed(intake.text()),
            colons: BTreeSet::new(),
            quotes: BTreeSet::new(),
            quote_stand_in: None,
            mark_stand_in: None,
            tag_commas: BTreeSet::new(),
            other_commas: BTreeSet::new(),
            rescans: 0,
            is_exhausted: false,
            looks: Cell::new(0),
        };
        repairs.replace_marks();
        repairs.mend_tags();
        repairs
    }

    /// Returns the text to be read.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the looks at brackets that all attempts have spent.
    pub(super) fn looks(&self) -> usize {
        self.looks.get()
    }

    /// Notes what an attempt that failed has spent, and more than that: it stumbled where the scanner
    /// looks far ahead.
    pub(super) fn note_looks(&self, looks: usize) {
        let spent = looks.saturating_sub(self.looks.get());
        self.looks
            .set(self.looks.get().saturating_add(spent.saturating_mul(FAILED_ATTEMPT_WEIGHT)));
    }

    /// Tells that so much had to be repaired that the text must not be scanned any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Repairs what the scanner stumbled over; returns whether there was anything to repair.
    pub(super) fn mend(&mut self, error: &Error) -> bool {
        let is_mended = self.mend_place(error);
        if is_mended {
            self.count_rescan();
            // The scanner will come to places that it did not see before.
            self.mend_tags();
        }
        is_mended
    }

    /// Finds a comma that was replaced as part of a tag and is none: it stands in this scalar.
    pub(super) fn mistake(&self, place: Range<u32>, has_properties: bool) -> Option<u32> {
        if self.tag_commas.is_empty() {
            return None;
        }
        let start = match has_properties {
            true => skip_properties(&self.text, place.start as usize) as u32,
            false => place.start,
        };
        self.tag_commas.range(start.min(place.end)..place.end).next().copied()
    }

    /// Takes the repair of a comma back that was a mistake.
    pub(super) fn take_back(&mut self, position: u32) {
        self.tag_commas.remove(&position);
        self.other_commas.insert(position);
        self.text.to_mut()[position as usize] = b',';
        self.count_rescan();
    }

    /// Takes the stand-ins out of a scalar.
    pub(super) fn restore(
        &self,
        mut value: String,
        style: ScalarStyle,
        place: Range<u32>,
    ) -> String {
        if let Some(stand_in) = self.mark_stand_in {
            value = value.replace(stand_in, BYTE_ORDER_MARK);
        }
        if let Some(stand_in) = self.quote_stand_in
            && self.quotes.range(place.clone()).next().is_some()
        {
            value = value.replace(stand_in, "'");
        }
        let ends_with_colon = style == ScalarStyle::Plain
            && place.end > place.start
            && self.colons.contains(&(place.end - 1));
        if ends_with_colon {
            value.pop();
            value.push(':');
        }
        value
    }

    fn count_rescan(&mut self) {
        self.rescans += 1;
        let rescanned = self.rescans.saturating_mul(self.text.len());
        self.is_exhausted |= self.rescans > FREE_RESCANS && rescanned > MAX_RESCANNED_BYTES;
    }

    fn mend_place(&mut self, error: &Error) -> bool {
        let Some(mark) = error.problem_mark() else {
            return false;
        };
        let position = mark.index as usize;
        let here = &self.text[position.min(self.text.len())..];
        match (error.problem(), error.context(), here) {
            // Upstream: a colon in front of these ends up in the scalar: `{a:}` has a key `a:`.
            ("found unexpected ':'", _, [b':', b',' | b']' | b'}', ..]) => {
                self.colons.insert(position as u32);
                self.text.to_mut()[position] = PLAIN_STAND_IN;
                true
            }
            // Upstream: these characters may be part of any tag.
            (
                "did not find expected whitespace or line break" | "did not find expected tag URI",
                Some("while scanning a tag" | "while parsing a tag"),
                [b',' | b'[' | b']', ..],
            ) => {
                self.text.to_mut()[position] = PLAIN_STAND_IN;
                true
            }
            // Upstream: an apostrophe may be escaped in double quotes.
            ("found unknown escape character", _, [b'\\', b'\'', ..]) => {
                self.quote_stand_in = self.quote_stand_in.or(self.absent(&QUOTE_STAND_INS));
                let Some(stand_in) = self.quote_stand_in else {
                    return false;
                };
                self.quotes.insert(position as u32);
                self.text.to_mut()[position..position + 2].copy_from_slice(stand_in.as_bytes());
                true
            }
            _ => false,
        }
    }

    fn absent(&self, stand_ins: &[&'static str]) -> Option<&'static str> {
        stand_ins.iter().copied().find(|stand_in| !contains(&self.text, stand_in.as_bytes()))
    }

    /// Hides byte order marks behind the start of the text.
    ///
    /// Upstream: they are characters like any other; the scanner would skip them at a line start.
    fn replace_marks(&mut self) {
        let mark = BYTE_ORDER_MARK.as_bytes();
        if self.text.is_empty() || !contains(&self.text[1..], mark) {
            return;
        }
        let Some(stand_in) = self.absent(&MARK_STAND_INS) else {
            return;
        };
        self.mark_stand_in = Some(stand_in);
        let text = self.text.to_mut();
        for position in 1..text.len() - 2 {
            if text[position..].starts_with(mark) {
                text[position..position + 3].copy_from_slice(stand_in.as_bytes());
            }
        }
    }

    /// Makes commas behind tags between brackets part of the tag, as upstream has it; the scanner
    /// would panic.
    fn mend_tags(&mut self) {
        while !self.is_exhausted {
            let mut suspects = commas_behind_tags(&self.text);
            suspects.retain(|suspect| !self.other_commas.contains(suspect));
            if suspects.is_empty() {
                return;
            }
            let findings = look_at_commas(self.intake, &self.text, &suspects);
            if findings.is_empty() {
                return;
            }
            for finding in findings {
                match finding {
                    Finding::PartOfTag(position) => {
                        self.tag_commas.insert(position);
                        self.text.to_mut()[position as usize] = PLAIN_STAND_IN;
                    }
                    Finding::InPlainScalar(position) => {
                        self.other_commas.insert(position);
                    }
                }
            }
            self.count_rescan();
        }
    }
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    let mut rest = text;
    while let Some(position) = find_byte(rest, needle[0]) {
        if rest[position..].starts_with(needle) {
            return true;
        }
        rest = &rest[position + 1..];
    }
    false
}

/// Finds a byte that is rare, looking at blocks of bytes at once.
pub(super) fn find_byte(text: &[u8], byte: u8) -> Option<usize> {
    const BLOCK_BYTES: usize = 256;
    let blocks = text.chunks(BLOCK_BYTES).take_while(|block| !block.contains(&byte)).count();
    let start = text.len().min(blocks * BLOCK_BYTES);
    text[start..].iter().position(|&it| it == byte).map(|position| start + position)
}
