//! `grpc.health.v1`: whether the catalog is there, under every name a prober may use.
//!
//! Upstream: probers ask for "", `Registry` or `api.Registry`; any name gets the same answer.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio_stream::{Stream, wrappers::WatchStream};
use tonic::{Request, Response, Status};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse, health_check_response::ServingStatus,
    health_server::Health,
};

use super::state::{Phase, State};

/// The service `grpc.health.v1.Health`.
#[derive(Debug)]
pub(crate) struct HealthService {
    pub(crate) state: Arc<State>,
}

fn status_of(phase: &Phase) -> ServingStatus {
    if phase.is_serving() { ServingStatus::Serving } else { ServingStatus::NotServing }
}

fn response(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}

#[tonic::async_trait]
impl Health for HealthService {
    type WatchStream = Changes;

    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        Ok(Response::new(response(status_of(&self.state.phase.borrow()))))
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let phases = WatchStream::new(self.state.phase.subscribe());
        Ok(Response::new(Changes { phases, told: None, is_over: false }))
    }
}

/// Tells the status now and whenever it changes; ends when the server stops.
pub(crate) struct Changes {
    phases: WatchStream<Phase>,
    told: Option<ServingStatus>,
    is_over: bool,
}

impl Stream for Changes {
    type Item = Result<HealthCheckResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.is_over {
                return Poll::Ready(None);
            }
            let Some(phase) = ready!(Pin::new(&mut self.phases).poll_next(context)) else {
                return Poll::Ready(None);
            };
            // A watch that went on would keep the server from stopping.
            self.is_over = phase.is_stopping;
            let status = status_of(&phase);
            if self.told.replace(status) != Some(status) {
                return Poll::Ready(Some(Ok(response(status))));
            }
        }
    }
}
