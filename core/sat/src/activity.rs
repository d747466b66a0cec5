//! How much each variable took part in recent conflicts, and which sign it had last.
//!
//! What these numbers are used for is decided elsewhere.

use crate::literal::{Literal, Variable};

#[derive(Debug)]
pub(crate) struct Activity {
    scores: Vec<f64>,
    increment: f64,
    /// The sign each variable had last; false at first, because most things are not wanted.
    phases: Vec<bool>,
}

/// Each conflict counts this much more than the one before.
const GROWTH: f64 = 1.0 / 0.95;

/// Scores are scaled down before they could overflow.
const LARGEST_SCORE: f64 = 1e100;

impl Activity {
    pub(crate) fn new(variables: usize) -> Activity {
        Activity { scores: vec![0.0; variables], increment: 1.0, phases: vec![false; variables] }
    }

    /// Notes that the variable took part in the present conflict.
    pub(crate) fn bump(&mut self, variable: Variable) {
        let score = &mut self.scores[variable.index()];
        *score += self.increment;
        if *score > LARGEST_SCORE {
            for score in &mut self.scores {
                *score /= LARGEST_SCORE;
            }
            self.increment /= LARGEST_SCORE;
        }
    }

    /// Ends the present conflict.
    pub(crate) fn decay(&mut self) {
        self.increment *= GROWTH;
    }

    /// Returns a number that is larger for a more active variable.
    pub(crate) fn rank(&self, variable: Variable) -> u64 {
        // The bits of floating-point numbers that are not negative have the same order as the numbers.
        self.scores[variable.index()].to_bits()
    }

    pub(crate) fn remember_phase(&mut self, literal: Literal) {
        self.phases[literal.variable().index()] = literal.is_positive();
    }

    /// Says whether the variable was true last.
    pub(crate) fn was_true(&self, variable: Variable) -> bool {
        self.phases[variable.index()]
    }
}
