//! A catalog to ask: look-ups by package, channel, bundle, API, label and property type.
//!
//! Views are small copies of a reference and a row number; they read the image directly and hold
//! no data of their own. Nothing here scans a table that an index can answer for.

mod bundle;
mod channel;
mod package;

use std::sync::Arc;

pub use self::{
    bundle::{Api, ApiId, Bundle, BundleId, Property},
    channel::{Channel, ChannelId, Entry, EntryId},
    package::{Package, PackageId},
};

use crate::{
    Diagnostic, FileId, GroupVersionKind, ImageBytes, ImageError, Note, Place, Rule, Severity,
    SourceFile,
    image::{Image, Section, columns},
};

/// A catalog: immutable, cheap to clone, shareable between threads.
#[derive(Debug, Clone)]
pub struct Catalog {
    image: Image,
}

/// How much a catalog holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Packages.
    pub packages: u32,
    /// Channels over all packages.
    pub channels: u32,
    /// Channel entries.
    pub entries: u32,
    /// Bundles.
    pub bundles: u32,
    /// Distinct APIs that are provided or required.
    pub apis: u32,
    /// Documents of other schemas.
    pub others: u32,
}

/// A document of a schema that Operon does not interpret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Other<'a> {
    /// Its schema.
    pub schema: &'a str,
    /// The package it belongs to; empty when there is none.
    pub package: &'a str,
    /// Its name; empty when there is none.
    pub name: &'a str,
    /// The whole document.
    pub place: Place,
}

impl Catalog {
    /// Opens an image that [`build`](crate::build) made, after checking all of it.
    pub fn open(bytes: ImageBytes) -> Result<Self, ImageError> {
        Image::open(bytes).map(|image| Self { image })
    }

    pub(crate) fn from_built(bytes: Vec<u8>) -> Self {
        let image = Image::open(Arc::new(bytes));
        Self { image: image.expect("bug: the writer lays out a consistent image") }
    }

    /// Returns the image's bytes, to be kept and opened again.
    pub fn image_bytes(&self) -> &[u8] {
        self.image.bytes()
    }

    /// Returns how much the catalog holds.
    pub fn counts(&self) -> Counts {
        Counts {
            packages: self.image.rows(Section::Packages),
            channels: self.image.rows(Section::Channels),
            entries: self.image.rows(Section::Entries),
            bundles: self.image.rows(Section::Bundles),
            apis: self.image.rows(Section::Apis),
            others: self.image.rows(Section::Others),
        }
    }

    /// Returns the files the catalog was read from, in the order of their paths.
    pub fn files(&self) -> impl ExactSizeIterator<Item = SourceFile> + '_ {
        (0..self.image.rows(Section::Files)).map(|row| {
            let word = |column| u64::from(self.image.cell(Section::Files, row, column));
            SourceFile {
                path: self.file_path(FileId(row)).to_owned(),
                size: word(columns::file::SIZE_LOW) | word(columns::file::SIZE_HIGH) << 32,
            }
        })
    }

    /// Returns the path of a file below the catalog's root.
    pub fn file_path(&self, file: FileId) -> &str {
        self.image.text_cell(Section::Files, file.0, columns::file::PATH)
    }

    /// Returns the packages in the order of their names.
    pub fn packages(&self) -> impl ExactSizeIterator<Item = Package<'_>> {
        (0..self.image.rows(Section::Packages)).map(|row| Package::new(self, row))
    }

    /// Returns the package of this name.
    pub fn package(&self, name: &str) -> Option<Package<'_>> {
        let rows = 0..self.image.rows(Section::Packages);
        let row = self.image.find(Section::Packages, rows, columns::package::NAME, name)?;
        Some(Package::new(self, row))
    }

    /// Returns the package with this id.
    pub fn package_by_id(&self, id: PackageId) -> Package<'_> {
        Package::new(self, id.0)
    }

    /// Returns the bundles, ordered by package and name.
    pub fn bundles(&self) -> impl ExactSizeIterator<Item = Bundle<'_>> {
        (0..self.image.rows(Section::Bundles)).map(|row| Bundle::new(self, row))
    }

    /// Returns the bundle with this id.
    pub fn bundle_by_id(&self, id: BundleId) -> Bundle<'_> {
        Bundle::new(self, id.0)
    }

    /// Returns the channel with this id.
    pub fn channel_by_id(&self, id: ChannelId) -> Channel<'_> {
        Channel::new(self, id.0)
    }

    /// Returns the channel entry with this id.
    pub fn entry_by_id(&self, id: EntryId) -> Entry<'_> {
        Entry::new(self, id.0)
    }

    /// Returns the bundles of this name, at most one in each package.
    pub fn bundles_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Bundle<'a>> {
        let bundle_at =
            |position: u32| Bundle::new(self, self.image.cell(Section::BundlesByName, position, 0));
        let (mut low, mut high) = (0, self.image.rows(Section::BundlesByName));
        while low < high {
            let middle = low + (high - low) / 2;
            if bundle_at(middle).name() < name {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low..self.image.rows(Section::BundlesByName))
            .map(bundle_at)
            .take_while(move |bundle| bundle.name() == name)
    }

    /// Returns every API that a bundle provides or requires, in the order of group, kind, version.
    pub fn apis(&self) -> impl ExactSizeIterator<Item = Api<'_>> {
        (0..self.image.rows(Section::Apis)).map(|row| Api::new(self, row))
    }

    /// Returns the API with this id.
    pub fn api_by_id(&self, id: ApiId) -> Api<'_> {
        Api::new(self, id.0)
    }

    /// Returns the API of this name.
    pub fn api(&self, name: &GroupVersionKind) -> Option<Api<'_>> {
        let (mut low, mut high) = (0, self.image.rows(Section::Apis));
        while low < high {
            let middle = low + (high - low) / 2;
            match Api::new(self, middle).name().cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(Api::new(self, middle)),
            }
        }
        None
    }

    /// Returns the APIs of a group and kind, ordered by version.
    pub fn api_versions<'a>(
        &'a self,
        group: &'a str,
        kind: &'a str,
    ) -> impl Iterator<Item = Api<'a>> {
        let key = |row| (Api::new(self, row).group(), Api::new(self, row).kind());
        let (mut low, mut high) = (0, self.image.rows(Section::Apis));
        while low < high {
            let middle = low + (high - low) / 2;
            if key(middle) < (group, kind) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low..self.image.rows(Section::Apis))
            .map(|row| Api::new(self, row))
            .take_while(move |api| (api.group(), api.kind()) == (group, kind))
    }

    /// Returns the bundles that carry an `olm.label` property of this value.
    pub fn with_label(&self, label: &str) -> impl Iterator<Item = Bundle<'_>> {
        self.indexed(Section::Labels, label)
    }

    /// Returns the bundles that carry a property of this type.
    pub fn with_property_type(&self, kind: &str) -> impl Iterator<Item = Bundle<'_>> {
        self.indexed(Section::Kinds, kind)
    }

    /// Returns the bundles that require a package of this name.
    pub fn requiring_package(&self, package: &str) -> impl Iterator<Item = Bundle<'_>> {
        self.indexed(Section::PackageRequirers, package)
    }

    /// Returns the property types that occur, in order.
    pub fn property_types(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.image.rows(Section::Kinds))
            .map(|row| self.image.text_cell(Section::Kinds, row, columns::kind::NAME))
    }

    /// Looks a name up in one of the tables that map a name to bundles; they have equal columns.
    fn indexed(&self, section: Section, name: &str) -> impl Iterator<Item = Bundle<'_>> {
        let rows = 0..self.image.rows(section);
        let found = self.image.find(section, rows, columns::kind::NAME, name);
        let range = found.map(|row| self.image.range(section, row, columns::kind::BUNDLES));
        range.unwrap_or(0..0).map(|position| {
            Bundle::new(self, self.image.cell(Section::IndexedBundles, position, 0))
        })
    }

    /// Returns the documents of schemas that Operon does not interpret, in the order of the files.
    pub fn others(&self) -> impl ExactSizeIterator<Item = Other<'_>> {
        use columns::other::{FILE, NAME, PACKAGE, SCHEMA};
        (0..self.image.rows(Section::Others)).map(|row| Other {
            schema: self.image.text_cell(Section::Others, row, SCHEMA),
            package: self.image.text_cell(Section::Others, row, PACKAGE),
            name: self.image.text_cell(Section::Others, row, NAME),
            place: self.place(Section::Others, row, FILE),
        })
    }

    /// Returns what was found wrong when the catalog was read and checked, in the order of places.
    pub fn diagnostics(&self) -> impl ExactSizeIterator<Item = Diagnostic> + '_ {
        (0..self.image.rows(Section::Diagnostics)).map(|row| self.diagnostic(row))
    }

    /// Tells whether upstream's tools accept the catalog.
    pub fn is_valid(&self) -> bool {
        self.diagnostics().all(|diagnostic| diagnostic.severity() != Severity::Error)
    }

    fn diagnostic(&self, row: u32) -> Diagnostic {
        use columns::{diagnostic, note, related_place};
        let image = &self.image;
        let section = Section::Diagnostics;
        let rule = Rule::from_id(image.text_cell(section, row, diagnostic::RULE));
        let has_place = image.optional(section, row, diagnostic::FILE).is_some();
        let related = image.range(section, row, diagnostic::RELATED).map(|related| {
            let label = image.text_cell(Section::RelatedPlaces, related, related_place::LABEL);
            let place = self.place(Section::RelatedPlaces, related, related_place::FILE);
            (place, label.to_owned())
        });
        let notes = image.range(section, row, diagnostic::NOTES).map(|number| {
            let text = image.text_cell(Section::Notes, number, note::TEXT).to_owned();
            match image.cell(Section::Notes, number, note::IS_HELP) {
                0 => Note::Why(text),
                _ => Note::Help(text),
            }
        });
        Diagnostic {
            rule: rule.unwrap_or(Rule::Syntax),
            message: image.text_cell(section, row, diagnostic::MESSAGE).to_owned(),
            place: has_place.then(|| self.place(section, row, diagnostic::FILE)),
            label: image.text_cell(section, row, diagnostic::LABEL).to_owned(),
            related: related.collect(),
            notes: notes.collect(),
        }
    }

    /// Reads the three columns of a place, which always stand side by side.
    fn place(&self, section: Section, row: u32, file_column: usize) -> Place {
        Place {
            file: FileId(self.image.cell(section, row, file_column)),
            start: self.image.cell(section, row, file_column + 1),
            end: self.image.cell(section, row, file_column + 2),
        }
    }
}
