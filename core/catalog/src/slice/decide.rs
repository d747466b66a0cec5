//! One decision: from rules to channels, from channels to bundles, from bundles to what they require,
//! until nothing is missing.
//!
//! What is wanted only ever grows, so the work ends at the latest when everything is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cause, ChannelPlan, EntryPlan, KeepRule, KeptVersions, LeftOut, LeftOutReason, MAX_SLICE_STEPS,
    PackagePlan, Provision, Repair, SliceError, SliceOptions, SlicePlan, UnmetRequirement,
    close::{Closed, close},
    depend::{Need, needs_of},
    draft::{ChannelDraft, Draft, PackageDraft},
};
use crate::{Bundle, BundleId, Catalog};

/// The outcome of one decision.
pub(super) struct Round<'a> {
    pub(super) draft: Draft<'a>,
    pub(super) repairs: Vec<Repair>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) provisions: Vec<Provision<'a>>,
    pub(super) unmet: Vec<UnmetRequirement<'a>>,
}

/// Decides what to keep of a draft.
pub(super) fn decide<'a>(
    catalog: &'a Catalog,
    draft: &Draft<'a>,
    options: &SliceOptions,
) -> Result<Round<'a>, SliceError> {
    let mut decision = Decision {
        catalog,
        draft,
        wanted: BTreeMap::new(),
        closed: BTreeMap::new(),
        kept: BTreeSet::new(),
        installable: BTreeSet::new(),
        waiting: BTreeSet::new(),
        candidates: BTreeMap::new(),
        settled: BTreeSet::new(),
        left_out: Vec::new(),
        provisions: Vec::new(),
        unmet: Vec::new(),
        steps: 0,
    };
    for rule in &options.rules {
        decision.apply(rule)?;
    }
    let wanted: Vec<ChannelKey<'a>> = decision.wanted.keys().copied().collect();
    for key in wanted {
        decision.close(key)?;
    }
    while options.with_dependencies
        && let Some(bundle) = decision.waiting.pop_first()
    {
        decision.provide_for(catalog.bundle_by_id(bundle))?;
    }
    Ok(decision.finish())
}

/// A package and a channel of it.
type ChannelKey<'a> = (&'a str, &'a str);

struct Decision<'d, 'a> {
    catalog: &'a Catalog,
    draft: &'d Draft<'a>,
    /// Positions in the channel's entries.
    wanted: BTreeMap<ChannelKey<'a>, BTreeMap<usize, Cause>>,
    closed: BTreeMap<ChannelKey<'a>, Closed<'a>>,
    kept: BTreeSet<BundleId>,
    /// Kept bundles that a resolver may choose.
    installable: BTreeSet<BundleId>,
    /// Kept bundles whose requirements were not looked at yet.
    waiting: BTreeSet<BundleId>,
    /// The bundles that meet a need, by its key.
    candidates: BTreeMap<String, Vec<BundleId>>,
    /// Needs that were looked at, by key and requiring package.
    settled: BTreeSet<(String, &'a str)>,
    left_out: Vec<LeftOut>,
    provisions: Vec<Provision<'a>>,
    unmet: Vec<UnmetRequirement<'a>>,
    steps: usize,
}

impl<'a> Decision<'_, 'a> {
    /// Notes what a rule asks for.
    fn apply(&mut self, rule: &KeepRule) -> Result<(), SliceError> {
        let draft = self.draft;
        let package = draft
            .packages
            .get(rule.package.as_str())
            .ok_or_else(|| SliceError::UnknownPackage(rule.package.clone()))?;
        let channels: Vec<&ChannelDraft<'a>> = match &rule.channel {
            None => package.channels.values().collect(),
            Some(name) => {
                let found = package.channels.get(name.as_str());
                let unknown = || SliceError::UnknownChannel {
                    package: rule.package.clone(),
                    channel: name.clone(),
                };
                vec![found.ok_or_else(unknown)?]
            }
        };
        let mut matches_something = false;
        let mut skipped: BTreeSet<&'a str> = BTreeSet::new();
        for channel in channels {
            let positions = matching(channel, &rule.versions);
            let wants_head = rule.versions == KeptVersions::Head;
            if channel.order.is_empty() && (wants_head || !positions.is_empty()) {
                return Err(SliceError::BrokenChannel {
                    package: rule.package.clone(),
                    channel: channel.channel.name().to_owned(),
                });
            }
            for entry in positions.iter().map(|&position| &channel.entries[position]) {
                if draft.ranks.contains_key(&entry.entry.id()) {
                    matches_something = true;
                } else {
                    skipped.insert(entry.name());
                }
            }
            if !positions.is_empty() {
                let key = (package.package.name(), channel.channel.name());
                let asked = positions.into_iter().map(|position| (position, Cause::Asked));
                self.wanted.entry(key).or_default().extend(asked);
            }
        }
        if matches_something {
            return Ok(());
        }
        let skipped = skipped.into_iter().map(str::to_owned).collect();
        Err(SliceError::NothingMatches { rule: rule.to_string(), skipped })
    }

    /// Works out what has to be kept of a channel for what is wanted of it.
    fn close(&mut self, key: ChannelKey<'a>) -> Result<(), SliceError> {
        let draft = self.draft;
        let channel = &draft.packages[key.0].channels[key.1];
        let wanted = &self.wanted[&key];
        let Some(closed) = close(channel, wanted, &mut self.steps)? else {
            self.left_out.extend(wanted.keys().map(|&position| LeftOut {
                package: key.0.to_owned(),
                channel: key.1.to_owned(),
                name: channel.entries[position].name().to_owned(),
                reason: LeftOutReason::NothingInstallable,
            }));
            return Ok(());
        };
        for bundle in closed.channel.entries.iter().filter_map(|entry| entry.entry.bundle()) {
            if self.kept.insert(bundle.id()) {
                self.waiting.insert(bundle.id());
            }
        }
        let order = closed.channel.order.iter();
        let installable = order.filter_map(|&entry| closed.channel.entries[entry].entry.bundle());
        self.installable.extend(installable.map(Bundle::id));
        self.closed.insert(key, closed);
        Ok(())
    }

    /// Keeps what a bundle requires.
    fn provide_for(&mut self, bundle: Bundle<'a>) -> Result<(), SliceError> {
        let mut needs = needs_of(bundle);
        needs.reverse();
        while let Some(need) = needs.pop() {
            if need.only_forbids() {
                continue;
            }
            let candidates = self.candidates(&need)?;
            let package = bundle.package().name();
            // A bundle may meet its own requirement, but not that of another version of itself.
            if candidates.contains(&bundle.id())
                || !self.settled.insert((need.key.clone(), package))
            {
                continue;
            }
            let others: Vec<Bundle<'a>> = candidates
                .iter()
                .map(|&id| self.catalog.bundle_by_id(id))
                .filter(|candidate| candidate.package().name() != package)
                .collect();
            if others.iter().any(|candidate| self.installable.contains(&candidate.id())) {
                continue;
            }
            if let Some(provider) = self.preferred(&others) {
                self.add(provider, &need, bundle)?;
            } else if let Some(parts) = need.parts() {
                needs.extend(parts.into_iter().rev());
            } else {
                self.unmet.push(UnmetRequirement { requirement: need.text, required_by: bundle });
            }
        }
        Ok(())
    }

    fn candidates(&mut self, need: &Need<'_>) -> Result<Vec<BundleId>, SliceError> {
        if let Some(known) = self.candidates.get(&need.key) {
            return Ok(known.clone());
        }
        self.steps = self.steps.saturating_add(need.cost(self.catalog));
        if self.steps > MAX_SLICE_STEPS {
            return Err(SliceError::TooLarge);
        }
        let found: Vec<BundleId> =
            need.candidates(self.catalog).into_iter().map(Bundle::id).collect();
        self.candidates.insert(need.key.clone(), found.clone());
        Ok(found)
    }

    /// Picks the bundle a resolver would prefer: default channels first, then by package and channel,
    /// and in a channel the nearest to the head. Bundles that are skipped everywhere are never picked.
    fn preferred(&self, candidates: &[Bundle<'a>]) -> Option<(ChannelKey<'a>, usize)> {
        let entries = candidates.iter().flat_map(|candidate| candidate.entries());
        let ranked = entries.filter_map(|entry| {
            let rank = *self.draft.ranks.get(&entry.id())?;
            let channel = entry.channel();
            let package = channel.package().name();
            let default = self.draft.packages.get(package)?.default_channel;
            Some((default != channel.name(), package, channel.name(), rank))
        });
        let (_, package, channel, rank) = ranked.min()?;
        Some(((package, channel), rank))
    }

    fn add(
        &mut self,
        (key, rank): (ChannelKey<'a>, usize),
        need: &Need<'_>,
        required_by: Bundle<'a>,
    ) -> Result<(), SliceError> {
        let channel = &self.draft.packages[key.0].channels[key.1];
        let position = channel.order[rank];
        self.wanted.entry(key).or_default().entry(position).or_insert(Cause::Required);
        if let Some(bundle) = channel.entries[position].entry.bundle() {
            self.provisions.push(Provision {
                channel: channel.channel,
                bundle,
                requirement: need.text.clone(),
                required_by,
            });
        }
        self.close(key)
    }

    fn finish(self) -> Round<'a> {
        let mut repairs = Vec::new();
        let mut left_out = self.left_out;
        let mut channels: BTreeMap<&'a str, BTreeMap<&'a str, ChannelDraft<'a>>> = BTreeMap::new();
        for ((package, name), closed) in self.closed {
            repairs.extend(closed.repairs);
            left_out.extend(closed.left_out);
            channels.entry(package).or_default().insert(name, closed.channel);
        }
        // A channel that a dependency opened again has reported more than once.
        left_out.retain(|left_out| {
            left_out.reason != LeftOutReason::NothingInstallable
                || !channels
                    .get(left_out.package.as_str())
                    .is_some_and(|channels| channels.contains_key(left_out.channel.as_str()))
        });
        let mut draft = Draft::default();
        for (name, channels) in channels {
            let before = &self.draft.packages[name];
            let default_channel = default_channel(before.default_channel, &channels);
            if default_channel != before.default_channel {
                repairs.push(Repair::DefaultChannel {
                    package: name.to_owned(),
                    before: before.default_channel.to_owned(),
                    after: default_channel.to_owned(),
                });
            }
            draft.insert(PackageDraft { package: before.package, default_channel, channels });
        }
        Round { draft, repairs, left_out, provisions: self.provisions, unmet: self.unmet }
    }
}

/// Returns the positions of the entries that a rule asks for.
fn matching(channel: &ChannelDraft<'_>, versions: &KeptVersions) -> Vec<usize> {
    match versions {
        KeptVersions::All => (0..channel.entries.len()).collect(),
        KeptVersions::Head => channel.order.first().copied().into_iter().collect(),
        KeptVersions::Range(range) => (0..channel.entries.len())
            .filter(|&position| {
                let bundle = channel.entries[position].entry.bundle();
                let version = bundle.and_then(Bundle::version);
                version.is_some_and(|version| range.contains(&version))
            })
            .collect(),
    }
}

/// Returns the default channel if it is kept, else the kept channel with the highest head.
fn default_channel<'a>(before: &'a str, channels: &BTreeMap<&'a str, ChannelDraft<'a>>) -> &'a str {
    if channels.contains_key(before) {
        return before;
    }
    let head = |channel: &ChannelDraft<'a>| {
        channel.order.first().map_or(0, |&head| channel.entries[head].version_rank())
    };
    let highest =
        channels.iter().max_by_key(|(name, channel)| (head(channel), std::cmp::Reverse(**name)));
    highest.map_or(before, |(name, _)| name)
}

impl<'a> Round<'a> {
    /// Tells whether deciding about a draft gave the draft itself.
    pub(super) fn changes_nothing_of(&self, before: &Draft<'a>) -> bool {
        self.repairs.is_empty() && self.left_out.is_empty() && self.draft.size() == before.size()
    }

    /// Turns the last draft into a plan.
    pub(super) fn into_plan(self, catalog: &'a Catalog) -> SlicePlan<'a> {
        let packages = self.draft.packages.into_values().map(|package| {
            let channels: Vec<ChannelPlan<'a>> =
                package.channels.into_values().map(plan_channel).collect();
            let entries = channels.iter().flat_map(|channel| &channel.entries);
            let bundles: BTreeMap<BundleId, Bundle<'a>> = entries
                .filter_map(|entry| entry.entry.bundle())
                .map(|bundle| (bundle.id(), bundle))
                .collect();
            let name = package.package.name();
            PackagePlan {
                package: package.package,
                default_channel: package.default_channel,
                bundles: bundles.into_values().collect(),
                others: catalog.others().filter(|other| other.package == name).collect(),
                channels,
            }
        });
        SlicePlan {
            packages: packages.collect(),
            repairs: self.repairs,
            left_out: self.left_out,
            provisions: self.provisions,
            unmet: self.unmet,
        }
    }
}

fn plan_channel(channel: ChannelDraft<'_>) -> ChannelPlan<'_> {
    let head = channel.order.first().map_or("", |&head| channel.entries[head].name());
    let entries = channel.entries.into_iter().map(|entry| EntryPlan {
        entry: entry.entry,
        replaces: entry.replaces,
        added_skips: entry.added_skips,
        cause: entry.cause,
    });
    ChannelPlan { channel: channel.channel, head, entries: entries.collect() }
}
