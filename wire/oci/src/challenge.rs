//! `WWW-Authenticate`: how a registry wants to be told who asks.
//!
//! A header may hold several challenges; what makes no sense is passed over, because another may.
//! Whether an address in a challenge may be trusted is not judged here.

use std::collections::BTreeMap;

/// Limits a header that is looked at: real ones have some hundred bytes.
pub const MAX_CHALLENGE_BYTES: usize = 16 * 1024;

/// One way to be let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    /// Fetch a token first and send that.
    Bearer {
        /// The address of the server that gives tokens.
        realm: String,
        /// The name by which that server knows the registry.
        service: Option<String>,
        /// What the token should allow, such as `repository:library/nginx:pull`.
        scope: Option<String>,
        /// Why the token that was sent is not good enough, such as `insufficient_scope`.
        error: Option<String>,
    },
    /// Send name and password.
    Basic {
        /// What they are for, in the words of the registry.
        realm: Option<String>,
    },
    /// A way that is not known, such as `Negotiate`.
    Other {
        /// Its name.
        scheme: String,
    },
}

impl Challenge {
    /// Reads a header; a bearer challenge without an address is left out, as is everything in a header
    /// that is longer than [`MAX_CHALLENGE_BYTES`].
    pub fn parse(header: &str) -> Vec<Self> {
        if header.len() > MAX_CHALLENGE_BYTES {
            return Vec::new();
        }
        let mut challenges = Vec::new();
        let mut open: Option<(String, BTreeMap<String, String>)> = None;
        let mut scanner = Scanner { rest: header };
        while let Some(word) = scanner.next_word() {
            if let Some(value) = scanner.value() {
                // The first of equal names counts, so that nothing appended can change it.
                if let Some((_, parameters)) = &mut open {
                    parameters.entry(word.to_ascii_lowercase()).or_insert(value);
                }
            } else {
                challenges.extend(open.replace((word.to_owned(), BTreeMap::new())));
            }
        }
        challenges.extend(open);
        challenges
            .into_iter()
            .filter_map(|(scheme, parameters)| Self::of(scheme, parameters))
            .collect()
    }

    fn of(scheme: String, mut parameters: BTreeMap<String, String>) -> Option<Self> {
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Some(Self::Bearer {
                realm: parameters.remove("realm").filter(|realm| !realm.is_empty())?,
                service: parameters.remove("service"),
                scope: parameters.remove("scope"),
                error: parameters.remove("error"),
            }),
            "basic" => Some(Self::Basic { realm: parameters.remove("realm") }),
            _ => Some(Self::Other { scheme }),
        }
    }
}

/// Walks through a header from word to word.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    /// Returns the next token, after passing over everything that cannot begin one.
    fn next_word(&mut self) -> Option<&'a str> {
        let start = self.rest.find(is_token)?;
        let rest = &self.rest[start..];
        let end = rest.find(|letter| !is_token(letter)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        Some(&rest[..end])
    }

    /// Returns the value behind `=`; nothing where the word was no name of a parameter.
    fn value(&mut self) -> Option<String> {
        let rest = self.rest.trim_start_matches([' ', '\t']).strip_prefix('=')?;
        let rest = rest.trim_start_matches([' ', '\t']);
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find([',', ' ', '\t']).unwrap_or(rest.len());
            self.rest = &rest[end..];
            return Some(rest[..end].to_owned());
        };
        let mut value = String::new();
        let mut letters = quoted.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &quoted[at + 1..];
                    return Some(value);
                }
                '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
                letter => value.push(letter),
            }
        }
        self.rest = "";
        Some(value)
    }
}

fn is_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/:".contains(letter)
}
