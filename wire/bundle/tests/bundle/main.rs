//! Bundles and templates written by hand, and files made to break a reader.

mod comparison;
mod findings;
mod fixture;
mod hostile;
mod legacy;
mod migration;
mod multi_arch;
mod real;
mod rendering;
mod templates;
mod validation;
