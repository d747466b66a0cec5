//! The solver against its definitions, against other solvers, and at its limits.

mod limits;
mod medium;
mod refute;
mod small;
mod support;
