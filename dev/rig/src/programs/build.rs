//! Kubernetes and etcd, built by name from the Go module proxy.
//!
//! A scratch module requires the published one. Kubernetes' own module replaces its staging modules by
//! directories that are not published with it; the scratch module replaces them by the versions that are.
//! Go checks every module against the public checksum database; no checksum is kept here.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use serde_json::Value;

use super::{BUILT, ETCD_VERSION, KUBERNETES_VERSION, Module, find_program};
use crate::{
    Obstacle, RigError,
    running::{run, shown, tail},
};

/// Where the version is written into a program, because the build of a module does not do it.
const VERSION_VARIABLES: &str = "k8s.io/component-base/version";

/// Builds the programs that are not there yet.
pub(super) fn build_missing(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), RigError> {
    let binaries = root.join("bin");
    fs::create_dir_all(&binaries).map_err(RigError::file("make", &binaries))?;
    let is_missing = |name: &str| !binaries.join(name).is_file();
    if !BUILT.iter().any(|program| is_missing(program.name)) {
        return Ok(());
    }
    if find_program("go").is_none() {
        return Err(Obstacle::NoGo.into());
    }
    let _lock = lock(&root.join("build.lock"), progress)?;
    let log = root.join("build.log");
    for module in [Module::Etcd, Module::Kubernetes] {
        let of_module = BUILT.iter().filter(|program| program.module == module);
        let names = of_module.map(|program| program.name);
        let missing: Vec<&str> = names.filter(|name| is_missing(name)).collect();
        if missing.is_empty() {
            continue;
        }
        let scratch = write_scratch_module(root, module)?;
        for name in missing {
            progress(&format!("building {name}; {} says more", log.display()));
            let begun = Instant::now();
            let unfinished = binaries.join(format!(".{name}.building"));
            build(&scratch, module, name, &unfinished, &log)?;
            let finished = binaries.join(name);
            fs::rename(&unfinished, &finished).map_err(RigError::file("make", &finished))?;
            progress(&format!("built {name} in {:.0?}", begun.elapsed()));
        }
    }
    Ok(())
}

/// Takes the lock of builders; the system frees it when the process ends, however that happens.
fn lock(path: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, RigError> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(RigError::file("open", path))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => progress("waiting for another process that builds"),
        Err(TryLockError::Error(error)) => return Err(RigError::file("lock", path)(error)),
    }
    file.lock().map_err(RigError::file("lock", path))?;
    Ok(file)
}

/// Writes the module that the programs are built in, and returns its directory.
fn write_scratch_module(root: &Path, module: Module) -> Result<PathBuf, RigError> {
    let (name, text) = match module {
        Module::Etcd => ("etcd", format!("require go.etcd.io/etcd/server/v3 v{ETCD_VERSION}\n")),
        Module::Kubernetes => ("kubernetes", kubernetes_requirements()?),
    };
    let directory = root.join("modules").join(name);
    fs::create_dir_all(&directory).map_err(RigError::file("make", &directory))?;
    let file = directory.join("go.mod");
    let text = format!("module operon.local/rig/{name}\n\ngo 1.26\n\n{text}");
    fs::write(&file, text).map_err(RigError::file("write", &file))?;
    Ok(directory)
}

/// Requires Kubernetes, and replaces its staging modules by the published ones.
fn kubernetes_requirements() -> Result<String, RigError> {
    let wanted = format!("k8s.io/kubernetes@v{KUBERNETES_VERSION}");
    // Outside of every module, so that the requirements of none are looked at.
    let mut download = Command::new("go");
    download.args(["mod", "download", "-json", &wanted]).current_dir("/").env_remove("GOFLAGS");
    let answer = run(&mut download)?;
    let unreadable = || RigError::Failed { command: shown(&download), output: answer.clone() };
    let answer_value: Value = serde_json::from_str(&answer).map_err(|_| unreadable())?;
    let manifest = answer_value["GoMod"].as_str().ok_or_else(unreadable)?;
    let manifest = fs::read_to_string(manifest).map_err(RigError::file("read", manifest))?;
    let (_, published) = KUBERNETES_VERSION.split_once('.').expect("bug: a version has a dot");
    let mut text = format!("require k8s.io/kubernetes v{KUBERNETES_VERSION}\n\nreplace (\n");
    for staged in staging_modules(&manifest) {
        text += &format!("\t{staged} => {staged} v0.{published}\n");
    }
    Ok(text + ")\n")
}

/// Returns the modules that a manifest replaces by directories below `./staging`.
fn staging_modules(manifest: &str) -> impl Iterator<Item = &str> {
    let replacements = manifest.lines().filter_map(|line| line.split_once(" => "));
    let staged = replacements.filter(|(_, target)| target.trim().starts_with("./staging/"));
    staged.map(|(name, _)| name.trim().trim_start_matches("replace ").trim())
}

fn build(
    scratch: &Path,
    module: Module,
    name: &str,
    output: &Path,
    log: &Path,
) -> Result<(), RigError> {
    let (package, flags) = match module {
        Module::Etcd => ("go.etcd.io/etcd/server/v3".to_owned(), "-s -w".to_owned()),
        Module::Kubernetes => (format!("k8s.io/kubernetes/cmd/{name}"), version_flags()),
    };
    let said = OpenOptions::new().create(true).append(true).open(log);
    let said = said.map_err(RigError::file("write", log))?;
    let said_too = said.try_clone().map_err(RigError::file("write", log))?;
    let mut command = Command::new("go");
    command
        .current_dir(scratch)
        .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", &flags, "-o"])
        .arg(output)
        .arg(package)
        .envs([("GOFLAGS", "-mod=mod"), ("CGO_ENABLED", "0")])
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(said_too);
    let cannot_run = |source| RigError::CannotRun { command: "go build".to_owned(), source };
    if command.status().map_err(cannot_run)?.success() {
        return Ok(());
    }
    Err(RigError::Failed { command: shown(&command), output: tail(log) })
}

fn version_flags() -> String {
    let mut parts = KUBERNETES_VERSION.split('.');
    let major = parts.next().unwrap_or_default();
    let minor = parts.next().unwrap_or_default();
    let set = |name: &str, value: &str| format!(" -X {VERSION_VARIABLES}.{name}={value}");
    let version = set("gitVersion", &format!("v{KUBERNETES_VERSION}"));
    format!("-s -w{version}{}{}", set("gitMajor", major), set("gitMinor", minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staging_modules_are_told_from_other_replacements() {
        let manifest = "\
module k8s.io/kubernetes

require k8s.io/api v0.0.0

replace (
\tk8s.io/api => ./staging/src/k8s.io/api
\tk8s.io/client-go => ./staging/src/k8s.io/client-go
\texample.com/other => example.com/fork v1.0.0
)

replace k8s.io/kms => ./staging/src/k8s.io/kms
";
        let found: Vec<&str> = staging_modules(manifest).collect();
        assert_eq!(found, ["k8s.io/api", "k8s.io/client-go", "k8s.io/kms"]);
    }
}
