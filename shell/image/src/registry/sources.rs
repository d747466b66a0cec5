//! Where `registries.conf` is found; it is read anew for each image, so that changes count at once.

use std::{
    env,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use operon_oci::{MAX_REGISTRIES_BYTES, RegistriesConf, RegistriesError};

use crate::PullError;

/// The most files of one `registries.conf.d`; more are no configuration.
const MAX_DROP_INS: usize = 1_000;

/// The files that say where images are really fetched from.
#[derive(Debug, Clone, Default)]
pub struct Registries {
    /// The main file, if there is one.
    pub file: Option<PathBuf>,
    /// Directories with files whose entries win over those before.
    pub directories: Vec<PathBuf>,
}

impl Registries {
    /// Returns the files of this user, as podman and skopeo look for them.
    pub fn of_user() -> Self {
        let variable =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let config = variable("XDG_CONFIG_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".config")))
            .map(|config| config.join("containers"));
        let system = Path::new("/etc/containers");
        let own = config.as_ref().map(|config| config.join("registries.conf"));
        let file = variable("CONTAINERS_REGISTRIES_CONF")
            .or_else(|| own.filter(|file| file.exists()))
            .unwrap_or_else(|| system.join("registries.conf"));
        let directories = [Some(system), config.as_deref()];
        Self {
            file: Some(file),
            directories: directories
                .into_iter()
                .flatten()
                .map(|directory| directory.join("registries.conf.d"))
                .collect(),
        }
    }

    pub(super) fn read(&self) -> Result<RegistriesConf, PullError> {
        let mut whole = RegistriesConf::default();
        let mut files: Vec<PathBuf> = self.file.iter().cloned().collect();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory) else { continue };
            let paths = entries.flatten().map(|entry| entry.path());
            let mut paths: Vec<PathBuf> = paths
                .filter(|path| path.extension().is_some_and(|extension| extension == "conf"))
                .take(MAX_DROP_INS)
                .collect();
            paths.sort();
            files.extend(paths);
        }
        for path in files {
            let text = match read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(PullError::Disk { action: "read", path, source }),
            };
            let wrong =
                |source: RegistriesError| PullError::Registries { path: path.clone(), source };
            whole = whole.merged_with(RegistriesConf::parse(&text).map_err(wrong)?);
        }
        Ok(whole)
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_REGISTRIES_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
