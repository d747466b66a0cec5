//! Streams all bundles of a server and says how many there were, how much, and how long it took: what
//! `cargo xtask bench --images` measures with.
//!
//! Nothing is kept of what comes, so that the server is measured and not its reader.

use std::{process::ExitCode, time::Instant};

use operon_registry::{Address, Client, ClientOptions};
use prost::Message;

fn main() -> ExitCode {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("usage: stream ADDRESS");
        return ExitCode::FAILURE;
    };
    match stream(&address) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of bundles, their bytes and the microseconds it took, separated by spaces.
fn stream(address: &str) -> Result<String, Box<dyn std::error::Error>> {
    let address: Address = address.parse()?;
    let client = Client::connect(&address, ClientOptions::default())?;
    let start = Instant::now();
    let (mut bundles, mut bytes) = (0_usize, 0_usize);
    for bundle in client.list_bundles()? {
        bundles += 1;
        bytes += bundle?.encoded_len();
    }
    Ok(format!("{bundles} {bytes} {}", start.elapsed().as_micros()))
}
