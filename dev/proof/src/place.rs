//! Where proofs run: on a rig of their own, or on one that runs already.

use std::env;

use operon_rig::{Rig, RigOptions, rig_for_test};

/// Returns a rig for a proof, or says why it is left out.
///
/// A proof takes minutes and is wanted by name: `OPERON_PROOF=all` brings a rig up for it,
/// `OPERON_PROOF_RIG=<name>` uses one that runs already and leaves it running.
pub fn rig_for_proof(name: &str) -> Option<Rig> {
    if let Ok(running) = env::var("OPERON_PROOF_RIG") {
        return Some(Rig::find(&running).expect("the rig that was named"));
    }
    if env::var_os("OPERON_PROOF").is_none() {
        println!("left out: it takes minutes; OPERON_PROOF=all cargo test -p operon-proof");
        return None;
    }
    rig_for_test(RigOptions::cluster(name)).expect("a rig")
}
