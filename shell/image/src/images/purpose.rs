//! What an image is fetched for, and which of its directories that needs, as its labels say.

use std::collections::BTreeMap;

use crate::{PullError, store::TreeKind};

/// The label that says where the documents of a catalog lie.
const CONFIGS_LABEL: &str = "operators.operatorframework.io.index.configs.v1";
/// The label of catalogs that keep a database instead.
const DATABASE_LABEL: &str = "operators.operatorframework.io.index.database.v1";
/// The label that says where the manifests of a bundle lie.
const MANIFESTS_LABEL: &str = "operators.operatorframework.io.bundle.manifests.v1";
/// The label that says where the metadata of a bundle lie.
const METADATA_LABEL: &str = "operators.operatorframework.io.bundle.metadata.v1";

/// What an image is fetched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be opened as a catalog.
    Catalog,
    /// To be installed.
    Bundle,
}

/// A directory of the image, and the name it gets in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    /// The path in the image, without slashes at its ends; empty for everything.
    pub(super) path: String,
    /// The path in the tree; empty for its root.
    pub(super) name: &'static str,
}

impl Purpose {
    pub(super) fn kind(self) -> TreeKind {
        match self {
            Self::Catalog => TreeKind::Catalog,
            Self::Bundle => TreeKind::Bundle,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Catalog => "file-based catalog",
            Self::Bundle => "bundle",
        }
    }

    pub(super) fn not_this(self, reference: &str, problem: String) -> PullError {
        PullError::NotThis { reference: reference.to_owned(), expected: self.noun(), problem }
    }

    /// Returns the directories that are kept of an image.
    pub(super) fn wishes(
        self,
        reference: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<Wish>, PullError> {
        let path_of = |label: &str, usual: &str| {
            let path = labels.get(label).map_or(usual, String::as_str);
            let clean = path.trim().trim_start_matches("./").trim_matches('/');
            let is_inside =
                clean.split('/').all(|part| part != ".." && part != "." || clean == ".");
            if is_inside && !clean.contains("//") {
                return Ok(if clean == "." { String::new() } else { clean.to_owned() });
            }
            let problem = format!("its label `{label}` is `{path}`, which is no path in an image");
            Err(self.not_this(reference, problem))
        };
        match self {
            Self::Catalog if labels.contains_key(CONFIGS_LABEL) => {
                Ok(vec![Wish { path: path_of(CONFIGS_LABEL, "configs")?, name: "" }])
            }
            Self::Catalog => Err(self.not_this(reference, no_catalog(labels))),
            Self::Bundle => Ok(vec![
                Wish { path: path_of(MANIFESTS_LABEL, "manifests")?, name: "manifests" },
                Wish { path: path_of(METADATA_LABEL, "metadata")?, name: "metadata" },
            ]),
        }
    }

    /// Returns the directory in which there must be files; a catalog may have them anywhere.
    pub(super) fn needs(self) -> &'static str {
        match self {
            Self::Catalog => "",
            Self::Bundle => "manifests/",
        }
    }
}

fn no_catalog(labels: &BTreeMap<String, String>) -> String {
    if labels.contains_key(DATABASE_LABEL) {
        return "it is an SQLite index, a form that is no longer supported; convert it once with \
                `opm migrate` of an older release, or use a newer tag"
            .to_owned();
    }
    if labels.contains_key(MANIFESTS_LABEL) {
        return "it is a bundle; bundles are listed in catalogs, and shown with `operon bundle show`"
            .to_owned();
    }
    format!(
        "it has no label `{CONFIGS_LABEL}`, which says where its documents lie; is it the right image?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(purpose: Purpose, labels: &[(&str, &str)]) -> String {
        let labels = labels.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        match purpose.wishes("image", &labels.collect()) {
            Ok(wishes) => {
                let shown = wishes.iter().map(|wish| format!("{}={}", wish.name, wish.path));
                shown.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn labels_say_what_is_kept() {
        let catalog = |path: &str| paths(Purpose::Catalog, &[(CONFIGS_LABEL, path)]);
        assert_eq!(catalog("/configs"), "=configs");
        assert_eq!(catalog("/a/b/"), "=a/b");
        assert_eq!(catalog("/"), "=");
        for path in ["../etc", "/a/../..", "a//b", "/./a"] {
            assert!(catalog(path).contains("is no path in an image"), "{path}: {}", catalog(path));
        }
        assert_eq!(paths(Purpose::Bundle, &[]), "manifests=manifests metadata=metadata");
        let other =
            paths(Purpose::Bundle, &[(MANIFESTS_LABEL, "deploy/olm/"), (METADATA_LABEL, "meta")]);
        assert_eq!(other, "manifests=deploy/olm metadata=meta");
        assert!(paths(Purpose::Catalog, &[(DATABASE_LABEL, "/db")]).contains("SQLite"));
        assert!(paths(Purpose::Catalog, &[(MANIFESTS_LABEL, "m/")]).contains("is a bundle"));
        assert!(paths(Purpose::Catalog, &[]).contains("is it the right image?"));
    }
}
