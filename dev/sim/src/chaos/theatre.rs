//! A cluster, its replicas of the driver, the clock, and the checkers.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use operon_driver::Driver;
use operon_lifecycle::Settings;
use operon_object::{Object, Timestamp};

use super::{
    check::{STABLE, Watch},
    deed::{Deed, perform},
    faults::{FaultyCluster, Weather},
    faulty_catalogs::FaultyCatalogs,
    random::Random,
    seed::{Options, Tamper},
    shuffled::Shuffled,
};
use crate::{BEGINNING, SimCatalogs, SimCluster};

/// How many turns may be needed until nothing is left to do without time passing. The longest upgrade of
/// all operators of a simulated cluster takes about 300.
const MOST_TURNS: usize = 3_000;

/// How far the clock is followed after a deed: longer than every deadline of the engine and the cluster
/// one after another.
const PATIENCE: Duration = Duration::from_secs(40 * 60);

/// How long nothing may be written after everything has come to rest.
const SILENCE: Duration = Duration::from_secs(3600);

/// How much time passes between two turns.
const TURN: Duration = Duration::from_millis(20);

type SimDriver = Driver<FaultyCluster<SimCluster>, FaultyCatalogs>;

/// What a checker saw.
pub(super) type Seen = (&'static str, String);

/// Where a run takes place.
pub(super) struct Theatre {
    pub(super) cluster: SimCluster,
    pub(super) watch: Watch,
    catalogs: SimCatalogs,
    weather: Rc<RefCell<Weather>>,
    replicas: Vec<Replica>,
    clock: Rc<Cell<Timestamp>>,
    random: Random,
    tamper: Option<Tamper>,
    /// Counts the turns.
    pub(super) turns: u64,
}

struct Replica {
    driver: Rc<RefCell<SimDriver>>,
    view: FaultyCluster<SimCluster>,
    wake: Option<Timestamp>,
}

impl Theatre {
    pub(super) fn new(seed: u64, replicas: usize, options: &Options) -> Self {
        let Options { rates, tamper, shown, .. } = *options;
        let cluster = SimCluster::new(BEGINNING);
        cluster.record();
        let catalogs = SimCatalogs::default();
        let weather = Rc::new(RefCell::new(Weather::new(rates, Random::new(seed, 2))));
        let mut random = Random::new(seed, 3);
        let mut begin = |_| {
            let view = FaultyCluster::new(cluster.clone(), Rc::clone(&weather));
            let catalogs = FaultyCatalogs::new(catalogs.clone(), Rc::clone(&weather));
            let driver = start_driver(&view, catalogs, &mut random);
            Replica { driver: Rc::new(RefCell::new(driver)), view, wake: None }
        };
        let replicas: Vec<Replica> = (0..replicas).map(&mut begin).collect();
        let clock = Rc::new(Cell::new(BEGINNING));
        let mut theatre = Self {
            watch: Watch::new(shown),
            cluster,
            catalogs,
            weather,
            replicas,
            clock,
            random,
            tamper,
            turns: 0,
        };
        for object in theatre.cluster.objects() {
            theatre.watch.meet(object);
        }
        theatre.allow_interludes();
        theatre
    }

    /// Returns the faults that were injected, by name.
    pub(super) fn faults(&self) -> std::collections::BTreeMap<&'static str, u64> {
        self.weather.borrow().counts.clone()
    }

    /// Returns what can be seen.
    pub(super) fn objects(&self) -> Vec<Object> {
        self.watch.objects().values().cloned().collect()
    }

    /// Lets a person do something.
    pub(super) fn perform(&mut self, deed: &Deed) -> Result<(), Seen> {
        if let Deed::Publish(_, publication) = deed {
            self.watch.learn(publication);
        }
        perform(deed, &self.cluster, &self.catalogs, self.clock.get());
        self.look()
    }

    /// Lets the replicas take turns while things go wrong.
    pub(super) fn storm(&mut self, turns: usize) -> Result<(), Seen> {
        self.weather.borrow_mut().is_stormy = true;
        for _ in 0..turns {
            let index = self.random.below(self.replicas.len());
            self.turn(index)?;
            // Mostly little time passes between two turns, and sometimes a little more.
            let pause = if self.random.happens(50) { 1500 } else { self.random.below(60) };
            self.pass(Duration::from_millis(u64::try_from(pause).unwrap_or(0)));
        }
        self.weather.borrow_mut().calm();
        Ok(())
    }

    /// Waits, without faults, until nothing is left to do.
    pub(super) fn rest(&mut self) -> Result<(), Seen> {
        let end = self.clock.get().after(PATIENCE);
        self.follow_clock(end)?;
        self.watch.look_at_rest()
    }

    /// Waits on, and looks whether something is still written.
    pub(super) fn stay_silent(&mut self) -> Result<(), Seen> {
        let before = self.cluster.writes();
        let end = self.clock.get().after(SILENCE);
        self.follow_clock(end)?;
        self.clock.set(end);
        self.settle()?;
        let written = self.cluster.writes() - before;
        if written > 0 {
            let last = self.watch.tail().pop().unwrap_or_default();
            let saw = format!("{written} writes after everything had come to rest, last: {last}");
            return Err((STABLE, saw));
        }
        Ok(())
    }

    /// Goes from wake to wake until there is none before a time.
    fn follow_clock(&mut self, end: Timestamp) -> Result<(), Seen> {
        self.settle()?;
        while let Some(wake) = self.next_wake().filter(|wake| *wake <= end) {
            self.clock.set(self.clock.get().max(wake));
            self.settle()?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Seen> {
        let mut quiet = 0;
        for _ in 0..MOST_TURNS {
            let mut is_settled = true;
            for index in 0..self.replicas.len() {
                is_settled &= self.turn(index)?;
            }
            quiet = if is_settled { quiet + 1 } else { 0 };
            if quiet == 2 {
                return Ok(());
            }
            self.pass(TURN);
        }
        let refusal = self.cluster.last_refusal();
        let saw = format!(
            "after {MOST_TURNS} turns there is still something to do; last refused: {refusal}"
        );
        Err((STABLE, saw))
    }

    /// Lets a replica take a turn; tells whether it had nothing to do.
    fn turn(&mut self, index: usize) -> Result<bool, Seen> {
        self.turns += 1;
        let now = self.clock.get();
        self.cluster.advance(now);
        let replica = &mut self.replicas[index];
        let outcome = replica.driver.borrow_mut().cycle(now);
        let is_settled = match outcome {
            Ok(cycle) => {
                replica.wake = cycle.wake;
                cycle.is_settled
            }
            // It tries again in its next turn.
            Err(_) => false,
        };
        for replica in &mut self.replicas {
            if replica.view.is_dead() {
                replica.view.revive();
                let catalogs = FaultyCatalogs::new(self.catalogs.clone(), Rc::clone(&self.weather));
                *replica.driver.borrow_mut() =
                    start_driver(&replica.view, catalogs, &mut self.random);
                replica.wake = None;
            }
        }
        if let Some(tamper) = self.tamper {
            tamper(&self.cluster, self.turns);
        }
        self.look()?;
        Ok(is_settled)
    }

    fn look(&mut self) -> Result<(), Seen> {
        for written in self.cluster.take_journal() {
            self.watch.look(&written)?;
        }
        Ok(())
    }

    fn pass(&mut self, duration: Duration) {
        self.clock.set(self.clock.get().after(duration));
    }

    fn next_wake(&self) -> Option<Timestamp> {
        let now = self.clock.get();
        let wakes = self.replicas.iter().map(|replica| replica.wake);
        wakes.chain([self.cluster.next_wake()]).flatten().filter(|wake| *wake > now).min()
    }

    /// Lets a replica take a turn in the middle of another's.
    fn allow_interludes(&mut self) {
        let drivers: Vec<_> =
            self.replicas.iter().map(|replica| Rc::downgrade(&replica.driver)).collect();
        if drivers.len() < 2 {
            return;
        }
        let clock = Rc::clone(&self.clock);
        let interlude = move || {
            for driver in &drivers {
                let Some(driver) = driver.upgrade() else { continue };
                // The one that is in its turn is borrowed.
                if let Ok(mut driver) = driver.try_borrow_mut() {
                    drop(driver.cycle(clock.get()));
                }
            }
        };
        self.weather.borrow_mut().set_interlude(Rc::new(interlude));
    }
}

/// Starts a driver; every second one, as chance decides, works on many namespaces at once.
fn start_driver(
    view: &FaultyCluster<SimCluster>,
    catalogs: FaultyCatalogs,
    random: &mut Random,
) -> SimDriver {
    let mut driver = Driver::new(view.clone(), catalogs.clone(), settings());
    if random.happens(500) {
        let workers = Shuffled::new(view.clone(), catalogs, Random::new(random.next(), 4));
        driver.set_workers(Box::new(workers));
    }
    driver
}

pub(super) fn settings() -> Settings {
    Settings { kube_version: "v1.33.0".to_owned(), ..Settings::default() }
}
