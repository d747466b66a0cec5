//! What `path`, `matrix`, `diff` and `slice` have in common: how channels are chosen and rules named.

use anyhow::{anyhow, bail};
use operon_catalog::{Channel, Package, graph::Rules, nearest};

use crate::{catalog::find::find_channel, output::clean};

/// Returns the channels of these names, or all channels when none is named.
pub(in crate::catalog) fn chosen_channels<'c>(
    package: Package<'c>,
    names: &[String],
) -> anyhow::Result<Vec<Channel<'c>>> {
    if package.channels().len() == 0 {
        bail!("package `{}` has no channels", clean(package.name()));
    }
    if names.is_empty() {
        return Ok(package.channels().collect());
    }
    let channels = names.iter().map(|name| find_channel(package, name));
    let mut channels = channels.collect::<anyhow::Result<Vec<_>>>()?;
    channels.sort_by_key(|channel| channel.id());
    channels.dedup_by_key(|channel| channel.id());
    Ok(channels)
}

/// Makes an error that suggests the known name nearest to what was typed.
pub(in crate::catalog) fn not_found<'n>(
    message: &str,
    typed: &str,
    known: impl Iterator<Item = &'n str>,
) -> anyhow::Error {
    let message = clean(message);
    match nearest(typed, known) {
        Some(nearest) => anyhow!("{message}\nhint: did you mean `{}`?", clean(nearest)),
        None => anyhow!("{message}"),
    }
}

/// Returns the name people use for a set of rules.
pub(in crate::catalog) fn rules_name(rules: Rules) -> &'static str {
    match rules {
        Rules::V0 => "OLM v0",
        Rules::V1 => "OLM v1",
    }
}

/// Returns the name programs use for a set of rules.
pub(in crate::catalog) fn rules_key(rules: Rules) -> &'static str {
    match rules {
        Rules::V0 => "v0",
        Rules::V1 => "v1",
    }
}
