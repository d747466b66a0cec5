//! Reading the body of an answer: bounded in size, and watched for a server that hardly sends.

use std::time::Instant;

use reqwest::Response;
use tokio::time::timeout;

use super::{Failure, Repository, failure::innermost};
use crate::PullError;

/// Reads a body piece by piece.
pub(super) struct Body<'r> {
    repository: &'r Repository,
    response: Response,
    window_began: Instant,
    window_bytes: u64,
}

impl<'r> Body<'r> {
    pub(super) fn new(repository: &'r Repository, response: Response) -> Self {
        Self { repository, response, window_began: Instant::now(), window_bytes: 0 }
    }

    /// Returns the next piece; fails if too little arrived for too long.
    pub(super) async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Failure> {
        let limits = self.repository.limits();
        let piece = match timeout(limits.stall_window, self.response.chunk()).await {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => {
                return Err(Failure::soon(PullError::Broken {
                    registry: self.repository.host.clone(),
                    reference: self.repository.shown.clone(),
                    problem: innermost(&error),
                }));
            }
            Err(_) => return Err(self.repository.too_slow("the next piece", limits.stall_window)),
        };
        let Some(piece) = piece else { return Ok(None) };
        self.window_bytes += piece.len() as u64;
        if self.window_began.elapsed() >= limits.stall_window {
            if self.window_bytes < limits.stall_bytes {
                let what = format!("receiving {} bytes", limits.stall_bytes);
                return Err(self.repository.too_slow(&what, limits.stall_window));
            }
            (self.window_began, self.window_bytes) = (Instant::now(), 0);
        }
        Ok(Some(piece))
    }
}

/// Reads at most so many bytes of a body, and leaves the rest.
pub(super) async fn read_up_to(
    repository: &Repository,
    response: Response,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    let mut body = Body::new(repository, response);
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await? {
        let room = usize::try_from(limit).unwrap_or(usize::MAX) - bytes.len();
        let piece = piece.as_ref();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() >= room {
            break;
        }
    }
    Ok(bytes)
}

/// Reads a whole body that must not be longer than a limit.
pub(super) async fn read_whole(
    repository: &Repository,
    response: Response,
    what: &str,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    let too_large = || PullError::TooLarge {
        reference: repository.shown.clone(),
        what: what.to_owned(),
        limit,
    };
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large().into());
    }
    let bytes = read_up_to(repository, response, limit + 1).await?;
    if bytes.len() as u64 > limit {
        return Err(too_large().into());
    }
    Ok(bytes)
}
