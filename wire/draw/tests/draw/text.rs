//! The drawing for a terminal.

use operon_draw::{FOLD_SKIPPED_ABOVE, MIN_TEXT_WIDTH, TextOptions, text};

use crate::fixture::{everything, lane, long, package, plain_chain, skip_ranges, skips};

const UNICODE: TextOptions = TextOptions { width: 80, unicode: true, color: false };
const ASCII: TextOptions = TextOptions { width: 44, unicode: false, color: false };

#[test]
fn a_plain_chain() {
    insta::assert_snapshot!(text(&plain_chain(), &UNICODE), @"
    stable (default)
    ● 0.9.4  head
    ● 0.9.2
    ● 0.9.0
    ◌ 0.6.1  virtual: named in the graph, no content

    ● installable  ◌ virtual
    ");
}

#[test]
fn skipped_versions_hang_beside_the_chain() {
    insta::assert_snapshot!(text(&skips(), &UNICODE), @"
    stable (default)
    ●   0.10.0  head
    ├─○ 0.9.3
    ├─○ 0.9.2   ⚠ deprecated: CVE-2025-1234 · replaces 0.8.0
    ●   0.9.1   skips 0.9.2
    ◌   0.9.0   virtual: named in the graph, no content

    ✕   0.8.0   stranded: no path to the head (only 0.9.2 replaces it, and is
    │           skipped)
    ✕   0.7.0   stranded with 0.8.0, which replaces it

    ● installable  ○ skipped  ◌ virtual  ✕ stranded  ⚠ deprecated
    ");
}

#[test]
fn ranges_are_written() {
    insta::assert_snapshot!(text(&skip_ranges(), &UNICODE), @"
    stable (default)
    ● 1.4.0  head · skipRange >=1.0.0 <1.4.0 covers 4 versions here
    ● 1.3.0  skipRange 1.2.x covers 1 version here
    ● 1.2.0
    ● 1.1.0  skipRange <0.5.0 covers no version here
    ● 1.0.0

    ● installable
    ");
}

#[test]
fn every_channel_has_its_section() {
    insta::assert_snapshot!(text(&everything(), &UNICODE), @"
    ⚠ package demo is deprecated: moved to demo-operator

    stable (default)
    ●   2.1.0  head · skipRange >=1.8.0 <2.1.0 covers 4 versions here
    ├─○ 2.0.1  ⚠ deprecated: loses data, see CVE-2025-1234
    ●   2.0.0  ⚠ deprecated: end of life
    ◌   1.9.0  virtual: named in the graph, no content

    ✕   1.8.0  stranded: no path to the head (nothing replaces or skips it), though
               the skipRange of 2.1.0 covers it

    candidate
    ⚠ channel deprecated: use stable
    ● 2.2.0-rc1  head
    ● 2.1.0
    ● 2.0.1
    ● 2.0.0

    legacy
    ⚠ problem: two heads: 1.8.0, 1.7.0
    ● 1.8.0  head

    ● 1.7.0  head

    ● installable  ○ skipped  ◌ virtual  ✕ stranded  ⚠ deprecated or a problem
    ");
}

#[test]
fn a_narrow_terminal_without_unicode_loses_nothing() {
    insta::assert_snapshot!(text(&everything(), &ASCII), @"
    ! package demo is deprecated: moved to
      demo-operator

    stable (default)
    *   2.1.0  head; skipRange >=1.8.0 <2.1.0
    |          covers 4 versions here
    |-o 2.0.1  ! deprecated: loses data, see
    |          CVE-2025-1234
    *   2.0.0  ! deprecated: end of life
    ?   1.9.0  virtual: named in the graph, no
               content

    x   1.8.0  stranded: no path to the head
               (nothing replaces or skips it),
               though the skipRange of 2.1.0
               covers it

    candidate
    ! channel deprecated: use stable
    * 2.2.0-rc1  head
    * 2.1.0
    * 2.0.1
    * 2.0.0

    legacy
    ! problem: two heads: 1.8.0, 1.7.0
    * 1.8.0  head

    * 1.7.0  head

    * installable  o skipped  ? virtual
    x stranded  ! deprecated or a problem
    ");
}

#[test]
fn edges_that_no_line_shows_are_said_in_words() {
    // 1.3.0 replaces the skipped 1.2.0 above it; 1.1.0 is skipped by a skipped version.
    let graph = package(vec![lane(
        "stable",
        "head 1.4.0 replaces=1.3.0 skips=1.2.0
         skipped 1.2.0 replaces=1.0.0 skips=1.1.0
         skipped 1.1.0
         chain 1.3.0 replaces=1.2.0
         stranded 1.0.0",
    )]);
    insta::assert_snapshot!(text(&graph, &UNICODE), @"
    stable (default)
    ●   1.4.0  head
    ├─○ 1.2.0  replaces 1.0.0 · skips 1.1.0
    │ ○ 1.1.0  skipped by 1.2.0
    ●   1.3.0  replaces 1.2.0

    ✕   1.0.0  stranded: no path to the head (only 1.2.0 replaces it, and is
               skipped)

    ● installable  ○ skipped  ✕ stranded
    ");
}

#[test]
fn long_runs_of_skipped_versions_are_folded() {
    insta::assert_snapshot!(text(&long(42, 2), &UNICODE), @"
    stable (default)
    ●   3.0.0   head
    ├─○ 2.0.41  skipRange <3.0.0 covers 43 versions here
    ├─○ 2.0.40
    ├─○ 2.0.39
    ├─○ 2.0.38
    ├─○ 2.0.37
    ├─… 37 more skipped, down to 2.0.0
    ●   1.0.1
    ●   1.0.0

    ● installable  ○ skipped
    ");
    let unfolded = text(&long(FOLD_SKIPPED_ABOVE, 1), &UNICODE);
    assert!(!unfolded.contains("more skipped"), "{unfolded}");
    assert_eq!(unfolded.matches('○').count(), FOLD_SKIPPED_ABOVE + 1);
}

#[test]
fn colour_adds_nothing_but_colour() {
    for graph in [plain_chain(), skips(), skip_ranges(), everything(), long(42, 2)] {
        let colored = text(&graph, &TextOptions { color: true, ..UNICODE });
        assert!(colored.contains("\u{1b}["));
        let mut plain = colored;
        for code in ["0", "1", "2", "31", "32", "33"] {
            plain = plain.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(plain, text(&graph, &UNICODE));
    }
}

#[test]
fn lines_keep_to_the_width() {
    for width in [0, 1, 40, 41, 57, 80, 200] {
        for graph in [skips(), skip_ranges(), everything(), long(42, 2)] {
            for unicode in [false, true] {
                let drawn = text(&graph, &TextOptions { width, unicode, color: false });
                let widest = drawn.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(width.max(MIN_TEXT_WIDTH)), "{width}\n{drawn}");
            }
        }
    }
}

#[test]
fn nothing_to_draw_is_said() {
    let mut graph = package(vec![lane("stable", "")]);
    assert_eq!(text(&graph, &UNICODE), "stable (default)\n(no versions)\n");
    graph.lanes.clear();
    assert_eq!(text(&graph, &UNICODE), "demo has no channels\n");
}
