//! A copy of the quickstart to run the program on, once or while it follows changes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// How often something is looked for before a test gives up, and the pause between two looks.
const MOST_LOOKS: usize = 2400;
const LOOK: Duration = Duration::from_millis(25);

/// A copy of the quickstart, at `examples/quickstart` below a directory of its own.
pub(crate) struct Harbour {
    root: TempDir,
}

impl Harbour {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        copy(&repository.join("examples/quickstart"), &root.path().join("examples/quickstart"));
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("examples/quickstart").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn append(&self, name: &str, text: &str) {
        let before = fs::read_to_string(self.path(name)).unwrap();
        self.write(name, &format!("{before}{text}"));
    }

    /// Replaces the first occurrence of a text in a file.
    pub(crate) fn replace(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has `{from}`");
        self.write(name, &text.replacen(from, to, 1));
    }

    /// Takes a mark such as `#1` from the lines that begin with it.
    pub(crate) fn unmark(&self, name: &str, mark: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        let lines: Vec<&str> =
            text.lines().map(|line| line.strip_prefix(mark).unwrap_or(line)).collect();
        self.write(name, &(lines.join("\n") + "\n"));
    }

    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.root.path())
            .env("OPERON_CACHE_DIR", self.root.path().join("cache"))
            .env("NO_COLOR", "1")
            .env_remove("KUBECONFIG")
            .env("HOME", "/nonexistent")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        command
    }

    /// Runs `operon …` in the quickstart; returns all it printed, and its exit code.
    pub(crate) fn operon(&self, arguments: &[&str]) -> String {
        let mut command = self.command(env!("CARGO_BIN_EXE_operon"), arguments);
        let output = command.current_dir(self.path("")).output().unwrap();
        let [printed, told] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        format!("{printed}{told}[exit code {}]", output.status.code().unwrap())
    }

    pub(crate) fn up(&self) -> String {
        self.operon(&["up", "--once"])
    }

    /// Begins `operon up --follow`.
    pub(crate) fn follow(&self) -> Following {
        let mut command = self.command(env!("CARGO_BIN_EXE_operon"), &["up", "--follow"]);
        Following::begin(command.current_dir(self.path("")), self.root.path().join("log"))
    }
}

/// A running program, such as `operon up --follow`; it does not outlive its test.
pub(crate) struct Following {
    pub(crate) child: Child,
    log: PathBuf,
}

impl Following {
    /// Begins a program whose words go to a file.
    pub(crate) fn begin(command: &mut Command, log: PathBuf) -> Self {
        let file = File::create(&log).unwrap();
        let child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        Self { child, log }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until something was printed so many times.
    pub(crate) fn wait_for(&self, text: &str, times: usize) {
        let is_found = comes_true(|| self.log().matches(text).count() >= times);
        assert!(is_found, "`{text}` was not printed {times} times:\n{}", self.log());
    }

    /// Ends it as Ctrl-C does, and returns its exit code.
    pub(crate) fn interrupt(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so; tells whether it came to be.
pub(crate) fn comes_true(is_so: impl Fn() -> bool) -> bool {
    (0..MOST_LOOKS).any(|_| {
        let is_found = is_so();
        if !is_found {
            thread::sleep(LOOK);
        }
        is_found
    })
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_name() == ".operon" {
            continue;
        } else if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Blanks what differs from run to run: durations, times and hashes.
pub(crate) fn steady(text: &str) -> String {
    let word = |word: &str| {
        let is_time = word.len() == 20 && word.ends_with('Z') && word.contains('T');
        match word.split_once("install-") {
            Some((before, hash)) if hash.len() >= 10 => {
                format!("{before}install-…{}", &hash[10..])
            }
            _ if is_time => "…".to_owned(),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| {
        let line = line.split(' ').map(word).collect::<Vec<_>>().join(" ");
        match line.strip_prefix("settled in ").and_then(|rest| rest.split_once(" s ")) {
            Some((_, rest)) => format!("settled in … s {rest}"),
            None => line.trim_end().to_owned(),
        }
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}
