//! The catalog reader: any bytes give a catalog with findings, and writing it back is stable.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_document::{
    json::{Tape, canonical},
    stream::{self, Event},
};
use operon_fbc::{MemoryFile, OutputFormat, read_catalog, write_documents};

fuzz_target!(|data: &[u8]| {
    let file = |content: Vec<u8>| MemoryFile { path: "catalog.yaml".to_owned(), content };
    let catalog = read_catalog(&[file(data.to_vec())]);
    // Every finding points into the text.
    for finding in catalog.diagnostics() {
        if let Some(place) = finding.place {
            assert!(place.range().end <= data.len(), "{finding:?}");
        }
    }
    let mut documents = Vec::new();
    stream::read(data, &mut Tape::new(), &mut |event| {
        if let Event::Document(document) = event {
            documents.push(canonical(document.root));
        }
    });
    documents.retain(|document| document.starts_with('{'));
    for format in [OutputFormat::Json, OutputFormat::Yaml] {
        let written = write_documents(&documents, format).expect("canonical documents can be written");
        let mut again = Vec::new();
        stream::read(written.as_bytes(), &mut Tape::new(), &mut |event| match event {
            Event::Document(document) => again.push(canonical(document.root)),
            Event::Broken(broken) => panic!("what was written cannot be read: {broken:?}\n{written}"),
            Event::Ignored(_) => panic!("what was written is not read\n{written}"),
        });
        let mut expected = documents.clone();
        expected.sort();
        again.sort();
        assert_eq!(again, expected, "{format:?}\n{written}");
    }
});
