//! How things that are missing are called in sentences.

use crate::conflict::Missing;

/// Says what is missing, as part of a sentence.
pub(crate) fn missing(missing: &Missing) -> String {
    match missing {
        Missing::Catalog { source } => format!("there is no catalog {source} here"),
        // Why it cannot be read is told once, about the catalog.
        Missing::Unavailable { source, .. } => format!("the catalog {source} cannot be read"),
        Missing::Package { package } => {
            format!("its catalog has no package {package}")
        }
        Missing::Channel { package, channel } => {
            format!("the package {package} has no channel {channel}")
        }
        Missing::Allowed { because, .. } => because.clone(),
        Missing::Start { channel, starting_csv, .. } => {
            format!("the channel {channel} has no bundle {starting_csv}")
        }
    }
}
