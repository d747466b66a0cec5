//! A control plane is real, survives what tests do to it, and leaves nothing behind.

use std::{fs, path::Path};

use operon_rig::{Component, Rig, RigError, RigOptions, rig_for_test};

/// Everything of a rig that can be seen on the machine.
fn traces(rig_name: &str, directory: &Path) -> Vec<String> {
    let directory_text = directory.to_string_lossy().into_owned();
    let mut traces = Vec::new();
    let processes = fs::read_dir("/proc").expect("a process table").filter_map(Result::ok);
    for process in processes {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&format!("{directory_text}/")) {
            traces.push(format!("process {:?}: {line}", process.file_name()));
        }
    }
    let mounts = fs::read_to_string("/proc/self/mounts").expect("a table of mounts");
    let names = [directory_text.clone(), format!("operon-rig-{rig_name} ")];
    let of_rig = |line: &&str| names.iter().any(|name| line.contains(name.as_str()));
    traces.extend(mounts.lines().filter(of_rig).map(|line| format!("mount {line}")));
    for path in [directory, &Path::new("/run/netns").join(format!("operon-rig-{rig_name}"))] {
        if path.exists() {
            traces.push(format!("file {}", path.display()));
        }
    }
    traces
}

#[test]
fn a_control_plane_keeps_what_it_was_told_and_leaves_nothing_behind() -> Result<(), RigError> {
    let Some(rig) = rig_for_test(RigOptions::control_plane("plane"))? else {
        return Ok(());
    };
    let (name, directory) = (rig.name().to_owned(), rig.directory().to_owned());
    assert!(!traces(&name, &directory).is_empty(), "traces of a rig that runs are found");

    rig.kubectl(&["create", "configmap", "kept", "--from-literal=word=survives"])?;
    for component in [Component::ApiServer, Component::Etcd] {
        let before = rig.pid(component).expect("it runs");
        rig.kill(component)?;
        assert_eq!(rig.pid(component), None);
        rig.start(component)?;
        assert_ne!(rig.pid(component).expect("it runs again"), before);
    }
    rig.stop(Component::ApiServer)?;
    rig.start(Component::ApiServer)?;
    let word = rig.kubectl(&["get", "configmap", "kept", "--output=jsonpath={.data.word}"])?;
    assert_eq!(word, "survives");

    // Users have no rights until somebody gives them some, and accounts have a kubeconfig too.
    let may_read = |kubeconfig: &Path| {
        let mut command = rig.kubectl_command(&["auth", "can-i", "get", "configmaps"]);
        let output = command.env("KUBECONFIG", kubeconfig).output().expect("kubectl runs");
        String::from_utf8_lossy(&output.stdout).trim() == "yes"
    };
    let alice = rig.kubeconfig_of_user("alice")?;
    assert!(!may_read(&alice));
    rig.kubectl(&["create", "rolebinding", "alice", "--clusterrole=view", "--user=alice"])?;
    assert!(may_read(&alice));
    let account = rig.kubeconfig_of_account("default", "default")?;
    assert!(!may_read(&account));
    assert!(may_read(&rig.kubeconfig()));
    assert!(matches!(rig.kubeconfig_of_user("mallory"), Err(RigError::UnknownUser { .. })));

    // It can be found by its name, but not be begun a second time.
    assert_eq!(Rig::find(&name)?.pid(Component::Etcd), rig.pid(Component::Etcd));
    let second = Rig::up(&RigOptions::control_plane(&name));
    assert!(matches!(second, Err(RigError::InUse { .. })), "{second:?}");
    assert!(matches!(rig.start(Component::Kubelet), Err(RigError::NoSuchComponent { .. })));

    rig.down()?;
    assert_eq!(traces(&name, &directory), Vec::<String>::new());
    assert!(matches!(Rig::find(&name), Err(RigError::NotThere { .. })));
    Ok(())
}

#[test]
fn a_flag_that_the_api_server_refuses_is_told_with_its_log() -> Result<(), RigError> {
    let mut options = RigOptions::control_plane("refused");
    options.apiserver_flags.push("--no-such-flag".to_owned());
    match rig_for_test(options) {
        Ok(None) => return Ok(()),
        Err(RigError::Ended { component: Component::ApiServer, log }) => {
            assert!(log.contains("no-such-flag"), "{log}");
        }
        other => unreachable!("{other:?}"),
    }
    let name = format!("refused-{}", std::process::id());
    assert!(!Rig::names()?.contains(&name), "a rig that failed is taken down");
    Ok(())
}
