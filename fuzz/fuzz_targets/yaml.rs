//! The YAML loader: any bytes are converted or refused; what is converted is JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_document::{
    json::Tape,
    yaml::{DuplicateKeys, YamlOptions, to_json},
};

fuzz_target!(|data: &[u8]| {
    for duplicate_keys in [DuplicateKeys::LastWins, DuplicateKeys::Report] {
        let options = YamlOptions { duplicate_keys, ..YamlOptions::default() };
        match to_json(data, &options) {
            Ok(converted) => {
                let mut tape = Tape::new();
                let root = tape.read(&converted.json).expect("the loader writes JSON");
                let place = converted.places.place(root.span().start);
                assert!(place.end <= data.len(), "{place:?}");
            }
            Err(error) => {
                assert!(error.offset().is_none_or(|offset| offset <= data.len()), "{error}");
                assert!(!error.message().contains("internal"), "{error}");
            }
        }
    }
});
