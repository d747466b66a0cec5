//! Finding a cluster: a kubeconfig, or the pod that this process runs in.
//!
//! Certificates, tokens and programs that fetch them are kube-client's business.

use std::{path::PathBuf, time::Duration};

use hyper_util::{
    client::legacy::{Client as HttpClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use kube_client::{
    Client, Config,
    client::ConfigExt as _,
    config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use tower::{BoxError, ServiceBuilder};

use crate::request::chain;

/// How long a connection may take to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long what was sent may stay unacknowledged before the system gives the connection up, and with
/// it what was sent: a write must not arrive when a partition ends that has cost the lease.
pub const UNACKNOWLEDGED_LIMIT: Duration = Duration::from_secs(4);

/// After how much silence the other end of a connection is asked whether it is there, and how often it
/// may leave that unanswered.
pub const KEEP_ALIVE: (Duration, u32) = (Duration::from_secs(15), 3);

/// Where a cluster is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// In the kubeconfig that `KUBECONFIG` names, or in `~/.kube/config`; without one, around the pod
    /// that this process runs in.
    #[default]
    Default,
    /// In a kubeconfig, or the default one; in the context of a name, or the current one.
    Kubeconfig {
        /// The file.
        file: Option<PathBuf>,
        /// The context.
        context: Option<String>,
    },
    /// Around the pod that this process runs in.
    Pod,
}

/// Says why a cluster cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No kubeconfig and no pod.
    #[error(
        "no cluster was found: {kubeconfig}; and this process does not run in a pod of a cluster: {pod}; \
         set `KUBECONFIG` to a kubeconfig"
    )]
    Nowhere {
        /// Why there is no kubeconfig.
        kubeconfig: String,
        /// Why there is no pod.
        pod: String,
    },
    /// The kubeconfig is not usable.
    #[error("the kubeconfig `{file}` cannot be used: {reason}")]
    Kubeconfig {
        /// The file, as it was named.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no service account to use.
    #[error(
        "this process does not run in a pod of a cluster: {reason}; a pod needs \
         `automountServiceAccountToken`"
    )]
    Pod {
        /// What is missing.
        reason: String,
    },
    /// The credentials or certificates are not usable.
    #[error("the API server at {server} cannot be spoken to: {reason}")]
    Credentials {
        /// The server.
        server: String,
        /// What is wrong.
        reason: String,
    },
    /// The system gives no thread.
    #[error("no thread can be started for the connection to the cluster: {0}")]
    Thread(#[source] std::io::Error),
}

/// Reads how a cluster is reached.
pub(crate) async fn configuration(place: &Place) -> Result<Config, ConnectError> {
    match place {
        Place::Default => match from_file(None, None).await {
            Ok(config) => Ok(config),
            Err(kubeconfig) if is_missing(&kubeconfig) => Config::incluster().map_err(|pod| {
                ConnectError::Nowhere { kubeconfig: chain(&kubeconfig), pod: pod_reason(&pod) }
            }),
            Err(error) => Err(unusable(None, &error)),
        },
        Place::Kubeconfig { file, context } => from_file(file.clone(), context.clone())
            .await
            .map_err(|error| unusable(file.as_ref(), &error)),
        Place::Pod => {
            Config::incluster().map_err(|error| ConnectError::Pod { reason: pod_reason(&error) })
        }
    }
}

/// Makes connections as the configuration says. Nothing is repeated: what may be is decided elsewhere.
pub(crate) fn client(config: Config) -> Result<Client, ConnectError> {
    let server = config.cluster_url.to_string();
    let unusable = |error: kube_client::Error| ConnectError::Credentials {
        server: server.clone(),
        reason: chain(&error),
    };
    if let Some(proxy) = &config.proxy_url {
        let reason = format!("it is behind the proxy {proxy}, and proxies are not supported");
        return Err(ConnectError::Credentials { server, reason });
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED_LIMIT));
    let (silence, probes) = KEEP_ALIVE;
    tcp.set_keepalive(Some(silence));
    tcp.set_keepalive_interval(Some(silence / probes));
    tcp.set_keepalive_retries(Some(probes));
    let tls = config.rustls_https_connector_with_connector(tcp).map_err(unusable)?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(unusable)?)
        .layer(config.extra_headers_layer().map_err(unusable)?)
        .map_err(BoxError::from)
        .service(HttpClient::builder(TokioExecutor::new()).build(tls));
    Ok(Client::new(service, config.default_namespace))
}

async fn from_file(
    file: Option<PathBuf>,
    context: Option<String>,
) -> Result<Config, KubeconfigError> {
    let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
    match file {
        Some(file) => {
            let kubeconfig = Kubeconfig::read_from(file)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await
        }
        None => Config::from_kubeconfig(&options).await,
    }
}

/// Tells whether there is no kubeconfig at all; one that is there and broken is not passed over.
fn is_missing(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(error, _) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn unusable(file: Option<&PathBuf>, error: &KubeconfigError) -> ConnectError {
    let file = match file {
        Some(file) => file.display().to_string(),
        None => std::env::var("KUBECONFIG").unwrap_or_else(|_| "~/.kube/config".to_owned()),
    };
    ConnectError::Kubeconfig { file, reason: chain(error) }
}

fn pod_reason(error: &InClusterError) -> String {
    chain(error)
}
