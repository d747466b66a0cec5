//! Counting calls: how many there are, and whose turn it is.
//!
//! A call lasts from the head of its request to the end of its answer, or until the connection goes.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use http_body_util::{BodyStream, StreamBody};
use tokio_stream::Stream;
use tonic::{
    Status,
    body::Body,
    codegen::{
        Body as _, Service,
        http::{Request, Response},
    },
    service::Routes,
};

use super::connections::{Call, Connection, Connections, Turn};

/// The call that probers make: it must be answered however many other calls there are.
const HEALTH_CHECK: &str = "/grpc.health.v1.Health/Check";

/// The services of a server, each call of which is counted.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(crate) routes: Routes,
    pub(crate) connections: Arc<Connections>,
}

impl Service<Request<Body>> for Counted {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<Body>>::poll_ready(&mut self.routes, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_exempt = request.uri().path() == HEALTH_CHECK;
        let connection = request.extensions().get::<Arc<Connection>>();
        let call = connection.and_then(|found| self.connections.begin_call(found, is_exempt));
        let Some(call) = call else {
            let status = Status::resource_exhausted("the server has too many calls; try again");
            return Box::pin(async move { Ok(status.into_http()) });
        };
        let answer = self.routes.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| counted(body, call)))
        })
    }
}

/// Makes the end of a body the end of its call.
fn counted(body: Body, call: Call) -> Body {
    if body.is_end_stream() {
        // An answer without a body is known by its head; a wrapper would hide that.
        return body;
    }
    call.set_turn(Turn::Peers(Instant::now()));
    Body::new(StreamBody::new(Parts { parts: BodyStream::new(body), call }))
}

/// The parts of an answer.
struct Parts {
    parts: BodyStream<Body>,
    call: Call,
}

impl Stream for Parts {
    type Item = <BodyStream<Body> as Stream>::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = Pin::new(&mut self.parts).poll_next(context);
        // The next part is asked for when the peer has room for it.
        self.call.set_turn(match &polled {
            Poll::Pending => Turn::Ours,
            Poll::Ready(_) => Turn::Peers(Instant::now()),
        });
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, task::Waker, time::Duration};

    use tokio_stream::Pending;

    use super::*;
    use crate::{limits::ServerLimits, server::connections::Peer, socket::Companion as _};

    /// Returns a stream of the same items that never gives any.
    fn never<S: Stream>(_: &S) -> Pending<S::Item> {
        tokio_stream::pending()
    }

    #[test]
    fn calls_stall_when_the_peer_takes_nothing() {
        let full = || Body::new("text".to_owned());
        let empty = || Body::new(StreamBody::new(never(&BodyStream::new(full()))));
        // The body, how often it is polled, and whether the call is then the peer's turn.
        let claims =
            [(full(), 0, true), (full(), 1, true), (empty(), 0, true), (empty(), 1, false)];
        for (index, (body, polls, is_stalled)) in claims.into_iter().enumerate() {
            let connections = Arc::new(Connections::new(ServerLimits::default()));
            let peer = Peer::Address(Ipv4Addr::LOCALHOST.into());
            let mut admitted = connections.admit(peer).expect("a place");
            admitted.arrived(&[0; 100]);
            let call = connections.begin_call(admitted.connection(), false).expect("a call");
            let mut body = counted(body, call);
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                let _ = Pin::new(&mut body).poll_frame(&mut context);
            }
            connections.sweep(Instant::now() + Duration::from_hours(1), None);
            assert_eq!(admitted.check(&context).is_err(), is_stalled, "claim {index}");
        }
    }
}
