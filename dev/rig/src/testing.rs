//! Rigs for tests: there where they can run, passed over by name where they cannot.
//!
//! A plain `cargo test` must stay quick, so nothing is built for it unless it is told to.

use std::{env, process};

use crate::{Obstacle, Programs, Rig, RigError, RigOptions};

/// The variable that lets tests build what is missing, with the value `build`.
const BUILD: &str = "OPERON_RIG";

/// Brings up a rig for a test, with the number of this process behind its name.
///
/// Returns `None`, and says why, where no rig can run. Whatever else goes wrong is the test's failure.
pub fn rig_for_test(options: RigOptions) -> Result<Option<Rig>, RigError> {
    let found = if env::var_os(BUILD).is_some_and(|value| value == "build") {
        Programs::ensure(&mut |line| eprintln!("{line}"))
    } else {
        Programs::find(options.nodes).map_err(RigError::from)
    };
    match found {
        Ok(_) => {}
        Err(RigError::Obstacle(obstacle)) => {
            say_left_out(&obstacle);
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let name = format!("{}-{}", options.name, process::id());
    Rig::up(&RigOptions { name, ..options }).map(Some)
}

fn say_left_out(obstacle: &Obstacle) {
    operon_parts::leave_out(operon_parts::Part::Rig, &obstacle.to_string());
}
