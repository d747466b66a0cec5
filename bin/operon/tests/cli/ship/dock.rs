//! A directory to ship from, with a cache and a home of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use operon_docker_registry::{RegistryServer, Setup};
use tempfile::TempDir;

/// A directory of its own.
pub(crate) struct Dock {
    root: TempDir,
}

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Said {
    /// Returns what was printed by a program that did its work.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Returns all that was said by a program that says no.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        self.stdout + &self.stderr
    }
}

impl Dock {
    pub(crate) fn new() -> Self {
        Self { root: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Starts a registry whose files lie here.
    pub(crate) fn registry(&self, name: &str) -> RegistryServer {
        self.registry_with(name, &Setup::default())
    }

    pub(crate) fn registry_with(&self, name: &str, setup: &Setup) -> RegistryServer {
        RegistryServer::start(self.root.path(), name, setup)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_operon"));
        command
            .args(arguments)
            .current_dir(self.root.path())
            .env("HOME", self.root.path())
            .env("OPERON_CACHE_DIR", self.path("cache"))
            .env("CONTAINERS_REGISTRIES_CONF", self.path("no-registries.conf"))
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("REGISTRY_AUTH_FILE")
            .env_remove("OPERON_SIGNATURE_POLICY")
            .stdin(Stdio::null());
        command
    }

    /// Runs `operon …` here.
    pub(crate) fn operon(&self, arguments: &[&str]) -> Said {
        said(&mut self.command(arguments))
    }

    /// Runs another program here, which must do its work.
    #[track_caller]
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root.path()).stdin(Stdio::null());
        said(&mut command).done()
    }

    /// Copies a directory of the examples here.
    pub(crate) fn example(&self, name: &str, to: &str) {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        copy(&repository.join("examples").join(name), &self.path(to));
    }
}

pub(crate) fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    Said { stdout, stderr, code: output.status.code() }
}

/// Copies a directory; what it lists last is written first.
fn copy(from: &Path, to: &Path) {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        fs::create_dir_all(&to).unwrap();
        let mut entries: Vec<_> = fs::read_dir(from).unwrap().map(Result::unwrap).collect();
        entries.reverse();
        for entry in entries {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                pending.push((entry.path(), target));
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

/// Returns a member of a line of JSON such as `"digest": "sha256:…"`.
#[track_caller]
pub(crate) fn member(json: &str, name: &str) -> String {
    let found = json.split_once(&format!("\"{name}\": "));
    assert!(found.is_some(), "no `{name}` in {json}");
    let rest = found.map_or("", |(_, rest)| rest);
    rest.trim_start_matches('"').split(['"', ',', '\n']).next().unwrap().to_owned()
}
