//! The drawing in the language of Graphviz.

use operon_draw::dot;

use crate::fixture::{everything, plain_chain, skip_ranges, skips};

#[test]
fn a_plain_chain() {
    insta::assert_snapshot!(dot(&plain_chain()), @r##"
    digraph upgrades {
      graph [rankdir=LR, fontname="sans-serif", labelloc=t]
      graph [label="Upgrade graph of package demo"]
      node [fontname="sans-serif", fontsize=12]
      edge [fontname="sans-serif", fontsize=9]
      subgraph cluster_0 {
        label="stable (default)"; color="#8C959F"; style=rounded
        c0n0 [label="0.9.4", tooltip="demo.v0.9.4\nhead\nreplaces 0.9.2", shape=ellipse, peripheries=2, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c0n1 [label="0.9.2", tooltip="demo.v0.9.2\nreplaces 0.9.0", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c0n2 [label="0.9.0", tooltip="demo.v0.9.0\nreplaces 0.6.1", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c0n3 [label="0.6.1", tooltip="demo.v0.6.1\nvirtual: named in the graph, no content", shape=box, style=dashed, color="#6E7781", fontcolor="#57606A"]
        c0n1 -> c0n0 [label="replaces", penwidth=2.5]
        c0n2 -> c0n1 [label="replaces", penwidth=2.5]
        c0n3 -> c0n2 [label="replaces", penwidth=2.5]
      }
    }
    "##);
}

#[test]
fn skips_and_ranges() {
    insta::assert_snapshot!(edges(&dot(&skips())), @r##"
    c0n3 -> c0n0 [label="replaces", penwidth=2.5]
    c0n1 -> c0n0 [label="skips", color="#B87A00", constraint=false]
    c0n2 -> c0n0 [label="skips", color="#B87A00", constraint=false]
    c0n2 -> c0n1 [label="replaces", penwidth=2.5]
    c0n5 -> c0n2 [label="replaces", penwidth=2.5]
    c0n4 -> c0n3 [label="replaces", penwidth=2.5]
    c0n2 -> c0n3 [label="skips", color="#B87A00", constraint=false]
    c0n6 -> c0n5 [label="replaces", penwidth=2.5]
    "##);
    insta::assert_snapshot!(edges(&dot(&skip_ranges())), @r##"
    c0n1 -> c0n0 [label="replaces", penwidth=2.5]
    c0r0 -> c0n0 [label="skipRange", style=dashed, color="#00795C"]
    c0n2 -> c0n1 [label="replaces", penwidth=2.5]
    c0n2 -> c0n1 [label="skipRange 1.2.x", style=dashed, color="#00795C", constraint=false]
    c0n3 -> c0n2 [label="replaces", penwidth=2.5]
    c0n4 -> c0n3 [label="replaces", penwidth=2.5]
    c0r3 -> c0n3 [label="skipRange", style=dashed, color="#00795C"]
    "##);
}

#[test]
fn every_channel_is_a_cluster() {
    insta::assert_snapshot!(dot(&everything()), @r##"
    digraph upgrades {
      graph [rankdir=LR, fontname="sans-serif", labelloc=t]
      graph [label="Upgrade graph of package demo\n⚠ deprecated: moved to demo-operator"]
      node [fontname="sans-serif", fontsize=12]
      edge [fontname="sans-serif", fontsize=9]
      subgraph cluster_0 {
        label="stable (default)"; color="#8C959F"; style=rounded
        c0n0 [label="2.1.0", tooltip="demo.v2.1.0\nhead\nreplaces 2.0.0\nskips 2.0.1\nskipRange >=1.8.0 <2.1.0 covers 4 versions here", shape=ellipse, peripheries=2, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c0n1 [label="2.0.1\n⚠ deprecated: loses data, see CVE-2025-1234", tooltip="demo.v2.0.1\nskipped by 2.1.0\ndeprecated: loses data, see CVE-2025-1234\nreplaces 2.0.0", shape=hexagon, color="#B87A00"]
        c0n2 [label="2.0.0\n⚠ deprecated: end of life", tooltip="demo.v2.0.0\ndeprecated: end of life\nreplaces 1.9.0", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c0n3 [label="1.9.0", tooltip="demo.v1.9.0\nvirtual: named in the graph, no content", shape=box, style=dashed, color="#6E7781", fontcolor="#57606A"]
        c0n4 [label="1.8.0", tooltip="demo.v1.8.0\nstranded: no path to the head (nothing replaces or skips it), though the skipRange of 2.1.0 covers it", shape=octagon, style=bold, color="#D55E00"]
        c0n2 -> c0n0 [label="replaces", penwidth=2.5]
        c0n1 -> c0n0 [label="skips", color="#B87A00", constraint=false]
        c0r0 [label="skipRange >=1.8.0 <2.1.0 covers 4 versions here", shape=note, style=dashed, fontsize=10, color="#00795C"]
        c0r0 -> c0n0 [label="skipRange", style=dashed, color="#00795C"]
        c0n2 -> c0n1 [label="replaces", penwidth=2.5]
        c0n3 -> c0n2 [label="replaces", penwidth=2.5]
      }
      subgraph cluster_1 {
        label="candidate\n⚠ deprecated: use stable"; color="#8C959F"; style=rounded
        c1n0 [label="2.2.0-rc1", tooltip="demo.v2.2.0-rc1\nhead\nreplaces 2.1.0", shape=ellipse, peripheries=2, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c1n1 [label="2.1.0", tooltip="demo.v2.1.0\nreplaces 2.0.1", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c1n2 [label="2.0.1", tooltip="demo.v2.0.1\nreplaces 2.0.0", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c1n3 [label="2.0.0", tooltip="demo.v2.0.0", shape=ellipse, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c1n1 -> c1n0 [label="replaces", penwidth=2.5]
        c1n2 -> c1n1 [label="replaces", penwidth=2.5]
        c1n3 -> c1n2 [label="replaces", penwidth=2.5]
      }
      subgraph cluster_2 {
        label="legacy\n⚠ problem: two heads: 1.8.0, 1.7.0"; color="#8C959F"; style=rounded
        c2n0 [label="1.8.0", tooltip="demo.v1.8.0\nhead", shape=ellipse, peripheries=2, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
        c2n1 [label="1.7.0", tooltip="demo.v1.7.0\nhead", shape=ellipse, peripheries=2, style=filled, fillcolor="#D6EBF7", color="#0072B2"]
      }
    }
    "##);
}

/// The lines of the drawing that lead from one node to another.
fn edges(drawing: &str) -> String {
    drawing.lines().filter(|line| line.contains("->")).collect::<Vec<_>>().join("\n")
}
