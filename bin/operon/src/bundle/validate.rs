//! `operon bundle validate`: what upstream's validators refuse, with place, rule and a way out.

mod json;
mod options;
mod platforms;

use clap::{Args, ValueEnum};
use operon_bundle::{
    BundleFinding, OptionalValidator, Selector, Severity, ValidationOptions, validate_bundle,
};

use self::{options::OptionalValue, platforms::PlatformSurvey};
use super::open::bundle_files;
use crate::{
    catalog::render::{documents::Count, parallel::on_all_cores, report::bundle_findings},
    exit::Outcome,
    fetching::FetchOptions,
    output::{Json, Table, clean_lines, print_text, stderr_text},
};

/// Checks bundles against the validators of upstream, and against what upstream does not check
///
/// The validators of the ClusterServiceVersion, of CRDs and of the bundle as a whole always run;
/// others run when they are selected. Errors are what upstream refuses; what Operon knows beyond
/// that is a warning.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the bundles are valid (warnings do not count), 1 one has errors or cannot be read

Examples:
  operon bundle validate ./etcd/0.9.4
  operon bundle validate ./etcd/0.9.4 --select-optional suite=operatorframework --optional-values k8s-version=1.31
  operon bundle validate ./etcd/0.9.4 --select-optional name=multiarch
  operon bundle validate ./etcd/* -o json --strict
  operon bundle validate --list-optional")]
pub(crate) struct Validate {
    /// Bundles: directories with `manifests/` and `metadata/`, archives of them, or images
    #[arg(value_name = "BUNDLE", required_unless_present = "list_optional")]
    bundles: Vec<String>,
    #[command(flatten)]
    fetching: FetchOptions,
    /// How to print what was found
    #[arg(short, long, value_enum, default_value = "text")]
    output: ValidationFormat,
    /// Runs validators by name or suite: name=good-practices, suite=operatorframework
    #[arg(long, value_name = "SELECTOR")]
    select_optional: Vec<Selector>,
    /// Values for validators: k8s-version=1.31, index-path=bundle.Dockerfile
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    optional_values: Vec<OptionalValue>,
    /// Lets warnings count as errors
    #[arg(long, alias = "deny-warnings")]
    strict: bool,
    /// Lists the validators that can be selected
    #[arg(long)]
    list_optional: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ValidationFormat {
    /// Source lines and carets, for people
    Text,
    /// JSON for programs
    #[value(alias = "json-alpha1")]
    Json,
}

/// What validating one bundle gave, ready to be printed.
struct Verdict {
    text: String,
    json: Vec<Json>,
    severities: Vec<Severity>,
}

pub(crate) fn run(command: &Validate) -> anyhow::Result<Outcome> {
    if command.list_optional {
        print_text(&validators())?;
        return Ok(Outcome::Done);
    }
    let mut options = options::read(&command.optional_values)?;
    options.optional = command.select_optional.iter().flat_map(Selector::validators).collect();
    let survey = match options.optional.contains(&OptionalValidator::MultiArch) {
        true => Some(PlatformSurvey::new(&command.fetching)?),
        false => None,
    };
    let verdicts = on_all_cores(command.bundles.len(), |number| {
        judge(&command.bundles[number], command, &options, survey.as_ref())
    });
    let mut all = Vec::new();
    let mut json = Vec::new();
    let mut unread = 0;
    for verdict in verdicts {
        match verdict {
            Ok(verdict) => {
                print_text(&verdict.text)?;
                json.extend(verdict.json);
                all.extend(verdict.severities);
            }
            Err(error) => {
                unread += 1;
                stderr_text(&format!("error: {}\n", clean_lines(&format!("{error:#}"))));
            }
        }
    }
    match command.output {
        ValidationFormat::Text => print_text(&summary(&all, command.bundles.len() - unread))?,
        ValidationFormat::Json => Json::list(json).to_json().print()?,
    }
    let fails = |severity: &Severity| match severity {
        Severity::Error => true,
        Severity::Warning => command.strict,
        Severity::Advice => false,
    };
    Ok(if unread > 0 || all.iter().any(fails) { Outcome::Negative } else { Outcome::Done })
}

fn judge(
    bundle: &str,
    command: &Validate,
    options: &ValidationOptions,
    survey: Option<&PlatformSurvey>,
) -> anyhow::Result<Verdict> {
    let files = bundle_files(bundle, &command.fetching)?;
    let image_platforms = survey.map(|survey| survey.of_bundle(&files));
    let options = ValidationOptions { image_platforms, ..options.clone() };
    let findings = validate_bundle(&files, &options).findings;
    let severities = findings.iter().map(|finding: &BundleFinding| finding.severity).collect();
    let (text, json) = match command.output {
        ValidationFormat::Text => (bundle_findings(&findings, bundle, &files), Vec::new()),
        ValidationFormat::Json => (String::new(), json::findings(&findings, bundle, &files)),
    };
    Ok(Verdict { text, json, severities })
}

/// Returns a line such as "1 error, 2 warnings in 3 bundles".
fn summary(severities: &[Severity], bundles: usize) -> String {
    let count = |wanted| severities.iter().filter(|severity| **severity == wanted).count();
    let advice = match count(Severity::Advice) {
        0 => String::new(),
        number => format!(", {number} pieces of advice"),
    };
    format!(
        "{}, {}{advice} in {}\n",
        Count(count(Severity::Error), "error"),
        Count(count(Severity::Warning), "warning"),
        Count(bundles, "bundle")
    )
}

fn validators() -> String {
    let mut table = Table::new(&["NAME", "SUITE", "WHAT IT CHECKS"]);
    for validator in OptionalValidator::ALL {
        table.row([validator.name(), validator.suite().unwrap_or_default(), validator.summary()]);
    }
    table.render()
}
