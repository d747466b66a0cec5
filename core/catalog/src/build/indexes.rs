//! The tables that answer "who provides, requires, carries": collected over all bundles.

use std::collections::{BTreeMap, HashMap};

use crate::{
    BundleDeclaration, GroupVersionKind,
    check::Draft,
    image::{ImageWriter, Section},
};

/// What is collected while bundles are written.
pub(super) struct Indexes<'d> {
    /// Every API in order; its position is its number.
    apis: Vec<&'d GroupVersionKind>,
    api_numbers: HashMap<&'d GroupVersionKind, u32>,
    providers: Vec<Vec<u32>>,
    requirers: Vec<Vec<u32>>,
    properties: HashMap<(u32, u32), u32>,
    kinds: BTreeMap<&'d str, Vec<u32>>,
    labels: BTreeMap<&'d str, Vec<u32>>,
    package_requirers: BTreeMap<&'d str, Vec<u32>>,
    names: Vec<(&'d str, u32)>,
}

impl<'d> Indexes<'d> {
    /// Numbers the APIs of all bundles.
    pub(super) fn new(draft: &Draft<'d>) -> Self {
        let declarations = draft
            .packages
            .values()
            .flat_map(|package| package.bundles.values())
            .map(|bundle| bundle.declaration);
        let mut apis: Vec<&'d GroupVersionKind> = declarations
            .flat_map(|bundle| bundle.provided_apis.iter().chain(&bundle.required_apis))
            .collect();
        apis.sort_unstable();
        apis.dedup();
        let api_numbers = apis.iter().copied().zip(0..).collect();
        Self {
            providers: vec![Vec::new(); apis.len()],
            requirers: vec![Vec::new(); apis.len()],
            apis,
            api_numbers,
            properties: HashMap::new(),
            kinds: BTreeMap::new(),
            labels: BTreeMap::new(),
            package_requirers: BTreeMap::new(),
            names: Vec::new(),
        }
    }

    /// Returns the numbers of the APIs a bundle provides.
    pub(super) fn provided(&self, bundle: &BundleDeclaration) -> Vec<u32> {
        bundle.provided_apis.iter().map(|api| self.api_numbers[api]).collect()
    }

    /// Returns the numbers of the APIs a bundle requires.
    pub(super) fn required(&self, bundle: &BundleDeclaration) -> Vec<u32> {
        bundle.required_apis.iter().map(|api| self.api_numbers[api]).collect()
    }

    /// Returns the number of a property, which is stored only once.
    pub(super) fn property(&mut self, image: &mut ImageWriter, kind: u32, value: u32) -> u32 {
        *self
            .properties
            .entry((kind, value))
            .or_insert_with(|| image.push(Section::Properties, &[kind, value]))
    }

    /// Notes that a bundle carries a property of a type.
    pub(super) fn note_kind(&mut self, kind: &'d str, row: u32) {
        push_once(self.kinds.entry(kind).or_default(), row);
    }

    /// Notes what a bundle provides, requires and is labelled with.
    pub(super) fn note_bundle(&mut self, bundle: &'d BundleDeclaration, row: u32) {
        self.names.push((&bundle.name.value, row));
        for api in &bundle.provided_apis {
            push_once(&mut self.providers[self.api_numbers[api] as usize], row);
        }
        for api in &bundle.required_apis {
            push_once(&mut self.requirers[self.api_numbers[api] as usize], row);
        }
        for label in &bundle.labels {
            push_once(self.labels.entry(label).or_default(), row);
        }
        for requirement in &bundle.required_packages {
            push_once(self.package_requirers.entry(&requirement.package).or_default(), row);
        }
    }

    /// Writes the collected tables.
    pub(super) fn write(mut self, image: &mut ImageWriter) {
        self.names.sort_unstable();
        for (_, row) in &self.names {
            image.push(Section::BundlesByName, &[*row]);
        }
        for (number, api) in self.apis.iter().enumerate() {
            let [group, version, kind] =
                [&api.group, &api.version, &api.kind].map(|text| image.text(text));
            let providers = push_rows(image, Section::ApiBundles, &self.providers[number]);
            let requirers = push_rows(image, Section::ApiBundles, &self.requirers[number]);
            image.push(
                Section::Apis,
                &[group, version, kind, providers.0, providers.1, requirers.0, requirers.1],
            );
        }
        for (section, index) in [
            (Section::Kinds, &self.kinds),
            (Section::Labels, &self.labels),
            (Section::PackageRequirers, &self.package_requirers),
        ] {
            for (name, rows) in index {
                let name = image.text(name);
                let (first, end) = push_rows(image, Section::IndexedBundles, rows);
                image.push(section, &[name, first, end]);
            }
        }
    }
}

/// Bundles are noted in order, so a repetition is always the last one.
fn push_once(rows: &mut Vec<u32>, row: u32) {
    if rows.last() != Some(&row) {
        rows.push(row);
    }
}

fn push_rows(image: &mut ImageWriter, section: Section, rows: &[u32]) -> (u32, u32) {
    let first = image.rows(section);
    for &row in rows {
        image.push(section, &[row]);
    }
    (first, image.rows(section))
}
