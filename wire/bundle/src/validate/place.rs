//! Where a value of an object stands in its file.
//!
//! Validators see an object as it was printed. The way to a value in that print leads to the same
//! value in the file, so only files in which something was found are read again.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use operon_document::{
    json::{Kind, Node, Tape},
    stream::{self, Document, Event},
};

use crate::{BundleFile, BundleFinding, BundleSource, Manifest};

/// A step from a value to one inside of it.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    /// To the value of a member.
    Member(Cow<'a, str>),
    /// To the key of a member, where the way ends.
    Key(Cow<'a, str>),
    /// To an element of a list.
    Element(usize),
}

/// Replaces the ranges of findings about manifests by those in the files.
pub(super) fn find(
    findings: &mut [(Option<usize>, BundleFinding)],
    source: &BundleSource,
    files: &[BundleFile],
) {
    let concerned: BTreeSet<usize> = findings.iter().filter_map(|(number, _)| *number).collect();
    for number in concerned {
        let manifest = &source.manifests[number];
        let mut tape = Tape::new();
        let printed = tape.read(manifest.json.as_bytes());
        let printed = printed.expect("bug: a manifest that was looked at is JSON");
        with_document(manifest, files, &mut |document| {
            for (_, finding) in findings.iter_mut().filter(|(of, _)| *of == Some(number)) {
                let node = follow(document.root, &way_to(printed, &finding.range));
                finding.range = document.place(node.span());
            }
        });
    }
}

/// Reads the file of a manifest again and hands out the document that the manifest was made of.
fn with_document(manifest: &Manifest, files: &[BundleFile], handle: &mut dyn FnMut(&Document<'_>)) {
    let Some(file) = files.iter().find(|file| file.path == manifest.file) else { return };
    stream::read(&file.content, &mut Tape::new(), &mut |event| {
        if let Event::Document(document) = event
            && document.span() == manifest.range
        {
            handle(&document);
        }
    });
}

/// Returns the steps from the root of an object to the value that covers these bytes of its text.
fn way_to<'a>(root: Node<'a>, span: &Range<usize>) -> Vec<Step<'a>> {
    let mut way = Vec::new();
    let mut node = root;
    while node.span() != *span {
        let is_inside =
            |part: Node<'_>| part.span().start <= span.start && span.end <= part.span().end;
        let step = match node.kind() {
            Kind::Object => node.members().find_map(|(key, value)| {
                let name = || key.as_str().unwrap_or_default();
                match (is_inside(key), is_inside(value)) {
                    (true, _) => Some((Step::Key(name()), key)),
                    (false, true) => Some((Step::Member(name()), value)),
                    (false, false) => None,
                }
            }),
            Kind::Array => node
                .elements()
                .enumerate()
                .find(|(_, element)| is_inside(*element))
                .map(|(index, element)| (Step::Element(index), element)),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
        };
        let Some((step, inside)) = step else { break };
        way.push(step);
        node = inside;
    }
    way
}

/// Walks as far as the way leads.
fn follow<'a>(root: Node<'a>, way: &[Step<'_>]) -> Node<'a> {
    let mut node = root;
    for step in way {
        // Of a repeated key the last one counts, in the print as everywhere.
        let named = |name: &str| node.members().filter(|(key, _)| key.key_equals(name)).last();
        let next = match step {
            Step::Member(name) => named(name).map(|(_, value)| value),
            Step::Key(name) => named(name).map(|(key, _)| key),
            Step::Element(index) => node.elements().nth(*index),
        };
        let Some(next) = next else { break };
        node = next;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_found_again() {
        let printed = r#"{"a":[1,{"b":"x"}],"c":{},"d":2}"#;
        let written = r#"{ "d": 3, "c": {}, "a": [ 1, { "b" : "x" } ], "d": 2 }"#;
        let (mut first, mut second) = (Tape::new(), Tape::new());
        let (printed, written) =
            (first.read(printed.as_bytes()).unwrap(), second.read(written.as_bytes()).unwrap());
        let element = printed.get("a").and_then(|list| list.elements().nth(1)).unwrap();
        for (node, expected) in [
            (printed.get("d").unwrap(), "2"),
            (element.get("b").unwrap(), "\"x\""),
            (element.members().next().unwrap().0, "\"b\""),
            (printed.get("c").unwrap(), "{}"),
        ] {
            let found = follow(written, &way_to(printed, &node.span()));
            assert_eq!(String::from_utf8_lossy(found.raw()), expected);
        }
        assert_eq!(follow(written, &way_to(printed, &printed.span())).span(), written.span());
    }
}
