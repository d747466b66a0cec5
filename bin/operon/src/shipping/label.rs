//! A label of an image, as it is typed.

use std::str::FromStr;

/// A key and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) String, pub(crate) String);

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self(key.trim().to_owned(), value.to_owned()))
            }
            _ => Err(format!("`{text}` is no label; write `KEY=VALUE`")),
        }
    }
}
