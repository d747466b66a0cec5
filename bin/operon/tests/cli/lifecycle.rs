//! The scenarios of `scenarios/lifecycle`, through the command line: the same as on a simulated cluster.
//!
//! The stage is a directory. What people do is done with commands where there are any, and otherwise to
//! the store that they share; everything else is done by `operon up --once`.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use operon_api::crd_objects;
use operon_apiserver::Settings;
use operon_driver::{Cluster, Interest};
use operon_kinds::{CatalogSource, names::REJECTED_ANNOTATION};
use operon_local::{Access, Options, connect_or_open, system_clock};
use operon_object::{Kind, Object, ObjectKey, Value, known};
use operon_resolve::SourceName;
use operon_sim::{Publication, Scenario, Stage, Step, parse_scenario, run_scenario};
use tempfile::TempDir;

use crate::agreement;

/// How many scenarios run at once; most of their time is spent waiting for Deployments.
const THREADS: usize = 6;

#[test]
fn scenarios_come_out_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/lifecycle");
    let wanted = std::env::var("OPERON_SCENARIO").ok();
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let text = fs::read_to_string(folder.join(&name).join("scenario.yaml")).unwrap();
        let mut scenario = parse_scenario(&text).unwrap();
        if let Some(reason) = reason_to_leave_out(&scenario) {
            println!("left out: {name}: {reason}");
            continue;
        }
        let steps = scenario.steps.len();
        scenario.steps.retain(|step| !matches!(step, Step::Saw { .. }));
        if scenario.steps.len() < steps {
            println!("{name}: phases on the way are not looked at");
        }
        scenarios.push((name, scenario));
    }
    assert!(wanted.is_some() || scenarios.len() > 20, "the scenarios are in {}", folder.display());
    let queue = Mutex::new(scenarios);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let Some((name, scenario)) = queue.lock().unwrap().pop() else { break };
                    let mut stage = DirectoryStage::new();
                    let outcome = run_scenario(&scenario, &mut stage);
                    let outcome = outcome.map_err(|failure| failure.to_string());
                    if let Err(failure) = outcome.and_then(|()| stage.agrees()) {
                        let told = format!("{name}: {failure}\n{}", stage.told);
                        failures.lock().unwrap().push(told);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn reason_to_leave_out(scenario: &Scenario) -> Option<&'static str> {
    scenario.steps.iter().find_map(|step| match step {
        Step::Wait(_) => Some("time passes in it"),
        Step::Hinder(..) | Step::HinderBundle(..) => {
            Some("something breaks for a reason that a directory cannot have")
        }
        Step::Patch { patch, .. } if !patch.at(&["spec", "grpcPodConfig"]).is_null() => {
            Some("a pod serves an image, and a directory is none")
        }
        Step::Publish(..)
        | Step::Apply(_)
        | Step::Patch { .. }
        | Step::Delete(_)
        | Step::Answer { .. }
        | Step::Uninstall { .. }
        | Step::RollBack { .. }
        | Step::Settle
        | Step::Restart
        | Step::Expect(_)
        | Step::Saw { .. } => None,
    })
}

/// The kinds whose objects are exported for a plan from files: what administrators export, and what plans are
/// checked against.
const EXPORTED: [Kind; 20] = [
    known::NAMESPACE,
    known::CUSTOM_RESOURCE_DEFINITION,
    known::OPERATOR_GROUP,
    known::CATALOG_SOURCE,
    known::SUBSCRIPTION,
    known::INSTALL_PLAN,
    known::CLUSTER_SERVICE_VERSION,
    known::OPERATOR_CONDITION,
    known::CONTROLLER_REVISION,
    known::SERVICE_ACCOUNT,
    known::ROLE,
    known::ROLE_BINDING,
    known::CLUSTER_ROLE,
    known::CLUSTER_ROLE_BINDING,
    known::SERVICE,
    known::CONFIG_MAP,
    known::SECRET,
    known::DEPLOYMENT,
    known::PRIORITY_CLASS,
    known::POD_DISRUPTION_BUDGET,
];

/// A directory for `operon up`.
struct DirectoryStage {
    root: TempDir,
    /// The directories of catalogs, by the image that CatalogSources name.
    published: BTreeMap<SourceName, String>,
    /// What the last command said.
    told: String,
}

impl DirectoryStage {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join(".operon")).unwrap();
        Self { root, published: BTreeMap::new(), told: String::new() }
    }

    /// Runs a command in the directory.
    fn operon(&mut self, arguments: &[&str]) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_operon"))
            .args(arguments)
            .current_dir(self.root.path())
            .env("NO_COLOR", "1")
            .env_remove("KUBECONFIG")
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let [printed, told] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        self.told = format!("$ operon {}\n{printed}{told}", arguments.join(" "));
        output
    }

    /// Runs a command that must succeed.
    fn succeed(&mut self, arguments: &[&str]) -> Result<(), String> {
        let output = self.operon(arguments);
        if output.status.success() { Ok(()) } else { Err(self.told.clone()) }
    }

    /// Plans the directory, and prints JSON.
    fn plan(&mut self) -> Value {
        agreement::json(&self.operon(&["plan", "--dir", ".", "--no-cache", "-o", "json"]).stdout)
    }

    /// Compares the plan of the directory with the plan from its exported manifests and its catalogs.
    fn agrees(&mut self) -> Result<(), String> {
        let directory = self.plan();
        let sources = self.list(&known::CATALOG_SOURCE)?;
        let is_published = |source: &Object| {
            let name = CatalogSource::read(source).source_name();
            self.published.contains_key(&name)
        };
        if !sources.iter().all(is_published) {
            // Files cannot say why the catalog of a CatalogSource cannot be read.
            return Ok(());
        }
        let mut exported = Vec::new();
        for kind in EXPORTED {
            exported.extend(self.list(&kind)?.into_iter().map(|object| object.value().clone()));
        }
        let mut list = Value::parse_json(r#"{"apiVersion": "v1", "kind": "List"}"#).unwrap();
        list.set(&["items"], Value::list(exported));
        fs::write(self.root.path().join("export.json"), list.to_string()).unwrap();
        let catalogs: Vec<String> = self
            .published
            .iter()
            .filter(|(name, _)| {
                let key = known::CATALOG_SOURCE.key(&name.namespace, &name.name);
                self.person(|cluster| find(cluster, &key)).is_ok()
            })
            .map(|(name, path)| format!("{name}={path}"))
            .collect();
        let mut files = Vec::new();
        for namespace in directory.get("namespaces").elements() {
            let namespace = namespace.get("namespace").str();
            let visible = |catalog: &&String| {
                [namespace, "olm"].iter().any(|name| catalog.starts_with(&format!("{name}/")))
            };
            let mut arguments = vec![
                "plan",
                "--cluster",
                "export.json",
                "-n",
                namespace,
                "--no-cache",
                "-o",
                "json",
            ];
            arguments.extend(["--kube-version", "v1.33.0"]);
            for catalog in catalogs.iter().filter(visible) {
                arguments.extend(["--catalog", catalog]);
            }
            files.push(agreement::json(&self.operon(&arguments).stdout));
        }
        let mut differences = agreement::differences(&directory, &files);
        let [tree, status] = ["tree", "status"].map(|command| {
            agreement::json(&self.operon(&[command, "--dir", ".", "-o", "json"]).stdout)
        });
        differences.extend(agreement::view_differences(&directory, &tree, &status));
        for namespace in directory.get("namespaces").elements() {
            let rows = ["additions", "kept"].map(|member| namespace.get(member).elements());
            for row in rows.concat() {
                let (name, place) = (row.get("name").str(), namespace.get("namespace").str());
                self.succeed(&["why", name, "-n", place, "--dir", ".", "--no-cache"])?;
            }
        }
        match differences.is_empty() {
            true => Ok(()),
            false => Err(format!("plans differ:\n{}", differences.join("\n"))),
        }
    }

    /// Opens the store as a person; it is closed when the answer is there.
    fn person<T>(&self, act: impl FnOnce(&Access) -> Result<T, String>) -> Result<T, String> {
        let options = Options {
            definitions: crd_objects(),
            manager: "person".to_owned(),
            clock: system_clock(),
            settings: Settings::default(),
            notify: Arc::new(|_| {}),
        };
        let opened = connect_or_open(&self.root.path().join(".operon"), &options);
        act(&opened.map_err(|error| error.to_string())?)
    }
}

fn find(cluster: &Access, key: &ObjectKey) -> Result<Object, String> {
    let found = cluster.get(key).map_err(|error| error.message)?;
    found.ok_or_else(|| format!("{key} is not there"))
}

/// Changes a value as RFC 7386 says.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Map(members) = patch else {
        *value = patch.clone();
        return;
    };
    if !matches!(value, Value::Map(_)) {
        *value = Value::map(Vec::<(String, Value)>::new());
    }
    for (name, member) in members.iter() {
        if member.is_null() {
            value.remove(&[name]);
        } else {
            let mut inner = value.get(name).clone();
            merge(&mut inner, member);
            value.set(&[name], inner);
        }
    }
}

impl Stage for DirectoryStage {
    fn publish(&mut self, name: &SourceName, publication: &Publication) -> Result<(), String> {
        let directory = format!("catalogs/{}-{}", name.namespace, name.name);
        fs::create_dir_all(self.root.path().join(&directory)).unwrap();
        let file = self.root.path().join(&directory).join("catalog.json");
        fs::write(file, publication.text()).unwrap();
        self.published.insert(name.clone(), format!("./{directory}"));
        Ok(())
    }

    fn hinder(&mut self, _: &SourceName, _: &str) -> Result<(), String> {
        Err("a directory cannot be broken for a given reason".to_owned())
    }

    fn hinder_bundle(&mut self, _: &SourceName, _: &str, _: &str) -> Result<(), String> {
        Err("a directory cannot be broken for a given reason".to_owned())
    }

    fn apply(&mut self, object: &Object) -> Result<(), String> {
        let mut object = object.clone();
        let name =
            SourceName { namespace: object.namespace().to_owned(), name: object.name().to_owned() };
        if object.kind() == known::CATALOG_SOURCE
            && let Some(path) = self.published.get(&name)
        {
            object.set(&["spec", "image"], path.as_str());
        }
        self.person(|cluster| {
            let applied = cluster.apply_as(&object, "person").map_err(|error| error.message)?;
            if !object.status().is_null() {
                let mut applied = applied;
                applied.set(&["status"], object.status().clone());
                cluster.update_status(&applied).map_err(|error| error.message)?;
            }
            Ok(())
        })
    }

    fn patch(&mut self, key: &ObjectKey, patch: &Value, is_status: bool) -> Result<(), String> {
        if key.kind == known::INSTALL_PLAN && !is_status {
            let is_no = !patch.at(&["metadata", "annotations", REJECTED_ANNOTATION]).is_null();
            let verb = if is_no { "reject" } else { "approve" };
            return self.succeed(&[verb, &key.name, "-n", &key.namespace]);
        }
        self.person(|cluster| {
            let mut object = find(cluster, key)?;
            merge(object.value_mut(), patch);
            let changed =
                if is_status { cluster.update_status(&object) } else { cluster.update(&object) };
            changed.map(|_| ()).map_err(|error| error.message)
        })
    }

    fn delete(&mut self, key: &ObjectKey) -> Result<(), String> {
        self.person(|cluster| {
            let object = find(cluster, key)?;
            cluster.delete(key, object.uid()).map_err(|error| error.message)
        })
    }

    fn uninstall(&mut self, namespace: &str, name: &str) -> Result<(), String> {
        self.succeed(&["uninstall", name, "-n", namespace, "--with-dependants", "--yes"])
    }

    fn roll_back(&mut self, namespace: &str, name: &str, to: Option<&str>) -> Result<(), String> {
        let mut arguments = vec!["rollback", name, "-n", namespace];
        arguments.extend(to.into_iter().flat_map(|version| ["--to", version]));
        self.operon(&[&arguments[..], &["--plan"]].concat());
        let told = self.told.clone();
        let (_, id) = told.trim_end().rsplit_once("--approve ").ok_or(told.clone())?;
        self.succeed(&[&arguments[..], &["--approve", id]].concat())
    }

    fn settle(&mut self) -> Result<(), String> {
        let promised = agreement::promised_plans(&self.plan());
        // Whether everything is well is for the scenario to say.
        self.operon(&["up", "--once", "--no-cache"]);
        let created = self.list(&known::INSTALL_PLAN)?;
        let is_created = |(namespace, name): &&(String, String)| {
            created.iter().any(|plan| plan.namespace() == namespace && plan.name() == name)
        };
        match promised.iter().find(|plan| !is_created(plan)) {
            None => Ok(()),
            Some((namespace, name)) => Err(format!(
                "operon plan showed InstallPlan {namespace}/{name}, and operon up did not create it"
            )),
        }
    }

    fn wait(&mut self, _: Duration) -> Result<(), String> {
        Err("time passes by itself".to_owned())
    }

    fn restart(&mut self) -> Result<(), String> {
        // Every `operon up --once` is one.
        Ok(())
    }

    fn list(&mut self, kind: &Kind) -> Result<Vec<Object>, String> {
        let interests = Interest::all_of([kind.clone()]);
        self.person(|cluster| {
            cluster.list(&interests).map(|listing| listing.objects).map_err(|error| error.message)
        })
    }

    fn phases(&mut self, _: &ObjectKey) -> Vec<String> {
        Vec::new()
    }
}
