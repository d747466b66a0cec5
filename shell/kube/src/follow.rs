//! Following one interest: a watch that goes on for ever, whatever happens to it.
//!
//! Each step is a state of [`Step`]: a watch goes on where the last one ended, a past that is forgotten
//! is listed again, and a kind that is not there is waited for.

use std::{sync::Arc, time::Duration};

use bytes::{Buf as _, BytesMut};
use http_body_util::BodyExt as _;
use kube_client::client::Body;
use operon_driver::{ClusterError, Depth, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, known};

use crate::{
    answer::{Event, Page, read_event, read_page},
    backoff::{Backoff, FIRST_RECONNECT, LONGEST_ABSENCE, LONGEST_RECONNECT, spread},
    board::{FollowState, Relist, Start},
    counters::Verb,
    request::{Ask, chain},
    resource::{Resource, encode},
    shared::Shared,
};

/// How many objects a page of a listing has: a hundred of the largest still fit into memory.
pub const PAGE_LIMIT: u32 = 100;

/// How often a listing begins again because its next page was forgotten meanwhile.
pub const LISTING_TRIES: u32 = 5;

/// The most bytes a line of a watch may have. An object is stored in at most 1.5 MiB; as text, with
/// everybody who wrote its fields, it may be some times that.
pub const EVENT_BYTES_LIMIT: usize = 24 << 20;

/// How long the server is asked to keep a watch open.
pub const WATCH_TIMEOUT: Duration = Duration::from_mins(5);

/// How long a watch may be silent. Servers tell a bookmark about every minute, so silence for longer
/// means that the connection is dead although nobody said so.
pub const WATCH_SILENCE: Duration = Duration::from_secs(150);

/// A watch that ended sooner than this, without a word, did not work.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// What is asked for where metadata is enough: objects without their bodies.
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// What is done next for an interest.
#[derive(Debug)]
enum Step {
    /// Watches on from a version.
    Watch(String),
    /// Lists everything, and tells the differences.
    List,
    /// Waits until there may be such a kind.
    Wait,
}

/// How a watch ended.
enum End {
    /// In its time, or because the server went away; what was told is known up to a version.
    At(String),
    /// The version is too old.
    Forgotten,
    /// There is no such kind.
    Absent,
    /// Nobody listens any more.
    Superseded,
}

/// Follows an interest until nobody listens any more.
pub(crate) async fn follow(shared: Arc<Shared>, start: Start) {
    let mut backoff = Backoff::new(FIRST_RECONNECT, LONGEST_RECONNECT);
    let mut absence = Backoff::new(FIRST_RECONNECT, LONGEST_ABSENCE);
    let mut kinds = shared.kinds_changed.subscribe();
    let is_absent = start.version.is_empty();
    let mut step = if is_absent { Step::Wait } else { Step::Watch(start.version.clone()) };
    loop {
        let done = match &step {
            Step::Watch(version) => watch(&shared, &start, version, &mut backoff).await,
            Step::List => list_again(&shared, &start).await,
            Step::Wait => {
                shared.board().set_state(&start, FollowState::Absent);
                let news = tokio::time::timeout(absence.next(), kinds.changed()).await;
                if news.is_ok() {
                    // A definition is there before its kind is served.
                    absence.reset();
                }
                step = Step::List;
                continue;
            }
        };
        step = match done {
            Ok(End::At(version)) => {
                absence.reset();
                Step::Watch(version)
            }
            Ok(End::Forgotten) => {
                shared.channel.tally.note(|counters| counters.relists += 1);
                Step::List
            }
            Ok(End::Absent) => Step::Wait,
            Ok(End::Superseded) => return,
            Err(error) => {
                shared.board().set_state(&start, FollowState::Broken(error.message));
                shared.channel.tally.note(|counters| counters.watch_restarts += 1);
                tokio::time::sleep(backoff.next()).await;
                let version = shared.board().version_of(&start);
                match (step, version) {
                    (_, None) => return,
                    (Step::Watch(_), Some(version)) => Step::Watch(version),
                    (step, Some(_)) => step,
                }
            }
        };
    }
}

// ---- Listing ----

/// What becomes of a listing.
pub(crate) enum Listed {
    /// It begins; what was given before does not count.
    Anew,
    /// A page.
    Page(Page),
}

/// Lists what is of interest, page by page; each is given away. Returns the version of the listing,
/// which is empty where there is no such kind.
pub(crate) async fn list(
    shared: &Shared,
    interest: &Interest,
    mut take: impl FnMut(Listed),
) -> Result<String, ClusterError> {
    let mut tries = 0;
    'listing: loop {
        tries += 1;
        take(Listed::Anew);
        let found = shared.discovery.find(&shared.channel, &interest.kind).await?;
        let Some(resource) = found else { return Ok(String::new()) };
        let mut next = String::new();
        loop {
            let Some(ask) = page_ask(&resource, interest, &next) else { return Ok(String::new()) };
            let answer = shared.channel.ask(&ask).await?;
            match answer.code {
                // An empty namespace lists nothing: it is the kind that is not there.
                404 => {
                    shared.discovery.doubt();
                    return Ok(String::new());
                }
                410 if tries < LISTING_TRIES => continue 'listing,
                _ => {}
            }
            let page = read_page(&answer.success()?, &resource.kind)?;
            let (version, more) = (page.version.clone(), page.next.clone());
            shared.channel.tally.note(|counters| counters.unreadable += page.unreadable);
            take(Listed::Page(page));
            if more.is_empty() {
                return Ok(version);
            }
            next = more;
        }
    }
}

fn page_ask(resource: &Resource, interest: &Interest, next: &str) -> Option<Ask> {
    let (path, selection) = resource.selection(interest)?;
    let mut query = format!("limit={PAGE_LIMIT}");
    if !selection.is_empty() {
        query = format!("{selection}&{query}");
    }
    if !next.is_empty() {
        query = format!("{query}&continue={}", encode(next));
    }
    let ask = Ask::read(Verb::List, format!("{path}?{query}"));
    Some(match interest.depth {
        Depth::Whole => ask,
        Depth::Metadata => Ask { accept: METADATA_LIST, ..ask },
    })
}

async fn list_again(shared: &Shared, start: &Start) -> Result<End, ClusterError> {
    let mut relist = Relist::default();
    let interest = &start.interest;
    let version = list(shared, interest, |listed| match listed {
        Listed::Anew => relist = Relist::default(),
        Listed::Page(page) => {
            let mut board = shared.board();
            if board.is_current(start) {
                board.take_page(interest, &page.objects, page.bytes, &mut relist);
            }
        }
    })
    .await?;
    {
        let mut board = shared.board();
        if !board.is_current(start) {
            return Ok(End::Superseded);
        }
        board.end_listing(interest, &version, &relist);
    }
    shared.news.notify_all();
    Ok(if version.is_empty() { End::Absent } else { End::At(version) })
}

// ---- Watching ----

async fn watch(
    shared: &Shared,
    start: &Start,
    version: &str,
    backoff: &mut Backoff,
) -> Result<End, ClusterError> {
    let interest = &start.interest;
    let found = shared.discovery.find(&shared.channel, &interest.kind).await?;
    // All its objects are gone, or are served in another version.
    let Some(resource) = found else { return list_again(shared, start).await };
    let Some(ask) = watch_ask(shared, &resource, interest, version) else {
        return Ok(End::Absent);
    };
    let opened = shared.channel.open(&ask).await?;
    let body = match opened {
        Ok(body) => body,
        Err(answer) if answer.code == 410 => return Ok(End::Forgotten),
        Err(answer) if answer.code == 404 => {
            shared.discovery.doubt();
            return list_again(shared, start).await;
        }
        Err(answer) => {
            if let Some(pause) = answer.pause() {
                tokio::time::sleep(pause.min(LONGEST_RECONNECT)).await;
            }
            return Err(answer.refusal());
        }
    };
    shared.board().set_state(start, FollowState::Followed);
    let described = (interest.depth == Depth::Metadata).then_some(&resource.kind);
    let begun = tokio::time::Instant::now();
    let mut lines = Lines { body, read: BytesMut::new(), searched: 0 };
    let mut version = version.to_owned();
    loop {
        let Some(line) = lines.next(shared.options.watch_silence).await? else {
            if begun.elapsed() < SHORT_WATCH {
                tokio::time::sleep(backoff.next()).await;
            }
            return Ok(End::At(version));
        };
        backoff.reset();
        let event = read_event(&line, described);
        match event {
            Event::Over(error) if error.kind == ErrorKind::Conflict => return Ok(End::Forgotten),
            Event::Over(error) => return Err(error),
            Event::Unreadable => {
                shared.channel.tally.note(|counters| counters.unreadable += 1);
            }
            Event::Is(_) | Event::Gone(_) | Event::Bookmark(_) => {}
        }
        match shared.board().hear(start, &event, line.len()) {
            Some(heard) if heard.is_empty() => {}
            Some(heard) => version = heard,
            None => return Ok(End::Superseded),
        }
        shared.news.notify_all();
        if let Event::Is(object) | Event::Gone(object) = &event {
            shared.notice_kinds(object);
        }
    }
}

fn watch_ask(
    shared: &Shared,
    resource: &Resource,
    interest: &Interest,
    version: &str,
) -> Option<Ask> {
    let (path, selection) = resource.selection(interest)?;
    let longest = shared.options.watch_timeout;
    let seconds = spread(longest * 3 / 4, longest).as_secs().max(1);
    let mut query = format!(
        "watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={seconds}",
        encode(version)
    );
    if !selection.is_empty() {
        query = format!("{selection}&{query}");
    }
    let ask = Ask::read(Verb::Watch, format!("{path}?{query}"));
    Some(match interest.depth {
        Depth::Whole => ask,
        Depth::Metadata => Ask { accept: METADATA, ..ask },
    })
}

/// The lines of a stream.
struct Lines {
    body: Body,
    read: BytesMut,
    /// How much of what was read has no end of a line in it.
    searched: usize,
}

impl Lines {
    /// Returns the next line; nothing at the end of the stream.
    async fn next(&mut self, silence: Duration) -> Result<Option<BytesMut>, ClusterError> {
        let broken = |message: String| ClusterError { kind: ErrorKind::Unavailable, message };
        loop {
            let rest = self.read.get(self.searched..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = self.read.split_to(self.searched + end);
                self.read.advance(1);
                self.searched = 0;
                if line.is_empty() {
                    continue;
                }
                return Ok(Some(line));
            }
            self.searched = self.read.len();
            if self.read.len() > EVENT_BYTES_LIMIT {
                let message = format!("a watch told more than {EVENT_BYTES_LIMIT} bytes at once");
                return Err(broken(message));
            }
            let frame = tokio::time::timeout(silence, self.body.frame()).await.map_err(|_| {
                broken(format!("a watch was silent for {:.0} s", silence.as_secs_f64()))
            })?;
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.read.extend_from_slice(data);
                    }
                }
                Some(Err(error)) => {
                    return Err(broken(format!("a watch broke off: {}", chain(&error))));
                }
            }
        }
    }
}

/// Tells whether a change of an object may bring or take kinds.
pub(crate) fn brings_kinds(object: &Object) -> bool {
    let kind = object.kind();
    kind == known::CUSTOM_RESOURCE_DEFINITION || kind == known::API_SERVICE
}
