//! Text from strangers never becomes syntax, and edges from strangers never become a panic.

use operon_draw::{PackageGraph, TextOptions, dot, mermaid, svg, text};

use crate::fixture::{everything, long};

fn hostile_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "<script>alert(1)</script>",
        "&amp;&lt;&#60;&",
        "\"quoted\" 'single' `back`",
        "]]></style><!-- -->",
        "a\nb\r\nc\u{2028}d\u{85}e",
        "\u{1b}[31mred\u{7}\u{0}\u{9b}1m",
        "\u{202e}gnp.exe\u{2066}\u{200f}\u{61c}\u{200e}\u{2029}",
        "שלום עולם مرحبا",
        "版本一・二",
        "🦀👩‍👩‍👧‍👦⚠️",
        "\\N\\G\\\" \\",
        "%%{init: {\"theme\":\"dark\"}}%% end",
        "#quot;#35;;|]}})",
        "subgraph end graph class click",
        "\u{ffff}\u{fffe}\u{feff}",
        "",
        "   ",
    ]
    .map(str::to_owned)
    .into();
    texts.push("x".repeat(10_000));
    texts.push("<".repeat(10_000));
    texts.push("ü ".repeat(10_000));
    texts
}

fn hostile_graph(text: &str) -> PackageGraph {
    let mut graph = everything();
    graph.package = text.to_owned();
    graph.deprecation = Some(text.to_owned());
    for lane in &mut graph.lanes {
        lane.channel = text.to_owned();
        lane.deprecation = Some(text.to_owned());
        lane.problem = Some(text.to_owned());
        for node in &mut lane.nodes {
            node.name = text.to_owned();
            node.label = text.to_owned();
            node.deprecation = Some(text.to_owned());
            if let Some(range) = &mut node.skip_range {
                range.text = text.to_owned();
            }
        }
    }
    graph
}

#[test]
fn hostile_text_never_becomes_markup() {
    for text in hostile_texts() {
        crate::svg::check(&hostile_graph(&text));
    }
}

#[test]
fn hostile_text_never_becomes_graph_syntax() {
    let benign = hostile_graph("benign");
    for text in hostile_texts() {
        let graph = hostile_graph(&text);
        for (draw, name) in [(mermaid as fn(&PackageGraph) -> String, "mermaid"), (dot, "dot")] {
            let (expected, drawn) = (draw(&benign), draw(&graph));
            let skeleton = |drawing: &str| -> Vec<String> {
                drawing
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("%%"))
                    .map(unquoted)
                    .collect()
            };
            assert_eq!(skeleton(&expected), skeleton(&drawn), "{name} {text:.50}");
        }
        let labels = mermaid(&graph).replace("<br/>", "");
        assert!(!labels.contains('<') && !labels.contains("%%{"), "{text:.50}");
        assert!(!labels.contains('`'), "{text:.50}");
    }
}

#[test]
fn hostile_text_never_drives_the_terminal() {
    for hostile in hostile_texts() {
        let graph = hostile_graph(&hostile);
        let options = TextOptions { width: 60, unicode: true, color: false };
        let drawn = text(&graph, &options);
        let harmful = |character: char| {
            (character.is_control() && character != '\n')
                || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!drawn.contains(harmful), "{hostile:.50} {drawn}");
        let drawn = text(&graph, &TextOptions { unicode: false, ..options });
        assert!(drawn.is_ascii(), "{drawn}");
        assert!(drawn.lines().all(|line| line.len() <= 60), "{drawn}");
    }
}

#[test]
fn edges_that_lead_nowhere_or_in_circles_are_survived() {
    let mut graph = everything();
    for lane in &mut graph.lanes {
        let count = lane.nodes.len();
        for (index, node) in lane.nodes.iter_mut().enumerate() {
            node.replaces = Some([index, count, usize::MAX, (index + 1) % count, 0][index % 5]);
            node.skips = vec![usize::MAX, index, 0, 0, count - 1, count];
            if let Some(range) = &mut node.skip_range {
                range.covers = vec![index, usize::MAX, 0, 0, count - 1];
            }
        }
    }
    crate::svg::check(&graph);
    let options = TextOptions { width: 80, unicode: true, color: true };
    assert!(text(&graph, &options).contains("stable"));
    assert!(mermaid(&graph).contains("c0n0 -->|skips| c0n0"));
    assert!(dot(&graph).contains("c0n0 -> c0n0"));
}

#[test]
fn drawings_are_the_same_every_time() {
    let options = TextOptions { width: 80, unicode: true, color: true };
    for graph in [everything(), long(30, 30)] {
        let draw = || (text(&graph, &options), mermaid(&graph), dot(&graph), svg(&graph));
        assert_eq!(draw(), draw());
    }
}

/// The line with everything between quotation marks taken out.
fn unquoted(line: &str) -> String {
    let mut unquoted = String::new();
    let mut inside = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if inside => {
                characters.next();
            }
            '"' => inside = !inside,
            _ if inside => {}
            _ => unquoted.push(character),
        }
    }
    assert!(!inside, "an open quotation mark in {line}");
    unquoted
}
