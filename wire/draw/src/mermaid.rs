//! The upgrade graph as a Mermaid flowchart, for Markdown pages and chat.
//!
//! Nodes are numbered by channel and position, so that no name from a catalog is ever part of the
//! syntax; names appear only inside quoted, escaped labels. It deliberately leaves nothing out of a
//! large graph: it says at the end that Mermaid will refuse it, and what to do.

use std::fmt::Write;

use crate::{
    graph::{Lane, PackageGraph, Role},
    outline::{Link, Outline},
    words::{channel_title, clean, deprecated_sentence},
};

/// The most characters that Mermaid draws unless its `maxTextSize` is raised.
pub const MERMAID_MAX_CHARACTERS: usize = 50_000;

/// The most edges that Mermaid draws unless its `maxEdges` is raised.
pub const MERMAID_MAX_EDGES: usize = 500;

/// The look of each role; fills are pale and texts dark, to be read on white and on dark pages.
const CLASSES: &str = "  classDef head fill:#0072B2,stroke:#004B75,color:#FFFFFF
  classDef chain fill:#D6EBF7,stroke:#0072B2,color:#1F2328
  classDef skipped fill:#FFF4D9,stroke:#B87A00,color:#1F2328
  classDef virtual fill:#F0F1F3,stroke:#6E7781,color:#1F2328,stroke-dasharray:4 3
  classDef stranded fill:#FBE4D8,stroke:#D55E00,color:#1F2328,stroke-width:3px
  classDef range fill:#E2F5EF,stroke:#00795C,color:#1F2328,stroke-dasharray:4 3
  classDef warning fill:#FFFFFF,stroke:#8A3C00,color:#8A3C00
  classDef deprecated stroke:#A3336F,stroke-width:4px
";

/// Returns the graph as a Mermaid flowchart, one subgraph per channel.
///
/// Every edge leads from the older version to the newer: thick for `replaces`, thin for `skips`,
/// dotted for `skipRange`. A `skipRange` that covers many versions is one node, not many edges.
pub fn mermaid(graph: &PackageGraph) -> String {
    let mut output = String::from("graph LR\n");
    push(&mut output, format_args!("  %% Upgrade graph of package {}", escaped(&graph.package)));
    if let Some(message) = &graph.deprecation {
        push(&mut output, format_args!("  %% {}", escaped(&deprecated_sentence(message))));
    }
    output.push_str(CLASSES);
    let mut edges = 0;
    for (position, lane) in graph.lanes.iter().enumerate() {
        edges += subgraph(position, lane, &mut output);
    }
    let characters = output.encode_utf16().count();
    if characters > MERMAID_MAX_CHARACTERS || edges > MERMAID_MAX_EDGES {
        push(
            &mut output,
            format_args!(
                "%% {characters} characters and {edges} edges: Mermaid draws at most \
                 {MERMAID_MAX_CHARACTERS} and {MERMAID_MAX_EDGES} unless its maxTextSize and \
                 maxEdges are raised; choose fewer channels with --channel"
            ),
        );
    }
    output
}

/// Writes one channel and returns the number of its edges.
fn subgraph(position: usize, lane: &Lane, output: &mut String) -> usize {
    let outline = Outline::of(lane);
    let title = escaped(&channel_title(&lane.channel, lane.is_default));
    push(output, format_args!("  subgraph c{position}[\"{title}\"]"));
    push(output, format_args!("    direction LR"));
    // Warnings are nodes of their own: a title of two lines would cover the nodes below it.
    let deprecated = lane.deprecation.as_deref().map(deprecated_sentence);
    let problem = lane.problem.as_deref().map(|problem| format!("problem: {}", clean(problem)));
    for (number, warning) in deprecated.into_iter().chain(problem).enumerate() {
        let warning = escaped(&warning);
        push(output, format_args!("    c{position}w{number}>\"⚠ {warning}\"]:::warning"));
    }
    for (index, node) in lane.nodes.iter().enumerate() {
        let mut label = escaped(&outline.labels[index]);
        if let Some(sentence) = outline.deprecated_sentence(index) {
            let _ = write!(label, "<br/>⚠ {}", escaped(&sentence));
        }
        let (open, close) = shape(node.role);
        let class = class(node.role);
        push(output, format_args!("    c{position}n{index}{open}\"{label}\"{close}:::{class}"));
    }
    let mut edges = 0;
    for link in outline.links() {
        edges += 1;
        edge(position, &link, output);
    }
    let deprecated: Vec<String> = lane
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.deprecation.is_some())
        .map(|(index, _)| format!("c{position}n{index}"))
        .collect();
    if !deprecated.is_empty() {
        push(output, format_args!("    class {} deprecated", deprecated.join(",")));
    }
    push(output, format_args!("  end"));
    edges
}

fn edge(position: usize, link: &Link, output: &mut String) {
    let c = format!("    c{position}");
    match link {
        Link::Replaces { older, newer } => {
            push(output, format_args!("{c}n{older} ==>|replaces| c{position}n{newer}"));
        }
        Link::Skips { older, newer } => {
            push(output, format_args!("{c}n{older} -->|skips| c{position}n{newer}"));
        }
        Link::Range { older, newer, text } => {
            let text = escaped(text);
            push(
                output,
                format_args!("{c}n{older} -.->|\"skipRange {text}\"| c{position}n{newer}"),
            );
        }
        Link::Bundle { newer, sentence } => {
            let sentence = escaped(sentence);
            push(output, format_args!("{c}r{newer}>\"{sentence}\"]:::range"));
            push(output, format_args!("{c}r{newer} -.->|skipRange| c{position}n{newer}"));
        }
    }
}

fn shape(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::Head => ("([", "])"),
        Role::Chain => ("(", ")"),
        Role::Skipped => ("{{", "}}"),
        Role::Virtual => ("[/", "/]"),
        Role::Stranded => ("[[", "]]"),
    }
}

fn class(role: Role) -> &'static str {
    match role {
        Role::Head => "head",
        Role::Chain => "chain",
        Role::Skipped => "skipped",
        Role::Virtual => "virtual",
        Role::Stranded => "stranded",
    }
}

/// Returns the text with everything that Mermaid, Markdown or HTML could read written as a code.
///
/// The percent sign matters too: `%%{…}%%` changes Mermaid's configuration wherever it stands.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in clean(text).chars() {
        match character {
            '"' => escaped.push_str("#quot;"),
            '&' => escaped.push_str("#amp;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            ' ' | '.' | ',' | ':' | '+' | '-' | '=' | '/' | '(' | ')' => escaped.push(character),
            _ if character.is_ascii_punctuation() => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Writing to a `String` cannot fail, so there is no error to hand on.
fn push(output: &mut String, line: std::fmt::Arguments) {
    let _ = output.write_fmt(line);
    output.push('\n');
}
