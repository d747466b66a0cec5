//! What can be typed to describe a namespace: catalogs, manifests, and "what if".
//!
//! Nothing is opened or looked up here; that a name exists is seen when the situation is gathered.

use std::{path::PathBuf, str::FromStr};

use clap::Args;

use crate::{cluster::ClusterArguments, fetching::FetchOptions, semantics::SemanticsChoice};

/// The namespace that is asked about, and what it sees.
#[derive(Debug, Args)]
pub(crate) struct SituationArguments {
    /// A catalog to choose from: a directory or a file, or the content of the CatalogSource named
    /// before the `=`; may be given several times
    #[arg(long, value_name = "[NAMESPACE/NAME=]PATH")]
    pub(super) catalog: Vec<CatalogArgument>,
    /// What the cluster holds: manifests in a file or a directory, or `-` for standard input; may be
    /// given several times
    #[arg(long, value_name = "FILE")]
    pub(super) cluster: Vec<PathBuf>,
    /// The directory of an embedded cluster, as it is given to `operon up`: what it holds, and its
    /// catalogs
    #[arg(
        long,
        visible_alias = "local",
        value_name = "DIR",
        conflicts_with_all = ["catalog", "cluster", "kubeconfig", "context"]
    )]
    pub(super) dir: Option<PathBuf>,
    /// The kubeconfig of a real cluster: what it holds, and its catalogs [default: the user's, where
    /// neither catalogs nor manifests are given]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["catalog", "cluster"])]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME", conflicts_with_all = ["catalog", "cluster"])]
    pub(super) context: Option<String>,
    /// The namespace [default: the one that the manifests are about, or `operators`]
    #[arg(short, long)]
    pub(super) namespace: Option<String>,
    /// The namespace whose catalogs are visible everywhere
    #[arg(long, value_name = "NAMESPACE", default_value = "olm")]
    pub(super) global_namespace: String,
    /// What if there were a Subscription to this; may be given several times
    #[arg(long, value_name = "PACKAGE[/CHANNEL][@CATALOG]")]
    pub(super) subscribe: Vec<SubscribeArgument>,
    /// What if this catalog could not be read; may be given several times
    #[arg(long, value_name = "CATALOG")]
    pub(super) without: Vec<String>,
    /// Whose behaviour: what the documents describe, or what upstream's program does
    #[arg(long, value_enum, default_value = "documented")]
    pub(super) semantics: SemanticsChoice,
    #[command(flatten)]
    pub(super) fetching: FetchOptions,
}

impl SituationArguments {
    /// Tells whether anything is to be otherwise than it is.
    pub(super) fn asks_what_if(&self) -> bool {
        !self.subscribe.is_empty() || !self.without.is_empty()
    }

    /// Tells whether what the cluster holds is given.
    pub(super) fn has_manifests(&self) -> bool {
        !self.cluster.is_empty() || self.living().is_some()
    }

    /// Returns the cluster that is asked about, if it is one that lives and not one in files.
    pub(super) fn living(&self) -> Option<ClusterArguments> {
        let Self { dir, kubeconfig, context, .. } = self;
        let arguments = ClusterArguments {
            dir: dir.clone(),
            kubeconfig: kubeconfig.clone(),
            context: context.clone(),
        };
        let is_in_files = !self.cluster.is_empty() || !self.catalog.is_empty();
        (!is_in_files && (dir.is_some() || arguments.place().is_some())).then_some(arguments)
    }
}

/// A catalog given as `PATH`, `NAME=PATH` or `NAMESPACE/NAME=PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogArgument {
    /// The namespace, where one is said.
    pub(super) namespace: Option<String>,
    /// The name, where one is said.
    pub(super) name: Option<String>,
    /// Where the catalog is kept.
    pub(super) path: PathBuf,
}

impl FromStr for CatalogArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unnamed = || Self { namespace: None, name: None, path: text.into() };
        // A path may hold a `=` itself: only what can be the name of an object is taken for one.
        let Some((name, path)) = text.split_once('=') else { return Ok(unnamed()) };
        let (namespace, name) = match name.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, name),
        };
        if !is_object_name(name) || namespace.is_some_and(|namespace| !is_object_name(namespace)) {
            return Ok(unnamed());
        }
        if path.is_empty() {
            return Err(format!("`{text}` names a catalog and no path after the `=`"));
        }
        Ok(Self {
            namespace: namespace.map(str::to_owned),
            name: Some(name.to_owned()),
            path: path.into(),
        })
    }
}

/// A Subscription given as `PACKAGE[/CHANNEL][@CATALOG]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubscribeArgument {
    pub(super) package: String,
    pub(super) channel: Option<String>,
    pub(super) catalog: Option<String>,
}

impl FromStr for SubscribeArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (wanted, catalog) = match text.split_once('@') {
            Some((wanted, catalog)) => (wanted, Some(catalog)),
            None => (text, None),
        };
        let (package, channel) = match wanted.split_once('/') {
            Some((package, channel)) => (package, Some(channel)),
            None => (wanted, None),
        };
        let missing = [Some(package), channel, catalog].contains(&Some(""));
        if missing {
            return Err("write PACKAGE, PACKAGE/CHANNEL or PACKAGE/CHANNEL@CATALOG".to_owned());
        }
        Ok(Self {
            package: package.to_owned(),
            channel: channel.map(str::to_owned),
            catalog: catalog.map(str::to_owned),
        })
    }
}

/// Tells whether Kubernetes would take the text as the name of an object.
pub(super) fn is_object_name(text: &str) -> bool {
    let is_inner = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    let is_outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.iter().all(is_inner) && is_outer(bytes.first()) && is_outer(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogs_are_named_only_by_what_can_be_a_name() {
        let claims = [
            ("./catalog", None, None, "./catalog"),
            ("harbour=./catalog", None, Some("harbour"), "./catalog"),
            ("olm/harbour=a=b", Some("olm"), Some("harbour"), "a=b"),
            ("./a=b", None, None, "./a=b"),
            ("A=b", None, None, "A=b"),
            ("a/b/c=d", None, None, "a/b/c=d"),
        ];
        for (text, namespace, name, path) in claims {
            let expected = CatalogArgument {
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
                path: path.into(),
            };
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        assert!("harbour=".parse::<CatalogArgument>().is_err());
    }

    #[test]
    fn subscriptions_have_three_parts() {
        let claims = [
            ("beacon", Some(("beacon", None, None))),
            ("beacon/stable", Some(("beacon", Some("stable"), None))),
            ("beacon/stable@olm/a", Some(("beacon", Some("stable"), Some("olm/a")))),
            ("beacon@a", Some(("beacon", None, Some("a")))),
            ("", None),
            ("/stable", None),
            ("beacon/", None),
            ("beacon@", None),
        ];
        for (text, expected) in claims {
            let parsed = text.parse::<SubscribeArgument>().ok();
            let parts = parsed.as_ref().map(|parsed| {
                (parsed.package.as_str(), parsed.channel.as_deref(), parsed.catalog.as_deref())
            });
            assert_eq!(parts, expected, "{text}");
        }
    }
}
