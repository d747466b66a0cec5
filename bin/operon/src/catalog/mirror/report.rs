//! What a mirror did, for people and for programs, and what to do next.

use std::path::PathBuf;

use indicatif::HumanBytes;

use super::{
    Mirror, Mirrored,
    catalog_image::CatalogImage,
    destination::{Destination, shown},
    files::{CATALOG_SOURCE, DIGEST_MIRRORS, REGISTRIES, TAG_MIRRORS},
};
use crate::{
    catalog::cells::counted,
    output::{Json, Rendered, stderr_line},
    shipping::ReportFormat,
};

/// Tells what was done, and at the end what could not be.
pub(super) fn print(
    command: &Mirror,
    mirrored: &[Mirrored<'_>],
    catalog: &CatalogImage,
    catalog_error: Option<&str>,
    written: &[PathBuf],
) -> anyhow::Result<()> {
    let rendered = match command.output {
        ReportFormat::Text => {
            Rendered::Text(text(command, mirrored, catalog, catalog_error, written))
        }
        ReportFormat::Json => json(mirrored, catalog, catalog_error, written).to_json(),
    };
    rendered.print()?;
    for Mirrored { wish, result } in mirrored {
        if let Err(problem) = result {
            stderr_line!("error: `{}` was not copied: {problem}", wish.text);
        }
    }
    if let Some(problem) = catalog_error {
        stderr_line!("error: the catalog was not sent: {problem}");
    }
    if mirrored.iter().any(|image| image.result.is_err()) || catalog_error.is_some() {
        stderr_line!("hint: the same command tries again; what is there is not sent a second time");
    }
    Ok(())
}

fn text(
    command: &Mirror,
    mirrored: &[Mirrored<'_>],
    catalog: &CatalogImage,
    catalog_error: Option<&str>,
    written: &[PathBuf],
) -> String {
    let done = || mirrored.iter().filter_map(|image| image.result.as_ref().ok());
    let sent: u64 = done().map(|copied| copied.sent_bytes).sum();
    let new = done().filter(|copied| copied.is_new).count();
    let mut text = format!(
        "{} of {} in `{}`: {new} copied, {} there already; {} sent\n",
        done().count(),
        counted(mirrored.len(), "image"),
        command.to,
        done().count() - new,
        HumanBytes(sent)
    );
    if catalog_error.is_none() {
        text += &format!("catalog `{}`\n        {}\n", catalog.shown(), catalog.digest());
    }
    for file in written {
        text += &format!("wrote   {}\n", file.display());
    }
    text + &next(command, catalog, written)
}

/// Says what to do on the other side.
fn next(command: &Mirror, catalog: &CatalogImage, written: &[PathBuf]) -> String {
    if let Destination::Layout(_) = command.to {
        let image = catalog.shown();
        return format!(
            "next: bring the directory to the other side and copy each image from it, such as\n  \
             skopeo copy --all {image} docker://REGISTRY/…\n"
        );
    }
    let file = |name: &str| command.output_dir.join(name).display().to_string();
    let mut sets = format!("-f {}", file(DIGEST_MIRRORS));
    if written.iter().any(|path| path.ends_with(TAG_MIRRORS)) {
        sets += &format!(" -f {}", file(TAG_MIRRORS));
    }
    format!(
        "next, on OpenShift, or else on each node:\n  kubectl apply {sets}\n  \
         cp {} /etc/containers/registries.conf.d/\nand then:\n  kubectl apply -n olm -f {}\n",
        file(REGISTRIES),
        file(CATALOG_SOURCE)
    )
}

fn json(
    mirrored: &[Mirrored<'_>],
    catalog: &CatalogImage,
    catalog_error: Option<&str>,
    written: &[PathBuf],
) -> Json {
    let image = |Mirrored { wish, result }: &Mirrored<'_>| {
        let mut members = vec![("image", Json::text(&wish.text))];
        if let Ok((_, target)) = &wish.route {
            members.push(("target", Json::text(shown(target))));
        }
        match result {
            Ok(copied) => members.extend([
                ("digest", Json::text(copied.digest.to_string())),
                ("bytes", Json::number(copied.bytes)),
                ("sentBytes", Json::number(copied.sent_bytes)),
                ("new", Json::Bool(copied.is_new)),
            ]),
            Err(problem) => members.push(("error", Json::text(problem))),
        }
        Json::Object(members)
    };
    let sent = mirrored.iter().flat_map(|image| &image.result).map(|copied| copied.sent_bytes);
    let mut catalog =
        vec![("target", Json::text(catalog.shown())), ("digest", Json::text(catalog.digest()))];
    catalog.extend(catalog_error.map(|error| ("error", Json::text(error))));
    Json::Object(vec![
        ("dryRun", Json::Bool(false)),
        ("catalog", Json::Object(catalog)),
        ("sentBytes", Json::number(sent.sum::<u64>())),
        ("images", Json::list(mirrored.iter().map(image))),
        ("files", Json::texts(written.iter().map(|path| path.display().to_string()))),
    ])
}
