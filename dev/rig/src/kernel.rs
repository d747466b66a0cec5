//! Settings of the kernel that a kubelet changes for the whole machine when it starts.
//!
//! A rig does not own the machine, so they are put back. A kubelet that is told to leave them alone would
//! refuse to start where they are not as it likes.

use std::fs;

/// What it writes to, below `/proc/sys`.
const CHANGED: [&str; 6] = [
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
];

/// The settings as they were.
#[derive(Debug)]
pub(crate) struct KernelSettings {
    values: Vec<(String, Vec<u8>)>,
}

impl KernelSettings {
    /// Reads them, as far as this kernel has them.
    pub(crate) fn read() -> Self {
        let paths = CHANGED.iter().map(|name| format!("/proc/sys/{name}"));
        let values = paths.filter_map(|path| fs::read(&path).ok().map(|value| (path, value)));
        Self { values: values.collect() }
    }

    /// Puts back what is different now; what cannot be written, the kubelet could not write either.
    pub(crate) fn restore(&self) {
        for (path, value) in &self.values {
            if fs::read(path).is_ok_and(|now| now != *value) {
                let _ = fs::write(path, value);
            }
        }
    }
}
