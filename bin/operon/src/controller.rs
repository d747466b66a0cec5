//! `operon controller`: the engine on a real cluster.
//!
//! One process does everything; others wait beside it, know the same, and take over when its lease ends.
//! What is done is decided by the engine; here it is run, watched and told.

mod api_server;
mod first_groups;
mod log;
mod report;
mod work;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use operon_driver::{AddressPolicy, AllowedAddress};
use operon_kube::{KubeCluster, LeaseOptions, Options, Place, process_identity};
use operon_monitor::{Board, Monitor};

use self::{api_server::ApiServer, log::Log, work::Worker};
use crate::{
    cluster::{DEFAULT_GLOBAL_NAMESPACE, stop_wish},
    exit::Outcome,
    fetching::FetchOptions,
    system::OPERATORS_NAMESPACE,
};

/// How long the loop may take for one turn before the process counts as stuck: longer than any request
/// may take, and than the largest catalog takes to be read.
const STUCK_AFTER: Duration = Duration::from_secs(120);

/// Looks after the operators of a real cluster
///
/// Runs in the cluster, or anywhere with a kubeconfig. Several may run at once: one works, the others
/// are ready to take over.
#[derive(Debug, Args)]
#[command(after_help = "\
GET /healthz says whether it is alive, /readyz whether it works or could at once, /metrics the rest.
It ends at SIGTERM, and gives its lease back.

Examples:
  operon manifests | kubectl apply --server-side -f -
  operon controller --kubeconfig ~/.kube/config --namespace olm --log text")]
pub(crate) struct Controller {
    /// The kubeconfig; without one the default one, or that of the pod
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The namespace of the controller and its lease
    #[arg(long, env = "POD_NAMESPACE", default_value = DEFAULT_GLOBAL_NAMESPACE)]
    namespace: String,
    /// The namespace whose catalogs are visible everywhere [default: that of the controller]
    #[arg(long, env = "GLOBAL_CATALOG_NAMESPACE")]
    global_namespace: Option<String>,
    /// The image that this program runs from, for catalog images that only hold files and need it
    #[arg(long, value_name = "IMAGE", env = "OPERON_IMAGE", default_value = "")]
    own_image: String,
    /// Namespace in which the annotation `operon.dev/first-operator-group` creates an OperatorGroup; may be
    /// given several times
    #[arg(long, value_name = "NAMESPACE", default_value = OPERATORS_NAMESPACE)]
    first_group_namespace: Vec<String>,
    /// Write nothing for an OperatorGroup that names no ServiceAccount, and create no first OperatorGroup
    #[arg(long)]
    attenuated: bool,
    /// Namespace in which the controller may read Secrets; may be given several times [default: all]
    #[arg(long, value_name = "NAMESPACE")]
    tenant: Vec<String>,
    /// Where health and metrics are told
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    monitor_address: SocketAddr,
    /// How what happens is written to standard error
    #[arg(long, value_enum, default_value = "json")]
    log: LogFormat,
    /// Server that catalogs may use although its address is a loopback, link-local or multicast address or
    /// the API server's; may be given several times
    #[arg(long, value_name = "HOST[:PORT]", env = "OPERON_ALLOW_ADDRESSES", value_delimiter = ',')]
    allow_address: Vec<AllowedAddress>,
    #[command(flatten)]
    fetching: FetchOptions,
}

/// How what happens is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// An object for each line
    Json,
    /// A sentence for each line
    Text,
}

pub(crate) fn run(command: &Controller) -> anyhow::Result<Outcome> {
    let stop = stop_wish()?;
    let log = Log::new(command.log);
    let board = Arc::new(Board::new(STUCK_AFTER));
    let monitor = Monitor::listen(command.monitor_address, Arc::clone(&board))?;
    log.say("info", "health and metrics are told", &[("address", &monitor.address().to_string())]);
    let place = match (&command.kubeconfig, &command.context) {
        (None, None) => Place::Default,
        (file, context) => Place::Kubeconfig { file: file.clone(), context: context.clone() },
    };
    let lease = LeaseOptions::new(&command.namespace, &process_identity());
    let options = Options { lease: Some(lease), ..Options::default() };
    let cluster = KubeCluster::connect(&place, options)?;
    log.say("info", "a cluster is looked after", &[("server", cluster.server())]);
    let addresses = AddressPolicy::cluster(command.allow_address.clone(), []);
    let api_server = ApiServer::resolve(cluster.server(), addresses.clone(), &log, &stop);
    let Some(api_server) = api_server else {
        return Ok(Outcome::Done);
    };
    let worker = Worker {
        cluster: Arc::new(cluster),
        api_server,
        fetcher: command.fetching.fetcher_of_tenants(&addresses)?,
        namespace: command.namespace.clone(),
        global_namespace: command
            .global_namespace
            .clone()
            .unwrap_or_else(|| command.namespace.clone()),
        own_image: command.own_image.clone(),
        // A first OperatorGroup names no ServiceAccount.
        first_group_namespaces: match command.attenuated {
            true => Vec::new(),
            false => command.first_group_namespace.clone(),
        },
        requires_service_account: command.attenuated,
        tenants: command.tenant.clone(),
        board,
        log,
    };
    worker.run(&stop);
    worker.log.say("info", "it was asked to end", &[]);
    Ok(Outcome::Done)
}
