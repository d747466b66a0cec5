//! What a mirror would copy, how large it is and what is there already.

use std::collections::{BTreeMap, BTreeSet};

use indicatif::HumanBytes;
use operon_image::{Copier, Prospect, PullError};

use super::{Mirror, catalog_image::CatalogImage, destination::shown, wish::Wish};
use crate::{
    catalog::{
        cells::{counted, short_image},
        render::parallel::on_threads,
    },
    exit::Outcome,
    output::{Json, Rendered, Table, clean},
    shipping::ReportFormat,
};

/// The blobs of all images together: many images share some.
#[derive(Default)]
struct Total {
    bytes: u64,
    missing_bytes: u64,
    present_images: usize,
}

/// Looks at every image and shows what would be done; nothing but manifests is fetched.
pub(super) fn show(
    command: &Mirror,
    copier: &Copier<'_>,
    wishes: &[Wish],
    catalog: (&CatalogImage, bool),
) -> anyhow::Result<Outcome> {
    let look = |wish: &Wish| -> Result<Prospect, String> {
        let (source, target) = wish.route.as_ref().map_err(Clone::clone)?;
        copier.look(source, target).map_err(|error: PullError| error.to_string())
    };
    let prospects =
        on_threads(usize::from(command.jobs), wishes.len(), |number| look(&wishes[number]));
    let rows: Vec<(&Wish, &Result<Prospect, String>)> = wishes.iter().zip(&prospects).collect();
    let total = total(&prospects);
    let rendered = match command.output {
        ReportFormat::Text => Rendered::Text(text(command, &rows, &total, catalog)),
        ReportFormat::Json => json(&rows, &total, catalog).to_json(),
    };
    rendered.print()?;
    let is_sound = prospects.iter().all(Result::is_ok);
    Ok(if is_sound { Outcome::Done } else { Outcome::Negative })
}

fn total(prospects: &[Result<Prospect, String>]) -> Total {
    let found = || prospects.iter().flatten();
    let blobs: BTreeMap<_, u64> = found()
        .flat_map(|prospect| &prospect.blobs)
        .map(|(digest, size)| (digest, *size))
        .collect();
    let missing: BTreeSet<_> = found().flat_map(|prospect| &prospect.missing).collect();
    Total {
        bytes: blobs.values().sum(),
        missing_bytes: missing.iter().filter_map(|digest| blobs.get(digest)).sum(),
        present_images: found().filter(|prospect| prospect.is_there).count(),
    }
}

/// Returns how many bytes of an image the other side lacks.
fn missing_bytes(prospect: &Prospect) -> u64 {
    prospect.missing.iter().filter_map(|digest| prospect.blobs.get(digest)).sum()
}

fn text(
    command: &Mirror,
    rows: &[(&Wish, &Result<Prospect, String>)],
    total: &Total,
    catalog: (&CatalogImage, bool),
) -> String {
    let mut table = Table::new(&["IMAGE", "SIZE", "TO SEND"]);
    let mut problems = String::new();
    for (wish, prospect) in rows {
        let (size, missing) = match prospect {
            Ok(prospect) if prospect.is_there => {
                (HumanBytes(prospect.blobs.values().sum()).to_string(), "is there".to_owned())
            }
            Ok(prospect) => (
                HumanBytes(prospect.blobs.values().sum()).to_string(),
                HumanBytes(missing_bytes(prospect)).to_string(),
            ),
            Err(problem) => {
                problems += &format!("error: {}: {}\n", clean(&wish.text), clean(problem));
                ("?".to_owned(), "cannot be copied".to_owned())
            }
        };
        table.row([short_image(&wish.text), size, missing]);
    }
    format!(
        "{}{}, {} together; {} to send to `{}`, {} there already\n\
         the catalog {} `{}`\n{problems}",
        table.render(),
        counted(rows.len(), "image"),
        HumanBytes(total.bytes),
        HumanBytes(total.missing_bytes),
        command.to,
        match total.present_images {
            1 => "1 is".to_owned(),
            number => format!("{number} are"),
        },
        if catalog.1 { "is there:" } else { "would be" },
        catalog.0.shown()
    )
}

fn json(
    rows: &[(&Wish, &Result<Prospect, String>)],
    total: &Total,
    catalog: (&CatalogImage, bool),
) -> Json {
    let image = |(wish, prospect): &(&Wish, &Result<Prospect, String>)| {
        let mut members = vec![("image", Json::text(&wish.text))];
        if let Ok((_, target)) = &wish.route {
            members.push(("target", Json::text(shown(target))));
        }
        match prospect {
            Ok(prospect) => members.extend([
                ("digest", Json::text(prospect.digest.to_string())),
                ("bytes", Json::number(prospect.blobs.values().sum::<u64>())),
                ("missingBytes", Json::number(missing_bytes(prospect))),
                ("present", Json::Bool(prospect.is_there)),
            ]),
            Err(problem) => members.push(("error", Json::text(problem))),
        }
        Json::Object(members)
    };
    Json::Object(vec![
        ("dryRun", Json::Bool(true)),
        (
            "catalog",
            Json::Object(vec![
                ("target", Json::text(catalog.0.shown())),
                ("digest", Json::text(catalog.0.digest())),
                ("present", Json::Bool(catalog.1)),
            ]),
        ),
        ("totalBytes", Json::number(total.bytes)),
        ("missingBytes", Json::number(total.missing_bytes)),
        ("images", Json::list(rows.iter().map(image))),
    ])
}
