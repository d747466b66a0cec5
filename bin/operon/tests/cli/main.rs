//! The command line as people and programs use it: the real binary on small catalogs.

mod bad_input;
mod diff;
mod graph;
mod init;
mod list;
mod matrix;
mod migrate;
mod path;
mod readme;
mod render;
mod search;
mod show;
mod slice;
mod support;
mod template;
