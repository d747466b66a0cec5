//! The command line as people and programs use it: the real binary on small catalogs.

mod bad_input;
mod check;
mod cluster;
mod diff;
mod graph;
mod harbour;
mod init;
mod lifecycle;
mod list;
mod matrix;
mod migrate;
mod path;
mod plan;
mod plan_output;
mod readme;
mod render;
mod resolve;
mod scenarios;
mod search;
mod show;
mod slice;
mod support;
mod template;
mod up;
mod why;
mod wishes;
