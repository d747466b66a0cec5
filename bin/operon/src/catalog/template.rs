//! `operon catalog template`: a short template expanded to the documents of a catalog.
//!
//! How templates are expanded is decided in `wire/bundle`. Bundles are directories today; images
//! are not pulled here.

mod check;

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use operon_bundle::{
    RenderedBundle, Severity,
    template::{TemplateError, TemplateKind, basic, detect, expand, semver, substitutes},
};

use self::check::check;
use super::render::{
    bundle::{ImageChoice, render_directory},
    directory::{is_bundle, no_bundle, read_file},
    documents::{DocumentOptions, migration},
    hint_at_missing_image,
    image::ImagePattern,
    image_choice,
    report::{Report, Spot},
};
use crate::{exit::Outcome, output::stderr_text};

/// Limits a template, which is one document and is limited as such.
const MAX_TEMPLATE_BYTES: usize = operon_document::json::MAX_DOCUMENT_BYTES;

/// Expands a catalog template
///
/// A template names bundles by their directories, relative to the template. The documents that come
/// out are checked like a catalog.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done (warnings do not count), 1 the template, a bundle or the catalog has errors;
what is wrong with a catalog made by a basic template, which may be a part of one, is a warning

Examples:
  operon catalog template semver ./etcd.semver.yaml > catalog/etcd/catalog.json
  operon catalog template auto ./template.yaml --image-template 'quay.io/example/{package}:v{version}' --migrate
  cat template.yaml | operon catalog template basic - -o yaml")]
pub(crate) struct Template {
    /// The kind of the template
    #[arg(value_name = "KIND")]
    kind: KindChoice,
    /// The template, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The image references of the bundles, with {package}, {name} and {version} filled in
    #[arg(long, value_name = "PATTERN")]
    image_template: Option<ImagePattern>,
    /// Puts one olm.csv.metadata in the place of inlined manifests, for bundles with an image
    #[arg(long)]
    migrate: bool,
    #[command(flatten)]
    output: DocumentOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindChoice {
    /// Lists of bundles by stability, from which channels are made by version
    Semver,
    /// A catalog in which each bundle is only named
    Basic,
    /// A catalog, and bundles that take the place of others in its channels
    Substitutes,
    /// What the schema of the template says
    Auto,
}

pub(crate) fn run(command: &Template) -> anyhow::Result<Outcome> {
    let (template, directory) = read_template(&command.file)?;
    let mut bundles = Bundles {
        directory,
        image: image_choice(None, command.image_template.as_ref()),
        migrate: command.migrate,
        rendered: 0,
        is_refused: false,
    };
    let mut render = |reference: &str| bundles.render(reference);
    let (kind, expanded) = match command.kind {
        KindChoice::Semver => (Some(TemplateKind::Semver), semver(&template, &mut render)),
        KindChoice::Basic => (Some(TemplateKind::Basic), basic(&template, &mut render)),
        KindChoice::Substitutes => {
            (Some(TemplateKind::Substitutes), substitutes(&template, &mut render))
        }
        KindChoice::Auto => (detect(&template), expand(&template, &mut render)),
    };
    let documents = match expanded {
        Ok(documents) => documents,
        Err(error) => {
            stderr_text(&template_error(&error, &command.file, &template));
            return Ok(Outcome::Negative);
        }
    };
    let text = command.output.output.write(&documents)?;
    command.output.output.print(&text)?;
    // A basic template may be a part of a catalog, which is not valid without the others.
    let is_part = kind == Some(TemplateKind::Basic);
    let is_valid = check(text, command.output.output, is_part);
    if bundles.rendered > 0 {
        hint_at_missing_image(&bundles.image, command.migrate);
    }
    Ok(if is_valid && !bundles.is_refused { Outcome::Done } else { Outcome::Negative })
}

/// The bundles that a template names.
struct Bundles {
    /// Where relative paths start.
    directory: PathBuf,
    image: ImageChoice,
    migrate: bool,
    rendered: usize,
    is_refused: bool,
}

impl Bundles {
    fn render(&mut self, reference: &str) -> Result<RenderedBundle, String> {
        let directory = self.directory.join(reference);
        if !directory.is_dir() {
            return Err(format!(
                "there is no directory `{}`; images cannot be pulled yet, so unpack the bundle \
                 image and give its directory, relative to the template",
                directory.display()
            ));
        }
        if !is_bundle(&directory) {
            return Err(no_bundle(&directory));
        }
        let outcome = render_directory(&directory, &self.image, migration(self.migrate));
        stderr_text(&outcome.report);
        self.rendered += 1;
        self.is_refused |= outcome.is_refused;
        outcome.rendered
    }
}

/// Reads the template, and tells where the paths in it start.
fn read_template(file: &Path) -> anyhow::Result<(Vec<u8>, PathBuf)> {
    let too_large = || format!("the template has more than {MAX_TEMPLATE_BYTES} bytes");
    if file == Path::new("-") {
        let mut template = Vec::new();
        let mut stdin = io::stdin().lock().take(MAX_TEMPLATE_BYTES as u64 + 1);
        stdin.read_to_end(&mut template).context("cannot read standard input")?;
        anyhow::ensure!(template.len() <= MAX_TEMPLATE_BYTES, too_large());
        return Ok((template, PathBuf::new()));
    }
    let template = read_file(file, MAX_TEMPLATE_BYTES)?.with_context(too_large)?;
    Ok((template, file.parent().unwrap_or(Path::new("")).to_owned()))
}

fn template_error(error: &TemplateError, file: &Path, template: &[u8]) -> String {
    let is_stdin = file == Path::new("-");
    let path = if is_stdin { "<standard input>".to_owned() } else { file.display().to_string() };
    let range = error.range.clone().map(|range| (template, range));
    let report = Report {
        severity: Severity::Error,
        rule_id: "",
        message: &error.message,
        spots: vec![Spot { path, range, label: "" }],
        why: Vec::new(),
        help: Vec::new(),
    };
    report.text()
}
