//! What a registry says when it refuses: codes and one line for people.
//!
//! A proxy in between may say anything, so that anything has a line too. What to do about a code is
//! decided by those who asked.

use operon_object::Value;

use crate::printable::excerpt;

/// Limits how much of an answer is looked at; the rest of an error page adds nothing.
pub const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// How many errors are told.
const MAX_ERRORS: usize = 5;
const MAX_CODE_CHARACTERS: usize = 60;
const MAX_MESSAGE_CHARACTERS: usize = 200;

/// What a registry said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// The codes, such as `MANIFEST_UNKNOWN`, in the order of the answer.
    pub codes: Vec<String>,
    /// One line for people; empty where nothing was said.
    pub line: String,
}

impl ErrorBody {
    /// Reads an answer; it never fails.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(MAX_ERROR_BODY_BYTES)];
        let Ok(value) = Value::parse_json(bytes) else {
            let line = excerpt(&String::from_utf8_lossy(bytes), MAX_MESSAGE_CHARACTERS);
            return Self { codes: Vec::new(), line };
        };
        let errors = value.get("errors").elements();
        if errors.is_empty() {
            return Self { codes: Vec::new(), line: single_message(&value) };
        }
        let code = |error: &Value| excerpt(error.get("code").str(), MAX_CODE_CHARACTERS);
        let codes = errors.iter().take(MAX_ERRORS).map(code).filter(|code| !code.is_empty());
        let lines: Vec<String> = errors.iter().take(MAX_ERRORS).map(sentence).collect();
        Self { codes: codes.collect(), line: lines.join("; ") }
    }

    /// Tells whether a code was said.
    pub fn has(&self, code: &str) -> bool {
        self.codes.iter().any(|said| said.eq_ignore_ascii_case(code))
    }
}

fn sentence(error: &Value) -> String {
    let code = excerpt(error.get("code").str(), MAX_CODE_CHARACTERS);
    let message = excerpt(error.get("message").str(), MAX_MESSAGE_CHARACTERS);
    let detail = match error.get("detail") {
        Value::Text(detail) => excerpt(detail, MAX_MESSAGE_CHARACTERS),
        _ => String::new(),
    };
    let words = [&message, &detail, &code];
    let mut line = words.into_iter().find(|word| !word.is_empty()).cloned().unwrap_or_default();
    if !code.is_empty() && line != code {
        line = format!("{line} ({code})");
    }
    line
}

/// Servers that are no registries name one message by one of these words.
fn single_message(value: &Value) -> String {
    let named = ["message", "error_description", "error", "details"]
        .iter()
        .map(|name| value.get(name).str())
        .find(|message| !message.is_empty());
    let text = named.map_or_else(|| value.to_string(), str::to_owned);
    excerpt(&text, MAX_MESSAGE_CHARACTERS)
}
