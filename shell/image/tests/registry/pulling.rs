//! What arrives is what was pushed; what is kept is not fetched again.

use std::{fs, os::unix::fs::symlink, time::SystemTime};

use operon_image::{
    CertificateAuthorities, CredentialSources, EntryKind, Images, ImagesOptions, Location,
    OpenOptions, OpenedBy, Progress, PullError, open_catalog,
};

use super::{
    server::{Server, Setup},
    support::{CONFIGS, Scene, catalog, files, has, image},
};

const TOOLS: [&str; 4] = ["docker-registry", "skopeo", "umoci", "tar"];

#[test]
fn a_catalog_is_pulled_once() {
    if !has(&TOOLS) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(&scene, "registry", &Setup::default());
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
    let options = OpenOptions { cache: Some(&cache), progress: &progress, now: SystemTime::now() };
    let opened = open_catalog(&tree.directory, &options).unwrap();
    assert_eq!(opened.catalog().packages().count(), 1);
    assert_eq!(opened.opened_by(), OpenedBy::Reading);

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
