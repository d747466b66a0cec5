//! The machine and the Cargo profile of the figures, in one paragraph.

use std::{fs, thread};

/// Describes the machine and how often was measured, as Markdown.
pub(crate) fn describe(runs: usize) -> String {
    format!(
        "{} Each scenario ran {runs} times, after one run that does not count.\n",
        describe_machine()
    )
}

/// Cargo profile that every measured binary is built with.
const PROFILE: &str = "release";

/// Describes the machine and the profile in two sentences.
pub(crate) fn describe_machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let processor = field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown".to_owned());
    let memory = field(&read("/proc/meminfo"), "MemTotal").as_deref().and_then(gibibytes);
    let memory = memory.unwrap_or("unknown".to_owned());
    let kernel = read("/proc/sys/kernel/osrelease");
    let kernel = kernel.trim();
    format!(
        "Machine: {cores} cores, {processor}, {memory} memory, Linux {kernel}. \
         Built with the `{PROFILE}` profile."
    )
}

/// Returns the value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned())
}

/// Reads an amount such as `16384 kB`.
fn gibibytes(amount: &str) -> Option<String> {
    let kibibytes: f64 = amount.strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.0} GiB", kibibytes / 1024.0 / 1024.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_names_the_profile() {
        assert!(
            describe(7).contains(" Built with the `release` profile. Each scenario ran 7 times")
        );
    }

    #[test]
    fn fields_are_found() {
        let text = "processor\t: 0\nmodel name\t: Some CPU: fast\nmodel name\t: Other\n";
        assert_eq!(field(text, "model name").as_deref(), Some("Some CPU: fast"));
        assert_eq!(field(text, "MemTotal"), None);
        assert_eq!(gibibytes("24682416 kB").as_deref(), Some("24 GiB"));
        assert_eq!(gibibytes("much"), None);
    }
}
