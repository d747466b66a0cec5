//! The programs that tests talk to: real registries and tools of others, from the system's packages.
//!
//! They are asked for by name where that is possible without asking anybody: as root, on a system with
//! `apt-get`. Elsewhere the tests that need one say that they were left out.

use std::process::{Command, Stdio};

use super::{Ending, run_streamed};
use crate::workspace::find_program;

/// A program, and the Debian package that brings it.
const PROGRAMS: &[(&str, &str)] = &[
    ("docker-registry", "docker-registry"),
    ("skopeo", "skopeo"),
    ("umoci", "umoci"),
    ("htpasswd", "apache2-utils"),
    ("zstd", "zstd"),
];

/// Installs what is missing, as far as that is possible.
pub(super) fn install() -> anyhow::Result<Ending> {
    let missing: Vec<&(&str, &str)> =
        PROGRAMS.iter().filter(|(program, _)| find_program(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(Ending::Passed);
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    if find_program("apt-get").is_none() || !is_root() {
        return Ok(Ending::LeftOut(left_out(&packages)));
    }
    println!("asking apt-get for {}", packages.join(", "));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        run_streamed(&mut command)
    };
    // An old list of packages is the usual reason for a package that is not found.
    apt(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(&packages);
    match apt(&arguments)? {
        Ending::Passed => Ok(Ending::Passed),
        _ => Ok(Ending::LeftOut(left_out(&packages))),
    }
}

fn left_out(packages: &[&str]) -> String {
    let packages = packages.join(" ");
    format!("tests with {packages}; hint: apt-get install {packages}")
}

fn is_root() -> bool {
    let answer = Command::new("id").arg("-u").output();
    answer.is_ok_and(|answer| answer.stdout.trim_ascii() == b"0")
}
