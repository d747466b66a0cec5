//! Operon as people install it, with its own account and rights: webhooks that are called, real bundles,
//! input that makes no sense, and input that means harm.
//!
//! Every proof has namespaces and packages of its own, so that they share clusters. `OPERON_TRIAL=<name>`
//! runs one; `OPERON_PROOF_RIG=<name>` uses a rig that runs already.

mod bundles;
mod malice;
mod nonsense;
mod operators;
mod readers;
mod size;
mod tenancy;
mod webhooks;

use std::{env, path::Path, time::Instant};

use operon_proof::{Installation, Queue, operon_program, rigs_for_proof, side_by_side};
use operon_rig::Rig;

/// How many clusters the proofs are shared out to.
const RIGS: usize = 2;

/// What a proof tells in the end: a note for people, or what is otherwise than it should be.
type Verdict = Result<String, String>;

/// A proof: its name, and what it does.
type Trial = (&'static str, fn(&Installation<'_>) -> Verdict);

/// The longest first; what takes our own CRDs away is alone on its cluster by then.
const TRIALS: &[Trial] = &[
    ("real-bundles", bundles::dozens_of_real_bundles),
    ("webhooks-are-called", webhooks::are_called),
    ("tenant-gains-nothing", malice::tenant_gains_nothing),
    ("edit-gains-nothing", tenancy::edit_gains_nothing),
    ("writers-gain-nothing", tenancy::writers_gain_nothing),
    ("forged-labels-lift-nothing", tenancy::forged_labels_lift_nothing),
    ("crds-of-others-are-kept", tenancy::crds_of_others_are_kept),
    ("reserved-apis-are-not-granted", tenancy::reserved_apis_are_not_granted),
    ("bundle-claims-prove-nothing", tenancy::bundle_claims_prove_nothing),
    ("status-approves-nothing", tenancy::status_approves_nothing),
    ("foreign-roles-are-not-bound", tenancy::foreign_roles_are_not_bound),
    ("refused-plans-write-nothing", tenancy::refused_plans_write_nothing),
    ("bundle-that-means-harm", malice::bundle_stays_where_it_is),
    ("missing-rights-are-told", readers::are_told_what_they_may_not_read),
    ("secrets-are-not-told", malice::secrets_are_not_told),
    ("objects-without-sense", nonsense::objects_without_sense),
    ("status-edited-by-hand", nonsense::status_edited_by_hand),
    ("long-and-foreign-names", nonsense::long_and_foreign_names),
    ("huge-operators", size::huge_operators),
    ("thousands-of-instances", size::thousands_of_instances),
    ("own-definitions-deleted", nonsense::own_definitions_deleted),
];

#[test]
fn operon_as_it_ships_does_its_work_and_nothing_else() {
    let Some(program) = operon_program() else {
        let reason = "there is no program `operon` next to this test; `cargo build -p operon`";
        operon_parts::leave_out(operon_parts::Part::Proof, reason);
        return;
    };
    let rigs = rigs_for_proof("shipped", RIGS);
    if rigs.is_empty() {
        return;
    }
    let wanted = env::var("OPERON_TRIAL").ok();
    let is_wanted = |name: &str| match &wanted {
        Some(wanted) => wanted.split(',').any(|one| one == name),
        None => true,
    };
    let tried: Vec<Trial> = TRIALS.iter().filter(|(name, _)| is_wanted(name)).copied().collect();
    let begun = Instant::now();
    let failures = side_by_side(&rigs, &tried, |rig, queue| try_some(rig, &program, queue));
    let (count, failed) = (tried.len(), failures.len());
    println!("{} of {count} proofs came out in {:.0?}", count - failed, begun.elapsed());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Does on one cluster what is still waiting, one proof after the other.
fn try_some(rig: &Rig, program: &Path, queue: &Queue<'_, Trial>) {
    let mut operon = Installation::new(rig, program).expect("Operon can be installed");
    operon.start_controllers(1).expect("a controller that leads");
    while let Some((name, trial)) = queue.next() {
        let begun = Instant::now();
        let outcome = trial(&operon).and_then(|note| is_well(&operon).map(|()| note));
        let took = begun.elapsed().as_secs_f64();
        let leader = operon.leader();
        match outcome {
            Ok(note) => {
                let bytes = leader.and_then(|one| one.metric("process_resident_memory_bytes"));
                let memory = bytes.unwrap_or_default() / 1e6;
                println!("ok     {name:30} {took:5.1} s; {memory:.0} MB; {note}");
            }
            Err(reason) => {
                let words = leader.map_or_else(String::new, |leader| leader.last_words(20));
                queue.fail(format!("FAILED {name:30} {took:5.1} s: {reason}\n{words}"));
            }
        }
    }
}

/// The one controller that was started still leads, and never panicked.
fn is_well(operon: &Installation<'_>) -> Result<(), String> {
    operon.until("the controller leads", |operon| operon.leader().is_some())?;
    let log = operon.leader().map_or_else(String::new, |leader| leader.log());
    match log.lines().find(|line| line.contains("panicked")) {
        Some(line) => Err(format!("the controller said: {line}")),
        None => Ok(()),
    }
}
