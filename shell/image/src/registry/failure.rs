//! A request that failed, and whether another attempt can help.

use std::{error::Error, time::Duration};

use crate::PullError;

/// Why a request failed, with the consequence.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: PullError,
    pub(crate) retry: Retry,
}

/// Whether another attempt can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// The answer will stay the same, for instance "not found".
    Never,
    /// The next attempt may go better, for instance after a broken connection.
    Soon,
    /// The registry says when, for instance with `Retry-After`.
    After(Duration),
}

impl Failure {
    pub(crate) fn soon(error: PullError) -> Self {
        Self { error, retry: Retry::Soon }
    }
}

impl From<PullError> for Failure {
    fn from(error: PullError) -> Self {
        Self { error, retry: Retry::Never }
    }
}

/// Returns the innermost words of an error, with those around them that say more.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        words = source.to_string();
        next = source.source();
    }
    words
}

/// Returns all the words of an error, from the outermost to the innermost.
pub(crate) fn whole_chain(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        words = format!("{words}: {source}");
        next = source.source();
    }
    words
}
