//! What makes a cluster use a mirror: the CatalogSource, and where images are really fetched from.
//!
//! The documents of the catalog keep the names that images had; a cluster that is told of the mirror
//! fetches them from there. A layout on the disk is no place that a cluster fetches from, so nothing is
//! written for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use anyhow::Context;
use operon_image::CopyTarget;

use super::{Mirror, catalog_image::CatalogImage, destination::Destination, wish::Wish};
use crate::{catalog::build::CONFIGS_DIRECTORY, output::Json};

/// The files that are written.
pub(super) const CATALOG_SOURCE: &str = "catalogsource.yaml";
pub(super) const DIGEST_MIRRORS: &str = "imagedigestmirrorset.yaml";
pub(super) const TAG_MIRRORS: &str = "imagetagmirrorset.yaml";
pub(super) const REGISTRIES: &str = "registries.conf";

/// How often a cluster looks whether the mirror has a newer catalog.
const POLL_INTERVAL: &str = "30m";

/// The repositories of a mirror, by those that they stand for.
#[derive(Debug, Default)]
struct Repositories {
    mirrors: BTreeMap<String, String>,
    /// Those of which an image is named by its tag alone.
    by_tag: BTreeSet<String>,
}

/// Makes the directory, if files are written into it at all.
pub(super) fn make_directory(command: &Mirror) -> anyhow::Result<()> {
    let directory = &command.output_dir;
    match command.to {
        Destination::Registry(_) => fs::create_dir_all(directory)
            .with_context(|| format!("cannot make `{}`", directory.display())),
        Destination::Layout(_) => Ok(()),
    }
}

/// Writes the files into the directory, and returns their paths.
pub(super) fn write(
    command: &Mirror,
    wishes: &[Wish],
    catalog: &CatalogImage,
) -> anyhow::Result<Vec<PathBuf>> {
    if let Destination::Layout(_) = command.to {
        return Ok(Vec::new());
    }
    let repositories = repositories(wishes);
    let name = format!("operon-{}", catalog.name);
    let digests = repositories.mirrors.keys().map(String::as_str).collect();
    let tags: BTreeSet<&str> = repositories.by_tag.iter().map(String::as_str).collect();
    let digest_set = ("ImageDigestMirrorSet", "imageDigestMirrors");
    let mut files = vec![
        (CATALOG_SOURCE, catalog_source(catalog)),
        (DIGEST_MIRRORS, repositories.mirror_set(digest_set, &name, &digests)),
    ];
    if !tags.is_empty() {
        let tag_set = ("ImageTagMirrorSet", "imageTagMirrors");
        files.push((TAG_MIRRORS, repositories.mirror_set(tag_set, &name, &tags)));
    }
    let insecure = &command.catalog.fetching.insecure_registry;
    let is_insecure = command.to.host().is_some_and(|host| insecure.iter().any(|one| one == host));
    files.push((REGISTRIES, repositories.registries_conf(is_insecure)));

    make_directory(command)?;
    let mut written = Vec::new();
    for (name, text) in files {
        let path = command.output_dir.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

fn repositories(wishes: &[Wish]) -> Repositories {
    let mut repositories = Repositories::default();
    for (source, target) in wishes.iter().filter_map(|wish| wish.route.as_ref().ok()) {
        if let CopyTarget::Registry(target) = target {
            repositories.mirrors.insert(source.name(), target.name());
            if source.digest().is_none() {
                repositories.by_tag.insert(source.name());
            }
        }
    }
    repositories
}

impl Repositories {
    fn mirror_set(
        &self,
        (kind, list): (&str, &'static str),
        name: &str,
        sources: &BTreeSet<&str>,
    ) -> String {
        let mirrored = |(source, mirror): (&String, &String)| {
            Json::Object(vec![
                ("source", Json::text(source)),
                ("mirrors", Json::texts([mirror.as_str()])),
            ])
        };
        let wanted = self.mirrors.iter().filter(|(source, _)| sources.contains(source.as_str()));
        let set = Json::Object(vec![
            ("apiVersion", Json::text("config.openshift.io/v1")),
            ("kind", Json::text(kind)),
            ("metadata", Json::Object(vec![("name", Json::text(name))])),
            ("spec", Json::Object(vec![(list, Json::list(wanted.map(mirrored)))])),
        ]);
        set.to_yaml_text()
    }

    /// Writes a fragment for `/etc/containers/registries.conf.d`. References hold no character that
    /// TOML would read as something else.
    fn registries_conf(&self, is_insecure: bool) -> String {
        let mut text = "# Where the images of a mirrored catalog are fetched from.\n".to_owned();
        for (source, mirror) in &self.mirrors {
            text += &format!(
                "\n[[registry]]\nprefix = \"{source}\"\nlocation = \"{source}\"\n\n\
                 [[registry.mirror]]\nlocation = \"{mirror}\"\n"
            );
            if is_insecure {
                text += "insecure = true\n";
            }
        }
        text
    }
}

/// Writes the CatalogSource. The image holds files alone, so the cluster is told to serve them itself.
fn catalog_source(catalog: &CatalogImage) -> String {
    let content = vec![("catalogDir", Json::text(format!("/{CONFIGS_DIRECTORY}")))];
    let pod = vec![
        ("securityContextConfig", Json::text("restricted")),
        ("extractContent", Json::Object(content)),
    ];
    let poll = Json::Object(vec![("interval", Json::text(POLL_INTERVAL))]);
    let source = Json::Object(vec![
        ("apiVersion", Json::text("operators.coreos.com/v1alpha1")),
        ("kind", Json::text("CatalogSource")),
        ("metadata", Json::Object(vec![("name", Json::text(&catalog.name))])),
        (
            "spec",
            Json::Object(vec![
                ("sourceType", Json::text("grpc")),
                ("image", Json::text(catalog.shown())),
                ("grpcPodConfig", Json::Object(pod)),
                ("updateStrategy", Json::Object(vec![("registryPoll", poll)])),
            ]),
        ),
    ]);
    source.to_yaml_text()
}
