//! Signature policies on real signatures: cosign signs, and Podman's library and Operon must come to the
//! same verdict.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use operon_image::{Images, ImagesOptions, Location, PullError, Registries, SignaturePolicy};
use operon_oci::{Digest, OCI_INDEX, OCI_MANIFEST, Reference};

use super::support::{Scene, has, image, run};
use operon_docker_registry::{COSIGN, RegistryServer as Server, Setup, VERDICT};

const TOOLS: [&str; 4] = ["docker-registry", "skopeo", "umoci", "tar"];

/// A registry with images, keys and policies.
struct Studio {
    scene: Scene,
    server: Server,
    cosign: PathBuf,
    verdict: PathBuf,
}

impl Studio {
    fn new() -> Option<Self> {
        let cosign = has(&TOOLS).then(|| COSIGN.find()).flatten()?;
        let verdict = VERDICT.find()?;
        let scene = Scene::new();
        let server = Server::start(scene.directory.path(), "registry", &Setup::default());
        // Podman looks for signatures of cosign only where it is told to.
        scene.write("registries.d/all.yaml", "default-docker:\n  use-sigstore-attachments: true\n");
        let studio = Self { scene, server, cosign, verdict };
        for key in ["trusted", "other"] {
            studio.cosign(&["generate-key-pair", "--output-key-prefix", &studio.scene.text(key)]);
        }
        Some(studio)
    }

    fn cosign(&self, arguments: &[&str]) {
        let output = Command::new(&self.cosign)
            .args(arguments)
            .env("COSIGN_PASSWORD", "")
            .env("COSIGN_YES", "true")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cosign {arguments:?}: {errors}");
    }

    /// Pushes a catalog with this package as an image.
    fn push(&self, name: &str, package: &str) -> Digest {
        let tag = name.replace(['/', ':'], "-");
        self.scene.catalog_image(&tag, package);
        self.scene.upload(&tag, &self.server.host, name, &[]);
        self.digest(name)
    }

    fn digest(&self, name: &str) -> Digest {
        let (repository, tag) = name.split_once(':').unwrap();
        Digest::of(self.server.get(&format!("/v2/{repository}/manifests/{tag}")))
    }

    fn sign(&self, key: &str, repository: &str, digest: &Digest, more: &[&str]) {
        let key = self.scene.text(&format!("{key}.key"));
        let image = format!("{}/{repository}@{digest}", self.server.host);
        let mut arguments =
            vec!["sign", "--tlog-upload=false", "--allow-http-registry", "--key", &key];
        arguments.extend(more);
        arguments.push(&image);
        self.cosign(&arguments);
    }

    fn signatures(&self, repository: &str, digest: &Digest) -> Vec<u8> {
        self.server.get(&format!("/v2/{repository}/manifests/sha256-{}.sig", digest.hex()))
    }

    /// Stores signatures for a digest of the same repository, whatever they are for.
    fn put_signatures(&self, repository: &str, digest: &Digest, manifest: &[u8]) {
        let path = format!("/v2/{repository}/manifests/sha256-{}.sig", digest.hex());
        self.server.put(&path, OCI_MANIFEST, manifest);
    }

    /// Writes a policy with these requirements for everything in the registry.
    fn policy(&self, requirements: &str) -> PathBuf {
        let requirements =
            requirements.replace("DIR", self.scene.directory.path().to_str().unwrap());
        let text = format!(
            r#"{{"default": [{{"type": "reject"}}], "transports": {{"docker": {{"{}": [{requirements}]}}}}}}"#,
            self.server.host
        )
        .replace("HOST", &self.server.host);
        let path = self.scene.path("policy.json");
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns options with an empty cache.
    fn fresh(&self, policy: &Path) -> ImagesOptions {
        let _ = fs::remove_dir_all(self.scene.path("cache"));
        ImagesOptions {
            signatures: SignaturePolicy { file: Some(policy.to_owned()) },
            ..self.scene.options()
        }
    }

    /// Returns the verdict of Podman's library.
    fn podman_accepts(&self, policy: &Path, name: &str) -> bool {
        let output = Command::new(&self.verdict)
            .arg(policy)
            .arg(self.scene.path("registries.d"))
            .arg(format!("{}/{name}", self.server.host))
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout.starts_with(b"accepted")
    }
}

const PLAIN: &str = r#"{"type": "sigstoreSigned", "keyPath": "DIR/trusted.pub"}"#;

/// A requirement for the trusted key with this identity.
fn with_identity(identity: &str) -> String {
    PLAIN.replace('}', &format!(r#", "signedIdentity": {{{identity}}}}}"#))
}

/// Copies a manifest of signatures with one payload exchanged.
fn with_payload(
    studio: &Studio,
    repository: &str,
    manifest: &[u8],
    from: &str,
    to: &str,
) -> Vec<u8> {
    let text = String::from_utf8(manifest.to_vec()).unwrap();
    let (_, rest) = text.split_once("simplesigning.v1+json").unwrap();
    let (_, digest) = rest.split_once("\"digest\":\"").unwrap();
    let old = &digest[..71];
    let payload = studio.server.get(&format!("/v2/{repository}/blobs/{old}"));
    let payload = String::from_utf8(payload).unwrap();
    assert!(payload.contains(from), "{payload}");
    // The digests have one length, so the sizes in the manifest stay right.
    let changed = payload.replace(from, to);
    let new = Digest::of(&changed).to_string();
    studio.server.put_blob(repository, &new, changed.as_bytes());
    text.replace(old, &new)
        .replace(&format!("\"size\":{}", payload.len()), &format!("\"size\":{}", changed.len()))
        .into_bytes()
}

#[test]
fn verdicts_equal_those_of_podman() {
    let Some(studio) = Studio::new() else { return };
    let host = studio.server.host.clone();
    studio.push("me/unsigned:v1", "unsigned");
    let signed = studio.push("me/signed:v1", "signed");
    studio.sign("trusted", "me/signed", &signed, &[]);
    // cosign names the repository; Podman names the tag, and so does this.
    let tagged = studio.push("me/tagged:v1", "tagged");
    let identity = format!("{host}/me/tagged:v1");
    studio.sign("trusted", "me/tagged", &tagged, &["--sign-container-identity", &identity]);
    let other = studio.push("me/other:v1", "other");
    studio.sign("other", "me/other", &other, &[]);
    let both = studio.push("me/both:v1", "both");
    studio.sign("other", "me/both", &both, &[]);
    studio.sign("trusted", "me/both", &both, &["-a", "team=a"]);
    // A valid signature of another image of the same repository, copied over.
    let copied = studio.push("me/signed:v2", "copied");
    studio.put_signatures("me/signed", &copied, &studio.signatures("me/signed", &signed));
    // A payload that was changed to name this image.
    let changed = studio.push("me/signed:v3", "changed");
    let manifest = studio.signatures("me/signed", &signed);
    let manifest = with_payload(&studio, "me/signed", &manifest, signed.hex(), changed.hex());
    studio.put_signatures("me/signed", &changed, &manifest);
    // A valid signature whose name is that of another repository.
    let renamed = studio.push("me/renamed:v1", "renamed");
    let elsewhere = format!("{host}/vendor/app:v1");
    studio.sign("trusted", "me/renamed", &renamed, &["--sign-container-identity", &elsewhere]);

    let repository = with_identity(r#""type": "matchRepository""#);
    let both_keys = format!("{repository}, {}", repository.replace("trusted", "other"));
    let key = fs::read(studio.scene.path("trusted.pub")).unwrap();
    let data = repository.replace(
        r#""keyPath": "DIR/trusted.pub""#,
        &format!(r#""keyData": "{}""#, operon_document::encode_base64(&key)),
    );
    let policies = [
        r#"{"type": "insecureAcceptAnything"}"#.to_owned(),
        r#"{"type": "reject"}"#.to_owned(),
        format!(r#"{{"type": "insecureAcceptAnything"}}, {repository}"#),
        PLAIN.to_owned(),
        repository.clone(),
        repository.replace("trusted", "other"),
        both_keys,
        data.replace("keyData\": ", "keyDatas\": [")
            .replace("\", \"signedIdentity", "\"], \"signedIdentity"),
        data,
        repository.replace(
            r#""keyPath": "DIR/trusted.pub""#,
            r#""keyPaths": ["DIR/other.pub", "DIR/trusted.pub"]"#,
        ),
        with_identity(r#""type": "matchExact""#),
        with_identity(r#""type": "matchRepoDigestOrExact""#),
        with_identity(r#""type": "exactReference", "dockerReference": "HOST/vendor/app:v1""#),
        with_identity(r#""type": "exactRepository", "dockerRepository": "HOST/vendor/app""#),
        with_identity(
            r#""type": "remapIdentity", "prefix": "HOST/me/renamed", "signedPrefix": "HOST/vendor/app""#,
        ),
    ];
    let names = [
        "me/unsigned:v1".to_owned(),
        "me/signed:v1".to_owned(),
        format!("me/signed@{signed}"),
        "me/tagged:v1".to_owned(),
        format!("me/tagged@{tagged}"),
        "me/other:v1".to_owned(),
        "me/both:v1".to_owned(),
        "me/signed:v2".to_owned(),
        "me/signed:v3".to_owned(),
        "me/renamed:v1".to_owned(),
        format!("me/renamed@{renamed}"),
    ];
    let mut accepted = 0;
    for requirements in &policies {
        let policy = studio.policy(requirements);
        for name in &names {
            let images = Images::new(studio.fresh(&policy)).unwrap();
            let fetched = images.fetch_catalog(&image(&host, name));
            let is_accepted = match &fetched {
                Ok(_) => true,
                Err(PullError::Signature { .. }) => false,
                Err(error) => panic!("{requirements}: {name}: {error}"),
            };
            let verdict = studio.podman_accepts(&policy, name);
            assert_eq!(is_accepted, verdict, "{requirements}: {name}: {fetched:?}");
            accepted += usize::from(is_accepted);
        }
    }
    println!("{} verdicts, {accepted} accepted", policies.len() * names.len());
    assert!((20..100).contains(&accepted), "{accepted} verdicts were to accept");
}

#[test]
fn cached_images_obey_the_current_policy() {
    let Some(mut studio) = Studio::new() else { return };
    let digest = studio.push("me/app:v1", "app");
    studio.sign("trusted", "me/app", &digest, &[]);
    let repository = with_identity(r#""type": "matchRepository""#);
    let options = studio.fresh(&studio.policy(r#"{"type": "insecureAcceptAnything"}"#));
    let images = Images::new(options.clone()).unwrap();
    let tag = image(&studio.server.host, "me/app:v1");
    let by_digest = image(&studio.server.host, &format!("me/app@{digest}"));
    images.fetch_catalog(&tag).unwrap();

    // The policy is read again for each image, and cached images are not exempt.
    studio.policy(r#"{"type": "reject"}"#);
    for location in [&tag, &by_digest] {
        let error = images.fetch_catalog(location).unwrap_err();
        assert!(matches!(error, PullError::Signature { .. }), "{error}");
    }
    studio.policy(&repository);
    let offline = Images::new(ImagesOptions { offline: true, ..options.clone() }).unwrap();
    let error = offline.fetch_catalog(&by_digest).unwrap_err().to_string();
    assert!(error.contains("the cache has no signatures that satisfy it"), "{error}");
    images.fetch_catalog(&tag).unwrap();
    let asked = studio.server.requests().len();
    images.fetch_catalog(&by_digest).unwrap();
    assert_eq!(studio.server.requests().len(), asked, "cached signatures are verified again");

    // What was verified once can be verified without the registry, and only against the same keys.
    studio.server.stop();
    offline.fetch_catalog(&by_digest).unwrap();
    assert!(images.fetch_catalog(&tag).unwrap().stale.is_some());
    studio.policy(&repository.replace("trusted", "other"));
    let error = offline.fetch_catalog(&tag).unwrap_err();
    assert!(matches!(error, PullError::Signature { .. }), "{error}");
    let error = images.fetch_catalog(&tag).unwrap_err();
    assert!(error.is_transient(), "{error}");
    // A key that was exchanged behind the policy counts as well.
    studio.policy(&repository);
    fs::copy(studio.scene.path("other.pub"), studio.scene.path("trusted.pub")).unwrap();
    assert!(offline.fetch_catalog(&by_digest).is_err());
}

#[test]
fn nothing_is_requested_with_an_unusable_policy() {
    let Some(studio) = Studio::new() else { return };
    let digest = studio.push("me/app:v1", "app");
    let names = ["me/app:v1".to_owned(), format!("me/app@{digest}")];
    let key = studio.scene.text("trusted.pub");
    let policies = [
        ("{", "line 1: not valid JSON"),
        ("{\n\"defaults\": []}", "line 2: `defaults`: unknown field"),
        (r#"{"default": [{"type": "sigstoreSigned", "keyPath": "/nowhere/key"}]}"#, "/nowhere/key"),
        (r#"{"default": [{"type": "sigstoreSigned", "keyData": "a2V5"}]}"#, "key 1 in the policy"),
        (
            r#"{"default": [{"type": "sigstoreSigned", "keyPaths": ["KEY", "/etc/hostname"]}]}"#,
            "/etc/hostname",
        ),
        (
            r#"{"default": [{"type": "signedBy", "keyType": "GPGKeys", "keyPath": "KEY"}]}"#,
            "`signedBy` (OpenPGP signatures) is not supported",
        ),
        (
            r#"{"default": [{"type": "sigstoreSigned", "fulcio": {"caPath": "KEY", "oidcIssuer": "i", "subjectEmail": "e"}, "rekorPublicKeyPath": "KEY"}]}"#,
            "`fulcio` (short-lived certificates) is not supported",
        ),
    ];
    let pulls = |studio: &Studio| {
        let requests = studio.server.requests();
        requests.iter().filter(|request| request.starts_with("GET")).count()
    };
    let before = pulls(&studio);
    for (text, expected) in policies {
        studio.scene.write("broken.json", text.replace("KEY", &key));
        for name in &names {
            let images = Images::new(studio.fresh(&studio.scene.path("broken.json"))).unwrap();
            let error = images.fetch_catalog(&image(&studio.server.host, name)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(expected) && error.contains("broken.json"), "{text}: {error}");
        }
    }
    let images = Images::new(studio.fresh(&studio.scene.path("missing.json"))).unwrap();
    let error = images.fetch_catalog(&image(&studio.server.host, "me/app:v1")).unwrap_err();
    assert!(error.to_string().contains("missing.json"), "{error}");
    assert_eq!(pulls(&studio), before, "a digest may be asked for, but no content");
}

#[test]
fn mirrored_images_are_checked_under_their_own_name() {
    let Some(studio) = Studio::new() else { return };
    let host = &studio.server.host;
    let digest = studio.push("mirror/app:v1", "app");
    let identity = "origin.test/team/app:v1";
    studio.sign("trusted", "mirror/app", &digest, &["--sign-container-identity", identity]);
    studio.scene.write(
        "registries.conf",
        format!(
            "[[registry]]\nprefix = \"origin.test/team\"\nlocation = \"127.0.0.1:1\"\n\
             [[registry.mirror]]\nlocation = \"{host}/mirror\"\ninsecure = true\n"
        ),
    );
    let key = studio.scene.text("trusted.pub");
    let policy = |scope: &str| {
        let text = format!(
            r#"{{"default": [{{"type": "reject"}}], "transports": {{"docker":
                {{"{scope}": [{{"type": "sigstoreSigned", "keyPath": "{key}"}}]}}}}}}"#
        );
        studio.scene.write("policy.json", text);
        let file = Some(studio.scene.path("registries.conf"));
        let registries = Registries { file, directories: Vec::new() };
        let options = studio.fresh(&studio.scene.path("policy.json"));
        Images::new(ImagesOptions { registries, ..options }).unwrap()
    };
    let location = Location::Image(Reference::parse(identity).unwrap());
    policy("origin.test/team").fetch_catalog(&location).unwrap();
    let error = policy(&format!("{host}/mirror")).fetch_catalog(&location).unwrap_err();
    assert!(error.to_string().contains("the global default"), "{error}");
    let error = policy("origin.test").fetch_catalog(&image(host, "mirror/app:v1")).unwrap_err();
    assert!(error.to_string().contains("the global default"), "{error}");
}

#[test]
fn signed_indexes_vouch_for_their_manifests() {
    let Some(studio) = Studio::new() else { return };
    let host = &studio.server.host;
    let policy = studio.policy(&with_identity(r#""type": "matchRepository""#));
    let fetch =
        |name: &str| Images::new(studio.fresh(&policy)).unwrap().fetch_catalog(&image(host, name));
    let architecture = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    for (repository, is_index_signed, is_manifest_signed) in
        [("me/one", true, false), ("me/two", false, true), ("me/three", false, false)]
    {
        let manifest = studio.push(&format!("{repository}:single"), &repository[3..]);
        let size = studio.server.get(&format!("/v2/{repository}/manifests/{manifest}")).len();
        let index = format!(
            r#"{{"schemaVersion":2,"mediaType":"{OCI_INDEX}","manifests":[{{"mediaType":"{OCI_MANIFEST}","digest":"{manifest}","size":{size},"platform":{{"os":"linux","architecture":"{architecture}"}}}}]}}"#
        );
        studio.server.put(&format!("/v2/{repository}/manifests/v1"), OCI_INDEX, index.as_bytes());
        if is_index_signed {
            studio.sign("trusted", repository, &Digest::of(&index), &[]);
        }
        if is_manifest_signed {
            studio.sign("trusted", repository, &manifest, &[]);
        }
        let fetched = fetch(&format!("{repository}:v1"));
        let is_expected = is_index_signed || is_manifest_signed;
        assert_eq!(fetched.is_ok(), is_expected, "{repository}: {fetched:?}");
        // Podman requires each manifest to be signed.
        let verdict = studio.podman_accepts(&policy, &format!("{repository}:v1"));
        assert_eq!(verdict, is_manifest_signed, "{repository}");
        // The index vouches for its manifests only where it is what was asked for.
        let alone = fetch(&format!("{repository}@{manifest}"));
        assert_eq!(alone.is_ok(), is_manifest_signed, "{repository}: {alone:?}");
    }
}

#[test]
fn local_images_are_accepted_by_their_path() {
    let Some(studio) = Studio::new() else { return };
    studio.scene.catalog_image("v1", "app");
    let layout = format!("oci:{}:v1", studio.scene.text("layout"));
    for kind in ["oci-archive", "docker-archive"] {
        let archive = format!("{kind}:{}", studio.scene.text(kind));
        run("skopeo", &["--insecure-policy", "copy", &layout, &format!("{archive}:app:v1")]);
    }
    let root = fs::canonicalize(studio.scene.directory.path()).unwrap();
    let root = root.to_str().unwrap();
    let accept = r#"[{"type": "insecureAcceptAnything"}]"#;
    let signed = r#"[{"type": "sigstoreSigned", "keyPath": "/nowhere"}]"#;
    let claims = [
        (layout.clone(), "oci", root, accept, true),
        (layout.clone(), "oci", "/elsewhere", accept, false),
        (layout.clone(), "oci", root, signed, false),
        (layout, "oci-archive", root, accept, false),
        (format!("oci-archive:{root}/oci-archive"), "oci-archive", root, accept, true),
        (format!("docker-archive:{root}/docker-archive"), "docker-archive", "", accept, true),
        (format!("docker-archive:{root}/docker-archive"), "docker-archive", root, accept, false),
        // A directory of documents is not an image.
        (format!("dir:{root}/files-v1/configs"), "docker", "", accept, true),
    ];
    for (location, transport, scope, requirements, expected) in claims {
        studio.scene.write(
            "local.json",
            format!(
                r#"{{"default": [{{"type": "reject"}}], "transports": {{"{transport}": {{"{scope}": {requirements}}}}}}}"#
            ),
        );
        let images = Images::new(studio.fresh(&studio.scene.path("local.json"))).unwrap();
        let fetched = images.fetch_catalog(&Location::parse(&location).unwrap());
        assert_eq!(fetched.is_ok(), expected, "{location} with {transport} {scope}: {fetched:?}");
    }
}
