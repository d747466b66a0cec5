//! What a decision says: the plan of the slice, and the reasons for people.

use std::{error::Error, fmt};

use crate::{Bundle, Channel, Entry, Other, Package};

/// What is kept of a catalog, and why it is not exactly what was asked for.
#[derive(Debug)]
pub struct SlicePlan<'a> {
    /// The packages that are kept, by name.
    pub packages: Vec<PackagePlan<'a>>,
    /// What had to be changed to keep the rest valid.
    pub repairs: Vec<Repair>,
    /// Versions that were asked for and cannot be kept.
    pub left_out: Vec<LeftOut>,
    /// Bundles that are kept because others require them.
    pub provisions: Vec<Provision<'a>>,
    /// Requirements that nothing in the catalog meets.
    pub unmet: Vec<UnmetRequirement<'a>>,
}

/// What is kept of a package.
#[derive(Debug)]
pub struct PackagePlan<'a> {
    /// The package.
    pub package: Package<'a>,
    /// Its default channel, which may be another one than before.
    pub default_channel: &'a str,
    /// The channels that are kept, by name.
    pub channels: Vec<ChannelPlan<'a>>,
    /// The bundles that are kept, by name.
    pub bundles: Vec<Bundle<'a>>,
    /// Documents of other schemas that belong to the package.
    pub others: Vec<Other<'a>>,
}

/// What is kept of a channel.
#[derive(Debug)]
pub struct ChannelPlan<'a> {
    /// The channel.
    pub channel: Channel<'a>,
    /// The head.
    pub head: &'a str,
    /// The entries that are kept, in the order they are written.
    pub entries: Vec<EntryPlan<'a>>,
}

/// An entry that is kept.
#[derive(Debug)]
pub struct EntryPlan<'a> {
    /// The entry.
    pub entry: Entry<'a>,
    /// The name it replaces, which may be none instead of what it was.
    pub replaces: Option<&'a str>,
    /// Names to skip beyond those it skips already.
    pub added_skips: Vec<&'a str>,
    /// Why it is kept.
    pub cause: Cause,
}

/// Why an entry is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A rule asks for it.
    Asked,
    /// A kept bundle requires it.
    Required,
    /// It lies between what is kept and the head.
    Between,
}

/// A change that keeps the slice valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// The default channel is not kept, and another one takes its place.
    DefaultChannel {
        /// The package.
        package: String,
        /// The default channel before.
        before: String,
        /// The kept channel with the highest head.
        after: String,
    },
    /// An entry skips a name that it did not skip, because what skipped it is not kept.
    SkipAdded {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
        /// The entry that is changed.
        entry: String,
        /// The name it skips now.
        skipped: String,
    },
    /// A skipped entry no longer replaces what is the head now.
    ReplacesRemoved {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
        /// The entry that is changed.
        entry: String,
        /// The name it replaced.
        replaced: String,
    },
}

impl Repair {
    /// Returns the package that is changed.
    pub fn package(&self) -> &str {
        match self {
            Repair::DefaultChannel { package, .. }
            | Repair::SkipAdded { package, .. }
            | Repair::ReplacesRemoved { package, .. } => package,
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::DefaultChannel { package, before, after } => write!(
                formatter,
                "{package}: the default channel is `{after}` now, `{before}` is not kept"
            ),
            Repair::SkipAdded { package, channel, entry, skipped } => write!(
                formatter,
                "{package}/{channel}: `{entry}` skips `{skipped}` now, what did is not kept or did \
                 not lead to the head"
            ),
            Repair::ReplacesRemoved { package, channel, entry, replaced } => write!(
                formatter,
                "{package}/{channel}: `{entry}` no longer replaces `{replaced}`, which is the head now"
            ),
        }
    }
}

/// A version that was asked for and cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The package.
    pub package: String,
    /// The channel.
    pub channel: String,
    /// The entry's name.
    pub name: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a skipped version cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOutReason {
    /// Only an entry that is not kept updates it.
    UpdatedByDropped {
        /// The oldest such entry.
        update: String,
    },
    /// Nothing updates it, and it is not older than the kept head.
    NewerThanHead {
        /// The kept head.
        head: String,
    },
    /// Nothing that can be installed from the channel was asked for.
    NothingInstallable,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, channel, name, reason } = self;
        write!(formatter, "{package}/{channel}: `{name}` is skipped and ")?;
        match reason {
            LeftOutReason::UpdatedByDropped { update } => {
                write!(formatter, "only `{update}`, which is not kept, updates it")
            }
            LeftOutReason::NewerThanHead { head } => {
                write!(formatter, "nothing leads from it to the kept head `{head}`")
            }
            LeftOutReason::NothingInstallable => {
                write!(formatter, "nothing that can be installed from the channel is asked for")
            }
        }
    }
}

/// A bundle that is kept because another one requires it.
#[derive(Debug, Clone)]
pub struct Provision<'a> {
    /// The channel it is kept in.
    pub channel: Channel<'a>,
    /// The bundle.
    pub bundle: Bundle<'a>,
    /// What is required, as people read it.
    pub requirement: String,
    /// The bundle that requires it.
    pub required_by: Bundle<'a>,
}

impl fmt::Display for Provision<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}/{}: `{}`, because `{}` requires {}",
            self.bundle.package().name(),
            self.channel.name(),
            self.bundle.name(),
            self.required_by.name(),
            self.requirement
        )
    }
}

/// A requirement that nothing in the catalog meets.
#[derive(Debug, Clone)]
pub struct UnmetRequirement<'a> {
    /// What is required, as people read it.
    pub requirement: String,
    /// The bundle that requires it.
    pub required_by: Bundle<'a>,
}

impl fmt::Display for UnmetRequirement<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "nothing in this catalog provides what `{}` requires: {}",
            self.required_by.name(),
            self.requirement
        )
    }
}

/// Why nothing can be cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SliceError {
    /// Nothing was asked for.
    NoRules,
    /// A rule names a package that does not exist.
    UnknownPackage(String),
    /// A rule names a channel that its package does not have.
    UnknownChannel {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
    },
    /// A channel that is asked for has no single head, or runs in a circle.
    BrokenChannel {
        /// The package.
        package: String,
        /// The channel.
        channel: String,
    },
    /// A rule matches nothing that can be installed.
    NothingMatches {
        /// The rule as it is written.
        rule: String,
        /// Versions that match, but are skipped in every channel that was asked for.
        skipped: Vec<String>,
    },
    /// The catalog is beyond [`MAX_SLICE_STEPS`](super::MAX_SLICE_STEPS).
    TooLarge,
}

impl fmt::Display for SliceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SliceError::NoRules => write!(formatter, "nothing is asked to be kept"),
            SliceError::UnknownPackage(name) => {
                write!(formatter, "there is no package `{name}` in this catalog")
            }
            SliceError::UnknownChannel { package, channel } => {
                write!(formatter, "package `{package}` has no channel `{channel}`")
            }
            SliceError::BrokenChannel { package, channel } => write!(
                formatter,
                "channel `{channel}` of package `{package}` has no single head or runs in a circle, \
                 so what lies between two versions cannot be told"
            ),
            SliceError::NothingMatches { rule, skipped } if skipped.is_empty() => {
                write!(formatter, "nothing matches `{rule}`")
            }
            SliceError::NothingMatches { rule, skipped } => write!(
                formatter,
                "only skipped versions match `{rule}`, which nobody can install: `{}`; keep what \
                 updates them as well",
                skipped.join("`, `")
            ),
            SliceError::TooLarge => {
                write!(formatter, "the catalog is too large to be cut; keep fewer packages at once")
            }
        }
    }
}

impl Error for SliceError {}
