//! Images are what their digests and configurations say, and are kept for those who may pull them.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use operon_document::encode_base64;
use operon_image::{Images, ImagesOptions, Location, PullError, Tree};
use operon_oci::{Digest, OCI_LAYER_GZIP};

use super::{
    faults::Fixture,
    injector::{Injector, answer},
    support::{Scene, files, image},
};

fn server(fixture: Fixture) -> Injector {
    Injector::start(move |request, stream| fixture.serve(request, stream))
}

#[test]
fn layers_are_refused_when_their_diff_id_differs() {
    let sound = Fixture::sound();
    let other = Digest::of(b"another archive");
    let wrong = Fixture::with_diff_id(sound.layer.clone(), OCI_LAYER_GZIP, other.clone());
    let (sound, wrong) = (server(sound), server(wrong));
    let scene = Scene::new();
    let images = scene.images();
    assert!(images.fetch_catalog(&image(&sound.host, "me/catalog:v1")).is_ok());
    let error = images.fetch_catalog(&image(&wrong.host, "me/catalog:v1")).unwrap_err();
    assert!(matches!(error, PullError::Layer { .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("layer 1") && error.contains("`rootfs.diff_ids`"), "{error}");
    assert!(error.contains(&other.to_string()), "{error}");
    assert_eq!(files(&scene.path("cache/images/temporary")), Vec::new());
}

/// A registry that requires one of these passwords; without any, it requires none.
fn registry(passwords: &'static [&'static str]) -> Injector {
    let fixture = Fixture::sound();
    let headers = passwords
        .iter()
        .map(|password| format!("Basic {}", encode_base64(format!("me:{password}").as_bytes())));
    let headers: Vec<String> = headers.collect();
    Injector::start(move |request, stream| {
        let sent = request.header("authorization").unwrap_or_default();
        match headers.is_empty() || headers.iter().any(|header| header == sent) {
            true => fixture.serve(request, stream),
            false => {
                let challenge = [("WWW-Authenticate", "Basic realm=\"x\"")];
                answer(stream, "401 Unauthorized", &challenge, b"{}");
            }
        }
    })
}

/// Fetches with the cache of a scene as a tenant who has a pull secret with a password, or none.
fn fetch_as(
    scene: &Scene,
    host: &str,
    password: Option<&str>,
    location: &Location,
) -> Result<Tree, PullError> {
    let mut options: ImagesOptions = scene.options();
    let secret = |password: &str| {
        let entry = format!(r#"{{"username": "me", "password": "{password}"}}"#);
        format!(r#"{{"auths": {{"{host}": {entry}}}}}"#).into_bytes()
    };
    options.credentials.pull_secrets = password.map(secret).into_iter().collect();
    Images::new(options).unwrap().fetch_catalog(location)
}

#[test]
fn private_images_are_kept_for_their_credentials() {
    let scene = Scene::new();
    let server = registry(&["first", "second"]);
    let fetch = |password, location: &Location| fetch_as(&scene, &server.host, password, location);
    let tree = fetch(Some("first"), &image(&server.host, "me/catalog:v1")).unwrap();
    let by_digest = Location::Image(tree.reference.clone().unwrap());
    let asked = server.seen().len();
    let again = fetch(Some("first"), &by_digest).unwrap();
    assert_eq!(again.directory, tree.directory);
    assert_eq!(server.seen().len(), asked, "the same credentials need no second request");

    for password in [None, Some("wrong")] {
        let error = fetch(password, &by_digest).unwrap_err();
        assert!(matches!(error, PullError::Unauthorised { .. }), "{password:?}: {error}");
    }
    // Other credentials count as soon as the registry accepts them.
    let other = fetch(Some("second"), &by_digest).unwrap();
    assert_ne!(other.directory, tree.directory);
    assert_eq!(files(&other.directory), files(&tree.directory));
    // A registry that does not know the image cannot be used to get at it, either.
    let decoy = Injector::start(|_, stream| answer(stream, "404 Not Found", &[], b"{}"));
    let digest = tree.digest.unwrap();
    let elsewhere = image(&decoy.host, &format!("any/name@{digest}"));
    let error = fetch_as(&scene, &decoy.host, Some("first"), &elsewhere).unwrap_err();
    assert!(matches!(error, PullError::NotFound { .. }), "{error}");
}

#[test]
fn public_images_are_shared() {
    let scene = Scene::new();
    let server = registry(&[]);
    let fetch = |password, location: &Location| fetch_as(&scene, &server.host, password, location);
    let tree = fetch(None, &image(&server.host, "me/catalog:v1")).unwrap();
    let by_digest = Location::Image(tree.reference.clone().unwrap());
    let asked = server.seen().len();
    let other = fetch(Some("first"), &by_digest).unwrap();
    assert_eq!(other.directory, tree.directory);
    assert_eq!(server.seen().len(), asked);
}

#[test]
fn cached_files_are_readable_by_their_user_alone() {
    fn check(path: &Path) -> usize {
        let metadata = fs::symlink_metadata(path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}: {mode:o}", path.display());
        let entries = metadata.is_dir().then(|| fs::read_dir(path).unwrap());
        1 + entries.into_iter().flatten().map(|entry| check(&entry.unwrap().path())).sum::<usize>()
    }
    let scene = Scene::new();
    // A cache of an earlier version, whose modes came from the umask.
    let trees = scene.path("cache/images/trees");
    fs::create_dir_all(&trees).unwrap();
    fs::set_permissions(&trees, fs::Permissions::from_mode(0o755)).unwrap();
    let server = registry(&["first"]);
    let location = image(&server.host, "me/catalog:v1");
    let tree = fetch_as(&scene, &server.host, Some("first"), &location).unwrap();
    operon_image::open_catalog(
        &tree.directory,
        &operon_image::OpenOptions {
            cache: Some(&scene.cache()),
            progress: &operon_image::Progress::default(),
            now: std::time::SystemTime::now(),
            is_immutable: true,
        },
    )
    .unwrap();
    let cache = scene.path("cache");
    let names = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
    let checked: usize = names
        .flat_map(|path| match path.ends_with("images") {
            // The directory itself was made by this test.
            true => fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect(),
            false => vec![path],
        })
        .map(|path| check(&path))
        .sum();
    assert!(checked > 10, "{checked}");
}
