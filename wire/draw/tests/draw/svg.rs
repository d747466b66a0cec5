//! The drawing as an SVG picture.

use operon_draw::{MAX_DRAWN_LANES, MAX_DRAWN_NODES, PackageGraph, svg};

use crate::{
    fixture::{everything, lane, long, package, plain_chain, skip_ranges, skips},
    markup::{self, Text},
};

#[test]
fn pictures_are_well_formed_and_their_texts_apart() {
    let mut empty = everything();
    empty.lanes.clear();
    let graphs = [plain_chain(), skips(), skip_ranges(), everything(), long(42, 20), empty];
    for graph in graphs {
        check(&graph);
    }
}

#[test]
fn a_picture_tells_itself_to_those_who_cannot_see_it() {
    let picture = svg(&everything());
    for part in [
        "role=\"img\"",
        "<title>Upgrade graph of package demo</title>",
        "<desc>3 channels. deprecated: moved to demo-operator. stable (default): 5 versions, \
         head 2.1.0, 1 skipped, 1 virtual, 1 stranded. candidate: 4 versions",
        "<title>demo.v2.0.1\nskipped by 2.1.0\ndeprecated: loses data, see CVE-2025-1234\n\
         replaces 2.0.0</title>",
        "skipRange &gt;=1.8.0 &lt;2.1.0 covers 4 versions here",
        "prefers-color-scheme: dark",
    ] {
        assert!(picture.contains(part), "{part}\n{picture}");
    }
}

#[test]
fn deprecated_versions_differ_in_shape() {
    let deprecated = svg(&everything());
    let mut graph = everything();
    for node in graph.lanes.iter_mut().flat_map(|lane| &mut lane.nodes) {
        node.deprecation = None;
    }
    let shapes = |picture: &str| picture.matches("<rect class=\"sign").count();
    // Two versions and the legend.
    assert_eq!((shapes(&deprecated), shapes(&svg(&graph))), (3, 0));
}

#[test]
fn the_same_version_stands_on_the_same_line() {
    let texts = markup::read(&svg(&everything())).unwrap();
    let heights = |label: &str| -> Vec<f64> {
        texts.iter().filter(|text| text.content == label).map(|text| text.y).collect()
    };
    for (label, channels) in [("2.1.0", 2), ("2.0.1", 2), ("2.0.0", 2), ("1.8.0", 2)] {
        let heights = heights(label);
        assert_eq!(heights.len(), channels, "{label}");
        assert!(heights.iter().all(|height| *height == heights[0]), "{label}: {heights:?}");
    }
}

#[test]
fn nested_ranges_share_one_line() {
    let graph = package(vec![lane(
        "stable",
        "head 5 replaces=4 range=<5 covers=4,3,2,1
         chain 4 replaces=3 range=<4 covers=3,2,1
         chain 3 replaces=2 range=<3 covers=2,1
         chain 2 replaces=1
         chain 1",
    )]);
    let picture = svg(&graph);
    let ranges: Vec<&str> =
        picture.lines().filter(|line| line.contains("class=\"tip-range\"")).collect();
    assert_eq!(ranges.len(), 1, "{picture}");
    assert_eq!(ranges[0].matches('z').count(), 3, "one arrow for each range");
}

#[test]
fn a_huge_channel_is_cut_and_says_so() {
    let graph = long(4_000, 999);
    check(&graph);
    let picture = svg(&graph);
    assert_eq!(picture.matches("<g class=\"node\">").count(), MAX_DRAWN_NODES);
    let left_out = 5_000 - MAX_DRAWN_NODES;
    assert!(picture.contains(&format!("… {left_out} older versions not drawn")));
    assert!(picture.len() < 500_000, "{}", picture.len());
}

#[test]
fn many_channels_are_cut_and_say_so() {
    let mut graph = everything();
    graph.lanes = vec![graph.lanes[0].clone(); MAX_DRAWN_LANES + 7];
    check(&graph);
    assert!(svg(&graph).contains("… 7 more channels not drawn"));
}

/// Checks the markup, that every text is inside the picture, and that no two texts overlap.
pub(crate) fn check(graph: &PackageGraph) {
    let picture = svg(graph);
    let texts = markup::read(&picture).expect("the picture is well-formed");
    let dimension = |name: &str| -> f64 {
        let value =
            picture.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        value.expect("the picture has a size").0.parse().expect("the size is a number")
    };
    let (width, height) = (dimension("width"), dimension("height"));
    for text in &texts {
        assert!(end(text) <= width && text.y <= height, "{text:?} is outside {width} x {height}");
    }
    let mut sorted: Vec<&Text> = texts.iter().collect();
    sorted.sort_by(|one, other| one.y.total_cmp(&other.y));
    for (position, one) in sorted.iter().enumerate() {
        for other in sorted[position + 1..].iter().take_while(|other| other.y - other.size < one.y)
        {
            assert!(end(one) <= other.x || end(other) <= one.x, "{one:?} and {other:?} overlap");
        }
    }
}

/// The width of a typical letter is a little more than half its height; the few characters of a
/// version are mostly digits and points.
fn end(text: &Text) -> f64 {
    let letters: f64 = text
        .content
        .chars()
        .map(|character| match character {
            '.' | ' ' | ',' | 'i' | 'l' => 0.35,
            '\u{200d}' | '\u{fe0f}' => 0.0,
            _ if character.is_ascii() => 0.6,
            _ => 0.75,
        })
        .sum();
    text.x + letters * text.size
}
