//! Catalogs of bundles that tests make or bring: rendered and pushed by the program that ships.
//!
//! Bundles stand in the catalog with all their manifests, so a catalog is one image. Whether what they
//! say makes sense is no concern here.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::Installation;

/// The channel that every bundle is in.
pub const CHANNEL: &str = "stable";

/// A bundle for a catalog, alone in its package.
#[derive(Debug, Clone)]
pub struct ShelfBundle {
    /// The package.
    pub package: String,
    /// The name of its operator.
    pub operator: String,
    /// The directory with `manifests/` and `metadata/`.
    pub directory: PathBuf,
}

impl ShelfBundle {
    /// Writes a bundle of manifests; its operator is `<package>.v1.0.0`.
    pub fn write(place: &Path, package: &str, manifests: &[String]) -> Result<Self, String> {
        let directory = place.join(package);
        let write = || -> io::Result<()> {
            fs::create_dir_all(directory.join("manifests"))?;
            fs::create_dir_all(directory.join("metadata"))?;
            for (number, text) in manifests.iter().enumerate() {
                fs::write(directory.join(format!("manifests/{number}.yaml")), text)?;
            }
            fs::write(directory.join("metadata/annotations.yaml"), annotations(package))
        };
        write().map_err(|error| error.to_string())?;
        let package = package.to_owned();
        Ok(Self { operator: format!("{package}.v1.0.0"), package, directory })
    }
}

fn annotations(package: &str) -> String {
    let annotations = [
        ("mediatype", "registry+v1"),
        ("manifests", "manifests/"),
        ("metadata", "metadata/"),
        ("package", package),
        ("channels", CHANNEL),
        ("channel.default", CHANNEL),
    ];
    let lines = annotations.map(|(name, value)| {
        format!("  operators.operatorframework.io.bundle.{name}.v1: {value}\n")
    });
    format!("annotations:\n{}", lines.concat())
}

/// Makes a catalog of bundles, and puts it into the rig's registry; returns its reference.
pub fn push_shelf(
    operon: &Installation<'_>,
    name: &str,
    bundles: &[ShelfBundle],
) -> Result<String, String> {
    let mut documents = String::new();
    for ShelfBundle { package, operator, directory } in bundles {
        documents += &format!(
            "schema: olm.package\nname: {package}\ndefaultChannel: {CHANNEL}\n---\n\
             schema: olm.channel\npackage: {package}\nname: {CHANNEL}\n\
             entries: [{{ name: {operator} }}]\n---\n"
        );
        let directory = directory.display().to_string();
        documents += &operon.operon(&["bundle", "render", &directory, "--output", "yaml"])?;
        documents += "\n---\n";
    }
    operon.push_catalog(name, &documents)
}

/// Returns the manifests of a CatalogSource.
pub fn source(namespace: &str, name: &str, image: &str) -> String {
    format!(
        "
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {{ name: {name}, namespace: {namespace} }}
spec: {{ sourceType: grpc, image: \"{image}\" }}
"
    )
}

/// Returns the manifests of a namespace with an OperatorGroup of a spec.
pub fn group(namespace: &str, spec: &str) -> String {
    format!(
        "
---
apiVersion: v1
kind: Namespace
metadata: {{ name: {namespace} }}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {{ name: {namespace}, namespace: {namespace} }}
spec: {spec}
"
    )
}

/// Returns the manifests of a Subscription to a package of a catalog.
pub fn subscription(namespace: &str, package: &str, from: (&str, &str)) -> String {
    let (source_namespace, source) = from;
    format!(
        "
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {{ name: {package}, namespace: {namespace} }}
spec: {{ name: {package}, channel: {CHANNEL}, source: {source}, sourceNamespace: {source_namespace} }}
"
    )
}
