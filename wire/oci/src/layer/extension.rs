//! POSIX's descriptions of the next entry: records of a length, a name and a value.
//!
//! Four names matter here; owners, times and attributes are passed over.

use super::LayerProblem;

/// What is said about the next entry beyond its header.
#[derive(Debug, Default)]
pub(super) struct Extension {
    pub(super) name: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) is_sparse: bool,
}

impl Extension {
    /// Reads records and adds them; a later one wins.
    pub(super) fn read(&mut self, mut records: &[u8]) -> Result<(), LayerProblem> {
        const WRONG: LayerProblem =
            LayerProblem::BadHeader("a description of an entry has a malformed record");
        while !records.is_empty() {
            let blank = records.iter().position(|byte| *byte == b' ').ok_or(WRONG)?;
            let length = std::str::from_utf8(&records[..blank]).ok();
            let length: usize = length.and_then(|digits| digits.parse().ok()).ok_or(WRONG)?;
            let record = records.get(blank + 1..length).ok_or(WRONG)?;
            let record = record.strip_suffix(b"\n").ok_or(WRONG)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or(WRONG)?;
            self.set(&record[..equals], &record[equals + 1..])?;
            records = &records[length..];
        }
        Ok(())
    }

    fn set(&mut self, name: &[u8], value: &[u8]) -> Result<(), LayerProblem> {
        // An empty value takes back what was said before.
        let text = (!value.is_empty()).then(|| value.to_vec());
        match name {
            b"path" => self.name = text,
            b"linkpath" => self.link = text,
            b"size" => {
                let digits = std::str::from_utf8(value).ok();
                let size = digits.and_then(|digits| digits.parse().ok());
                self.size = Some(size.ok_or(LayerProblem::BadHeader("a size is no number"))?);
            }
            name if name.starts_with(b"GNU.sparse.") => self.is_sparse = true,
            _ => {}
        }
        Ok(())
    }
}
