//! `operon catalog build` and `operon bundle build`.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    time::{Duration, SystemTime},
};

use operon_docker_registry::{Setup, has};

use super::dock::{Dock, member};

const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";

/// Makes files look as if another person had checked them out another day.
fn disguise(dock: &Dock, directory: &str) {
    for entry in fs::read_dir(dock.path(directory)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(99_999)).unwrap();
        }
    }
}

#[test]
fn the_same_files_make_the_same_image() {
    let dock = Dock::new();
    dock.example("catalog", "one");
    // The same files, made in another order, with an empty directory beside them.
    let mut names: Vec<_> = fs::read_dir(dock.path("one")).unwrap().map(Result::unwrap).collect();
    names.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for entry in names {
        let name = entry.file_name().into_string().unwrap();
        dock.write(&format!("two/{name}"), fs::read(entry.path()).unwrap());
    }
    fs::create_dir(dock.path("two/empty")).unwrap();
    disguise(&dock, "two");
    let build = |directory: &str, target: &str| {
        let json = dock.operon(&["catalog", "build", directory, "-t", target, "-o", "json"]).done();
        member(&json, "digest")
    };
    let digest = build("one", "oci-archive:one.tar:v1");
    assert_eq!(build("two", "oci-archive:two.tar:v1"), digest);
    assert!(fs::read(dock.path("one.tar")).unwrap() == fs::read(dock.path("two.tar")).unwrap());
    assert_eq!(build("two", "oci:layout:v1"), digest);

    // What was built is read back as what it was built of.
    let list = |place: &str| dock.operon(&["catalog", "list", "packages", place]).done();
    let expected = list("one");
    for place in ["oci:layout:v1", "oci-archive:one.tar", "oci-archive:two.tar:v1"] {
        assert_eq!(list(place), expected, "{place}");
    }

    // A changed byte, a label and a platform change the digest.
    let labelled =
        dock.operon(&["catalog", "build", "one", "--label", "a=b=c", "-o", "json"]).done();
    assert_ne!(member(&labelled, "digest"), digest);
    assert_eq!(member(&labelled, "a"), "b=c");
    let other = ["catalog", "build", "one", "--platform", "linux/arm64", "-o", "json"];
    assert_ne!(member(&dock.operon(&other).done(), "digest"), digest);
    dock.write("two/README.md", "Changed.\n");
    assert_ne!(build("two", "oci:layout:v2"), digest);
}

#[test]
fn what_is_wrong_is_not_built() {
    let dock = Dock::new();
    dock.example("broken", "broken");
    let refused = dock.operon(&["catalog", "build", "broken", "-t", "oci:out"]).refused();
    assert!(refused.contains("broken/lighthouse.yaml:"), "{refused}");
    assert!(refused.contains("so nothing is built\nhint: correct them"), "{refused}");
    assert!(!dock.path("out").exists());
    dock.operon(&["catalog", "build", "broken", "-t", "oci:out", "--skip-validation"]).done();
    assert!(dock.path("out/index.json").exists());

    dock.write("empty/README.md", "Nothing.\n");
    dock.example("catalog", "linked");
    symlink(dock.path("empty"), dock.path("linked/elsewhere")).unwrap();
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    let annotations = dock.read("kiosk/metadata/annotations.yaml");
    dock.write("moved/metadata/annotations.yaml", annotations.replace("manifests/", "deploy/"));
    dock.write("moved/manifests/a.yaml", "kind: Unknown\n");
    let claims: [(&[&str], &str); 8] = [
        (&["catalog", "build", "nowhere"], "nowhere"),
        (&["catalog", "build", "empty"], "`empty` holds no catalog"),
        (&["catalog", "build", "linked"], "`linked/elsewhere` is a link to a directory"),
        (&["bundle", "build", "empty"], "holds no bundle"),
        (&["bundle", "build", "moved"], "so nothing is built"),
        (
            &["bundle", "build", "moved", "--skip-validation"],
            "bundle.manifests.v1` says `deploy`, but in the image it is `manifests/`",
        ),
        (&["bundle", "build", "kiosk", "-t", "oci:kiosk/metadata/annotations.yaml"], "cannot"),
        (
            &["bundle", "build", "kiosk", "-t", "127.0.0.1:1/kiosk", "--offline"],
            "is not pushed, because no registry may be asked",
        ),
    ];
    for (arguments, expected) in claims {
        let refused = dock.operon(arguments).refused();
        assert!(refused.contains(expected), "{arguments:?}: {refused}");
    }
    let typed = dock.operon(&["catalog", "build", "linked", "-t", "./out"]);
    assert_eq!(typed.code, Some(2), "{typed:?}");
    assert!(typed.stderr.contains("write `oci:./out` for a layout"), "{typed:?}");
}

#[test]
fn others_read_what_was_pushed() {
    if !has(&["docker-registry", "skopeo"]) {
        return;
    }
    let dock = Dock::new();
    let registry = dock.registry("registry");
    let host = &registry.host;
    let inspect = |image: &str| {
        dock.run("skopeo", &["inspect", "--tls-verify=false", &format!("docker://{image}")])
    };

    dock.example("catalog", "catalog");
    let image = format!("{host}/me/catalog:v1");
    let arguments = ["catalog", "build", "catalog", "-t", &image, "-t", "oci:layout:v1"];
    let told = dock.operon(&arguments).done();
    let digest = told.split_whitespace().nth(1).unwrap().to_owned();
    assert!(told.contains(&format!("pushed  {image}@{digest}\nwrote   oci:layout:v1\n")), "{told}");
    let seen = inspect(&image);
    assert_eq!(member(&seen, "Digest"), digest);
    assert_eq!(member(&seen, CONFIGS), "/configs");
    assert_eq!(
        dock.operon(&["catalog", "list", "packages", &image]).done(),
        dock.operon(&["catalog", "list", "packages", "catalog"]).done()
    );

    // A bundle, with its annotations as labels and its tests beside it.
    dock.example("bundles/kiosk/1.0.0", "kiosk");
    dock.write("kiosk/tests/scorecard/config.yaml", "kind: Configuration\n");
    dock.write("kiosk/bundle.Dockerfile", "FROM scratch\n");
    let image = format!("{host}/me/kiosk-bundle:v1.0.0");
    let told = dock.operon(&["bundle", "build", "kiosk", "-t", &image]).done();
    assert!(told.contains("  4 files, "), "{told}");
    let seen = inspect(&image);
    for (label, value) in [
        ("mediatype.v1", "registry+v1"),
        ("manifests.v1", "manifests/"),
        ("metadata.v1", "metadata/"),
        ("package.v1", "kiosk"),
        ("channels.v1", "stable"),
        ("channel.default.v1", "stable"),
    ] {
        let label = format!("operators.operatorframework.io.bundle.{label}");
        assert_eq!(member(&seen, &label), value);
    }
    let show = |place: &str| dock.operon(&["bundle", "show", place]).done();
    assert_eq!(show(&image), show("kiosk"));

    // A place that refuses is named, and does not keep the image from the others.
    let unreachable = dock.operon(&[
        "bundle",
        "build",
        "kiosk",
        "-t",
        "127.0.0.1:1/kiosk",
        "-t",
        "oci:layout:kiosk",
    ]);
    let told = unreachable.refused();
    assert!(told.contains("wrote   oci:layout:kiosk"), "{told}");
    assert!(told.contains("error: cannot reach `127.0.0.1:1`"), "{told}");
}

#[test]
fn images_are_pushed_to_a_registry_that_wants_to_know_who_asks() {
    if !has(&["docker-registry", "htpasswd"]) {
        return;
    }
    let dock = Dock::new();
    let setup = Setup { tls: true, login: Some(("me", "hush-9")) };
    let registry = dock.registry_with("registry", &setup);
    let image = format!("{}/me/catalog:v1", registry.host);
    dock.example("catalog", "catalog");
    // `me:hush-9` as it is written into such files.
    let login = format!(r#"{{"auths": {{"{}": {{"auth": "bWU6aHVzaC05"}}}}}}"#, registry.host);
    dock.write("auth.json", login);
    let trust = ["--ca-file", "ca.crt"];
    let know = ["--auth-file", "auth.json"];
    let build = |more: &[&str]| {
        dock.operon(&[&["catalog", "build", "catalog", "-t", &image], more].concat())
    };
    for (more, expected) in
        [(&know, "shows a certificate that is not trusted"), (&trust, "refuses access to")]
    {
        let refused = build(more).refused();
        assert!(refused.contains(expected), "{refused}");
        assert!(!refused.contains("hush-9"), "{refused}");
    }
    build(&[trust, know].concat()).done();
    dock.operon(&[&["catalog", "list", "packages", &image], &trust[..], &know[..]].concat()).done();
}
