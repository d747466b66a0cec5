//! One bundle directory rendered: the document, and what there is to say about it.
//!
//! Nothing is printed here, so that many bundles can be rendered at once and reported in order.

use std::path::Path;

use operon_bundle::{Migration, RenderOptions, RenderedBundle, Severity, read_bundle, render};

use super::{directory::read_files, image::ImagePattern, report::bundle_findings};

/// Where the image reference of a bundle comes from.
#[derive(Debug, Clone)]
pub(crate) enum ImageChoice {
    /// There is none: the document has `image: ""`.
    None,
    /// The reference of the only bundle.
    Reference(String),
    /// A pattern that is filled with the bundle's names and version.
    Pattern(ImagePattern),
}

/// What rendering a bundle directory gave.
#[derive(Debug)]
pub(crate) struct BundleOutcome {
    /// The document, or why there is none.
    pub(crate) rendered: Result<RenderedBundle, String>,
    /// The findings, ready to be printed.
    pub(crate) report: String,
    /// How many findings there are.
    pub(crate) findings: usize,
    /// Whether upstream's tools would refuse the bundle.
    pub(crate) is_refused: bool,
}

/// Renders a bundle directory.
pub(crate) fn render_directory(
    directory: &Path,
    image: &ImageChoice,
    migrate: Migration,
) -> BundleOutcome {
    let files = match read_files(directory) {
        Ok(files) => files,
        Err(error) => {
            return BundleOutcome {
                rendered: Err(format!("{error:#}")),
                report: String::new(),
                findings: 0,
                is_refused: false,
            };
        }
    };
    let reading = read_bundle(&files);
    let shown = directory.to_string_lossy();
    let report = bundle_findings(&reading.findings, &shown, &files);
    let render_with = |image: String, migrate| {
        let source = reading.bundle.as_ref().map_err(ToString::to_string)?;
        render(source, &RenderOptions { image, migrate }).map_err(|error| error.to_string())
    };
    let rendered = match image {
        ImageChoice::None => render_with(String::new(), migrate),
        ImageChoice::Reference(reference) => render_with(reference.clone(), migrate),
        // The names that fill the pattern are known only once the bundle is rendered.
        ImageChoice::Pattern(pattern) => render_with(String::new(), Migration::None)
            .and_then(|bundle| render_with(pattern.fill(&bundle), migrate)),
    };
    BundleOutcome {
        rendered,
        report,
        findings: reading.findings.len(),
        is_refused: reading.findings.iter().any(|finding| finding.severity == Severity::Error),
    }
}
