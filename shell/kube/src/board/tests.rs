//! Whatever happens to watches and listings, whoever follows ends up with what the server has.

use operon_object::known;

use super::*;

const LABEL: &str = "managed";
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Chance that is always the same.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }
}

/// A server in a few lines: what there is, and everything that happened.
#[derive(Default)]
struct Server {
    revision: u64,
    objects: BTreeMap<&'static str, Object>,
    past: Vec<(Option<Object>, Option<Object>)>,
}

impl Server {
    fn change(&mut self, name: &'static str, chance: &mut Chance) {
        self.revision += 1;
        let before = self.objects.remove(name);
        let mut after = before.clone().unwrap_or_else(|| {
            let mut new = Object::new("v1", "Secret", "shop", name);
            new.set(&["metadata", "uid"], format!("uid-{}", self.revision));
            new
        });
        match chance.below(3) {
            0 => after.set_label(LABEL, "true"),
            1 => {
                after.metadata_mut().remove("labels");
            }
            _ => {}
        }
        after.set(&["metadata", "resourceVersion"], self.revision.to_string());
        let is_gone = before.is_some() && chance.below(4) == 0;
        if !is_gone {
            self.objects.insert(name, after.clone());
        }
        self.past.push((before, (!is_gone).then_some(after)));
    }

    fn list(&self, interest: &Interest) -> Vec<Object> {
        self.objects.values().filter(|object| interest.covers(object)).cloned().collect()
    }

    /// Returns what a watch of an interest tells about a revision.
    fn event(&self, interest: &Interest, revision: u64) -> Option<Event> {
        let (before, after) = &self.past[usize::try_from(revision).expect("few") - 1];
        let covers = |object: &&Object| interest.covers(object);
        match (before.as_ref().filter(covers), after.as_ref().filter(covers)) {
            (None, None) => None,
            (_, Some(after)) => Some(Event::Is(after.clone())),
            (Some(before), None) => {
                let mut gone = before.clone();
                gone.set(&["metadata", "resourceVersion"], revision.to_string());
                Some(Event::Gone(gone))
            }
        }
    }
}

/// The driver's picture in a few lines.
struct Picture {
    interests: BTreeSet<Interest>,
    cursor: Option<Cursor>,
    objects: BTreeMap<String, Object>,
}

impl Picture {
    fn take(&mut self, change: Change) {
        let version = |object: &Object| object.resource_version().parse::<u64>().expect("a number");
        let (object, is_gone) = match change {
            Change::Is(object) => (object, false),
            Change::Gone(object) => (object, true),
        };
        let known = self.objects.get(object.name()).filter(|known| known.uid() == object.uid());
        match (known, is_gone) {
            (Some(known), _) if version(known) > version(&object) => {}
            (Some(_), true) => drop(self.objects.remove(object.name())),
            (None, true) => {}
            (_, false) => drop(self.objects.insert(object.name().to_owned(), object)),
        }
    }
}

struct Play {
    chance: Chance,
    server: Server,
    board: Board,
    picture: Picture,
    /// The watches, with the revision up to which each has told everything.
    watches: Vec<(Start, u64)>,
}

impl Play {
    /// Lists as the cluster does: one interest after the other, and of two states the newer one.
    fn list(&mut self, interests: &BTreeSet<Interest>) -> (Vec<Object>, Cursor) {
        let mut found = Vec::new();
        for interest in interests {
            let mut relist = Relist::default();
            let listed = self.server.list(interest);
            self.board.take_page(interest, &listed, 100, &mut relist);
            let version = self.server.revision.to_string();
            self.board.end_listing(interest, &version, &relist);
            self.board.supersede(interest);
            found.extend(listed);
            // The server does not stand still between two listings.
            if self.chance.below(3) == 0 {
                self.happen();
            }
            self.deliver_some();
        }
        let cursor = self.board.cursor(interests);
        let starts = self.board.restart(interests);
        self.begin(starts);
        (newest(found), cursor)
    }

    fn list_all(&mut self) {
        let (objects, cursor) = self.list(&self.picture.interests.clone());
        let named = objects.into_iter().map(|object| (object.name().to_owned(), object));
        self.picture.objects = named.collect();
        self.picture.cursor = Some(cursor);
    }

    fn begin(&mut self, starts: Vec<Start>) {
        for start in starts {
            let from = start.version.parse().expect("a revision");
            self.watches.push((start, from));
        }
    }

    fn happen(&mut self) {
        let name = NAMES[self.chance.below(NAMES.len())];
        self.server.change(name, &mut self.chance);
    }

    /// Lets one watch tell the next thing, break, or find its past forgotten.
    fn deliver_some(&mut self) {
        if self.watches.is_empty() {
            return;
        }
        let index = self.chance.below(self.watches.len());
        if self.chance.below(10) == 0 {
            self.relist(index);
        } else {
            self.deliver(index);
        }
    }

    fn deliver(&mut self, index: usize) -> bool {
        let (start, told) = self.watches[index].clone();
        if told >= self.server.revision {
            return false;
        }
        let event = self.server.event(&start.interest, told + 1);
        let event = event.unwrap_or_else(|| Event::Bookmark((told + 1).to_string()));
        match self.board.hear(&start, &event, 100) {
            Some(_) => self.watches[index].1 += 1,
            None => drop(self.watches.remove(index)),
        }
        true
    }

    fn relist(&mut self, index: usize) {
        let (start, _) = self.watches[index].clone();
        if !self.board.is_current(&start) {
            return;
        }
        let mut relist = Relist::default();
        let listed = self.server.list(&start.interest);
        self.board.take_page(&start.interest, &listed, 100, &mut relist);
        self.board.end_listing(&start.interest, &self.server.revision.to_string(), &relist);
        self.watches[index].1 = self.server.revision;
    }

    fn look(&mut self) {
        let cursor = self.picture.cursor.clone().expect("a listing comes first");
        match self.board.tell(&self.picture.interests, &cursor) {
            Ok(changes) => {
                self.picture.cursor = Some(changes.cursor);
                changes.changes.into_iter().for_each(|change| self.picture.take(change));
                let starts = self.board.follow(&self.picture.interests).expect("all were listed");
                self.begin(starts);
            }
            Err(_) => self.list_all(),
        }
    }

    fn settle(&mut self) {
        for _ in 0..3 {
            let mut index = 0;
            while index < self.watches.len() {
                if !self.deliver(index) {
                    index += 1;
                }
            }
            self.look();
        }
    }
}

#[test]
fn nothing_is_lost_whatever_happens() {
    let interests = BTreeSet::from([
        Interest::labelled(known::SECRET, LABEL, "true"),
        Interest::named(known::SECRET.key("shop", "a")),
        Interest::named(known::SECRET.key("shop", "b")),
    ]);
    let seeds = std::env::var("OPERON_CASES").ok().and_then(|text| text.parse().ok());
    for seed in 0..seeds.unwrap_or(500) {
        let picture =
            Picture { interests: interests.clone(), cursor: None, objects: BTreeMap::new() };
        let mut play = Play {
            chance: Chance(seed),
            server: Server::default(),
            board: Board::new("test".to_owned()),
            picture,
            watches: Vec::new(),
        };
        play.happen();
        play.list_all();
        for _ in 0..60 {
            match play.chance.below(12) {
                0 => play.list_all(),
                1 => {
                    // Somebody else lists what is followed.
                    let one = interests.iter().nth(play.chance.below(3)).cloned();
                    play.list(&one.into_iter().collect());
                }
                2..=5 => play.happen(),
                6..=9 => play.deliver_some(),
                _ => play.look(),
            }
        }
        play.settle();
        let covered = |object: &&Object| interests.iter().any(|interest| interest.covers(object));
        let there: Vec<&Object> = play.server.objects.values().filter(covered).collect();
        let seen: Vec<&Object> = play.picture.objects.values().collect();
        assert_eq!(seen, there, "seed {seed}");
        assert_eq!(play.board.counts().1, 3);
        assert!(play.board.is_synced());
    }
}

#[test]
fn too_much_at_once_is_listed_again() {
    let interests = Interest::all_of([known::SECRET]);
    let interest = Interest::all(known::SECRET);
    let mut board = Board::new("test".to_owned());
    board.end_listing(&interest, "1", &Relist::default());
    let mut cursor = board.cursor(&interests);
    let start = board.follow(&interests).unwrap().remove(0);
    assert!(!board.has_news());
    let object = |number: usize| {
        let mut object = Object::new("v1", "Secret", "shop", &format!("s{number}"));
        object.set(&["metadata", "resourceVersion"], number.to_string());
        object
    };
    for number in 0..QUEUE_LIMIT {
        board.hear(&start, &Event::Is(object(number)), 1).unwrap();
    }
    assert!(board.has_news());
    let told = board.tell(&interests, &cursor).unwrap();
    assert_eq!(told.changes.len(), QUEUE_LIMIT);
    assert!(!board.has_news());
    // Until they are acknowledged they are told again, and then forgotten.
    assert_eq!(board.tell(&interests, &cursor).unwrap().changes.len(), QUEUE_LIMIT);
    board.hear(&start, &Event::Is(object(QUEUE_LIMIT)), 1).unwrap();
    assert_eq!(board.counts().2, 1);
    assert!(board.has_news());
    assert_eq!(board.counts().0, 0);
    for cursor in [&cursor, &told.cursor] {
        assert_eq!(board.tell(&interests, cursor).unwrap_err().kind, ErrorKind::Conflict);
    }
    cursor = board.cursor(&interests);
    board.hear(&start, &Event::Is(object(QUEUE_LIMIT + 1)), 1).unwrap();
    let huge = QUEUE_BYTES_LIMIT;
    assert_eq!(board.tell(&interests, &cursor).unwrap().changes.len(), 1);
    board.hear(&start, &Event::Is(object(QUEUE_LIMIT + 2)), huge).unwrap();
    assert_eq!(board.counts().2, 2);
}
