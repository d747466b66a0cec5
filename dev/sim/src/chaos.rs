//! Seeded chaos: whole clusters, people, faults, and checkers of what must hold.
//!
//! One seed is one run, and the same seed is always the same run. In an *even* seed everybody waits after
//! each deed until nothing is left to do, and a second run without faults must come to the same; in an
//! *odd* one nobody waits.

mod check;
mod deed;
mod faults;
mod faulty_catalogs;
mod packages;
mod people;
mod random;
mod rates;
mod scale;
mod seed;
mod shuffled;
mod theatre;

pub use self::{
    check::{CHECKERS, Finding},
    rates::Rates,
    scale::{Scale, measure_scale},
    seed::{Options, Tally, Tamper, run_seed},
};
