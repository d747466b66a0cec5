//! The decompressed bytes of a layer, counted.
//!
//! Every byte that comes out is weighed against those that went in, so that a bomb is noticed while it
//! goes off. What the bytes mean is not known here.

use std::{
    cell::{Cell, RefCell},
    io::{self, BufReader, Read},
    rc::Rc,
};

use flate2::bufread::MultiGzDecoder;
use zstd::stream::read::Decoder;

use super::{LayerLimits, LayerProblem, MAX_ZSTD_WINDOW_LOG};
use crate::{Digest, LayerCompression, SNIFFED_BYTES, Verifier};

/// How much is read of a blob at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// What is known about the compressed side.
#[derive(Default)]
struct Intake {
    compressed: Cell<u64>,
    /// Why the blob itself could not be read.
    failure: RefCell<Option<io::Error>>,
}

/// Reads a blob and remembers how much, and why it could not.
struct Blob<R> {
    blob: R,
    intake: Rc<Intake>,
}

impl<R: Read> Read for Blob<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.blob.read(buffer) {
                Ok(length) => {
                    self.intake.compressed.set(self.intake.compressed.get() + length as u64);
                    return Ok(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let again = io::Error::new(error.kind(), "the blob cannot be read");
                    *self.intake.failure.borrow_mut() = Some(error);
                    return Err(again);
                }
            }
        }
    }
}

/// The archive in a layer.
pub(super) struct Stream<'r> {
    archive: Box<dyn Read + 'r>,
    intake: Rc<Intake>,
    limits: LayerLimits,
    /// How many bytes came out.
    offset: u64,
    /// How many bytes came out of the layers below.
    below: u64,
    /// Hashes what comes out, where the digest of it is known.
    verifier: Option<Verifier>,
}

impl<'r> Stream<'r> {
    /// Opens a layer after a look at its first bytes.
    pub(super) fn open(
        blob: impl Read + 'r,
        compression: LayerCompression,
        limits: LayerLimits,
        below: u64,
        diff_id: Option<&Digest>,
    ) -> Result<Self, LayerProblem> {
        let intake = Rc::new(Intake::default());
        let mut blob = Blob { blob, intake: Rc::clone(&intake) };
        let mut first = Vec::with_capacity(SNIFFED_BYTES);
        let sniffed = (&mut blob).take(SNIFFED_BYTES as u64).read_to_end(&mut first);
        sniffed.map_err(|error| unreadable(&intake, error))?;
        compression.check(&first)?;
        let blob = io::Cursor::new(first).chain(blob);
        let archive: Box<dyn Read + 'r> = match compression {
            LayerCompression::Plain => Box::new(blob),
            LayerCompression::Gzip => {
                let blob = BufReader::with_capacity(BUFFER_BYTES, blob);
                Box::new(MultiGzDecoder::new(blob))
            }
            LayerCompression::Zstd => {
                let mut decoder = Decoder::new(blob).map_err(LayerProblem::Damaged)?;
                decoder.window_log_max(MAX_ZSTD_WINDOW_LOG).map_err(LayerProblem::Damaged)?;
                Box::new(decoder)
            }
        };
        let verifier = diff_id.cloned().map(Verifier::new);
        Ok(Self { archive, intake, limits, offset: 0, below, verifier })
    }

    /// Returns how many bytes came out.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads some bytes; none at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LayerProblem> {
        let length = loop {
            match self.archive.read(buffer) {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.intake, error)),
            }
        };
        self.offset += length as u64;
        if let Some(verifier) = &mut self.verifier {
            verifier.update(&buffer[..length]);
        }
        self.weigh()?;
        Ok(length)
    }

    /// Reads until the buffer is full or the stream ends; returns how many bytes there were.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, LayerProblem> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                length => filled += length,
            }
        }
        Ok(filled)
    }

    /// Compares what came out with its digest; the stream must have been read to its end.
    pub(super) fn verify(&mut self) -> Result<(), LayerProblem> {
        let Some(verifier) = self.verifier.take() else { return Ok(()) };
        let expected = verifier.expected().clone();
        match verifier.finish() {
            Ok(_) => Ok(()),
            Err(found) => Err(LayerProblem::WrongDiffId { expected, found }),
        }
    }

    fn weigh(&self) -> Result<(), LayerProblem> {
        let limit = self.limits.decompressed_bytes;
        if self.below.saturating_add(self.offset) > limit {
            return Err(LayerProblem::TooManyBytes { limit });
        }
        let compressed = self.intake.compressed.get();
        let (decompressed, limit) = (self.offset, self.limits.ratio);
        if decompressed > self.limits.grace_bytes && decompressed / limit > compressed {
            return Err(LayerProblem::Bomb { compressed, decompressed, limit });
        }
        Ok(())
    }
}

/// Tells a blob that cannot be read from one that is damaged.
fn unreadable(intake: &Intake, error: io::Error) -> LayerProblem {
    if let Some(failure) = intake.failure.borrow_mut().take() {
        return LayerProblem::Unreadable(failure);
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return LayerProblem::Truncated;
    }
    LayerProblem::Damaged(error)
}
