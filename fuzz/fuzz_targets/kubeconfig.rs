//! Kubeconfig files: any bytes give a cluster handle or an error that names the file.
//!
//! A kubeconfig may name programs and servers. A seccomp filter rejects `execve` and `socket`, so the target
//! starts no program and contacts no server.

#![no_main]

use std::{env, fs, process::Command, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use operon_kube::{ConnectError, KubeCluster, Options, Place};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use tokio::signal::unix::{SignalKind, signal};

static DIRECTORY: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a directory"));

fuzz_target!(
    init: {
        survive_broken_pipes();
        forbid_programs_and_sockets();
    },
    |data: &[u8]| {
        let file = DIRECTORY.path().join("config");
        fs::write(&file, data).expect("a file");
        for context in [None, Some("b".to_owned())] {
            let place = Place::Kubeconfig { file: Some(file.clone()), context };
            match KubeCluster::connect(&place, Options::default()) {
                Ok(cluster) => assert!(!cluster.server().is_empty()),
                Err(error @ ConnectError::Kubeconfig { .. }) => {
                    assert!(error.to_string().contains("config"), "{error}");
                }
                Err(ConnectError::Credentials { reason, .. }) => assert!(!reason.is_empty()),
                Err(ConnectError::Nowhere { .. } | ConnectError::Pod { .. }) => {
                    panic!("the location is a file")
                }
                Err(ConnectError::Thread(error)) => panic!("{error}"),
            }
        }
    }
);

/// Installs a handler for `SIGPIPE`. The runtime of Rust, which fuzz targets lack, ignores the signal.
fn survive_broken_pipes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let _inside = runtime.as_ref().expect("a runtime").enter();
    // The handler stays when its receiver is dropped.
    drop(signal(SignalKind::pipe()).expect("a handler"));
}

/// Makes `execve`, `execveat` and `socket` fail with `EPERM` in this process and its children.
fn forbid_programs_and_sockets() {
    let calls = [libc::SYS_execve, libc::SYS_execveat, libc::SYS_socket];
    let filter = SeccompFilter::new(
        calls.map(|call| (call, Vec::new())).into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        env::consts::ARCH.try_into().expect("a known architecture"),
    );
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("a filter");
    seccompiler::apply_filter(&program).expect("the filter is installed");
    let forbidden = Command::new("/bin/true").status();
    assert!(forbidden.is_err(), "the filter does not work");
}
