//! Archives on the disk: any file gives a catalog or a bundle inside the cache, or an error.
//!
//! The first byte selects the kind of archive and its purpose. The rest is the file itself, or the labels and
//! the layers of an image, separated by lines of `%%%`.

#![no_main]

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use libfuzzer_sys::fuzz_target;
use operon_bundle::{
    BundleFile, Migration, OptionalValidator, RenderOptions, ValidationOptions, render, summarize,
    validate_bundle,
};
use operon_image::{
    CacheDirectory, Choice, Fetcher, ImagesOptions, Limits, Location, bundle_contents,
};
use operon_oci::{Digest, layer::LayerLimits};

/// The purpose is a bundle, not a catalog.
const BUNDLE: u8 = 4;
/// Header checksums are corrected first: mutation rarely finds one.
const REPAIR: u8 = 8;
/// The archive is built around the layers, so that its digests are correct.
const BUILT: u8 = 16;

struct Scratch {
    directory: tempfile::TempDir,
    fetcher: Fetcher,
}

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let directory =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let directory = directory.expect("a directory");
    let cache = CacheDirectory::at(directory.path().join("cache"));
    let layers = LayerLimits {
        decompressed_bytes: 8 << 20,
        grace_bytes: 1 << 20,
        kept_bytes: 4 << 20,
        tree_entries: 1000,
        ..LayerLimits::default()
    };
    let limits = Limits { image_bytes: 8 << 20, layers, ..Limits::default() };
    let options = |cache| Ok(ImagesOptions { limits, offline: true, ..ImagesOptions::bare(cache) });
    let fetcher = Fetcher::new(Some(cache), options, None).expect("a fetcher");
    Scratch { directory, fetcher }
});

fuzz_target!(|data: &[u8]| {
    let Some((&mode, data)) = data.split_first() else { return };
    let root = SCRATCH.directory.path();
    let _ = fs::remove_dir_all(root.join("cache"));
    let file = root.join("archive.tar");
    let mut pieces: Vec<Vec<u8>> =
        if mode & BUILT == 0 { vec![data.to_vec()] } else { split(data) };
    if mode & REPAIR != 0 {
        let first = usize::from(mode & BUILT != 0);
        pieces.iter_mut().skip(first).for_each(|piece| repair_sums(piece));
    }
    let (content, location) = match (mode & 3, mode & BUILT != 0) {
        (1, false) => (pieces.concat(), layout_archive(&file)),
        (2, false) => (pieces.concat(), docker_archive(&file)),
        (0 | 1, true) => (build(&pieces, true), layout_archive(&file)),
        (_, true) => (build(&pieces, false), docker_archive(&file)),
        (_, false) => (pieces.concat(), Location::Archive(file.clone())),
    };
    fs::write(&file, content).expect("a file");
    if mode & BUNDLE == 0 {
        open_catalog(&location);
    } else {
        open_bundle(&location);
    }
    // Nothing is written next to the cache.
    let names: BTreeSet<PathBuf> = fs::read_dir(root)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(names.iter().all(|path| *path == file || path.ends_with("cache")), "{names:?}");
});

fn open_catalog(location: &Location) {
    match SCRATCH.fetcher.catalog(location, &[]) {
        Ok(fetched) => {
            let opened = &fetched.opened;
            regular_files(opened.directory());
            for package in opened.catalog().packages() {
                for entry in package.channels().flat_map(|channel| channel.entries()) {
                    let Some(bundle) = entry.bundle() else { continue };
                    let image = bundle.image().unwrap_or_default();
                    // Bundles next to a fetched catalog are never read: they would be files of this machine.
                    if !operon_image::is_path(image) {
                        let _ = bundle_contents(opened, bundle.name(), image, opened.directory());
                    }
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn open_bundle(location: &Location) {
    let tree = match SCRATCH.fetcher.bundle(location, &[]) {
        Ok(tree) => tree,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let files = regular_files(&tree.directory);
    let options = ValidationOptions {
        optional: OptionalValidator::ALL.into_iter().collect(),
        ..ValidationOptions::default()
    };
    if let Ok(source) = validate_bundle(&files, &options).bundle {
        summarize(&source, &files);
        for migrate in [Migration::None, Migration::BundleObjectToCsvMetadata] {
            let options = RenderOptions { image: "example.com/bundle:v1".to_owned(), migrate };
            let _ = render(&source, &options);
        }
    }
}

/// Returns the files of a tree, which holds nothing but files and directories.
fn regular_files(directory: &Path) -> Vec<BundleFile> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).expect("a directory") {
            let path = entry.expect("an entry").path();
            let kind = fs::symlink_metadata(&path).expect("metadata").file_type();
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            assert!(kind.is_file(), "{} is neither a file nor a directory", path.display());
            let name = path.strip_prefix(directory).expect("inside").to_string_lossy().into_owned();
            files.push(BundleFile { path: name, content: fs::read(&path).expect("a file") });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn layout_archive(file: &Path) -> Location {
    Location::LayoutArchive { file: file.to_owned(), image: Choice::Only }
}

fn docker_archive(file: &Path) -> Location {
    Location::DockerArchive { file: file.to_owned(), image: Choice::Only }
}

/// Builds an image of labels and plain layers.
fn build(pieces: &[Vec<u8>], is_layout: bool) -> Vec<u8> {
    const EMPTY: &[u8] = b"{}";
    let (labels, layers) = pieces
        .split_first()
        .map_or((EMPTY, pieces), |(labels, layers)| (labels.as_slice(), layers));
    let labels = String::from_utf8_lossy(labels);
    let quoted = |texts: &[String]| {
        texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(",")
    };
    let digests: Vec<String> = layers.iter().map(|layer| Digest::of(layer).to_string()).collect();
    let config = format!(
        r#"{{"os":"linux","architecture":"amd64","config":{{"Labels":{labels}}},"rootfs":{{"type":"layers","diff_ids":[{}]}}}}"#,
        quoted(&digests)
    );
    let mut archive = Vec::new();
    if is_layout {
        let mut described = String::new();
        for (layer, digest) in layers.iter().zip(&digests) {
            let comma = if described.is_empty() { "" } else { "," };
            let size = layer.len();
            let _ = write!(
                described,
                r#"{comma}{{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"{digest}","size":{size}}}"#
            );
            append(&mut archive, &blob_name(layer), layer);
        }
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"{}","size":{}}},"layers":[{described}]}}"#,
            Digest::of(config.as_bytes()),
            config.len()
        );
        let index = format!(
            r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{}","size":{}}}]}}"#,
            Digest::of(manifest.as_bytes()),
            manifest.len()
        );
        append(&mut archive, &blob_name(config.as_bytes()), config.as_bytes());
        append(&mut archive, &blob_name(manifest.as_bytes()), manifest.as_bytes());
        append(&mut archive, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#);
        append(&mut archive, "index.json", index.as_bytes());
    } else {
        let names: Vec<String> =
            (0..layers.len()).map(|number| format!("{number}/layer.tar")).collect();
        for (name, layer) in names.iter().zip(layers) {
            append(&mut archive, name, layer);
        }
        let list = format!(
            r#"[{{"Config":"config.json","RepoTags":["a:b"],"Layers":[{}]}}]"#,
            quoted(&names)
        );
        append(&mut archive, "config.json", config.as_bytes());
        append(&mut archive, "manifest.json", list.as_bytes());
    }
    archive.extend([0; 1024]);
    archive
}

fn blob_name(content: &[u8]) -> String {
    format!("blobs/sha256/{}", Digest::of(content).hex())
}

/// Appends a regular file to a tar archive.
fn append(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    block[156] = b'0';
    block[257..265].copy_from_slice(b"ustar\x0000");
    repair_sums(&mut block);
    archive.extend(block);
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(512), 0);
}

/// Splits an input at lines of `%%%`.
fn split(data: &[u8]) -> Vec<Vec<u8>> {
    const MARK: &[u8] = b"\n%%%\n";
    let mut pieces = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        pieces.push(rest[..at].to_vec());
        rest = &rest[at + MARK.len()..];
    }
    pieces.push(rest.to_vec());
    pieces
}

/// Corrects the checksum of every block that is marked as a header.
fn repair_sums(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().copied().map(u64::from).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    }
}
