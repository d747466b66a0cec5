//! The programs that tests talk to: real registries and tools of others, from the system's packages, and
//! programs from Go modules.
//!
//! They are asked for by name where that is possible without asking anybody: as root, on a system with
//! `apt-get`. Elsewhere the tests that need one say that they were left out.

use std::{
    fs,
    process::{Command, Stdio},
};

use operon_docker_registry::{BuiltProgram, COSIGN, VERDICT, VERDICT_SOURCE};

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
    Ok(both(install_packages()?, build_from_modules()?))
}

/// Builds the programs that come from Go modules into the user's cache, unless they are there. cosign takes
/// ten minutes on two cores.
fn build_from_modules() -> anyhow::Result<Ending> {
    let module = format!("github.com/sigstore/cosign/v2/cmd/cosign@v{}", COSIGN.version);
    let cosign = build(COSIGN, &[&["install", "-trimpath", "-ldflags=-s -w", &module]], None)?;
    let library = format!("go.podman.io/image/v5@v{}", VERDICT.version);
    let commands: [&[&str]; 3] = [
        &["mod", "init", "operon.dev/verdict"],
        &["get", &library],
        &["build", "-tags", "containers_image_openpgp", "-o", VERDICT.name, "."],
    ];
    let verdict = build(VERDICT, &commands, Some(VERDICT_SOURCE))?;
    Ok(both(cosign, verdict))
}

/// Runs `go` in the directory of a program; `source` is written there first.
fn build(
    program: BuiltProgram,
    commands: &[&[&str]],
    source: Option<&str>,
) -> anyhow::Result<Ending> {
    let left_out = |why: &str| Ok(Ending::LeftOut(format!("tests with {}: {why}", program.name)));
    let Some(directory) = program.directory() else {
        return left_out("there is no cache directory");
    };
    if directory.join(program.name).is_file() {
        return Ok(Ending::Passed);
    }
    if find_program("go").is_none() {
        return left_out("Go, which builds it, is not installed");
    }
    println!("building {} {} in {}", program.name, program.version, directory.display());
    // An earlier attempt may have been interrupted.
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    if let Some(source) = source {
        fs::write(directory.join("main.go"), source)?;
    }
    for arguments in commands {
        let mut command = Command::new("go");
        command
            .args(*arguments)
            .env("GOBIN", &directory)
            .env("GOFLAGS", "-buildvcs=false -mod=mod")
            .current_dir(&directory);
        if !matches!(run_streamed(&mut command)?, Ending::Passed) {
            return left_out("its module cannot be built");
        }
    }
    Ok(Ending::Passed)
}

fn both(first: Ending, second: Ending) -> Ending {
    match (first, second) {
        (Ending::LeftOut(first), Ending::LeftOut(second)) => {
            Ending::LeftOut(format!("{first}; {second}"))
        }
        (Ending::Passed, ending) | (ending, _) => ending,
    }
}

fn install_packages() -> anyhow::Result<Ending> {
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
