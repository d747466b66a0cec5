//! A real Kubernetes for tests: etcd, the API server, the controllers and, if wanted, a node that runs
//! containers.
//!
//! The programs are built from their published sources ([`Programs::ensure`]); a cluster runs in a
//! network namespace of its own ([`Rig::up`]), so that several can stand side by side and none is
//! reachable from outside. Nothing here simulates anything, and nothing here knows an operator.
//!
//! ```no_run
//! # fn main() -> Result<(), operon_rig::RigError> {
//! use operon_rig::{Component, Rig, RigOptions};
//!
//! let rig = Rig::up(&RigOptions::control_plane("example"))?;
//! rig.kubectl(&["create", "namespace", "operators"])?;
//! rig.kill(Component::ApiServer)?;
//! rig.start(Component::ApiServer)?;
//! let answer = rig.inside(|| "a client that is built in here reaches the API server")?;
//! # let _ = answer;
//! rig.down()
//! # }
//! ```

mod cgroups;
mod component;
mod error;
mod images;
mod injector;
mod kernel;
mod kubeconfig;
mod lock;
mod namespace;
mod obstacle;
mod pki;
mod places;
mod process;
mod programs;
mod proxy;
mod ready;
mod rig;
mod running;
mod settings;
mod teardown;
mod testing;

pub use self::{
    component::Component,
    error::RigError,
    images::BUSYBOX_IMAGE,
    injector::{Fault, Injector},
    kubeconfig::USERS,
    namespace::{API_PORT, API_SERVICE_ADDRESS, NODE_ADDRESS, POD_NETWORK, SERVICE_NETWORK},
    obstacle::Obstacle,
    programs::{ETCD_VERSION, KUBERNETES_VERSION, Programs},
    proxy::Proxy,
    rig::Rig,
    settings::{MAX_NAME_LENGTH, RigOptions},
    testing::rig_for_test,
};
