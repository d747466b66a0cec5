//! Small random worlds, and the plainest possible search for their preferred answers.
//!
//! The oracle shares nothing with the resolver: it works on its own description of operators, not on
//! catalogs, and tries candidates one after the other with full rewinding.

pub(crate) mod generate;
pub(crate) mod lower;
pub(crate) mod oracle;

/// A world: catalogs, installed operators, requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) catalogs: Vec<ModelCatalog>,
    pub(crate) installed: Vec<ModelInstalled>,
    pub(crate) requests: Vec<ModelRequest>,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelCatalog {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) priority: i64,
    pub(crate) packages: Vec<ModelPackage>,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelPackage {
    pub(crate) name: String,
    pub(crate) default_channel: String,
    pub(crate) channels: Vec<ModelChannel>,
    pub(crate) bundles: Vec<ModelBundle>,
}

/// A channel: a chain from the oldest entry to the head.
#[derive(Debug, Clone)]
pub(crate) struct ModelChannel {
    pub(crate) name: String,
    pub(crate) entries: Vec<ModelEntry>,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelEntry {
    /// The number of the bundle in its package.
    pub(crate) bundle: usize,
    /// Whether the entry after the next one replaces this one and skips the one between.
    pub(crate) skips_previous: bool,
    pub(crate) skip_range: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelBundle {
    pub(crate) package: String,
    /// `(major, minor)`; the patch is always 0.
    pub(crate) version: (u64, u64),
    pub(crate) apis: Vec<usize>,
    pub(crate) label: Option<usize>,
    pub(crate) deprecated: bool,
    pub(crate) needs: Vec<Need>,
}

impl ModelBundle {
    pub(crate) fn name(&self) -> String {
        format!("{}.v{}", self.package, self.version_text())
    }

    pub(crate) fn version_text(&self) -> String {
        format!("{}.{}.0", self.version.0, self.version.1)
    }
}

/// What an operator needs.
#[derive(Debug, Clone)]
pub(crate) enum Need {
    Api(usize),
    Package(String, Range),
    Label(usize),
    All(Vec<Need>),
    Any(Vec<Need>),
    Not(Vec<Need>),
}

/// A range of versions: from here on, or up to here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Range {
    AtLeast((u64, u64)),
    Below((u64, u64)),
}

impl Range {
    pub(crate) fn contains(self, version: (u64, u64)) -> bool {
        match self {
            Range::AtLeast(lowest) => version >= lowest,
            Range::Below(end) => version < end,
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Range::AtLeast((major, minor)) => format!(">={major}.{minor}.0"),
            Range::Below((major, minor)) => format!("<{major}.{minor}.0"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ModelInstalled {
    pub(crate) bundle: ModelBundle,
}

#[derive(Debug, Clone)]
pub(crate) struct ModelRequest {
    pub(crate) name: String,
    pub(crate) package: String,
    pub(crate) channel: String,
    /// The number of the catalog.
    pub(crate) catalog: usize,
    pub(crate) starting: String,
    pub(crate) installed: String,
}

pub(crate) const NAMESPACE: &str = "operators";
