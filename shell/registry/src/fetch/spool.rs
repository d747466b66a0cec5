//! Texts that wait in a temporary file until their order is known.
//!
//! A catalog may be larger than what should lie in memory; only places in the file do.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
};

/// Texts in a temporary file, which goes with them.
#[derive(Debug)]
pub(super) struct Spool {
    file: BufWriter<File>,
    length: u64,
}

/// Where a text lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spooled {
    start: u64,
    length: u64,
}

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), length: 0 })
    }

    pub(super) fn add(&mut self, text: &[u8]) -> io::Result<Spooled> {
        self.file.write_all(text)?;
        let spooled = Spooled { start: self.length, length: text.len() as u64 };
        self.length += spooled.length;
        Ok(spooled)
    }

    /// Copies a text out of the file.
    pub(super) fn copy(&mut self, text: Spooled, out: &mut dyn Write) -> io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(text.start))?;
        let copied = io::copy(&mut file.take(text.length), out)?;
        if copied == text.length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
