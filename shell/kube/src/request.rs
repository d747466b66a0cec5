//! Requests: sent when their turn has come, repeated when that is safe, answered or given up in time.
//!
//! What an answer means for the port is not decided here.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use http::{Method, Request, Response, header};
use http_body_util::BodyExt as _;
use kube_client::client::{Body, Client};
use operon_driver::ClusterError;
use operon_lifecycle::ErrorKind;

use crate::{
    answer::Answer,
    backoff::{Backoff, FIRST_REPEAT, LONGEST_REPEAT},
    counters::{Answered, Tally, Verb},
    fence::Fence,
    flow::Flow,
};

/// How long one request may take. The API server itself gives up after a minute; whoever waits here
/// holds up everything else.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// How often a request is sent at most.
pub const REQUEST_TRIES: u32 = 4;

/// The longest pause that a server may ask for and get before the request is given up: what waits is
/// the whole loop, which can do something else meanwhile.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(10);

/// The most bytes an answer may have: a page of the largest objects that a cluster stores.
pub const ANSWER_BYTES_LIMIT: usize = 192 << 20;

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) verb: Verb,
    /// The path with its query.
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    /// The type and the text of what is sent.
    pub(crate) content: Option<(&'static str, Bytes)>,
    /// Whether asking twice does no harm.
    pub(crate) is_repeatable: bool,
    /// Whose rights count in place of those of this process.
    pub(crate) actor: Option<Actor>,
}

/// A ServiceAccount in whose name something is asked.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Actor {
    /// Returns the header by which an API server knows whose rights count. It knows the groups of a
    /// ServiceAccount by itself; naming them would take the right to be any group.
    fn header(&self) -> (&'static str, String) {
        let Self { namespace, name } = self;
        ("Impersonate-User", format!("system:serviceaccount:{namespace}:{name}"))
    }
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";
pub(crate) const MERGE: &str = "application/merge-patch+json";

impl Ask {
    /// Asks for something without changing anything.
    pub(crate) fn read(verb: Verb, path: String) -> Self {
        Self { verb, path, accept: JSON, content: None, is_repeatable: true, actor: None }
    }

    /// Asks for a change.
    pub(crate) fn write(verb: Verb, path: String, content: &'static str, text: String) -> Self {
        let is_repeatable = verb != Verb::Create;
        let content = Some((content, Bytes::from(text)));
        Self { verb, path, accept: JSON, content, is_repeatable, actor: None }
    }

    /// Asks in somebody's name.
    pub(crate) fn by(self, actor: Option<&Actor>) -> Self {
        Self { actor: actor.cloned(), ..self }
    }

    fn request(&self) -> Result<Request<Body>, ClusterError> {
        let method = match self.verb {
            Verb::Get | Verb::List | Verb::Watch => Method::GET,
            Verb::Create => Method::POST,
            Verb::Update => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        };
        let builder = Request::builder().method(method).uri(&self.path);
        let mut builder = builder.header(header::ACCEPT, self.accept);
        for (name, value) in self.actor.iter().map(Actor::header) {
            builder = builder.header(name, value);
        }
        let request = match &self.content {
            Some((content, text)) => {
                builder.header(header::CONTENT_TYPE, *content).body(Body::from(text.clone()))
            }
            None => builder.body(Body::empty()),
        };
        request.map_err(|error| ClusterError {
            kind: ErrorKind::Invalid,
            message: format!("`{}` cannot be asked for: {error}", self.path),
        })
    }
}

/// Why there is no answer.
#[derive(Debug)]
struct Silence {
    message: String,
    /// Whether the server certainly has not heard the request.
    is_unheard: bool,
}

/// The way to an API server.
#[derive(Clone)]
pub(crate) struct Channel {
    pub(crate) client: Client,
    pub(crate) flow: Arc<Flow>,
    pub(crate) tally: Arc<Tally>,
    /// What holds writes back; nothing where nobody else writes.
    pub(crate) fence: Option<Arc<Fence>>,
    pub(crate) timeout: Duration,
    /// The server, for messages.
    pub(crate) server: Arc<str>,
}

impl Channel {
    /// Asks, and repeats what may be repeated.
    ///
    /// # Guarantees
    ///
    /// Something that could be done twice is sent again only when the server certainly did not do it:
    /// it was not reached, or said that it has too much to do. Nothing is written without the lease,
    /// nor waited for longer than the lease lasts.
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Answer, ClusterError> {
        let mut backoff = Backoff::new(FIRST_REPEAT, LONGEST_REPEAT);
        let mut tries = 0;
        loop {
            tries += 1;
            let is_last = tries >= REQUEST_TRIES;
            let pause = match self.attempt(ask).await? {
                Ok(answer) => match repeats(ask, &answer) {
                    Some(pause) if !is_last && pause <= LONGEST_RETRY_AFTER => {
                        pause.max(backoff.next())
                    }
                    _ => return Ok(answer),
                },
                Err(silence) if is_last || !(silence.is_unheard || ask.is_repeatable) => {
                    return Err(self.unanswered(ask, &silence));
                }
                Err(_) => backoff.next(),
            };
            self.tally.note(|counters| counters.repeated += 1);
            tokio::time::sleep(pause).await;
        }
    }

    /// Asks once. The error is that the request must not be sent.
    async fn attempt(&self, ask: &Ask) -> Result<Result<Answer, Silence>, ClusterError> {
        let request = ask.request()?;
        let _seat = self.flow.enter().await;
        let patience = self.patience(ask)?;
        let answered = tokio::time::timeout(patience, self.exchange(request)).await;
        let answered = answered.unwrap_or_else(|_| {
            let message = format!("no answer within {:.1} s", patience.as_secs_f64());
            Err(Silence { message, is_unheard: false })
        });
        let code = answered.as_ref().map_or(Answered::Nothing, |found| Answered::Code(found.code));
        self.tally.note_request(ask.verb, code);
        Ok(answered)
    }

    /// Says how long an answer may take. A write must be over before the lease is.
    fn patience(&self, ask: &Ask) -> Result<Duration, ClusterError> {
        let Some(fence) = self.fence.as_ref().filter(|_| ask.verb.is_write()) else {
            return Ok(self.timeout);
        };
        fence.pass(Instant::now()).map(|left| left.min(self.timeout)).inspect_err(|_| {
            self.tally.note(|counters| counters.fenced += 1);
        })
    }

    async fn exchange(&self, request: Request<Body>) -> Result<Answer, Silence> {
        let response = self.client.send(request).await.map_err(|error| silence(&error))?;
        let (code, retry_after) = (response.status().as_u16(), retry_after(&response));
        let mut body = response.into_body();
        let mut read = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Silence {
                message: format!("the answer broke off: {}", chain(&error)),
                is_unheard: false,
            })?;
            let Some(data) = frame.data_ref() else { continue };
            if read.len() + data.len() > ANSWER_BYTES_LIMIT {
                let message = format!("the answer has more than {ANSWER_BYTES_LIMIT} bytes");
                return Err(Silence { message, is_unheard: false });
            }
            read.extend_from_slice(data);
        }
        Ok(Answer { code, retry_after, body: read.freeze() })
    }

    /// Opens a stream. It is no longer counted once it is open, and nothing ends it but its reader.
    pub(crate) async fn open(&self, ask: &Ask) -> Result<Result<Body, Answer>, ClusterError> {
        let request = ask.request()?;
        let seat = self.flow.enter().await;
        let sent = tokio::time::timeout(self.timeout, self.client.send(request)).await;
        drop(seat);
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                self.tally.note_request(ask.verb, Answered::Nothing);
                return Err(self.unanswered(ask, &silence(&error)));
            }
            Err(_) => {
                self.tally.note_request(ask.verb, Answered::Nothing);
                let message = format!("no answer within {:.1} s", self.timeout.as_secs_f64());
                return Err(self.unanswered(ask, &Silence { message, is_unheard: false }));
            }
        };
        let code = response.status().as_u16();
        self.tally.note_request(ask.verb, Answered::Code(code));
        if response.status().is_success() {
            return Ok(Ok(response.into_body()));
        }
        let retry_after = retry_after(&response);
        let body = tokio::time::timeout(self.timeout, response.into_body().collect_bytes()).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        Ok(Err(Answer { code, retry_after, body }))
    }

    fn unanswered(&self, ask: &Ask, silence: &Silence) -> ClusterError {
        let (server, path) = (&self.server, &ask.path);
        let place = path.split('?').next().unwrap_or_default();
        ClusterError {
            kind: ErrorKind::Unavailable,
            message: format!(
                "the API server at {server} did not answer `{} {place}`: {}",
                ask.verb, silence.message
            ),
        }
    }
}

/// Returns the pause after which to ask again, where an answer says that it may help.
fn repeats(ask: &Ask, answer: &Answer) -> Option<Duration> {
    match answer.code {
        // The server says so before it does anything.
        429 => Some(answer.pause().unwrap_or_default()),
        502..=504 if ask.is_repeatable => Some(answer.pause().unwrap_or_default()),
        _ => None,
    }
}

fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

fn silence(error: &kube_client::Error) -> Silence {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    let mut is_unheard = false;
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<hyper_util::client::legacy::Error>() {
            is_unheard |= error.is_connect();
        }
        cause = found.source();
    }
    Silence { message: chain(error), is_unheard }
}

/// Writes an error with its causes, each once.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let more = found.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = found.source();
    }
    text
}
