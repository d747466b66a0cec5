//! Images for a rig's pods: one that is always there, and whatever a test makes.
//!
//! They get into the registry by `skopeo`, so that what a test proves about our own way of pushing images
//! does not rest on it.

use std::{env, fs, io, path::Path, process::Command};

use operon_oci::{
    Descriptor, Digest, Index, LAYOUT_FILE, LAYOUT_INDEX, OCI_INDEX, OCI_LAYER_TAR, Platform,
    build::{BuiltImage, BuiltLayer, ImageSettings},
    layout_file,
};

use crate::{Rig, RigError, programs::find_program, running::run};

/// A static busybox that stays alive until it is asked to end, in the registry of every rig with a node.
///
/// All its commands are in `/bin`. Debian's static busybox crashes when it looks up a name, and in `wget -T`:
/// a pod has to use addresses, and no time limit.
pub const BUSYBOX_IMAGE: &str = "127.0.0.1:5000/rig/busybox:1";

/// The first process of a container ignores signals that it does not ask for.
const STAY_ALIVE: &str = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done";

/// The tag in the layout that an image is handed over in.
const TAG: &str = "pushed";

impl Rig {
    /// Puts an image into the rig's registry, under a name such as `shop/catalog:v1`, and returns the
    /// reference that pods pull it by.
    pub fn push(&self, image: &BuiltImage, name: &str) -> Result<String, RigError> {
        let layout = format!("layouts/{}", image.digest.hex());
        let directory = self.places().path(&layout);
        let broken = |source| RigError::Image { name: name.to_owned(), source };
        write_layout(image, &directory).map_err(broken)?;
        let reference = format!("{}/{name}", self.registry());
        let mut copy = self.command("skopeo");
        copy.args(["copy", "--quiet", "--insecure-policy", "--dest-tls-verify=false"])
            .arg(format!("oci:{}:{TAG}", directory.display()))
            .arg(format!("docker://{reference}"));
        let copied = run(&mut copy);
        // What stays is removed with the rig.
        let _ = fs::remove_dir_all(&directory);
        copied.map(|_| reference)
    }

    /// Puts an image with a program of this machine into the registry, under a name such as
    /// `test/server:1`, and returns its reference. What the program is linked with is in it too.
    pub fn push_program(&self, program: &Path, name: &str) -> Result<String, RigError> {
        let failed = |source| RigError::Image { name: name.to_owned(), source };
        let mut files = vec![("bin/program".to_owned(), fs::read(program).map_err(failed)?)];
        // It names each library with the path that the program finds it by.
        for word in run(Command::new("ldd").arg(program))?.split_whitespace() {
            if let Some(path) = word.strip_prefix('/') {
                files.push((path.to_owned(), fs::read(word).map_err(failed)?));
            }
        }
        let settings = ImageSettings {
            platform: Platform::linux(env::consts::ARCH),
            entrypoint: vec!["/bin/program".to_owned()],
            ..ImageSettings::default()
        };
        let layer = program_layer(&files).map_err(failed)?;
        self.push(&BuiltImage::new(&settings, vec![layer]), name)
    }

    /// Puts the image into the registry that pods need to exist at all.
    pub(crate) fn push_busybox(&self) -> Result<(), RigError> {
        let failed = |source| RigError::Image { name: BUSYBOX_IMAGE.to_owned(), source };
        let program =
            find_program("busybox").ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let commands = run(Command::new(&program).arg("--list"))?;
        let layer = fs::read(&program).and_then(|bytes| busybox_layer(&bytes, &commands));
        let settings = ImageSettings {
            platform: Platform::linux(env::consts::ARCH),
            entrypoint: ["/bin/sh", "-c", STAY_ALIVE].map(str::to_owned).into(),
            ..ImageSettings::default()
        };
        let image = BuiltImage::new(&settings, vec![layer.map_err(failed)?]);
        let name = BUSYBOX_IMAGE.split_once('/').map_or(BUSYBOX_IMAGE, |(_, name)| name);
        self.push(&image, name)?;
        Ok(())
    }
}

/// Makes a layer with busybox, a link for each of its commands, and the directories that they expect.
///
/// Layers of the house hold plain files, which cannot be run; this one needs what they leave out.
fn busybox_layer(program: &[u8], commands: &str) -> io::Result<BuiltLayer> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut add = |path: &str, kind: tar::EntryType, mode: u32, content: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content)
    };
    for (path, mode) in [("bin/", 0o755), ("etc/", 0o755), ("root/", 0o700), ("tmp/", 0o1777)] {
        add(path, tar::EntryType::Directory, mode, b"")?;
    }
    add("etc/passwd", tar::EntryType::Regular, 0o644, b"root:x:0:0:root:/root:/bin/sh\n")?;
    add("bin/busybox", tar::EntryType::Regular, 0o755, program)?;
    for command in commands.lines().filter(|command| *command != "busybox") {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        archive.append_link(&mut header, format!("bin/{command}"), "busybox")?;
    }
    Ok(built_layer(archive.into_inner()?))
}

/// Makes a layer of files that can be run.
fn program_layer(files: &[(String, Vec<u8>)]) -> io::Result<BuiltLayer> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    Ok(built_layer(archive.into_inner()?))
}

fn built_layer(bytes: Vec<u8>) -> BuiltLayer {
    let diff_id = Digest::of(&bytes);
    BuiltLayer { descriptor: Descriptor::of(OCI_LAYER_TAR, &bytes), diff_id, bytes }
}

/// Writes an image as a directory that other tools read.
fn write_layout(image: &BuiltImage, directory: &Path) -> io::Result<()> {
    let blobs = directory.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let write = |digest: &Digest, bytes: &[u8]| fs::write(blobs.join(digest.hex()), bytes);
    for layer in &image.layers {
        write(&layer.descriptor.digest, &layer.bytes)?;
    }
    write(&image.config_descriptor().digest, &image.config)?;
    write(&image.digest, &image.manifest)?;
    let mut index = Index {
        media_type: OCI_INDEX.to_owned(),
        manifests: Vec::new(),
        annotations: Default::default(),
    };
    index.set_named(TAG, image.descriptor());
    fs::write(directory.join(LAYOUT_INDEX), index.to_bytes())?;
    fs::write(directory.join(LAYOUT_FILE), layout_file())
}
