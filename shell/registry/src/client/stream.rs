//! A stream of answers for code that waits: an iterator with limits of time.
//!
//! It ends at the first error; what came before is whole.

use tokio::time::{Instant, timeout};
use tonic::Streaming;

use super::Client;
use crate::ClientError;

/// The messages of a stream, as they come.
#[derive(Debug)]
pub struct Stream<'c, T> {
    client: &'c Client,
    call: &'static str,
    messages: Option<Streaming<T>>,
    until: Instant,
}

impl<'c, T> Stream<'c, T> {
    pub(super) fn new(client: &'c Client, call: &'static str, messages: Streaming<T>) -> Self {
        let until = Instant::now() + client.options().stream_deadline;
        Self { client, call, messages: Some(messages), until }
    }

    async fn receive(
        client: &Client,
        call: &'static str,
        until: Instant,
        messages: &mut Streaming<T>,
    ) -> Result<Option<T>, ClientError> {
        let options = client.options();
        let left = until.saturating_duration_since(Instant::now());
        let limit = left.min(options.silence);
        match timeout(limit, messages.message()).await {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(status)) => Err(client.refusal(call, &status)),
            Err(_) => {
                let within =
                    if left < options.silence { options.stream_deadline } else { options.silence };
                let address = client.address().to_string();
                Err(ClientError::TooSlow { address, call, within })
            }
        }
    }
}

impl<T> Iterator for Stream<'_, T> {
    type Item = Result<T, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        let messages = self.messages.as_mut()?;
        let receiving = Self::receive(self.client, self.call, self.until, messages);
        let received = self.client.runtime().block_on(receiving).transpose();
        if !matches!(received, Some(Ok(_))) {
            self.messages = None;
        }
        received
    }
}
