//! What is followed, and what happened that nobody has asked for yet.
//!
//! The objects themselves are not kept here: of each only its identity and version are known, which is
//! enough to tell what changed while nobody looked. Nothing is asked of a server here.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque, btree_map::Entry as MapEntry},
    fmt::Write as _,
};

use operon_driver::{Change, Changes, ClusterError, Cursor, Interest, Part};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey};

use crate::answer::{Event, identity};

/// How many changes may wait. A loop that is so far behind is faster when it lists again.
pub const QUEUE_LIMIT: usize = 20_000;

/// How large the changes that wait may be altogether, as text.
pub const QUEUE_BYTES_LIMIT: usize = 64 << 20;

/// The turn of an interest that no watch speaks for.
const NO_TURN: u64 = 0;

/// The entry of a cursor that names the connection it belongs to.
const CONNECTION_ENTRY: &str = "connection";

/// What is followed, and what happened.
#[derive(Debug)]
pub(crate) struct Board {
    /// Names this connection in cursors.
    connection: String,
    follows: BTreeMap<Interest, Follow>,
    queue: VecDeque<Entry>,
    queue_bytes: usize,
    /// The number of the next change.
    next: u64,
    /// What happened before this number is not known any more.
    forgotten: u64,
    /// What happened before this number was told.
    told: u64,
    turns: u64,
    pub(crate) overflows: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    interest: Interest,
    change: Change,
    bytes: usize,
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

/// Where an object of a kind lies.
type Place = (Box<str>, Box<str>);

/// What is known of an object.
#[derive(Debug)]
struct Mark {
    uid: Box<str>,
    version: Box<str>,
    /// The version at which it went, as far as other interests say.
    gone: u64,
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
        Self {
            connection,
            follows: BTreeMap::new(),
            queue: VecDeque::new(),
            queue_bytes: 0,
            next: 0,
            forgotten: 0,
            told: 0,
            turns: 0,
            overflows: 0,
        }
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
            self.next += 1;
            follow.least = self.next;
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
            let message = format!("{} was not listed yet: list again", entry_name(unknown));
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
        if interests.is_empty() {
            return Ok(Changes { changes: Vec::new(), cursor: self.cursor(interests) });
        }
        let mut points = BTreeMap::new();
        for interest in interests {
            points.insert(interest, self.read_cursor(interest, since)?);
        }
        let first = points.values().min().copied().unwrap_or(self.next);
        while let Some(entry) = self.queue.front()
            && entry.number < first
        {
            self.queue_bytes -= entry.bytes;
            self.forgotten = entry.number + 1;
            self.queue.pop_front();
        }
        let is_news = |entry: &&Entry| {
            points.get(&entry.interest).is_some_and(|point| entry.number >= *point)
                && !self.is_outdated(entry, interests)
        };
        let changes = self.queue.iter().filter(is_news).map(|entry| entry.change.clone()).collect();
        self.told = self.next;
        Ok(Changes { changes, cursor: self.cursor(interests) })
    }

    /// Tells whether another interest knows better: watches of different interests come along at their own
    /// speed. What is gone for one may be of interest still, and is told as gone when the other one says
    /// so; what one saw may be older than what the other has told.
    fn is_outdated(&self, entry: &Entry, interests: &BTreeSet<Interest>) -> bool {
        let (Change::Is(object) | Change::Gone(object)) = &entry.change;
        let exact = Interest::named(object.key());
        let place = place(object);
        let others = same_kind(&self.follows, &exact);
        let mut known = others
            .iter()
            .filter(|other| **other != entry.interest && interests.contains(other))
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
        self.queue.back().is_some_and(|entry| entry.number >= self.told)
            || self.forgotten > self.told
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

    /// Counts the changes that wait, and the watches.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let is_watched = |follow: &&Follow| follow.state != FollowState::Listed;
        (self.queue.len(), self.follows.values().filter(is_watched).count())
    }

    // ---- The queue ----

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
            self.push(interest, Change::Is(object.clone()), bytes);
        }
    }

    /// Tells that an object is gone. Other interests may know it still: the last one that says so tells
    /// the version at which it really went.
    fn push_gone(&mut self, interest: &Interest, mut object: Object, mark: &Mark) {
        let gone = number(object.resource_version()).max(mark.gone);
        object.set(&["metadata", "resourceVersion"], gone.to_string());
        let (exact, place) = (Interest::named(object.key()), place(&object));
        for other in same_kind(&self.follows, &exact) {
            if let Some(known) =
                self.follows.get_mut(&other).and_then(|other| other.known.get_mut(&place))
                && *known.uid == *object.uid()
            {
                known.gone = known.gone.max(gone);
            }
        }
        if self.follows.get(interest).is_some_and(|follow| follow.state != FollowState::Listed) {
            self.push(interest, Change::Gone(object), 0);
        }
    }

    fn push(&mut self, interest: &Interest, change: Change, bytes: usize) {
        if self.queue.len() >= QUEUE_LIMIT || self.queue_bytes + bytes > QUEUE_BYTES_LIMIT {
            self.queue.clear();
            self.queue_bytes = 0;
            self.forgotten = self.next + 1;
            self.overflows += 1;
            self.next += 1;
            return;
        }
        self.queue_bytes += bytes;
        let interest = interest.clone();
        self.queue.push_back(Entry { number: self.next, interest, change, bytes });
        self.next += 1;
    }

    /// Returns the point that has been reached.
    pub(crate) fn cursor(&self, interests: &BTreeSet<Interest>) -> Cursor {
        let point = self.next.to_string();
        let mut entries: BTreeMap<String, String> =
            interests.iter().map(|interest| (entry_name(interest), point.clone())).collect();
        entries.insert(CONNECTION_ENTRY.to_owned(), self.connection.clone());
        Cursor(entries)
    }

    fn read_cursor(&self, interest: &Interest, cursor: &Cursor) -> Result<u64, ClusterError> {
        let is_ours = cursor.0.get(CONNECTION_ENTRY) == Some(&self.connection);
        let point = cursor.0.get(&entry_name(interest)).and_then(|text| text.parse().ok());
        let least = self.follows.get(interest).map_or(u64::MAX, |follow| follow.least);
        let is_known = |point: &u64| (self.forgotten.max(least)..=self.next).contains(point);
        point.filter(|_| is_ours).filter(is_known).ok_or_else(|| ClusterError {
            kind: ErrorKind::Conflict,
            message: format!(
                "what happened to {} since then is not known: list again",
                entry_name(interest)
            ),
        })
    }
}

/// Returns the interests that may cover an object: those in all objects of its kind or in some by their
/// labels, which stand before every named one, and that in the object itself.
fn same_kind(follows: &BTreeMap<Interest, Follow>, exact: &Interest) -> Vec<Interest> {
    let first = Interest::all(exact.kind.clone());
    let least = Interest::named(exact.kind.key("", ""));
    let broad = follows.range(first..least).map(|(interest, _)| interest.clone());
    broad.chain(follows.contains_key(exact).then(|| exact.clone())).collect()
}

/// Leaves one state of each object, the newest, sorted by key. Who lists several interests may see an
/// object at several times; nobody would tell again what an older state lacks.
pub(crate) fn newest(objects: Vec<Object>) -> Vec<Object> {
    let mut found: BTreeMap<ObjectKey, Object> = BTreeMap::new();
    for object in objects {
        let version = |object: &Object| number(object.resource_version());
        match found.entry(object.key()) {
            MapEntry::Vacant(entry) => drop(entry.insert(object)),
            MapEntry::Occupied(mut entry) if version(entry.get()) < version(&object) => {
                drop(entry.insert(object));
            }
            MapEntry::Occupied(_) => {}
        }
    }
    found.into_values().collect()
}

/// Reads a version. Those of one kind are numbers that grow, whichever object they belong to.
fn number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}

fn place(object: &Object) -> Place {
    (object.namespace().into(), object.name().into())
}

/// Writes an interest as an entry of a cursor, and for people.
pub(crate) fn entry_name(interest: &Interest) -> String {
    let mut text = interest.kind.to_string();
    let _ = match &interest.part {
        Part::All => Ok(()),
        Part::Labelled { label, value } => write!(text, " with {label}={value}"),
        Part::Named { namespace, name } => write!(text, " {namespace}/{name}"),
    };
    text
}

#[cfg(test)]
mod tests;
