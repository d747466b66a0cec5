//! A cluster that fails as real ones do, behind the driver's port.
//!
//! Everything the port promises stays true: events come in order for each kind, and what was missed is
//! followed by the answer that everything has to be listed again. `get` is never stale, because the port
//! says that the cluster itself answers it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    rc::Rc,
};

use operon_driver::{Change, Changes, Cluster, ClusterError, Cursor, Interest, Listing};
use operon_lifecycle::ErrorKind;
use operon_object::{Kind, Object, ObjectKey};

use super::{random::Random, rates::Rates};

/// The longest time without an answer, in calls.
const LONGEST_OUTAGE: usize = 30;

/// How many listings of the past are remembered.
const KEPT_LISTINGS: usize = 6;

/// What all replicas have in common: chance, and what is on.
pub(crate) struct Weather {
    pub(crate) is_stormy: bool,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(super) rates: Rates,
    pub(super) random: Random,
    past: VecDeque<(BTreeSet<Interest>, Listing)>,
    interlude: Option<Rc<dyn Fn()>>,
}

/// How one replica sees the cluster.
#[derive(Debug, Default)]
struct View {
    is_dead: bool,
    outage: usize,
    /// What was listed.
    followed: BTreeSet<Interest>,
    /// The cursor of the cluster, behind the last event that was taken from it.
    cursor: Option<Cursor>,
    /// What was taken from the cluster and not shown yet.
    waiting: VecDeque<Change>,
    /// What was shown last.
    shown: Vec<Change>,
    /// Counts the cursors that were handed out.
    ticket: u64,
    has_missed: bool,
}

/// A cluster that fails.
pub(crate) struct FaultyCluster<C> {
    inner: C,
    weather: Rc<RefCell<Weather>>,
    view: Rc<RefCell<View>>,
}

impl<C: Clone> Clone for FaultyCluster<C> {
    fn clone(&self) -> Self {
        let Self { inner, weather, view } = self;
        Self { inner: inner.clone(), weather: Rc::clone(weather), view: Rc::clone(view) }
    }
}

/// What happens to a write.
enum Fate {
    Done,
    CrashBefore,
    CrashAfter,
    AppliedButError,
    Error,
    Conflict,
}

impl Weather {
    pub(crate) fn new(rates: Rates, random: Random) -> Self {
        Self {
            is_stormy: false,
            counts: BTreeMap::new(),
            rates,
            random,
            past: VecDeque::new(),
            interlude: None,
        }
    }

    /// Ends a storm: whoever lists from now on sees what is there.
    pub(crate) fn calm(&mut self) {
        self.is_stormy = false;
        self.past.clear();
    }

    /// Says what another replica's turn is.
    pub(crate) fn set_interlude(&mut self, interlude: Rc<dyn Fn()>) {
        self.interlude = Some(interlude);
    }

    pub(super) fn happens(&mut self, name: &'static str, permille: u32) -> bool {
        let happens = self.is_stormy && self.random.happens(permille);
        if happens {
            *self.counts.entry(name).or_default() += 1;
        }
        happens
    }

    fn fate(&mut self) -> Fate {
        let rates = self.rates;
        if self.happens("crash before a write", rates.crash_before) {
            Fate::CrashBefore
        } else if self.happens("crash after a write", rates.crash_after) {
            Fate::CrashAfter
        } else if self.happens("applied but error", rates.applied_but_error) {
            Fate::AppliedButError
        } else if self.happens("error, not applied", rates.error_not_applied) {
            Fate::Error
        } else if self.happens("conflict", rates.conflict) {
            Fate::Conflict
        } else {
            Fate::Done
        }
    }
}

fn unavailable(message: &str) -> ClusterError {
    ClusterError { kind: ErrorKind::Unavailable, message: message.to_owned() }
}

fn conflict(message: &str) -> ClusterError {
    ClusterError { kind: ErrorKind::Conflict, message: message.to_owned() }
}

impl<C: Cluster> FaultyCluster<C> {
    pub(crate) fn new(inner: C, weather: Rc<RefCell<Weather>>) -> Self {
        Self { inner, weather, view: Rc::default() }
    }

    /// Tells whether the driver behind this died.
    pub(crate) fn is_dead(&self) -> bool {
        self.view.borrow().is_dead
    }

    /// Lets a new driver begin here.
    pub(crate) fn revive(&self) {
        *self.view.borrow_mut() = View::default();
    }

    /// Fails where the driver is dead or the cluster does not answer.
    fn answer(&self) -> Result<(), ClusterError> {
        let mut view = self.view.borrow_mut();
        if view.is_dead {
            return Err(unavailable("the driver is dead"));
        }
        let mut weather = self.weather.borrow_mut();
        if !weather.is_stormy {
            view.outage = 0;
        }
        let outage = weather.rates.outage;
        if weather.happens("outage", outage) {
            view.outage = 1 + weather.random.below(LONGEST_OUTAGE);
        }
        if view.outage > 0 {
            view.outage -= 1;
            return Err(unavailable("the server is currently unable to handle the request"));
        }
        Ok(())
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&C) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        self.answer()?;
        let interlude = {
            let mut weather = self.weather.borrow_mut();
            let interlude = weather.interlude.clone();
            let rate = weather.rates.interlude;
            interlude.filter(|_| weather.happens("turn of another replica within a turn", rate))
        };
        if let Some(interlude) = interlude {
            interlude();
        }
        let fate = self.weather.borrow_mut().fate();
        match fate {
            Fate::Done => write(&self.inner),
            Fate::CrashBefore => {
                self.view.borrow_mut().is_dead = true;
                Err(unavailable("the driver is dead"))
            }
            Fate::CrashAfter => {
                drop(write(&self.inner));
                self.view.borrow_mut().is_dead = true;
                Err(unavailable("the driver is dead"))
            }
            Fate::AppliedButError => {
                write(&self.inner)?;
                Err(unavailable("context deadline exceeded"))
            }
            Fate::Error => Err(unavailable("connection refused")),
            Fate::Conflict => Err(conflict("the object has been modified")),
        }
    }

    /// Joins further interests to those that are followed; their changes are told from before they were
    /// listed on. Nothing where some of them were followed before.
    fn join(&self, interests: &BTreeSet<Interest>) -> Option<Cursor> {
        let mut view = self.view.borrow_mut();
        if view.cursor.is_none() || !view.followed.is_disjoint(interests) {
            return None;
        }
        view.followed.extend(interests.iter().cloned());
        Some(ticket(view.ticket))
    }

    /// Takes in what happened, and shows a part of it.
    fn show(&self, new: Changes) -> Changes {
        let mut view = self.view.borrow_mut();
        let mut weather = self.weather.borrow_mut();
        view.cursor = Some(new.cursor);
        view.waiting.extend(new.changes);
        let rates = weather.rates;
        if view.waiting.len() > 1 {
            if weather.happens("events missed", rates.missed) {
                // What comes after them is not shown either: first everything has to be listed.
                let kept = weather.random.below(view.waiting.len());
                view.waiting.truncate(kept);
                view.has_missed = true;
            }
            if weather.happens("events coalesced", rates.coalesced) {
                coalesce(&mut view.waiting);
            }
            if weather.happens("events reordered", rates.reordered) {
                reorder(&mut view.waiting, &mut weather.random);
            }
        }
        let mut count = view.waiting.len();
        if count > 0 && weather.happens("events late", rates.lag) {
            count = weather.random.below(count + 1);
        }
        let mut shown: Vec<Change> = view.waiting.drain(..count).collect();
        if weather.happens("events twice", rates.duplicated) {
            let again = std::mem::replace(&mut view.shown, shown.clone());
            shown.splice(..0, again);
        } else {
            view.shown.clone_from(&shown);
        }
        view.ticket += 1;
        Changes { changes: shown, cursor: ticket(view.ticket) }
    }
}

fn ticket(number: u64) -> Cursor {
    Cursor(BTreeMap::from([("ticket".to_owned(), number.to_string())]))
}

fn object_of(change: &Change) -> &Object {
    match change {
        Change::Is(object) | Change::Gone(object) => object,
    }
}

/// Shows each object once, as it is last, where it was first to be shown.
fn coalesce(events: &mut VecDeque<Change>) {
    let mut places = BTreeMap::new();
    let mut kept: VecDeque<Change> = VecDeque::new();
    for event in events.drain(..) {
        let object = object_of(&event);
        // Another object of the same name is another object.
        let place = (object.key(), object.uid().to_owned());
        match places.get(&place).and_then(|index: &usize| kept.get_mut(*index)) {
            Some(earlier) => *earlier = event,
            None => {
                places.insert(place, kept.len());
                kept.push_back(event);
            }
        }
    }
    *events = kept;
}

/// Lets kinds overtake each other; the events of one kind stay in order.
fn reorder(events: &mut VecDeque<Change>, random: &mut Random) {
    let mut ranks: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut sorted: Vec<Change> = events.drain(..).collect();
    for event in &sorted {
        let kind = object_of(event).kind();
        ranks.entry(kind).or_insert_with(|| random.next());
    }
    sorted.sort_by_key(|event| ranks.get(&object_of(event).kind()).copied());
    events.extend(sorted);
}

impl<C: Cluster> Cluster for FaultyCluster<C> {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.answer()?;
        let now = self.inner.list(interests)?;
        if let Some(joined) = self.join(interests) {
            return Ok(Listing { objects: now.objects, cursor: joined });
        }
        let mut weather = self.weather.borrow_mut();
        let mut listing = now.clone();
        let rate = weather.rates.stale_list;
        if !weather.past.is_empty() && weather.happens("list from the past", rate) {
            let count = weather.past.len();
            let index = weather.random.below(count);
            if let Some((known, past)) = weather.past.get(index)
                && known == interests
            {
                listing = past.clone();
            }
        }
        if weather.is_stormy {
            weather.past.push_back((interests.clone(), now));
            if weather.past.len() > KEPT_LISTINGS {
                weather.past.pop_front();
            }
        }
        let mut view = self.view.borrow_mut();
        let number = view.ticket + 1;
        let outage = view.outage;
        let followed = interests.clone();
        *view = View { followed, ticket: number, outage, ..View::default() };
        view.cursor = Some(std::mem::replace(&mut listing.cursor, ticket(number)));
        Ok(listing)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.answer()?;
        let cursor = {
            let view = self.view.borrow();
            let mut weather = self.weather.borrow_mut();
            let rate = weather.rates.gone;
            let is_over = *since != ticket(view.ticket)
                || view.has_missed
                || weather.happens("past forgotten", rate);
            match &view.cursor {
                Some(cursor) if !is_over => cursor.clone(),
                _ => return Err(conflict("too old resource version")),
            }
        };
        let new = self.inner.changes(interests, &cursor)?;
        Ok(self.show(new))
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.answer()?;
        self.inner.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.create(object))
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.update(object))
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.update_status(object))
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.apply(object))
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.write(|inner| inner.delete(key, uid))
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        self.write(|inner| inner.delete_unchanged(object))
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        Ok(Box::new(FaultyAccount { cluster: self, account: account.clone() }))
    }
}

/// A cluster with faults as a ServiceAccount may use it.
struct FaultyAccount<'c, C> {
    cluster: &'c FaultyCluster<C>,
    account: ObjectKey,
}

impl<C: Cluster> FaultyAccount<'_, C> {
    fn write<T>(
        &self,
        write: impl FnOnce(&dyn Cluster) -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        self.cluster.write(|inner| write(&*inner.impersonating(&self.account)?))
    }
}

impl<C: Cluster> Cluster for FaultyAccount<'_, C> {
    fn list(&self, interests: &BTreeSet<Interest>) -> Result<Listing, ClusterError> {
        self.cluster.list(interests)
    }

    fn changes(
        &self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        self.cluster.changes(interests, since)
    }

    fn get(&self, key: &ObjectKey) -> Result<Option<Object>, ClusterError> {
        self.cluster.get(key)
    }

    fn create(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.create(object))
    }

    fn update(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.update(object))
    }

    fn update_status(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.update_status(object))
    }

    fn apply(&self, object: &Object) -> Result<Object, ClusterError> {
        self.write(|inner| inner.apply(object))
    }

    fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ClusterError> {
        self.write(|inner| inner.delete(key, uid))
    }

    fn delete_unchanged(&self, object: &Object) -> Result<(), ClusterError> {
        self.write(|inner| inner.delete_unchanged(object))
    }

    fn impersonating(&self, account: &ObjectKey) -> Result<Box<dyn Cluster + '_>, ClusterError> {
        self.cluster.impersonating(account)
    }
}
