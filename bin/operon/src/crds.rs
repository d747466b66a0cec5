//! `operon crds`: the definitions of the kinds that Operon looks after.

use clap::Args;

use crate::{exit::Outcome, output::print_generated};

/// Prints the CustomResourceDefinitions of the kinds that Operon looks after
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  operon crds | kubectl apply --server-side -f -")]
pub(crate) struct Crds {}

pub(crate) fn run(_: &Crds) -> anyhow::Result<Outcome> {
    let texts: Vec<&str> = operon_api::crds().iter().map(|definition| definition.text).collect();
    print_generated(texts.join("---\n").as_bytes())?;
    Ok(Outcome::Done)
}
