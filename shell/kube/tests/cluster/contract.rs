//! The contract of the port.

use std::{thread, time::Duration};

use operon_driver::contract::{self, Subject};

use crate::support::{connect, options, with_rig};

#[test]
fn a_real_api_server_keeps_the_contract() {
    with_rig("contract", |rig| {
        let cluster = connect(&rig.kubeconfig(), options());
        let pause = || thread::sleep(Duration::from_millis(50));
        let subject = Subject { cluster: &cluster, pause: &pause, name: "contract" };
        let failures: Vec<String> = contract::all()
            .iter()
            .filter_map(|check| check.run(&subject).err())
            .map(|failure| failure.message)
            .collect();
        assert!(failures.is_empty(), "{failures:#?}");
    });
}
