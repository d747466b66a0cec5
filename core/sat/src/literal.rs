//! Variables and literals: the two words every other file speaks.
//!
//! A variable is a number and nothing else; what it stands for is known to the caller only.

use std::fmt;
use std::ops::Not;

/// Names one yes-or-no question of a [`Problem`](crate::Problem).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub(crate) u32);

/// Claims that a variable is true, or that it is false.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal(pub(crate) u32);

impl Variable {
    /// Returns the position of the variable in the order of creation, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the literal that holds when the variable is true.
    #[must_use]
    pub fn positive(self) -> Literal {
        Literal(self.0 << 1)
    }

    /// Returns the literal that holds when the variable is false.
    #[must_use]
    pub fn negative(self) -> Literal {
        Literal(self.0 << 1 | 1)
    }
}

impl Literal {
    /// Returns the variable the literal speaks about.
    #[must_use]
    pub fn variable(self) -> Variable {
        Variable(self.0 >> 1)
    }

    /// Says whether the literal claims its variable to be true.
    #[must_use]
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// Returns the place of the literal in a table with two entries per variable.
    pub(crate) fn code(self) -> usize {
        self.0 as usize
    }
}

impl Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "x{}", self.0)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_positive() { "" } else { "!" };
        write!(formatter, "{sign}x{}", self.0 >> 1)
    }
}
