//! Messages on a socket: a head and the objects that belong to it, each a length and JSON.
//!
//! Whoever is at the other end may be slow, silent or mad: every wait has an end and every length a
//! limit. What a message means is not known here.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use operon_object::{Object, Value, exact_json, map};

/// The largest frame: an object is at most 1.5 MiB, and escapes can make its JSON six times as long.
pub const FRAME_BYTES_LIMIT: usize = 16 * 1024 * 1024;

/// Small frames are sent together up to this size.
const SEND_BYTES: usize = 256 * 1024;

/// A frame is read in pieces of this size, so that a length alone costs no memory.
const RECEIVE_BYTES: usize = 64 * 1024;

/// Something said on a socket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    /// What is said.
    pub(crate) head: Value,
    /// What it is said about. Objects travel beside the head, so that they nest as deeply as they
    /// may.
    pub(crate) objects: Vec<Object>,
}

/// How long to wait for the other end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For the first byte of a message.
    pub(crate) begin: Duration,
    /// For the rest of each frame.
    pub(crate) frame: Duration,
}

/// Says why there is no message.
#[derive(Debug)]
pub(crate) enum FrameError {
    /// The other end closed the connection between two messages.
    Closed,
    /// What came is no message.
    Malformed(String),
    /// The connection failed, or took too long.
    Io(io::Error),
}

impl fmt::Display for FrameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => formatter.write_str("the other end closed the connection"),
            Self::Malformed(detail) => formatter.write_str(detail),
            Self::Io(error) => error.fmt(formatter),
        }
    }
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Sends a message.
pub(crate) fn send(
    stream: &UnixStream,
    message: &Message,
    patience: Duration,
) -> Result<(), FrameError> {
    let count = i64::try_from(message.objects.len()).unwrap_or(i64::MAX);
    let head = map! { "head" => message.head.clone(), "objects" => count };
    let mut buffer = Vec::new();
    push_frame(&mut buffer, &head)?;
    for object in &message.objects {
        push_frame(&mut buffer, object.value())?;
        if buffer.len() >= SEND_BYTES {
            write_all(stream, &buffer, patience)?;
            buffer.clear();
        }
    }
    write_all(stream, &buffer, patience)
}

/// Receives a message with at most so many objects.
pub(crate) fn receive(
    stream: &UnixStream,
    patience: Patience,
    objects_limit: usize,
) -> Result<Message, FrameError> {
    let envelope = receive_value(stream, patience)?;
    let count = envelope.get("objects").as_integer().and_then(|count| usize::try_from(count).ok());
    let Some(count) = count.filter(|count| *count <= objects_limit) else {
        let detail =
            format!("a message says with how many objects it comes, at most {objects_limit}");
        return Err(FrameError::Malformed(detail));
    };
    let rest = Patience { begin: patience.frame, frame: patience.frame };
    let mut objects = Vec::new();
    for _ in 0..count {
        let value = match receive_value(stream, rest) {
            Err(FrameError::Closed) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            other => other,
        }?;
        let object = Object::from_value(value);
        objects.push(object.map_err(|error| FrameError::Malformed(error.to_string()))?);
    }
    Ok(Message { head: envelope.get("head").clone(), objects })
}

fn push_frame(buffer: &mut Vec<u8>, value: &Value) -> Result<(), FrameError> {
    let text = exact_json(value);
    let length = u32::try_from(text.len()).ok().filter(|_| text.len() <= FRAME_BYTES_LIMIT);
    let Some(length) = length else {
        return Err(too_large(text.len()));
    };
    buffer.extend_from_slice(&length.to_be_bytes());
    buffer.extend_from_slice(text.as_bytes());
    Ok(())
}

fn receive_value(stream: &UnixStream, patience: Patience) -> Result<Value, FrameError> {
    let mut header = [0; 4];
    let begun = read_some(stream, &mut header, patience.begin)?;
    if begun == 0 {
        return Err(FrameError::Closed);
    }
    let deadline = Deadline::after(patience.frame);
    read_exact(stream, &mut header[begun..], deadline)?;
    let length = usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX);
    if length > FRAME_BYTES_LIMIT {
        return Err(too_large(length));
    }
    let mut text = Vec::new();
    while text.len() < length {
        let from = text.len();
        text.resize(length.min(from + RECEIVE_BYTES), 0);
        read_exact(stream, &mut text[from..], deadline)?;
    }
    Value::parse_json(&text).map_err(|error| FrameError::Malformed(error.to_string()))
}

fn too_large(length: usize) -> FrameError {
    FrameError::Malformed(format!(
        "{length} bytes are more than the {FRAME_BYTES_LIMIT} of a frame"
    ))
}

/// When to stop waiting.
#[derive(Clone, Copy)]
struct Deadline {
    begun: Instant,
    patience: Duration,
}

impl Deadline {
    fn after(patience: Duration) -> Self {
        Self { begun: Instant::now(), patience }
    }

    fn remaining(self) -> io::Result<Duration> {
        let remaining = self.patience.saturating_sub(self.begun.elapsed());
        if remaining.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        Ok(remaining)
    }
}

fn read_exact(
    stream: &UnixStream,
    mut buffer: &mut [u8],
    deadline: Deadline,
) -> Result<(), FrameError> {
    while !buffer.is_empty() {
        let count = read_some(stream, buffer, deadline.remaining()?)?;
        if count == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        buffer = &mut buffer[count..];
    }
    Ok(())
}

fn read_some(
    mut stream: &UnixStream,
    buffer: &mut [u8],
    patience: Duration,
) -> Result<usize, FrameError> {
    let deadline = Deadline::after(patience);
    loop {
        stream.set_read_timeout(Some(deadline.remaining()?))?;
        match stream.read(buffer) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn write_all(
    mut stream: &UnixStream,
    mut buffer: &[u8],
    patience: Duration,
) -> Result<(), FrameError> {
    let deadline = Deadline::after(patience);
    while !buffer.is_empty() {
        stream.set_write_timeout(Some(deadline.remaining()?))?;
        match stream.write(buffer) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
            Ok(count) => buffer = &buffer[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
