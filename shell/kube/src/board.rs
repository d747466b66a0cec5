//! What is followed, and what happened that nobody has asked for yet.
//!
//! The objects themselves are not kept here: of each only its identity and version are known, which is
//! enough to tell what changed while nobody looked. Nothing is asked of a server here.

mod cursor;
mod known;
mod queue;

use std::collections::{BTreeMap, BTreeSet};

use operon_driver::{Change, Changes, ClusterError, Cursor, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::Object;

pub(crate) use self::known::newest;
pub use self::queue::{QUEUE_BYTES_LIMIT, QUEUE_LIMIT};
use self::{
    known::{Mark, Place, number, place},
    queue::{Entry, Queue},
};
use crate::answer::{Event, identity};

/// The turn of an interest that no watch speaks for.
const NO_TURN: u64 = 0;

/// What is followed, and what happened.
#[derive(Debug)]
pub(crate) struct Board {
    /// Names this connection in cursors.
    connection: String,
    follows: BTreeMap<Interest, Follow>,
    queue: Queue,
    turns: u64,
}

/// How one interest is followed.
#[derive(Debug, Default)]
struct Follow {
    known: BTreeMap<Place, Mark>,
    /// What its objects say as their `apiVersion`.
    api_version: String,
    /// The version after which to go on.
    version: String,
    state: FollowState,
    /// A point before this one knows less than what was listed while nobody followed.
    least: u64,
    /// Which of several watches speaks for it; others are not listened to any more.
    turn: u64,
}

/// How well an interest is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum FollowState {
    /// It was listed; nobody has asked for changes yet.
    #[default]
    Listed,
    /// What happens is told.
    Followed,
    /// There is no such kind at the moment.
    Absent,
    /// What happens is not told at the moment.
    Broken(String),
}

/// A listing that is under way.
#[derive(Debug, Default)]
pub(crate) struct Relist {
    seen: BTreeSet<Place>,
}

/// A watch that has to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) interest: Interest,
    pub(crate) turn: u64,
    pub(crate) version: String,
}

impl Board {
    pub(crate) fn new(connection: String) -> Self {
        Self { connection, follows: BTreeMap::new(), queue: Queue::default(), turns: NO_TURN }
    }

    // ---- Listing ----

    /// Takes in a page of a listing. Whoever follows the interest already is told what is new.
    pub(crate) fn take_page(
        &mut self,
        interest: &Interest,
        objects: &[Object],
        bytes: usize,
        relist: &mut Relist,
    ) {
        let share = bytes / objects.len().max(1);
        for object in objects {
            relist.seen.insert(place(object));
            self.mark(interest, object, share);
        }
    }

    /// Ends a listing: what was not in it is gone. The kind may be absent, and then has no version.
    pub(crate) fn end_listing(&mut self, interest: &Interest, version: &str, relist: &Relist) {
        let follow = self.follows.entry(interest.clone()).or_default();
        version.clone_into(&mut follow.version);
        if follow.state == FollowState::Listed {
            follow.least = self.queue.advance();
        }
        let gone: Vec<(Place, Mark)> =
            follow.known.extract_if(.., |place, _| !relist.seen.contains(place)).collect();
        let api_version = follow.api_version.clone();
        for ((namespace, name), mark) in gone {
            let mut object = Object::new(&api_version, interest.kind.name(), &namespace, &name);
            object.set(&["metadata", "uid"], &*mark.uid);
            object.set(&["metadata", "resourceVersion"], version);
            self.push_gone(interest, object, &mark);
        }
    }

    /// Stops listening to the watch of an interest: what it tells lies before the listing, or is told
    /// again by the one that begins there.
    pub(crate) fn supersede(&mut self, interest: &Interest) {
        if let Some(follow) = self.follows.get_mut(interest) {
            follow.turn = NO_TURN;
        }
    }

    /// Returns the watches that have to begin anew because they were superseded.
    pub(crate) fn restart(&mut self, interests: &BTreeSet<Interest>) -> Vec<Start> {
        let is_silent = |interest: &&Interest| {
            self.follows
                .get(interest)
                .is_some_and(|follow| follow.turn == NO_TURN && follow.state != FollowState::Listed)
        };
        let silent: Vec<&Interest> = interests.iter().filter(is_silent).collect();
        silent.into_iter().filter_map(|interest| self.start(interest)).collect()
    }

    // ---- Watching ----

    /// Tells whether a watch still speaks for its interest.
    pub(crate) fn is_current(&self, start: &Start) -> bool {
        self.follows.get(&start.interest).is_some_and(|follow| follow.turn == start.turn)
    }

    /// Returns the version after which a watch has to go on; nothing if it does not speak for its interest
    /// any more.
    pub(crate) fn version_of(&self, start: &Start) -> Option<String> {
        let follow = self.follows.get(&start.interest)?;
        (follow.turn == start.turn).then(|| follow.version.clone())
    }

    /// Takes in what a watch told, and returns the version after it; nothing if the watch does not speak
    /// for its interest any more.
    pub(crate) fn hear(&mut self, start: &Start, event: &Event, bytes: usize) -> Option<String> {
        if !self.is_current(start) {
            return None;
        }
        let interest = &start.interest;
        let version = match event {
            Event::Is(object) => {
                self.mark(interest, object, bytes);
                object.resource_version().to_owned()
            }
            Event::Gone(object) => {
                let follow = self.follows.get_mut(interest)?;
                if let Some(mark) = follow.known.remove(&place(object)) {
                    self.push_gone(interest, identity(object), &mark);
                }
                object.resource_version().to_owned()
            }
            Event::Bookmark(version) => version.clone(),
            Event::Over(_) => return Some(self.follows.get(interest)?.version.clone()),
        };
        let follow = self.follows.get_mut(interest)?;
        if !version.is_empty() {
            follow.version.clone_from(&version);
        }
        Some(version)
    }

    /// Notes how well a watch does.
    pub(crate) fn set_state(&mut self, start: &Start, state: FollowState) {
        if let Some(follow) = self.follows.get_mut(&start.interest)
            && follow.turn == start.turn
        {
            follow.state = state;
        }
    }

    fn start(&mut self, interest: &Interest) -> Option<Start> {
        self.turns += 1;
        let follow = self.follows.get_mut(interest)?;
        follow.turn = self.turns;
        follow.state = FollowState::Followed;
        let version = follow.version.clone();
        Some(Start { interest: interest.clone(), turn: self.turns, version })
    }

    // ---- Telling ----

    /// Follows exactly some interests from now on; returns the watches that have to be begun. The error
    /// is that one of them was not listed.
    pub(crate) fn follow(
        &mut self,
        interests: &BTreeSet<Interest>,
    ) -> Result<Vec<Start>, ClusterError> {
        if let Some(unknown) = interests.iter().find(|one| !self.follows.contains_key(one)) {
            let message = format!("{} was not listed yet: list again", cursor::entry_name(unknown));
            return Err(ClusterError { kind: ErrorKind::Conflict, message });
        }
        self.follows.retain(|interest, _| interests.contains(interest));
        let listed = self.follows.iter().filter(|(_, follow)| follow.state == FollowState::Listed);
        let listed: Vec<Interest> = listed.map(|(interest, _)| interest.clone()).collect();
        Ok(listed.iter().filter_map(|interest| self.start(interest)).collect())
    }

    /// Returns what happened since a point, and forgets what lies before it.
    pub(crate) fn tell(
        &mut self,
        interests: &BTreeSet<Interest>,
        since: &Cursor,
    ) -> Result<Changes, ClusterError> {
        let mut points = BTreeMap::new();
        for interest in interests {
            points.insert(interest, self.read_cursor(interest, since)?);
        }
        if let Some(first) = points.values().min() {
            self.queue.acknowledge(*first);
        }
        let is_news = |entry: &&Entry| {
            points.get(&entry.interest).is_some_and(|point| entry.number >= *point)
                && !self.is_outdated(entry, interests)
        };
        let news = self.queue.entries().filter(is_news).map(|entry| entry.change.clone());
        let changes = news.collect();
        self.queue.note_told();
        Ok(Changes { changes, cursor: self.cursor(interests) })
    }

    /// Tells whether another interest knows better: watches of different interests come along at their own
    /// speed. What is gone for one may be of interest still, and is told as gone when the other one says
    /// so; what one saw may be older than what the other has told.
    fn is_outdated(&self, entry: &Entry, interests: &BTreeSet<Interest>) -> bool {
        let (Change::Is(object) | Change::Gone(object)) = &entry.change;
        let place = place(object);
        let mut known = rivals(&self.follows, object)
            .filter(|other| **other != entry.interest && interests.contains(*other))
            .filter_map(|other| self.follows.get(other)?.known.get(&place));
        let version = number(object.resource_version());
        known.any(|mark| {
            let is_newer = number(&mark.version) > version;
            match &entry.change {
                Change::Gone(_) => is_newer || *mark.uid == *object.uid(),
                Change::Is(_) => is_newer,
            }
        })
    }

    /// Tells whether something happened that was not told.
    pub(crate) fn has_news(&self) -> bool {
        self.queue.has_news()
    }

    /// Tells whether something is followed, and all of it well.
    pub(crate) fn is_synced(&self) -> bool {
        let mut states = self.follows.values().map(|follow| &follow.state);
        !self.follows.is_empty()
            && states.all(|state| matches!(state, FollowState::Followed | FollowState::Absent))
    }

    /// Returns what is not told at the moment, and why.
    pub(crate) fn broken(&self) -> Vec<(Interest, String)> {
        let broken = self.follows.iter().filter_map(|(interest, follow)| match &follow.state {
            FollowState::Broken(reason) => Some((interest.clone(), reason.clone())),
            FollowState::Listed | FollowState::Followed | FollowState::Absent => None,
        });
        broken.collect()
    }

    /// Counts the changes that wait, the watches, and how often too much waited.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let is_watched = |follow: &&Follow| follow.state != FollowState::Listed;
        let watches = self.follows.values().filter(is_watched).count();
        (self.queue.len(), watches, self.queue.overflows())
    }

    // ---- What is known ----

    /// Notes an object as it is; tells it if that is new, and somebody follows.
    fn mark(&mut self, interest: &Interest, object: &Object, bytes: usize) {
        let follow = self.follows.entry(interest.clone()).or_default();
        let (uid, version) = (object.uid(), object.resource_version());
        if follow.api_version != object.api_version() {
            object.api_version().clone_into(&mut follow.api_version);
        }
        let place = place(object);
        let known = follow.known.get(&place).filter(|known| *known.uid == *uid);
        let is_known = known.is_some_and(|known| *known.version == *version);
        let gone = known.map_or(0, |known| known.gone);
        follow.known.insert(place, Mark { uid: uid.into(), version: version.into(), gone });
        if !is_known && follow.state != FollowState::Listed {
            self.queue.push(interest, Change::Is(object.clone()), bytes);
        }
    }

    /// Tells that an object is gone. Other interests may know it still: the last one that says so tells
    /// the version at which it really went.
    fn push_gone(&mut self, interest: &Interest, mut object: Object, mark: &Mark) {
        let gone = number(object.resource_version()).max(mark.gone);
        object.set(&["metadata", "resourceVersion"], gone.to_string());
        let place = place(&object);
        let others: Vec<Interest> = rivals(&self.follows, &object).cloned().collect();
        for other in others {
            let known = self.follows.get_mut(&other).and_then(|other| other.known.get_mut(&place));
            if let Some(known) = known.filter(|known| *known.uid == *object.uid()) {
                known.gone = known.gone.max(gone);
            }
        }
        if self.follows.get(interest).is_some_and(|follow| follow.state != FollowState::Listed) {
            self.queue.push(interest, Change::Gone(object), 0);
        }
    }

    /// Returns the point that has been reached.
    pub(crate) fn cursor(&self, interests: &BTreeSet<Interest>) -> Cursor {
        cursor::write(&self.connection, interests, self.queue.point())
    }

    fn read_cursor(&self, interest: &Interest, cursor: &Cursor) -> Result<u64, ClusterError> {
        let least = self.follows.get(interest).map_or(u64::MAX, |follow| follow.least);
        let is_known = |point: &u64| *point >= least && self.queue.knows(*point);
        let point = cursor::read(&self.connection, interest, cursor).filter(is_known);
        point.ok_or_else(|| ClusterError {
            kind: ErrorKind::Conflict,
            message: format!(
                "what happened to {} since then is not known: list again",
                cursor::entry_name(interest)
            ),
        })
    }
}

/// Returns the interests that may cover an object: those in all objects of its kind or in some by their
/// labels, which stand before every named one, and that in the object itself.
fn rivals<'f>(
    follows: &'f BTreeMap<Interest, Follow>,
    object: &Object,
) -> impl Iterator<Item = &'f Interest> + use<'f> {
    let exact = Interest::named(object.key());
    let first = Interest::all(exact.kind.clone());
    let least = Interest::named(exact.kind.key("", ""));
    let broad = follows.range(first..least).map(|(interest, _)| interest);
    broad.chain(follows.get_key_value(&exact).map(|(interest, _)| interest))
}

#[cfg(test)]
mod tests;
