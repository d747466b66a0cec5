//! Claims about Deployments: overrides, certificates, health.

use operon_install::{
    DEPLOYMENT_HASH_LABEL, DeploymentHealth, DeploymentTemplate, deployment_for, deployment_health,
    label_owner,
};
use operon_object::{Object, Value};

use crate::support::{csv, value};

/// Returns the Deployment `op` whose only container `c` and whose pod have some more fields.
fn deployed(container: &str, pod: &str, config: &str, ca_hash: Option<&str>) -> Object {
    let mut spec = value(r#"{"template":{"spec":{"containers":[{"name":"c"}]}}}"#);
    let pod_spec = spec.place(&["template", "spec"]);
    for (name, field) in value(pod).entries() {
        pod_spec.set(&[name], field.clone());
    }
    let containers = pod_spec.place(&["containers"]).make_list();
    for (name, field) in value(container).entries() {
        containers[0].set(&[name], field.clone());
    }
    let template = DeploymentTemplate { name: "op".to_owned(), spec, labels: Value::Null };
    deployment_for(&csv("{}"), &template, &value(config), ca_hash).expect("it fits its type")
}

#[test]
fn a_configuration_changes_pods_as_documented() {
    let node = r#"{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]}}"#;
    let claims = [
        // What the operator has, what the Subscription asks for, the field, what it becomes.
        (
            r#"{"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}"#,
            "{}",
            r#"{"env":[{"name":"C","value":"3"},{"name":"A","value":"9"}]}"#,
            "c.env",
            r#"[{"name":"A","value":"9"},{"name":"B","value":"2"},{"name":"C","value":"3"},
                {"name":"OPERATOR_CONDITION_NAME","value":"op.v1"}]"#,
        ),
        (
            r#"{"env":[{"name":"OPERATOR_CONDITION_NAME","value":"old"},{"name":"A"}]}"#,
            "{}",
            "null",
            "c.env",
            r#"[{"name":"OPERATOR_CONDITION_NAME","value":"op.v1"},{"name":"A"}]"#,
        ),
        (
            r#"{"envFrom":[{"secretRef":{"name":"s"}}]}"#,
            "{}",
            r#"{"envFrom":[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"s"}}]}"#,
            "c.envFrom",
            r#"[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"s"}}]"#,
        ),
        (
            r#"{"volumeMounts":[{"name":"v","mountPath":"/a"}]}"#,
            "{}",
            r#"{"volumeMounts":[{"name":"v","mountPath":"/b"},{"name":"w","mountPath":"/c"}]}"#,
            "c.volumeMounts",
            r#"[{"name":"v","mountPath":"/b"},{"name":"w","mountPath":"/c"}]"#,
        ),
        (
            r#"{"resources":{"limits":{"cpu":"1"}}}"#,
            "{}",
            r#"{"resources":{"requests":{"memory":"1024Mi"}}}"#,
            "c.resources",
            r#"{"requests":{"memory":"1Gi"}}"#,
        ),
        (
            r#"{"resources":{"limits":{"cpu":"1"}}}"#,
            "{}",
            r#"{"resources":{}}"#,
            "c.resources",
            "{}",
        ),
        (
            "{}",
            r#"{"volumes":[{"name":"v","emptyDir":{}}]}"#,
            r#"{"volumes":[{"name":"v","configMap":{"name":"x"}},{"name":"w","emptyDir":{}}]}"#,
            "volumes",
            r#"[{"name":"v","configMap":{"name":"x"}},{"name":"w","emptyDir":{}}]"#,
        ),
        (
            "{}",
            r#"{"tolerations":[{"key":"a","operator":"Exists"}]}"#,
            r#"{"tolerations":[{"key":"a","operator":"Exists","unknown":1},{"key":"b"}]}"#,
            "tolerations",
            r#"[{"key":"a","operator":"Exists"},{"key":"b"}]"#,
        ),
        ("{}", r#"{"nodeSelector":{"a":"b"}}"#, "{}", "nodeSelector", r#"{"a":"b"}"#),
        (
            "{}",
            r#"{"nodeSelector":{"a":"b"}}"#,
            r#"{"nodeSelector":{"c":"d"}}"#,
            "nodeSelector",
            r#"{"c":"d"}"#,
        ),
        ("{}", r#"{"nodeSelector":{"a":"b"}}"#, r#"{"nodeSelector":{}}"#, "nodeSelector", "null"),
        ("{}", &format!(r#"{{"affinity":{node}}}"#), "{}", "affinity", r#"{"nodeAffinity":{}}"#),
        ("{}", &format!(r#"{{"affinity":{node}}}"#), r#"{"affinity":{}}"#, "affinity", "null"),
        ("{}", "{}", r#"{"affinity":{"nodeAffinity":{}}}"#, "affinity", r#"{"nodeAffinity":{}}"#),
        (
            "{}",
            r#"{"affinity":{"nodeAffinity":{},"podAffinity":{},"podAntiAffinity":{}}}"#,
            r#"{"affinity":{"podAntiAffinity":{}}}"#,
            "affinity",
            r#"{"nodeAffinity":{},"podAffinity":{}}"#,
        ),
        (
            "{}",
            r#"{"affinity":{"podAntiAffinity":{}}}"#,
            r#"{"affinity":{"podAntiAffinity":{}}}"#,
            "affinity",
            "null",
        ),
    ];
    for (container, pod, config, field, expected) in claims {
        let deployment = deployed(container, pod, config, None);
        let pod_spec = deployment.at(&["spec", "template", "spec"]);
        let found = match field.strip_prefix("c.") {
            Some(field) => pod_spec.get("containers").elements()[0].get(field),
            None => pod_spec.get(field),
        };
        assert_eq!(*found, value(expected), "{container} {pod} {config}");
    }
}

#[test]
fn annotations_of_a_configuration_never_win() {
    let mut csv = csv("{}");
    csv.set_annotation("a", "csv");
    let spec =
        value(r#"{"template":{"metadata":{"annotations":{"a":"pod","t":"pod"}},"spec":{}}}"#);
    let template =
        DeploymentTemplate { name: "op".to_owned(), spec, labels: value(r#"{"l":"m"}"#) };
    let config = value(r#"{"annotations":{"a":"sub","t":"sub","s":"sub"}}"#);
    let deployment = deployment_for(&csv, &template, &config, None).expect("it fits its type");
    assert_eq!(deployment.label("l"), "m");
    assert_eq!(*deployment.metadata("annotations"), value(r#"{"a":"sub","t":"sub","s":"sub"}"#));
    let annotations = deployment.at(&["spec", "template", "metadata", "annotations"]);
    assert_eq!(*annotations, value(r#"{"a":"csv","t":"pod","s":"sub"}"#));
}

#[test]
fn certificates_are_mounted_where_servers_look() {
    let container = r#"{"volumeMounts":[
        {"name":"mine","mountPath":"/tmp/k8s-webhook-server/serving-certs"},
        {"name":"apiservice-cert","mountPath":"/elsewhere"}]}"#;
    let pod = r#"{"volumes":[{"name":"webhook-cert","emptyDir":{}}]}"#;
    let deployment = deployed(container, pod, "null", Some("cafe"));
    let pod_spec = deployment.at(&["spec", "template", "spec"]);
    assert_eq!(pod_spec.get("serviceAccountName").str(), "default");
    let mounts = pod_spec.get("containers").elements()[0].get("volumeMounts");
    let expected = value(
        r#"[{"name":"webhook-cert","mountPath":"/tmp/k8s-webhook-server/serving-certs"},
            {"name":"apiservice-cert","mountPath":"/elsewhere"}]"#,
    );
    assert_eq!(*mounts, expected);
    let expected = value(
        r#"[{"name":"webhook-cert","secret":{"secretName":"op-service-cert","items":[
                {"key":"tls.crt","path":"tls.crt"},{"key":"tls.key","path":"tls.key"}]}},
            {"name":"apiservice-cert","secret":{"secretName":"op-service-cert","items":[
                {"key":"tls.crt","path":"apiserver.crt"},{"key":"tls.key","path":"apiserver.key"}]}}]"#,
    );
    assert_eq!(*pod_spec.get("volumes"), expected);
    let annotations = deployment.at(&["spec", "template", "metadata", "annotations"]);
    assert_eq!(*annotations, value(r#"{"olmcahash":"cafe"}"#));
    let other = deployed(container, pod, "null", Some("beef"));
    assert_ne!(deployment.label(DEPLOYMENT_HASH_LABEL), other.label(DEPLOYMENT_HASH_LABEL));
}

#[test]
fn a_wrong_type_is_named_with_its_place() {
    let claims = [
        (
            r#"{"template":{"spec":{"containers":[{"name":"c","image":5}]}}}"#,
            "`spec.install.spec.deployments[op].spec.template.spec.containers[0].image` must be a \
             text, not `5`",
        ),
        (
            r#"{"replicas":"two"}"#,
            "`spec.install.spec.deployments[op].spec.replicas` must be a whole number, not the text \
             \"two\"",
        ),
        (
            r#"{"replicas":3000000000}"#,
            "`spec.install.spec.deployments[op].spec.replicas` must be a whole number of 32 bits, \
             not `3000000000`",
        ),
        (
            r#"{"template":{"spec":{"overhead":{"cpu":"much"}}}}"#,
            "`spec.install.spec.deployments[op].spec.template.spec.overhead.cpu` must be a quantity \
             such as `500Mi`, not the text \"much\"",
        ),
        (r#"[]"#, "`spec.install.spec.deployments[op].spec` must be a map, not a list"),
    ];
    for (spec, expected) in claims {
        let spec = value(spec);
        let template = DeploymentTemplate { name: "op".to_owned(), spec, labels: Value::Null };
        let fault = deployment_for(&csv("{}"), &template, &Value::Null, None);
        assert_eq!(fault.map_err(|fault| fault.to_string()), Err(expected.to_owned()));
    }
}

#[test]
fn health_is_told_in_the_words_of_upstream() {
    let csv = {
        let mut csv = csv("{}");
        csv.set_annotation("olm.targetNamespaces", "a,b");
        csv
    };
    let template =
        DeploymentTemplate { name: "op".to_owned(), spec: value("{}"), labels: Value::Null };
    let wanted = deployment_for(&csv, &template, &Value::Null, None).expect("it fits its type");
    let available = r#"{"conditions":[{"type":"Available","status":"True"}]}"#;
    let with = |status: &str| {
        let mut live = wanted.clone();
        live.set(&["status"], value(status));
        live
    };
    let waiting = |reason: &str| format!("waiting for deployment op to become ready: {reason}");

    let mut unobserved = with(available);
    unobserved.metadata_mut().insert("generation", 2);
    let mut bare = with(available);
    bare.value_mut().remove(&["spec", "template", "metadata"]);
    let mut other = with(available);
    other.set(&["spec", "template", "metadata", "annotations", "olm.targetNamespaces"], "a");
    let mut without = with(available);
    without.set(&["spec", "template", "metadata", "annotations"], value(r#"{"x":"y"}"#));
    let mut changed = with(available);
    changed.set_label(DEPLOYMENT_HASH_LABEL, "old");
    let mut unhashed = with(available);
    unhashed.value_mut().remove(&["metadata", "labels", DEPLOYMENT_HASH_LABEL]);
    let mut foreign = with(available);
    label_owner(&mut foreign, &Object::new("v1", "ClusterServiceVersion", "ns", "op.v2"));
    let hash = wanted.label(DEPLOYMENT_HASH_LABEL);

    let claims = [
        (None, "missing deployment with name=op".to_owned()),
        (Some(foreign), "missing deployment with name=op".to_owned()),
        (
            Some(unobserved),
            waiting("waiting for spec update of deployment \"op\" to be observed..."),
        ),
        (
            Some(with(
                r#"{"replicas":3,"conditions":[
                    {"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}"#,
            )),
            "deployment op not ready before timeout: deployment \"op\" exceeded its progress \
             deadline"
                .to_owned(),
        ),
        (
            Some(with(r#"{"replicas":3,"updatedReplicas":1}"#)),
            waiting("deployment \"op\" waiting for 2 outdated replica(s) to be terminated"),
        ),
        (
            Some(with("{}")),
            waiting("deployment \"op\" not available: missing condition \"Available\""),
        ),
        (
            Some(with(r#"{"conditions":[{"type":"Available","status":"False","message":"no"}]}"#)),
            waiting("deployment \"op\" not available: no"),
        ),
        (Some(bare), "no annotations found on deployment".to_owned()),
        (
            Some(without),
            "annotations on deployment does not contain expected key: olm.targetNamespaces"
                .to_owned(),
        ),
        (
            Some(other),
            "unexpected annotation on deployment. Expected olm.targetNamespaces:a,b, found \
             olm.targetNamespaces:a"
                .to_owned(),
        ),
        (Some(unhashed), "deployment doesn't have a spec hash, update it".to_owned()),
        (Some(changed), format!("deployment changed old hash=old, new hash={hash}")),
        (Some(with(available)), String::new()),
    ];
    for (live, expected) in claims {
        let health = deployment_health(&wanted, live.as_ref(), &csv);
        assert_eq!(health.message(), expected, "{live:?}");
        assert_eq!(health == DeploymentHealth::Healthy, expected.is_empty(), "{live:?}");
    }
}
