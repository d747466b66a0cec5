//! Operon as its users run it: its own image, in pods, with its own rights, put there by itself.
//!
//! `cargo xtask image --debug` builds what goes into the image. `OPERON_PROOF_RIG=<name>` uses a rig that
//! runs already. What the controllers may not do shows here: no administrator helps them.

use std::{
    path::PathBuf,
    process::Output,
    thread,
    time::{Duration, Instant},
};

use operon_proof::{
    harbour::{HARBOUR, manifests_as, push_quickstart_as},
    rigs_for_proof, static_program,
};
use operon_rig::Rig;

/// How long anything may take: an image to be pulled, a lease to run out, pods to start.
const PATIENCE: Duration = Duration::from_secs(180);

/// The image, as the node pulls it.
const IMAGE: &str = "127.0.0.1:5000/operon/operon:dev";

/// The namespace of the controllers.
const OLM: &str = "olm";

/// A plain user without any right.
const NOBODY: &str = "alice";

#[test]
fn operon_runs_in_pods_of_its_own_and_goes_again() {
    let Some(rig) = rigs_for_proof("pods", 1).pop() else { return };
    let Some(program) = static_program() else {
        let reason = "there is no program to make an image of; cargo xtask image --debug";
        operon_parts::leave_out(operon_parts::Part::Proof, reason);
        return;
    };
    let user = User { rig: &rig, program };
    let begun = Instant::now();
    let chapters: [(&str, Chapter<'_>); 10] = [
        ("the image is pushed", User::pushes_the_image),
        ("who may not install is told so", User::has_no_rights),
        ("upstream's OLM is not disturbed", User::meets_upstream),
        ("operon install", User::installs),
        ("operators are installed and upgraded", User::uses_it),
        ("a pod serves a catalog", User::asks_for_a_catalog_pod),
        ("the leader is killed", User::kills_the_leader),
        ("rights were enough", User::looks_for_refusals),
        ("operon uninstall --self", User::removes_it),
        ("and with its CRDs", User::removes_everything),
    ];
    for (name, chapter) in chapters {
        let outcome = chapter(&user);
        println!("{:6.1} s  {name}", begun.elapsed().as_secs_f64());
        if let Err(reason) = outcome {
            panic!("{name}: {reason}\n{}", user.state());
        }
    }
}

/// What a user does, which must come out as he expects.
type Chapter<'r> = fn(&User<'r>) -> Result<(), String>;

/// Somebody with the program and a kubeconfig.
struct User<'r> {
    rig: &'r Rig,
    program: PathBuf,
}

impl User<'_> {
    // ---- Chapters ----

    fn pushes_the_image(&self) -> Result<(), String> {
        let first = self.expect(0, &["image", "-t", IMAGE])?;
        let second = self.expect(0, &["image", "-t", IMAGE])?;
        claim(first == second, "the same program made another image")
    }

    fn has_no_rights(&self) -> Result<(), String> {
        let kubeconfig = self.rig.kubeconfig_of_user(NOBODY).map_err(|error| error.to_string())?;
        let kubeconfig = kubeconfig.display().to_string();
        let told = self.expect(1, &["install", "--kubeconfig", &kubeconfig])?;
        for part in [
            "✕ you may not get, create, patch",
            "deployments.apps in namespace olm",
            "nothing was changed",
        ] {
            claim(told.contains(part), &format!("`{part}` is missing in: {told}"))?;
        }
        Ok(())
    }

    fn meets_upstream(&self) -> Result<(), String> {
        let manifest = "
apiVersion: apps/v1
kind: Deployment
metadata: { name: catalog-operator, namespace: default }
spec:
  selector: { matchLabels: { app: upstream } }
  template:
    metadata: { labels: { app: upstream } }
    spec: { containers: [{ name: one, image: '127.0.0.1:5000/rig/busybox:1' }] }
";
        self.rig.apply(manifest).map_err(|error| error.to_string())?;
        let told = self.expect(1, &["install", "--image", IMAGE])?;
        claim(told.contains("✕ upstream's OLM runs here"), &told)?;
        let scale = ["scale", "deployment/catalog-operator", "--replicas=0"];
        self.kubectl(&scale)?;
        let told = self.expect(0, &["install", "--image", IMAGE, "--dry-run"])?;
        claim(told.contains("is stopped") && told.contains("nothing was changed"), &told)?;
        claim(self.kubectl(&["get", "namespace", OLM]).is_err(), "a dry run made a namespace")?;
        self.kubectl(&["delete", "deployment", "catalog-operator"]).map(drop)
    }

    fn installs(&self) -> Result<(), String> {
        let install = self.install_command();
        let told = self.expect(0, &install)?;
        claim(told.contains("2 of 2 controllers run"), &told)?;
        self.until("somebody leads", || self.expect(0, &["status"]).is_ok())?;
        let level = "jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}";
        let enforced = self.kubectl(&["get", "namespace", OLM, "-o", level])?;
        claim(enforced == "restricted", &format!("pod security is `{enforced}`"))?;
        self.until("the first OperatorGroup is there", || {
            self.kubectl(&["get", "operatorgroup", "global-operators", "-n", "operators"]).is_ok()
        })?;
        let again = self.expect(0, &install)?;
        claim(again.contains("0 created, 0 configured"), &again)
    }

    fn uses_it(&self) -> Result<(), String> {
        let registry = self.rig.registry_for_pods();
        push_quickstart_as(self.rig, &self.program, registry)?;
        self.reaches(1, "beacon.v1.0.0")?;
        self.reaches(2, "beacon.v1.1.0")?;
        let told = self.expect(0, &["status"])?;
        for part in ["2 of 2 ready", "harbour/chandler READY", "2 Succeeded", "all is well"] {
            claim(told.contains(part), &format!("`{part}` is missing in: {told}"))?;
        }
        let json = self.expect(0, &["status", "-o", "json"])?;
        claim(json.contains("\"healthy\": true"), &json)
    }

    /// Whoever says how the pod of a catalog should run gets one, and it answers; nobody else does.
    fn asks_for_a_catalog_pod(&self) -> Result<(), String> {
        let pods = || self.kubectl(&["get", "deployment", "chandler", "-n", HARBOUR]);
        claim(pods().is_err(), "there was a pod before somebody asked for it")?;
        let wish = r#"{"spec":{"grpcPodConfig":{"memoryTarget":"40Mi","securityContextConfig":"restricted",
            "extractContent":{"catalogDir":"/configs","cacheDir":"/tmp/cache"}}}}"#;
        let patch = |patch| {
            let words = ["patch", "catalogsource", "chandler", "-n", HARBOUR, "--type=merge", "-p"];
            self.kubectl(&[&words[..], &[patch]].concat())
        };
        patch(wish)?;
        self.until("the Deployment is there", || pods().is_ok())?;
        let wait = ["rollout", "status", "deployment/chandler", "-n", HARBOUR, "--timeout=120s"];
        self.kubectl(&wait)?;
        let address = "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}";
        let address =
            self.kubectl(&["get", "service", "chandler", "-n", HARBOUR, "-o", address])?;
        let told = self.expect(0, &["registry", "query", address.trim(), "packages"])?;
        claim(told.contains("beacon") && told.contains("tide"), &told)?;
        patch(r#"{"spec":{"grpcPodConfig":null}}"#)?;
        self.until("the pod is gone", || pods().is_err())
    }

    fn kills_the_leader(&self) -> Result<(), String> {
        // Its log goes with it.
        self.looks_for_refusals()?;
        let before = self.leader()?;
        self.kubectl(&["delete", "pod", &before, "-n", OLM, "--grace-period=0", "--force"])?;
        self.until("another one leads", || {
            self.leader().is_ok_and(|now| !now.is_empty() && now != before)
        })?;
        self.reaches(3, "beacon.v1.1.1")?;
        self.until("both run again", || self.expect(0, &["status"]).is_ok())
    }

    fn looks_for_refusals(&self) -> Result<(), String> {
        let words = ["logs", "-n", OLM, "--selector=app=operon-controller", "--tail=-1"];
        let log = self.kubectl(&words)?;
        claim(log.contains("this process leads"), "the log of the leader is missing")?;
        let refused: Vec<&str> =
            log.lines().filter(|line| line.to_lowercase().contains("forbidden")).collect();
        claim(refused.is_empty(), &refused.join("\n"))
    }

    fn removes_it(&self) -> Result<(), String> {
        let told = self.expect(2, &["uninstall", "--self"])?;
        claim(told.contains("= 2 operators keep running"), &told)?;
        self.expect(1, &["uninstall", "--self", "--approve", "0123456789"])?;
        let approval = told.rsplit("--approve ").next().unwrap_or_default().trim();
        let told = self.expect(0, &["uninstall", "--self", "--approve", approval])?;
        claim(told.contains("Operon is gone"), &told)?;
        let gone = ["get", "deployments,pods,serviceaccounts,leases", "-n", OLM, "-o", "name"];
        let left = self.kubectl(&gone)?;
        claim(!left.contains("operon"), &left)?;
        claim(
            self.kubectl(&["get", "clusterrole", "operon-controller"]).is_err(),
            "a role is left",
        )?;
        let policies = "validatingadmissionpolicies,validatingadmissionpolicybindings";
        let left = self.kubectl(&["get", policies, "-o", "name"])?;
        claim(!left.contains("operon"), &left)?;
        let told = self.expect(2, &["status"])?;
        claim(told.contains("Operon is not on this cluster"), &told)?;
        let wait = ["wait", "--for=condition=Available", "deployment", "--all", "-n", HARBOUR];
        self.kubectl(&wait)?;
        claim(self.operators()?.contains("beacon.v1.1.1 Succeeded"), "an operator is gone")
    }

    fn removes_everything(&self) -> Result<(), String> {
        self.expect(0, &self.install_command())?;
        let told = self.expect(2, &["uninstall", "--self", "--with-crds"])?;
        claim(told.contains("- 2 operators stop") && told.contains("--yes"), &told)?;
        let told = self.expect(0, &["uninstall", "--self", "--with-crds", "--yes"])?;
        claim(told.contains("Operon is gone"), &told)?;
        let left = self.kubectl(&["get", "crd", "-o", "name"])?;
        claim(!left.contains("operators.coreos.com"), &left)?;
        self.until("what operators were made of is gone", || {
            let parts = ["get", "deployments,roles", "-n", HARBOUR, "-o", "name"];
            self.kubectl(&parts).is_ok_and(|left| left.trim().is_empty())
        })
    }

    // ---- What a user does ----

    fn install_command(&self) -> [&'static str; 5] {
        let registry = self.rig.registry_for_pods();
        ["install", "--image", IMAGE, "--insecure-registry", registry]
    }

    /// Publishes the catalog in a state, and waits for the operator that should come of it.
    fn reaches(&self, state: usize, operator: &str) -> Result<(), String> {
        let manifests = manifests_as(self.rig.registry_for_pods(), state);
        self.rig.apply(&manifests).map_err(|error| error.to_string())?;
        self.until(&format!("{operator} and what it needs run"), || {
            self.operators().is_ok_and(|operators| {
                let wanted = format!("{operator} Succeeded");
                operators.lines().count() == 2
                    && operators.contains(&wanted)
                    && operators.lines().all(|line| line.ends_with(" Succeeded"))
            })
        })
    }

    fn operators(&self) -> Result<String, String> {
        let columns = "custom-columns=:metadata.name,:status.phase";
        let text = self.kubectl(&["get", "csv", "-n", HARBOUR, "--no-headers", "-o", columns])?;
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns the pod that leads.
    fn leader(&self) -> Result<String, String> {
        let holder = "jsonpath={.spec.holderIdentity}";
        let holder = self.kubectl(&["get", "lease", "operon-leader", "-n", OLM, "-o", holder])?;
        Ok(holder.split('_').next().unwrap_or_default().to_owned())
    }

    /// Runs the program, which must end with a code, and returns all it said.
    fn expect(&self, code: i32, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(found) if found == code => Ok(text),
            found => Err(format!("operon {} ended with {found:?}: {text}", arguments.join(" "))),
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut command = self.rig.command(&self.program.display().to_string());
        command.args(arguments).output().map_err(|error| error.to_string())
    }

    fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.rig.kubectl(arguments).map_err(|error| error.to_string())
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
        let begun = Instant::now();
        while !is_so() {
            if begun.elapsed() > PATIENCE {
                return Err(format!("not even after {PATIENCE:?}: {what}"));
            }
            thread::sleep(Duration::from_millis(250));
        }
        Ok(())
    }

    /// Says how everything stands, for people.
    fn state(&self) -> String {
        let asked: [&[&str]; 4] = [
            &["get", "pods", "--all-namespaces", "-o", "wide"],
            &["get", "events", "-n", OLM],
            &["get", "sub,ip,csv,catsrc", "--all-namespaces"],
            &["logs", "-n", OLM, "--selector=app=operon-controller", "--tail=20"],
        ];
        let told = asked.map(|words| self.kubectl(words).unwrap_or_else(|error| error));
        told.join("\n")
    }
}

fn claim(is_so: bool, otherwise: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise.to_owned()) }
}
