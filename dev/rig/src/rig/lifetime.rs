//! How a rig begins, is found again, and ends; and whom it belongs to meanwhile.
//!
//! The owner keeps a lock that ends with its process. So what a killed test left behind is told from
//! what is in use, and the next rig that comes up takes it away.

use std::fs;

use crate::{
    Component, Programs, Rig, RigError, RigOptions, cgroups::Cgroups, component, kubeconfig,
    lock::Lock, namespace::Namespace, pki, places::Places, process::Process, teardown,
};

/// The file that says that a rig is to outlive who started it.
const DETACHED: &str = "detached";

impl Rig {
    /// Brings up a cluster and waits until it is ready.
    ///
    /// It is taken down when the value is dropped, also by a failed test. What an earlier rig of that
    /// name left behind, or any whose owner was killed, is taken away first.
    pub fn up(options: &RigOptions) -> Result<Self, RigError> {
        RigOptions::check_name(&options.name)?;
        let programs = Programs::find(options.nodes)?;
        Places::make_root()?;
        take_down_abandoned()?;
        let places = Places::of(&options.name);
        let lock = Lock::take(&options.name, &places)?;
        if places.path(DETACHED).exists() && is_running(&places) {
            return Err(RigError::AlreadyUp { name: options.name.clone() });
        }
        teardown::take_down(&options.name, &places)?;
        // From here on, dropping it takes down as much of it as there is.
        let rig = Self {
            options: options.clone(),
            programs,
            namespace: Namespace::of(&options.name),
            places,
            lock: Some(lock),
        };
        rig.prepare()?;
        rig.start_all()?;
        Ok(rig)
    }

    /// Finds a cluster that somebody brought up and left running.
    pub fn find(name: &str) -> Result<Self, RigError> {
        RigOptions::check_name(name)?;
        let places = Places::of(name);
        let not_there = || RigError::NotThere { name: name.to_owned() };
        let options = RigOptions::load(name, &places)?.ok_or_else(not_there)?;
        let programs = Programs::find(options.nodes)?;
        let namespace = Namespace::of(name);
        Ok(Self { options, programs, places, namespace, lock: None })
    }

    /// Returns the names of all clusters that there is something of.
    pub fn names() -> Result<Vec<String>, RigError> {
        Places::names()
    }

    /// Leaves the cluster running when this program ends.
    pub fn leave_running(mut self) -> Result<(), RigError> {
        self.places.write(DETACHED, "")?;
        self.lock = None;
        Ok(())
    }

    /// Takes the cluster down: every process, mount, cgroup, file and its network.
    pub fn down(mut self) -> Result<(), RigError> {
        // The lock is kept until the end, so that nobody begins in between.
        let _lock = self.lock.take();
        teardown::take_down(&self.options.name, &self.places)
    }

    /// Takes down what is there under a name, however little that is; tells whether there was something.
    pub fn down_by_name(name: &str) -> Result<bool, RigError> {
        RigOptions::check_name(name)?;
        let places = Places::of(name);
        let was_there = places.directory().exists() || Namespace::of(name).path().exists();
        if was_there {
            let _lock = Lock::take(name, &places)?;
            teardown::take_down(name, &places)?;
        }
        Ok(was_there)
    }

    /// Writes everything that the programs read.
    fn prepare(&self) -> Result<(), RigError> {
        for directory in ["logs", "processes"] {
            let path = self.places.path(directory);
            fs::create_dir_all(&path).map_err(RigError::file("make", &path))?;
        }
        self.options.save(&self.places)?;
        pki::write(&self.places)?;
        kubeconfig::write(&self.places)?;
        component::write_registry_configuration(&self.places)?;
        self.namespace.create()
    }

    /// Starts what the rig has; those that wait for others anyway are started early.
    fn start_all(&self) -> Result<(), RigError> {
        let etcd = self.launch(Component::Etcd)?;
        let apiserver = self.launch(Component::ApiServer)?;
        if self.options.nodes {
            self.start_runtime()?;
        }
        self.wait_until_ready(Component::Etcd, etcd)?;
        self.wait_until_ready(Component::ApiServer, apiserver)?;
        // This one gives up if the API server takes long, so it is not started earlier.
        let controllers = self.launch(Component::ControllerManager)?;
        if self.options.nodes {
            self.start_node()?;
        }
        self.wait_until_ready(Component::ControllerManager, controllers)
    }

    /// Starts what runs containers, and what it gets them from.
    fn start_runtime(&self) -> Result<(), RigError> {
        let cgroups = Cgroups::of(self.name());
        cgroups.create()?;
        component::write_node_configuration(&self.places, self.name(), &cgroups)?;
        self.namespace.forward_packets()?;
        let containerd = self.launch(Component::Containerd)?;
        self.start(Component::Registry)?;
        self.push_busybox()?;
        self.wait_until_ready(Component::Containerd, containerd)
    }

    /// Starts what makes a node of it.
    fn start_node(&self) -> Result<(), RigError> {
        let scheduler = self.launch(Component::Scheduler)?;
        let kube_proxy = self.launch(Component::KubeProxy)?;
        self.start(Component::Kubelet)?;
        self.wait_until_ready(Component::Scheduler, scheduler)?;
        self.wait_until_ready(Component::KubeProxy, kube_proxy)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if self.lock.is_some()
            && let Err(error) = teardown::take_down(&self.options.name, &self.places)
        {
            eprintln!("warning: {error}");
        }
    }
}

/// Returns the process of a component, if it runs.
pub(super) fn process(places: &Places, component: Component) -> Option<Process> {
    let text = fs::read_to_string(places.process(component)).ok()?;
    text.parse().ok().filter(Process::is_alive)
}

fn is_running(places: &Places) -> bool {
    Component::ALL.into_iter().any(|component| process(places, component).is_some())
}

/// Takes down what belongs to nobody any more: its owner was killed, and it was not to outlive it.
///
/// One that cannot be taken down is said and left: it is not in the way of a rig with another name.
fn take_down_abandoned() -> Result<(), RigError> {
    for name in Places::names()? {
        let places = Places::of(&name);
        let is_detached = || places.path(DETACHED).exists();
        if is_detached() || RigOptions::check_name(&name).is_err() {
            continue;
        }
        let Ok(_lock) = Lock::take(&name, &places) else {
            continue;
        };
        // Whoever leaves a rig running says so before it frees the lock, and may just have done it.
        if is_detached() {
            continue;
        }
        if let Err(error) = teardown::take_down(&name, &places) {
            eprintln!("warning: {error}");
        }
    }
    Ok(())
}
