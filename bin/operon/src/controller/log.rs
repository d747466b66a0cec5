//! What happens, line by line on standard error.
//!
//! Objects are named and never shown: what is in a Secret is not written anywhere.

use operon_document::escape_json;
use operon_object::{Timestamp, Value, exact_json};

use super::LogFormat;
use crate::{
    cluster::now,
    output::{clean, stderr_log_line},
};

/// Writes what happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Log {
    format: LogFormat,
}

impl Log {
    pub(super) fn new(format: LogFormat) -> Self {
        Self { format }
    }

    /// Says something, with what it is about.
    pub(super) fn say(&self, level: &str, message: &str, about: &[(&str, &str)]) {
        let line = self.line(now(), level, message, about);
        stderr_log_line(&line);
    }

    fn line(&self, time: Timestamp, level: &str, message: &str, about: &[(&str, &str)]) -> String {
        match self.format {
            LogFormat::Json => {
                let time = time.to_string();
                let first = [("time", time.as_str()), ("level", level), ("message", message)];
                let all = first.into_iter().chain(about.iter().copied());
                let value = Value::map(all.map(|(name, text)| (name, Value::from(text))));
                escape_json(&exact_json(&value)).into_owned()
            }
            LogFormat::Text => {
                let about: String =
                    about.iter().map(|(name, text)| format!(" {name}={text:?}")).collect();
                clean(&format!("{time} {level} {message}{about}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_are_one_printable_line() {
        let hostile = "a\n::error::b\r\u{1b}[2J\u{9b}\u{85}\u{202e}\u{2028}c";
        for format in [LogFormat::Json, LogFormat::Text] {
            let time = Timestamp::from_milliseconds(0);
            let line = Log::new(format).line(time, "warn", hostile, &[("reason", hostile)]);
            assert!(!line.contains(operon_document::is_unprintable), "{line:?}");
            if format == LogFormat::Json {
                let read = Value::parse_json(&line).expect("it is JSON");
                assert_eq!(
                    (read.get("message").str(), read.get("reason").str()),
                    (hostile, hostile)
                );
            }
        }
    }

    #[test]
    fn log_fields_are_quoted() {
        let about = [("object", "a\nb\"c")];
        let time = Timestamp::from_milliseconds(0);
        let line = |format| Log::new(format).line(time, "info", "done", &about);
        let json = line(LogFormat::Json);
        let read = Value::parse_json(&json).expect("it is JSON");
        assert_eq!(read.get("object").str(), "a\nb\"c");
        assert_eq!(read.get("time").str(), "1970-01-01T00:00:00Z");
        assert_eq!(line(LogFormat::Text), r#"1970-01-01T00:00:00Z info done object="a\nb\"c""#);
        assert!(!json.contains('\n'));
    }
}
