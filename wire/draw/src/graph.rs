//! The value that every drawing starts from: the upgrade graph of one package, channel by channel.
//!
//! It holds what is drawn and in which order. It deliberately holds no versions and no ranges as
//! such, only their text: whoever builds it has compared and matched them already.
//!
//! References between nodes are positions in [`Lane::nodes`]. A position that is out of bounds is
//! left out of every drawing rather than refused, so that one bad edge does not hide the rest.

/// Describes the upgrade graph of one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageGraph {
    /// The name of the package, such as `etcd`.
    pub package: String,
    /// The message of the package's deprecation, when it is deprecated.
    pub deprecation: Option<String>,
    /// The channels in the order in which they are drawn.
    pub lanes: Vec<Lane>,
}

/// Describes one channel of the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The name of the channel, such as `stable`.
    pub channel: String,
    /// Whether this is the default channel of the package.
    pub is_default: bool,
    /// The message of the channel's deprecation, when it is deprecated.
    pub deprecation: Option<String>,
    /// The versions, newest first: the head, then along the chain; a skipped version after the one
    /// that skips it; a virtual one where it is referenced; the stranded ones last.
    pub nodes: Vec<Node>,
    /// What is wrong with the channel as a whole, such as `two heads`; drawn as a warning.
    pub problem: Option<String>,
}

/// Describes one version in one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The full name of the bundle, such as `etcdoperator.v0.9.4`.
    pub name: String,
    /// The short text written beside the sign, usually the version.
    pub label: String,
    /// The part that this version plays in the channel.
    pub role: Role,
    /// The message of the version's deprecation, when it is deprecated.
    pub deprecation: Option<String>,
    /// The version that this one replaces.
    pub replaces: Option<usize>,
    /// The versions that this one skips.
    pub skips: Vec<usize>,
    /// The range of versions that may be upgraded directly to this one.
    pub skip_range: Option<SkipRange>,
}

/// Describes a range of versions that may be upgraded directly to one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkipRange {
    /// The range as it was written, such as `>=1.0.0 <1.3.0`.
    pub text: String,
    /// The nodes of the same lane whose version the range includes, the node itself left out.
    pub covers: Vec<usize>,
}

/// Says which part a version plays in its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The version that a fresh installation gets: 0.10.0 when nothing replaces or skips 0.10.0.
    Head,
    /// An older version on the way to the head: 0.9.1 when 0.10.0 replaces 0.9.1.
    Chain,
    /// A version never to be installed afresh: 0.9.2 when 0.10.0 skips 0.9.2.
    Skipped,
    /// A name without content: 0.9.0 when 0.9.1 replaces it and the catalog does not hold it.
    Virtual,
    /// A version with no way to the head: 0.8.0 when only the skipped 0.9.2 replaces it.
    Stranded,
}
