//! A control plane keeps what it was told, survives what tests do to it, and leaves nothing behind.

use std::path::Path;

use operon_rig::{Component, Rig, RigError, RigOptions, rig_for_test};

use crate::{eventually, traces::traces};

#[test]
fn a_control_plane_keeps_what_it_was_told_and_leaves_nothing_behind() -> Result<(), RigError> {
    let Some(rig) = rig_for_test(RigOptions::control_plane("plane"))? else {
        return Ok(());
    };
    let name = rig.name().to_owned();
    assert!(!traces(&name).is_empty(), "traces of a rig that runs are found");

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
    // The API server learns of new rights by watching itself.
    eventually("alice may read", || may_read(&alice).then_some(()));
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
    assert_eq!(traces(&name), Vec::<String>::new());
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
