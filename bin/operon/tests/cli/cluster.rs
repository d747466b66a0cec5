//! The commands beside `operon up`, and what they say about bad input.

use std::fs;

use operon_api::crd_objects;
use operon_object::{Object, go_json};

use crate::harbour::{Harbour, steady};

/// Asks for `foghorn` without approval and for a kind that `beacon` defines.
const MORE: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: { name: foghorn, namespace: harbour }
spec: { name: foghorn, channel: stable, source: chandler, sourceNamespace: harbour }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: tables }
data: { low: '1' }
";

#[test]
fn objects_are_applied_shown_and_deleted() {
    let harbour = Harbour::new();
    harbour.up();
    harbour.write("more/more.yaml", MORE);
    let apply = || harbour.operon(&["apply", "-f", "more/more.yaml"]);
    insta::assert_snapshot!(apply(), @r"
    subscription.operators.coreos.com/foghorn created
    configmap/tables created
    hint: operon up . acts on it
    [exit code 0]
    ");
    assert!(apply().contains("configmap/tables unchanged"));
    harbour.write("more/more.yaml", &MORE.replace("low: '1'", "high: '2'"));
    assert!(apply().contains("configmap/tables configured"));
    let shown = harbour.operon(&["get", "cm", "tables", "-n", "default", "-o", "json"]);
    assert!(shown.contains("\"high\": \"2\"") && shown.contains("\"uid\""), "{shown}");
    assert!(!shown.contains("low") && !shown.contains("managedFields"), "{shown}");
    assert!(harbour.up().contains("3 running"));
    // What was printed can be applied, also to a cluster that has another object of that name.
    let shown = harbour.operon(&["get", "sub", "foghorn", "-n", "harbour", "-o", "yaml"]);
    let printed = shown.replace("[exit code 0]", "");
    assert!(printed.contains("  uid: "), "{printed}");
    let elsewhere = printed
        .replace("  uid: ", "  uid: f")
        .replace("resourceVersion: \"", "resourceVersion: \"9");
    for text in [&printed, &elsewhere] {
        harbour.write("more/printed.yaml", text);
        let told = harbour.operon(&["apply", "-f", "more/printed.yaml"]);
        assert!(told.ends_with("[exit code 0]"), "{told}");
    }

    // A file that is not in the directory is not the directory's to delete.
    insta::assert_snapshot!(harbour.operon(&["get", "csv,deploy", "-n", "harbour", "-o", "name"]), @r"
    clusterserviceversion.operators.coreos.com/beacon.v1.0.0
    clusterserviceversion.operators.coreos.com/foghorn.v0.9.0
    clusterserviceversion.operators.coreos.com/tide.v1.0.0
    deployment.apps/beacon-operator
    deployment.apps/foghorn-operator
    deployment.apps/tide-operator
    [exit code 0]
    ");
    insta::assert_snapshot!(harbour.operon(&["delete", "sub", "foghorn"]), @r"
    subscription.operators.coreos.com/foghorn deleted
    hint: operon up . acts on it
    [exit code 0]
    ");
    let events = harbour.operon(&["events", "--for", "foghorn.v0.9.0"]);
    assert!(events.contains("clusterserviceversion/foghorn.v0.9.0"), "{events}");
    assert!(!events.contains("tide.v1.0.0"), "{events}");
}

/// A custom resource whose definition comes with an operator waits for it.
#[test]
fn a_resource_waits_for_its_definition() {
    let harbour = Harbour::new();
    let lamp = "apiVersion: beacon.example.com/v1\nkind: Lamp\nmetadata: { name: east, namespace: harbour }\nspec: { colour: red }\n";
    harbour.write("lamp.yaml", lamp);
    let up = harbour.up();
    let refused = "warning: ./lamp.yaml:1: Lamp harbour/east: no matches for kind \"Lamp\" in version \"beacon.example.com/v1\"";
    assert!(up.contains(refused), "{up}");
    assert!(up.contains("manifest  Lamp harbour/east created"), "{up}");
    assert!(up.contains("[exit code 0]"), "{up}");
    assert!(harbour.operon(&["get", "lamps"]).contains("east"));

    harbour.write("lamp.yaml", &lamp.replace("red", "pink"));
    let up = harbour.up();
    assert!(up.contains("not applied: ./lamp.yaml:1: Lamp harbour/east: "), "{up}");
    assert!(up.contains("spec.colour: Unsupported value: \"pink\""), "{up}");
    assert!(up.contains("[exit code 1]"), "{up}");
}

#[test]
fn what_holds_an_operator_back_is_said() {
    let harbour = Harbour::new();
    harbour.up();
    assert!(harbour.operon(&["pin", "beacon.v1.0.0", "1.0.x"]).contains("[exit code 0]"));
    harbour.unmark("catalog/beacon.yaml", "#2 ");
    harbour.unmark("catalog/beacon.yaml", "#3 ");
    assert!(harbour.up().contains("operator  beacon        1.0.0            Succeeded"));
    assert!(harbour.operon(&["get", "csv"]).contains("beacon.v1.0.0"));
    let described = harbour.operon(&["describe", "sub", "beacon"]);
    assert!(described.contains("Pinned to:    1.0.x"), "{described}");

    insta::assert_snapshot!(harbour.operon(&["pause", "tide"]), @r"
    Subscription harbour/tide-stable-chandler-harbour is paused
    hint: operon up . acts on it
    [exit code 0]
    ");
    assert!(harbour.operon(&["pause", "tide"]).contains("is already paused"));
    harbour.unmark("catalog/tide.yaml", "#1 ");
    let up = harbour.up();
    assert!(up.contains("runs, but the Subscription is paused"), "{up}");

    harbour.unmark("cluster.yaml", "#4 ");
    assert!(harbour.up().contains("next: operon approve foghorn -n harbour\n[exit code 1]"));
    insta::assert_snapshot!(steady(&harbour.operon(&["reject", "foghorn.v0.9.0"])), @r"
    InstallPlan harbour/install-… rejected: foghorn.v0.9.0
    hint: operon up . acts on it
    [exit code 0]
    ");
    let up = steady(&harbour.up());
    assert!(up.contains("foghorn does not run: InstallPlan install-… was rejected"), "{up}");
}

#[test]
fn bad_input_is_answered() {
    let harbour = Harbour::new();
    let claims: [(&[&str], &str); 5] = [
        (&["up", "--kube-version", "newest"], "error: `newest` is no version such as `v1.33.0`"),
        (
            &["up", "nowhere"],
            "error: there is no directory `nowhere`\n  because: No such file or directory",
        ),
        (&["up", "cluster.yaml"], "error: `cluster.yaml` is not a directory"),
        (&["get", "csv"], "error: there is no cluster in `.`\nhint: operon up . begins one"),
        (&["approve"], "the following required arguments were not provided"),
    ];
    for (arguments, expected) in claims {
        let answer = harbour.operon(arguments);
        assert!(answer.contains(expected), "{arguments:?}: {answer}");
        assert!(!harbour.path(".operon").exists(), "{arguments:?}");
    }
    harbour.up();
    harbour.write("bad.yaml", "kind: Subscription\n---\nkind: [\n");
    let claims: [(&[&str], &str); 12] = [
        (&["get", "csvs,subz"], "error: the cluster has no kind `subz`\nhint: did you mean `sub`?"),
        (&["get", "lmaps"], "hint: did you mean `lamps`?"),
        (
            &["get", "sub", "beacn"],
            "error: there is no Subscription `beacn`\nhint: did you mean `beacon`?",
        ),
        (&["get", "cm", "nothing-like-it"], "hint: there is no ConfigMap at all"),
        (&["describe", "csv", "beacon.v1.0.1"], "did you mean `beacon.v1.0.0`?"),
        (&["delete", "ns", "harbor"], "did you mean `harbour`?"),
        (
            &["pin", "beacon", "latest"],
            "error: `latest` is neither a version such as `1.4.3` nor a range",
        ),
        (&["pin", "lighthouse", "1.0.0"], "error: there is no Subscription `lighthouse`"),
        (&["approve", "beacon"], "error: no InstallPlan for `beacon` waits for approval: install-"),
        (&["approve", "--all"], "error: no InstallPlan waits for approval"),
        (&["apply", "-f", "bad.yaml"], "error: the manifests have 2 errors; nothing was done"),
        (&["apply", "-f", "nowhere.yaml"], "error: cannot read the manifests in `nowhere.yaml`"),
    ];
    for (arguments, expected) in claims {
        let answer = harbour.operon(arguments);
        assert!(answer.contains(expected), "{arguments:?}: {answer}");
        assert!(answer.ends_with("[exit code 1]"), "{arguments:?}: {answer}");
    }
}

/// Whatever is wrong in a directory is told, and the rest goes on.
#[test]
fn one_broken_neighbour_does_not_stop_the_rest() {
    let harbour = Harbour::new();
    harbour.write(
        "aa-broken.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: { name: sound }\n---\nkind: [\n",
    );
    harbour.write(
        "zz-refused.yaml",
        "kind: ConfigMap\napiVersion: v1\nmetadata: { name: Not_A_Name }\n",
    );
    harbour.write("catalog/broken.yaml", "schema: [");
    let nowhere = "apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: { name: nowhere, namespace: harbour }\nspec: { sourceType: grpc, image: quay.io/Nowhere }\n";
    harbour.write("nowhere.yaml", nowhere);
    let up = harbour.up();
    let claims = [
        "2 running\n",
        "not applied: ./aa-broken.yaml:6: this is not YAML",
        "not applied: ./zz-refused.yaml:1: ConfigMap default/Not_A_Name: ",
        "catalog chandler is broken: the catalog has an error: broken.yaml:1: this is not YAML",
        "catalog nowhere is broken: there is no file or directory `quay.io/Nowhere`, and it is no image: ",
        "[exit code 1]",
    ];
    for claim in claims {
        assert!(up.contains(claim), "`{claim}` is not in {up}");
    }
    assert!(harbour.operon(&["get", "cm", "sound"]).contains("[exit code 0]"));

    // While a file is broken, what it said may not be deleted for being missed.
    harbour.write("aa-broken.yaml", "kind: [\n");
    harbour.up();
    assert!(harbour.operon(&["get", "cm", "sound"]).contains("[exit code 0]"));
    harbour.write("aa-broken.yaml", "");
    assert!(harbour.up().contains("manifest  ConfigMap default/sound deleted"));
}

#[test]
fn a_state_that_cannot_be_used_is_left_as_it_is() {
    let harbour = Harbour::new();
    harbour.write(".operon", "a file where the directory should be");
    let answer = harbour.up();
    assert!(answer.starts_with("error: the state directory `./.operon` is a file"), "{answer}");
    fs::remove_file(harbour.path(".operon")).unwrap();

    let other = "this is something else, and long enough to be taken for a store ".repeat(200);
    harbour.write(".operon/operon.redb", &other);
    for arguments in [&["up"][..], &["get", "csv"]] {
        let answer = harbour.operon(arguments);
        assert!(answer.contains("`./.operon/operon.redb` is not a store of Operon"), "{answer}");
        assert!(answer.ends_with("[exit code 1]"), "{answer}");
    }
    assert_eq!(fs::read_to_string(harbour.path(".operon/operon.redb")).unwrap(), other);
}

#[test]
fn changed_definitions_are_restored_and_reported_once() {
    let harbour = Harbour::new();
    harbour.up();
    let subscriptions = harbour.operon(&["get", "sub", "-A", "-o", "name"]);
    assert!(subscriptions.contains("subscription.operators.coreos.com/"), "{subscriptions}");
    let is_wanted = |found: &Object| found.name() == "subscriptions.operators.coreos.com";
    let mut changed = crd_objects().into_iter().find(is_wanted).unwrap();
    let versions = changed.value_mut().place(&["spec", "versions"]).make_list();
    let mut evil = versions[0].clone();
    evil.set(&["name"], "v1evil");
    versions[0].set(&["storage"], false);
    versions.push(evil);
    harbour.write("more/crd.json", &go_json(changed.value()));
    let applied = harbour.operon(&["apply", "-f", "more/crd.json"]);
    assert!(applied.ends_with("[exit code 0]"), "{applied}");

    let answer = harbour.operon(&["get", "sub", "-A", "-o", "name"]);
    let notice = "CustomResourceDefinition subscriptions.operators.coreos.com of the embedded \
                  cluster had been changed and was restored; dropped the versions: `v1evil`";
    assert!(answer.contains(notice), "{answer}");
    assert!(answer.ends_with("[exit code 0]"), "{answer}");
    assert_eq!(harbour.operon(&["get", "sub", "-A", "-o", "name"]), subscriptions);
    assert!(harbour.up().contains("running"));
}

#[test]
fn the_definitions_are_printed() {
    let harbour = Harbour::new();
    let printed = harbour.operon(&["crds"]);
    let count = printed.matches("\nkind: CustomResourceDefinition\n").count();
    assert_eq!(count, 8);
    harbour.up();
    harbour.write("more/crds.yaml", printed.trim_end_matches("[exit code 0]"));
    let applied = harbour.operon(&["apply", "-f", "more/crds.yaml"]);
    assert_eq!(applied.matches("customresourcedefinition").count(), 8, "{applied}");
    assert!(applied.ends_with("[exit code 0]"), "{applied}");
}

/// Operators may require any of them, and their users have objects of them.
#[test]
fn kinds_of_every_cluster_are_served() {
    let harbour = Harbour::new();
    harbour.up();
    let manifests = [
        "{ apiVersion: apps/v1, kind: StatefulSet, metadata: { name: one, namespace: harbour }, spec: { serviceName: one } }",
        "{ apiVersion: batch/v1, kind: CronJob, metadata: { name: one, namespace: harbour }, spec: { schedule: '* * * * *' } }",
        "{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: one, namespace: harbour } }",
        "{ apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: { name: one, namespace: harbour } }",
        "{ apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: { name: one, namespace: harbour } }",
        "{ apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: { name: one } }",
    ];
    harbour.write("more/kinds.yaml", &manifests.join("\n---\n"));
    let told = harbour.operon(&["apply", "-f", "more/kinds.yaml"]);
    assert!(told.ends_with("[exit code 0]"), "{told}");
    let shown = harbour.operon(&["get", "sts,cronjob,pvc,ing,hpa,sc", "-o", "name"]);
    insta::assert_snapshot!(shown, @r"
    statefulset.apps/one
    cronjob.batch/one
    persistentvolumeclaim/one
    ingress.networking.k8s.io/one
    horizontalpodautoscaler.autoscaling/one
    storageclass.storage.k8s.io/one
    [exit code 0]
    ");
    let stored = harbour.operon(&["get", "hpa", "one", "-n", "harbour", "-o", "yaml"]);
    assert!(stored.contains("apiVersion: autoscaling/v2"), "{stored}");
}
