//! Finds credentials in pull secrets, in the files of podman and Docker, and through helper programs.
//!
//! Helper programs run only for the files of this user. A pull secret may come from a tenant, so only its
//! `auths` are read. What the files mean is decided in `wire/oci`. Messages name the place of credentials,
//! never the credentials.

use std::{
    env, fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use operon_oci::{
    AuthFile, Credentials, Found, MAX_AUTH_FILE_BYTES, MAX_HELPER_REPLY_BYTES, Reference,
    helper_program, helper_reply,
};

use crate::{PullError, pull_error::seconds};

/// The most pull secrets that are looked through for one image.
pub const MAX_PULL_SECRETS: usize = 100;

/// How often a helper that has said everything is asked whether it has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where credentials are looked for, in this order.
#[derive(Clone, Default)]
pub struct CredentialSources {
    /// Contents of pull secrets (`.dockerconfigjson` or `.dockercfg`).
    pub pull_secrets: Vec<Vec<u8>>,
    /// Files of podman and Docker; those that do not exist are passed over.
    pub files: Vec<PathBuf>,
}

impl std::fmt::Debug for CredentialSources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CredentialSources")
            .field("pull_secrets", &self.pull_secrets.len())
            .field("files", &self.files)
            .finish()
    }
}

/// The credentials for an image.
#[derive(Debug)]
pub(super) struct FoundCredentials {
    pub(super) credentials: Credentials,
    /// Where they come from and what to do when they are not enough, for messages.
    pub(super) told: String,
}

impl CredentialSources {
    /// Returns the files where users of podman, skopeo and Docker have them.
    pub fn of_user() -> Self {
        let variable =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME");
        let config =
            variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
        let files = [
            variable("REGISTRY_AUTH_FILE"),
            variable("XDG_RUNTIME_DIR").map(|runtime| runtime.join("containers/auth.json")),
            config.map(|config| config.join("containers/auth.json")),
            variable("DOCKER_CONFIG").map(|docker| docker.join("config.json")),
            home.as_ref().map(|home| home.join(".docker/config.json")),
            home.map(|home| home.join(".dockercfg")),
        ];
        Self { pull_secrets: Vec::new(), files: files.into_iter().flatten().collect() }
    }

    /// Returns the first credentials that fit an image.
    pub(super) fn find(
        &self,
        image: &Reference,
        patience: Duration,
    ) -> Result<FoundCredentials, PullError> {
        let mut notes = Vec::new();
        let secrets = self.pull_secrets.iter().take(MAX_PULL_SECRETS).enumerate();
        for (index, bytes) in secrets {
            let place = format!("pull secret {}", index + 1);
            let file = parse(&place, bytes)?;
            let has_helpers = file.names_helpers();
            if let Some(found) = look(&place, &file.without_helpers(), image, patience, &mut notes)?
            {
                return Ok(found);
            }
            if has_helpers {
                notes.push(format!(
                    "{place} names credential helpers, which are not run for pull secrets; put the credentials \
                     into its `auths`"
                ));
            }
        }
        for path in &self.files {
            let Some(bytes) = read(path)? else { continue };
            let place = format!("`{}`", path.display());
            let file = parse(&place, &bytes)?;
            if let Some(found) = look(&place, &file, image, patience, &mut notes)? {
                return Ok(found);
            }
        }
        let host = image.registry();
        let told = if notes.is_empty() {
            format!(
                "there are no credentials for `{host}`: log in with `podman login {host}`, or add a pull secret"
            )
        } else {
            format!("no usable credentials for `{host}`: {}", notes.join("; "))
        };
        Ok(FoundCredentials { credentials: Credentials::Anonymous, told })
    }
}

impl CredentialSources {
    /// Returns what identifies the credentials that the pull secrets have for an image; empty if they have
    /// none. Two sets of pull secrets with the same credentials for it are the same.
    pub(super) fn identity(&self, image: &Reference) -> Vec<u8> {
        let mut identity = Vec::new();
        for bytes in self.pull_secrets.iter().take(MAX_PULL_SECRETS) {
            let Ok(file) = AuthFile::parse(bytes) else {
                // It says nothing, and belongs to its tenant alone.
                append(&mut identity, bytes);
                return identity;
            };
            let found = file.without_helpers().lookup(image);
            let parts: &[&str] = match &found {
                Found::Credentials(Credentials::Basic { user, password }) => {
                    &["basic", user, password]
                }
                Found::Credentials(Credentials::IdentityToken { token }) => &["token", token],
                _ => continue,
            };
            parts.iter().for_each(|part| append(&mut identity, part.as_bytes()));
            return identity;
        }
        identity
    }
}

/// Appends a part with its length, so that different parts never give the same whole.
pub(super) fn append(whole: &mut Vec<u8>, part: &[u8]) {
    whole.extend_from_slice(&(part.len() as u64).to_le_bytes());
    whole.extend_from_slice(part);
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, PullError> {
    let Ok(file) = fs::File::open(path) else {
        // A file that is missing or closed to us is one that has nothing for us.
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(MAX_AUTH_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(PullError::disk("read", path))?;
    Ok(Some(bytes))
}

fn parse(place: &str, bytes: &[u8]) -> Result<AuthFile, PullError> {
    AuthFile::parse(bytes)
        .map_err(|source| PullError::Credentials { place: place.to_owned(), source })
}

fn look(
    place: &str,
    file: &AuthFile,
    image: &Reference,
    patience: Duration,
    notes: &mut Vec<String>,
) -> Result<Option<FoundCredentials>, PullError> {
    let found = |credentials: Credentials, place: String| {
        let told = match &credentials {
            Credentials::Basic { user, .. } => {
                format!(
                    "tried as user `{user}` of {place}; are they still valid, and may this user do that?"
                )
            }
            Credentials::IdentityToken { .. } => {
                format!("tried with the identity token of {place}; log in again if it is outdated")
            }
            Credentials::Anonymous => format!("{place} has no credentials for this registry"),
        };
        FoundCredentials { credentials, told }
    };
    match file.lookup(image) {
        Found::None => Ok(None),
        Found::Credentials(credentials) => Ok(Some(found(credentials, place.to_owned()))),
        Found::Unusable { key, reason } => {
            notes.push(format!("the entry `{key}` of {place} is of no use: {reason}"));
            Ok(None)
        }
        Found::Helper { name, server } => match ask_helper(&name, &server, patience) {
            Ok(Credentials::Anonymous) => Ok(None),
            Ok(credentials) => {
                Ok(Some(found(credentials, format!("helper `{name}`, named in {place}"))))
            }
            Err(problem) => {
                notes.push(format!(
                    "the helper `{name}`, named in {place}, is of no use: {problem}"
                ));
                Ok(None)
            }
        },
    }
}

/// Runs a helper: it reads the server from its input and prints the credentials.
fn ask_helper(name: &str, server: &str, patience: Duration) -> Result<Credentials, String> {
    let program = helper_program(name).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + patience;
    let mut child = Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A helper that does not read has its answer judged all the same.
        let _ = input.write_all(server.as_bytes());
    }
    let output = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = Vec::new();
        if let Some(output) = output {
            let limit = MAX_HELPER_REPLY_BYTES as u64 + 1;
            let _ = output.take(limit).read_to_end(&mut printed);
        }
        // Nobody listens any more when the helper was too slow.
        let _ = sender.send(printed);
    });
    let printed = receiver.recv_timeout(patience);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if printed.is_ok() && Instant::now() < deadline => thread::sleep(LOOK_AGAIN),
            _ => break None,
        }
    };
    let (Ok(printed), Some(status)) = (printed, status) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("`{program}` did not answer within {}", seconds(patience)));
    };
    helper_reply(status.success(), &printed).map_err(|error| error.to_string())
}
