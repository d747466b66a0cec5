//! File-based catalog documents: read with diagnostics, served, written back byte-stable.
//!
//! This room turns bytes into declarations and declarations back into bytes. Which files there are
//! and how they are opened is the business of `shell/image`; what a sound catalog is, of
//! `core/catalog`.

mod budget;
mod bundle;
mod document;
mod file;
mod ignore;
mod manifest;
mod property;
mod serve;
mod shapes;
mod write;

pub use self::{
    budget::{ReadBudget, ReadExcess, ReadLimits},
    file::{FileReader, MAX_FILE_BYTES, MemoryFile, read_catalog},
    ignore::{IGNORE_FILE_NAME, IgnoreRules},
    serve::{
        ServeError, ServedApi, ServedBundle, ServedDependency, serve_bundle, serve_without_bodies,
    },
    write::{OutputFormat, write_documents, yaml_text},
};
