//! Scopes: who may use what the cache holds.
//!
//! What was pulled without a pull secret is shared. What was pulled with one is kept under a hash of its
//! credentials, so that another tenant who knows the digest has to be let in by the registry first. The
//! hash is keyed with a secret of the cache: a name in it says nothing about a password.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use super::Store;
use crate::{
    PullError,
    cache::{new_private_file, private_directory},
};

/// The bytes of the secret that names of scopes are made with.
const KEY_BYTES: usize = 32;

/// The digits of a scope in the names of files: enough that no two sets of credentials share one.
const SCOPE_DIGITS: usize = 32;

/// Says who may use something in the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CacheScope {
    /// Everything that fetches here: it was pulled anonymously, or with this machine's own credentials.
    #[default]
    Shared,
    /// Those with the same credentials in a pull secret, named by a keyed hash.
    Credentials(String),
}

impl CacheScope {
    /// Returns the scopes in which something for this scope is looked up.
    pub(super) fn readable(&self) -> impl Iterator<Item = &Self> {
        let is_private = *self != Self::Shared;
        [Some(self), is_private.then_some(&Self::Shared)].into_iter().flatten()
    }

    /// Returns what the names of files in this scope end with.
    pub(super) fn suffix(&self) -> String {
        match self {
            Self::Shared => String::new(),
            Self::Credentials(hash) => format!("-{hash}"),
        }
    }
}

impl Store {
    /// Returns the scope for what identifies credentials; without any, the shared one.
    pub(crate) fn scope(&self, identity: &[u8]) -> Result<CacheScope, PullError> {
        if identity.is_empty() {
            return Ok(CacheScope::Shared);
        }
        let path = self.root.join("key");
        let key = self.key(&path).map_err(PullError::disk("write", &path))?;
        let hash = blake3::keyed_hash(&key, identity).to_hex();
        Ok(CacheScope::Credentials(hash[..SCOPE_DIGITS].to_owned()))
    }

    /// Reads the secret of the cache, or creates it.
    fn key(&self, path: &Path) -> io::Result<[u8; KEY_BYTES]> {
        if let Some(key) = read_key(path) {
            return Ok(key);
        }
        let mut fresh = [0; KEY_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut fresh)?;
        private_directory(&self.root)?;
        let workspace = self.workspace().map_err(io::Error::other)?;
        let temporary = workspace.file("key");
        io::Write::write_all(&mut new_private_file(&temporary)?, &fresh)?;
        // Another process may have been faster, and its key counts; one that is damaged is replaced.
        if fs::hard_link(&temporary, path).is_err() && read_key(path).is_none() {
            fs::rename(&temporary, path)?;
        }
        read_key(path).ok_or_else(|| io::Error::other("it does not hold what was written"))
    }
}

fn read_key(path: &Path) -> Option<[u8; KEY_BYTES]> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CacheDirectory;

    #[test]
    fn scopes_depend_on_credentials_and_on_the_cache() {
        let directories = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
        let store = |number: usize| Store::new(&CacheDirectory::at(directories[number].path()));
        let scope = |number, identity: &str| store(number).scope(identity.as_bytes()).expect("one");
        assert_eq!(scope(0, ""), CacheScope::Shared);
        assert_eq!(scope(0, "me"), scope(0, "me"));
        assert_ne!(scope(0, "me"), scope(0, "you"));
        assert_ne!(scope(0, "me"), scope(1, "me"), "the hash is keyed");
        fs::write(directories[0].path().join("images/key"), "short").expect("written");
        assert_eq!(scope(0, "me"), scope(0, "me"), "a damaged key is replaced");
    }
}
