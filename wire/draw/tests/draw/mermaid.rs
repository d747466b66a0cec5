//! The drawing as a Mermaid flowchart.

use operon_draw::{MERMAID_MAX_CHARACTERS, MERMAID_MAX_EDGES, mermaid};

use crate::fixture::{everything, long, plain_chain, skip_ranges, skips};

#[test]
fn a_plain_chain() {
    insta::assert_snapshot!(mermaid(&plain_chain()), @r#"
    graph LR
      %% Upgrade graph of package demo
      classDef head fill:#0072B2,stroke:#004B75,color:#FFFFFF
      classDef chain fill:#D6EBF7,stroke:#0072B2,color:#1F2328
      classDef skipped fill:#FFF4D9,stroke:#B87A00,color:#1F2328
      classDef virtual fill:#F0F1F3,stroke:#6E7781,color:#1F2328,stroke-dasharray:4 3
      classDef stranded fill:#FBE4D8,stroke:#D55E00,color:#1F2328,stroke-width:3px
      classDef range fill:#E2F5EF,stroke:#00795C,color:#1F2328,stroke-dasharray:4 3
      classDef warning fill:#FFFFFF,stroke:#8A3C00,color:#8A3C00
      classDef deprecated stroke:#A3336F,stroke-width:4px
      subgraph c0["stable (default)"]
        direction LR
        c0n0(["0.9.4"]):::head
        c0n1("0.9.2"):::chain
        c0n2("0.9.0"):::chain
        c0n3[/"0.6.1"/]:::virtual
        c0n1 ==>|replaces| c0n0
        c0n2 ==>|replaces| c0n1
        c0n3 ==>|replaces| c0n2
      end
    "#);
}

#[test]
fn skips_and_ranges() {
    insta::assert_snapshot!(body(&mermaid(&skips())), @r#"
    graph LR
      %% Upgrade graph of package demo
      subgraph c0["stable (default)"]
        direction LR
        c0n0(["0.10.0"]):::head
        c0n1{{"0.9.3"}}:::skipped
        c0n2{{"0.9.2<br/>⚠ deprecated: CVE-2025-1234"}}:::skipped
        c0n3("0.9.1"):::chain
        c0n4[/"0.9.0"/]:::virtual
        c0n5[["0.8.0"]]:::stranded
        c0n6[["0.7.0"]]:::stranded
        c0n3 ==>|replaces| c0n0
        c0n1 -->|skips| c0n0
        c0n2 -->|skips| c0n0
        c0n2 ==>|replaces| c0n1
        c0n5 ==>|replaces| c0n2
        c0n4 ==>|replaces| c0n3
        c0n2 -->|skips| c0n3
        c0n6 ==>|replaces| c0n5
        class c0n2 deprecated
      end
    "#);
    insta::assert_snapshot!(body(&mermaid(&skip_ranges())), @r#"
    graph LR
      %% Upgrade graph of package demo
      subgraph c0["stable (default)"]
        direction LR
        c0n0(["1.4.0"]):::head
        c0n1("1.3.0"):::chain
        c0n2("1.2.0"):::chain
        c0n3("1.1.0"):::chain
        c0n4("1.0.0"):::chain
        c0n1 ==>|replaces| c0n0
        c0r0>"skipRange #gt;=1.0.0 #lt;1.4.0 covers 4 versions here"]:::range
        c0r0 -.->|skipRange| c0n0
        c0n2 ==>|replaces| c0n1
        c0n2 -.->|"skipRange 1.2.x"| c0n1
        c0n3 ==>|replaces| c0n2
        c0n4 ==>|replaces| c0n3
        c0r3>"skipRange #lt;0.5.0 covers no version here"]:::range
        c0r3 -.->|skipRange| c0n3
      end
    "#);
}

#[test]
fn every_channel_is_a_subgraph() {
    insta::assert_snapshot!(body(&mermaid(&everything())), @r#"
    graph LR
      %% Upgrade graph of package demo
      %% deprecated: moved to demo-operator
      subgraph c0["stable (default)"]
        direction LR
        c0n0(["2.1.0"]):::head
        c0n1{{"2.0.1<br/>⚠ deprecated: loses data, see CVE-2025-1234"}}:::skipped
        c0n2("2.0.0<br/>⚠ deprecated: end of life"):::chain
        c0n3[/"1.9.0"/]:::virtual
        c0n4[["1.8.0"]]:::stranded
        c0n2 ==>|replaces| c0n0
        c0n1 -->|skips| c0n0
        c0r0>"skipRange #gt;=1.8.0 #lt;2.1.0 covers 4 versions here"]:::range
        c0r0 -.->|skipRange| c0n0
        c0n2 ==>|replaces| c0n1
        c0n3 ==>|replaces| c0n2
        class c0n1,c0n2 deprecated
      end
      subgraph c1["candidate"]
        direction LR
        c1w0>"⚠ deprecated: use stable"]:::warning
        c1n0(["2.2.0-rc1"]):::head
        c1n1("2.1.0"):::chain
        c1n2("2.0.1"):::chain
        c1n3("2.0.0"):::chain
        c1n1 ==>|replaces| c1n0
        c1n2 ==>|replaces| c1n1
        c1n3 ==>|replaces| c1n2
      end
      subgraph c2["legacy"]
        direction LR
        c2w0>"⚠ problem: two heads: 1.8.0, 1.7.0"]:::warning
        c2n0(["1.8.0"]):::head
        c2n1(["1.7.0"]):::head
      end
    "#);
}

#[test]
fn what_mermaid_would_refuse_says_so() {
    let small = mermaid(&everything());
    assert!(!small.contains("--channel"));
    let many_edges = mermaid(&long(0, MERMAID_MAX_EDGES + 30));
    let note = many_edges.lines().last().unwrap();
    assert!(note.starts_with("%% ") && note.contains("--channel"), "{note}");
    let mut many_characters = everything();
    many_characters.lanes[0].nodes[0].label = "long".repeat(250);
    many_characters.lanes = vec![many_characters.lanes[0].clone(); 60];
    let many_characters = mermaid(&many_characters);
    assert!(many_characters.len() > MERMAID_MAX_CHARACTERS);
    assert!(many_characters.lines().last().unwrap().contains("--channel"));
}

/// The drawing without the class definitions, which are the same every time.
fn body(drawing: &str) -> String {
    drawing.lines().filter(|line| !line.contains("classDef")).collect::<Vec<_>>().join("\n")
}
