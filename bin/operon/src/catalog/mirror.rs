//! `operon catalog mirror`: a part of a catalog with all its images, for a place without the internet.
//!
//! Which images there are is decided by the slice; how they are copied, by `shell/image`.

mod catalog_image;
mod destination;
mod files;
mod progress;
mod prospects;
mod report;
mod wish;

use std::{path::PathBuf, time::Duration};

use clap::Args;
use operon_image::{Copied, Copier, Images, Location, PullError};

use self::{
    catalog_image::CatalogImage,
    destination::Destination,
    progress::ProgressLines,
    wish::{Wish, wishes},
};
use super::{
    open::CatalogPath,
    render::parallel::on_threads,
    slice::{Notation, SliceChoice, cut, images, summary},
};
use crate::{exit::Outcome, output::stderr_text, shipping::ReportFormat};

/// How long one image may take: the largest known over a slow line.
const IMAGE_DEADLINE: Duration = Duration::from_secs(6 * 3600);
/// The most bytes of one blob: operators that bring models along have layers of tens of gigabytes.
const MAX_BLOB_BYTES: u64 = 64 << 30;
/// The most images that are copied at once; more make a registry suspicious rather than fast.
const MAX_JOBS: i64 = 32;

/// Copies a part of a catalog with all its images to another registry
///
/// What is kept is cut out of the catalog as `operon catalog slice` does, with what it requires and the
/// versions on the way. The images of its bundles and all related images are copied for every platform,
/// by digest; what the other side has is not sent again, so a mirror that was interrupted is finished by
/// the same command. Out of a layout that an earlier mirror went to, images are taken from there. `quay.io/me/app:v1` becomes `REGISTRY/PREFIX/me/app:v1`. Then the smaller catalog
/// is built and pushed, and what the cluster needs to use it is written to a directory.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 everything is there, 1 an image could not be copied (the others were)

Examples:
  operon catalog mirror quay.io/operatorhubio/catalog:latest --keep etcd --to registry.local:5000/mirror
  operon catalog mirror ./catalog --keep 'prometheus/beta@>=0.37.0' --to registry.local:5000/mirror --dry-run
  operon catalog mirror quay.io/me/catalog:v1 --keep etcd --heads-only --to oci:./usb-stick
  operon catalog mirror oci:./usb-stick:quay.io/me/catalog:v1 --keep etcd --to registry.local:5000/mirror")]
pub(crate) struct Mirror {
    #[command(flatten)]
    catalog: CatalogPath,
    #[command(flatten)]
    choice: SliceChoice,
    /// Where everything goes: a registry, perhaps with a path, or an image layout on the disk
    #[arg(long, value_name = "REGISTRY[/PREFIX]|oci:DIR")]
    to: Destination,
    /// Says what would be copied, how large it is and what is there already; copies nothing
    #[arg(long)]
    dry_run: bool,
    /// How many images are copied at once
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=MAX_JOBS))]
    jobs: u8,
    /// The directory for the manifests that make a cluster use the mirror
    #[arg(long, value_name = "DIR", default_value = "operon-mirror")]
    output_dir: PathBuf,
    /// How to print what was done
    #[arg(short, long, value_enum, default_value = "text")]
    output: ReportFormat,
}

/// What became of an image.
struct Mirrored<'w> {
    wish: &'w Wish,
    result: Result<Copied, String>,
}

pub(crate) fn run(command: &Mirror) -> anyhow::Result<Outcome> {
    let opened = command.catalog.open()?;
    let (plan, files) = cut(&opened, &command.choice, Notation::Json)?;
    let images = images(&plan);
    stderr_text(&summary(&plan, opened.catalog(), &images, None));
    let wishes = wishes(&images, &command.to);
    let place = command.catalog.path.to_string_lossy();
    let catalog = CatalogImage::new(&place, &files, &command.to, &command.catalog.fetching)?;
    let fetcher = command.catalog.fetching.fetcher_with(|options| {
        options.limits.deadline = IMAGE_DEADLINE;
        options.limits.layer_bytes = MAX_BLOB_BYTES;
    })?;
    let images = fetcher.images(&[])?;
    // What is wrong with the other side is said once, and before everything is fetched.
    let is_there = catalog.is_there(&images)?;
    let copier = copier(&images, &place)?;
    if command.dry_run {
        return prospects::show(command, &copier, &wishes, (&catalog, is_there));
    }
    files::make_directory(command)?;
    let lines = ProgressLines::new(wishes.len(), fetcher.progress());
    let mirrored = lines.while_drawing(|| copy_all(command, &copier, &wishes, &lines));
    let catalog_error = catalog.send(&images).err().map(|error| error.to_string());
    let written = files::write(command, &wishes, &catalog)?;
    report::print(command, &mirrored, &catalog, catalog_error.as_deref(), &written)?;
    let is_done = catalog_error.is_none() && mirrored.iter().all(|image| image.result.is_ok());
    Ok(if is_done { Outcome::Done } else { Outcome::Negative })
}

/// Prepares to copy: where the catalog lies in a layout, its images may lie there, too.
fn copier<'i>(images: &'i Images, place: &str) -> anyhow::Result<Copier<'i>> {
    Ok(match Location::parse(place)? {
        Location::Layout { directory, .. } => images.copier_from(&directory)?,
        _ => images.copier(),
    })
}

/// Copies all images, several at once; one that fails does not stop the others.
fn copy_all<'w>(
    command: &Mirror,
    copier: &Copier<'_>,
    wishes: &'w [Wish],
    lines: &ProgressLines<'_>,
) -> Vec<Mirrored<'w>> {
    let copy = |wish: &Wish| -> Result<Copied, String> {
        let (source, target) = wish.route.as_ref().map_err(Clone::clone)?;
        copier.copy(source, target).map_err(|error: PullError| error.to_string())
    };
    on_threads(usize::from(command.jobs), wishes.len(), |number| {
        let wish = &wishes[number];
        let result = copy(wish);
        lines.tell(&wish.text, &result);
        Mirrored { wish, result }
    })
}
