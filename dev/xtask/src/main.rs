//! The verbs of development, as `cargo xtask VERB`.
//!
//! Every check that guards the repository can be run from here with nothing but a Rust toolchain.
//! No rule of the product lives here: the rooms are used, never repeated.

mod arguments;
mod bench;
mod cases;
mod fuzz;
mod generate;
mod image;
mod rig;
mod sbom;
mod sim;
mod suite;
mod tidy;
mod vectors;
mod workspace;

use std::{env, process::ExitCode};

use anyhow::bail;

use crate::workspace::Workspace;

const USAGE: &str = "\
The verbs of development

Usage: cargo xtask VERB [OPTIONS]

Verbs:
  tidy                       proves the plan of the house: rings, manifests, sources, text
  test [--quick]             everything that must hold before a change is handed over
  vectors [DIR]              compares our answers with upstream's, line by line
  cases [DIR]                compares our resolutions with upstream's, case by case
  gen catalog [OPTIONS]      writes a synthetic catalog of the shape of the community one
      --seed N                 the same seed writes the same bytes (default 1)
      --scale F                times the number of packages (default 1)
      --slim                   without bodies, icons and images
      --out DIR                where to, new or empty (default below the target directory)
  bench [OPTIONS]            measures the release binary and prints a Markdown table
      --catalog DIR            this catalog only
      --synthetic              the synthetic catalog as well as the real one
      --growth                 the synthetic catalog at scale 1 and 10, resolving at 1, 4 and 16
      --million                opening and resolving with a million bundles (minutes, 6 GB memory)
      --resolving              the section about resolving alone
      --families               catalogs that are hard on purpose, each family at three sizes (minutes)
      --images                 a catalog as an image: pulled from a local registry, opened, served
      --cluster                the controller on a real cluster, which is brought up for it
      --search [WORD…]         the search alone, on problems of known shapes
      --runs N                 runs per scenario (default 7)
      --write                  replaces the figures in docs/performance.md
  fuzz TARGET|all [OPTIONS]  feeds a reader with hostile input; needs the nightly toolchain
      --seconds N              how long per target (default 60)
  sim [OPTIONS]              simulated clusters with faults, one seed after another
      --seeds N                how many seeds (default 50)
      --start S                the first seed (default 1)
      --steps K                how often people do something in each (default 12)
      --replay SEED            this seed alone
      --writes W               how many of the last writes a finding shows (default 40)
      --jobs J                 how many at once (default: the cores)
      --scale                  many namespaces with twenty operators each, in release
  image [OPTIONS]            links the program statically and makes an image of it
      --debug                  quickly built, for tests (default: in release)
      -t REF                   where it goes, as all other options of `operon image`
  sbom [FILE]                writes the crates that the program consists of, as CycloneDX JSON; `image` does too
  rig build                  builds and installs what a real cluster needs (minutes, once)
  rig up [OPTIONS]           brings up a real cluster in a network of its own, and leaves it running
      --name N                 what it is called (default `default`)
      --control-plane          etcd, API server and controllers alone, without a node
      --durable                etcd writes to the disk before it answers
  rig exec -- COMMAND…       runs a command in its network, with KUBECONFIG set
  rig kubectl -- ARGUMENT…   runs kubectl there
  rig logs COMPONENT         prints the log of one of its programs
  rig status                 says which clusters there are and what runs in them
  rig down                   takes it down; `--all` takes down all
      --name N                 which one, for all of these
  help                       prints this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a verb; returns whether everything it looked at is as it should be.
fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let Some((verb, rest)) = arguments.split_first() else {
        bail!("no verb given\n\n{USAGE}");
    };
    match verb.as_str() {
        "tidy" => tidy::run(&Workspace::find()?, rest),
        "test" => suite::run(&Workspace::find()?, rest),
        "vectors" => vectors::run(rest),
        "cases" => cases::run(&Workspace::find()?, rest),
        "gen" => generate::run(&Workspace::find()?, rest),
        "bench" => bench::run(&Workspace::find()?, rest),
        "fuzz" => fuzz::run(&Workspace::find()?, rest),
        "image" => image::run(&Workspace::find()?, rest),
        "sbom" => sbom::run(&Workspace::find()?, rest),
        "rig" => rig::run(rest),
        "sim" => sim::run(&Workspace::find()?, rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(true)
        }
        unknown => bail!("there is no verb `{unknown}`\n\n{USAGE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_missing_verbs_are_answered_with_the_usage() {
        for arguments in [&[][..], &["tidi".to_owned()][..]] {
            let error = run(arguments).expect_err("no such verb").to_string();
            assert!(error.contains("Usage: cargo xtask VERB"), "{error}");
        }
        assert!(run(&["help".to_owned()]).expect("help is a verb"));
    }
}
