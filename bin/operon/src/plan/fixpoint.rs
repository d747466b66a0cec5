//! Generations of a namespace: each forecast is taken as come true and asked again, until nothing changes.
//!
//! Operators that are installed count as successful at once; failures are not predicted.

use operon_lifecycle::views::Forecast;

use super::{situation::Situation, view::PlanView};

/// The most generations that are looked at: real channels have a few hundred entries, and each generation takes
/// at least one step in one of them.
const MAX_GENERATIONS: usize = 1000;

/// The plans of a namespace, one after another.
pub(crate) struct Generations {
    /// At least one; the last one changes nothing if they settle.
    pub(crate) plans: Vec<PlanView>,
    pub(crate) ending: Ending,
}

/// How generations end.
pub(crate) enum Ending {
    /// Nothing changes any more.
    Settled,
    /// The last generation leads back to what was there before this one, counted from 0.
    Circle { back_to: usize },
    /// There are more than are looked at.
    TooMany,
}

/// Plans again and again, each time as if the plan before had been carried out.
pub(crate) fn generations(situation: &Situation) -> Generations {
    let mut situation = situation.clone();
    let mut plans = Vec::new();
    let mut seen = Vec::new();
    loop {
        let world = situation.world();
        let question = situation.question(&world);
        let state = state(&question);
        // What is blocked or would fail is not carried out, however often it is planned.
        if seen.last() == Some(&state) {
            return Generations { plans, ending: Ending::Settled };
        }
        if let Some(back_to) = seen.iter().position(|before| *before == state) {
            return Generations { plans, ending: Ending::Circle { back_to } };
        }
        seen.push(state);
        let plan = PlanView::new(&situation, &question);
        let has_changes = plan.has_changes();
        plans.push(plan);
        if !has_changes {
            return Generations { plans, ending: Ending::Settled };
        }
        if plans.len() >= MAX_GENERATIONS {
            return Generations { plans, ending: Ending::TooMany };
        }
        situation = situation.after(&question);
    }
}

/// The operators that run, and the Subscriptions that they belong to.
type State = (Vec<String>, Vec<(String, String)>);

fn state(forecast: &Forecast<'_>) -> State {
    let running = forecast.universe.installed.iter().map(|installed| installed.name.clone());
    let wanted = forecast.requests.iter();
    let wanted = wanted.map(|request| (request.name.clone(), request.installed_csv.clone()));
    let (mut running, mut wanted): State = (running.collect(), wanted.collect());
    running.sort();
    wanted.sort();
    (running, wanted)
}
