//! What the validators say, and where.

use operon_bundle::{
    BundleFile, MAX_FINDINGS_PER_RULE, OptionalValidator, Severity, ValidationOptions,
    validate_bundle,
};
use operon_version::Version;

use crate::fixture::{
    ANNOTATIONS, ANNOTATIONS_PATH, CRD, CRD_PATH, CSV, CSV_PATH, describe_validation, files,
};

/// A CRD that API servers take.
const GOOD_CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kiosks.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Kiosk, plural: kiosks}
  versions:
  - {name: v1, served: true, storage: true}
  - {name: v1alpha1, served: true, storage: false}
";

const EXAMPLES: &str =
    "    alm-examples: '[{\"apiVersion\": \"shop.example.com/v1\", \"kind\": \"Kiosk\"}]'\n";

/// Returns the CSV with examples, and with texts exchanged; each must be there.
fn csv(changes: &[(&str, &str)]) -> String {
    let mut csv = CSV.replace("  annotations:\n", &format!("  annotations:\n{EXAMPLES}"));
    csv = csv.replace("sha256:aa", &format!("sha256:{}", "a".repeat(64)));
    for (from, to) in changes {
        assert!(csv.contains(from), "{from}");
        csv = csv.replacen(from, to, 1);
    }
    csv
}

fn with(validators: &[OptionalValidator]) -> ValidationOptions {
    ValidationOptions { optional: validators.iter().copied().collect(), ..Default::default() }
}

fn found(csv_changes: &[(&str, &str)], others: &[(&str, &str)]) -> String {
    let csv = csv(csv_changes);
    let mut changes = vec![(CSV_PATH, csv.as_str()), (CRD_PATH, GOOD_CRD)];
    changes.retain(|(path, _)| others.iter().all(|(other, _)| other != path));
    changes.extend(others);
    describe_validation(&changes, &ValidationOptions::default())
}

#[test]
fn a_good_bundle_passes_every_validator_that_always_runs() {
    assert_eq!(found(&[], &[]), "");
}

#[test]
fn service_versions_that_upstream_refuses() {
    let cases = [
        found(
            &[("name: kiosk.v1.2.0", "name: Kiosk.v1.2.0"), ("kiosk.v1.1.0", "kiosk.v1.1.0+7")],
            &[],
        ),
        found(&[("apiVersion: operators.coreos.com/v1alpha1\n", "")], &[]),
        found(&[("  displayName: Kiosk\n", ""), ("    strategy: deployment\n", "")], &[]),
        found(&[("AllNamespaces, supported: true", "AllNamespaces, supported: false")], &[]),
        found(
            &[(
                "installModes:\n  - {type: AllNamespaces, supported: true}\n",
                "installModes: []\n",
            )],
            &[],
        ),
        found(
            &[(
                "  - {type: AllNamespaces, supported: true}\n",
                "  - {type: OwnNamespace, supported: true}\n  - {type: OwnNamespace, supported: true}\n  webhookdefinitions:\n  - {type: ConversionWebhook, conversionCRDs: [kiosks.shop.example.com]}\n",
            )],
            &[],
        ),
        found(&[("1.25.0", "v1.25")], &[]),
        found(&[("  minKubeVersion: 1.25.0\n", "")], &[]),
        found(&[("olm.skipRange", "olm.skiprange")], &[]),
        found(&[("olm.skipRange: '>=1.0.0 <1.2.0'", "olm.properties: '[]'")], &[]),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @"
    error bundle-csv-name-invalid [Kiosk.v1.2.0] the name `Kiosk.v1.2.0` must consist of small letters, digits, `-` and `.`, and each part between dots must begin and end with a letter or digit
    error bundle-csv-name-invalid [kiosk.v1.1.0+7] the name `kiosk.v1.1.0+7` must consist of small letters, digits, `-` and `.`, and each part between dots must begin and end with a letter or digit

    error bundle-api-version-missing [kind: ClusterServiceVersion] the ClusterServiceVersion has no `apiVersion`

    error bundle-required-field-missing [spec] the ClusterServiceVersion has no `spec.displayName`
    error bundle-required-field-missing [install] the ClusterServiceVersion has no `spec.install.strategy`

    error bundle-install-modes-unsupported [installModes] no install mode is supported, so the operator can be installed nowhere

    error bundle-install-modes-missing [installModes] the ClusterServiceVersion has no `spec.installModes`

    warning bundle-install-mode-repeated [{type: OwnNamespace, supported: true}] the install mode `OwnNamespace` is named twice; the last one counts
    error bundle-conversion-install-modes [[kiosks.shop.example.com]] an operator that converts CRDs must support the install mode AllNamespaces and no other

    error bundle-min-kube-version-invalid [v1.25] the minKubeVersion `v1.25` cannot be read: No Major.Minor.Patch elements found

    warning bundle-min-kube-version-missing [spec] the ClusterServiceVersion has no `spec.minKubeVersion`, so it may be installed on any Kubernetes

    error bundle-annotation-case [olm.skiprange] the annotation `olm.skiprange` must be written `olm.skipRange`

    warning bundle-properties-annotation [olm.properties] the annotation `olm.properties` states properties of the bundle
    ");
}

#[test]
fn examples_are_held_against_the_owned_apis() {
    let with =
        |examples: &str| found(&[(EXAMPLES, &format!("    alm-examples: '{examples}'\n"))], &[]);
    let cases = [
        with(""),
        with("[]"),
        with("null"),
        with("[{"),
        with("{}"),
        with(r#"[{"apiVersion": "v1"}]"#),
        with(r#"[null]"#),
        with(
            r#"[{"apiVersion": "shop.example.com/v9", "kind": "Kiosk"}, {"apiVersion": "a/b/c", "kind": "K"}]"#,
        ),
        found(&[(EXAMPLES, "")], &[]),
        found(&[(EXAMPLES, &format!("{EXAMPLES}    olm.examples: '['\n"))], &[]),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @r#"
    warning bundle-api-without-example [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] there is no example of `Kiosk` of `shop.example.com/v1`, which the CSV owns

    warning bundle-api-without-example [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] there is no example of `Kiosk` of `shop.example.com/v1`, which the CSV owns

    warning bundle-api-without-example [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] there is no example of `Kiosk` of `shop.example.com/v1`, which the CSV owns

    error bundle-examples-unreadable ['[{'] the examples cannot be read: unexpected end of JSON text at byte 2

    error bundle-examples-unreadable ['{}'] the examples cannot be read: they must be a list, not object

    error bundle-examples-unreadable ['[{"apiVersion": "v1"}]'] the examples cannot be read: example 0 has no `kind`

    error bundle-examples-unreadable ['[null]'] the examples cannot be read: example 0 has no `kind`

    error bundle-example-without-api ['[{"apiVersion": "shop.example.com/v9", "kind": "Kiosk"}, {"apiVersion": "a/b/c", "kind": "K"}]'] there is an example of `K` of `a/b/c`, which the CSV does not own
    error bundle-example-without-api ['[{"apiVersion": "shop.example.com/v9", "kind": "Kiosk"}, {"apiVersion": "a/b/c", "kind": "K"}]'] there is an example of `Kiosk` of `shop.example.com/v9`, which the CSV does not own
    warning bundle-api-without-example [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] there is no example of `Kiosk` of `shop.example.com/v1`, which the CSV owns

    warning bundle-examples-missing [annotations] the annotations of the ClusterServiceVersion hold no examples

    warning bundle-examples-repeated ['[{"apiVersion": "shop.example.com/v1", "kind": "Kiosk"}]'] there are examples in `alm-examples` and in `olm.examples`; the former count
    "#);
}

#[test]
fn definitions_that_api_servers_refuse() {
    let with = |from: &str, to: &str| {
        assert!(GOOD_CRD.contains(from), "{from}");
        found(&[], &[(CRD_PATH, &GOOD_CRD.replacen(from, to, 1))])
    };
    let cases = [
        found(&[], &[(CRD_PATH, CRD)]),
        with(
            "{name: kiosks.shop.example.com}",
            "{name: kiosk.shop.example.com, namespace: default}",
        ),
        with(
            "plural: kiosks",
            "plural: kiosks, singular: Kiosk, listKind: Kiosk, shortNames: [KI]",
        ),
        with("scope: Namespaced", "scope: Everywhere"),
        with("served: true, storage: false", "served: true, storage: true"),
        with("- {name: v1alpha1", "- {name: v1"),
        with("  versions:\n", "  conversion: {strategy: Webhook}\n  versions:\n"),
        with(
            "  versions:\n",
            "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v2], clientConfig: {service: {name: x}, url: y}}}\n  versions:\n",
        ),
        with("storage: true", "storage: true, additionalPrinterColumns: [{name: A, type: text}]"),
        with(
            "storage: true",
            "storage: true, subresources: {scale: {specReplicasPath: .status.x}}",
        ),
        // What is wrong in a schema is left to the API server.
        with("storage: true", "storage: true, schema: {openAPIV3Schema: {type: nonsense}}"),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @"
    error bundle-crd-invalid [spec] `spec.scope` of the CRD is missing
    error bundle-crd-invalid [versions] `spec.versions` of the CRD must mark exactly one version as storage, not 0

    error bundle-crd-invalid [kiosk.shop.example.com] `metadata.name` of the CRD must be its plural name, a dot and its group, `kiosks.shop.example.com`, not `kiosk.shop.example.com`
    error bundle-crd-invalid [default] `metadata.namespace` of the CRD must not be set: a CRD has no namespace

    error bundle-crd-invalid [Kiosk] `spec.names.singular` of the CRD must begin with a small letter and go on with small letters, digits and `-`
    error bundle-crd-invalid [Kiosk] `spec.names.listKind` of the CRD must differ from the kind
    error bundle-crd-invalid [KI] `spec.names.shortNames` of the CRD must begin with a small letter and go on with small letters, digits and `-`

    error bundle-crd-invalid [Everywhere] `spec.scope` of the CRD must be `Cluster` or `Namespaced`, not `Everywhere`

    error bundle-crd-invalid [versions] `spec.versions` of the CRD must mark exactly one version as storage, not 2

    error bundle-crd-invalid [v1] `spec.versions[1].name` of the CRD names a version for the second time
    error bundle-crd-repeated [v1] `Kiosk` of `shop.example.com/v1` is defined already, in `manifests/kiosks.shop.example.com.crd.yaml`

    error bundle-crd-invalid [{strategy: Webhook}] `spec.conversion` of the CRD must say in `webhook.clientConfig` how to reach the webhook

    error bundle-crd-invalid [[v2]] `spec.conversion.webhook.conversionReviewVersions` of the CRD must include `v1` or `v1beta1`
    error bundle-crd-invalid [{service: {name: x}, url: y}] `spec.conversion.webhook.clientConfig` of the CRD must have either `url` or `service`
    error bundle-crd-invalid [{name: x}] `spec.conversion.webhook.clientConfig.service.namespace` of the CRD is missing

    error bundle-crd-invalid [{name: A, type: text}] `spec.versions[0].additionalPrinterColumns[0].jsonPath` of the CRD is missing
    error bundle-crd-invalid [text] `spec.versions[0].additionalPrinterColumns[0].type` of the CRD must be one of integer, number, string, boolean, date, not `text`

    error bundle-crd-invalid [.status.x] `spec.versions[0].subresources.scale.specReplicasPath` of the CRD must be a path below `.spec`
    ");
}

#[test]
fn bundles_whose_files_contradict_each_other() {
    let other = GOOD_CRD.replace("kiosks", "shelves").replace("Kiosk", "Shelf");
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: seller\n";
    let images = "  relatedImages:\n  - {name: a, image: 'oci://x'}\n  - {name: b, value: x}\n";
    let cases = [
        found(&[], &[("manifests/other.yaml", &other)]),
        found(&[], &[("manifests/same.yaml", GOOD_CRD)]),
        found(
            &[(
                "            spec:\n",
                "            spec:\n              serviceAccountName: seller\n",
            )],
            &[("manifests/account.yaml", account)],
        ),
        found(&[("  relatedImages:\n", images)], &[]),
        found(&[("  version: 1.2.0\n", "  version: 1.2.0+5\n  release: '1'\n")], &[]),
        found(
            &[
                ("  version: 1.2.0\n", "  version: 1.2.0\n  release: '1'\n"),
                ("name: kiosk.v1.2.0", "name: kiosk-v1.2.0-1"),
            ],
            &[],
        ),
        found(&[], &[(ANNOTATIONS_PATH, "annotations: {}")]),
        found(
            &[],
            &[(
                ANNOTATIONS_PATH,
                &ANNOTATIONS.replace("registry+v1", "plain").replace("metadata.v1", "x"),
            )],
        ),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @"
    error bundle-crd-not-owned [v1] the bundle defines `Shelf` of `shop.example.com/v1`, but the CSV does not own it
    error bundle-crd-not-owned [v1alpha1] the bundle defines `Shelf` of `shop.example.com/v1alpha1`, but the CSV does not own it

    error bundle-crd-repeated [v1] `Kiosk` of `shop.example.com/v1` is defined already, in `manifests/kiosks.shop.example.com.crd.yaml`
    error bundle-crd-repeated [v1alpha1] `Kiosk` of `shop.example.com/v1alpha1` is defined already, in `manifests/kiosks.shop.example.com.crd.yaml`

    error bundle-service-account-taken [seller] the ServiceAccount `seller` is the one of a deployment of the CSV, which OLM makes itself

    error bundle-related-image-invalid ['oci://x'] the related image `oci://x` is not an image reference: the host must be a domain name or an address, with an optional port
    error bundle-related-image-invalid [{name: b, value: x}] a related image has no `image`

    error bundle-name-without-release [kiosk.v1.2.0] a bundle with a release must be named `kiosk-v1.2.0+5-1`, not `kiosk.v1.2.0`
    error bundle-release-ambiguous ['1'] the version `1.2.0+5` has build metadata beside the release



    error bundle-unreadable [] no file in `metadata/` has bundle annotations; `metadata/annotations.yaml` must name the package

    error bundle-annotation-missing [operators.operatorframework.io.bundle.package.v1: kiosk] the annotation `operators.operatorframework.io.bundle.metadata.v1` is missing
    error bundle-annotation-missing [plain] the media type must be `registry+v1`, not `plain`
    ");
}

#[test]
fn large_bundles_are_measured_compressed() {
    let noise = |bytes: usize| {
        let mut state = 7_u64;
        let mut text =
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\ndata:\n  x: ".to_owned();
        while text.len() < bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(&format!("{:012x}", state >> 16));
        }
        text
    };
    let rules = |bytes| {
        let said = found(&[], &[("manifests/large.yaml", &noise(bytes))]);
        said.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(rules(1 << 20), "");
    assert_eq!(rules(1_800_000), "bundle-nearly-too-large");
    assert_eq!(rules(3 << 20), "bundle-too-large");
}

#[test]
fn optional_validators_run_when_they_are_asked_for() {
    let csv = csv(&[
        (
            "    olm.skipRange",
            "    capabilities: Some Install\n    categories: Database, Toys\n    olm.skipRange",
        ),
        (
            "  icon:\n",
            "  provider: {name: ' '}\n  maintainers: [{name: A}, {name: B, email: nobody}]\n  links: [{name: Home, url: example.com}]\n  icon:\n  - {base64data: '', mediatype: image/webp}\n",
        ),
        ("name: kiosk.v1.2.0", "name: kiosk-1.2.0"),
        (
            "      deployments:\n",
            "      permissions:\n      - serviceAccountName: x\n        rules:\n        - {apiGroups: [apiextensions.k8s.io, policy], resources: ['*', poddisruptionbudgets], verbs: ['*']}\n      deployments:\n",
        ),
    ]);
    let objects = "\
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: budget}
spec: {maxUnavailable: 0, minAvailable: 100%}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: class}
globalDefault: true
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role}
rules:
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create]}
- {apiGroups: [security.openshift.io], resources: [securitycontextconstraints], resourceNames: [anyuid], verbs: ['*']}
";
    let annotations = ANNOTATIONS.replace("beta", "nightly");
    let old_crd = GOOD_CRD.replace("io/v1", "io/v1beta1");
    let changes = [
        (CSV_PATH, csv.as_str()),
        (CRD_PATH, &old_crd),
        ("manifests/objects.yaml", objects),
        (ANNOTATIONS_PATH, &annotations),
    ];
    insta::assert_snapshot!(describe_validation(&changes, &with(&OptionalValidator::ALL)), @"
    warning community-openshift-label-unchecked [] whether the label `com.redhat.openshift.versions` keeps the bundle off OpenShift 4.9 is unknown
    warning validator-deprecated [] the validator `operatorhub` is deprecated
    warning validator-left-out [] the validator `multiarch` was left out: nobody looked at what the images are made for
    warning practice-bundle-name [kiosk-1.2.0] the name `kiosk-1.2.0` does not follow the naming convention
    error community-openshift-limit-missing [annotations] the bundle uses APIs that OpenShift 4.9 does not serve, and `olm.maxOpenShiftVersion` in the annotation `olm.properties` is missing
    error hub-capability-unknown [Some Install] the capability level `Some Install` is not known
    error hub-category-unknown [Database, Toys] the category `Toys` is not known
    error hub-provider-missing [provider] the ClusterServiceVersion has no `spec.provider.name`
    error hub-maintainer-invalid [{name: A}] a maintainer must have a `name` and an `email`
    error hub-maintainer-invalid [nobody] the email `nobody` of a maintainer cannot be read: the `@` is missing
    error hub-link-invalid [example.com] the url `example.com` of a link cannot be read: the scheme is missing, such as `https://`
    error hub-icon-invalid [icon] `spec.icon` must hold one icon, not 2
    error hub-icon-invalid [icon] the icon must have `base64data` and a `mediatype`
    error hub-icon-invalid [image/webp] the media type `image/webp` is not one of icons
    warning practice-description-missing [kiosks.shop.example.com] the owned CRD `kiosks.shop.example.com` has no description
    warning practice-description-missing [databases.store.example.com] the required CRD `databases.store.example.com` has no description
    warning bundle-api-removed-later [{apiGroups: [apiextensions.k8s.io, policy], resources: ['*', poddisruptionbudgets], verbs: ['*']}] the operator may use `poddisruptionbudgets` of `policy`, of which Kubernetes 1.25 does not serve every version
    warning practice-role-creates-crds [{apiGroups: [apiextensions.k8s.io, policy], resources: ['*', poddisruptionbudgets], verbs: ['*']}] the operator may create CRDs itself, beside those of its bundle
    warning practice-requests-missing [main] the container `main` requests neither CPU nor memory
    error bundle-removed-api [apiextensions.k8s.io/v1beta1] the CustomResourceDefinition `kiosks.shop.example.com` uses `apiextensions.k8s.io/v1beta1`, which Kubernetes 1.22 does not serve
    error bundle-removed-api [policy/v1beta1] the PodDisruptionBudget `budget` uses `policy/v1beta1`, which Kubernetes 1.25 does not serve
    error object-disruption-budget-blocks [0] `spec.maxUnavailable` is 0, so no node can be drained
    error object-disruption-budget-blocks [100%] `spec.minAvailable` is `100%`, so no node can be drained
    advice bundle-several-documents [apiVersion: scheduling.k8s.io/v1] upstream tools read only the first document of this file
    error object-priority-class-global [true] `globalDefault` would give this priority to every pod of the cluster
    warning object-role-edits-budgets [{apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create]}] the role may create or change PodDisruptionBudgets, which can keep nodes from being drained
    error object-role-edits-constraints [{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], resourceNames: [anyuid], verbs: ['*']}] the role may change default SecurityContextConstraints, on which other workloads rely
    warning practice-channel-name [operators.operatorframework.io.bundle.package.v1: kiosk] the channel `nightly` does not follow the naming convention
    ");
    let silent = describe_validation(&changes, &ValidationOptions::default());
    assert!(
        !silent.contains("hub-") && !silent.contains("object-") && !silent.contains("practice-")
    );
}

#[test]
fn removed_apis_are_errors_for_the_versions_without_them() {
    let old_crd = GOOD_CRD.replace("io/v1", "io/v1beta1");
    let severity = |kubernetes: Option<&str>, own: &str| {
        let csv = csv(&[("1.25.0", own)]);
        let options = ValidationOptions {
            kubernetes_version: kubernetes.map(|text| Version::parse_tolerant(text).unwrap()),
            ..with(&[OptionalValidator::AlphaDeprecatedApis])
        };
        let said = describe_validation(&[(CSV_PATH, &csv), (CRD_PATH, &old_crd)], &options);
        said.split(' ').next().unwrap_or_default().to_owned()
    };
    for (kubernetes, own, expected) in [
        (None, "1.21.0", "warning"),
        (None, "1.22.0", "error"),
        (Some("1.21"), "1.16.0", "warning"),
        (Some("1.22"), "1.16.0", "error"),
        (Some("1.30"), "1.16.0", "error"),
    ] {
        assert_eq!(severity(kubernetes, own), expected, "{kubernetes:?} {own}");
    }
}

#[test]
fn the_label_of_the_image_can_keep_a_bundle_off_newer_openshift() {
    let csv = csv(&[(
        "olm.skipRange: '>=1.0.0 <1.2.0'",
        r#"olm.properties: '[{"type": "olm.maxOpenShiftVersion", "value": "4.8"}]'"#,
    )]);
    let old_crd = GOOD_CRD.replace("io/v1", "io/v1beta1");
    let errors = |label: &str| {
        let content = format!("FROM scratch\nLABEL com.redhat.openshift.versions{label}\n");
        let options = ValidationOptions {
            image_file: Some(BundleFile { path: "Dockerfile".into(), content: content.into() }),
            ..with(&[OptionalValidator::Community])
        };
        describe_validation(&[(CSV_PATH, &csv), (CRD_PATH, &old_crd)], &options)
            .matches("community-openshift-limit-missing")
            .count()
    };
    for (label, expected) in [
        ("=v4.6-v4.8", 0),
        ("=\"=v4.8\"", 0),
        ("='v4.6-v4.9'", 1),
        ("=v4.6", 1),
        ("=", 1),
        ("", 1),
        ("=v4.6-nothing", 1),
    ] {
        assert_eq!(errors(label), expected, "{label}");
    }
}

#[test]
fn a_rule_that_is_broken_often_is_told_of_so_often_and_no_more() {
    let images = "  - {name: x, image: 'not an image'}\n".repeat(MAX_FINDINGS_PER_RULE + 20);
    let said = found(&[("  relatedImages:\n", &format!("  relatedImages:\n{images}"))], &[]);
    assert_eq!(said.matches("error bundle-related-image-invalid").count(), MAX_FINDINGS_PER_RULE);
    assert!(said.starts_with(
        "warning bundle-more-findings [] `bundle-related-image-invalid` found 20 more"
    ));
}

#[test]
fn every_value_may_have_the_wrong_type() {
    let options = with(&OptionalValidator::ALL);
    for (path, text) in [(CSV_PATH, csv(&[])), (CRD_PATH, GOOD_CRD.to_owned())] {
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((key, _)) = line.split_once(':') else { continue };
            for value in
                ["null", "[]", "{}", "[null, 1, [], {}]", "12", "true", "{a: {b: c}}", "''"]
            {
                let mut changed: Vec<String> =
                    lines.iter().map(|line| (*line).to_owned()).collect();
                changed[index] = format!("{key}: {value}");
                let indent = line.len() - line.trim_start().len();
                while changed
                    .get(index + 1)
                    .is_some_and(|next| next.len() - next.trim_start().len() > indent)
                {
                    changed.remove(index + 1);
                }
                let files = files(&[(path, &changed.join("\n"))]);
                let reading = validate_bundle(&files, &options);
                let is_placed = |file: &BundleFile, end: usize| end <= file.content.len();
                for finding in &reading.findings {
                    let file = files.iter().find(|file| file.path == finding.file);
                    assert!(finding.file.is_empty() || is_placed(file.unwrap(), finding.range.end));
                    assert!(finding.severity <= Severity::Advice && !finding.message.is_empty());
                }
            }
        }
    }
}
