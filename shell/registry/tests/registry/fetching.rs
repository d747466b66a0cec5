//! A catalog that is served, fetched and opened again is the same to a resolver.

use std::fmt::Write;

use operon_catalog::{Bundle, Catalog, Entry, Package};
use operon_fbc::{MemoryFile, read_catalog};
use operon_registry::{Content, Server};

use crate::{
    content::{HARBOUR, MemoryContent, any_port, connect},
    vectors::sound_catalogs,
};

/// All that a resolver can see of a package, as text.
fn visible(package: Package<'_>) -> String {
    let mut text = String::new();
    let names = |entries: &[Entry<'_>]| -> Vec<String> {
        entries.iter().map(|entry| entry.name().to_owned()).collect()
    };
    writeln!(
        text,
        "{} default {:?} deprecated {:?}",
        package.name(),
        package.default_channel_name(),
        package.deprecation()
    )
    .unwrap();
    for channel in package.channels() {
        let order: Vec<Entry<'_>> = channel.order().collect();
        let (name, why) = (channel.name(), channel.deprecation());
        let head = channel.head().map(Entry::name);
        writeln!(text, "  {name} {why:?} head {head:?} order {:?}", names(&order)).unwrap();
        let mut entries: Vec<Entry<'_>> = channel.entries().collect();
        entries.sort_by_key(|entry| entry.name());
        for entry in entries {
            let skips: Vec<&str> = entry.skips().collect();
            let (replaces, range) = (entry.replaces(), entry.skip_range());
            writeln!(text, "    {} {replaces:?} {skips:?} {range:?}", entry.name()).unwrap();
        }
    }
    for bundle in package.bundles() {
        write_bundle(bundle, &mut text);
    }
    text
}

fn write_bundle(bundle: Bundle<'_>, text: &mut String) {
    let (version, release, image) = (bundle.version_text(), bundle.release(), bundle.image());
    let why = bundle.deprecation();
    writeln!(text, "  {} {version:?} {release:?} {image:?} {why:?}", bundle.name()).unwrap();
    let provided: Vec<_> = bundle.provided_apis().map(|api| api.name()).collect();
    let required: Vec<_> = bundle.required_apis().map(|api| api.name()).collect();
    let packages: Vec<_> = bundle.required_packages().collect();
    writeln!(text, "    {provided:?} {required:?} {packages:?}").unwrap();
    for property in bundle.properties() {
        writeln!(text, "    {} {}", property.kind, property.value).unwrap();
    }
}

fn all_visible(catalog: &Catalog, left_out: &[String]) -> String {
    let served =
        catalog.packages().filter(|package| !left_out.contains(&package.name().to_owned()));
    served.map(visible).collect()
}

#[test]
fn what_is_fetched_is_the_catalog_that_was_served() {
    let server = Server::new();
    let listening = server.listen(&any_port()).unwrap();
    let client = connect(&listening);
    let mut contents = vec![
        ("example".to_owned(), MemoryContent::example()),
        ("harbour".to_owned(), MemoryContent::of_text(HARBOUR)),
    ];
    for (line, files) in sound_catalogs() {
        contents.push((line["id"].to_string(), MemoryContent::new(files)));
    }
    for (id, content) in contents {
        let left_out: Vec<String> = server
            .set_content(content.clone())
            .into_iter()
            .map(|left_out| left_out.package)
            .collect();
        let mut documents = Vec::new();
        let fetched = client.fetch_catalog(&mut documents).unwrap();
        let path = "fetched.json".to_owned();
        let again = read_catalog(&[MemoryFile { path, content: documents.clone() }]);
        let errors: Vec<_> = again.diagnostics().map(|finding| finding.message).collect();
        assert!(again.is_valid(), "{id}: {errors:?}");
        let original = all_visible(content.catalog(), &left_out);
        assert_eq!(all_visible(&again, &[]), original, "{id}");
        let counts = again.counts();
        assert_eq!(fetched.packages, counts.packages as usize, "{id}");
        assert_eq!(fetched.bundles, counts.bundles as usize, "{id}");
        let mut twice = Vec::new();
        assert_eq!(client.fetch_catalog(&mut twice).unwrap(), fetched, "{id}");
        assert_eq!(documents, twice, "{id}");
    }
}

#[test]
fn manifests_without_an_image_are_fetched_with_the_catalog() {
    let server = Server::new();
    server.set_content(MemoryContent::of_text(HARBOUR));
    let listening = server.listen(&any_port()).unwrap();
    let mut documents = Vec::new();
    connect(&listening).fetch_catalog(&mut documents).unwrap();
    let path = "fetched.json".to_owned();
    let fetched = MemoryContent::new(vec![MemoryFile { path, content: documents }]);
    let objects =
        |name| fetched.catalog().package("crane").unwrap().bundle(name).unwrap().object_count();
    assert_eq!(["crane.v1", "crane.v1a", "crane.v2"].map(objects), [2, 0, 0]);
    server.set_content(fetched);
    let mut again = Vec::new();
    let second = connect(&listening).fetch_catalog(&mut again).unwrap();
    assert_eq!(second.bundles, 3, "what was fetched can be served and fetched again");
}
