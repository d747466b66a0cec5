//! Findings: what a bundle says that its author probably does not mean, with the place.
//!
//! A finding never stops the reading; what stops it is a [`BundleError`](crate::BundleError).

use std::ops::Range;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Upstream's tools refuse the bundle: an owned CRD that is not among the manifests.
    Error,
    /// Upstream's tools drop something without a word: a manifest that is not YAML.
    Warning,
    /// A better way exists, or upstream's tools would read less: a second document in a file.
    Advice,
}

impl Severity {
    /// Returns the word a reader sees.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        }
    }
}

/// A finding about a file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFinding {
    /// The path of the file, as it was given; empty for a finding about the bundle as a whole.
    pub file: String,
    /// The bytes of the file it is about; empty when it is about the whole file.
    pub range: Range<usize>,
    /// How much it matters.
    pub severity: Severity,
    /// The stable id of the rule that found it, see [`BundleRule::id`].
    pub rule_id: &'static str,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

macro_rules! rules {
    ($($severity:ident $variant:ident $id:literal $summary:literal)*) => {
        /// A rule that a bundle is checked by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BundleRule {
            $(#[doc = $summary] $variant,)*
        }

        impl BundleRule {
            /// Every rule, errors first.
            pub const ALL: &'static [BundleRule] = &[$(BundleRule::$variant,)*];

            /// Returns the stable id, such as `bundle-second-csv`.
            pub fn id(self) -> &'static str {
                match self {
                    $(BundleRule::$variant => $id,)*
                }
            }

            /// Returns how much a finding of this rule matters.
            pub fn severity(self) -> Severity {
                match self {
                    $(BundleRule::$variant => Severity::$severity,)*
                }
            }

            /// Returns what a finding of this rule means, as one sentence.
            pub fn summary(self) -> &'static str {
                match self {
                    $(BundleRule::$variant => $summary,)*
                }
            }
        }
    };
}

rules! {
    // what upstream's tools refuse
    Error OwnedDefinitionMissing "bundle-owned-crd-missing" "The CSV owns a CRD version that is not among the manifests."
    Error DefinitionNameInvalid "bundle-crd-name-invalid" "The CSV names a CRD without its group."
    Error DefinitionForeignGroup "bundle-crd-foreign-group" "A CRD has another API group than apiextensions.k8s.io."
    Error FieldWrongType "bundle-field-wrong-type" "A field of the CSV has another type than its schema says."
    Error PropertyMalformed "bundle-property-malformed" "The value of a known property or dependency type has the wrong form."
    Error PackageMismatch "bundle-package-mismatch" "The CSV's properties name another package than the annotations."
    Error Unreadable "bundle-unreadable" "The files are no bundle, or lack what every bundle has."

    // what the validators of upstream that always run refuse
    Error ServiceVersionNameInvalid "bundle-csv-name-invalid" "The name of the CSV, or of the one it replaces, cannot be the name of an object and a label."
    Error ApiVersionMissing "bundle-api-version-missing" "The CSV has no apiVersion."
    Error RequiredFieldMissing "bundle-required-field-missing" "The CSV lacks a field that every CSV must have."
    Error InstallModesMissing "bundle-install-modes-missing" "The CSV names no install mode."
    Error InstallModesUnsupported "bundle-install-modes-unsupported" "The CSV supports none of its install modes."
    Error ConversionInstallModes "bundle-conversion-install-modes" "A CSV with a conversion webhook supports other install modes than AllNamespaces."
    Error MinKubeVersionInvalid "bundle-min-kube-version-invalid" "The minKubeVersion is not a strict semantic version."
    Error AnnotationCase "bundle-annotation-case" "An annotation that OLM reads is written in another case."
    Error ExamplesUnreadable "bundle-examples-unreadable" "The examples in the CSV's annotations are not a JSON list of objects."
    Error ExampleWithoutApi "bundle-example-without-api" "An example is of an API that the CSV does not own."
    Error DefinitionInvalid "bundle-crd-invalid" "A CRD breaks a rule of the API server."
    Error DefinitionNotOwned "bundle-crd-not-owned" "A CRD among the manifests is not owned by the CSV."
    Error DefinitionRepeated "bundle-crd-repeated" "An API is defined by two CRDs of the bundle."
    Error ServiceAccountTaken "bundle-service-account-taken" "A ServiceAccount of the bundle is the one of a deployment, which OLM makes itself."
    Error TooLarge "bundle-too-large" "The compressed manifests do not fit into a ConfigMap."
    Error NameWithoutRelease "bundle-name-without-release" "A bundle with a release is not named after its package, version and release."
    Error ReleaseAmbiguous "bundle-release-ambiguous" "A release is given together with another way to say it."
    Error AnnotationMissing "bundle-annotation-missing" "The bundle lacks an annotation that tools find its parts by, or it has another format."
    Error RelatedImageInvalid "bundle-related-image-invalid" "A related image is missing or not an image reference."

    // what the validators of upstream that are asked for refuse
    Error HubProviderMissing "hub-provider-missing" "The CSV does not name its provider."
    Error HubMaintainerInvalid "hub-maintainer-invalid" "A maintainer lacks a name or a valid email address."
    Error HubLinkInvalid "hub-link-invalid" "A link lacks a name or a valid URL."
    Error HubVersionMissing "hub-version-missing" "The CSV has no version."
    Error HubIconInvalid "hub-icon-invalid" "The icon is not one picture with its data and a known media type."
    Error CapabilityUnknown "hub-capability-unknown" "The capability level is none of the five."
    Error CategoryUnknown "hub-category-unknown" "A category is not in the list of categories."
    Error RemovedApi "bundle-removed-api" "An API is used that the targeted Kubernetes versions do not serve."
    Error DisruptionBudgetBlocks "object-disruption-budget-blocks" "A PodDisruptionBudget keeps nodes from being drained."
    Error PriorityClassGlobal "object-priority-class-global" "A PriorityClass makes itself the default of the cluster."
    Error RoleEditsConstraints "object-role-edits-constraints" "A role may change the default SecurityContextConstraints."
    Error NoDeployment "practice-no-deployment" "The CSV installs no deployment."
    Error ImagePlatformMissing "multiarch-platform-missing" "An image is not made for a platform that the bundle promises."
    Error OpenShiftLimitMissing "community-openshift-limit-missing" "Removed APIs are used, and nothing keeps the bundle off OpenShift 4.9."

    // what upstream's tools drop without a word
    Warning ManifestUnreadable "bundle-manifest-unreadable" "A manifest is neither JSON nor YAML."
    Warning ManifestWithoutKind "bundle-manifest-without-kind" "A manifest does not say which kind of object it is."
    Warning ManifestEmpty "bundle-manifest-empty" "A manifest file holds no object."
    Warning ManifestPassedOver "bundle-manifest-passed-over" "A file below `manifests/` is hidden or in a sub-directory, so it is not read."
    Warning IgnoredText "bundle-ignored-text" "Text behind the end of a document is not read."
    Warning SecondServiceVersion "bundle-second-csv" "A bundle has more than one ClusterServiceVersion."
    Warning MetadataUnreadable "bundle-metadata-unreadable" "A metadata file is neither JSON nor YAML."
    Warning MetadataRepeated "bundle-metadata-repeated" "Annotations, dependencies or properties are given twice."
    Warning MetadataWrongType "bundle-metadata-wrong-type" "A metadata file does not have the form its keys promise."
    Warning AnnotationPropertiesUnreadable "bundle-csv-properties-unreadable" "The CSV annotation `olm.properties` is not a list of properties."
    Warning UnknownField "bundle-unknown-field" "A field of the CSV is not known, perhaps misspelt."
    Warning UnknownAnnotation "bundle-unknown-annotation" "An annotation of the CSV is nearly one that OLM reads."
    Warning RelatedImageIncomplete "bundle-related-image-incomplete" "A related image of the CSV lacks its image."
    Warning UnsupportedKind "bundle-unsupported-kind" "OLM does not install objects of this kind from a bundle."

    // what breaks later
    Warning VersionInvalid "bundle-version-invalid" "The CSV's version is not a strict semantic version."
    Warning ReleaseInvalid "bundle-release-invalid" "The CSV's release cannot be read."
    Warning SkipRangeInvalid "bundle-skip-range-invalid" "The annotation `olm.skipRange` cannot be read."
    Warning DependencyIncomplete "bundle-dependency-incomplete" "A dependency lacks a part of what it names."
    Warning DependencyRangeInvalid "bundle-dependency-range-invalid" "The version range of a dependency cannot be read."
    Warning WrongApiVersion "bundle-wrong-api-version" "The CSV or a CRD has an apiVersion that clusters do not serve."
    Warning ChannelsBlank "bundle-channels-blank" "The list of channels contains blanks or empty names."

    // what the validators of upstream warn of
    Warning ExamplesMissing "bundle-examples-missing" "The CSV's annotations hold no examples."
    Warning ExamplesRepeated "bundle-examples-repeated" "The CSV's annotations hold examples twice."
    Warning ApiWithoutExample "bundle-api-without-example" "An API that the CSV owns has no example."
    Warning InstallModeRepeated "bundle-install-mode-repeated" "An install mode is named twice."
    Warning MinKubeVersionMissing "bundle-min-kube-version-missing" "The CSV does not say which Kubernetes it needs."
    Warning PropertiesAnnotation "bundle-properties-annotation" "The CSV states properties in an annotation."
    Warning NearlyTooLarge "bundle-nearly-too-large" "The compressed manifests nearly fill a ConfigMap."
    Warning HubIconMissing "hub-icon-missing" "The CSV has no icon."
    Warning ApiRemovedLater "bundle-api-removed-later" "An API is used that newer Kubernetes versions do not serve."
    Warning RoleEditsBudgets "object-role-edits-budgets" "A role may create or change PodDisruptionBudgets."
    Warning RequestsMissing "practice-requests-missing" "A container does not request CPU and memory."
    Warning DescriptionMissing "practice-description-missing" "A CRD of the CSV has no description."
    Warning ChannelName "practice-channel-name" "A channel does not follow the naming convention."
    Warning RoleCreatesDefinitions "practice-role-creates-crds" "The operator may create CRDs itself."
    Warning BundleName "practice-bundle-name" "The bundle is not named `<operator>.v<version>`."
    Warning OpenShiftLabelUnchecked "community-openshift-label-unchecked" "Removed APIs are used, and the label with the OpenShift versions was not given."
    Warning ValidatorDeprecated "validator-deprecated" "A validator was asked for that others replace."
    Warning ValidatorLeftOut "validator-left-out" "A validator was asked for, and what it must know was not found out."
    Warning ImagePlatformsUnknown "multiarch-image-unknown" "What an image is made for could not be found out."
    Warning PlatformLabelIgnored "multiarch-label-ignored" "A label that should promise a platform has a value that does not count."
    Warning PlatformLabelMissing "multiarch-label-missing" "All images are made for a platform that no label promises."
    Warning PlacementExcludes "multiarch-placement-excludes" "A deployment keeps its pods off a platform that the bundle promises."
    Warning PlacementAdmits "multiarch-placement-admits" "A deployment lets its pods run on a platform that an image is not made for."
    Warning MoreFindings "bundle-more-findings" "A rule found more than is listed."

    // what could be better
    Advice PlacementUnsaid "multiarch-placement-unsaid" "A deployment does not say on which architectures its pods run."
    Advice SeveralDocuments "bundle-several-documents" "A manifest file has several documents, of which upstream's tools read the first."
    Advice WrappedProperty "bundle-wrapped-property" "A property is wrapped in `property:`, a spelling that upstream's tools do not read."
    Advice BundleAnnotationInService "bundle-annotation-in-csv" "A bundle annotation stands in the CSV, where nothing reads it."
}

/// The findings made so far.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<BundleFinding>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        rule: BundleRule,
        file: &str,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> &mut BundleFinding {
        self.0.push(BundleFinding {
            file: file.to_owned(),
            range,
            severity: rule.severity(),
            rule_id: rule.id(),
            message: message.into(),
            help: None,
        });
        self.0.last_mut().expect("bug: a finding was just pushed")
    }

    /// Returns the findings in the order of files and places.
    pub(crate) fn into_sorted(mut self) -> Vec<BundleFinding> {
        sort(&mut self.0);
        self.0
    }
}

/// Puts findings into the order of files and places.
pub(crate) fn sort(findings: &mut [BundleFinding]) {
    findings.sort_by(|left, right| {
        let key = |finding: &BundleFinding| (finding.range.start, finding.rule_id);
        let by_file = left.file.cmp(&right.file).then_with(|| key(left).cmp(&key(right)));
        by_file.then_with(|| left.message.cmp(&right.message))
    });
}

impl BundleFinding {
    pub(crate) fn help(&mut self, text: impl Into<String>) {
        self.help = Some(text.into());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rule_ids_are_unique_and_errors_come_first() {
        let ids: BTreeSet<_> = BundleRule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), BundleRule::ALL.len());
        assert!(BundleRule::ALL.is_sorted_by_key(|rule| rule.severity()));
        assert!(BundleRule::ALL.iter().all(|rule| rule.summary().ends_with('.')));
    }
}
