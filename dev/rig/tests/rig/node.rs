//! A node runs containers: Deployments roll out, pods are reached, entered and read, images are pulled.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use operon_oci::build::{BuiltImage, ImageSettings, LayerBuilder};
use operon_rig::{
    API_SERVICE_ADDRESS, BUSYBOX_IMAGE, Component, Rig, RigError, RigOptions, rig_for_test,
};

use crate::{eventually, traces::traces};

/// The address that the Service of the test has.
const SERVICE: &str = "10.96.7.7";

/// Two web servers that say their names, a Service before them, and a pod that only stays alive.
fn manifests() -> String {
    format!(
        r#"
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: web
        image: {BUSYBOX_IMAGE}
        command: [/bin/sh, -c, "mkdir /www; hostname > /www/index.html; echo begun; exec httpd -f -p 80 -h /www"]
        readinessProbe: {{tcpSocket: {{port: 80}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{clusterIP: {SERVICE}, selector: {{app: web}}, ports: [{{port: 80}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: idle}}
spec: {{containers: [{{name: idle, image: "{BUSYBOX_IMAGE}"}}]}}
"#
    )
}

fn roll_out(rig: &Rig) -> Result<(), RigError> {
    rig.apply(&manifests())?;
    rig.kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"])?;
    rig.kubectl(&["wait", "--for=condition=Ready", "pod/idle", "--timeout=120s"])?;
    Ok(())
}

/// Asks the Service from a pod, which reaches one web server or the other.
fn ask_the_service(rig: &Rig) -> Result<String, RigError> {
    let address = format!("http://{SERVICE}/");
    rig.kubectl(&["exec", "idle", "--", "wget", "-q", "-O", "-", &address])
}

#[test]
fn a_node_runs_pods_that_reach_each_other_and_leaves_nothing_behind() -> Result<(), RigError> {
    let Some(rig) = rig_for_test(RigOptions::cluster("node"))? else {
        return Ok(());
    };
    let name = rig.name().to_owned();
    roll_out(&rig)?;

    let said = rig.kubectl(&["logs", "--selector=app=web"])?;
    assert_eq!(said.lines().collect::<Vec<_>>(), ["begun", "begun"]);
    let pods = rig.kubectl(&["get", "pods", "--selector=app=web", "--output=name"])?;
    let answer = ask_the_service(&rig)?;
    assert!(pods.contains(answer.trim()), "{answer:?} is none of {pods:?}");

    // Pods reach the API server at the address that they are told, and it reaches them.
    let connect = format!("nc -w 5 {API_SERVICE_ADDRESS} 443 < /dev/null");
    rig.kubectl(&["exec", "idle", "--", "sh", "-c", &connect])?;
    let answer =
        rig.kubectl(&["get", "--raw", "/api/v1/namespaces/default/services/web/proxy/"])?;
    assert!(pods.contains(answer.trim()), "{answer:?} is none of {pods:?}");

    // Containers outlive a kubelet and a containerd that are killed, and are known again afterwards.
    for component in [Component::Kubelet, Component::Containerd, Component::KubeProxy] {
        rig.kill(component)?;
        rig.start(component)?;
    }
    // The kubelet finds its way back to containerd by itself, after a while.
    let answer = eventually("the Service answers again", || ask_the_service(&rig).ok());
    assert!(pods.contains(answer.trim()), "{answer:?} is none of {pods:?}");

    // An image that a test makes is in the registry as it was made.
    let mut layer = LayerBuilder::new();
    layer.file("configs/greeting", "hello").expect("a path");
    let layer = layer.build().expect("a layer");
    let image = BuiltImage::new(&ImageSettings::default(), vec![layer]);
    let reference = rig.push(&image, "test/files:v1")?;
    let mut inspect = rig.command("skopeo");
    inspect.args(["inspect", "--raw", "--tls-verify=false", &format!("docker://{reference}")]);
    assert_eq!(inspect.output().expect("skopeo runs").stdout, image.manifest);

    assert!(traces(&name).iter().any(|trace| trace.contains("containerd-shim")));
    rig.down()?;
    assert_eq!(traces(&name), Vec::<String>::new());
    Ok(())
}

/// What the owner that is killed prints when its rig runs.
const UP: &str = "the rig to be left is up: ";

/// The variable that makes this test be that owner.
const OWNER: &str = "OPERON_RIG_TEST_OWNER";

#[test]
fn a_rig_whose_owner_was_killed_is_taken_away_by_the_next() -> Result<(), RigError> {
    if env::var_os(OWNER).is_some() {
        return be_killed();
    }
    // Whether a rig can run here is found out, and said, by trying.
    let Some(rig) = rig_for_test(RigOptions::control_plane("before"))? else {
        return Ok(());
    };
    rig.down()?;
    let this = env::current_exe().expect("this program");
    let this_test = "node::a_rig_whose_owner_was_killed_is_taken_away_by_the_next";
    let mut owner = Command::new(this)
        .args(["--exact", this_test, "--nocapture"])
        .env(OWNER, "yes")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts again");
    let output = BufReader::new(owner.stdout.take().expect("it was asked for"));
    let lines = output.lines().map_while(Result::ok);
    let left = lines.filter_map(|line| Some(line.split_once(UP)?.1.to_owned())).next();
    let left = left.expect("the owner brings up a rig");
    assert!(traces(&left).iter().any(|trace| trace.contains("containerd-shim")));
    owner.kill().expect("it runs");
    owner.wait().expect("it ends");

    let next = rig_for_test(RigOptions::control_plane("after"))?;
    assert_eq!(traces(&left), Vec::<String>::new());
    drop(next);
    Ok(())
}

fn be_killed() -> Result<(), RigError> {
    let Some(rig) = rig_for_test(RigOptions::cluster("left"))? else {
        return Ok(());
    };
    roll_out(&rig)?;
    println!("{UP}{}", rig.name());
    // Nobody writes; the end of the input means that who should have killed this is gone.
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(())
}
