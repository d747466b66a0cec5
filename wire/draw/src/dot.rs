//! The upgrade graph in the DOT language of Graphviz.
//!
//! Nodes are numbered by channel and position; names from the catalog appear only inside quoted,
//! escaped strings. It deliberately sets no positions: the layout is Graphviz's.

use std::fmt::Write;

use crate::{
    graph::{Lane, PackageGraph, Role},
    outline::{Link, Outline},
    words::{channel_title, clean, deprecated_sentence},
};

/// Returns the graph as a Graphviz digraph, one cluster per channel.
///
/// Every edge leads from the older version to the newer: thick for `replaces`, thin for `skips`,
/// dashed for `skipRange`. A `skipRange` that covers many versions is one note, not many edges.
pub fn dot(graph: &PackageGraph) -> String {
    let mut output = String::from("digraph upgrades {\n");
    let mut title = format!("Upgrade graph of package {}", quotable(&graph.package));
    if let Some(message) = &graph.deprecation {
        title = format!("{title}\\n⚠ {}", quotable(&deprecated_sentence(message)));
    }
    push(&mut output, format_args!("  graph [rankdir=LR, fontname=\"sans-serif\", labelloc=t]"));
    push(&mut output, format_args!("  graph [label=\"{title}\"]"));
    push(&mut output, format_args!("  node [fontname=\"sans-serif\", fontsize=12]"));
    push(&mut output, format_args!("  edge [fontname=\"sans-serif\", fontsize=9]"));
    for (position, lane) in graph.lanes.iter().enumerate() {
        cluster(position, lane, &mut output);
    }
    output.push_str("}\n");
    output
}

fn cluster(position: usize, lane: &Lane, output: &mut String) {
    let outline = Outline::of(lane);
    let mut title = quotable(&channel_title(&lane.channel, lane.is_default));
    if let Some(message) = &lane.deprecation {
        title = format!("{title}\\n⚠ {}", quotable(&deprecated_sentence(message)));
    }
    if let Some(problem) = &lane.problem {
        title = format!("{title}\\n⚠ problem: {}", quotable(problem));
    }
    push(output, format_args!("  subgraph cluster_{position} {{"));
    push(output, format_args!("    label=\"{title}\"; color=\"#8C959F\"; style=rounded"));
    for (index, node) in lane.nodes.iter().enumerate() {
        let mut label = quotable(&outline.labels[index]);
        if let Some(sentence) = outline.deprecated_sentence(index) {
            label = format!("{label}\\n⚠ {}", quotable(&sentence));
        }
        let facts: Vec<String> = outline.facts(index).iter().map(|fact| quotable(fact)).collect();
        let tooltip = facts.join("\\n");
        let look = look(node.role);
        push(
            output,
            format_args!(
                "    c{position}n{index} [label=\"{label}\", tooltip=\"{tooltip}\", {look}]"
            ),
        );
    }
    for link in outline.links() {
        edge(position, &link, output);
    }
    push(output, format_args!("  }}"));
}

fn edge(position: usize, link: &Link, output: &mut String) {
    let c = format!("c{position}");
    match link {
        Link::Replaces { older, newer } => push(
            output,
            format_args!("    {c}n{older} -> {c}n{newer} [label=\"replaces\", penwidth=2.5]"),
        ),
        Link::Skips { older, newer } => push(
            output,
            format_args!(
                "    {c}n{older} -> {c}n{newer} [label=\"skips\", color=\"#B87A00\", \
                 constraint=false]"
            ),
        ),
        Link::Range { older, newer, text } => {
            let text = quotable(text);
            push(
                output,
                format_args!(
                    "    {c}n{older} -> {c}n{newer} [label=\"skipRange {text}\", style=dashed, \
                     color=\"#00795C\", constraint=false]"
                ),
            );
        }
        Link::Bundle { newer, sentence } => {
            let sentence = quotable(sentence);
            push(
                output,
                format_args!(
                    "    {c}r{newer} [label=\"{sentence}\", shape=note, style=dashed, \
                     fontsize=10, color=\"#00795C\"]"
                ),
            );
            push(
                output,
                format_args!(
                    "    {c}r{newer} -> {c}n{newer} [label=\"skipRange\", style=dashed, \
                     color=\"#00795C\"]"
                ),
            );
        }
    }
}

fn look(role: Role) -> &'static str {
    match role {
        Role::Head => {
            "shape=ellipse, peripheries=2, style=filled, fillcolor=\"#D6EBF7\", color=\"#0072B2\""
        }
        Role::Chain => "shape=ellipse, style=filled, fillcolor=\"#D6EBF7\", color=\"#0072B2\"",
        Role::Skipped => "shape=hexagon, color=\"#B87A00\"",
        Role::Virtual => "shape=box, style=dashed, color=\"#6E7781\", fontcolor=\"#57606A\"",
        Role::Stranded => "shape=octagon, style=bold, color=\"#D55E00\"",
    }
}

/// Returns the text ready to stand between quotation marks.
///
/// Graphviz reads backslashes (`\N` is the node's name) and, even in plain labels, HTML entities.
fn quotable(text: &str) -> String {
    let mut quotable = String::new();
    for character in clean(text).chars() {
        match character {
            '"' => quotable.push_str("\\\""),
            '\\' => quotable.push_str("\\\\"),
            '&' => quotable.push_str("&amp;"),
            _ => quotable.push(character),
        }
    }
    quotable
}

/// Writing to a `String` cannot fail, so there is no error to hand on.
fn push(output: &mut String, line: std::fmt::Arguments) {
    let _ = output.write_fmt(line);
    output.push('\n');
}
