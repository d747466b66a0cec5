//! Digests: the names that contents give themselves.
//!
//! Two algorithms are known, those that the image specification registers. What is not named by its
//! digest is not this file's business.

use std::fmt;

use sha2::{Digest as _, Sha256, Sha512};

/// Names an algorithm of digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// `sha256`, which every registry uses.
    Sha256,
    /// `sha512`, which the specification allows.
    Sha512,
}

impl Algorithm {
    /// Returns the name as it stands before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    /// Returns the number of hexadecimal digits.
    pub fn hex_length(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }
}

/// Names content, such as `sha256:e3b0…`: its digits are lower case and as many as the algorithm has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    hex: Box<str>,
}

/// Says why a text is no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    /// There is no colon between the algorithm and the digits.
    #[error(
        "the digest `{text}` has no `:`; a digest looks like `sha256:` and 64 hexadecimal digits"
    )]
    NoColon {
        /// The text, shortened.
        text: String,
    },
    /// The algorithm is not known.
    #[error("the digest algorithm `{algorithm}` is not known; `sha256` and `sha512` are")]
    UnknownAlgorithm {
        /// The text before the colon, shortened.
        algorithm: String,
    },
    /// There are too few or too many digits.
    #[error("a {} digest has {} digits, this one has {length}", algorithm.name(), algorithm.hex_length())]
    WrongLength {
        /// The algorithm.
        algorithm: Algorithm,
        /// How many bytes there are behind the colon.
        length: usize,
    },
    /// A digit is not one of `0-9a-f`.
    #[error("a digest has the digits `0-9` and `a-f` only, this one has {found:?}")]
    WrongDigit {
        /// The first character that is none.
        found: char,
    },
}

impl Digest {
    /// Returns the SHA-256 of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(bytes.as_ref());
        hasher.finish()
    }

    /// Reads `algorithm:hex`.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let Some((algorithm, hex)) = text.split_once(':') else {
            return Err(DigestError::NoColon { text: crate::printable::excerpt(text, 80) });
        };
        let algorithm = match algorithm {
            "sha256" => Algorithm::Sha256,
            "sha512" => Algorithm::Sha512,
            other => {
                let algorithm = crate::printable::excerpt(other, 40);
                return Err(DigestError::UnknownAlgorithm { algorithm });
            }
        };
        if let Some(found) = hex.chars().find(|digit| !matches!(digit, '0'..='9' | 'a'..='f')) {
            return Err(DigestError::WrongDigit { found });
        }
        if hex.len() != algorithm.hex_length() {
            return Err(DigestError::WrongLength { algorithm, length: hex.len() });
        }
        Ok(Self { algorithm, hex: hex.into() })
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the digits.
    pub fn hex(&self) -> &str {
        &self.hex
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.algorithm.name(), self.hex)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Computes a digest of content that arrives in pieces.
#[derive(Clone)]
pub struct Hasher {
    state: State,
    length: u64,
}

#[derive(Clone)]
enum State {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    /// Starts with nothing.
    pub fn new(algorithm: Algorithm) -> Self {
        let state = match algorithm {
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Sha512 => State::Sha512(Sha512::new()),
        };
        Self { state, length: 0 }
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        match &mut self.state {
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    /// Returns how many bytes were taken.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the digest of all that was taken.
    pub fn finish(self) -> Digest {
        match self.state {
            State::Sha256(state) => {
                Digest { algorithm: Algorithm::Sha256, hex: hex(&state.finalize()) }
            }
            State::Sha512(state) => {
                Digest { algorithm: Algorithm::Sha512, hex: hex(&state.finalize()) }
            }
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hasher").field("length", &self.length).finish_non_exhaustive()
    }
}

/// Compares content that arrives in pieces with the digest it should have.
#[derive(Debug, Clone)]
pub struct Verifier {
    expected: Digest,
    hasher: Hasher,
}

impl Verifier {
    /// Starts with nothing.
    pub fn new(expected: Digest) -> Self {
        let hasher = Hasher::new(expected.algorithm);
        Self { expected, hasher }
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// Returns how many bytes were taken.
    pub fn length(&self) -> u64 {
        self.hasher.length()
    }

    /// Returns the digest that is expected.
    pub fn expected(&self) -> &Digest {
        &self.expected
    }

    /// Returns the expected digest where it is the content's, and otherwise the one that it has.
    pub fn finish(self) -> Result<Digest, Digest> {
        let found = self.hasher.finish();
        if found == self.expected { Ok(found) } else { Err(found) }
    }
}

fn hex(bytes: &[u8]) -> Box<str> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect::<String>().into()
}
