//! Why a version is not in a plan: one check after another, each made by looking or by asking again.

use operon_catalog::{Bundle, Channel, Entry};
use operon_kinds::{Pin, Subscription};
use operon_lifecycle::views::PreviewPlan;
use operon_object::known;
use operon_resolve::{Reason, Request};

use super::Target;
use crate::{
    explanation::Told,
    plan::{
        Blocked, Change, PlanView, Question, Row, Situation, follow, generations, subscriptions,
    },
    why::{
        label, rows_named,
        suppose::{Supposed, current_of_request, suppose, suppose_followed, without_limits},
        way::{Way, is_offered, never_installed, way},
    },
};

/// What is told.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) sentences: Vec<String>,
    /// Whether it could be; unknown where that was not tried.
    pub(super) possible: Option<bool>,
    pub(super) told: Option<Told>,
}

impl Answer {
    fn note_block(&mut self, message: &str) {
        self.possible = Some(false);
        self.sentences.push(format!("Nothing is resolved in this namespace: {message}."));
    }
}

/// The reason of a Subscription that is paused.
const PAUSED: &str = "Paused";

/// A question about a target, and all that is known.
pub(super) struct Inquiry<'i, 's> {
    pub(super) situation: &'i Situation,
    pub(super) question: &'i Question<'s>,
    pub(super) plan: &'i PlanView,
    pub(super) target: &'i Target<'i>,
}

impl<'i> Inquiry<'i, '_> {
    /// Finds out why the target is not in the plan.
    pub(super) fn answer(&self) -> Answer {
        let package = self.target.package.name();
        let rows = rows_named(self.plan, package);
        let is_asked =
            |row: &&&Row| self.target.bundle.is_none_or(|bundle| bundle.name() == row.name);
        if let Some(row) = rows.iter().find(is_asked) {
            return self.in_the_plan(row);
        }
        if let Some(subscription) = subscriptions(self.situation, package).next() {
            let subscription = Subscription::read(subscription);
            let limited = self.blocked(subscription).or_else(|| self.limited(subscription));
            if let Some(answer) = limited {
                return answer;
            }
        }
        let request = self.question.requests.iter().find(|request| request.package == package);
        if let Some(request) = request
            && let Some(answer) = self.unanswered(request)
        {
            return answer;
        }
        match (request, self.target.bundle) {
            (Some(request), Some(bundle)) => self.version_of_request(request, bundle),
            (Some(_), None) | (None, None) => self.package_nobody_asks_for(),
            (None, Some(bundle)) => self.version_nobody_asks_for(rows.first().copied(), bundle),
        }
    }

    /// The target is in the plan, which may wait for an approval or fail.
    fn in_the_plan(&self, row: &Row) -> Answer {
        let package = self.target.package.name();
        let brings = |plan: &&PreviewPlan| {
            plan.operators.iter().any(|operator| operator.addition.name == row.name)
        };
        let plan = self.plan.plans.iter().find(brings);
        let what = label(row);
        if let Some(plan) = plan
            && !plan.refusals.is_empty()
        {
            let refusals = plan.refusals.join("; ");
            let sentence =
                format!("{what} is in InstallPlan {}, which would fail: {refusals}.", plan.name);
            return Answer { sentences: vec![sentence], possible: Some(false), told: None };
        }
        let sentence = match (plan.filter(|plan| plan.waits), self.target.bundle) {
            (Some(plan), _) => format!(
                "{what} is in InstallPlan {name}, which waits for approval: operon approve {name}{}.",
                self.situation.options(),
                name = plan.name
            ),
            (None, Some(_)) => format!("{what} is in the plan: operon why {package} tells why."),
            (None, None) => format!(
                "{what} is in the plan; name the version that you miss: operon why-not \
                 {package}@VERSION."
            ),
        };
        Answer { sentences: vec![sentence], possible: Some(true), told: None }
    }

    /// The Subscription is kept from moving on, by more than its pin or pause.
    fn blocked(&self, subscription: Subscription<'_>) -> Option<Answer> {
        let name = subscription.name();
        let is_own = |blocked: &&Blocked| blocked.subscription == name && blocked.reason != PAUSED;
        let blocked = self.plan.held.iter().chain(&self.plan.failed).find(is_own);
        let sentence = match blocked {
            Some(blocked) => format!("Subscription {name} is blocked: {}.", blocked.message),
            None if self.plan.busy.iter().any(|busy| busy == name) => {
                format!(
                    "An operation is in progress for Subscription {name}; ask again when it has ended."
                )
            }
            None => return None,
        };
        Some(Answer { sentences: vec![sentence], possible: None, told: None })
    }

    /// The Subscription is pinned or paused: says whether the target would be installed otherwise.
    fn limited(&self, subscription: Subscription<'_>) -> Option<Answer> {
        let name = subscription.name();
        let package = self.target.package.name();
        let options = self.situation.options();
        let pin = match subscription.pin() {
            Some(Ok(pin)) => Some(pin),
            Some(Err(_)) | None => None,
        };
        let limit = match (subscription.is_paused(), pin) {
            (true, _) => format!("is paused (operon pause {package} --off{options})"),
            (false, Some(pin)) if self.excludes(&pin) => {
                format!("is pinned to {pin} (operon pin {package} --off{options})")
            }
            (false, _) => return None,
        };
        let situation = without_limits(self.situation, name);
        let generations = generations(&situation);
        let is_target = |row: &&Row| match self.target.bundle {
            Some(bundle) => row.name == bundle.name(),
            None => row.package == package && row.change != Change::Keep,
        };
        let reached = generations.plans.iter().flat_map(|plan| &plan.rows).find(is_target);
        if let Some(row) = reached {
            let sentence = format!("{} is available, but Subscription {name} {limit}.", label(row));
            return Some(Answer { sentences: vec![sentence], possible: Some(true), told: None });
        }
        // Without the limit it is not installed either: the other reasons count, too.
        let world = situation.world();
        let question = situation.question(&world);
        let plan = PlanView::new(&situation, &question);
        let inquiry = Inquiry {
            situation: &situation,
            question: &question,
            plan: &plan,
            target: self.target,
        };
        let mut answer = inquiry.answer();
        answer.sentences.insert(0, format!("Subscription {name} {limit}. Without that:"));
        Some(answer)
    }

    /// Returns `true` if a pin does not allow the target.
    fn excludes(&self, pin: &Pin) -> bool {
        let version = self.target.bundle.and_then(Bundle::version);
        version.is_none_or(|version| !pin.allows(&version))
    }

    /// The part that the Subscription belongs to has no answer.
    fn unanswered(&self, request: &Request) -> Option<Answer> {
        let holds = |names: &[String]| names.contains(&request.name);
        let part = self.plan.unanswered.iter().find(|part| holds(&part.requests))?;
        let sentence = format!(
            "Subscription {} asks for {}, and the part of the namespace that it belongs to has no \
             answer:",
            request.name, request.package
        );
        let told = Some(part.told.clone());
        Some(Answer { sentences: vec![sentence], possible: Some(false), told })
    }

    fn package_nobody_asks_for(&self) -> Answer {
        let package = self.target.package.name();
        let mut answer = Answer::default();
        answer.sentences.push(self.nobody_asks(package));
        let head = self.target.package.default_channel().and_then(Channel::head);
        let Some(head) = head else { return answer };
        match suppose_followed(self.situation, self.target.source, head) {
            Supposed::Possible(plan) => {
                answer.possible = Some(true);
                let found = rows_named(&plan, package).into_iter().next();
                let version = found.map_or_else(|| package.to_owned(), label);
                answer.sentences.push(format!(
                    "A Subscription to it would give {version}: operon plan --subscribe {package} \
                     shows what comes with it."
                ));
            }
            Supposed::Impossible(told) => {
                answer.possible = Some(false);
                answer.sentences.push("A Subscription to it would have no answer:".to_owned());
                answer.told = Some(told);
            }
            Supposed::Blocked(message) => answer.note_block(&message),
        }
        answer
    }

    fn nobody_asks(&self, what: &str) -> String {
        format!(
            "Nothing asks for {what}: no Subscription in namespace {} names it, and no operator of \
             the plan needs it.",
            self.situation.namespace
        )
    }

    fn version_nobody_asks_for(&self, row: Option<&Row>, bundle: Bundle<'i>) -> Answer {
        let mut answer = Answer::default();
        let wanted = bundle_label(bundle);
        answer.sentences.push(match row {
            Some(row) => format!(
                "{wanted} is not in the plan, {} is: no Subscription in namespace {} says which \
                 version it should be.",
                label(row),
                self.situation.namespace
            ),
            None => self.nobody_asks(&wanted),
        });
        let followed = row.map(|row| row.channel.as_str());
        if let Some(entry) = self.offered_entry(&mut answer, bundle, followed) {
            self.take_exactly(&mut answer, row, entry);
        }
        answer
    }

    fn version_of_request(&self, request: &Request, bundle: Bundle<'i>) -> Answer {
        let mut answer = Answer::default();
        let current = current_of_request(self.plan, request);
        if current.as_deref() == Some(bundle.name()) {
            let wanted = bundle_label(bundle);
            answer.sentences.push(format!("{wanted} runs now, and the plan moves on from it."));
        }
        let followed = Some(request.channel.as_str()).filter(|name| !name.is_empty());
        let is_elsewhere = self.tell_channel(&mut answer, request, bundle);
        let Some(entry) = self.offered_entry(&mut answer, bundle, followed) else { return answer };
        let wanted = Reason::Requested(request.name.clone());
        let chosen = self.plan.rows.iter().find(|row| row.reasons.contains(&wanted));
        match current.filter(|current| current != bundle.name()) {
            None => self.take_exactly(&mut answer, chosen, entry),
            Some(current) => {
                if self.tell_way(&mut answer, &current, entry)
                    && !self.is_reached(&mut answer, request, entry, is_elsewhere)
                {
                    self.take_exactly(&mut answer, chosen, entry);
                }
            }
        }
        answer
    }

    /// Says so if the channel that a Subscription follows does not list a bundle.
    fn tell_channel(&self, answer: &mut Answer, request: &Request, bundle: Bundle<'_>) -> bool {
        let follows =
            |channel: Channel<'_>| request.channel.is_empty() || channel.name() == request.channel;
        let is_own = request.source.as_ref() == Some(self.target.source);
        if is_own && bundle.entries().any(|entry| follows(entry.channel())) {
            return false;
        }
        let names: Vec<&str> = bundle.entries().map(|entry| entry.channel().name()).collect();
        let followed = match request.channel.as_str() {
            "" => "every channel".to_owned(),
            name => format!("channel {name}"),
        };
        let catalog = |is_own: bool, name: String| {
            if is_own { String::new() } else { format!(" of catalog {name}") }
        };
        let here = self.situation.short_name(self.target.source);
        let there = request.source.as_ref().map(|source| self.situation.short_name(source));
        answer.sentences.push(format!(
            "{} is published in channel {}{}, and Subscription {} follows {followed}{}.",
            bundle_label(bundle),
            names.join(", "),
            catalog(is_own, here),
            request.name,
            catalog(is_own, there.unwrap_or_default()),
        ));
        true
    }

    /// Returns the entry of a bundle that can be installed, or says why there is none.
    fn offered_entry(
        &self,
        answer: &mut Answer,
        bundle: Bundle<'i>,
        followed: Option<&str>,
    ) -> Option<Entry<'i>> {
        let entry = bundle.entries().min_by_key(|entry| {
            let channel = entry.channel();
            let is_followed = Some(channel.name()) == followed;
            (!is_followed, !is_offered(*entry), !channel.is_default(), channel.id())
        });
        let Some(entry) = entry else {
            let wanted = bundle_label(bundle);
            answer.sentences.push(format!("No channel lists {wanted}, so it cannot be installed."));
            answer.possible = Some(false);
            return None;
        };
        if !is_offered(entry) {
            answer.sentences.push(never_installed(entry));
            answer.possible = Some(false);
            return None;
        }
        Some(entry)
    }

    /// Tells which updates lie between what runs and an entry; false when none lead there.
    fn tell_way(&self, answer: &mut Answer, current: &str, entry: Entry<'_>) -> bool {
        let version = self.question.installed(current).map(|installed| installed.version.clone());
        let name = entry.name();
        match way(current, version, entry) {
            Way::None(reason) => {
                answer.possible = Some(false);
                answer.sentences.push(format!("No update leads there from {current}: {reason}."));
                return false;
            }
            Way::Steps(steps) if steps.len() <= 1 => {
                answer.sentences.push(format!("{name} is an update of {current}, which runs now."));
            }
            Way::Steps(steps) => answer.sentences.push(format!(
                "{name} is {} updates away from {current}, which runs now: {}.",
                steps.len(),
                steps.join(", then ")
            )),
        }
        true
    }

    /// Plans on until nothing changes, and says so if an entry is reached.
    fn is_reached(
        &self,
        answer: &mut Answer,
        request: &Request,
        entry: Entry<'_>,
        is_elsewhere: bool,
    ) -> bool {
        let mut changed = self.situation.clone();
        let key = known::SUBSCRIPTION.key(&changed.namespace, &request.name);
        let subscription = changed.world().objects.find(&key).cloned();
        if let Some(mut subscription) = subscription.filter(|_| is_elsewhere) {
            follow(&mut subscription, entry.channel().name(), self.target.source);
            changed.objects_mut().insert(subscription);
        }
        let generations = generations(&changed);
        let takes = |row: &Row| row.name == entry.name() && row.change != Change::Keep;
        let reached = generations.plans.iter().position(|plan| plan.rows.iter().any(takes));
        let Some(generation) = reached else { return false };
        answer.possible = Some(true);
        let if_followed = if is_elsewhere {
            format!(
                "If Subscription {} followed channel {}, ",
                request.name,
                entry.channel().name()
            )
        } else {
            String::new()
        };
        let who = match (generation, is_elsewhere) {
            (0, true) => "the plan".to_owned(),
            (later, true) => format!("generation {} of operon plan --to-fixpoint", later + 1),
            (later, false) => format!("Generation {} of operon plan --to-fixpoint", later + 1),
        };
        answer.sentences.push(format!("{if_followed}{who} would take it (that was tried)."));
        true
    }

    /// Asks again with a Subscription that wants exactly this entry.
    fn take_exactly(&self, answer: &mut Answer, chosen: Option<&Row>, entry: Entry<'_>) {
        let wanted = entry.bundle().map_or_else(|| entry.name().to_owned(), bundle_label);
        match suppose(self.situation, self.plan, self.target.source, entry) {
            Supposed::Possible(plan) if !plan.rows.iter().any(|row| row.name == entry.name()) => {
                answer.sentences.push(format!(
                    "A Subscription with `startingCSV: {}` was tried in its place, and it was not \
                     taken either.",
                    entry.name()
                ));
            }
            Supposed::Possible(_) => {
                answer.possible = Some(true);
                answer.sentences.push(format!(
                    "It would fit: a Subscription with `startingCSV: {}` was tried in its place.",
                    entry.name()
                ));
                answer.sentences.extend(chosen.and_then(|chosen| nearer(chosen, entry)));
            }
            Supposed::Impossible(told) => {
                answer.possible = Some(false);
                answer.sentences.push(format!("It was tried to take exactly {wanted}:"));
                answer.told = Some(told);
            }
            Supposed::Blocked(message) => answer.note_block(&message),
        }
    }
}

/// Says so if the chosen operator is nearer to the head than the wanted one.
fn nearer(chosen: &Row, entry: Entry<'_>) -> Option<String> {
    let channel = entry.channel();
    let place = |name: &str| channel.order().position(|other| other.name() == name);
    (place(&chosen.name)? < place(entry.name())?).then(|| {
        format!("{} was taken: it is nearer to the head of {}.", label(chosen), channel.name())
    })
}

/// Names a bundle in a sentence, as `tide 2.0.1`.
fn bundle_label(bundle: Bundle<'_>) -> String {
    match bundle.version_text() {
        "" => bundle.name().to_owned(),
        version => format!("{} {version}", bundle.package().name()),
    }
}
