//! Checks an answer against the universe and the requests, before anyone acts on it.
//!
//! This file is a second opinion: it shares no code with what builds and encodes the space. It reads
//! properties again, tests every need of every operator against the whole answer, and asks of
//! every request whether it is fulfilled. It is slow and plain on purpose.

mod member;
mod needs;
mod running;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use operon_constraint::GroupVersionKind;

use self::member::{Member, additions, installed};
use self::needs::{Needs, native_apis};
pub use self::running::{Fulfilment, RunningOperator, RunningSet};
use crate::budget::Budget;
use crate::resolution::{Addition, Answer, Expense, Failure, Part, Resolution};
use crate::semantics::{Semantics, UpdateSources};
use crate::universe::{Request, Universe};

/// Turns every part whose answer does not stand the check into a defect.
pub(crate) fn check(
    universe: &Universe<'_>,
    requests: &[Request],
    semantics: &Semantics,
    resolution: &mut Resolution,
    budget: &mut Budget,
) {
    let members = members(universe, requests, &resolution.parts);
    let clashes = clashes(&members, semantics);
    let needs = Needs::new(semantics, members.iter().collect());
    for (number, part) in resolution.parts.iter_mut().enumerate() {
        let Ok(answer) = &part.result else { continue };
        let clash = clashes.iter().find(|clash| clash.parts.contains(&number));
        let complaint = complaint(universe, requests, part, answer, number, &needs, budget)
            .map(|complaint| complaint.or_else(|| clash.map(|clash| clash.complaint.clone())));
        match complaint {
            Ok(None) => {}
            Ok(Some(complaint)) => part.result = Err(Failure::Defect(complaint)),
            Err(expense) => part.result = Err(Failure::TooExpensive(expense)),
        }
    }
}

/// Everything that would run: the answers, and in parts without one what is installed.
fn members(universe: &Universe<'_>, requests: &[Request], parts: &[Part]) -> Vec<Member> {
    let mut members = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match &part.result {
            Ok(answer) => {
                members.extend(additions(universe, &answer.additions, number));
                let names = answer.kept.iter().map(|kept| kept.name.as_str());
                members.extend(installed(universe, requests, names, number));
            }
            Err(_) => {
                let names = part.installed.iter().map(String::as_str);
                members.extend(installed(universe, requests, names, number));
            }
        }
    }
    members
}

fn complaint(
    universe: &Universe<'_>,
    requests: &[Request],
    part: &Part,
    answer: &Answer,
    number: usize,
    needs: &Needs<'_>,
    budget: &mut Budget,
) -> Result<Option<String>, Expense> {
    let own: Vec<&Member> =
        needs.members.iter().copied().filter(|member| member.part == number).collect();
    if own.len() != answer.additions.len() + answer.kept.len() {
        let complaint = "an operator of the answer is in no catalog and not installed";
        return Ok(Some(complaint.to_owned()));
    }
    let native = native_apis(universe, needs.semantics);
    for member in own {
        let unmet = needs.unmet(member, native, budget);
        if let Some(complaint) = unmet.map_err(|spent| needs::expense(member, spent, budget))? {
            return Ok(Some(complaint));
        }
    }
    let kept: BTreeSet<&str> = answer.kept.iter().map(|kept| kept.name.as_str()).collect();
    let complaint = part
        .requests
        .iter()
        .find_map(|name| {
            let request = requests.iter().find(|request| request.name == *name)?;
            unfulfilled(universe, request, needs.semantics, part, answer)
        })
        .or_else(|| answer.additions.iter().find_map(|addition| ghost(addition, &kept)));
    Ok(complaint)
}

/// Two operators that may not run side by side.
struct Clash {
    parts: [usize; 2],
    complaint: String,
}

/// Something that one operator may have.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exclusive<'m> {
    Package(&'m str),
    Api(&'m GroupVersionKind),
}

/// Finds all operators that may not run side by side.
fn clashes(members: &[Member], semantics: &Semantics) -> Vec<Clash> {
    let mut holders: BTreeMap<Exclusive<'_>, &Member> = BTreeMap::new();
    let mut clashes = Vec::new();
    for member in members {
        let packages = member.packages.iter().map(|package| Exclusive::Package(package));
        let mut things: Vec<Exclusive<'_>> =
            packages.chain(member.apis.iter().map(Exclusive::Api)).collect();
        if !semantics.repeated_api_clashes {
            things.sort();
            things.dedup();
        }
        for thing in things {
            match holders.entry(thing) {
                Entry::Vacant(vacant) => {
                    vacant.insert(member);
                }
                Entry::Occupied(holder) => {
                    let other = holder.get();
                    clashes.push(Clash {
                        parts: [other.part, member.part],
                        complaint: format!(
                            "{} and {} both have {:?}",
                            other.name,
                            member.name,
                            holder.key()
                        ),
                    });
                }
            }
        }
    }
    clashes
}

/// An operator that is updated cannot stay, and one that is added cannot replace itself.
fn ghost(addition: &Addition, kept: &BTreeSet<&str>) -> Option<String> {
    let stays = kept.contains(addition.updates.as_str());
    stays.then(|| format!("{} stays although {} updates it", addition.updates, addition.name))
}

fn unfulfilled(
    universe: &Universe<'_>,
    request: &Request,
    semantics: &Semantics,
    part: &Part,
    answer: &Answer,
) -> Option<String> {
    let meets = |addition: &&Addition| {
        addition.package == request.package
            && (request.channel.is_empty() || addition.channel == request.channel)
            && may_come_from(addition, request, semantics)
            && is_allowed(universe, request, addition)
            && request
                .allowed
                .as_ref()
                .is_none_or(|allowed| allowed.bundles.contains(&addition.name))
    };
    if answer.additions.iter().any(|addition| meets(&addition)) {
        return None;
    }
    // What stays must be what the request has, or what it took over or moved on to.
    let stays = answer.kept.iter().any(|kept| {
        kept.name == request.installed_csv
            || kept.name == request.current_csv
            || (semantics.adopt_freestanding && part.installed.contains(&kept.name))
    });
    (!stays).then(|| format!("nothing in the answer fulfils the Subscription {}", request.name))
}

fn may_come_from(addition: &Addition, request: &Request, semantics: &Semantics) -> bool {
    request.source.as_ref() == Some(&addition.source)
        || (semantics.updates == UpdateSources::AllVisible && !addition.updates.is_empty())
}

/// A fresh installation starts where the request says; an update must be one that a catalog offers.
fn is_allowed(universe: &Universe<'_>, request: &Request, addition: &Addition) -> bool {
    let current = universe.installed.iter().find(|operator| operator.name == addition.updates);
    let Some(current) = current else {
        return request.starting_csv.is_empty()
            || request.starting_csv == addition.name
            || !request.installed_csv.is_empty();
    };
    let catalog = universe.catalog(&addition.source);
    let Some(entry) = catalog.map(|catalog| catalog.entry_by_id(addition.entry)) else {
        return false;
    };
    let in_range = entry
        .skip_range()
        .and_then(|range| operon_version::VersionRange::parse(range).ok())
        .is_some_and(|range| range.contains(&current.version));
    entry.replaces() == Some(&current.name)
        || entry.skips().any(|name| name == current.name)
        || in_range
}
