//! The rows of bundles.

use operon_version::{Release, VersionRelease};

use super::{indexes::Indexes, place_words};
use crate::{
    BundleDeclaration, Place,
    check::{BundleDraft, PackageDraft},
    image::{ImageWriter, NONE, Section},
};

/// Writes the bundles of one package.
pub(super) struct BundleWriter<'w, 'd> {
    image: &'w mut ImageWriter,
    indexes: &'w mut Indexes<'d>,
    package_row: u32,
}

impl<'w, 'd> BundleWriter<'w, 'd> {
    pub(super) fn new(
        image: &'w mut ImageWriter,
        indexes: &'w mut Indexes<'d>,
        package_row: u32,
    ) -> Self {
        Self { image, indexes, package_row }
    }

    /// Writes all bundles in the order of their names.
    pub(super) fn write_all(&mut self, package: &PackageDraft<'d>, entries: &[Vec<u32>]) {
        let ranks = version_ranks(package);
        for ((bundle, entries), rank) in package.bundles.values().zip(entries).zip(ranks) {
            self.write(bundle, entries, rank);
        }
    }

    fn write(&mut self, bundle: &BundleDraft<'d>, entries: &[u32], rank: u32) {
        let declaration = bundle.declaration;
        let row = self.image.rows(Section::Bundles);
        let properties = self.properties(declaration, row);
        let provided = self.apis(&self.indexes.provided(declaration));
        let required = self.apis(&self.indexes.required(declaration));
        self.indexes.note_bundle(declaration, row);
        let required_packages = self.required_packages(declaration, row);
        let images = self.related_images(declaration);
        let first_entry = self.image.rows(Section::BundleEntries);
        for &entry in entries {
            self.image.push(Section::BundleEntries, &[entry]);
        }
        let entries_end = self.image.rows(Section::BundleEntries);

        let package_property =
            declaration.package_properties.first().map(|property| &property.value);
        let name = self.image.text(&declaration.name.value);
        let version =
            package_property.map_or(NONE, |property| self.image.optional_text(&property.version));
        let release =
            package_property.map_or(NONE, |property| self.image.optional_text(&property.release));
        let image = self.image.optional_text(&declaration.image.value);
        let deprecation = self.image.optional_text(bundle.deprecation.unwrap_or_default());
        let summary = &declaration.summary;
        let [display_name, provider, keywords, blurb] =
            [&summary.display_name, &summary.provider, &summary.keywords, &summary.blurb]
                .map(|text| self.image.text(text));
        let [file, start, end] = place_words(declaration.place);
        self.image.push(
            Section::Bundles,
            &[
                self.package_row,
                name,
                version,
                release,
                image,
                deprecation,
                properties.0,
                properties.1,
                provided.0,
                provided.1,
                required.0,
                required.1,
                required_packages.0,
                required_packages.1,
                images.0,
                images.1,
                first_entry,
                entries_end,
                display_name,
                provider,
                keywords,
                blurb,
                declaration.object_count,
                declaration.metadata_count,
                rank,
                file,
                start,
                end,
            ],
        );
    }

    fn properties(&mut self, bundle: &'d BundleDeclaration, row: u32) -> (u32, u32) {
        let first = self.image.rows(Section::BundleProperties);
        for property in &bundle.properties {
            let kind = self.image.text(&property.kind);
            let value = self.image.text(&property.value);
            let number = self.indexes.property(self.image, kind, value);
            let Place { start, end, .. } = property.place;
            self.image.push(Section::BundleProperties, &[number, start, end]);
            self.indexes.note_kind(&property.kind, row);
        }
        (first, self.image.rows(Section::BundleProperties))
    }

    fn apis(&mut self, apis: &[u32]) -> (u32, u32) {
        let first = self.image.rows(Section::BundleApis);
        for &api in apis {
            self.image.push(Section::BundleApis, &[api]);
        }
        (first, self.image.rows(Section::BundleApis))
    }

    fn required_packages(&mut self, bundle: &BundleDeclaration, row: u32) -> (u32, u32) {
        let first = self.image.rows(Section::RequiredPackages);
        for requirement in &bundle.required_packages {
            let name = self.image.text(&requirement.package);
            let range = self.image.text(&requirement.range);
            self.image.push(Section::RequiredPackages, &[name, range, row]);
        }
        (first, self.image.rows(Section::RequiredPackages))
    }

    fn related_images(&mut self, bundle: &BundleDeclaration) -> (u32, u32) {
        let first = self.image.rows(Section::RelatedImages);
        for related in &bundle.related_images {
            let name = self.image.text(&related.name);
            let image = self.image.text(&related.image);
            self.image.push(Section::RelatedImages, &[name, image]);
        }
        (first, self.image.rows(Section::RelatedImages))
    }
}

/// Ranks the bundles of a package by version and release: 0 is unreadable, higher is newer.
fn version_ranks(package: &PackageDraft<'_>) -> Vec<u32> {
    let mut versions: Vec<(VersionRelease, usize)> = package
        .bundles
        .values()
        .enumerate()
        .filter_map(|(position, bundle)| {
            let property = bundle.declaration.package_properties.first()?;
            let release = Release::parse(&property.value.release).ok().flatten();
            Some((VersionRelease { version: bundle.version.clone()?, release }, position))
        })
        .collect();
    versions.sort();
    let mut ranks = vec![0; package.bundles.len()];
    for (rank, (_, position)) in versions.into_iter().enumerate() {
        ranks[position] = rank as u32 + 1;
    }
    ranks
}
