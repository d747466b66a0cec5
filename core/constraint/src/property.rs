//! A property of a bundle: the typed metadata that requirements are tested against.
//!
//! The value is kept as JSON only; property types with a meaning of their own are read where that
//! meaning is needed.

use crate::json::{Json, TrailingText};

/// Holds one property of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Holds the type, as `olm.package`.
    pub property_type: String,
    /// Holds the value, or nothing if its text is not JSON: rules see such a property as a map
    /// without entries, and no other requirement can match it.
    pub value: Option<Json>,
}

impl Property {
    /// Makes a property of the text of its value.
    pub fn from_text(property_type: impl Into<String>, value_text: impl AsRef<[u8]>) -> Self {
        Self {
            property_type: property_type.into(),
            value: Json::parse(value_text, TrailingText::Refuse).ok(),
        }
    }
}

impl From<(String, Json)> for Property {
    fn from((property_type, value): (String, Json)) -> Self {
        Self { property_type, value: Some(value) }
    }
}
