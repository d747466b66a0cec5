//! A connection over TCP or a Unix socket, with a companion that lives as long as it does.
//!
//! Bytes pass through unchanged; the companion only sees those that arrive, and can end the connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};

/// The bytes of a connection.
#[derive(Debug)]
pub(crate) enum Wire {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Something that goes along with a connection and is dropped with it.
pub(crate) trait Companion: Send + Unpin + 'static {
    /// Is shown bytes that arrived.
    fn arrived(&mut self, _bytes: &[u8]) {}

    /// Returns an error if the connection has to end. Wakes the task of `context` when that changes.
    fn check(&mut self, _context: &Context<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A connection and its companion.
#[derive(Debug)]
pub(crate) struct Socket<C> {
    pub(crate) wire: Wire,
    pub(crate) companion: C,
}

impl<C: Companion> AsyncRead for Socket<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.companion.check(context)?;
        let before = buffer.filled().len();
        let polled = match &mut self.wire {
            Wire::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Wire::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        self.companion.arrived(&buffer.filled()[before..]);
        polled
    }
}

impl<C: Companion> AsyncWrite for Socket<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.companion.check(context)?;
        match &mut self.wire {
            Wire::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Wire::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.companion.check(context)?;
        match &mut self.wire {
            Wire::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Wire::Unix(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.companion.check(context)?;
        match &mut self.wire {
            Wire::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Wire::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.companion.check(context)?;
        match &mut self.wire {
            Wire::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Wire::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
