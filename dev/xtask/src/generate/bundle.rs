//! One bundle: its properties, of which the description of its APIs takes most of the room.

use std::io::{self, Write};

use super::{
    Detail,
    example::example,
    json::JsonWriter,
    names::{ApiName, capitalized, prose, word},
    random::Random,
};

/// Real descriptions are no longer than this, however large their bundle.
const MAX_DESCRIPTION_BYTES: u64 = 8 * 1024;

/// Real examples are no longer than this, however large their bundle.
const MAX_EXAMPLE_BYTES: u64 = 24 * 1024;

/// What is written behind the description of the APIs, besides the description of the operator.
const CLOSING_BYTES: u64 = 2600;

/// What a bundle requires.
#[derive(Debug)]
pub(crate) enum Requirement {
    Nothing,
    /// An API in its first version, from whoever provides it.
    Api(ApiName),
    /// Any version of a package.
    Package(String),
}

/// A bundle to write.
#[derive(Debug)]
pub(crate) struct BundlePlan {
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) display_name: String,
    pub(crate) version: String,
    /// 0 for the oldest third of the versions, 2 for the newest.
    pub(crate) maturity: usize,
    /// About how large its document is to be.
    pub(crate) bytes: u64,
    pub(crate) apis: Vec<ApiName>,
    pub(crate) requirement: Requirement,
    pub(crate) detail: Detail,
}

impl BundlePlan {
    /// Writes the document.
    pub(crate) fn write<W: Write>(
        &self,
        json: &mut JsonWriter<'_, W>,
        random: &mut Random,
    ) -> io::Result<()> {
        let end = json.written() + self.bytes;
        json.object(|json| {
            json.field("schema", "olm.bundle")?;
            json.field("name", &self.name)?;
            json.field("package", &self.package)?;
            json.field("image", &self.image("bundle"))?;
            json.key("properties")?;
            json.list(|json| {
                self.write_provided(json)?;
                self.write_requirement(json)?;
                property(json, "olm.package", |json| {
                    json.field("packageName", &self.package)?;
                    json.field("version", &self.version)
                })?;
                match self.detail {
                    Detail::Slim => Ok(()),
                    Detail::Whole => property(json, "olm.csv.metadata", |json| {
                        self.write_metadata(json, end, random)
                    }),
                }
            })?;
            match self.detail {
                Detail::Slim => Ok(()),
                Detail::Whole => self.write_images(json),
            }
        })?;
        json.end_document()
    }

    fn write_images<W: Write>(&self, json: &mut JsonWriter<'_, W>) -> io::Result<()> {
        json.key("relatedImages")?;
        json.list(|json| {
            for image in [self.image("bundle"), self.image("controller")] {
                json.object(|json| {
                    json.field("name", "")?;
                    json.field("image", &image)
                })?;
            }
            Ok(())
        })
    }

    fn image(&self, part: &str) -> String {
        format!("registry.example.io/operators/{}-{part}:v{}", self.package, self.version)
    }

    /// The first API is always served in its first stable version, so that others may require it.
    fn api_version(&self, api: usize) -> &'static str {
        match (api, self.maturity) {
            (0, _) | (_, 2) => "v1",
            (_, 1) => "v1beta1",
            (_, _) => "v1alpha1",
        }
    }

    fn write_provided<W: Write>(&self, json: &mut JsonWriter<'_, W>) -> io::Result<()> {
        for (number, api) in self.apis.iter().enumerate() {
            property(json, "olm.gvk", |json| write_api(json, api, self.api_version(number)))?;
        }
        Ok(())
    }

    fn write_requirement<W: Write>(&self, json: &mut JsonWriter<'_, W>) -> io::Result<()> {
        match &self.requirement {
            Requirement::Nothing => Ok(()),
            Requirement::Api(api) => {
                property(json, "olm.gvk.required", |json| write_api(json, api, "v1"))
            }
            Requirement::Package(package) => property(json, "olm.package.required", |json| {
                json.field("packageName", package)?;
                json.field("versionRange", ">=0.1.0")
            }),
        }
    }

    /// Writes the description of the operator, filled up to the size of the bundle with
    /// descriptions of the fields of its APIs.
    fn write_metadata<W: Write>(
        &self,
        json: &mut JsonWriter<'_, W>,
        end: u64,
        random: &mut Random,
    ) -> io::Result<()> {
        let description_bytes = (self.bytes / 9).min(MAX_DESCRIPTION_BYTES);
        json.key("annotations")?;
        json.object(|json| {
            let bytes = (self.bytes / 7).min(MAX_EXAMPLE_BYTES) as usize;
            json.field("alm-examples", &example(&self.apis, bytes, random))?;
            json.field("capabilities", "Seamless Upgrades")?;
            json.field("categories", "Database")?;
            json.field("containerImage", &self.image("controller"))?;
            json.field("description", &prose(random, 80))?;
            json.field("repository", &format!("https://example.io/{}", self.package))
        })?;
        json.key("apiServiceDefinitions")?;
        json.object(|_| Ok(()))?;
        json.key("crdDescriptions")?;
        json.object(|json| {
            json.key("owned")?;
            json.list(|json| {
                let descriptors_end = end.saturating_sub(description_bytes + CLOSING_BYTES);
                self.write_owned(json, descriptors_end, random)
            })
        })?;
        json.field("description", &prose(random, description_bytes as usize))?;
        json.field("displayName", &self.display_name)?;
        self.write_closing(json, random)
    }

    fn write_owned<W: Write>(
        &self,
        json: &mut JsonWriter<'_, W>,
        end: u64,
        random: &mut Random,
    ) -> io::Result<()> {
        for (number, api) in self.apis.iter().enumerate() {
            // What is left is divided among the APIs that are left.
            let left = end.saturating_sub(json.written()) / (self.apis.len() - number) as u64;
            let api_end = json.written() + left;
            json.object(|json| {
                json.field("name", &format!("{}.{}", api.plural, api.group))?;
                json.field("version", self.api_version(number))?;
                json.field("kind", &api.kind)?;
                json.field("displayName", &api.kind)?;
                json.field("description", &prose(random, 60))?;
                if json.written() >= api_end {
                    return Ok(());
                }
                json.key("specDescriptors")?;
                json.list(|json| {
                    while json.written() < api_end {
                        write_descriptor(json, random)?;
                    }
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    fn write_closing<W: Write>(
        &self,
        json: &mut JsonWriter<'_, W>,
        random: &mut Random,
    ) -> io::Result<()> {
        json.key("installModes")?;
        json.list(|json| {
            for mode in ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"] {
                json.object(|json| {
                    json.field("type", mode)?;
                    json.key("supported")?;
                    json.boolean(mode == "AllNamespaces" || random.percent(60))
                })?;
            }
            Ok(())
        })?;
        json.key("keywords")?;
        json.list(|json| (0..5).try_for_each(|_| json.text(word(random))))?;
        json.key("links")?;
        json.list(|json| {
            for name in ["Website", "Documentation", "Sources"] {
                json.object(|json| {
                    json.field("name", name)?;
                    let page = name.to_lowercase();
                    json.field("url", &format!("https://example.io/{}/{page}", self.package))
                })?;
            }
            Ok(())
        })?;
        json.key("maintainers")?;
        json.list(|json| {
            json.object(|json| {
                json.field("email", &format!("{}@example.io", self.package))?;
                json.field("name", &format!("The {} authors", self.display_name))
            })
        })?;
        json.field("maturity", ["alpha", "beta", "stable"][self.maturity])?;
        json.field("minKubeVersion", "1.25.0")?;
        json.key("provider")?;
        json.object(|json| json.field("name", &self.display_name))
    }
}

fn property<W: Write>(
    json: &mut JsonWriter<'_, W>,
    property_type: &str,
    value: impl FnOnce(&mut JsonWriter<'_, W>) -> io::Result<()>,
) -> io::Result<()> {
    json.object(|json| {
        json.field("type", property_type)?;
        json.key("value")?;
        json.object(|json| value(json))
    })
}

fn write_api<W: Write>(
    json: &mut JsonWriter<'_, W>,
    api: &ApiName,
    version: &str,
) -> io::Result<()> {
    json.field("group", &api.group)?;
    json.field("kind", &api.kind)?;
    json.field("version", version)
}

fn write_descriptor<W: Write>(json: &mut JsonWriter<'_, W>, random: &mut Random) -> io::Result<()> {
    let [first, second, third] = [word(random), word(random), word(random)];
    let bytes = 40 + random.below(120);
    json.object(|json| {
        json.field("path", &format!("{first}.{second}.{third}"))?;
        json.field("displayName", &format!("{} {third}", capitalized(second)))?;
        json.field("description", &prose(random, bytes))?;
        if random.percent(50) {
            return Ok(());
        }
        json.key("x-descriptors")?;
        json.list(|json| json.text("urn:alm:descriptor:com.tectonic.ui:text"))
    })
}
