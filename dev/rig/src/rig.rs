//! A cluster: brought up, found again, used, disturbed, taken down.
//!
//! How it ends is in [`teardown`](crate::teardown); what its programs are told is in
//! [`component`](crate::component).

mod lifetime;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    Component, Programs, RigError, RigOptions,
    component::{REGISTRY, REGISTRY_FOR_PODS},
    kernel::KernelSettings,
    kubeconfig::{self, ADMIN, USERS},
    lock::Lock,
    namespace::{API_PORT, NODE_ADDRESS, Namespace},
    places::Places,
    process::Process,
    ready,
    running::{run, run_with_input},
};

/// How long definitions may take until they can be used, and how soon it is asked again.
const DEFINITIONS_PATIENCE: Duration = Duration::from_secs(60);
const DEFINITIONS_PAUSE: Duration = Duration::from_millis(100);

/// A cluster.
///
/// One that [`Rig::up`] returned belongs to this process and is taken down when it is dropped; one that
/// [`Rig::find`] returned goes on.
#[derive(Debug)]
pub struct Rig {
    options: RigOptions,
    programs: Programs,
    places: Places,
    namespace: Namespace,
    /// Held if it belongs to this process.
    lock: Option<Lock>,
}

impl Rig {
    /// Returns what it was started as.
    pub fn options(&self) -> &RigOptions {
        &self.options
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// Returns the directory of everything that belongs to it.
    pub fn directory(&self) -> &Path {
        self.places.directory()
    }

    /// Returns the file of its network namespace, which `nsenter --net=…` takes.
    pub fn namespace(&self) -> PathBuf {
        self.namespace.path()
    }

    /// Returns the kubeconfig of a user that may do everything.
    ///
    /// The server in it is reached from inside the rig's network alone: with [`Rig::inside`] or
    /// [`Rig::command`].
    pub fn kubeconfig(&self) -> PathBuf {
        self.places.kubeconfig(ADMIN)
    }

    /// Returns the kubeconfig of one of the plain [`USERS`].
    pub fn kubeconfig_of_user(&self, user: &str) -> Result<PathBuf, RigError> {
        if USERS.iter().any(|(known, _)| *known == user) {
            return Ok(self.places.kubeconfig(user));
        }
        let known = USERS.map(|(known, _)| format!("`{known}`")).join(", ");
        Err(RigError::UnknownUser { user: user.to_owned(), known })
    }

    /// Makes a kubeconfig for a ServiceAccount, with a token that is good for an hour.
    pub fn kubeconfig_of_account(&self, namespace: &str, name: &str) -> Result<PathBuf, RigError> {
        let token = self.kubectl(&["create", "token", name, "--namespace", namespace])?;
        let file = format!("{namespace}.{name}");
        kubeconfig::write_with_token(&self.places, &file, token.trim())
    }

    /// Returns where the API server listens, inside the rig's network.
    pub fn api_server(&self) -> SocketAddr {
        let address = NODE_ADDRESS.parse().expect("bug: the node's address is written as one");
        SocketAddr::new(address, API_PORT)
    }

    /// Makes a kubeconfig that is like another of this rig, with another server, such as a
    /// [`Proxy`](crate::Proxy).
    pub fn kubeconfig_behind(&self, other: &Path, server: &str) -> Result<PathBuf, RigError> {
        kubeconfig::write_behind(&self.places, other, server)
    }

    /// Returns the registry as images are named: `127.0.0.1:5000`, inside the rig's network.
    pub fn registry(&self) -> &'static str {
        REGISTRY
    }

    /// Returns the registry as programs in pods reach it, which speak to it without TLS.
    pub fn registry_for_pods(&self) -> &'static str {
        REGISTRY_FOR_PODS
    }

    /// Does some work on a thread inside the rig's network, such as a client of the API server.
    ///
    /// An asynchronous runtime that is built in there has its threads in there too. A panic goes
    /// through.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, RigError> {
        self.namespace.inside(work)
    }

    /// Makes a command that runs inside the rig's network, with `KUBECONFIG` and the rig's programs.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.namespace.command(program);
        command
            .env("PATH", self.programs.search_path())
            .env("KUBECONFIG", self.kubeconfig())
            .env("KUBECACHEDIR", self.places.path("kubectl"));
        command
    }

    /// Makes a command of kubectl.
    pub fn kubectl_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("kubectl");
        command.args(arguments);
        command
    }

    /// Runs kubectl, which must succeed, and returns what it printed.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, RigError> {
        run(&mut self.kubectl_command(arguments))
    }

    /// Waits until all definitions that the cluster has can be used. `kubectl wait` fails at once where a
    /// definition is so new that nothing is said of it, so it is asked again.
    pub fn wait_for_definitions(&self) -> Result<(), RigError> {
        let wait = ["wait", "--for=condition=Established", "crd", "--all"];
        let begun = Instant::now();
        loop {
            match self.kubectl(&wait) {
                Ok(_) => return Ok(()),
                Err(_) if begun.elapsed() < DEFINITIONS_PATIENCE => {
                    thread::sleep(DEFINITIONS_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Applies manifests, written as YAML or JSON.
    pub fn apply(&self, manifests: &str) -> Result<String, RigError> {
        run_with_input(&mut self.kubectl_command(&["apply", "--filename=-"]), manifests)
    }

    /// Returns the file a component writes its log to.
    pub fn log_file(&self, component: Component) -> PathBuf {
        self.places.log(component)
    }

    /// Returns the whole log of a component; it is empty when it never ran.
    pub fn logs(&self, component: Component) -> String {
        let bytes = fs::read(self.log_file(component)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the number of a component's process, if it runs.
    pub fn pid(&self, component: Component) -> Option<u32> {
        Some(self.process(component)?.number())
    }

    /// Starts a component, unless it runs, and waits until it is ready.
    pub fn start(&self, component: Component) -> Result<(), RigError> {
        let settings = (component == Component::Kubelet).then(KernelSettings::read);
        let process = self.launch(component)?;
        let outcome = self.wait_until_ready(component, process);
        if let Some(settings) = settings {
            settings.restore();
        }
        outcome
    }

    /// Asks a component to end, and waits until it has.
    pub fn stop(&self, component: Component) -> Result<(), RigError> {
        let grace = component.recipe(&self.places, &self.options).grace;
        self.end(component, |process| process.end(grace))
    }

    /// Kills a component without a warning.
    pub fn kill(&self, component: Component) -> Result<(), RigError> {
        self.end(component, Process::kill)
    }

    /// Makes a component stand still: it keeps its connections and answers nothing.
    pub fn pause(&self, component: Component) {
        self.signal(component, Signal::STOP);
    }

    /// Lets a paused component go on.
    pub fn resume(&self, component: Component) {
        self.signal(component, Signal::CONT);
    }

    /// Returns where its files lie.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    fn signal(&self, component: Component, signal: Signal) {
        if let Some(process) = self.process(component) {
            process.signal(signal);
        }
    }

    fn end(&self, component: Component, how: impl Fn(&Process) -> bool) -> Result<(), RigError> {
        match self.process(component) {
            Some(process) if !how(&process) => {
                Err(RigError::DoesNotEnd { component, pid: process.number() })
            }
            _ => Ok(()),
        }
    }

    fn process(&self, component: Component) -> Option<Process> {
        lifetime::process(&self.places, component)
    }

    /// Starts a component, unless it runs.
    fn launch(&self, component: Component) -> Result<Process, RigError> {
        if component.is_of_node() && !self.options.nodes {
            let name = self.options.name.clone();
            return Err(RigError::NoSuchComponent { name, component });
        }
        if let Some(process) = self.process(component) {
            return Ok(process);
        }
        let recipe = component.recipe(&self.places, &self.options);
        let log_file = self.log_file(component);
        let log = fs::OpenOptions::new().create(true).append(true).open(&log_file);
        let log = log.map_err(RigError::file("write", &log_file))?;
        let log_too = log.try_clone().map_err(RigError::file("write", &log_file))?;
        // In a session of its own, what is typed at a terminal does not reach it.
        let mut command = Command::new("setsid");
        command
            .arg("nsenter")
            .arg(format!("--net={}", self.namespace().display()))
            .args(["--", recipe.program])
            .args(&recipe.arguments)
            .env_clear()
            .env("PATH", self.programs.search_path())
            .env("HOME", self.directory())
            .current_dir(self.directory())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(log_too);
        let program = recipe.program.to_owned();
        let cannot_run = |source| RigError::CannotRun { command: program, source };
        let process = Process::start(&mut command).map_err(cannot_run)?;
        self.places.write(&format!("processes/{component}"), &process.to_string())?;
        Ok(process)
    }

    fn wait_until_ready(&self, component: Component, process: Process) -> Result<(), RigError> {
        let probes = component.recipe(&self.places, &self.options).probes;
        ready::wait(self, component, process, &probes)
    }
}
