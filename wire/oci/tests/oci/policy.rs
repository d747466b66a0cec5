//! Signature policies: which entry applies, which names are accepted, and which files are rejected.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up should fail")]

use operon_oci::{
    Digest, KeySource, Policy, Reference, RekorBundle, Requirement, SignaturePayload,
    SignedIdentity,
};
use proptest::prelude::*;

const REJECT: &str = r#"[{"type": "reject"}]"#;
const ACCEPT: &str = r#"[{"type": "insecureAcceptAnything"}]"#;

fn digest() -> Digest {
    Digest::of(b"an image")
}

fn image(text: &str) -> Reference {
    Reference::parse(&text.replace("DIGEST", &digest().to_string())).unwrap()
}

/// A policy with these scopes for `docker`, each of which rejects everything.
fn with_scopes(scopes: &[&str]) -> Policy {
    let entries: Vec<String> = scopes
        .iter()
        .map(|scope| format!("\"{}\": {REJECT}", scope.replace("DIGEST", &digest().to_string())))
        .collect();
    let text = format!(
        r#"{{"default": {ACCEPT}, "transports": {{"docker": {{{}}}}}}}"#,
        entries.join(", ")
    );
    Policy::parse(text.as_bytes()).unwrap()
}

fn sigstore(fields: &str) -> Result<Requirement, String> {
    let text = format!("{{\"default\": [{{\"type\": \"sigstoreSigned\", {fields}}}]}}");
    let policy = Policy::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(policy.for_image(&image("quay.io/a:v1")).requirements[0].clone())
}

fn identity(fields: &str) -> SignedIdentity {
    let fields = format!(r#""keyPath": "/k", "signedIdentity": {{{fields}}}"#);
    match sigstore(&fields).unwrap() {
        Requirement::SigstoreSigned(signed) => signed.identity,
        other => panic!("{other:?}"),
    }
}

#[test]
fn most_specific_scope_applies() {
    let scopes = [
        "quay.io/team/app:v1",
        "quay.io/team/app@DIGEST",
        "quay.io/team/app",
        "quay.io/team",
        "quay.io",
        "*.example.com",
        "*.com",
        "host:5000",
        "docker.io/library",
        "docker.io",
        "",
    ];
    let claims = [
        ("quay.io/team/app:v1", "quay.io/team/app:v1"),
        ("quay.io/team/app:v2", "quay.io/team/app"),
        ("quay.io/team/app@DIGEST", "quay.io/team/app@DIGEST"),
        // The digest wins over the tag.
        ("quay.io/team/app:v1@DIGEST", "quay.io/team/app@DIGEST"),
        ("quay.io/team/app/sub", "quay.io/team/app"),
        ("quay.io/team/apple", "quay.io/team"),
        ("quay.io/teams/app", "quay.io"),
        ("QUAY.io/team/app:v1", "quay.io/team/app:v1"),
        ("quay.io:443/team/app", ""),
        ("a.example.com/x", "*.example.com"),
        ("a.b.example.com:8443/x", "*.example.com"),
        // A wildcard does not match the domain itself.
        ("example.com/x", "*.com"),
        ("host:5000/x", "host:5000"),
        ("host:5001/x", ""),
        ("busybox", "docker.io/library"),
        ("me/busybox", "docker.io"),
        ("index.docker.io/me/busybox", "docker.io"),
        ("other.org/x", ""),
    ];
    let policy = with_scopes(&scopes);
    for (name, expected) in claims {
        let expected = expected.replace("DIGEST", &digest().to_string());
        let entry = policy.for_image(&image(name)).entry;
        assert_eq!(entry, Some(("docker", expected.as_str())), "{name}");
    }
    let elsewhere = with_scopes(&["quay.io"]).for_image(&image("other.org/x")).entry.is_none();
    assert!(elsewhere, "without a default of the transport, the global one applies");
}

#[test]
fn paths_match_their_parents() {
    let text = format!(
        r#"{{"default": {ACCEPT}, "transports": {{"oci": {{"/srv/a": {REJECT}, "": {REJECT}}}}}}}"#
    );
    let policy = Policy::parse(text.as_bytes()).unwrap();
    let entry = |path| policy.for_path("oci", path).entry;
    assert_eq!(entry("/srv/a"), Some(("oci", "/srv/a")));
    assert_eq!(entry("/srv/a/b/c"), Some(("oci", "/srv/a")));
    assert_eq!(entry("/srv/ab"), Some(("oci", "")));
    assert_eq!(policy.for_path("docker-archive", "").entry, None);
}

/// The scopes of a name, by another way than the implementation: which scopes of all cover it.
fn covers(scope: &str, name: &str) -> bool {
    let host = name.split(['/', ':']).next().unwrap();
    match scope.strip_prefix('*') {
        Some(domain) => host.ends_with(domain),
        None => {
            name == scope
                || name.strip_prefix(scope).is_some_and(|rest| rest.starts_with(['/', ':', '@']))
        }
    }
}

proptest! {
    #[test]
    fn scope_lookup_finds_longest_covering_scope(
        host in "(a|b)\\.(c|d)\\.(io|de)",
        path in "[ab]/[cd]/[ef]",
        tag in "v[12]",
        scopes in proptest::collection::btree_set(
            "(\\*\\.)?(a\\.|b\\.)?(c|d)\\.(io|de)(/[ab](/[cd](/[ef](:v[12])?)?)?)?", 0..12),
    ) {
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let name = format!("{host}/{path}:{tag}");
        let is_wild = |scope: &&&str| scope.starts_with('*');
        let fitting: Vec<&&str> = scopes
            .iter()
            .filter(|scope| !(is_wild(scope) && scope.contains('/')) && covers(scope, &name))
            .collect();
        let longest = |is_wanted: bool| {
            fitting.iter().filter(|scope| is_wild(scope) == is_wanted).max_by_key(|scope| scope.len())
        };
        let expected = longest(false).or_else(|| longest(true)).map(|scope| ("docker", **scope));
        let policy = with_scopes(&scopes);
        prop_assert_eq!(policy.for_image(&image(&name)).entry, expected);
    }
}

#[test]
fn identities_accept_names_as_documented() {
    let exact = r#""type": "matchExact""#;
    let digest_or_exact = r#""type": "matchRepoDigestOrExact""#;
    let repository = r#""type": "matchRepository""#;
    let reference = r#""type": "exactReference", "dockerReference": "vendor.com/app:v1""#;
    let other_repository = r#""type": "exactRepository", "dockerRepository": "vendor.com/app""#;
    let remap =
        r#""type": "remapIdentity", "prefix": "mirror:5000/vendor", "signedPrefix": "vendor.com""#;
    let claims = [
        (exact, "q.io/a:v1", "q.io/a:v1", true),
        (exact, "q.io/a:v1", "q.io/a:v2", false),
        (exact, "q.io/a:v1", "q.io/a", false),
        // cosign signs repositories: that is not a signature for the default tag.
        (exact, "q.io/a:latest", "q.io/a", false),
        (exact, "q.io/a", "q.io/a:latest", true),
        (exact, "q.io/a@DIGEST", "q.io/a:v1", false),
        (exact, "q.io/a@DIGEST", "q.io/a@DIGEST", true),
        (digest_or_exact, "q.io/a:v1", "q.io/a:v1", true),
        (digest_or_exact, "Q.io/a:v1", "q.IO/a:v1", true),
        (digest_or_exact, "q.io/a:v1", "q.io/a", false),
        (digest_or_exact, "q.io/a:latest", "q.io/a", false),
        (digest_or_exact, "q.io/a@DIGEST", "q.io/a:v1", true),
        (digest_or_exact, "q.io/a:v2@DIGEST", "q.io/a:v1", true),
        (digest_or_exact, "q.io/a@DIGEST", "q.io/a", false),
        (digest_or_exact, "q.io/a@DIGEST", "q.io/b:v1", false),
        (digest_or_exact, "busybox:v1", "docker.io/library/busybox:v1", true),
        (repository, "q.io/a:v1", "q.io/a", true),
        (repository, "q.io/a:v1", "q.io/a:v2", true),
        (repository, "q.io/a:v1", "q.io/ab", false),
        (repository, "q.io/a:v1", "not a name", false),
        (reference, "q.io/a:v7", "vendor.com/app:v1", true),
        (reference, "q.io/a:v7", "vendor.com/app:v2", false),
        (reference, "q.io/a:v7", "vendor.com/app", false),
        (other_repository, "q.io/a:v7", "vendor.com/app", true),
        (other_repository, "q.io/a:v7", "vendor.com/app:v2", true),
        (other_repository, "q.io/a:v7", "q.io/a", false),
        (remap, "mirror:5000/vendor/app:v1", "vendor.com/app:v1", true),
        (remap, "mirror:5000/vendor/app:v1", "mirror:5000/vendor/app:v1", false),
        (remap, "mirror:5000/vendor/app@DIGEST", "vendor.com/app:v9", true),
        (remap, "mirror:5000/vendors/app:v1", "vendor.coms/app:v1", false),
        (remap, "q.io/a:v1", "q.io/a:v1", true),
        // The prefix alone would become a name without a repository.
        (remap, "mirror:5000/vendor:v1", "vendor.com:v1", false),
    ];
    for (fields, requested, signed, expected) in claims {
        let signed = signed.replace("DIGEST", &digest().to_string());
        let accepts = identity(fields).accepts(&image(requested), &signed);
        assert_eq!(accepts, expected, "{fields}: {requested} signed as {signed}");
    }
    let default = sigstore(r#""keyPath": "/k""#).unwrap();
    let Requirement::SigstoreSigned(default) = default else { panic!("{default:?}") };
    assert_eq!(default.identity, SignedIdentity::MatchRepoDigestOrExact);
}

#[test]
fn keys_come_from_exactly_one_field() {
    let keys = |fields: &str| match sigstore(fields) {
        Ok(Requirement::SigstoreSigned(signed)) => Ok((signed.keys, signed.rekor_keys)),
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(error),
    };
    let paths = |paths: &[&str]| KeySource::Paths(paths.iter().map(|&path| path.into()).collect());
    assert_eq!(keys(r#""keyPath": "/a""#), Ok((paths(&["/a"]), None)));
    assert_eq!(keys(r#""keyPaths": ["/a", "/b"]"#), Ok((paths(&["/a", "/b"]), None)));
    let data = KeySource::Data(vec![b"key".to_vec()]);
    assert_eq!(keys(r#""keyData": "a2V5""#), Ok((data.clone(), None)));
    let both = keys(r#""keyDatas": ["a2V5"], "rekorPublicKeyPath": "/r""#);
    assert_eq!(both, Ok((data, Some(paths(&["/r"])))));
    let unsupported = |fields: &str, feature: &str| {
        let requirement = sigstore(fields).unwrap();
        assert!(matches!(requirement, Requirement::Unsupported { feature: f } if f == feature));
    };
    unsupported(
        r#""fulcio": {"caPath": "/c", "oidcIssuer": "i", "subjectEmail": "e"}, "rekorPublicKeyPath": "/r""#,
        "fulcio",
    );
    unsupported(r#""pki": {"caRootsPath": "/c", "subjectEmail": "e"}"#, "pki");
    let none = "exactly one of";
    let another = "already given by another field";
    let claims = [
        (r#""signedIdentity": {"type": "matchExact"}"#, none),
        (r#""keyPath": "/a", "keyData": "a2V5""#, another),
        (r#""keyPath": "/a", "keyPaths": ["/a"]"#, another),
        (r#""keyPath": "/a", "fulcio": {}"#, none),
        (r#""fulcio": {"caPath": "/c"}"#, "needs one of the `rekorPublicKey"),
        (r#""keyPath": "/a", "rekorPublicKeyPath": "/r", "rekorPublicKeyData": "YQ==""#, another),
        (r#""keyPaths": []"#, "`default[0].keyPaths`: is empty"),
        (r#""keyPath": """#, "expected the path of a file"),
        (r#""keyPath": null"#, "expected a string, found null"),
        (r#""keyData": "*""#, "`default[0].keyData`: not base64"),
        (r#""keyPath": "/a", "keyType": "GPGKeys""#, "`default[0].keyType`: unknown field"),
        (r#""fulcio": {"caFile": "/a"}"#, "`default[0].fulcio.caFile`: unknown field"),
    ];
    for (fields, expected) in claims {
        let error = sigstore(fields).unwrap_err();
        assert!(error.contains(expected), "{fields}: {error}");
    }
}

#[test]
fn invalid_policies_name_line_and_field() {
    let signed_by = r#"{"default": [{"type": "signedBy", "keyType": "GPGKeys", "keyPath": "/k"}]}"#;
    let policy = Policy::parse(signed_by.as_bytes()).unwrap();
    let requirements = policy.for_image(&image("q.io/a")).requirements;
    assert!(matches!(requirements, [Requirement::Unsupported { feature: "signedBy" }]));
    let claims = [
        ("", "line 1: not valid JSON"),
        ("{\n  \"default\": [}", "line 2: not valid JSON"),
        ("[]", "the document: expected an object, found an array"),
        ("{}", "the field `default` is missing"),
        ("{\"default\": []}", "line 1: `default`: is empty"),
        ("{\"default\": null}", "expected an array, found null"),
        (
            "{\n\"default\": [{\"type\": \"reject\"}],\n\"transport\": {}}",
            "line 3: `transport`: unknown field",
        ),
        (
            "{\"default\": [{\"type\": \"reject\"}],\n\"default\": []}",
            "line 2: `default`: is written twice",
        ),
        ("{\"default\": [{\"type\": \"rejects\"}]}", "unknown requirement `rejects`"),
        ("{\"default\": [{\"Type\": \"reject\"}]}", "the field `type` is missing"),
        ("{\"default\": [{\"type\": \"reject\", \"x\": 1}]}", "`default[0].x`: unknown field"),
        ("{\"default\": [{\"type\": \"signedBy\", \"keyType\": \"GPGKeys\"}]}", "is required"),
        ("{\"default\": [{\"type\": \"reject\"}]} {}", "line 1: not valid JSON"),
        (
            "{\"default\": [{\"type\": \"reject\"}], \"transports\": {\"oci\": {\"a\": []}}}",
            "`transports.oci.a`: must be an absolute path",
        ),
        (
            "{\"default\": [{\"type\": \"reject\"}], \"transports\": {\"docker\": {\"q.io\": [],}}}",
            "not valid JSON",
        ),
        (
            "{\"default\": [{\"type\": \"reject\"}], \"transports\": {\"docker\": {\"q.io/a\": [\n1]}}}",
            "line 2: `transports.docker[\"q.io/a\"][0]`: expected an object",
        ),
        (
            "{\"default\": [{\"type\": \"reject\"}], \"transports\": {\"docker\": \
             {\"q.io\": [{\"type\": \"reject\"}], \"Q.io\": [{\"type\": \"reject\"}]}}}",
            "only in the case of the host",
        ),
    ];
    for (text, expected) in claims {
        let error = Policy::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let large = vec![b' '; operon_oci::MAX_POLICY_BYTES + 1];
    assert!(Policy::parse(&large).unwrap_err().to_string().contains("more than"));
}

#[test]
fn identities_are_checked_when_the_policy_is_read() {
    let claims = [
        (r#""type": "matchAll""#, "unknown identity `matchAll`"),
        (r#""type": "matchExact", "prefix": "a""#, "signedIdentity.prefix`: unknown field"),
        (r#""type": "exactReference", "dockerReference": "a.io/b""#, "neither a tag nor a digest"),
        (r#""type": "exactReference""#, "the field `dockerReference` is missing"),
        (r#""type": "exactRepository", "dockerRepository": "A B""#, "dockerRepository`"),
        (r#""type": "remapIdentity", "prefix": "a.io/b:v1", "signedPrefix": "c.io""#, "a host, or"),
        (r#""type": "remapIdentity", "prefix": "", "signedPrefix": "c.io""#, "a host, or"),
        (r#""type": "remapIdentity", "prefix": "a.io", "signedPrefix": "vendor""#, "a host, or"),
    ];
    for (fields, expected) in claims {
        let fields = format!(r#""keyPath": "/k", "signedIdentity": {{{fields}}}"#);
        let error = sigstore(&fields).unwrap_err();
        assert!(error.contains(expected), "{fields}: {error}");
    }
}

#[test]
fn payloads_are_read_strictly() {
    let digest = digest();
    let whole = format!(
        r#"{{"critical":{{"identity":{{"docker-reference":"q.io/a"}},"image":{{"docker-manifest-digest":"{digest}"}},"type":"cosign container image signature"}},"optional":null}}"#
    );
    let expected =
        SignaturePayload { manifest_digest: digest, docker_reference: "q.io/a".to_owned() };
    assert_eq!(SignaturePayload::parse(whole.as_bytes()), Ok(expected.clone()));
    let annotated = whole.replace("null", r#"{"creator":"me","timestamp":12,"other":[1.5]}"#);
    assert_eq!(SignaturePayload::parse(annotated.as_bytes()), Ok(expected));
    let claims = [
        ("cosign container image signature", "atomic container signature"),
        (r#","optional":null"#, ""),
        ("sha256:", "sha256-"),
        (
            r#""docker-reference":"q.io/a""#,
            r#""docker-reference":"q.io/a","docker-reference":"q.io/b""#,
        ),
        (r#""docker-reference":"q.io/a""#, ""),
        (r#""critical":"#, r#""extra":1,"critical":"#),
        ("null", r#"{"timestamp":1.5}"#),
        ("null", "null}"),
    ];
    for (from, to) in claims {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole);
        assert!(SignaturePayload::parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn rekor_bundles_are_signed_in_canonical_form() {
    // {"apiVersion":"0.0.1","kind":"hashedrekord","spec":{"data":{"hash":{"algorithm":"sha256","value":"ab"}},
    //  "signature":{"content":"c2ln","publicKey":{"content":"a2V5"}}}}
    let body = "eyJhcGlWZXJzaW9uIjoiMC4wLjEiLCJraW5kIjoiaGFzaGVkcmVrb3JkIiwic3BlYyI6eyJkYXRhIjp7Imhhc2giOnsiYWxnb3JpdGhtIjoic2hhMjU2IiwidmFsdWUiOiJhYiJ9fSwic2lnbmF0dXJlIjp7ImNvbnRlbnQiOiJjMmxuIiwicHVibGljS2V5Ijp7ImNvbnRlbnQiOiJhMlY1In19fX0=";
    let bundle = format!(
        r#"{{"Payload": {{"logIndex": 7, "logID": "c0d23d", "integratedTime": 1700000000, "body": "{body}"}}, "SignedEntryTimestamp": "bG9n"}}"#
    );
    let read = RekorBundle::parse(&bundle).unwrap();
    let canonical =
        format!(r#"{{"body":"{body}","integratedTime":1700000000,"logID":"c0d23d","logIndex":7}}"#);
    assert_eq!(String::from_utf8(read.signed_bytes).unwrap(), canonical);
    assert_eq!((read.log_signature, read.signature), (b"log".to_vec(), b"sig".to_vec()));
    assert_eq!((read.public_key, read.payload_sha256), (b"key".to_vec(), "ab".to_owned()));
    let claims = [
        (r#""logIndex": 7"#, r#""logIndex": 7, "logIndex": 8"#),
        (r#""logIndex": 7"#, r#""logIndex": 7.0"#),
        (r#""logIndex": 7"#, r#""logIndex": 90071992547409920"#),
        (r#""logID": "c0d23d""#, r#""logID": "c0\"d""#),
        (r#""logIndex": 7, "#, ""),
        ("eyJhcGlW", "eyJhcGlX"),
        ("bG9n", "bG9n*"),
    ];
    for (from, to) in claims {
        let text = bundle.replacen(from, to, 1);
        assert_ne!(text, bundle);
        assert!(RekorBundle::parse(&text).is_err(), "{text}");
    }
}
