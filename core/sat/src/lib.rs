//! Decides which variables can be true together, in the order the caller prefers.
//!
//! A [`Problem`] is a list of clauses, at-most-one groups and choices. A [`Solver`] answers it under
//! assumptions: [`Solver::prefer`] gives the one preferred answer, [`Solver::satisfy`] any answer, and
//! [`minimise`] shrinks a set of assumptions that cannot hold together. What a variable stands for is
//! not known here.

mod activity;
mod agenda;
mod analyse;
mod answer;
mod budget;
mod counting;
mod demand;
mod free;
mod index;
mod learn;
mod literal;
mod minimise;
mod ordered;
mod problem;
mod propagate;
mod solver;
mod store;
mod trail;
mod watches;

pub use literal::{Literal, Variable};
pub use problem::{MAX_LITERALS, MAX_VARIABLES, Problem};

pub use answer::{Answer, Solution, Statistics};
pub use budget::Budget;
pub use minimise::{Minimised, minimise, minimise_refutation};
pub use solver::Solver;
