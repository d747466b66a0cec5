//! Parts that tests need and that a machine may not have: data beside the repository, programs of others,
//! a real cluster.
//!
//! A test without its part is left out: it prints the reason and passes. `OPERON_REQUIRE` names parts that
//! must not be missing, so that a test cannot be left out unnoticed where it should run.

use std::{env, fmt, fs::OpenOptions, io::Write, thread};

/// The variable that names the required parts, with commas between them, or [`ALL`].
pub const REQUIRE: &str = "OPERON_REQUIRE";

/// The value of [`REQUIRE`] that requires every part.
pub const ALL: &str = "all";

/// The variable that names a file to which a line is appended for each test that is left out: the standard
/// harness hides what passing tests print.
pub const LOG: &str = "OPERON_LEFT_OUT";

/// A part of a machine that tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Data in `../shared`, and `tar` with `zstd` to unpack it.
    Shared,
    /// Debian's registry and the tools for images.
    Registry,
    /// Programs that are built from Go modules to sign images and to judge signatures.
    Signing,
    /// A real Kubernetes on this machine.
    Rig,
    /// The proofs on a real cluster, which take minutes and run on request, and the programs they start.
    Proof,
    /// Features of the operating system, such as `/proc` and file systems of their own.
    System,
    /// Clients in other languages.
    Python,
}

impl Part {
    /// Every part.
    pub const EVERY: [Self; 7] = [
        Self::Shared,
        Self::Registry,
        Self::Signing,
        Self::Rig,
        Self::Proof,
        Self::System,
        Self::Python,
    ];

    /// Returns its name in [`REQUIRE`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Registry => "registry",
            Self::Signing => "signing",
            Self::Rig => "rig",
            Self::Proof => "proof",
            Self::System => "system",
            Self::Python => "python",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Leaves a test out because a part is missing: the caller returns.
///
/// # Panics
///
/// Panics if [`REQUIRE`] names the part, or something that is not a part.
pub fn leave_out(part: Part, reason: &str) {
    let required = env::var(REQUIRE).unwrap_or_default();
    let refusal = match is_required(part, &required) {
        Ok(is_required) => {
            is_required.then(|| format!("{REQUIRE}={required} requires `{part}`, but {reason}"))
        }
        Err(error) => Some(error),
    };
    assert!(refusal.is_none(), "{}", refusal.unwrap_or_default());
    eprintln!("left out: {part}: {reason}");
    let Some(log) = env::var_os(LOG) else { return };
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // One write of one line, so that tests in parallel do not mix their lines.
    let line = format!("{part}: {test}: {reason}\n");
    let opened = OpenOptions::new().create(true).append(true).open(log);
    let written = opened.and_then(|mut log| log.write_all(line.as_bytes()));
    written.expect("the log of tests that are left out can be written");
}

fn is_required(part: Part, required: &str) -> Result<bool, String> {
    let names = || required.split(',').map(str::trim).filter(|name| !name.is_empty());
    let is_known = |name: &str| name == ALL || Part::EVERY.iter().any(|part| part.name() == name);
    if let Some(unknown) = names().find(|name| !is_known(name)) {
        let known = Part::EVERY.map(Part::name).join(", ");
        return Err(format!(
            "{REQUIRE}: unknown part `{unknown}`: expected {ALL} or some of {known}"
        ));
    }
    Ok(names().any(|name| name == ALL || name == part.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_parts_are_named_or_all() {
        assert_eq!(is_required(Part::Rig, ""), Ok(false));
        assert_eq!(is_required(Part::Rig, "shared,registry"), Ok(false));
        assert_eq!(is_required(Part::Rig, "shared, rig"), Ok(true));
        assert_eq!(is_required(Part::Rig, "all"), Ok(true));
        let error = is_required(Part::Rig, "shard").expect_err("`shard` is unknown");
        assert!(error.contains("`shard`") && error.contains("shared, registry"), "{error}");
    }
}
