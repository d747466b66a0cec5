//! The real cluster that Operon itself is put on, or taken from.
//!
//! An embedded cluster has no controller: `operon up` is one.

use std::path::PathBuf;

use clap::Args;
use operon_kube::{ConnectError, KubeCluster, Options, Place};

use crate::cluster::PERSON;

/// The real cluster that a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlaceArguments {
    /// The kubeconfig [default: that of `KUBECONFIG`, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl PlaceArguments {
    /// Finds the cluster; nothing is asked of it yet.
    pub(crate) fn connect(&self) -> Result<KubeCluster, ConnectError> {
        let place = match (&self.kubeconfig, &self.context) {
            (None, None) => Place::Default,
            (file, context) => Place::Kubeconfig { file: file.clone(), context: context.clone() },
        };
        KubeCluster::connect(&place, Options { manager: PERSON.to_owned(), ..Options::default() })
    }
}
