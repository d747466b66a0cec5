//! Draws the upgrade graph of one package: terminal text, Mermaid, Graphviz DOT and SVG.
//!
//! Every drawing is a pure function from a [`PackageGraph`] to a `String`: the same graph always
//! gives the same bytes. What a version is (head, skipped, stranded) is decided by the caller; this
//! crate deliberately computes no upgrade semantics, it only shows what it is told.
//!
//! All four drawings agree on their signs: thick for `replaces`, thin for `skips`, broken for
//! `skipRange`, and a shape of its own for each [`Role`], so that colour is never needed.

mod dot;
mod graph;
mod mermaid;
mod outline;
mod svg;
mod text;
mod words;

pub use dot::dot;
pub use graph::{Lane, Node, PackageGraph, Role, SkipRange};
pub use mermaid::{MERMAID_MAX_CHARACTERS, MERMAID_MAX_EDGES, mermaid};
pub use svg::{MAX_DRAWN_LANES, MAX_DRAWN_NODES, MAX_TRACKS, svg};
pub use text::{FOLD_SKIPPED_ABOVE, MAX_NOTE_LINES, MIN_TEXT_WIDTH, TextOptions, text};
pub use words::{BUNDLE_ABOVE, MAX_LISTED_NAMES, MAX_TEXT_CHARACTERS};
