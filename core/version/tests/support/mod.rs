//! Reads the reference vectors: lines of JSON, some with bytes in base64.
//!
//! A reader this small keeps the crate free of a JSON dependency; it trusts its input.

use std::{collections::BTreeMap, fs, iter::Peekable, str::Chars};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Word(String),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

/// Returns the lines of a vector file, or says that the file is not there.
pub(crate) fn vectors(name: &str) -> Vec<Json> {
    let path = format!(
        "{}/../../../shared/vectors/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let Ok(content) = fs::read_to_string(&path) else {
        println!("left out: {path} not present");
        return Vec::new();
    };
    content
        .lines()
        .map(|line| value(&mut line.chars().peekable()))
        .collect()
}

impl Json {
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let Json::Map(map) = self else { return None };
        map.get(key)
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        let Json::Text(text) = self else { return None };
        Some(text)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    pub(crate) fn list(&self, key: &str) -> &[Json] {
        let Some(Json::List(list)) = self.get(key) else {
            return &[];
        };
        list
    }

    /// Returns the bytes under the key, or those under the key with `B64` appended.
    pub(crate) fn bytes(&self, key: &str) -> Vec<u8> {
        match self.text(key) {
            Some(text) => text.as_bytes().to_vec(),
            None => base64(self.text(&format!("{key}B64")).expect("text or base64")),
        }
    }
}

fn base64(encoded: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = encoded
        .bytes()
        .filter_map(|byte| alphabet.iter().position(|each| *each == byte));
    let bits: Vec<usize> = digits
        .flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1))
        .collect();
    let byte = |bits: &[usize]| bits.iter().fold(0, |byte, bit| byte << 1 | *bit as u8);
    bits.chunks_exact(8).map(byte).collect()
}

fn value(input: &mut Peekable<Chars<'_>>) -> Json {
    match input.peek() {
        Some('"') => Json::Text(string(input)),
        Some('[') => Json::List(items(input, value)),
        Some('{') => Json::Map(items(input, pair).into_iter().collect()),
        _ => Json::Word(
            std::iter::from_fn(|| input.next_if(|next| !",]} ".contains(*next))).collect(),
        ),
    }
}

fn pair(input: &mut Peekable<Chars<'_>>) -> (String, Json) {
    let key = string(input);
    while input.next_if(|next| ": ".contains(*next)).is_some() {}
    (key, value(input))
}

fn items<Item>(
    input: &mut Peekable<Chars<'_>>,
    read: impl Fn(&mut Peekable<Chars<'_>>) -> Item,
) -> Vec<Item> {
    let mut items = Vec::new();
    input.next();
    loop {
        while input.next_if(|next| ", ".contains(*next)).is_some() {}
        if input.next_if(|next| "]}".contains(*next)).is_some() {
            return items;
        }
        assert!(input.peek().is_some(), "line is cut off");
        items.push(read(input));
    }
}

fn string(input: &mut Peekable<Chars<'_>>) -> String {
    let mut units = Vec::new();
    input.next();
    while let Some(character) = input.next_if(|next| *next != '"') {
        let escape = if character == '\\' {
            input.next()
        } else {
            None
        };
        let character = match escape {
            None => character,
            Some('u') => {
                let digits = String::from_iter(input.by_ref().take(4));
                units.push(u16::from_str_radix(&digits, 16).expect("four hexadecimal digits"));
                continue;
            }
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(other) => other,
        };
        units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
    }
    input.next();
    String::from_utf16(&units).expect("paired surrogates")
}
