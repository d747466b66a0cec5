//! Compiles the registry API to Rust and keeps its description for reflection.
//!
//! Nothing generated is kept in the repository, and no `protoc` is needed.

use std::{env, error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(["registry.proto"], ["proto"])?;
    let kept_at = PathBuf::from(env::var("OUT_DIR")?).join("registry.descriptors.bin");
    tonic_prost_build::configure()
        .build_transport(false)
        .file_descriptor_set_path(kept_at)
        .compile_fds(descriptors)?;
    Ok(())
}
