//! The rules a catalog is checked by, each with a stable id.
//!
//! Ids are part of the contract with scripts and CI: they are never reused for another meaning.

use crate::Severity;

macro_rules! rules {
    ($($severity:ident $variant:ident $id:literal $summary:literal)*) => {
        /// A rule that a catalog is checked by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $summary] $variant,)*
        }

        impl Rule {
            /// Every rule, errors first.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// Returns the stable id, such as `channel-two-heads`.
            pub fn id(self) -> &'static str {
                match self {
                    $(Rule::$variant => $id,)*
                }
            }

            /// Returns how much a finding of this rule matters.
            pub fn severity(self) -> Severity {
                match self {
                    $(Rule::$variant => Severity::$severity,)*
                }
            }

            /// Returns what a finding of this rule means, as one sentence.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Rule::$variant => $summary,)*
                }
            }

            /// Returns the rule with this id.
            pub fn from_id(id: &str) -> Option<Rule> {
                match id {
                    $($id => Some(Rule::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

rules! {
    // reading a file (stage 0)
    Error UnreadableFile "unreadable-file" "A file of the catalog cannot be read."
    Error NoCatalog "no-catalog" "The directory holds no catalog."
    Error FileTooLarge "file-too-large" "A file or document is larger than the limit."
    Error Syntax "syntax" "A document is neither JSON nor YAML."
    Error NotAnObject "not-an-object" "A document is a list or a scalar instead of an object."
    Error DuplicateKey "duplicate-key" "Two keys of a document differ only in case."
    Error HeaderNotText "header-not-text" "`schema`, `package` or `name` is not a string."
    Error MissingSchema "missing-schema" "A document does not say what it is."
    Error WrongType "wrong-type" "A field has another type than its schema says."
    Error BundleObjectUnreadable "bundle-object-unreadable" "An inlined manifest is neither JSON nor YAML."

    // packages
    Error PackageWithoutName "package-without-name" "A package has no name."
    Error DuplicatePackage "duplicate-package" "Two packages have the same name."
    Error PackageNameInvalid "package-name-invalid" "A package name is not a DNS label."
    Error DefaultChannelUnset "default-channel-unset" "A package names no default channel."
    Error DefaultChannelMissing "default-channel-missing" "A package's default channel does not exist."
    Error PackageWithoutChannels "package-without-channels" "A package has no channel."
    Error DuplicateVersion "duplicate-version" "Two bundles of a package have the same version."

    // channels
    Error ChannelUnknownPackage "channel-unknown-package" "A channel belongs to a package that does not exist."
    Error ChannelWithoutName "channel-without-name" "A channel has no name."
    Error DuplicateChannel "duplicate-channel" "Two channels of a package have the same name."
    Error ChannelEmpty "channel-empty" "A channel has no entries."
    Error DuplicateEntry "duplicate-entry" "Two entries of a channel have the same name."
    Error EntryWithoutName "entry-without-name" "A channel entry has no name."
    Error EntryWithoutBundle "entry-without-bundle" "A channel entry names a bundle that does not exist."
    Error ChannelNoHead "channel-no-head" "Every entry of a channel is replaced or skipped by another."
    Error ChannelTwoHeads "channel-two-heads" "More than one entry of a channel is replaced or skipped by none."
    Error ChannelCycle "channel-cycle" "The replaces of a channel run in a circle."
    Error ChannelStranded "channel-stranded" "Entries of a channel cannot be updated to its head."
    Error SkipsEmptyName "skips-empty-name" "An entry skips an empty name."
    Error SkipRangeInvalid "skip-range-invalid" "A skipRange cannot be read."

    // bundles
    Error BundleWithoutName "bundle-without-name" "A bundle has no name."
    Error BundleWithoutPackage "bundle-without-package" "A bundle does not say which package it belongs to."
    Error BundleUnknownPackage "bundle-unknown-package" "A bundle belongs to a package that does not exist."
    Error DuplicateBundle "duplicate-bundle" "Two bundles of a package have the same name."
    Error BundleInNoChannel "bundle-in-no-channel" "A bundle is in no channel."
    Error BundleWithoutImage "bundle-without-image" "A bundle has neither an image nor inlined manifests."
    Error BundleNameNotNormalized "bundle-name-not-normalized" "A bundle with a release is not named after it."
    Error PropertyMalformed "property-malformed" "The value of a known property has the wrong form."
    Error PackagePropertyCount "package-property-count" "A bundle has none or several `olm.package` properties."
    Error PackagePropertyMismatch "package-property-mismatch" "The `olm.package` property names another package."
    Error ImageInvalid "image-invalid" "An image reference cannot be read."
    Error VersionInvalid "version-invalid" "A bundle's version is not a strict semantic version."
    Error ReleaseInvalid "release-invalid" "A bundle's release cannot be read."
    Error ReleaseWithBuildMetadata "release-with-build-metadata" "A version has both a release and build metadata."

    // deprecations
    Error DeprecationWithoutPackage "deprecation-without-package" "Deprecations do not say which package they are about."
    Error DeprecationUnknownPackage "deprecation-unknown-package" "Deprecations are about a package that does not exist."
    Error DuplicateDeprecations "duplicate-deprecations" "A package has two documents of deprecations."
    Error DeprecationWithoutSchema "deprecation-without-schema" "A deprecation does not say what it is about."
    Error DeprecationUnknownSchema "deprecation-unknown-schema" "A deprecation is about something that cannot be deprecated."
    Error DeprecationPackageNamed "deprecation-package-named" "A deprecation of the package itself gives a name."
    Error DeprecationNotFound "deprecation-not-found" "A deprecation is about a channel or bundle that does not exist."
    Error DuplicateDeprecation "duplicate-deprecation" "The same thing is deprecated twice."
    Error DeprecationWithoutMessage "deprecation-without-message" "A deprecation has no message."

    // what upstream accepts without a word
    Warning IgnoredText "ignored-text" "Text behind the end of a document is not read."
    Warning DuplicateOther "duplicate-other" "Two documents of a custom schema have the same package and name."
    Warning TemplateInCatalog "template-in-catalog" "A template is not a catalog document."
    Warning UnknownOlmSchema "unknown-olm-schema" "A schema with the reserved prefix `olm.` is not known."
    Warning RequiredRangeInvalid "required-range-invalid" "The version range of a required package cannot be read."
    Warning RequirementIncomplete "requirement-incomplete" "A required or provided API lacks its group, version or kind."
    Warning ConstraintInvalid "constraint-invalid" "An `olm.constraint` cannot be used."
    Warning ConstraintQuestionable "constraint-questionable" "An `olm.constraint` does not mean what it seems to mean."
    Warning ConstraintExpensive "constraint-expensive" "A rule of an `olm.constraint` nests so many loops that it can be too expensive to evaluate."
    Warning EmptyConstraintBeside "empty-constraint-beside" "A constraint stands beside its `value` instead of inside it."
    Warning SeveralCsvMetadata "several-csv-metadata" "A bundle has more than one `olm.csv.metadata`."
    Warning DuplicateApi "duplicate-api" "A bundle lists the same provided API twice."
    Warning ChannelUnorderable "channel-unorderable" "Registries accept a channel that no resolver can order."
    Warning ReplacesHigherVersion "replaces-higher-version" "An entry replaces a higher version than its own."
    Warning SkipRangeCoversItself "skip-range-covers-itself" "A skipRange includes the entry's own version."
    Warning VersionUnreachable "version-unreachable" "A version has no way to the head of its channel."
    Warning SkippedElsewhereOffered "skipped-elsewhere-offered" "A bundle skipped in one channel is the head of another."
    Warning HeadDeprecated "head-deprecated" "Deprecations leave no undeprecated way."
    Warning IconInvalid "icon-invalid" "A package's icon is empty, or not what it says it is."
    Warning PackageProperties "package-properties" "Properties of a package or channel are not used by any resolver."
    Warning RelatedImageEmpty "related-image-empty" "A related image has no image."
    Warning RangeTrap "range-trap" "A version range does not mean what it seems to mean."

    Warning BundleImageByTag "bundle-image-by-tag" "A bundle's image is named by a tag, which can be moved to another image."

    // best practices (lint)
    Advice RangeAdvice "range-advice" "A version range admits more than it seems to."
    Advice NoMinimumVersion "no-minimum-version" "A required package has no minimum version."
    Advice NarrowMaximum "narrow-maximum" "A required package has a narrow maximum version."
    Advice TwoMechanisms "two-mechanisms" "A dependency is required both by package and by API."
    Advice AmbiguousProvider "ambiguous-provider" "A required API is provided by more than one package."
    Advice RequirementUnsatisfiable "requirement-unsatisfiable" "Nothing in this catalog meets a requirement."
    Advice VersionsDifferByGeneration "versions-differ-by-generation" "OLM v0 and v1 choose different updates."
    Advice NotAlone "not-alone" "`not` stands alone in a constraint."
    Advice LegacyBundleObject "legacy-bundle-object" "Bundles inline their manifests in the deprecated, bulky form."
}
