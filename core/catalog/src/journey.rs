//! Journeys of an installed operator: which updates it gets, how far they lead, and why no further.
//!
//! [`Routes`] are the updates of one channel (or, for OLM v1, of several) told apart by the name of
//! the installed operator; a [`Matrix`] asks them for every version at once. Whether an update is
//! possible in a cluster is not asked here: only the catalog is.

mod installed;
mod matrix;
mod no_way;
mod reached;
mod routes;
mod survey;

pub use self::{
    installed::{Installed, InstalledError, Origin, version_in_name},
    matrix::{MAX_MATRIX_CELLS, Matrix, MatrixError, MatrixRow, MatrixTable, MatrixTarget, matrix},
    no_way::{NoWay, NoWayReason},
    routes::{Automatic, Ending, Hop, Routes, Step},
    survey::{MAX_SURVEY_STEPS, Standing, Survey},
};
