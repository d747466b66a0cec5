//! The messages and services of the registry API, generated from `proto/registry.proto`.
//!
//! Nothing is written by hand here; the proto file is the text to read.

#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    unused_qualifications,
    reason = "the generated code is not ours to word"
)]

tonic::include_proto!("api");

/// The description of the API, as reflection sends it.
pub(crate) const DESCRIPTORS: &[u8] = tonic::include_file_descriptor_set!("registry.descriptors");
