//! Seeds for `archive`: the examples as archives and images, plain and compressed.
//!
//! An input is a byte that selects the kind of archive, and the file or its parts.

use std::{fs, path::Path};

use anyhow::Context;
use operon_object::sha256_hex;

const LAYOUT: u8 = 1;
const DOCKER: u8 = 2;
const BUNDLE: u8 = 4;
const REPAIR: u8 = 8;
const BUILT: u8 = 16;

/// Separates the parts of an image.
const MARK: &[u8] = b"\n%%%\n";

const CATALOG_LABELS: &str = r#"{"operators.operatorframework.io.index.configs.v1":"/configs"}"#;
const BUNDLE_LABELS: &str =
    r#"{"operators.operatorframework.io.bundle.manifests.v1":"manifests/"}"#;

/// Returns archives of the example catalog and the example bundle below `root`.
pub(super) fn inputs(root: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let examples = root.join("examples");
    let read = |path: &str| {
        let path = examples.join(path);
        fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let catalog = read("catalog/anchor.yaml")?;
    let names = [
        "manifests/kiosk.clusterserviceversion.yaml",
        "manifests/kiosks.shop.example.com.crd.yaml",
        "metadata/annotations.yaml",
    ];
    let mut bundle = Vec::new();
    for name in names {
        append(&mut bundle, b'0', name, "", &read(&format!("bundles/kiosk/1.0.0/{name}"))?);
    }
    let mut configs = Vec::new();
    append(&mut configs, b'5', "configs/", "", b"");
    append(&mut configs, b'0', "configs/anchor/catalog.yaml", "", &catalog);
    append(&mut configs, b'2', "configs/link.yaml", "anchor/catalog.yaml", b"");
    append(&mut configs, b'1', "configs/hard.yaml", "configs/anchor/catalog.yaml", b"");
    append(&mut configs, b'2', "configs/outside", "../../etc", b"");
    let mut cover = Vec::new();
    append(&mut cover, b'0', "configs/.wh.hard.yaml", "", b"");
    for archive in [&mut bundle, &mut configs, &mut cover] {
        archive.extend([0; 1024]);
    }

    let docker = docker_archive(&configs);
    let input = |mode: u8, parts: &[&[u8]]| [&[mode][..], &parts.concat()].concat();
    let cut = &configs[..configs.len() - 1500];
    let mut inputs = vec![
        input(REPAIR, &[&configs]),
        input(0, &[&gzip(&configs)]),
        input(0, &[&zstd(&configs)]),
        input(REPAIR, &[cut]),
        input(REPAIR | BUNDLE, &[&bundle]),
        input(BUNDLE, &[&gzip(&bundle)]),
        input(DOCKER, &[&docker]),
        input(DOCKER, &[&gzip(&docker)]),
        input(LAYOUT, &[&docker]),
    ];
    for kind in [LAYOUT, DOCKER] {
        let mode = kind | BUILT | REPAIR;
        inputs.push(input(mode, &[CATALOG_LABELS.as_bytes(), MARK, &configs, MARK, &cover]));
        inputs.push(input(mode | BUNDLE, &[BUNDLE_LABELS.as_bytes(), MARK, &bundle]));
        inputs.push(input(mode, &[b"{}", MARK, &configs]));
    }
    Ok(inputs)
}

/// Packs a layer as `docker save` does, behind a symbolic link.
fn docker_archive(layer: &[u8]) -> Vec<u8> {
    let digest = sha256_hex(layer);
    let config = format!(
        r#"{{"os":"linux","architecture":"amd64","config":{{"Labels":{CATALOG_LABELS}}},"rootfs":{{"type":"layers","diff_ids":["sha256:{digest}"]}}}}"#
    );
    let list = r#"[{"Config":"config.json","RepoTags":["a:b"],"Layers":["b/layer.tar"]}]"#;
    let mut archive = Vec::new();
    append(&mut archive, b'0', "a/layer.tar", "", layer);
    append(&mut archive, b'2', "b/layer.tar", "../a/layer.tar", b"");
    append(&mut archive, b'0', "config.json", "", config.as_bytes());
    append(&mut archive, b'0', "manifest.json", "", list.as_bytes());
    archive.extend([0; 1024]);
    archive
}

/// Appends an entry to a tar archive.
fn append(archive: &mut Vec<u8>, kind: u8, name: &str, target: &str, content: &[u8]) {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..107].copy_from_slice(b"0000644");
    block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    block[156] = kind;
    block[157..157 + target.len()].copy_from_slice(target.as_bytes());
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[148..156].fill(b' ');
    let sum: u64 = block.iter().copied().map(u64::from).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    archive.extend(block);
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(512), 0);
}

/// Wraps bytes in a gzip stream without compressing them.
pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let blocks: Vec<&[u8]> = content.chunks(usize::from(u16::MAX)).collect();
    for (index, block) in blocks.iter().enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(index + 1 == blocks.len()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(*block);
    }
    stream.extend(crc32(content).to_le_bytes());
    stream.extend((content.len() as u32).to_le_bytes());
    stream
}

/// Wraps bytes in a Zstandard frame of one raw block; a block has at most 128 KiB.
fn zstd(content: &[u8]) -> Vec<u8> {
    let length = content.len() as u32;
    let head = length << 3 | 1;
    let magic = [0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    [&magic[..], &length.to_le_bytes(), &head.to_le_bytes()[..3], content].concat()
}

fn crc32(content: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
    !content.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}
