//! Running the program: in a directory of its own, with a cache of its own, without colour.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// Runs `operon catalog …` in a directory.
pub(crate) fn output(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_operon"))
        .arg("catalog")
        .args(arguments)
        .current_dir(directory)
        .env("OPERON_CACHE_DIR", directory.join(".cache"))
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("operon runs")
}

/// Makes a directory that holds these files.
pub(crate) fn directory_of(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().expect("a temporary directory");
    for (path, text) in files {
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(file, text).expect("written");
    }
    directory
}

/// Runs `operon catalog …` beside these files and returns all it printed, and its exit code.
pub(crate) fn operon(files: &[(&str, &str)], arguments: &[&str]) -> String {
    run(directory_of(files).path(), arguments)
}

/// Runs `operon catalog …` in a directory and returns all it printed, and its exit code.
pub(crate) fn run(directory: &Path, arguments: &[&str]) -> String {
    let output = output(directory, arguments);
    let code = output.status.code().expect("an exit code");
    let [printed, told] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    format!("{printed}{told}[exit code {code}]")
}

/// Runs `operon catalog …` beside a directory `catalog` that holds this text; the warning that a
/// catalog has errors is left out, and so is an exit code of 0.
pub(crate) fn operon_on(catalog: &str, arguments: &[&str]) -> String {
    let directory = directory_of(&[("catalog/catalog.json", catalog)]);
    let output = output(directory.path(), arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_ours = |line: &&str| {
        !line.starts_with("warning: this") && !line.starts_with("hint: operon catalog")
    };
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.extend(errors.lines().filter(is_ours).map(|line| format!("{line}\n")));
    match output.status.code() {
        Some(0) => text,
        Some(code) => format!("{text}exit code {code}\n"),
        None => format!("{text}killed\n"),
    }
}
