//! One package: its document, its channels and its bundles, in one file as published catalogs have
//! them.

use std::io::{self, Write};

use operon_document::encode_base64;

use super::{
    Detail,
    bundle::{BundlePlan, Requirement},
    channels::{ChannelPlan, channels},
    json::JsonWriter,
    names::{Names, prose},
    random::Random,
    shape::Shape,
    versions::{GeneratedVersion, versions},
};

/// Every so many packages, one requires another; few real ones do.
const REQUIRING_DISTANCE: usize = 21;

/// The same without bodies: who resolves on such a catalog is to meet more requirements than usual.
const SLIM_REQUIRING_DISTANCE: usize = 9;

/// How many of a requiring package's newest bundles require something.
const REQUIRING_BUNDLES: usize = 6;

/// The size of the smallest icon; the largest is 32 times as large.
const MIN_ICON_BYTES: f64 = 1500.0;

/// A package to write.
pub(crate) struct PackagePlan<'n> {
    pub(crate) name: String,
    pub(crate) versions: Vec<GeneratedVersion>,
    pub(crate) channels: Vec<ChannelPlan>,
    names: &'n Names,
    index: usize,
    shape: Shape,
    detail: Detail,
}

impl<'n> PackagePlan<'n> {
    /// Plans the package with this number.
    pub(crate) fn new(
        names: &'n Names,
        index: usize,
        shape: Shape,
        detail: Detail,
        random: &mut Random,
    ) -> Self {
        let versions = versions(shape.bundles, random);
        let channels = channels(&shape, &versions, random);
        Self { name: names.package(index), versions, channels, names, index, shape, detail }
    }

    /// Returns the channel that the package offers first.
    pub(crate) fn default_channel(&self) -> &str {
        self.channels.first().map_or("", |channel| channel.name.as_str())
    }

    /// Writes all documents of the package; returns how many bytes they have.
    pub(crate) fn write<W: Write>(&self, target: &mut W, random: &mut Random) -> io::Result<u64> {
        let mut json = match self.detail {
            Detail::Whole => JsonWriter::new(target),
            Detail::Slim => JsonWriter::compact(target),
        };
        self.write_package(&mut json, random)?;
        for channel in &self.channels {
            self.write_channel(channel, &mut json)?;
        }
        // Packages of one shape differ in size, and versions grow as their operator does.
        let factor = 0.8 + 0.4 * random.fraction();
        for bundle in 0..self.versions.len() {
            let age = (bundle as f64 + 0.5) / self.versions.len() as f64;
            let bytes = self.shape.bundle_bytes as f64 * factor * (0.75 + 0.5 * age);
            self.bundle_plan(bundle, bytes as u64).write(&mut json, random)?;
        }
        Ok(json.written())
    }

    fn write_package<W: Write>(
        &self,
        json: &mut JsonWriter<'_, W>,
        random: &mut Random,
    ) -> io::Result<()> {
        json.object(|json| {
            json.field("schema", "olm.package")?;
            json.field("name", &self.name)?;
            json.field("defaultChannel", self.default_channel())?;
            match self.detail {
                Detail::Slim => Ok(()),
                Detail::Whole => {
                    json.key("icon")?;
                    let icon = icon(random);
                    json.object(|json| {
                        json.field("base64data", &encode_base64(icon.as_bytes()))?;
                        json.field("mediatype", "image/svg+xml")
                    })?;
                    json.field("description", &prose(random, 300))
                }
            }
        })?;
        json.end_document()
    }

    fn write_channel<W: Write>(
        &self,
        channel: &ChannelPlan,
        json: &mut JsonWriter<'_, W>,
    ) -> io::Result<()> {
        json.object(|json| {
            json.field("schema", "olm.channel")?;
            json.field("name", &channel.name)?;
            json.field("package", &self.name)?;
            json.key("entries")?;
            json.list(|json| {
                for entry in &channel.entries {
                    json.object(|json| {
                        json.field("name", &self.bundle_name(entry.bundle))?;
                        if let Some(replaced) = entry.replaces {
                            json.field("replaces", &self.bundle_name(replaced))?;
                        }
                        if !entry.skips.is_empty() {
                            json.key("skips")?;
                            json.list(|json| {
                                let mut skips = entry.skips.iter();
                                skips.try_for_each(|&bundle| json.text(&self.bundle_name(bundle)))
                            })?;
                        }
                        match &entry.skip_range {
                            Some(range) => json.field("skipRange", range),
                            None => Ok(()),
                        }
                    })?;
                }
                Ok(())
            })
        })?;
        json.end_document()
    }

    fn bundle_name(&self, bundle: usize) -> String {
        format!("{}.v{}", self.name, self.versions[bundle])
    }

    fn bundle_plan(&self, bundle: usize, bytes: u64) -> BundlePlan {
        let count = self.versions.len();
        let apis = (0..self.shape.apis).map(|api| self.names.api(self.index, api)).collect();
        let distance = match self.detail {
            Detail::Whole => REQUIRING_DISTANCE,
            Detail::Slim => SLIM_REQUIRING_DISTANCE,
        };
        let is_requiring = self.index.is_multiple_of(distance)
            && self.names.packages() > 1
            && bundle + REQUIRING_BUNDLES >= count;
        // A package far away, and never the package itself.
        let other = (self.index + 1 + self.names.packages() / 2) % self.names.packages();
        let requirement = match (is_requiring && other != self.index, self.index % 2) {
            (false, _) => Requirement::Nothing,
            (true, 0) => Requirement::Api(self.names.api(other, 0)),
            (true, _) => Requirement::Package(self.names.package(other)),
        };
        BundlePlan {
            package: self.name.clone(),
            name: self.bundle_name(bundle),
            display_name: self.names.display(self.index),
            version: self.versions[bundle].to_string(),
            maturity: 3 * bundle / count,
            bytes,
            apis,
            requirement,
            detail: self.detail,
        }
    }
}

/// Returns a drawing of lines; most of a real package's document is its icon.
fn icon(random: &mut Random) -> String {
    let bytes = MIN_ICON_BYTES * (5.0 * random.fraction()).exp2();
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 512 512\"><path d=\"M0 0",
    );
    while svg.len() < bytes as usize {
        svg.push_str(&format!(" L{} {}", random.below(512), random.below(512)));
    }
    svg.push_str("\"/></svg>\n");
    svg
}
