//! The updates of every place at once, for questions that are asked of each version in turn.
//!
//! A survey holds the successors of all places, so each further question costs no search of ranges.

use super::{Installed, Routes, reached::Reached};
use crate::graph::MAX_SEARCH_EDGES;

/// How many pairs of a place and an entry a survey looks at; a channel of 4,000 entries has 16
/// million, the largest real package a few thousand.
pub const MAX_SURVEY_STEPS: usize = MAX_SEARCH_EDGES / 10;

/// The successors of every place of some routes.
#[derive(Debug)]
pub struct Survey<'r, 'a> {
    routes: &'r Routes<'a>,
    successors: Vec<Vec<usize>>,
    next: Vec<Option<usize>>,
    /// Whether the head of one of the channels can be reached.
    leads_to_head: Vec<bool>,
}

/// How an installed operator stands in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The update that is offered.
    pub next: Option<usize>,
    /// Where automatic updates end; `None` when none is offered.
    pub end: Option<usize>,
    /// How many automatic updates there are.
    pub hops: u32,
    /// Whether updates lead to the head of one of the channels, automatic or not.
    pub reaches_head: bool,
}

impl<'r, 'a> Survey<'r, 'a> {
    /// Surveys routes; `None` beyond [`MAX_SURVEY_STEPS`].
    pub fn new(routes: &'r Routes<'a>) -> Option<Self> {
        let places = routes.places().len();
        if places.saturating_mul(routes.entry_count()) > MAX_SURVEY_STEPS {
            return None;
        }
        let successors: Vec<Vec<usize>> =
            (0..places).map(|place| routes.successors(&routes.at(place))).collect();
        let next = successors
            .iter()
            .enumerate()
            .map(|(place, successors)| routes.choose(Some(place), successors))
            .collect();
        let leads_to_head = leads_to(&successors, &routes.heads());
        Some(Self { routes, successors, next, leads_to_head })
    }

    /// Returns the surveyed routes.
    pub fn routes(&self) -> &'r Routes<'a> {
        self.routes
    }

    /// Returns the places an installed operator can be updated to, the preferred one first.
    pub fn successors(&self, installed: &Installed) -> Vec<usize> {
        match self.routes.place(&installed.name) {
            Some(place) => self.successors[place].clone(),
            None => self.routes.successors(installed),
        }
    }

    /// Tells how an installed operator stands.
    pub fn standing(&self, installed: &Installed) -> Standing {
        let here = self.routes.place(&installed.name);
        let (next, reaches_head) = match here {
            Some(place) => (self.next[place], self.leads_to_head[place]),
            None => {
                let successors = self.routes.successors(installed);
                let reaches_head = successors.iter().any(|&place| self.leads_to_head[place]);
                (self.routes.choose(None, &successors), reaches_head)
            }
        };
        let mut been = vec![false; self.next.len()];
        if let Some(place) = here {
            been[place] = true;
        }
        let mut standing = Standing { next, end: None, hops: 0, reaches_head };
        let mut upcoming = next;
        while let Some(place) = upcoming
            && !std::mem::replace(&mut been[place], true)
        {
            standing.end = Some(place);
            standing.hops += 1;
            upcoming = self.next[place];
        }
        standing
    }

    /// Returns how many updates each place is away from an installed operator.
    pub(super) fn reach(&self, installed: &Installed, reached: &Reached) -> Vec<(u32, u32)> {
        let here = self.routes.place(&installed.name);
        reached.search(here, &self.successors(installed))
    }

    /// Prepares searches from many places.
    pub(super) fn searches(&self) -> Reached {
        Reached::new(&self.successors)
    }
}

/// Finds the places from which one of the targets can be reached.
fn leads_to(successors: &[Vec<usize>], targets: &[usize]) -> Vec<bool> {
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); successors.len()];
    for (place, next) in successors.iter().enumerate() {
        for &target in next {
            predecessors[target].push(place);
        }
    }
    let mut leads = vec![false; successors.len()];
    let mut waiting: Vec<usize> = targets.to_vec();
    while let Some(place) = waiting.pop() {
        if !std::mem::replace(&mut leads[place], true) {
            waiting.extend(&predecessors[place]);
        }
    }
    leads
}
