//! A control plane for a test, and clusters on it.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use operon_kube::{KubeCluster, Options, Place};
use operon_object::Object;
use operon_rig::{Rig, RigOptions, rig_for_test};

/// How long a test waits for anything: machines are slow when all tests run at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Runs a test inside the network of a control plane of its own.
pub(crate) fn with_rig(name: &str, test: impl FnOnce(&Rig) + Send) {
    let rig = rig_for_test(RigOptions::control_plane(name)).expect("a rig");
    let Some(rig) = rig else { return };
    rig.inside(|| test(&rig)).expect("the network of the rig");
    rig.down().expect("a rig that goes");
}

/// Writes a kubeconfig that is like that of the rig, with another server.
pub(crate) fn kubeconfig_for(rig: &Rig, server: &str) -> PathBuf {
    rig.kubeconfig_behind(&rig.kubeconfig(), server).expect("a kubeconfig")
}

/// Options for tests: nothing is held back.
pub(crate) fn options() -> Options {
    Options { requests_per_second: 1000, requests_burst: 1000, ..Options::default() }
}

pub(crate) fn connect(kubeconfig: &Path, options: Options) -> KubeCluster {
    let place = Place::Kubeconfig { file: Some(kubeconfig.to_owned()), context: None };
    KubeCluster::connect(&place, options).expect("a kubeconfig that can be used")
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(claim: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not even after {PATIENCE:?}: {claim}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn config_map(name: &str, entry: &str) -> Object {
    let mut object = Object::new("v1", "ConfigMap", "default", name);
    object.set(&["data", "entry"], entry);
    object
}
