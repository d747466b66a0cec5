//! Files and directories of the state: never through a link, never a pipe or a device.
//!
//! A state directory can come with a cloned repository, so its entries are not trusted to be what
//! Operon made them.

use std::{
    fs::{self, DirBuilder, File, FileType, OpenOptions, Permissions},
    io,
    os::unix::fs::{
        DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
        PermissionsExt as _,
    },
    path::Path,
};

use rustix::{fs::OFlags, io::Errno, process::geteuid};

use crate::{Notify, OpenError};

/// The mode of the state directory: the store in it holds Secrets.
const DIRECTORY_MODE: u32 = 0o700;

/// The permissions of other users than the owner.
const SHARED_BITS: u32 = 0o077;

/// The mode of the store.
const FILE_MODE: u32 = 0o600;

/// Creates the state directory, private to the user whatever the umask, unless it exists.
pub fn create_directory(path: &Path) -> Result<(), OpenError> {
    match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        // A umask can take more away than the permissions of others.
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE))
            .map_err(|error| OpenError::from_io(path, error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(OpenError::from_io(path, error)),
    }
}

/// Refuses a state directory that is a link or a file, and makes one of this user private.
pub(crate) fn secure_directory(path: &Path, notify: &Notify) -> Result<(), OpenError> {
    let refuse = |found| OpenError::NotADirectory { path: path.to_owned(), found };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::NoDirectory { directory: path.to_owned() });
        }
        Err(error) => return Err(OpenError::from_io(path, error)),
    };
    if !found.is_dir() {
        return Err(refuse(kind_of(found)));
    }
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
    let directory = match OpenOptions::new().read(true).custom_flags(bits(flags)).open(path) {
        Ok(directory) => directory,
        Err(error) if is_errno(&error, Errno::LOOP) || is_errno(&error, Errno::NOTDIR) => {
            return Err(refuse("a symbolic link or a file"));
        }
        Err(error) => return Err(OpenError::from_io(path, error)),
    };
    let metadata = directory.metadata().map_err(|error| OpenError::from_io(path, error))?;
    let mode = metadata.mode() & 0o777;
    if mode & SHARED_BITS == 0 || metadata.uid() != geteuid().as_raw() {
        return Ok(());
    }
    let display = path.display();
    match directory.set_permissions(Permissions::from_mode(mode & !SHARED_BITS)) {
        Ok(()) => notify(&format!(
            "other users could enter `{display}` (mode {mode:04o}): it is private now"
        )),
        // A file system without modes, or one that is mounted read-only.
        Err(error) => {
            notify(&format!("other users can enter `{display}` (mode {mode:04o}): {error}"));
        }
    }
    Ok(())
}

/// Opens a regular file for reading and writing; nothing if the path does not exist.
pub(crate) fn open_regular(path: &Path) -> Result<Option<File>, OpenError> {
    open_with(path, OpenOptions::new().read(true).write(true))
}

/// Opens a regular file for reading and writing, or creates it for this user alone.
pub(crate) fn open_or_create(path: &Path) -> Result<File, OpenError> {
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
    let missing = || OpenError::from_io(path, io::Error::from(io::ErrorKind::NotFound));
    let file = open_with(path, &mut how)?.ok_or_else(missing)?;
    // A file that was there can have any mode.
    file.set_permissions(Permissions::from_mode(FILE_MODE))
        .map_err(|error| OpenError::from_io(path, error))?;
    Ok(file)
}

fn open_with(path: &Path, how: &mut OpenOptions) -> Result<Option<File>, OpenError> {
    let fail = |error| OpenError::from_io(path, error);
    // Before opening: to open a device can have effects.
    match fs::symlink_metadata(path) {
        Ok(found) => check_regular(path, found.file_type())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(fail(error)),
    }
    // After opening: the path can have changed meanwhile. A pipe would wait for its other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match how.custom_flags(bits(flags)).open(path) {
        Ok(file) => {
            check_regular(path, file.metadata().map_err(fail)?.file_type())?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if is_errno(&error, Errno::LOOP) => {
            Err(OpenError::NotAFile { path: path.to_owned(), found: "a symbolic link" })
        }
        Err(error) => Err(fail(error)),
    }
}

fn check_regular(path: &Path, found: FileType) -> Result<(), OpenError> {
    if found.is_file() {
        return Ok(());
    }
    Err(OpenError::NotAFile { path: path.to_owned(), found: kind_of(found) })
}

fn kind_of(found: FileType) -> &'static str {
    if found.is_symlink() {
        "a symbolic link"
    } else if found.is_dir() {
        "a directory"
    } else if found.is_fifo() {
        "a named pipe"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_file() {
        "a file"
    } else {
        "a device"
    }
}

fn bits(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

fn is_errno(error: &io::Error, wanted: Errno) -> bool {
    error.raw_os_error() == Some(wanted.raw_os_error())
}
