//! Names and sentences, made from short lists of words.
//!
//! Everything about a package that another package may refer to follows from its number alone.

use super::random::Random;

const QUALITIES: &[&str] = &[
    "amber", "basalt", "cobalt", "copper", "coral", "crimson", "dusky", "ebony", "fallow", "frost",
    "garnet", "golden", "granite", "hazel", "indigo", "ivory", "jade", "lilac", "lunar", "maple",
    "marble", "misty", "ochre", "olive", "onyx", "opal", "pearl", "quartz", "russet", "sable",
    "saffron", "scarlet", "silver", "slate", "solar", "tawny", "umber", "velvet", "violet",
    "willow",
];

const THINGS: &[&str] = &[
    "anchor",
    "archive",
    "beacon",
    "broker",
    "cache",
    "canvas",
    "catalog",
    "chart",
    "cipher",
    "compass",
    "conduit",
    "courier",
    "database",
    "depot",
    "engine",
    "forge",
    "gateway",
    "harbour",
    "index",
    "journal",
    "ledger",
    "lantern",
    "library",
    "loom",
    "mailbox",
    "meter",
    "mirror",
    "monitor",
    "orchard",
    "pipeline",
    "portal",
    "queue",
    "registry",
    "relay",
    "router",
    "scheduler",
    "sensor",
    "stream",
    "vault",
    "warehouse",
];

const ROLES: &[&str] = &[
    "Cluster", "Backup", "Restore", "User", "Topic", "Pool", "Policy", "Gateway", "Instance",
    "Schedule", "Binding", "Profile", "Quota", "Replica", "Secret", "Template", "Tenant", "Volume",
    "Webhook", "Zone",
];

const WORDS: &[&str] = &[
    "a",
    "the",
    "of",
    "to",
    "and",
    "for",
    "with",
    "when",
    "each",
    "every",
    "cluster",
    "database",
    "instance",
    "namespace",
    "resource",
    "operator",
    "controller",
    "workload",
    "storage",
    "volume",
    "network",
    "policy",
    "secret",
    "certificate",
    "endpoint",
    "replica",
    "backup",
    "restore",
    "upgrade",
    "rollout",
    "schedule",
    "metrics",
    "monitoring",
    "logging",
    "tracing",
    "queue",
    "stream",
    "topic",
    "tenant",
    "quota",
    "limit",
    "memory",
    "processor",
    "request",
    "timeout",
    "interval",
    "label",
    "selector",
    "annotation",
    "image",
    "registry",
    "version",
    "channel",
    "configures",
    "creates",
    "deletes",
    "enables",
    "keeps",
    "manages",
    "reports",
    "reconciles",
    "optional",
    "default",
    "desired",
    "observed",
    "current",
    "maximum",
    "minimum",
    "number",
    "name",
];

/// An API that a package provides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiName {
    pub(crate) group: String,
    pub(crate) kind: String,
    /// The name of its resources, in the plural.
    pub(crate) plural: String,
}

/// The names of a catalog's packages.
pub(crate) struct Names {
    packages: usize,
}

impl Names {
    /// Names this many packages.
    pub(crate) fn new(packages: usize) -> Self {
        Self { packages }
    }

    /// Returns how many packages there are.
    pub(crate) fn packages(&self) -> usize {
        self.packages
    }

    /// Returns the name of a package.
    pub(crate) fn package(&self, index: usize) -> String {
        let (quality, thing) = words_of(index);
        match index / (QUALITIES.len() * THINGS.len()) {
            0 => format!("{quality}-{thing}-operator"),
            round => format!("{quality}-{thing}-operator-{}", round + 1),
        }
    }

    /// Returns what people call a package.
    pub(crate) fn display(&self, index: usize) -> String {
        let (quality, thing) = words_of(index);
        format!("{} {}", capitalized(quality), capitalized(thing))
    }

    /// Returns one of the APIs of a package.
    pub(crate) fn api(&self, index: usize, api: usize) -> ApiName {
        let (_, thing) = words_of(index);
        let role = ROLES[api % ROLES.len()];
        let kind = match api / ROLES.len() {
            0 => format!("{}{role}", capitalized(thing)),
            round => format!("{}{role}{}", capitalized(thing), round + 1),
        };
        let group = format!("{}.example.io", self.package(index));
        ApiName { group, plural: format!("{}s", kind.to_lowercase()), kind }
    }
}

/// Returns a sentence, or several, of about this many bytes.
pub(crate) fn prose(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    let mut words_left = 0;
    while text.len() < bytes {
        if words_left == 0 {
            if !text.is_empty() {
                text.push_str(if random.percent(20) { ".\n\n" } else { ". " });
            }
            words_left = 6 + random.below(10);
            text.push_str(&capitalized(random.pick(WORDS)));
        } else {
            text.push(' ');
            text.push_str(random.pick(WORDS));
        }
        words_left -= 1;
    }
    text.push('.');
    text
}

/// Returns a word such as those that paths are made of.
pub(crate) fn word(random: &mut Random) -> &'static str {
    random.pick(WORDS)
}

/// Returns a word with a capital.
pub(crate) fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn words_of(index: usize) -> (&'static str, &'static str) {
    // The two lists are walked at different speeds, so that neighbours look different.
    let quality = (index + index / THINGS.len()) % QUALITIES.len();
    (QUALITIES[quality], THINGS[index % THINGS.len()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_labels() {
        let names = Names::new(5000);
        let packages: BTreeSet<String> = (0..5000).map(|index| names.package(index)).collect();
        assert_eq!(packages.len(), 5000);
        let is_label_part =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(packages.iter().all(|name| name.len() < 64 && name.bytes().all(is_label_part)));
        let kinds: BTreeSet<String> = (0..60).map(|api| names.api(7, api).kind).collect();
        assert_eq!(kinds.len(), 60);
    }

    #[test]
    fn prose_is_as_long_as_asked() {
        let mut random = Random::new(1, 1);
        for bytes in [0, 1, 50, 5000] {
            let length = prose(&mut random, bytes).len();
            assert!((bytes..bytes + 32).contains(&length), "{length} for {bytes}");
        }
    }
}
