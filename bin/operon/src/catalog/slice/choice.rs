//! What to keep of a catalog, as it is typed for slices and mirrors.

use clap::{Args, ValueEnum};
use operon_catalog::{
    Catalog,
    slice::{KeepRule, KeepRuleError, KeptVersions, SliceOptions, SlicePlan, slice},
};

use crate::catalog::find::{find_channel, find_package};

/// What to keep.
#[derive(Debug, Args)]
pub(crate) struct SliceChoice {
    /// What to keep: a package, a channel of it, versions in a range; may be given several times
    #[arg(long, required = true, value_name = "PACKAGE[/CHANNEL][@RANGE]", value_parser = parse_rule)]
    keep: Vec<KeepRule>,
    /// Keeps only the head of each channel, except where a range is given
    #[arg(long)]
    heads_only: bool,
    /// Whether what kept bundles require is kept too
    #[arg(long, value_enum, default_value = "all")]
    dependencies: Dependencies,
}

/// Whether dependencies are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dependencies {
    /// Keeps the preferred provider of everything that is required
    All,
    /// Keeps only what is asked for
    None,
}

fn parse_rule(text: &str) -> Result<KeepRule, KeepRuleError> {
    KeepRule::parse(text)
}

impl SliceChoice {
    /// Decides what is kept; a package or channel that does not exist is an error with a suggestion.
    pub(super) fn decide<'c>(&self, catalog: &'c Catalog) -> anyhow::Result<SlicePlan<'c>> {
        for rule in &self.keep {
            let package = find_package(catalog, &rule.package)?;
            rule.channel.as_ref().map(|channel| find_channel(package, channel)).transpose()?;
        }
        Ok(slice(catalog, &self.options())?)
    }

    fn options(&self) -> SliceOptions {
        let rules = self.keep.iter().cloned().map(|rule| match rule.versions {
            KeptVersions::All if self.heads_only => {
                KeepRule { versions: KeptVersions::Head, ..rule }
            }
            KeptVersions::All | KeptVersions::Range(_) | KeptVersions::Head => rule,
        });
        SliceOptions {
            rules: rules.collect(),
            with_dependencies: match self.dependencies {
                Dependencies::All => true,
                Dependencies::None => false,
            },
        }
    }
}
