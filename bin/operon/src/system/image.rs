//! `operon image`: this program as a container image, which needs nothing else to run.
//!
//! The image holds the program, the authorities that TLS trusts and where names are looked up. There is
//! no system in it, no shell and no package; a program that needs shared libraries is refused.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use operon_document::encode_base64;
use operon_image::Packed;
use operon_oci::{
    Platform,
    build::{ImageSettings, LayerBuilder},
};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

use super::elf;
use crate::{
    exit::Outcome,
    shipping::{SendOptions, make_and_send},
};

/// Where the program lies in the image.
const PROGRAM: &str = "usr/bin/operon";

/// The user that runs it, as in other images without a system: it is nobody else's.
const USER: &str = "65532";

/// Where programs look for the authorities that they trust.
const AUTHORITIES: &str = "etc/ssl/certs/ca-certificates.crt";

/// How long the lines of a PEM text are.
const PEM_LINE: usize = 64;

/// The files beside the program: names are looked up in the pod's own files and by DNS, and whoever asks
/// for the name of the user gets one.
const FILES: [(&str, &str); 3] = [
    ("etc/group", "operon:x:65532:\n"),
    ("etc/nsswitch.conf", "hosts: files dns\n"),
    ("etc/passwd", "operon:x:65532:65532:operon:/:/usr/bin/operon\n"),
];

/// Makes an image of this program, and pushes it or writes it to the disk
///
/// The program must be linked statically, as `cargo xtask image` builds it. The same program always
/// makes the same image. No container engine is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 the program cannot stand alone, or the image could not be sent everywhere

Examples:
  operon image -t registry.example.com/operon:v1
  operon image -t oci-archive:operon.tar:v1
  operon image --program ./operon-arm64 --platform linux/arm64 -t registry.example.com/operon:v1-arm64")]
pub(crate) struct Image {
    /// The program, if it is not this one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    #[command(flatten)]
    sending: SendOptions,
}

pub(crate) fn make(command: &Image) -> anyhow::Result<Outcome> {
    let path = match &command.program {
        Some(path) => path.clone(),
        None => env::current_exe().context("cannot find the file of this program")?,
    };
    let shown = path.display();
    let program = fs::read(&path).with_context(|| format!("cannot read `{shown}`"))?;
    let architecture = elf::architecture_of_static(&program).with_context(|| {
        format!(
            "`{shown}` cannot run in an image of its own\nhint: cargo xtask image builds one that can"
        )
    })?;
    let platform = Platform::linux(architecture);
    if let Some(wanted) = &command.sending.fetching.platform {
        ensure!(
            wanted.architecture == platform.architecture && wanted.os == platform.os,
            "`{shown}` is made for {}/{}, and not for {}/{}",
            platform.os,
            platform.architecture,
            wanted.os,
            wanted.architecture
        );
    }
    make_and_send(pack(program)?, settings(platform), &command.sending)
}

fn settings(platform: Platform) -> ImageSettings {
    let labels = [
        ("org.opencontainers.image.title", "Operon"),
        ("org.opencontainers.image.description", env!("CARGO_PKG_DESCRIPTION")),
        ("org.opencontainers.image.version", env!("CARGO_PKG_VERSION")),
        ("org.opencontainers.image.licenses", env!("CARGO_PKG_LICENSE")),
    ];
    let labels = labels.map(|(name, text)| (name.to_owned(), text.to_owned()));
    ImageSettings {
        platform,
        labels: BTreeMap::from(labels),
        entrypoint: vec![format!("/{PROGRAM}")],
        user: Some(USER.to_owned()),
        ..ImageSettings::default()
    }
}

fn pack(program: Vec<u8>) -> anyhow::Result<Packed> {
    let authorities = authorities();
    let texts = FILES.iter().map(|(path, text)| (*path, (*text).to_owned()));
    let texts: Vec<(&str, String)> = texts.chain([(AUTHORITIES, authorities)]).collect();
    let files = texts.len() + 1;
    let text_bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let bytes = (text_bytes + program.len()) as u64;
    let mut layer = LayerBuilder::new();
    for (path, text) in texts {
        layer.file(path, text)?;
    }
    layer.program(PROGRAM, program)?;
    Ok(Packed { layer: layer.build()?, files, bytes })
}

/// Returns the certificates that the public web is signed with, as the lock file fixes them.
fn authorities() -> String {
    let mut text = String::new();
    for certificate in TLS_SERVER_ROOT_CERTS {
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        let encoded = encode_base64(certificate);
        for line in encoded.as_bytes().chunks(PEM_LINE) {
            text.push_str(&String::from_utf8_lossy(line));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_program_makes_the_same_image_that_can_be_run() {
        let [first, second] = [1, 2].map(|_| pack(b"program".to_vec()).expect("packed").layer);
        assert_eq!(first, second);
        let config = settings(Platform::linux("x86_64"));
        assert_eq!(config.entrypoint, ["/usr/bin/operon"]);
        assert_eq!(config.platform.architecture, "amd64");
        let authorities = authorities();
        assert!(authorities.lines().all(|line| line.len() <= PEM_LINE));
        let count = authorities.matches("-----BEGIN CERTIFICATE-----\n").count();
        assert!(count > 100, "{count} authorities");
    }
}
