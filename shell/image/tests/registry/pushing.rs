//! What is pushed can be read back, by us and by `skopeo`.

use std::collections::BTreeMap;

use operon_image::{CopyTarget, Images, ImagesOptions, Location, PullError, write_layout};
use operon_oci::{
    Platform, Reference,
    build::{BuiltImage, ImageSettings, LayerBuilder},
};

use super::support::{CONFIGS, Scene, catalog, files, has, run};
use operon_docker_registry::{RegistryServer as Server, Setup};

/// An image with a layer that is larger than one piece of an upload.
fn built(large: usize) -> BuiltImage {
    let mut layer = LayerBuilder::new();
    layer.file("configs/etcd/catalog.json", catalog("etcd")).unwrap();
    // Bytes that do not compress, from a simple generator.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    layer.file("noise", noise.take(large).collect::<Vec<u8>>()).unwrap();
    let settings = ImageSettings {
        platform: Platform::linux("amd64"),
        labels: BTreeMap::from([(CONFIGS.to_owned(), "/configs".to_owned())]),
        ..ImageSettings::default()
    };
    BuiltImage::new(&settings, vec![layer.build().unwrap()])
}

#[test]
fn what_is_pushed_is_what_others_read() {
    if !has(&["docker-registry", "skopeo"]) {
        return;
    }
    let scene = Scene::new();
    let server = Server::start(scene.directory.path(), "registry", &Setup::default());
    let other = Server::start(scene.directory.path(), "other", &Setup::default());
    let reference = |host: &str, name: &str| Reference::parse(&format!("{host}/{name}")).unwrap();
    let images = scene.images();
    let copier = images.copier();
    let expected = vec![("etcd/catalog.json".to_owned(), catalog("etcd"))];

    // Small in one request, large in several; a second time nothing is sent.
    for (name, size) in [("me/small:v1", 10), ("me/large:v1", 20 << 20)] {
        let image = built(size);
        let to = reference(&server.host, name);
        for _ in 0..2 {
            assert_eq!(images.push(&image, &to).unwrap(), image.digest);
        }
        assert_eq!(images.poll(&to).unwrap(), image.digest);
        assert_eq!(files(&images.fetch_catalog(&Location::Image(to)).unwrap().directory), expected);
        let seen = run(
            "skopeo",
            &["inspect", "--tls-verify=false", &format!("docker://{}/{name}", server.host)],
        );
        assert!(seen.contains(&image.digest.to_string()), "{seen}");
        assert!(seen.contains(CONFIGS), "{seen}");
    }

    // From registry to registry, within one, and into a layout: the digest stays.
    let from = reference(&server.host, "me/large:v1");
    let digest = images.poll(&from).unwrap();
    for to in [reference(&other.host, "copy/large:v2"), reference(&server.host, "copy/large:v2")] {
        let target = CopyTarget::Registry(to.clone());
        assert_eq!(copier.copy(&from, &target).unwrap().digest, digest);
        assert_eq!(images.poll(&to).unwrap(), digest);
    }
    // Within a registry, what lies in one repository is taken over by another; nothing is sent again.
    let target = CopyTarget::Registry(reference(&other.host, "twin/large:v2"));
    let prospect = copier.look(&from, &target).unwrap();
    assert_eq!((prospect.missing.len(), prospect.is_there), (2, false));
    assert_eq!(prospect.digest, digest);
    let copied = copier.copy(&from, &target).unwrap();
    assert_eq!((copied.sent_bytes, copied.is_new), (0, true));
    assert!(!copier.copy(&from, &target).unwrap().is_new);
    assert!(copied.bytes > 20 << 20, "{copied:?}");
    let prospect = copier.look(&from, &target).unwrap();
    assert_eq!((prospect.missing.len(), prospect.is_there), (0, true));
    // Who may ask nobody copies nothing.
    let offline = ImagesOptions { offline: true, ..scene.options() };
    let refused = Images::new(offline).unwrap().copier().copy(&from, &target);
    assert!(matches!(refused, Err(PullError::Offline { .. })), "{refused:?}");

    let target = CopyTarget::Layout { directory: scene.path("layout"), tag: "v2".to_owned() };
    for _ in 0..2 {
        assert_eq!(copier.copy(&from, &target).unwrap().digest, digest);
    }
    write_layout(&built(10), &scene.path("layout"), "small").unwrap();
    for tag in ["v2", "small"] {
        let place = format!("oci:{}:{tag}", scene.text("layout"));
        let tree = images.fetch_catalog(&Location::parse(&place).unwrap()).unwrap();
        assert_eq!(files(&tree.directory), expected, "{tag}");
        let archive = format!("oci-archive:{}", scene.text(&format!("{tag}.tar")));
        run("skopeo", &["--insecure-policy", "copy", &place, &archive]);
        images.fetch_catalog(&Location::parse(&archive).unwrap()).unwrap();
    }
}
