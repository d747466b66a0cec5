//! One seed: one run of a simulated world.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    check::{EQUAL, Finding, NO_PANIC, RACE, differences, normal_form},
    deed::Deed,
    people::People,
    random::Random,
    rates::Rates,
    theatre::{Seen, Theatre},
};
use crate::SimCluster;

/// Does something to a cluster that must not be done, after a turn of the given number: for the proof
/// that checkers see it.
pub type Tamper = fn(&SimCluster, u64);

/// How a seed is run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How often people do something.
    pub steps: usize,
    /// How often things go wrong.
    pub rates: Rates,
    /// What is done to the cluster behind the engine's back, as if the engine had done it.
    pub tamper: Option<Tamper>,
    /// How many of the last writes a finding shows.
    pub shown: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 12, rates: Rates::STORM, tamper: None, shown: 40 }
    }
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The faults that were injected, by name.
    pub faults: BTreeMap<&'static str, u64>,
    /// How often something was written by the engine.
    pub writes: u64,
    /// How many turns the replicas took.
    pub turns: u64,
    /// How many times people did something.
    pub deeds: usize,
}

impl Tally {
    /// Adds another run's.
    pub fn add(&mut self, other: &Self) {
        for (name, count) in &other.faults {
            *self.faults.entry(name).or_default() += count;
        }
        self.writes += other.writes;
        self.turns += other.turns;
        self.deeds += other.deeds;
    }
}

/// What people did in a run, and what it came to after each of their deeds.
type Script = Vec<(Deed, BTreeMap<String, String>)>;

/// Runs a seed; the first thing that must not be ends it.
pub fn run_seed(seed: u64, options: &Options) -> Result<Tally, Box<Finding>> {
    let mut deeds = Vec::new();
    let mut writes = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if seed.is_multiple_of(2) {
            run_twice(seed, options, &mut deeds, &mut writes)
        } else {
            run_through(seed, options, &mut deeds, &mut writes)
        }
    }));
    let seen = match outcome {
        Ok(Ok(tally)) => return Ok(tally),
        Ok(Err(seen)) => seen,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            (NO_PANIC, text.unwrap_or_default())
        }
    };
    let (checker, saw) = seen;
    Err(Box::new(Finding { seed, checker, saw, deeds, writes }))
}

/// Runs without faults, and again with them: everybody waits after each deed, and both runs must come to
/// the same each time.
fn run_twice(
    seed: u64,
    options: &Options,
    deeds: &mut Vec<String>,
    writes: &mut Vec<String>,
) -> Result<Tally, Seen> {
    let script = rehearse(seed, options, deeds, writes)?;
    deeds.clear();
    let mut random = Random::new(seed, 4);
    let mut theatre = Theatre::new(seed, 1 + random.below(2), options);
    let outcome = (|| {
        for (deed, state) in &script {
            deeds.push(deed.to_string());
            theatre.perform(deed)?;
            theatre.storm(5 + random.below(30))?;
            theatre.rest()?;
            let reached = normal_form(theatre.watch.objects());
            if is_race(state) || is_race(&reached) {
                break;
            }
            let found = differences(state, &reached);
            if !found.is_empty() {
                let shown: Vec<String> = found.iter().take(6).cloned().collect();
                return Err((EQUAL, format!("{} differ: {}", found.len(), shown.join("; "))));
            }
        }
        theatre.stay_silent()
    })();
    *writes = theatre.watch.tail();
    outcome?;
    Ok(tally(&theatre, deeds.len()))
}

/// Tells whether two groups want the same API, or two operators the same object: whoever comes first has it,
/// and that is nobody's fault.
fn is_race(state: &BTreeMap<String, String>) -> bool {
    let races = ["InterOperatorGroupOwnerConflict", RACE];
    state.values().any(|said| races.iter().any(|race| said.contains(race)))
}

/// Runs without faults, choosing what people do, and notes what it comes to.
fn rehearse(
    seed: u64,
    options: &Options,
    deeds: &mut Vec<String>,
    writes: &mut Vec<String>,
) -> Result<Script, Seen> {
    let (mut people, beginning) = People::new(seed);
    let mut script = Script::new();
    let mut theatre = Theatre::new(seed, 1, &Options { tamper: None, ..*options });
    let outcome = (|| {
        for step in 0..=options.steps {
            let chosen = match step {
                0 => beginning.clone(),
                _ => people.choose(&theatre.objects()),
            };
            for deed in chosen {
                deeds.push(deed.to_string());
                theatre.perform(&deed)?;
                theatre.rest()?;
                script.push((deed, normal_form(theatre.watch.objects())));
            }
        }
        theatre.stay_silent()
    })();
    *writes = theatre.watch.tail();
    outcome.map_err(|(checker, saw)| (checker, format!("without faults: {saw}")))?;
    Ok(script)
}

/// Runs with faults, and nobody waits.
fn run_through(
    seed: u64,
    options: &Options,
    deeds: &mut Vec<String>,
    writes: &mut Vec<String>,
) -> Result<Tally, Seen> {
    let (mut people, beginning) = People::new(seed);
    let mut random = Random::new(seed, 4);
    let mut theatre = Theatre::new(seed, 1 + random.below(2), options);
    let outcome = (|| {
        for step in 0..=options.steps * 2 {
            let act = match step {
                0 => beginning.clone(),
                _ => people.choose(&theatre.objects()),
            };
            for deed in &act {
                deeds.push(deed.to_string());
                theatre.perform(deed)?;
            }
            theatre.storm(random.below(25))?;
        }
        theatre.rest()?;
        theatre.stay_silent()
    })();
    *writes = theatre.watch.tail();
    outcome?;
    Ok(tally(&theatre, deeds.len()))
}

fn tally(theatre: &Theatre, deeds: usize) -> Tally {
    Tally {
        faults: theatre.faults(),
        writes: theatre.cluster.writes(),
        turns: theatre.turns,
        deeds,
    }
}
