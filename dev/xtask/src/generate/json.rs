//! JSON written as it comes: indented by four blanks as published catalogs are, or in few bytes.
//!
//! It trusts its caller: nothing checks that what is opened is closed.

use std::io::{self, Write};

const INDENT: &[u8] = b"    ";

/// Writes one document after the other.
pub(crate) struct JsonWriter<'w, W> {
    target: &'w mut W,
    written: u64,
    /// For every open object and list, whether something is in it.
    open: Vec<bool>,
    is_behind_key: bool,
    is_indented: bool,
}

impl<'w, W: Write> JsonWriter<'w, W> {
    /// Starts writing for people.
    pub(crate) fn new(target: &'w mut W) -> Self {
        Self { target, written: 0, open: Vec::new(), is_behind_key: false, is_indented: true }
    }

    /// Starts writing without blanks, each document on a line of its own.
    pub(crate) fn compact(target: &'w mut W) -> Self {
        Self { is_indented: false, ..Self::new(target) }
    }

    /// Returns how many bytes have been written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Writes an object whose fields `content` writes.
    pub(crate) fn object(
        &mut self,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.enclose(b"{", b"}", content)
    }

    /// Writes a list whose items `content` writes.
    pub(crate) fn list(
        &mut self,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.enclose(b"[", b"]", content)
    }

    /// Writes the key of the value that comes next.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<()> {
        self.separate()?;
        self.quoted(key)?;
        self.put(if self.is_indented { b": " } else { b":" })?;
        self.is_behind_key = true;
        Ok(())
    }

    /// Writes a field with a text.
    pub(crate) fn field(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.key(key)?;
        self.text(text)
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.separate()?;
        self.quoted(text)
    }

    /// Writes `true` or `false`.
    pub(crate) fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.separate()?;
        self.put(if value { b"true" } else { b"false" })
    }

    /// Ends a document.
    pub(crate) fn end_document(&mut self) -> io::Result<()> {
        self.put(b"\n")
    }

    fn enclose(
        &mut self,
        opening: &[u8],
        closing: &[u8],
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.separate()?;
        self.put(opening)?;
        self.open.push(false);
        content(self)?;
        if self.open.pop() == Some(true) {
            self.break_line()?;
        }
        self.put(closing)
    }

    fn separate(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_behind_key) {
            return Ok(());
        }
        let Some(has_items) = self.open.last_mut() else {
            return Ok(());
        };
        if std::mem::replace(has_items, true) {
            self.put(b",")?;
        }
        self.break_line()
    }

    fn break_line(&mut self) -> io::Result<()> {
        if !self.is_indented {
            return Ok(());
        }
        self.put(b"\n")?;
        for _ in 0..self.open.len() {
            self.put(INDENT)?;
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) -> io::Result<()> {
        self.put(b"\"")?;
        let mut rest = text;
        while let Some(position) = rest.find(['"', '\\', '\n']) {
            let (plain, special) = rest.split_at(position);
            self.put(plain.as_bytes())?;
            self.put(match special.as_bytes()[0] {
                b'"' => b"\\\"",
                b'\\' => b"\\\\",
                _ => b"\\n",
            })?;
            rest = &special[1..];
        }
        self.put(rest.as_bytes())?;
        self.put(b"\"")
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.target.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_sample(mut json: JsonWriter<'_, Vec<u8>>) -> u64 {
        json.object(|json| {
            json.field("a", "say \"hi\"\\\n")?;
            json.key("empty")?;
            json.object(|_| Ok(()))?;
            json.key("list")?;
            json.list(|json| {
                json.text("b")?;
                json.boolean(true)
            })
        })
        .and_then(|()| json.end_document())
        .expect("memory takes everything");
        json.written()
    }

    #[test]
    fn documents_are_indented_and_escaped() {
        let mut bytes = Vec::new();
        let written = write_sample(JsonWriter::new(&mut bytes));
        let text = String::from_utf8(bytes).expect("it is text");
        let expected = r#"{
    "a": "say \"hi\"\\\n",
    "empty": {},
    "list": [
        "b",
        true
    ]
}
"#;
        assert_eq!(text, expected);
        assert_eq!(written, text.len() as u64);
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
    }

    #[test]
    fn compact_documents_have_no_blanks() {
        let mut bytes = Vec::new();
        write_sample(JsonWriter::compact(&mut bytes));
        let text = String::from_utf8(bytes).expect("it is text");
        assert_eq!(text, "{\"a\":\"say \\\"hi\\\"\\\\\\n\",\"empty\":{},\"list\":[\"b\",true]}\n");
    }
}
