//! What is told about a bundle, and where.

use crate::fixture::{ANNOTATIONS_PATH, CRD, CRD_PATH, CSV, CSV_PATH, describe};

#[test]
fn a_good_bundle_has_no_findings() {
    assert_eq!(describe(&[]), "");
}

#[test]
fn misspelt_fields_and_annotations() {
    let csv = CSV
        .replace("minKubeVersion", "miniKubeVersion")
        .replace("olm.skipRange:", "olm.skipsRange:")
        .replace("  displayName", "  skipRange: '<1.2.0'\n  maxKubeVersion: 1.30.0\n  DisplayName")
        .replace("    owned:\n", "    install: {}\n    owned:\n")
        .replace(
            "  annotations:\n",
            "  annotations:\n    operators.operatorframework.io.bundle.package.v1: kiosk\n",
        );
    insta::assert_snapshot!(describe(&[(CSV_PATH, &csv)]), @"
    advice bundle-annotation-in-csv [operators.operatorframework.io.bundle.package.v1] the bundle annotation `operators.operatorframework.io.bundle.package.v1` has no effect in a CSV
      help: bundle annotations belong into `metadata/annotations.yaml`
    warning bundle-unknown-annotation [olm.skipsRange] nothing reads the annotation `olm.skipsRange`
      help: did you mean `olm.skipRange`?
    warning bundle-unknown-field [skipRange] `spec.skipRange` is not a field of a ClusterServiceVersion
      help: the range belongs into the annotation `olm.skipRange`
    warning bundle-unknown-field [maxKubeVersion] `spec.maxKubeVersion` is not a field of a ClusterServiceVersion
      help: there is no upper limit for Kubernetes; nothing reads this
    warning bundle-unknown-field [DisplayName] `spec.DisplayName` is not a field of a ClusterServiceVersion
      help: write `displayName`; some tools accept another case, but a cluster drops the field
    warning bundle-unknown-field [miniKubeVersion] `spec.miniKubeVersion` is not a field of a ClusterServiceVersion
      help: did you mean `minKubeVersion`?
    warning bundle-unknown-field [install] `spec.customresourcedefinitions.install` is not a field of a ClusterServiceVersion
      help: `install` belongs directly below `spec`; check the indentation
    ");
}

#[test]
fn values_that_break_later() {
    let csv = CSV
        .replace("version: 1.2.0", "version: v1.2\n  release: 'a+b'")
        .replace(">=1.0.0 <1.2.0", "^1.0")
        .replace("v1alpha1", "v1")
        .replace("{name: main, image: example.com/kiosk:1.2.0}\n", "{name: main, value: x}\n")
        .replace("      - name: kiosk\n", "      - name: kiosk\n        label: {}\n")
        .replace("          template:", "          replicas: many\n          template:");
    insta::assert_snapshot!(describe(&[(CSV_PATH, &csv)]), @r#"
    warning bundle-wrong-api-version [operators.coreos.com/v1] a ClusterServiceVersion has the apiVersion `operators.coreos.com/v1alpha1`, not `operators.coreos.com/v1`
      help: upstream tools look at the kind only, but the object as written is refused by a cluster
    warning bundle-skip-range-invalid ['^1.0'] the skipRange `^1.0` cannot be read: Could not parse Range "^1.0": Could not parse comparator "^" in "^1.0"
    warning bundle-version-invalid [v1.2] the version `v1.2` is refused by catalogs: No Major.Minor.Patch elements found
      help: write `1.2.0`
    warning bundle-release-invalid ['a+b'] the release `a+b` cannot be read: segment 0: Invalid character(s) found in prerelease "a+b"
    error bundle-field-wrong-type [many] `spec.install.spec.deployments.0.spec.replicas` must be a whole number, not string
      help: in YAML, a number, `true` or `yes` is a string only between quotes
    warning bundle-related-image-incomplete [{name: main, value: x}] a related image has no `image`
      help: the field is called `image`, not `value`
    "#);
}

#[test]
fn manifests_that_upstream_leaves_out() {
    let changes = [
        ("manifests/a.yaml", "a: [1, 2"),
        (
            "manifests/b.yaml",
            "# only a comment\n---\napiVersion: v1\nkind: Service\n---\nkind: Pod\n",
        ),
        ("manifests/c.yaml", "apiVersion: v1\nname: nothing\n"),
        ("manifests/d.yaml", "- a\n- b\n"),
        ("manifests/e.yaml", "apiVersion: a/b/c\nkind: Secret\n"),
        ("manifests/f.yaml", ""),
        ("manifests/.hidden.yaml", "kind: Secret\n"),
        ("manifests/deep/g.yaml", "kind: Secret\n"),
        ("manifests/z.yaml", CSV),
    ];
    insta::assert_snapshot!(describe(&changes), @"
    warning bundle-manifest-passed-over [] hidden files are not read
      help: move the file directly below `manifests/`, or out of it if it is no manifest
    warning bundle-manifest-unreadable [] the manifest cannot be read: did not find expected ',' or ']' while parsing a flow sequence
      help: upstream tools leave such a manifest out without a word
    advice bundle-several-documents [apiVersion: v1] upstream tools read only the first document of this file, which holds nothing but comments
      help: put each object into a file of its own, without a separator before it
    warning bundle-unsupported-kind [Pod] OLM does not install a `Pod` from a bundle
    warning bundle-manifest-without-kind [apiVersion: v1] the object has no `kind`
      help: upstream tools leave such a document out without a word
    warning bundle-manifest-without-kind [- a] the document is of type array, not an object
      help: upstream tools leave such a document out without a word
    warning bundle-manifest-passed-over [] files in sub-directories of `manifests/` are not read
      help: move the file directly below `manifests/`, or out of it if it is no manifest
    warning bundle-manifest-without-kind [apiVersion: a/b/c] the apiVersion `a/b/c` has more than one slash
      help: upstream tools leave such a document out without a word
    warning bundle-manifest-empty [] the file holds no object
    warning bundle-second-csv [apiVersion: operators.coreos.com/v1alpha1] the bundle has a ClusterServiceVersion already; this one is left out
      help: a bundle describes one version of one operator
    ");
}

#[test]
fn owned_definitions_must_be_there() {
    let crd = CRD.replace("name: v1,", "name: v2,");
    let csv = CSV.replace("databases.store.example.com", "databases");
    insta::assert_snapshot!(describe(&[(CRD_PATH, &crd), (CSV_PATH, &csv)]), @"
    error bundle-owned-crd-missing [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] the CSV owns `kiosks.shop.example.com` version `v1` kind `Kiosk`, but no manifest defines it
      help: the CRD among the manifests has the version `v1alpha1` and the kind `Kiosk`
    error bundle-crd-name-invalid [{name: databases, version: v1beta1, kind: Database}] `databases` is not the name of a CRD: plural, dot, group
    ");
    let crd = CRD.replace("apiextensions.k8s.io/v1", "apiextensions.example.com/v1");
    insta::assert_snapshot!(describe(&[(CRD_PATH, &crd)]), @"
    error bundle-owned-crd-missing [{name: kiosks.shop.example.com, version: v1, kind: Kiosk}] the CSV owns `kiosks.shop.example.com` version `v1` kind `Kiosk`, but no manifest defines it
      help: add the CRD to `manifests/`, or take it off the list of owned ones
    error bundle-crd-foreign-group [apiextensions.example.com/v1] a CustomResourceDefinition belongs to the group `apiextensions.k8s.io`, not `apiextensions.example.com`
    ");
}

#[test]
fn metadata_that_does_not_count() {
    let changes = [
        (
            "metadata/dependencies.yaml",
            "dependencies:\n- type: olm.package\n  value: {packageName: a, version: 1.0}\n- type: olm.package\n  value: {packageName: b, version: '~1.0'}\n- type: olm.gvk\n  value: {group: g, kind: K}\n- type: olm.gvk\n- value: 1\n",
        ),
        ("metadata/dependencies2.yaml", "dependencies: [{type: a, value: b}]\n"),
        ("metadata/properties.yaml", "properties:\n- property: {type: a, value: 1}\n"),
        ("metadata/unreadable.yaml", "dependencies:\n- a: b: c\n"),
        ("metadata/wrong.yaml", "dependencies: many\n"),
    ];
    insta::assert_snapshot!(describe(&changes), @r#"
    error bundle-property-malformed [1.0] `version` of an entry of type `olm.package` must be a string, not number
    warning bundle-dependency-range-invalid ['~1.0'] the version range `~1.0` cannot be read: Could not parse Range "~1.0": Could not parse comparator "~" in "~1.0"
    warning bundle-dependency-incomplete [{group: g, kind: K}] a dependency of type `olm.gvk` lacks `version`
    error bundle-property-malformed [type: olm.gvk] an entry of type `olm.gvk` must have a `value`
    warning bundle-metadata-wrong-type [value: 1] a dependency must have a `type` and a `value`
      help: upstream tools may treat the whole file as absent
    warning bundle-metadata-repeated [[{type: a, value: b}]] the bundle has dependencies already; these are left out
      help: of several files that have the same key, the first by name is read
    advice bundle-wrapped-property [property: {type: a, value: 1}] a property wrapped in `property:` is not read by upstream tools
      help: write `type` and `value` directly in the list
    warning bundle-metadata-unreadable [:] the file cannot be read: mapping values are not allowed in this context
      help: upstream tools treat it as absent: no dependency, no property of it counts
    warning bundle-metadata-wrong-type [many] `dependencies` must be a list, not string
      help: upstream tools treat the file as absent
    "#);
}

#[test]
fn properties_of_the_service_version() {
    let with = |value: &str| {
        CSV.replace("  annotations:\n", &format!("  annotations:\n    olm.properties: '{value}'\n"))
    };
    let not_json = with("[{");
    let not_a_list = with("{}");
    let entries = with(
        r#"[{"value": 1}, {"type": "olm.gvk", "value": 1}, {"type": "olm.package", "value": {"packageName": "other", "version": "1.0.0"}}]"#,
    );
    let described = [not_json, not_a_list, entries].map(|csv| describe(&[(CSV_PATH, &csv)]));
    insta::assert_snapshot!(described.join("\n--\n"), @r#"
    warning bundle-csv-properties-unreadable ['[{'] the annotation `olm.properties` is not JSON: unexpected end of JSON text at byte 2
      help: upstream tools ignore what they cannot read here; prefer `metadata/properties.yaml`
    --
    warning bundle-csv-properties-unreadable ['{}'] the annotation `olm.properties` is not a list
      help: upstream tools ignore what they cannot read here; prefer `metadata/properties.yaml`
    --
    error bundle-package-mismatch [apiVersion: operators.coreos.com/v1alpha1] the annotation `olm.properties` says that the package is `other`, the bundle's annotations say `kiosk`
    warning bundle-csv-properties-unreadable ['[{"value": 1}, {"type": "olm.gvk", "value": 1}, {"type": "olm.package", "value": {"packageName": "other", "version": "1.0.0"}}]'] entry 0 of the annotation `olm.properties` has no type
      help: upstream tools ignore what they cannot read here; prefer `metadata/properties.yaml`
    warning bundle-csv-properties-unreadable ['[{"value": 1}, {"type": "olm.gvk", "value": 1}, {"type": "olm.package", "value": {"packageName": "other", "version": "1.0.0"}}]'] entry 1 of the annotation `olm.properties`: `value` of an entry of type `olm.gvk` must be an object, not number
      help: upstream tools ignore what they cannot read here; prefer `metadata/properties.yaml`
    "#);
}

#[test]
fn channels_are_names_between_commas() {
    let annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: kiosk\n  operators.operatorframework.io.bundle.channels.v1: 'stable, beta,'\n";
    let changes = [(ANNOTATIONS_PATH, annotations)];
    insta::assert_snapshot!(describe(&changes), @"
    warning bundle-channels-blank ['stable, beta,'] the list of channels `stable, beta,` contains blanks or empty names
      help: upstream tools make the blanks part of the channel's name
    ");
    assert_eq!(crate::fixture::source(&changes).annotations.channels, ["stable", "beta"]);
    let number = annotations.replace("'stable, beta,'", "4.10");
    assert_eq!(
        crate::fixture::source(&[(ANNOTATIONS_PATH, &number)]).annotations.channels,
        ["4.1"]
    );
}
