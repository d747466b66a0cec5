//! Programs of the system, asked for by name where that is possible without asking anybody: as root, on
//! a system with `apt-get`.
//!
//! Elsewhere nothing is tried, and the missing program is named as an [`Obstacle`](crate::Obstacle).

use std::process::Command;

use super::{SystemProgram, find_program};
use crate::{RigError, running::run};

/// Installs the packages that have missing programs.
pub(super) fn install<'p>(
    missing: impl Iterator<Item = &'p SystemProgram>,
    progress: &mut dyn FnMut(&str),
) -> Result<(), RigError> {
    let mut packages: Vec<&str> = missing.map(|program| program.package).collect();
    packages.dedup();
    if packages.is_empty() || find_program("apt-get").is_none() {
        return Ok(());
    }
    progress(&format!("asking apt-get for {}", packages.join(", ")));
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // An old list of packages is the usual reason for a package that is not found.
    apt(&["update", "-qq"])?;
    let install = ["install", "-y", "-qq", "--no-install-recommends"];
    apt(&[&install[..], &packages].concat())?;
    Ok(())
}
