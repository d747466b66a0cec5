//! Building images and sending them: what can be typed about it, and what is told.
//!
//! What goes into an image is decided by the commands; how its bytes are made, by `wire/oci`.

mod label;
mod target;

use std::{collections::BTreeMap, path::Path};

use clap::{Args, ValueEnum};
use indicatif::HumanBytes;
use operon_image::{Packed, pack};
use operon_oci::{
    Platform,
    build::{BuiltImage, ImageSettings},
};

pub(crate) use self::target::ImageTarget;
use self::{label::Label, target::Sender};
use crate::{
    catalog::cells::counted,
    exit::Outcome,
    fetching::FetchOptions,
    output::{Json, print_text, stderr_line},
};

/// The platform that an image of plain files says it is for, so that it does not depend on the machine
/// that built it.
const PLATFORM: &str = "amd64";

/// What can be said about an image of files that are looked at first.
#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// Builds the image also when what is in it has errors
    #[arg(long)]
    pub(crate) skip_validation: bool,
    #[command(flatten)]
    pub(crate) sending: SendOptions,
}

/// Where an image goes that is built here, and how that is told.
#[derive(Debug, Args)]
pub(crate) struct SendOptions {
    /// Where the image goes: a reference in a registry, a layout or an archive of one; may be given
    /// several times. Without it, only the digest is told
    #[arg(short, long = "tag", value_name = "REF|oci:DIR[:TAG]|oci-archive:FILE[:TAG]")]
    tags: Vec<ImageTarget>,
    /// Adds a label to the image; may be given several times
    #[arg(short, long = "label", value_name = "KEY=VALUE")]
    labels: Vec<Label>,
    /// How to print what was done
    #[arg(short, long, value_enum, default_value = "text")]
    output: ReportFormat,
    #[command(flatten)]
    pub(crate) fetching: FetchOptions,
}

/// How it is told what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Lines for people
    Text,
    /// JSON for programs
    Json,
}

/// What was sent, and where to.
struct Sent<'t> {
    target: &'t ImageTarget,
    /// Why it was not.
    error: Option<String>,
}

/// Packs directories that lie within another, makes an image of them, sends it and reports it.
pub(crate) fn build_and_send(
    within: &Path,
    directories: &[(&Path, &str)],
    labels: BTreeMap<String, String>,
    options: &SendOptions,
) -> anyhow::Result<Outcome> {
    let settings = ImageSettings { labels, ..settings(&options.fetching) };
    make_and_send(pack(within, directories)?, settings, options)
}

/// Makes an image of what was packed, sends it and tells about it.
pub(crate) fn make_and_send(
    packed: Packed,
    mut settings: ImageSettings,
    options: &SendOptions,
) -> anyhow::Result<Outcome> {
    let Packed { layer, files, bytes } = packed;
    settings
        .labels
        .extend(options.labels.iter().map(|Label(key, value)| (key.clone(), value.clone())));
    let layer_bytes = layer.descriptor.size;
    let image = BuiltImage::new(&settings, vec![layer]);
    let is_text = options.output == ReportFormat::Text;
    if is_text {
        print_text(&format!(
            "built   {}  {}, {}, {} compressed\n",
            image.digest,
            counted(files, "file"),
            HumanBytes(bytes),
            HumanBytes(layer_bytes)
        ))?;
    }
    let sent = send(&image, options)?;
    if !is_text {
        let labels = settings.labels.iter().map(|(key, value)| (key.clone(), Json::text(value)));
        let json = Json::Object(vec![
            ("digest", Json::text(image.digest.to_string())),
            ("files", Json::number(files)),
            ("bytes", Json::number(bytes)),
            ("layerBytes", Json::number(layer_bytes)),
            ("labels", Json::Map(labels.collect())),
            ("targets", Json::list(sent.iter().map(|sent| sent.json(&image)))),
        ]);
        json.to_json().print()?;
    }
    let is_done = sent.iter().all(|sent| sent.error.is_none());
    Ok(if is_done { Outcome::Done } else { Outcome::Negative })
}

/// Returns the settings that every image has which is built here.
pub(crate) fn settings(fetching: &FetchOptions) -> ImageSettings {
    let platform = fetching.platform.clone().unwrap_or_else(|| Platform::linux(PLATFORM));
    ImageSettings { platform, ..ImageSettings::default() }
}

/// Sends an image everywhere it should go; one place that refuses does not keep it from the others.
fn send<'t>(image: &BuiltImage, options: &'t SendOptions) -> anyhow::Result<Vec<Sent<'t>>> {
    let sender = Sender::new(&options.fetching);
    let mut all = Vec::new();
    for target in &options.tags {
        let error = sender.send(image, target).err().map(|error| format!("{error:#}"));
        match &error {
            None if options.output == ReportFormat::Text => {
                print_text(&format!("{}  {}\n", target.verb(), target.shown(&image.digest)))?;
            }
            None => {}
            Some(error) => stderr_line!("error: {error}"),
        }
        all.push(Sent { target, error });
    }
    Ok(all)
}

impl Sent<'_> {
    fn json(&self, image: &BuiltImage) -> Json {
        let mut members = vec![("target", Json::text(self.target.to_string()))];
        match (&self.error, self.target.pinned(&image.digest)) {
            (Some(error), _) => members.push(("error", Json::text(error))),
            (None, Some(reference)) => members.push(("reference", Json::text(reference))),
            (None, None) => {}
        }
        Json::Object(members)
    }
}
