//! What arrives is what was pushed; what is kept is not fetched again.

use std::{fs, os::unix::fs::symlink, time::SystemTime};

use operon_image::{
    CacheDirectory, CertificateAuthorities, CredentialSources, EntryKind, Images, ImagesOptions,
    Location, OpenOptions, OpenedBy, Progress, PullError, Registries, open_catalog,
};
use operon_oci::{OCI_INDEX, OCI_MANIFEST, Platform};

use super::support::{CONFIGS, Scene, catalog, files, has, image, run};
use operon_docker_registry::{RegistryServer as Server, Setup};

const TOOLS: [&str; 4] = ["docker-registry", "skopeo", "umoci", "tar"];

#[test]
fn a_catalog_is_pulled_once() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    scene.catalog_image("v1", "etcd");
    scene.upload("v1", &server.host, "me/catalog:v1", &[]);
    let location = image(&server.host, "me/catalog:v1");
    let images = scene.images();

    let tree = images.fetch_catalog(&location).unwrap();
    let expected = vec![("etcd/catalog.json".to_owned(), catalog("etcd"))];
    assert_eq!(files(&tree.directory), expected);
    assert_eq!(tree.labels[CONFIGS], "/configs");
    assert_eq!(tree.stale, None);
    let digest = tree.digest.clone().unwrap();
    assert_eq!(images.poll(location.reference().unwrap()).unwrap(), digest);

    let progress = Progress::default();
    let cache = scene.cache();
    let options = OpenOptions {
        cache: Some(&cache),
        progress: &progress,
        now: SystemTime::now(),
        is_immutable: true,
    };
    let opened = open_catalog(&tree.directory, &options).unwrap();
    assert_eq!(opened.catalog().packages().count(), 1);
    assert_eq!(opened.opened_by(), OpenedBy::Reading);
    // The files are seconds old, but nobody changes them.
    let opened = open_catalog(&tree.directory, &options).unwrap();
    assert_eq!(opened.opened_by(), OpenedBy::Stamps);

    // With the registry gone, a tag gives what was last seen and says so; a digest asks nobody.
    drop(server);
    let again = images.fetch_catalog(&location).unwrap();
    assert_eq!(again.directory, tree.directory);
    let stale = again.stale.unwrap().to_string();
    assert!(stale.contains("cannot reach `127.0.0.1:"), "{stale}");
    let by_digest = Location::Image(location.reference().unwrap().with_digest(digest));
    assert_eq!(images.fetch_catalog(&by_digest).unwrap().stale, None);
    let offline = Images::new(ImagesOptions { offline: true, ..scene.options() }).unwrap();
    let kept = offline.fetch_catalog(&location).unwrap();
    assert_eq!(kept.stale.unwrap().reason, "nothing may be fetched");
    let other = image("127.0.0.1:1", "other:v1");
    let error = offline.fetch_catalog(&other).unwrap_err();
    assert!(matches!(error, PullError::Offline { .. }), "{error}");
}

#[test]
fn layers_lie_upon_each_other() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    // The lowest layer has files that upper ones hide, replace, link to and name anew.
    scene.write("one/configs/gone/catalog.json", catalog("gone"));
    scene.write("one/configs/old/a.json", catalog("old"));
    scene.write("one/configs/old/b.json", catalog("older"));
    scene.write("one/configs/changed.json", catalog("before"));
    scene.write("one/usr/outside.json", catalog("outside"));
    scene.write("two/configs/.wh.gone", "");
    scene.write("two/configs/old/.wh..wh..opq", "");
    scene.write("two/configs/old/c.json", catalog("new"));
    scene.write("two/configs/changed.json", catalog("after"));
    scene.write("three/configs/first.json", catalog("linked"));
    fs::hard_link(scene.path("three/configs/first.json"), scene.path("three/configs/second.json"))
        .unwrap();
    symlink("first.json", scene.path("three/configs/third.json")).unwrap();
    symlink("../../etc/passwd", scene.path("three/configs/escape.json")).unwrap();
    scene.new_image("v1");
    for layer in ["one", "two", "three"] {
        scene.add_layer("v1", layer);
    }
    scene.label("v1", CONFIGS, "/configs");
    let expected: Vec<(String, String)> = [
        ("changed.json", "after"),
        ("first.json", "linked"),
        ("old/c.json", "new"),
        ("second.json", "linked"),
        ("third.json", "linked"),
    ]
    .map(|(path, package)| (path.to_owned(), catalog(package)))
    .to_vec();

    scene.upload("v1", &server.host, "me/layers:gzip", &[]);
    let plain = format!("dir:{}", scene.text("plain"));
    let from = format!("oci:{}:v1", scene.text("layout"));
    run("skopeo", &["--insecure-policy", "copy", "--dest-decompress", &from, &plain]);
    let zstd = ["--dest-compress", "--dest-compress-format", "zstd"];
    let recompressed = format!("oci:{}:v1", scene.text("zstd"));
    run("skopeo", &[&["--insecure-policy", "copy"], &zstd[..], &[&plain, &recompressed]].concat());
    let to = format!("docker://{}/me/layers-zstd:zstd", server.host);
    let exactly = ["--insecure-policy", "copy", "--preserve-digests", "--dest-tls-verify=false"];
    run("skopeo", &[&exactly[..], &[&recompressed, &to]].concat());
    scene.upload("v1", &server.host, "me/layers:docker", &["--format", "v2s2"]);
    let images = scene.images();
    for (name, tag, layer_type) in [
        ("layers", "gzip", "tar+gzip"),
        ("layers-zstd", "zstd", "tar+zstd"),
        ("layers", "docker", "tar.gzip"),
    ] {
        let manifest = server.get(&format!("/v2/me/{name}/manifests/{tag}"));
        let manifest = String::from_utf8(manifest).unwrap();
        assert_eq!(manifest.matches(layer_type).count(), 3, "{tag}: {manifest}");
        let tree = images.fetch_catalog(&image(&server.host, &format!("me/{name}:{tag}"))).unwrap();
        assert_eq!(files(&tree.directory), expected, "{tag}");
        assert_eq!(tree.notes.len(), 1, "{:?}", tree.notes);
        assert!(tree.notes[0].contains("escape.json"), "{:?}", tree.notes);
    }
}

#[test]
fn the_platform_is_chosen_from_a_list() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    let images = scene.images();
    let mut entries = Vec::new();
    for (tag, architecture) in [("amd", "amd64"), ("arm", "arm64")] {
        scene.catalog_image(tag, architecture);
        scene.upload(tag, &server.host, &format!("me/list:{tag}"), &[]);
        let location = image(&server.host, &format!("me/list:{tag}"));
        let digest = images.poll(location.reference().unwrap()).unwrap();
        let size = server.get(&format!("/v2/me/list/manifests/{digest}")).len();
        entries.push(format!(
            r#"{{"mediaType": "{OCI_MANIFEST}", "digest": "{digest}", "size": {size},
                "platform": {{"os": "linux", "architecture": "{architecture}"}}}}"#
        ));
    }
    let list = format!(
        r#"{{"schemaVersion": 2, "mediaType": "{OCI_INDEX}", "manifests": [{}]}}"#,
        entries.join(", ")
    );
    server.put("/v2/me/list/manifests/all", OCI_INDEX, list.as_bytes());

    let location = image(&server.host, "me/list:all");
    let fetch = |platform: &str| {
        let platform = Platform::parse(platform).unwrap();
        Images::new(ImagesOptions { platform, ..scene.options() }).unwrap().fetch_catalog(&location)
    };
    for architecture in ["amd64", "arm64"] {
        let tree = fetch(&format!("linux/{architecture}")).unwrap();
        assert!(tree.directory.join(architecture).join("catalog.json").exists());
        assert_eq!(tree.digest.unwrap(), operon_oci::Digest::of(&list));
    }
    let error = fetch("linux/s390x").unwrap_err().to_string();
    assert!(error.contains("`linux/amd64`, `linux/arm64`"), "{error}");
}

#[test]
fn bundles_have_manifests_and_metadata() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    scene.write("plain/manifests/csv.yaml", "kind: ClusterServiceVersion\n");
    scene.write("plain/metadata/annotations.yaml", "annotations: {}\n");
    scene.write("plain/tests/scorecard/config.yaml", "kind: Configuration\n");
    scene.write("other/deploy/olm/csv.yaml", "kind: ClusterServiceVersion\n");
    scene.write("other/deploy/notes/annotations.yaml", "annotations: {}\n");
    scene.write("none/bin/sh", "#!\n");
    for name in ["plain", "other", "none"] {
        scene.new_image(name);
        scene.add_layer(name, name);
    }
    let label = |part: &str| format!("operators.operatorframework.io.bundle.{part}.v1");
    scene.label("other", &label("manifests"), "/deploy/olm/");
    scene.label("other", &label("metadata"), "deploy/notes/");
    let images = scene.images();
    for name in ["plain", "other"] {
        scene.upload(name, &server.host, &format!("me/{name}"), &[]);
        let tree = images.fetch_bundle(&image(&server.host, &format!("me/{name}"))).unwrap();
        let names: Vec<String> = files(&tree.directory).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["manifests/csv.yaml", "metadata/annotations.yaml"], "{name}");
    }
    scene.upload("none", &server.host, "me/none", &[]);
    let error = images.fetch_bundle(&image(&server.host, "me/none")).unwrap_err().to_string();
    assert!(
        error.contains("is no bundle: it has no files in `/manifests` and `/metadata`"),
        "{error}"
    );
    let error = images.fetch_catalog(&image(&server.host, "me/other")).unwrap_err().to_string();
    assert!(error.contains("is no file-based catalog: it is a bundle"), "{error}");
    scene.label("plain", "operators.operatorframework.io.index.database.v1", "/index.db");
    scene.upload("plain", &server.host, "me/database", &[]);
    let error = images.fetch_catalog(&image(&server.host, "me/database")).unwrap_err().to_string();
    assert!(error.contains("SQLite"), "{error}");
}

#[test]
fn images_on_the_disk_are_opened_the_same_way() {
    if !has(&["skopeo", "umoci", "tar", "gzip", "zstd"]) {
        return;
    }
    let scene = Scene::new();
    scene.catalog_image("v1", "etcd");
    scene.catalog_image("v2", "other");
    let from = format!("oci:{}:v1", scene.text("layout"));
    let copy = |to: &str| run("skopeo", &["--insecure-policy", "copy", &from, to]);
    copy(&format!("oci-archive:{}:v1", scene.text("oci.tar")));
    copy(&format!("docker-archive:{}:example.com/me/catalog:v1", scene.text("docker.tar")));
    run("gzip", &["-k", &scene.text("docker.tar")]);
    run("zstd", &["-q", &scene.text("oci.tar")]);
    let configs = scene.text("files-v1/configs");
    run("tar", &["-C", &configs, "-czf", &scene.text("plain.tar.gz"), "."]);
    run("tar", &["-C", &configs, "-cf", &scene.text("plain.tar"), "."]);

    let images = scene.images();
    let expected = vec![("etcd/catalog.json".to_owned(), catalog("etcd"))];
    let at = |scheme: &str, file: &str| format!("{scheme}{}", scene.text(file));
    let places = [
        at("oci:", "layout:v1"),
        at("oci-archive:", "oci.tar"),
        at("oci-archive:", "oci.tar:v1"),
        at("oci-archive:", "oci.tar.zst:v1"),
        at("docker-archive:", "docker.tar"),
        at("docker-archive:", "docker.tar.gz:example.com/me/catalog:v1"),
        at("", "plain.tar.gz"),
        at("", "plain.tar"),
        at("dir:", "files-v1/configs"),
    ];
    for place in &places {
        let tree = images.fetch_catalog(&Location::parse(place).unwrap()).unwrap();
        assert_eq!(files(&tree.directory), expected, "{place}");
    }
    // Docker's archives may have compressed layers; their digests are those of the plain form.
    let repacked = |name: &str, harm: &str| {
        let script = format!(
            "mkdir {name} && tar -C {name} -xf docker.tar && cd {name} && \
             for layer in $(find . -name '*.tar' -type f); do {harm}; gzip $layer; mv $layer.gz $layer; done && \
             tar -cf ../{name}.tar *"
        );
        run("sh", &["-c", &format!("cd {} && {script}", scene.directory.path().display())]);
        let fresh = CacheDirectory::at(scene.path(&format!("{name}-cache")));
        let images = Images::new(ImagesOptions::bare(fresh)).unwrap();
        images.fetch_catalog(
            &Location::parse(&at("docker-archive:", &format!("{name}.tar"))).unwrap(),
        )
    };
    assert_eq!(files(&repacked("compressed", ":").unwrap().directory), expected);
    let error = repacked("changed", "printf x >> $layer").unwrap_err();
    assert!(matches!(error, PullError::DigestMismatch { .. }), "{error}");
    // Bundles are packed with and without the name of their directory.
    scene.write("files/bundle/manifests/csv.yaml", "kind: ClusterServiceVersion\n");
    scene.write("files/bundle/metadata/annotations.yaml", "annotations: {}\n");
    run("tar", &["-C", &scene.text("files"), "-cf", &scene.text("named.tar"), "bundle"]);
    run("tar", &["-C", &scene.text("files/bundle"), "-cf", &scene.text("bare.tar"), "."]);
    for file in ["named.tar", "bare.tar"] {
        let tree = images.fetch_bundle(&Location::parse(&scene.text(file)).unwrap()).unwrap();
        assert!(tree.directory.join("manifests/csv.yaml").exists(), "{file}");
    }
    let refused = [
        (at("oci:", "layout"), "holds 2 images; append one of `:v1`, `:v2`"),
        (at("oci:", "layout:v3"), "no image `:v3`; there are `:v1`, `:v2`"),
        (at("oci:", "files-v1"), "has no `oci-layout`"),
        (at("oci-archive:", "docker.tar"), "has no `oci-layout`"),
        (at("tar:", "ca.crt"), "No such file"),
        (at("tar:", "files-v1/etc/passwd"), "neither a tar archive nor"),
        ("grpc://localhost:50051".to_owned(), "cannot be fetched as a directory"),
    ];
    for (place, expected) in refused {
        let error =
            images.fetch_catalog(&Location::parse(&place).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{place}: {error}");
    }

    // A blob that was changed is found out.
    let blobs = scene.path("layout/blobs/sha256");
    for entry in fs::read_dir(&blobs).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    }
    let damaged = Location::parse(&at("oci:", "layout:v2")).unwrap();
    let error = images.fetch_catalog(&damaged).unwrap_err();
    assert!(matches!(error, PullError::DigestMismatch { .. }), "{error}");
}

#[test]
fn tls_and_passwords_are_kept() {
    if !has(&TOOLS) || !has(&["htpasswd"]) {
        return;
    }
    let scene = Scene::new();
    let login = Some(("somebody", "s3cret-word"));
    let server = Server::start(scene.directory.path(), "registry", &Setup { tls: true, login });
    scene.catalog_image("v1", "etcd");
    scene.upload(
        "v1",
        &server.host,
        "me/catalog:v1.2.3",
        &["--dest-creds", "somebody:s3cret-word"],
    );
    let location = image(&server.host, "me/catalog:v1.2.3");
    let fetch = |options| Images::new(options).unwrap().fetch_catalog(&location);

    let error = fetch(scene.options()).unwrap_err();
    assert!(matches!(error, PullError::Tls { .. }), "{error}");
    assert!(error.to_string().contains("OPERON_CA_FILE"), "{error}");

    let authorities =
        CertificateAuthorities { files: vec![scene.path("ca.crt")], directories: Vec::new() };
    let trusting = ImagesOptions { authorities, ..scene.options() };
    let error = fetch(trusting.clone()).unwrap_err();
    assert!(matches!(error, PullError::Unauthorised { .. }), "{error}");
    assert!(error.to_string().contains("there are no credentials for `127.0.0.1:"), "{error}");

    let with = |password: &str| {
        let pair = operon_document::encode_base64(format!("somebody:{password}").as_bytes());
        let file = format!(r#"{{"auths": {{"{}": {{"auth": "{pair}"}}}}}}"#, server.host);
        let pull_secrets = vec![file.into_bytes()];
        let credentials = CredentialSources { pull_secrets, files: Vec::new() };
        ImagesOptions { credentials, ..trusting.clone() }
    };
    let error = fetch(with("wr0ng-word")).unwrap_err().to_string();
    assert!(error.contains("user `somebody` of pull secret 1"), "{error}");
    assert!(!error.contains("wr0ng-word"), "{error}");
    fetch(with("s3cret-word")).unwrap();

    // Explicitly insecure, the certificate does not count; the password still does.
    let insecure = vec![server.host.clone()];
    let careless =
        ImagesOptions { insecure, authorities: Default::default(), ..with("s3cret-word") };
    fetch(careless).unwrap();

    // The directory for each host works like the file.
    let directory = format!("certs.d/{}/ca.crt", server.host);
    scene.write(&directory, fs::read(scene.path("ca.crt")).unwrap());
    let authorities =
        CertificateAuthorities { files: Vec::new(), directories: vec![scene.path("certs.d")] };
    fetch(ImagesOptions { authorities, ..with("s3cret-word") }).unwrap();

    let wrong = image(&server.host, "me/catalog:v1.2.4");
    let error = Images::new(with("s3cret-word")).unwrap().fetch_catalog(&wrong).unwrap_err();
    assert!(error.to_string().contains("did you mean `v1.2.3`?"), "{error}");
}

#[test]
fn mirrors_are_asked_first() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let mirror = Server::start(scene.directory.path(), "mirror", &Setup::default());
    scene.catalog_image("v1", "etcd");
    scene.upload("v1", &mirror.host, "copies/me/catalog:v1", &[]);
    let config = |more: &str| {
        let text = format!(
            "[[registry]]\nprefix = \"registry.invalid/me\"\nlocation = \"registry.invalid/me\"\n{more}\n"
        );
        scene.write("registries.conf", text);
        let registries =
            Registries { file: Some(scene.path("registries.conf")), directories: Vec::new() };
        Images::new(ImagesOptions { registries, ..scene.options() }).unwrap()
    };
    let location = Location::parse("registry.invalid/me/catalog:v1").unwrap();
    let entry = format!("[[registry.mirror]]\nlocation = \"{}/copies/me\"", mirror.host);
    let tree = config(&entry).fetch_catalog(&location).unwrap();
    assert_eq!(files(&tree.directory).len(), 1);
    assert_eq!(tree.reference.unwrap().registry(), "registry.invalid");
    let error = config("blocked = true").fetch_catalog(&location).unwrap_err().to_string();
    assert!(error.contains("is blocked by the entry `registry.invalid/me`"), "{error}");
}

#[test]
fn the_cache_repairs_itself_and_is_pruned() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    for (tag, package) in [("v1", "first"), ("v2", "second")] {
        scene.catalog_image(tag, package);
        scene.upload(tag, &server.host, &format!("me/catalog:{tag}"), &[]);
    }
    let images = scene.images();
    let [first, second] = ["v1", "v2"].map(|tag| image(&server.host, &format!("me/catalog:{tag}")));
    let tree = images.fetch_catalog(&first).unwrap();
    let whole = files(&tree.directory);

    // Whatever happens to its files, the next fetch gives the whole tree.
    let file = tree.directory.join("first/catalog.json");
    let harms: [(&str, &dyn Fn()); 4] = [
        ("truncated", &|| fs::write(&file, "{").unwrap()),
        ("removed", &|| fs::remove_file(&file).unwrap()),
        ("added", &|| fs::write(tree.directory.join("more.json"), "{}").unwrap()),
        ("record", &|| fs::write(tree.directory.join("../record"), "torn").unwrap()),
    ];
    for (name, harm) in harms {
        harm();
        let again = images.fetch_catalog(&first).unwrap();
        assert_eq!(files(&again.directory), whole, "{name}");
    }

    // Only what is in use survives pruning to nothing.
    let used = images.fetch_catalog(&second).unwrap();
    drop((tree, images));
    let pruned = scene.cache().prune(0).unwrap();
    let names = |entries: &[operon_image::CacheEntry]| -> Vec<String> {
        let trees = entries.iter().filter(|entry| entry.kind == EntryKind::Catalog);
        trees.map(|entry| entry.reference.rsplit(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (names(&pruned.removed), names(&pruned.in_use)),
        (vec!["v1".into()], vec!["v2".into()])
    );
    assert!(used.directory.join("second/catalog.json").exists());
    drop(used);
    assert_eq!(scene.cache().prune(0).unwrap().left_bytes, 0);
    assert_eq!(scene.cache().entries(), Vec::new());
    assert_eq!(files(&scene.images().fetch_catalog(&first).unwrap().directory), whole);

    // A cache that may hold nothing holds what was fetched last.
    let small = Images::new(ImagesOptions { cache_limit: 0, ..scene.options() }).unwrap();
    let kept = small.fetch_catalog(&second).unwrap();
    assert!(kept.directory.join("second/catalog.json").exists());
    let kinds: Vec<EntryKind> = scene.cache().entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Catalog]);
}
