//! The tables of an image: their columns, and what each column refers to.
//!
//! The description is the single source of the layout: row widths, column numbers and the checks
//! made when an image is opened all come from it.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// A number.
    Number,
    /// A text, by number.
    Text,
    /// A text, or none.
    OptionalText,
    /// A row of another table.
    Row(Section),
    /// A row of another table, or none.
    OptionalRow(Section),
    /// A position in another table, its end included: one side of a range of rows.
    Bound(Section),
}

macro_rules! tables {
    ($($section:ident $module:ident { $($column:ident: $kind:expr,)* })*) => {
        /// A table of the image.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub(crate) enum Section {
            $($section,)*
        }

        impl Section {
            /// Every table, in the order of the image.
            pub(crate) const ALL: &'static [Section] = &[$(Section::$section,)*];

            /// Returns the columns of the table.
            pub(crate) const fn columns(self) -> &'static [Column] {
                use {Column::*, Section::*};
                match self {
                    $($section => &[$($kind,)*],)*
                }
            }

            /// Returns the number of words in a row.
            pub(crate) const fn width(self) -> usize {
                self.columns().len()
            }
        }

        /// The columns of each table, by name.
        #[expect(dead_code, reason = "rows are written whole; not every column is read by name")]
        pub(crate) mod columns {
            $(
                pub(crate) mod $module {
                    tables!(@number 0; $($column)*);
                }
            )*
        }
    };
    (@number $number:expr;) => {};
    (@number $number:expr; $column:ident $($rest:ident)*) => {
        pub(crate) const $column: usize = $number;
        tables!(@number $number + 1; $($rest)*);
    };
}

tables! {
    TextEnds text { END: Number, }
    Files file { PATH: Text, SIZE_LOW: Number, SIZE_HIGH: Number, }
    Packages package {
        NAME: Text, DEFAULT_CHANNEL: Text, DESCRIPTION: Text, DEPRECATION: OptionalText,
        CHANNELS: Bound(Channels), CHANNELS_END: Bound(Channels),
        BUNDLES: Bound(Bundles), BUNDLES_END: Bound(Bundles),
        HAS_ICON: Number, FILE: Row(Files), START: Number, END: Number,
    }
    Channels channel {
        PACKAGE: Row(Packages), NAME: Text, DEPRECATION: OptionalText,
        ENTRIES: Bound(Entries), ENTRIES_END: Bound(Entries),
        ORDER: Bound(Order), ORDER_END: Bound(Order),
        HEAD: OptionalRow(Entries), FILE: Row(Files), START: Number, END: Number,
    }
    Entries entry {
        CHANNEL: Row(Channels), NAME: Text, BUNDLE: OptionalRow(Bundles), REPLACES: OptionalText,
        SKIPS: Bound(Skips), SKIPS_END: Bound(Skips), SKIP_RANGE: OptionalText,
        FILE: Row(Files), START: Number, END: Number,
    }
    Skips skip { NAME: Text, }
    Order order { ENTRY: Row(Entries), }
    Bundles bundle {
        PACKAGE: Row(Packages), NAME: Text, VERSION: OptionalText, RELEASE: OptionalText,
        IMAGE: OptionalText, DEPRECATION: OptionalText,
        PROPERTIES: Bound(BundleProperties), PROPERTIES_END: Bound(BundleProperties),
        PROVIDED: Bound(BundleApis), PROVIDED_END: Bound(BundleApis),
        REQUIRED: Bound(BundleApis), REQUIRED_END: Bound(BundleApis),
        REQUIRED_PACKAGES: Bound(RequiredPackages), REQUIRED_PACKAGES_END: Bound(RequiredPackages),
        IMAGES: Bound(RelatedImages), IMAGES_END: Bound(RelatedImages),
        ENTRIES: Bound(BundleEntries), ENTRIES_END: Bound(BundleEntries),
        DISPLAY_NAME: Text, PROVIDER: Text, KEYWORDS: Text, BLURB: Text,
        OBJECTS: Number, METADATAS: Number, VERSION_RANK: Number,
        FILE: Row(Files), START: Number, END: Number,
    }
    BundleProperties bundle_property { PROPERTY: Row(Properties), START: Number, END: Number, }
    Properties property { KIND: Text, VALUE: Text, }
    BundleApis bundle_api { API: Row(Apis), }
    RequiredPackages required_package { NAME: Text, RANGE: Text, BUNDLE: Row(Bundles), }
    RelatedImages related_image { NAME: Text, IMAGE: Text, }
    BundleEntries bundle_entry { ENTRY: Row(Entries), }
    BundlesByName bundle_by_name { BUNDLE: Row(Bundles), }
    Apis api {
        GROUP: Text, VERSION: Text, KIND: Text,
        PROVIDERS: Bound(ApiBundles), PROVIDERS_END: Bound(ApiBundles),
        REQUIRERS: Bound(ApiBundles), REQUIRERS_END: Bound(ApiBundles),
    }
    ApiBundles api_bundle { BUNDLE: Row(Bundles), }
    Kinds kind { NAME: Text, BUNDLES: Bound(IndexedBundles), BUNDLES_END: Bound(IndexedBundles), }
    Labels label { NAME: Text, BUNDLES: Bound(IndexedBundles), BUNDLES_END: Bound(IndexedBundles), }
    PackageRequirers package_requirer {
        NAME: Text, BUNDLES: Bound(IndexedBundles), BUNDLES_END: Bound(IndexedBundles),
    }
    IndexedBundles indexed_bundle { BUNDLE: Row(Bundles), }
    Others other {
        SCHEMA: Text, PACKAGE: Text, NAME: Text, FILE: Row(Files), START: Number, END: Number,
    }
    Diagnostics diagnostic {
        RULE: Text, MESSAGE: Text, LABEL: Text,
        FILE: OptionalRow(Files), START: Number, END: Number,
        RELATED: Bound(RelatedPlaces), RELATED_END: Bound(RelatedPlaces),
        NOTES: Bound(Notes), NOTES_END: Bound(Notes),
    }
    RelatedPlaces related_place { FILE: Row(Files), START: Number, END: Number, LABEL: Text, }
    Notes note { IS_HELP: Number, TEXT: Text, }
}
