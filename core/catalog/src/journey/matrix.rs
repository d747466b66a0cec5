//! From every version to every version: how many updates, where automatic updates end, who is
//! stranded.
//!
//! Tables hold positions, not texts; how a matrix looks is the business of whoever prints it.

use std::{error::Error, fmt};

use operon_version::Version;

use super::{Installed, NoWay, Origin, Routes, Survey};
use crate::{Bundle, Channel, Package, graph::Rules};

/// How many pairs of an installed version and a target a matrix may have over all its tables; the
/// largest real package has a third of a million.
pub const MAX_MATRIX_CELLS: usize = 4_000_000;

/// What every version of a package can be updated to.
#[derive(Debug)]
pub struct Matrix<'a> {
    /// The package.
    pub package: Package<'a>,
    /// The versions that may be installed, the oldest first.
    pub installed: Vec<Installed>,
    /// A table for each channel and set of rules; last, under OLM v1, all channels together.
    pub tables: Vec<MatrixTable<'a>>,
}

/// The updates of one channel, or of several together, under one set of rules.
#[derive(Debug)]
pub struct MatrixTable<'a> {
    /// The channels.
    pub channels: Vec<Channel<'a>>,
    /// Whose rules apply.
    pub rules: Rules,
    /// What can be reached, the oldest first.
    pub targets: Vec<MatrixTarget<'a>>,
    /// A row for each version that is in the channels or has a way into them.
    pub rows: Vec<MatrixRow>,
}

/// A version that may be reached.
#[derive(Debug, Clone)]
pub struct MatrixTarget<'a> {
    /// The name of the entry.
    pub name: &'a str,
    /// Its bundle, if the catalog has it.
    pub bundle: Option<Bundle<'a>>,
    /// Whether it is the head of a channel.
    pub is_head: bool,
}

/// What one installed version can be updated to.
#[derive(Debug, Clone)]
pub struct MatrixRow {
    /// The position of the version in [`Matrix::installed`].
    pub installed: usize,
    /// The positions in [`MatrixTable::targets`] that can be reached, in order, and in how many
    /// updates; itself is 0 updates away.
    pub reach: Vec<(usize, u32)>,
    /// Where automatic updates end, as a position in [`MatrixTable::targets`]; `None` when nothing
    /// is offered.
    pub end: Option<usize>,
    /// How many automatic updates there are.
    pub automatic_hops: u32,
    /// Why a published version of these channels cannot get to the head of any of them.
    pub stranded: Option<NoWay>,
}

/// Why there is no matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatrixError {
    /// The package is too large to ask about all its versions at once.
    TooLarge {
        /// How many cells the matrix would have.
        cells: usize,
    },
}

impl fmt::Display for MatrixError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatrixError::TooLarge { cells } => write!(
                formatter,
                "the matrix would have {cells} cells, and the limit is {MAX_MATRIX_CELLS}; choose \
                 one channel, or ask about single versions"
            ),
        }
    }
}

impl Error for MatrixError {}

/// Works out the matrix of a package over some of its channels.
pub fn matrix<'a>(
    package: Package<'a>,
    channels: &[Channel<'a>],
    rules: &[Rules],
) -> Result<Matrix<'a>, MatrixError> {
    let installed = Installed::all(package);
    let mut routes: Vec<Routes<'a>> = Vec::new();
    for &channel in channels {
        routes.extend(rules.iter().map(|&rules| Routes::of_channel(channel, rules)));
    }
    if channels.len() > 1 && rules.contains(&Rules::V1) {
        routes.push(Routes::v1(channels.iter().copied()));
    }
    // Entries without a bundle are places to be, but no version that anybody has.
    let size =
        |routes: &Routes<'_>| routes.entry_count() * installed.len().max(routes.places().len());
    let cells = routes.iter().map(size).fold(0, usize::saturating_add);
    if cells > MAX_MATRIX_CELLS {
        return Err(MatrixError::TooLarge { cells });
    }
    let tables = routes.iter().map(|routes| {
        let survey = Survey::new(routes).ok_or(MatrixError::TooLarge { cells })?;
        Ok(table(&survey, &installed))
    });
    let tables = tables.collect::<Result<_, _>>()?;
    Ok(Matrix { package, installed, tables })
}

fn table<'a>(survey: &Survey<'_, 'a>, installed: &[Installed]) -> MatrixTable<'a> {
    let routes = survey.routes();
    let searches = survey.searches();
    let heads = routes.heads();
    let by_age = places_by_age(routes);
    let mut column = vec![0; by_age.len()];
    for (position, &place) in by_age.iter().enumerate() {
        column[place] = position;
    }
    let mut rows = Vec::new();
    for (position, version) in installed.iter().enumerate() {
        let here = routes.place(&version.name);
        let mut reach: Vec<(usize, u32)> = survey
            .reach(version, &searches)
            .into_iter()
            .map(|(place, hops)| (column[place as usize], hops))
            .collect();
        if here.is_none() && reach.is_empty() {
            continue;
        }
        reach.sort_unstable();
        let standing = survey.standing(version);
        let is_stranded = here.is_some()
            && version.origin == Origin::Published
            && !standing.reaches_head
            // OLM v1 follows a channel without a head all the same.
            && (!heads.is_empty() || routes.defect().is_some());
        rows.push(MatrixRow {
            installed: position,
            reach,
            end: standing.end.map(|place| column[place]),
            automatic_hops: standing.hops,
            stranded: is_stranded.then(|| why_stranded(routes, version, standing.end)),
        });
    }
    let targets = by_age.iter().map(|&place| MatrixTarget {
        name: routes.places()[place],
        bundle: routes.entry(place).bundle(),
        is_head: heads.contains(&place),
    });
    MatrixTable {
        channels: routes.channels().to_vec(),
        rules: routes.rules(),
        targets: targets.collect(),
        rows,
    }
}

/// Explains the way that is missing to the head of the first channel that has the version.
fn why_stranded(routes: &Routes<'_>, version: &Installed, end: Option<usize>) -> NoWay {
    let having = routes.channels().iter().filter(|channel| channel.entry(&version.name).is_some());
    let head = having.filter_map(|channel| channel.head()).next();
    // Without a head the reason is that there is none.
    let name = head.map_or("head", |head| head.name());
    let bundle = head.and_then(|head| head.bundle());
    let head = bundle.map_or_else(|| Installed::mentioned(name), Installed::published);
    NoWay::explain_end(routes, version, &head, end)
}

fn places_by_age(routes: &Routes<'_>) -> Vec<usize> {
    let mut places: Vec<(Option<Version>, u32, usize)> = (0..routes.places().len())
        .map(|place| {
            let bundle = routes.entry(place).bundle();
            let rank = bundle.map_or(0, Bundle::version_rank);
            (routes.at(place).version, rank, place)
        })
        .collect();
    places.sort();
    places.into_iter().map(|(_, _, place)| place).collect()
}
