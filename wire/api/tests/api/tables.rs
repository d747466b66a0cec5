//! Tables as `kubectl get` shows them.

use operon_api::{TableOptions, kind_by_word, read_objects, render_table, table_for};
use operon_object::{Object, Timestamp};

/// Renders the objects of a text; `word` names their kind.
fn shown(word: &str, text: &str, wide: bool, crd: Option<&Object>) -> String {
    let manifests = read_objects("f", text.as_bytes());
    assert_eq!(manifests.diagnostics, []);
    let objects: Vec<Object> = manifests.objects.into_iter().map(|it| it.object).collect();
    let kind = kind_by_word(word).unwrap_or_else(|| objects[0].kind());
    let now = Timestamp::parse("2026-11-16T06:00:00Z").expect("a time");
    render_table(&table_for(&kind, &objects, TableOptions { wide, now, with_namespace: wide, crd }))
}

const OURS: &str = "operators.coreos.com";
const BORN: &str = "creationTimestamp: \"2026-11-16T05:56:48Z\"";

#[test]
fn our_kinds_have_the_columns_of_their_definitions() {
    for (word, text, expected) in [
        (
            "csv",
            format!(
                "{{apiVersion: {OURS}/v1alpha1, kind: ClusterServiceVersion, metadata: {{name: etcd.v0.9.4, {BORN}}}, \
            spec: {{displayName: etcd, version: 0.9.4, replaces: etcd.v0.9.2}}, status: {{phase: Succeeded}}}}\n---\n\
            {{apiVersion: {OURS}/v1alpha1, kind: ClusterServiceVersion, metadata: {{name: a.v1}}, spec: {{displayName: \"A\\nb\", version: 1.0.0, release: \"2\"}}}}"
            ),
            "NAME          DISPLAY   VERSION   RELEASE   REPLACES      PHASE\n\
          etcd.v0.9.4   etcd      0.9.4               etcd.v0.9.2   Succeeded\n\
          a.v1          A...      1.0.0     2\n",
        ),
        (
            "ip",
            format!(
                "{{apiVersion: {OURS}/v1alpha1, kind: InstallPlan, metadata: {{name: install-x}}, spec: {{approval: Manual, approved: false, clusterServiceVersionNames: [b, c]}}}}"
            ),
            "NAME        CSV   APPROVAL   APPROVED\ninstall-x   b     Manual     false\n",
        ),
        (
            "subs",
            format!(
                "{{apiVersion: {OURS}/v1alpha1, kind: Subscription, metadata: {{name: s}}, spec: {{name: etcd, source: hub, channel: alpha}}}}"
            ),
            "NAME   PACKAGE   SOURCE   CHANNEL\ns      etcd      hub      alpha\n",
        ),
        (
            "catsrc",
            format!(
                "{{apiVersion: {OURS}/v1alpha1, kind: CatalogSource, metadata: {{name: hub, {BORN}}}, spec: {{sourceType: grpc, displayName: Hub, publisher: me}}}}"
            ),
            "NAME   DISPLAY   TYPE   PUBLISHER   AGE\nhub    Hub       grpc   me          3m12s\n",
        ),
        (
            "og",
            format!(
                "{{apiVersion: {OURS}/v1, kind: OperatorGroup, metadata: {{name: g, {BORN}}}}}"
            ),
            "NAME   AGE\ng      3m12s\n",
        ),
        (
            "condition",
            format!("{{apiVersion: {OURS}/v2, kind: OperatorCondition, metadata: {{name: c}}}}"),
            "NAME   AGE\nc      <unknown>\n",
        ),
        ("olmconfigs", String::new(), "NAME   AGE\n"),
        ("operators.operators.coreos.com", String::new(), "NAME   AGE\n"),
    ] {
        assert_eq!(shown(word, &text, false, None), expected, "{word}");
    }
}

#[test]
fn built_in_kinds_have_the_columns_of_kubectl() {
    let metadata = format!("metadata: {{name: x, namespace: shop, {BORN}}}");
    for (word, rest, narrow, wide) in [
        (
            "ns",
            "kind: Namespace, status: {phase: Active}",
            "NAME   STATUS   AGE\nx      Active   3m12s\n",
            "",
        ),
        ("sa", "kind: ServiceAccount", "NAME   SECRETS   AGE\nx      0         3m12s\n", ""),
        (
            "secret",
            "kind: Secret, data: {a: b}",
            "NAME   TYPE     DATA   AGE\nx      Opaque   1      3m12s\n",
            "",
        ),
        (
            "cm",
            "kind: ConfigMap, data: {a: b, c: d}, binaryData: {e: f}",
            "NAME   DATA   AGE\nx      3      3m12s\n",
            "",
        ),
        ("roles", "kind: Role", "NAME   CREATED AT\nx      2026-11-16T05:56:48Z\n", ""),
        (
            "crd",
            "kind: CustomResourceDefinition",
            "NAME   CREATED AT\nx      2026-11-16T05:56:48Z\n",
            "",
        ),
        (
            "rolebinding",
            "kind: RoleBinding, roleRef: {kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: s, namespace: m}, {kind: User, name: u}]",
            "NAME   ROLE     AGE\nx      Role/r   3m12s\n",
            "NAMESPACE   NAME   ROLE     AGE     USERS   GROUPS   SERVICEACCOUNTS\nshop        x      Role/r   3m12s   u                m/s\n",
        ),
        (
            "deploy",
            "kind: Deployment, spec: {replicas: 2, selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: In, values: [d, e]}]}, template: {spec: {containers: [{name: m, image: i:1}, {name: p, image: j}]}}}, status: {readyReplicas: 1, updatedReplicas: 2}",
            "NAME   READY   UP-TO-DATE   AVAILABLE   AGE\nx      1/2     2            0           3m12s\n",
            "NAMESPACE   NAME   READY   UP-TO-DATE   AVAILABLE   AGE     CONTAINERS   IMAGES   SELECTOR\nshop        x      1/2     2            0           3m12s   m,p          i:1,j    a=b,c in (d,e)\n",
        ),
        (
            "svc",
            "kind: Service, spec: {type: NodePort, clusterIP: 10.0.0.1, ports: [{port: 443, protocol: TCP, nodePort: 30443}, {port: 80}]}",
            "NAME   TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)                AGE\nx      NodePort   10.0.0.1     <none>        443:30443/TCP,80/TCP   3m12s\n",
            "",
        ),
        (
            "po",
            "kind: Pod, spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, containerStatuses: [{ready: true, restartCount: 2}, {ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]}",
            "NAME   READY   STATUS             RESTARTS   AGE\nx      1/2     CrashLoopBackOff   2          3m12s\n",
            "",
        ),
        (
            "jobs",
            "kind: Job, status: {startTime: \"2026-11-16T05:59:00Z\"}",
            "NAME   STATUS    COMPLETIONS   DURATION   AGE\nx      Running   0/1           60s        3m12s\n",
            "",
        ),
        (
            "events",
            "kind: Event, type: Warning, reason: Failed, message: \" m \\nrest\", count: 3, involvedObject: {kind: Deployment, name: d}, firstTimestamp: \"2026-11-16T05:00:00Z\", lastTimestamp: \"2026-11-16T05:59:55Z\"",
            "LAST SEEN   TYPE      REASON   OBJECT         MESSAGE\n5s          Warning   Failed   deployment/d   m ...\n",
            "",
        ),
        ("netpol", "kind: NetworkPolicy", "NAME   AGE\nx      3m12s\n", ""),
    ] {
        let text = format!("{{apiVersion: v1, {rest}, {metadata}}}");
        assert_eq!(shown(word, &text, false, None), narrow, "{word}");
        if !wide.is_empty() {
            assert_eq!(shown(word, &text, true, None), wide, "{word}");
        }
    }
}

#[test]
fn custom_kinds_have_the_columns_of_a_given_definition() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ls.h.io}\nspec:\n  versions:\n  - name: v2\n\
        \x20   storage: true\n    additionalPrinterColumns:\n    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type==\"Ready\")].status'}\n\
        \x20   - {name: Size, type: integer, jsonPath: .spec.size}\n    - {name: Lit, type: boolean, jsonPath: .spec.size}\n    - {name: Since, type: date, jsonPath: .spec.since}\n\
        \x20   - {name: Tags, type: string, jsonPath: .spec.tags, priority: 1}\n    - {name: Odd, type: string, jsonPath: '$..x'}\n";
    let crd = read_objects("f", crd.as_bytes()).objects.remove(0).object;
    let lamp = "{apiVersion: h.io/v2, kind: Lamp, metadata: {name: l, namespace: shop}, spec: {size: 3, since: never, tags: [a, b]}, status: {conditions: [{type: Ready, status: \"True\"}]}}";
    assert_eq!(
        shown("", lamp, false, Some(&crd)),
        "NAME   READY   SIZE   LIT   SINCE       ODD\nl      True    3            <invalid>\n"
    );
    assert_eq!(
        shown("", lamp, true, Some(&crd)),
        "NAMESPACE   NAME   READY   SIZE   LIT   SINCE       TAGS        ODD\nshop        l      True    3            <invalid>   [\"a\",\"b\"]\n"
    );
    assert_eq!(shown("", lamp, false, None), "NAME   AGE\nl      <unknown>\n");
    let hostile = "{apiVersion: h.io/v2, kind: Lamp, metadata: {name: \"\\e[31mred\"}}";
    assert_eq!(
        shown("", hostile, false, None),
        "NAME            AGE\n\\u{1b}[31mred   <unknown>\n"
    );
}
