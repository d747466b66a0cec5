//! `operon catalog mirror`, from one registry to another.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use operon_docker_registry::{RegistryServer, has};

use super::dock::{Dock, member, said};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// What is asked for in the cluster behind the mirror, beside the CatalogSource.
const SUBSCRIPTION: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: shop, namespace: shop}
spec: {targetNamespaces: [shop]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: kiosk, namespace: shop}
spec: {name: kiosk, channel: stable, source: catalog, sourceNamespace: shop}
";

/// A catalog of two packages; `kiosk` has one bundle.
fn catalog(bundle_image: &str, related: &[String]) -> String {
    let related: Vec<String> =
        related.iter().map(|image| format!(r#"{{"name": "", "image": "{image}"}}"#)).collect();
    let package = |name: &str| {
        format!(
            r#"{{"schema": "olm.package", "name": "{name}", "defaultChannel": "stable"}}
{{"schema": "olm.channel", "package": "{name}", "name": "stable", "entries": [{{"name": "{name}.v1.0.0"}}]}}
"#
        )
    };
    let bundle = |name: &str, image: &str, related: &str, api: &str| {
        format!(
            r#"{{"schema": "olm.bundle", "package": "{name}", "name": "{name}.v1.0.0", "image": "{image}",
"properties": [{{"type": "olm.package", "value": {{"packageName": "{name}", "version": "1.0.0"}}}}{api}],
"relatedImages": [{related}]}}
"#
        )
    };
    let api = r#", {"type": "olm.gvk", "value": {"group": "shop.example.com", "version": "v1alpha1", "kind": "Kiosk"}}"#;
    package("kiosk")
        + &package("stall")
        + &bundle("kiosk", bundle_image, &related.join(","), api)
        + &bundle("stall", "quay.io/nobody/stall-bundle:v1", "", "")
}

/// Pushes an image of two platforms, and returns its digest.
pub(super) fn two_platforms(dock: &Dock, registry: &RegistryServer, repository: &str) -> String {
    let mut entries = Vec::new();
    for architecture in ["amd64", "arm64"] {
        dock.write(&format!("program-{architecture}/program"), architecture.repeat(1000));
        let image = format!("{}/{repository}:{architecture}", registry.host);
        let platform = format!("linux/{architecture}");
        let directory = format!("program-{architecture}");
        let arguments = ["--skip-validation", "--platform", &platform, "-o", "json"];
        let build = [&["catalog", "build", &directory, "-t", &image], &arguments[..]].concat();
        let digest = member(&dock.operon(&build).done(), "digest");
        let size = registry.get(&format!("/v2/{repository}/manifests/{digest}")).len();
        entries.push(format!(
            r#"{{"mediaType":"{MANIFEST}","digest":"{digest}","size":{size},"platform":{{"os":"linux","architecture":"{architecture}"}}}}"#
        ));
    }
    let index = format!(
        r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{}]}}"#,
        entries.join(",")
    );
    registry.put(&format!("/v2/{repository}/manifests/both"), INDEX, index.as_bytes());
    let seen = format!("docker://{}/{repository}:both", registry.host);
    let raw = dock.run("skopeo", &["inspect", "--raw", "--tls-verify=false", &seen]);
    assert_eq!(raw, index);
    dock.write("index.json", index);
    dock.run("skopeo", &["manifest-digest", "index.json"]).trim().to_owned()
}

#[test]
fn a_cluster_lives_on_the_mirror_alone() {
    if !has(&["docker-registry", "skopeo"]) {
        return;
    }
    let dock = Dock::new();
    let (source, mirror) = (dock.registry("source"), dock.registry("mirror"));
    let (from, to) = (source.host.clone(), mirror.host.clone());
    let index = two_platforms(&dock, &source, "shop/kiosk");
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    let bundle = format!("{from}/shop/kiosk-bundle:v1.0.0");
    dock.operon(&["bundle", "build", "kiosk", "-t", &bundle]).done();
    let related = [format!("{from}/shop/kiosk@{index}"), format!("{from}/shop/kiosk:amd64")];
    dock.write("catalog/catalog.json", catalog(&bundle, &related));
    let image = format!("{from}/shop/catalog:v1");
    dock.operon(&["catalog", "build", "catalog", "-t", &image]).done();

    let destination = format!("{to}/far/away");
    let mirror_with = |more: &[&str]| {
        let arguments = ["catalog", "mirror", &image, "--keep", "kiosk", "--to", &destination];
        dock.operon(&[&arguments[..], more].concat())
    };
    // First only a look: nothing is fetched but manifests, nothing is written.
    let asked = source.requests().len();
    let prospect = mirror_with(&["--dry-run"]).done();
    assert!(prospect.contains("3 images, "), "{prospect}");
    assert!(prospect.contains(", 0 are there already\n"), "{prospect}");
    let fetched = source.requests().split_off(asked);
    assert!(
        fetched.iter().any(|request| request.contains("/shop/kiosk/manifests/")),
        "{fetched:?}"
    );
    assert!(!fetched.iter().any(|request| request.contains("/shop/kiosk/blobs/")), "{fetched:?}");
    let sent = |server: &RegistryServer| {
        let requests = server.requests();
        requests.into_iter().filter(|request| !request.starts_with("HEAD")).collect::<Vec<_>>()
    };
    assert_eq!(sent(&mirror), Vec::<String>::new());
    assert!(!dock.path("operon-mirror").exists());

    let said = mirror_with(&[]);
    assert!(said.stderr.contains("[3/3] "), "{said:?}");
    let told = said.done();
    assert!(told.contains("3 of 3 images in"), "{told}");
    assert!(told.contains(&format!("catalog `{to}/far/away/shop/catalog:v1`\n")), "{told}");
    // Every platform is there, by the same digest and by the same tags.
    for name in [format!("kiosk@{index}"), "kiosk:amd64".to_owned()] {
        let [old, new] = [format!("{from}/shop/{name}"), format!("{to}/far/away/shop/{name}")]
            .map(|image| format!("docker://{image}"))
            .map(|image| dock.run("skopeo", &["inspect", "--raw", "--tls-verify=false", &image]));
        assert_eq!(old, new);
    }
    let everything = format!("docker://{to}/far/away/shop/kiosk@{index}");
    let copy = ["--insecure-policy", "copy", "--all", "--src-tls-verify=false"];
    dock.run("skopeo", &[&copy[..], &[&everything, "oci:everything:v1"]].concat());

    // A second time nothing is sent.
    let before = sent(&mirror).iter().filter(|request| request.contains("/blobs/")).count();
    let again = mirror_with(&["-o", "json"]).done();
    assert_eq!(member(&again, "sentBytes"), "0");
    let after = sent(&mirror).iter().filter(|request| request.contains("/blobs/")).count();
    assert_eq!(after, before);
    let prospect = mirror_with(&["--dry-run"]).done();
    assert!(prospect.contains("; 0 B to send to"), "{prospect}");
    assert!(prospect.contains("the catalog is there: "), "{prospect}");

    // The source is gone, and so is everything that was kept of it.
    drop(source);
    dock.operon(&["cache", "prune", "--all"]).done();
    let copy = format!("{to}/far/away/shop/catalog:v1");
    dock.operon(&["catalog", "validate", &copy]).done();
    let list = dock.operon(&["catalog", "list", "packages", &copy]).done();
    assert!(list.contains("kiosk") && !list.contains("stall"), "{list}");
    for (file, part) in [
        ("imagedigestmirrorset.yaml", format!("source: {from}/shop/kiosk-bundle\n")),
        ("imagetagmirrorset.yaml", format!("- {to}/far/away/shop/kiosk-bundle\n")),
        ("catalogsource.yaml", format!("image: {copy}\n")),
    ] {
        let text = dock.read(&format!("operon-mirror/{file}")).replace('"', "");
        assert!(text.contains(&part), "{file}: {text}");
    }
    let catalog_source = dock.read("operon-mirror/catalogsource.yaml");
    let catalog_source = catalog_source.replace("metadata:\n", "metadata:\n  namespace: shop\n");
    dock.write("up/cluster.yaml", format!("{catalog_source}---{SUBSCRIPTION}"));
    let mut up = dock.command(&["up", "--once", "up"]);
    up.env("CONTAINERS_REGISTRIES_CONF", dock.path("operon-mirror/registries.conf"));
    let told = said_of(&mut up);
    assert!(told.contains("1 running\n"), "{told}");
}

fn said_of(command: &mut std::process::Command) -> String {
    let said = said(command);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.stdout
}

/// Makes a catalog with this many related images in a registry, each with bytes of its own.
fn stock(dock: &Dock, registry: &RegistryServer, count: usize) -> Vec<String> {
    let mut state = 1_u64;
    let mut images = Vec::new();
    for number in 0..count {
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        dock.write("noise/noise", noise.take(100_000).collect::<Vec<u8>>());
        let image = format!("{}/stock/image-{number}:v1", registry.host);
        dock.operon(&["catalog", "build", "noise", "--skip-validation", "-t", &image]).done();
        images.push(image);
    }
    fs::remove_dir_all(dock.path("noise")).unwrap();
    images
}

fn uploads(registry: &RegistryServer) -> usize {
    let requests = registry.requests();
    let is_upload = |request: &&String| request.starts_with("PUT") && request.contains("/blobs/");
    requests.iter().filter(is_upload).count()
}

#[test]
fn a_mirror_that_was_killed_goes_on_where_it_stopped() {
    if !has(&["docker-registry"]) {
        return;
    }
    const COUNT: usize = 12;
    let dock = Dock::new();
    let (source, mirror) = (dock.registry("source"), dock.registry("mirror"));
    let mut related = stock(&dock, &source, COUNT - 1);
    // One image is not there, and one is none.
    related.push(format!("{}/stock/missing:v9", source.host));
    let bundle = format!("{}/stock/bundle:v1", source.host);
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    dock.operon(&["bundle", "build", "kiosk", "-t", &bundle]).done();
    dock.write("catalog/catalog.json", catalog(&bundle, &related));
    let arguments =
        ["catalog", "mirror", "catalog", "--keep", "kiosk", "--jobs", "1", "--to", &mirror.host];

    let mut command = dock.command(&arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while uploads(&mirror) < 6 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is copied");
        assert!(child.try_wait().unwrap().is_none(), "it ended before it could be killed");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let again = dock.operon(&arguments);
    assert_eq!(again.code, Some(1), "{again:?}");
    let last = again.stderr.lines().rev().nth(1).unwrap();
    assert!(last.starts_with("error: `127.0.0.1:"), "{again:?}");
    assert!(last.contains("/stock/missing:v9` was not copied: "), "{again:?}");
    assert!(again.stdout.contains(&format!("{COUNT} of {} images", COUNT + 1)), "{again:?}");
    assert!(again.stderr.contains("there   "), "{again:?}");
    // A layer and a configuration for each image and for the catalog: each was sent once, in both runs
    // together.
    assert_eq!(uploads(&mirror), 2 * (COUNT + 1));
    for number in 0..COUNT - 1 {
        mirror.get(&format!("/v2/stock/image-{number}/manifests/v1"));
    }

    // Onto a disk, by several at once.
    let layout = ["catalog", "mirror", "catalog", "--keep", "kiosk", "--to", "oci:stick"];
    for sends_nothing in [false, true] {
        let said = dock.operon(&[&layout[..], &["-o", "json"]].concat());
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_eq!(member(&said.stdout, "sentBytes") == "0", sends_nothing, "{said:?}");
    }
    dock.operon(&["bundle", "validate", &format!("oci:stick:{bundle}")]).done();
    let list =
        dock.operon(&["catalog", "list", "packages", "oci:stick:localhost/catalog:latest"]).done();
    assert!(list.contains("kiosk"), "{list}");
}

/// Over an air gap: into a layout on one side, out of it on the other, where there is no source any more.
#[test]
fn a_layout_is_carried_over_and_mirrored_from() {
    if !has(&["docker-registry", "skopeo"]) {
        return;
    }
    let dock = Dock::new();
    let (source, mirror) = (dock.registry("source"), dock.registry("mirror"));
    let from = source.host.clone();
    let index = two_platforms(&dock, &source, "shop/kiosk");
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    let bundle = format!("{from}/shop/kiosk-bundle:v1.0.0");
    dock.operon(&["bundle", "build", "kiosk", "-t", &bundle]).done();
    let related = [format!("{from}/shop/kiosk@{index}"), format!("{from}/shop/kiosk:arm64")];
    dock.write("catalog/catalog.json", catalog(&bundle, &related));
    let image = format!("{from}/shop/catalog:v1");
    dock.operon(&["catalog", "build", "catalog", "-t", &image]).done();
    dock.operon(&["catalog", "mirror", &image, "--keep", "kiosk", "--to", "oci:stick"]).done();
    drop(source);
    dock.operon(&["cache", "prune", "--all"]).done();

    let carried = format!("oci:stick:{image}");
    let destination = format!("{}/far", mirror.host);
    let arguments = ["catalog", "mirror", &carried, "--keep", "kiosk", "--to", &destination];
    let prospect = dock.operon(&[&arguments[..], &["--dry-run"]].concat()).done();
    assert!(prospect.contains("3 images, "), "{prospect}");
    let told = dock.operon(&arguments).done();
    assert!(told.contains("3 of 3 images in"), "{told}");
    assert!(told.contains(&format!("catalog `{destination}/shop/catalog:v1`\n")), "{told}");
    // All of it is there, for every platform, as others see it.
    let copy = ["--insecure-policy", "copy", "--all", "--src-tls-verify=false"];
    for (number, name) in [
        format!("kiosk@{index}"),
        "kiosk:arm64".to_owned(),
        "kiosk-bundle:v1.0.0".to_owned(),
        "catalog:v1".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let there = format!("docker://{destination}/shop/{name}");
        dock.run("skopeo", &[&copy[..], &[&there, &format!("oci:seen:v{number}")]].concat());
    }
    let list =
        dock.operon(&["catalog", "list", "packages", &format!("{destination}/shop/catalog:v1")]);
    assert!(list.done().contains("kiosk"));

    // A layout that is damaged on the way is noticed before anything of it is sent.
    let damaged = dock.path("stick/blobs/sha256").join(index.trim_start_matches("sha256:"));
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, [&bytes[..], b" "].concat()).unwrap();
    let other = dock.registry("other");
    let again = ["catalog", "mirror", &carried, "--keep", "kiosk", "--to", &other.host];
    let told = dock.operon(&again).refused();
    assert!(told.contains("2 of 3 images in"), "{told}");
    assert!(told.contains(&index), "{told}");
    // What it does not hold cannot be had where it once was.
    fs::write(dock.path("stick/index.json"), {
        let text = dock.read("stick/index.json");
        text.replace("kiosk:arm64", "kiosk:other")
    })
    .unwrap();
    let told = dock.operon(&again).refused();
    assert!(told.contains("it does not hold"), "{told}");
}

#[test]
fn what_is_typed_wrong_is_said() {
    let dock = Dock::new();
    dock.write("catalog/catalog.json", catalog("../bundles/kiosk", &[]));
    let mirror =
        |arguments: &[&str]| dock.operon(&[&["catalog", "mirror", "catalog"], arguments].concat());
    let claims: [(&[&str], i32, &str); 5] = [
        (&["--keep", "kiosk", "--to", "mirror"], 2, "`mirror` names no registry"),
        (&["--keep", "kiosk", "--to", "127.0.0.1:1", "--jobs", "0"], 2, "0 is not in 1..=32"),
        (&["--to", "127.0.0.1:1"], 2, "--keep"),
        (&["--keep", "kisok", "--to", "127.0.0.1:1"], 1, "did you mean `kiosk`?"),
        (
            &["--keep", "kiosk", "--to", "127.0.0.1:1", "--dry-run"],
            1,
            "\"../bundles/kiosk\" is not an image reference",
        ),
    ];
    for (arguments, code, expected) in claims {
        let said = mirror(arguments);
        assert_eq!(said.code, Some(code), "{said:?}");
        assert!((said.stdout.clone() + &said.stderr).contains(expected), "{said:?}");
    }
    // A registry that cannot be reached is told of once, whatever there is to copy.
    let related = ["127.0.0.1:2/a:v1", "127.0.0.1:2/b:v1"].map(str::to_owned);
    dock.write("catalog/catalog.json", catalog("127.0.0.1:2/kiosk:v1", &related));
    let said = mirror(&["--keep", "kiosk", "--to", "127.0.0.1:1"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.stderr.matches("cannot reach `127.0.0.1:1`").count(), 1, "{said:?}");
    assert!(!said.stderr.contains("127.0.0.1:2"), "{said:?}");
}
