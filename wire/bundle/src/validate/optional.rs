//! The validators that run when they are asked for, under the names of operator-sdk.

/// A validator that runs when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionalValidator {
    /// What OperatorHub.io asks of the texts of a ClusterServiceVersion.
    OperatorHubV2,
    /// Whether the capability level is one of the five.
    StandardCapabilities,
    /// Whether the categories are known.
    StandardCategories,
    /// PodDisruptionBudgets, PriorityClasses and roles that harm a cluster.
    BundleObjects,
    /// APIs that newer Kubernetes versions do not serve.
    AlphaDeprecatedApis,
    /// What experience recommends.
    GoodPractices,
    /// What the community's repositories ask of bundles with removed APIs.
    Community,
    /// The validators for OperatorHub.io in one, which others replace.
    OperatorHub,
    /// Whether the images are made for what the bundle promises to run on.
    MultiArch,
}

/// The suite of the validators that have no special purpose.
const SUITE: &str = "operatorframework";

impl OptionalValidator {
    /// Every validator, those of the suite first.
    pub const ALL: [Self; 9] = [
        Self::OperatorHubV2,
        Self::StandardCapabilities,
        Self::StandardCategories,
        Self::BundleObjects,
        Self::AlphaDeprecatedApis,
        Self::GoodPractices,
        Self::Community,
        Self::OperatorHub,
        Self::MultiArch,
    ];

    /// Returns the name it is asked for by.
    pub fn name(self) -> &'static str {
        match self {
            Self::OperatorHubV2 => "operatorhub/v2",
            Self::StandardCapabilities => "standardcapabilities",
            Self::StandardCategories => "standardcategories",
            Self::BundleObjects => "bundle-objects",
            Self::AlphaDeprecatedApis => "alpha-deprecated-apis",
            Self::GoodPractices => "good-practices",
            Self::Community => "community",
            Self::OperatorHub => "operatorhub",
            Self::MultiArch => "multiarch",
        }
    }

    /// Returns the suite it belongs to, if it does.
    pub fn suite(self) -> Option<&'static str> {
        match self {
            Self::OperatorHubV2
            | Self::StandardCapabilities
            | Self::StandardCategories
            | Self::BundleObjects
            | Self::AlphaDeprecatedApis
            | Self::GoodPractices => Some(SUITE),
            Self::Community | Self::OperatorHub | Self::MultiArch => None,
        }
    }

    /// Returns what it checks, as one sentence.
    pub fn summary(self) -> &'static str {
        match self {
            Self::OperatorHubV2 => "What OperatorHub.io asks of the texts of a bundle.",
            Self::StandardCapabilities => "The capability level is one of the five.",
            Self::StandardCategories => "The categories are known ones.",
            Self::BundleObjects => "Budgets, priority classes and roles do not harm the cluster.",
            Self::AlphaDeprecatedApis => "No API is used that newer Kubernetes does not serve.",
            Self::GoodPractices => {
                "Requests, descriptions, channel names and rights are as recommended."
            }
            Self::Community => "Bundles with removed APIs keep off newer OpenShift versions.",
            Self::OperatorHub => {
                "Deprecated: operatorhub/v2, standardcapabilities and standardcategories in one."
            }
            Self::MultiArch => {
                "Images are made for what labels and node affinities promise; asks registries."
            }
        }
    }

    /// Returns the value of one of its labels, by which selectors choose; a name may also be
    /// written without its slash.
    pub(super) fn has_label(self, key: &str, value: &str) -> bool {
        match key {
            "name" => self.name() == value || self.name().replace('/', "") == value,
            "suite" => self.suite() == Some(value),
            _ => false,
        }
    }

    /// Tells whether it has a label at all.
    pub(super) fn has_key(self, key: &str) -> bool {
        match key {
            "name" => true,
            "suite" => self.suite().is_some(),
            _ => false,
        }
    }
}
