//! Seeds for `kubeconfig`: every way to name a cluster and to log in.

/// A certificate without a key, which was created for this file and signs nothing.
const AUTHORITY: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJnakNDQVNtZ0F3SUJBZ0lVZU9GcTR2RFJTMHZ6c1VHYnpOWXl4cUp1ZW5rd0NnWUlLb1pJemowRUF3SXcKRmpFVU1CSUdBMVVFQXd3TGIzQmxjbTl1TFdaMWVub3dJQmNOTWpZeE1URTRNVGMxT1RBMFdoZ1BNakV5TmpFdwpNalV4TnpVNU1EUmFNQll4RkRBU0JnTlZCQU1NQzI5d1pYSnZiaTFtZFhwNk1Ga3dFd1lIS29aSXpqMENBUVlJCktvWkl6ajBEQVFjRFFnQUVKWVNpejBtL1JMM0YrNE1wc1E3bWsrNEdNeHJLMS9FdDNoL050Q000MWhJWnBVZGkKTGdIVno3bFZTTmFkMUppekRFZ2cxQ2d2L0ptTnBDWlB6a0tHRXFOVE1GRXdIUVlEVlIwT0JCWUVGUHdNZVM3dwpYZHM5V0dpeTV4RFlhS1VRQ3dUSk1COEdBMVVkSXdRWU1CYUFGUHdNZVM3d1hkczlXR2l5NXhEWWFLVVFDd1RKCk1BOEdBMVVkRXdFQi93UUZNQU1CQWY4d0NnWUlLb1pJemowRUF3SURSd0F3UkFJZ0poYzVRdHlGSC9OVDBjREEKU2ZGdmJtc0JBWEZUM283MWs0RlI2WkplR3BVQ0lBMGpvT1pRcXpWVzB2SEMxV1pjdUx0cTlBbC9sLzEzQ0FMbAp0S1F5dUtucQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

/// Returns files with one cluster, two contexts, and a user for each way to log in.
pub(super) fn inputs() -> Vec<Vec<u8>> {
    let clusters = [
        "{server: 'https://a.invalid:6443', certificate-authority-data: AUTHORITY}",
        "{server: 'https://a.invalid', insecure-skip-tls-verify: true, tls-server-name: b}",
        "{server: 'http://a.invalid/path', disable-compression: true, extensions: []}",
        "{server: 'https://[::1]:6443', proxy-url: 'http://p.invalid:3128'}",
        "{server: 'https://a.invalid', certificate-authority: ca.crt}",
    ];
    let users = [
        "{token: abc}",
        "{tokenFile: token}",
        "{username: u, password: p}",
        "{client-certificate-data: AUTHORITY, client-key-data: a2V5}",
        "{client-certificate: c.crt, client-key: c.key}",
        "{token: abc, as: system:admin, as-groups: [g], as-user-extra: {a: [b]}}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, args: [a], env: [{name: A, value: b}], interactiveMode: Never, provideClusterInfo: true, installHint: hint}}",
        "{auth-provider: {name: oidc, config: {id-token: a.b.c, idp-issuer-url: 'https://i.invalid', refresh-token: r, client-id: i}}}",
        "{auth-provider: {name: gcp, config: {access-token: t, expiry: '2026-11-18T00:00:00Z', cmd-path: c, cmd-args: a, token-key: '{.credential.access_token}', expiry-key: '{.e}'}}}",
    ];
    let file = |cluster: &str, user: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\npreferences: {{}}\n\
             clusters:\n- {{name: c, cluster: {cluster}}}\n\
             users:\n- {{name: u, user: {user}}}\n\
             contexts:\n- {{name: a, context: {{cluster: c, user: u, namespace: n}}}}\n\
             - {{name: b, context: {{cluster: c, user: u}}}}\n"
        );
        text.replace("AUTHORITY", AUTHORITY).into_bytes()
    };
    let [first_cluster, ..] = &clusters;
    let [first_user, ..] = users;
    let of_users = users.iter().map(|user| file(first_cluster, user));
    of_users.chain(clusters.iter().map(|cluster| file(cluster, first_user))).collect()
}
