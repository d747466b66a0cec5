//! `operon catalog check`: what of a catalog can be installed, and who gets to the head of a channel.

mod crew;
mod findings;
mod fold;
mod json;
mod text;

use std::{path::PathBuf, time::Instant};

use anyhow::{anyhow, bail, ensure};
use clap::Args;
use operon_catalog::{Package, nearest};
use operon_image::OpenedCatalog;
use operon_resolve::{SourceName, Universe, survey::Surveyor};

use self::findings::Findings;
use super::open::CatalogPath;
use crate::fetching::FetchOptions;
use crate::{
    exit::Outcome,
    output::{self, OutputOptions, clean},
    semantics::SemanticsChoice,
};

/// Checks that every bundle can be installed, and that every version gets to the head of its channel
///
/// Each bundle is asked for in an empty namespace that sees all the catalogs given: what it needs
/// must be here, and be able to run together. From each version of a channel the updates are
/// followed that would be taken, each the first one that can be installed, to the head.
/// What a cluster provides by itself is not known here.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 everything can be installed and gets to its head; 1 something cannot, or a catalog
cannot be read

Examples:
  operon catalog check ./catalog
  operon catalog check ./catalog ./dependencies --semantics upstream
  operon catalog check ./catalog --package etcd -o json")]
pub(crate) struct Check {
    /// The catalogs, which see each other: directories of JSON and YAML files, or files
    #[arg(value_name = "CATALOG", required = true)]
    catalogs: Vec<PathBuf>,
    /// Checks only this package, beside all others; may be given several times
    #[arg(long = "package", value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Whose rules decide what is possible
    #[arg(long, value_enum, default_value = "documented")]
    semantics: SemanticsChoice,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    fetching: FetchOptions,
}

pub(crate) fn run(command: &Check) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let opened = open_all(command)?;
    let universe = universe(command, &opened);
    check_packages_exist(command, &opened)?;
    let surveyor = Surveyor::new(&universe, &command.semantics.semantics());
    let is_wanted = |number: &usize| {
        let name = surveyor.package_name(*number);
        command.packages.is_empty() || command.packages.iter().any(|wanted| wanted == name)
    };
    let numbers: Vec<usize> = (0..surveyor.package_count()).filter(is_wanted).collect();
    let survey = crew::survey(&surveyor, &numbers);
    let findings = Findings::new(&survey);
    output::print(
        command.output.output,
        || text::render(&findings, opened.len() > 1, start.elapsed()),
        || json::json(&survey, &findings, command.semantics.name(), &universe),
    )?;
    Ok(if findings.is_clean() { Outcome::Done } else { Outcome::Negative })
}

fn open_all(command: &Check) -> anyhow::Result<Vec<OpenedCatalog>> {
    let mut opened = Vec::with_capacity(command.catalogs.len());
    for (number, path) in command.catalogs.iter().enumerate() {
        ensure!(
            !command.catalogs[..number].contains(path),
            "`{}` is given twice\nhint: name each catalog once",
            path.display()
        );
        let fetching = command.fetching.clone();
        let catalog = CatalogPath { path: path.clone(), fetching }.open()?;
        ensure!(
            catalog.catalog().counts().packages > 0,
            "`{}` holds no catalog: no olm.package document was found\n\
             hint: give the directory that holds the catalog's JSON or YAML files",
            path.display()
        );
        opened.push(catalog);
    }
    Ok(opened)
}

/// Makes a namespace that sees the catalogs, each named by its path, and holds nothing.
fn universe<'o>(command: &Check, opened: &'o [OpenedCatalog]) -> Universe<'o> {
    Universe::of_catalogs(command.catalogs.iter().zip(opened).map(|(path, opened)| {
        let name = path.to_string_lossy().into_owned();
        (SourceName { namespace: String::new(), name }, opened.catalog())
    }))
}

fn check_packages_exist(command: &Check, opened: &[OpenedCatalog]) -> anyhow::Result<()> {
    for wanted in &command.packages {
        if opened.iter().any(|opened| opened.catalog().package(wanted).is_some()) {
            continue;
        }
        let names = opened.iter().flat_map(|opened| opened.catalog().packages().map(Package::name));
        match nearest(wanted, names) {
            Some(near) => {
                let near = clean(near);
                return Err(anyhow!("no package `{wanted}` here\nhint: did you mean `{near}`?"));
            }
            None => bail!("no package `{wanted}` here"),
        }
    }
    Ok(())
}
