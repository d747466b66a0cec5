//! The plainest possible search: candidates in the documented order, full rewinding, every rule
//! tested by looking at the whole set again.

use std::collections::BTreeSet;

use super::{ModelBundle, NAMESPACE, Need, World};

/// How constraints with parts are read, and where updates come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Documented,
    Upstream,
}

/// An operator that could be in an answer.
#[derive(Debug, Clone)]
struct Operator {
    /// `catalog/channel/name`, or `installed/name`.
    id: String,
    /// The number of the catalog; none for an installed one.
    catalog: Option<usize>,
    channel: String,
    is_default: bool,
    /// The place in its channel, the head first; none if it is skipped.
    place: Option<usize>,
    bundle: ModelBundle,
    replaces: Vec<String>,
    skip_range: bool,
    is_installed: bool,
}

struct Search<'w> {
    world: &'w World,
    reading: Reading,
    operators: Vec<Operator>,
    steps: usize,
}

/// More steps than this and the case is given up.
const MAX_STEPS: usize = 200_000;

/// A node of the search: an operator, or the number of a way to meet a part of a constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Operator(usize),
    Way(usize),
}

/// What a chosen node asks for.
#[derive(Debug, Clone)]
enum Demand {
    /// One of these.
    One(Vec<Node>),
    /// Nothing that meets this.
    None(Need),
}

#[derive(Default, Clone)]
struct State {
    chosen: Vec<Node>,
    queue: Vec<Demand>,
    next: usize,
    /// What ways ask for, by number.
    ways: Vec<Vec<Demand>>,
    forbidden: Vec<Need>,
}

/// Returns the ids of the preferred answer; `Err(true)` when there is none, `Err(false)` when the
/// search was given up.
pub(crate) fn preferred(world: &World, reading: Reading) -> Result<BTreeSet<String>, bool> {
    let mut search = Search { world, reading, operators: operators(world), steps: 0 };
    let mut state = State::default();
    let mut requests: Vec<_> = world.requests.iter().collect();
    requests.sort_by(|left, right| left.name.cmp(&right.name));
    // Requests and freestanding operators come first, then what they ask for, in the same order.
    for request in requests {
        let options = search.options(request);
        state.queue.push(Demand::One(options));
    }
    let mut freestanding: Vec<usize> = (0..search.operators.len())
        .filter(|&number| search.operators[number].is_installed)
        .filter(|&number| {
            let name = search.operators[number].bundle.name();
            !world.requests.iter().any(|request| request.installed == name)
        })
        .collect();
    freestanding.sort_by_key(|&number| search.operators[number].bundle.name());
    for number in freestanding {
        if !search.choose(&mut state, Node::Operator(number)) {
            return Err(true);
        }
    }
    match search.run(state) {
        Some(chosen) => Ok(chosen
            .into_iter()
            .filter_map(|node| match node {
                Node::Operator(number) => Some(search.operators[number].id.clone()),
                Node::Way(_) => None,
            })
            .collect()),
        None => Err(search.steps <= MAX_STEPS),
    }
}

fn operators(world: &World) -> Vec<Operator> {
    let mut operators = Vec::new();
    for installed in &world.installed {
        operators.push(Operator {
            id: format!("installed/{}", installed.bundle.name()),
            catalog: None,
            channel: String::new(),
            is_default: false,
            place: Some(0),
            bundle: installed.bundle.clone(),
            replaces: Vec::new(),
            skip_range: false,
            is_installed: true,
        });
    }
    for (number, catalog) in world.catalogs.iter().enumerate() {
        for package in &catalog.packages {
            for channel in &package.channels {
                let count = channel.entries.len();
                for (position, entry) in channel.entries.iter().enumerate() {
                    let bundle = package.bundles[entry.bundle].clone();
                    let name_of =
                        |position: usize| package.bundles[channel.entries[position].bundle].name();
                    let is_skipped =
                        channel.entries.get(position + 1).is_some_and(|newer| newer.skips_previous);
                    let replaces = match (entry.skips_previous, position) {
                        (true, _) => vec![name_of(position - 1), name_of(position - 2)],
                        (false, 0) => Vec::new(),
                        (false, _) => vec![name_of(position - 1)],
                    };
                    operators.push(Operator {
                        id: format!("{}/{}/{}", catalog.name, channel.name, bundle.name()),
                        catalog: Some(number),
                        channel: channel.name.clone(),
                        is_default: channel.name == package.default_channel,
                        place: (!is_skipped).then_some(count - position),
                        bundle,
                        replaces,
                        skip_range: entry.skip_range.is_some(),
                        is_installed: false,
                    });
                }
            }
        }
    }
    operators
}

impl Search<'_> {
    fn options(&self, request: &super::ModelRequest) -> Vec<Node> {
        let current = (0..self.operators.len()).find(|&number| {
            self.operators[number].is_installed
                && self.operators[number].bundle.name() == request.installed
        });
        let mut found: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (number, operator) in self.operators.iter().enumerate() {
            let (Some(catalog), in_channel) =
                (operator.catalog, operator.channel == request.channel)
            else {
                continue;
            };
            if operator.bundle.package != request.package || !in_channel {
                continue;
            }
            let own = catalog == request.catalog;
            let Some(current) = current.map(|current| &self.operators[current].bundle) else {
                let starts = request.starting.is_empty() && operator.place.is_some()
                    || request.starting == operator.bundle.name();
                if own && starts {
                    found.push((0, 0, operator.place.unwrap_or(0), number));
                }
                continue;
            };
            let by_name = operator.replaces.contains(&current.name());
            let by_range = operator.skip_range && current.version < (2, 0);
            let Some(place) = operator.place.filter(|_| by_name || by_range) else { continue };
            match self.reading {
                Reading::Upstream if own => found.push((0, 0, place, number)),
                Reading::Upstream => {}
                Reading::Documented => {
                    let is_same = operator.bundle.name() == current.name();
                    let is_back = operator.bundle.version < current.version;
                    if is_same || (!by_name && is_back) {
                        continue;
                    }
                    let is_head = place == 1;
                    let precedence = match (by_name, is_head) {
                        (false, true) => 0,
                        (true, _) => 1,
                        (false, false) => 2,
                    };
                    let source = if own { 0 } else { 1 + self.source_rank(catalog) };
                    found.push((source, precedence, place, number));
                }
            }
        }
        found.sort_unstable();
        let updates = found.into_iter().map(|(.., number)| Node::Operator(number));
        updates.chain(current.map(Node::Operator)).collect()
    }

    fn source_rank(&self, catalog: usize) -> usize {
        let key = |number: usize| {
            let catalog = &self.world.catalogs[number];
            (-catalog.priority, catalog.namespace != NAMESPACE, &catalog.name)
        };
        (0..self.world.catalogs.len()).filter(|&other| key(other) < key(catalog)).count()
    }

    /// Returns who meets a need, in order of preference.
    fn candidates(&self, owner: usize, need: &Need) -> Vec<Node> {
        let owner = &self.operators[owner];
        let home = owner.catalog.or_else(|| {
            let name = owner.bundle.name();
            let own = self.world.requests.iter().find(|request| request.installed == name);
            own.filter(|_| self.reading == Reading::Documented).map(|request| request.catalog)
        });
        let mut found: Vec<usize> = (0..self.operators.len())
            .filter(|&number| self.operators[number].place.is_some())
            .filter(|&number| meets(need, &self.operators[number].bundle))
            .collect();
        found.sort_by_key(|&number| {
            let operator = &self.operators[number];
            (
                !operator.is_installed,
                operator.catalog != home,
                operator.catalog.map(|catalog| self.source_rank(catalog)),
                !operator.is_default,
                operator.bundle.package.clone(),
                operator.channel.clone(),
                operator.place,
                operator.bundle.name(),
            )
        });
        found.into_iter().map(Node::Operator).collect()
    }

    fn demands(&self, state: &mut State, node: usize) -> Vec<Demand> {
        let needs = self.operators[node].bundle.needs.clone();
        let mut demands = Vec::new();
        for need in needs {
            if self.reading == Reading::Upstream {
                demands.push(Demand::One(self.candidates(node, &need)));
            } else {
                demands.extend(self.expand(state, node, &need, false));
            }
        }
        demands
    }

    fn expand(&self, state: &mut State, owner: usize, need: &Need, negated: bool) -> Vec<Demand> {
        match (need, negated) {
            (Need::All(parts), false) | (Need::Any(parts), true) => {
                parts.iter().flat_map(|part| self.expand(state, owner, part, negated)).collect()
            }
            (Need::Not(parts), false) => {
                parts.iter().flat_map(|part| self.expand(state, owner, part, true)).collect()
            }
            (Need::All(_), true) | (Need::Any(_), false) | (Need::Not(_), true) => {
                let mut nodes = Vec::new();
                self.alternatives(state, owner, need, negated, &mut nodes);
                vec![Demand::One(nodes)]
            }
            (_, false) => vec![Demand::One(self.candidates(owner, need))],
            (_, true) => vec![Demand::None(need.clone())],
        }
    }

    fn alternatives(
        &self,
        state: &mut State,
        owner: usize,
        need: &Need,
        negated: bool,
        nodes: &mut Vec<Node>,
    ) {
        let (parts, negated) = match (need, negated) {
            (Need::All(parts), true) => (parts, true),
            (Need::Any(parts), false) => (parts, false),
            (Need::Not(parts), true) => (parts, false),
            (Need::All(_) | Need::Not(_), false) | (Need::Any(_), true) => {
                let demands = self.expand(state, owner, need, negated);
                state.ways.push(demands);
                nodes.push(Node::Way(state.ways.len() - 1));
                return;
            }
            (_, false) => {
                nodes.extend(self.candidates(owner, need));
                return;
            }
            (_, true) => {
                state.ways.push(vec![Demand::None(need.clone())]);
                nodes.push(Node::Way(state.ways.len() - 1));
                return;
            }
        };
        for part in parts {
            self.alternatives(state, owner, part, negated, nodes);
        }
    }

    /// Adds a node to a state; tells whether the set still fits together.
    fn choose(&self, state: &mut State, node: Node) -> bool {
        state.chosen.push(node);
        let demands = match node {
            Node::Operator(number) => self.demands(state, number),
            Node::Way(number) => state.ways[number].clone(),
        };
        for demand in demands {
            match demand {
                Demand::None(need) => state.forbidden.push(need),
                one @ Demand::One(_) => state.queue.push(one),
            }
        }
        self.fits(state)
    }

    fn fits(&self, state: &State) -> bool {
        let chosen: Vec<&Operator> = state
            .chosen
            .iter()
            .filter_map(|node| match node {
                Node::Operator(number) => Some(&self.operators[*number]),
                Node::Way(_) => None,
            })
            .collect();
        for (place, left) in chosen.iter().enumerate() {
            let may_stay = self.reading == Reading::Documented && left.is_installed;
            if left.bundle.deprecated && !may_stay {
                return false;
            }
            if state.forbidden.iter().any(|need| meets(need, &left.bundle)) {
                return false;
            }
            for right in &chosen[place + 1..] {
                let shared = left.bundle.apis.iter().any(|api| right.bundle.apis.contains(api));
                if shared || left.bundle.package == right.bundle.package {
                    return false;
                }
            }
        }
        true
    }

    fn run(&mut self, state: State) -> Option<Vec<Node>> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return None;
        }
        let Some(demand) = state.queue.get(state.next) else { return Some(state.chosen) };
        let Demand::One(nodes) = demand.clone() else { return None };
        if nodes.iter().any(|node| state.chosen.contains(node)) {
            return self.run(State { next: state.next + 1, ..state });
        }
        for node in nodes {
            let mut next = state.clone();
            next.next += 1;
            if self.choose(&mut next, node)
                && let Some(found) = self.run(next)
            {
                return Some(found);
            }
        }
        None
    }
}

fn meets(need: &Need, bundle: &ModelBundle) -> bool {
    match need {
        Need::Api(api) => bundle.apis.contains(api),
        Need::Package(package, range) => {
            bundle.package == *package && range.contains(bundle.version)
        }
        Need::Label(label) => bundle.label == Some(*label),
        Need::All(parts) => parts.iter().all(|part| meets(part, bundle)),
        Need::Any(parts) => parts.iter().any(|part| meets(part, bundle)),
        Need::Not(parts) => !parts.iter().any(|part| meets(part, bundle)),
    }
}
