//! Claims about webhooks, APIs and what stands in front of them.

use operon_install::{
    DeploymentTemplate, GROUP_LABEL_PREFIX, ServingCertificate, WEBHOOK_HASH_LABEL,
    WEBHOOK_NAME_LABEL, WebhookFault, api_service, certificate_secret, check_webhooks,
    converted_crds, has_owner_labels, is_api_service_adoptable, label_owner, only_group, serves,
    serving_objects, unconverted_crd, webhook_configuration, webhook_hash,
};
use operon_object::{Object, Value};

use crate::support::{csv, object, value};

#[test]
fn dangerous_webhooks_are_refused_in_the_words_of_upstream() {
    let rule = |groups: &str, resources: &str| {
        format!(
            r#"{{"webhookdefinitions":[{{"generateName":"a","rules":[
                {{"apiGroups":["x"]}},{{"apiGroups":[{groups}],"resources":[{resources}]}}]}}]}}"#
        )
    };
    let admission = r#""admissionregistration.k8s.io""#;
    let configurations = "webhook rules cannot include MutatingWebhookConfiguration or \
                          ValidatingWebhookConfiguration resources";
    let claims = [
        (rule(r#""foo.io""#, r#""*""#), ""),
        (rule(r#""foo.io","*""#, r#""foos""#), "webhook rules cannot include all groups"),
        (rule(r#""operators.coreos.com""#, ""), "webhook rules cannot include the OLM group"),
        (rule(admission, r#""*""#), configurations),
        (rule(admission, r#""MutatingWebhookConfiguration""#), configurations),
        (rule(admission, r#""ValidatingWebhookConfiguration""#), configurations),
        (rule(admission, r#""validatingadmissionpolicies""#), ""),
        (
            r#"{"webhookdefinitions":[{"generateName":"a"},{"generateName":"b"},
                {"generateName":"a","rules":[{"apiGroups":["*"]}]}]}"#
                .to_owned(),
            "CSV contains repeated WebhookDescription name",
        ),
        ("{}".to_owned(), ""),
    ];
    for (spec, expected) in claims {
        let answer = check_webhooks(&csv(&spec)).map_err(|fault| fault.to_string());
        assert_eq!(answer.err().unwrap_or_default(), expected, "{spec}");
    }
}

#[test]
fn a_webhook_configuration_carries_all_of_its_definition() {
    let description = value(
        r#"{"generateName":"m.foo.io","type":"MutatingAdmissionWebhook","deploymentName":"op",
            "containerPort":8443,"targetPort":9443,"webhookPath":"/mutate","sideEffects":"None",
            "admissionReviewVersions":["v1"],"failurePolicy":"Fail","reinvocationPolicy":"IfNeeded",
            "objectSelector":{"matchLabels":{"a":"b"}},
            "rules":[{"operations":["CREATE"],"apiGroups":["foo.io"],"apiVersions":["v1"],"resources":["foos"]}]}"#,
    );
    let csv = csv("{}");
    let group = group(r#"{"targetNamespaces":["a"]}"#);
    let made = webhook_configuration(&csv, &description, &group, &[], "Q0E=");
    let made = made.expect("it is sound").expect("it is for admission");
    assert_eq!(made.kind().name(), "MutatingWebhookConfiguration");
    assert!(made.name().starts_with("m.foo.io-") && made.name().len() == "m.foo.io-".len() + 5);
    assert_eq!(made.metadata("generateName").str(), "m.foo.io-");
    assert!(has_owner_labels(&made, &csv));
    assert_eq!(made.label(WEBHOOK_NAME_LABEL), "m.foo.io");
    assert_eq!(Ok(made.label(WEBHOOK_HASH_LABEL)), webhook_hash(&description).as_deref());
    let expected = value(
        r#"[{"name":"m.foo.io","clientConfig":{"caBundle":"Q0E=",
                "service":{"name":"op-service","namespace":"ns","path":"/mutate","port":8443}},
            "namespaceSelector":{"matchLabels":{"olm.operatorgroup.uid/g1":""}},
            "sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"Fail",
            "reinvocationPolicy":"IfNeeded","objectSelector":{"matchLabels":{"a":"b"}},
            "rules":[{"operations":["CREATE"],"apiGroups":["foo.io"],"apiVersions":["v1"],"resources":["foos"],
                "scope":"Namespaced"}]}]"#,
    );
    assert_eq!(*made.at(&["webhooks"]), expected);
}

#[test]
fn webhooks_reach_only_namespaced_kinds_of_their_targets() {
    let description = |scope: &str| {
        value(&format!(
            r#"{{"generateName":"v","type":"ValidatingAdmissionWebhook","deploymentName":"op",
                "rules":[{{"apiGroups":[""],"resources":["*"],"scope":"{scope}"}}]}}"#
        ))
    };
    let protected = ["kube-system".to_owned(), "olm".to_owned()];
    let exclusion = value(
        r#"{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","olm"]}"#,
    );
    let claims = [
        ("{}", "*", Ok("*")),
        ("{}", "Cluster", Ok("Cluster")),
        (r#"{"targetNamespaces":["a"]}"#, "*", Ok("Namespaced")),
        (r#"{"targetNamespaces":["a"]}"#, "Namespaced", Ok("Namespaced")),
        (r#"{"targetNamespaces":["a"]}"#, "Cluster", Err(WebhookFault::ClusterScope)),
        (r#"{"selector":{"matchLabels":{"a":"b"}}}"#, "Cluster", Err(WebhookFault::ClusterScope)),
    ];
    for (spec, scope, expected) in claims {
        let made =
            webhook_configuration(&csv("{}"), &description(scope), &group(spec), &protected, "");
        let made = made.map(|made| made.expect("it is for admission"));
        if let Ok(made) = &made {
            let selector = made.at(&["webhooks"]).elements()[0].get("namespaceSelector");
            assert_eq!(
                selector.get("matchExpressions").elements(),
                std::slice::from_ref(&exclusion),
                "{spec}"
            );
        }
        let scope = made.map(|made| {
            let rules = made.at(&["webhooks"]).elements()[0].get("rules").clone();
            rules.elements()[0].get("scope").str().to_owned()
        });
        assert_eq!(scope, expected.map(str::to_owned), "{spec}");
    }
}

#[test]
fn the_namespaces_of_a_webhook_are_those_of_the_group() {
    let description = value(
        r#"{"generateName":"v","type":"ValidatingAdmissionWebhook","deploymentName":"my.op",
            "reinvocationPolicy":"Never","sideEffects":null,"admissionReviewVersions":null}"#,
    );
    let claims = [
        ("{}", Value::Null),
        (r#"{"selector":{"matchLabels":{"a":"b"}}}"#, value(r#"{"matchLabels":{"a":"b"}}"#)),
        (
            r#"{"selector":{},"targetNamespaces":["a"]}"#,
            value(&format!(r#"{{"matchLabels":{{"{GROUP_LABEL_PREFIX}g1":""}}}}"#)),
        ),
    ];
    for (spec, expected) in claims {
        let made = webhook_configuration(&csv("{}"), &description, &group(spec), &[], "");
        let made = made.expect("it is sound").expect("it is for admission");
        let webhook = &made.at(&["webhooks"]).elements()[0];
        assert_eq!(*webhook.get("namespaceSelector"), expected, "{spec}");
        assert_eq!(webhook.at(&["clientConfig", "service", "port"]).as_integer(), Some(443));
        assert_eq!(webhook.at(&["clientConfig", "service", "name"]).str(), "my-op-service");
        assert!(webhook.get("reinvocationPolicy").is_null(), "only mutating webhooks have it");
    }
    let mut young = group(r#"{"targetNamespaces":["a"]}"#);
    young.metadata_mut().remove("uid");
    let fault = webhook_configuration(&csv("{}"), &description, &young, &[], "");
    assert_eq!(fault.map_err(|fault| fault.to_string()), Err("Missing UID".to_owned()));
    let groups = [group("{}"), group("{}")];
    for groups in [&groups[..0], &groups[..]] {
        let fault = only_group(groups).map_err(|fault| fault.to_string());
        assert_eq!(fault, Err("error retrieving OperatorGroup info".to_owned()));
    }
    assert!(only_group(&groups[..1]).is_ok());
}

#[test]
fn conversion_is_only_for_owned_crds_of_operators_for_all_namespaces() {
    let crd = |spec: &str| {
        let mut crd = object(
            r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
                "metadata":{"name":"foos.foo.io"}}"#,
        );
        crd.set(&["spec"], value(spec));
        crd
    };
    let modes =
        r#"[{"type":"AllNamespaces","supported":true},{"type":"OwnNamespace","supported":false}]"#;
    let both =
        r#"[{"type":"AllNamespaces","supported":true},{"type":"OwnNamespace","supported":true}]"#;
    let owned = r#"{"owned":[{"name":"foos.foo.io"}]}"#;
    let claims = [
        (
            both,
            owned,
            r#"["foos.foo.io"]"#,
            "{}",
            "unable to manage conversion webhook: CSVs with conversion webhooks must support only AllNamespaces",
        ),
        (
            modes,
            owned,
            "[]",
            "{}",
            "unable to manager conversion webhook: conversion webhook must have at least one CRD specified",
        ),
        (
            modes,
            owned,
            r#"["bars.foo.io"]"#,
            "{}",
            "unable to get CRD bars.foo.io specified in Conversion Webhook: customresourcedefinitions.apiextensions.k8s.io \"bars.foo.io\" not found",
        ),
        (modes, "{}", r#"["foos.foo.io"]"#, "{}", "csv op.v1 does not own CRD foos.foo.io"),
        (
            modes,
            owned,
            r#"["foos.foo.io"]"#,
            r#"{"preserveUnknownFields":true}"#,
            "crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do the conversion",
        ),
        (modes, owned, r#"["foos.foo.io"]"#, r#"{"conversion":{"strategy":"None","x":1}}"#, ""),
        ("[]", owned, r#"["foos.foo.io"]"#, "{}", ""),
    ];
    for (modes, owned, names, crd_spec, expected) in claims {
        let csv =
            csv(&format!(r#"{{"installModes":{modes},"customresourcedefinitions":{owned}}}"#));
        let description = value(&format!(
            r#"{{"generateName":"c","type":"ConversionWebhook","deploymentName":"op",
                "admissionReviewVersions":["v1"],"conversionCRDs":{names}}}"#
        ));
        let installed = crd(crd_spec);
        let find = |name: &str| (name == "foos.foo.io").then_some(&installed);
        let answer = converted_crds(&csv, &description, "Q0E=", find);
        let fault = answer.as_ref().map_err(ToString::to_string).err().unwrap_or_default();
        assert_eq!(fault, expected, "{modes} {owned} {names} {crd_spec}");
        if let Ok(crds) = answer {
            let conversion = value(
                r#"{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{
                    "caBundle":"Q0E=",
                    "service":{"name":"op-service","namespace":"ns","path":"/","port":443}}}}"#,
            );
            assert_eq!(*crds[0].at(&["spec", "conversion"]), conversion);
            let expected = value(r#"{"strategy":"None"}"#);
            assert_eq!(*unconverted_crd(&crds[0]).at(&["spec", "conversion"]), expected);
        }
        let group = group("{}");
        assert_eq!(webhook_configuration(&csv, &description, &group, &[], ""), Ok(None));
    }
}

#[test]
fn rights_of_an_api_server_are_only_for_api_servers() {
    let spec = r#"{"webhookdefinitions":[
            {"generateName":"a","deploymentName":"op","containerPort":443,"targetPort":"https"},
            {"generateName":"b","deploymentName":"op"},{"generateName":"c","deploymentName":"op"},
            {"generateName":"d","deploymentName":"api"}],
        "apiservicedefinitions":{"owned":[{"deploymentName":"api","containerPort":5443}],
            "required":[{"deploymentName":"idle"}]}}"#;
    let csv = csv(spec);
    assert!(serves(&csv, "op") && serves(&csv, "api") && !serves(&csv, "idle"));
    let template = |name: &str, account: &str| DeploymentTemplate {
        name: name.to_owned(),
        spec: value(&format!(
            r#"{{"selector":{{"matchLabels":{{"app":"x"}}}},
                "template":{{"spec":{{"serviceAccountName":"{account}"}}}}}}"#
        )),
        labels: Value::Null,
    };
    let webhook = serving_objects(&csv, &template("op", ""));
    assert_eq!((&webhook.auth_delegator_binding, &webhook.auth_reader_binding), (&None, &None));
    let expected = value(
        r#"{"selector":{"app":"x"},"ports":[{"name":"443","port":443,"targetPort":"https"},
            {"name":"443","port":443,"targetPort":443}]}"#,
    );
    assert_eq!(*webhook.service.spec(), expected);
    assert_eq!(webhook.service.name(), "op-service");
    assert_eq!(webhook.service.owners().next(), Some(csv.owner_reference()));
    assert_eq!(webhook.secret_role.name(), "op-service-cert");
    let subjects = value(r#"[{"kind":"ServiceAccount","name":"default","namespace":"ns"}]"#);
    assert_eq!(*webhook.secret_role_binding.at(&["subjects"]), subjects);

    let server = serving_objects(&csv, &template("api", "sa"));
    let delegator = server.auth_delegator_binding.expect("it serves an API");
    let reader = server.auth_reader_binding.expect("it serves an API");
    assert_eq!(delegator.name(), "api-service-system:auth-delegator");
    assert_eq!((reader.namespace(), reader.name()), ("kube-system", "api-service-auth-reader"));
    for binding in [&delegator, &reader] {
        assert!(has_owner_labels(binding, &csv), "it must go away with the operator");
        assert_eq!(binding.at(&["subjects"]).elements()[0].get("name").str(), "sa");
    }
    let certificate = ServingCertificate {
        certificate: "Yw==".to_owned(),
        key: "aw==".to_owned(),
        ca: "Q0E=".to_owned(),
        ca_hash: "cafe".to_owned(),
    };
    let secret = certificate_secret(&csv, "api", &certificate);
    assert_eq!(secret.name(), "api-service-cert");
    assert_eq!(secret.annotation("olmcahash"), Some("cafe"));
    let data = value(r#"{"tls.crt":"Yw==","tls.key":"aw==","olmCAKey":"Q0E="}"#);
    assert_eq!(*secret.at(&["data"]), data);
}

#[test]
fn an_api_service_is_taken_over_only_from_its_own() {
    let named = |name: &str, phase: &str| {
        let mut csv = csv(r#"{"replaces":"op.v0"}"#);
        csv.metadata_mut().insert("name", name);
        csv.set(&["status", "phase"], phase);
        csv
    };
    let me = named("op.v1", "InstallReady");
    let others =
        [named("op.v0", "Replacing"), named("leaving", "Deleting"), named("staying", "Succeeded")];
    let find = |_: &str, name: &str| others.iter().find(|other| other.name() == name);
    let description = value(
        r#"{"name":"foos","group":"foo.io","version":"v1","kind":"Foo","deploymentName":"op"}"#,
    );
    let annotations = value(r#"{"a":"b"}"#);
    let make =
        |live: Option<&Object>| api_service(&me, &description, "Q0E=", &annotations, live, find);

    let made = make(None).expect("nobody owns it");
    assert_eq!(made.name(), "v1.foo.io");
    assert_eq!(made.annotation("a"), Some("b"));
    let expected = value(
        r#"{"group":"foo.io","version":"v1","groupPriorityMinimum":2000,"versionPriority":15,
            "caBundle":"Q0E=","service":{"namespace":"ns","name":"op-service","port":443}}"#,
    );
    assert_eq!(*made.spec(), expected);

    let claims =
        [("op.v1", true), ("op.v0", true), ("leaving", true), ("staying", false), ("gone", false)];
    for (owner, is_adoptable) in claims {
        let mut live = made.clone();
        live.set_annotation("kept", "yes");
        label_owner(&mut live, &named(owner, ""));
        assert_eq!(is_api_service_adoptable(&me, &live, find), is_adoptable, "{owner}");
        // One that leaves another namespace hands nothing over.
        let mut elsewhere = live.clone();
        elsewhere.set_label("olm.owner.namespace", "elsewhere");
        assert!(!is_api_service_adoptable(&me, &elsewhere, find), "{owner}");
        match make(Some(&live)) {
            Ok(taken) => {
                assert!(is_adoptable && has_owner_labels(&taken, &me));
                assert_eq!(taken.annotation("kept"), Some("yes"));
            }
            Err(fault) => {
                assert!(!is_adoptable);
                let expected = "pre-existing APIService v1.foo.io is not adoptable";
                assert_eq!(fault.to_string(), expected);
            }
        }
    }
    let mut unlabelled = made.clone();
    unlabelled.metadata_mut().remove("labels");
    assert!(make(Some(&unlabelled)).is_err());
}

fn group(spec: &str) -> Object {
    let mut group = Object::new("operators.coreos.com/v1", "OperatorGroup", "ns", "og");
    group.metadata_mut().insert("uid", "g1");
    group.set(&["spec"], value(spec));
    group
}
