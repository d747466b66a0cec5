//! Compiles the registry API to Rust and keeps its description for reflection.
//!
//! Nothing generated is kept in the repository, and no `protoc` is needed.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_source_info(true).include_imports(true).open_file("registry.proto")?;
    let descriptors = PathBuf::from(env::var("OUT_DIR")?).join("registry.descriptors.bin");
    fs::write(descriptors, compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
