//! `operon catalog migrate`: a catalog written anew, one directory per package, in today's form.
//!
//! Every document is carried over, also those that Operon does not interpret. Databases of the
//! oldest catalogs are not read.

mod compare;
mod scan;
mod target;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use indicatif::HumanBytes;
use operon_bundle::{MigrateError, migrate_document};
use operon_catalog::{FileId, Place, Severity};
use operon_image::{Lines, OpenedCatalog};

use self::{
    compare::first_difference,
    scan::{Found, scan},
    target::Target,
};
use super::{
    open::{CatalogPath, open_path},
    render::{
        documents::{Count, DocumentOptions, Notation},
        parallel::on_all_cores,
    },
};
use crate::{exit::Outcome, output::stderr_line};

/// Rewrites a catalog as one directory per package, with small bundles
///
/// The manifests that are inlined in bundles, deprecated and bulky, make way for one
/// `olm.csv.metadata` each. The new catalog is read again and compared with the old one.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 the catalog cannot be read or written, or a bundle could not be migrated

Examples:
  operon catalog migrate ./catalog ./new-catalog
  operon catalog migrate ./catalog.json ./catalog -o yaml --level none")]
pub(crate) struct Migrate {
    #[command(flatten)]
    catalog: CatalogPath,
    /// The directory to write to, which must be empty or absent
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    /// How far bundles are brought up to date
    #[arg(
        long,
        value_enum,
        default_value = "bundle-object-to-csv-metadata",
        alias = "migrate-level"
    )]
    level: Level,
    /// Replaces the files of a catalog that was written to the directory before
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    output: DocumentOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Leaves bundles as they are
    None,
    /// Puts one olm.csv.metadata in the place of inlined manifests, for bundles with an image
    BundleObjectToCsvMetadata,
}

pub(crate) fn run(command: &Migrate) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open_quietly()?;
    let files: Vec<_> = opened.catalog().files().collect();
    let packages = documents_by_package(&opened, files.len())?;
    let argument = command.catalog.path.display();
    anyhow::ensure!(!packages.is_empty(), "`{argument}` holds no catalog: no document was found");
    let names = packages.keys().map(String::as_str);
    let notation = command.output.output;
    let target =
        Target::prepare(&command.directory, notation, names, opened.root(), command.force)?;

    let packages: Vec<(String, Vec<Found>)> = packages.into_iter().collect();
    let written = on_all_cores(packages.len(), |number| {
        let (package, documents) = &packages[number];
        let (text, written) = rewrite(&opened, documents, command.level, notation)?;
        target.write(package, &text)?;
        Ok(written)
    });
    let written = written.into_iter().collect::<anyhow::Result<Vec<Written>>>()?;

    let after = open_path(&command.directory, None)?;
    if let Some(difference) = first_difference(opened.catalog(), after.catalog()) {
        let directory = command.directory.display();
        anyhow::bail!("`{directory}` does not hold the same catalog as `{argument}`: {difference}");
    }
    let before_bytes = files.iter().map(|file| file.size).sum();
    let named = packages.iter().filter(|(package, _)| !package.is_empty()).count();
    summarize(named, before_bytes, &written);
    warn_about_errors(&after, &command.directory);
    let is_whole = report_failures(&opened, &written);
    Ok(if is_whole { Outcome::Done } else { Outcome::Negative })
}

/// What became of the documents of a package.
struct Written {
    bytes: u64,
    bundles: usize,
    migrated: usize,
    failures: Vec<(Place, MigrateError)>,
}

/// Finds the documents of each package; those of no package have the empty name.
fn documents_by_package(
    opened: &OpenedCatalog,
    files: usize,
) -> anyhow::Result<BTreeMap<String, Vec<Found>>> {
    let scans = on_all_cores(files, |number| {
        let file = FileId(u32::try_from(number)?);
        scan(file, opened.location(Place::new(file, 0..0)))
    });
    let mut packages: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for scan in scans {
        for found in scan? {
            packages.entry(found.package.clone()).or_default().push(found);
        }
    }
    Ok(packages)
}

/// Reads documents again and brings them up to date; one that resists is kept as it is.
fn rewrite(
    opened: &OpenedCatalog,
    found: &[Found],
    level: Level,
    notation: Notation,
) -> anyhow::Result<(String, Written)> {
    let mut documents = Vec::with_capacity(found.len());
    let mut written = Written { bytes: 0, bundles: 0, migrated: 0, failures: Vec::new() };
    for Found { is_bundle, place, .. } in found {
        let document = opened.document(*place)?;
        written.bundles += usize::from(*is_bundle);
        let changed = match level {
            Level::None => Ok(None),
            Level::BundleObjectToCsvMetadata => migrate_document(&document),
        };
        documents.push(match changed {
            Ok(Some(changed)) => {
                written.migrated += 1;
                changed
            }
            Ok(None) => document,
            Err(error) => {
                written.failures.push((*place, error));
                document
            }
        });
    }
    let text = notation.write(&documents)?;
    written.bytes = text.len() as u64;
    Ok((text, written))
}

fn summarize(packages: usize, before_bytes: u64, written: &[Written]) {
    let sum = |count: fn(&Written) -> usize| written.iter().map(count).sum::<usize>();
    let after_bytes = written.iter().map(|package| package.bytes).sum();
    stderr_line!(
        "{} written, {} of {} migrated, {} before, {} after",
        Count(packages, "package"),
        sum(|package| package.migrated),
        Count(sum(|package| package.bundles), "bundle"),
        HumanBytes(before_bytes),
        HumanBytes(after_bytes),
    );
}

/// Says that a catalog with errors was carried over with them.
fn warn_about_errors(written: &OpenedCatalog, path: &Path) {
    let findings = written.catalog().diagnostics();
    let errors = findings.filter(|finding| finding.severity() == Severity::Error).count();
    if errors > 0 {
        stderr_line!("warning: the catalog had {} and still has", Count(errors, "error"));
        stderr_line!("hint: operon catalog validate {}", path.display());
    }
}

/// Prints which bundles could not be migrated, and tells whether there was none.
fn report_failures(opened: &OpenedCatalog, written: &[Written]) -> bool {
    let mut lines = Lines::new(opened);
    let mut failures: Vec<_> = written.iter().flat_map(|package| &package.failures).collect();
    failures.sort_by_key(|(place, _)| *place);
    for (place, error) in &failures {
        let (line, column) = lines.position(*place).unwrap_or((1, 1));
        let path = opened.location(*place).display();
        stderr_line!("error: {path}:{line}:{column}: this bundle is kept as it is: {error}");
    }
    failures.is_empty()
}
