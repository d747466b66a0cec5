//! What a registry server sends: any answers are refused or become documents, and those a catalog.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_document::json::Tape;
use operon_fbc::{MemoryFile, read_catalog};
use operon_registry::{Address, Answers, ClientOptions};
use prost::Message;

fuzz_target!(|data: &[u8]| {
    // What is no message of its type ends a call before anything of it is used.
    let Some(answers) = read(data) else { return };
    let Some(documents) = written(answers.clone()) else { return };
    // In whatever order bundles come, the documents are the same.
    let mut turned = answers.clone();
    turned.bundles.reverse();
    turned.names.reverse();
    assert_eq!(written(turned).as_ref(), Some(&documents));

    let mut tape = Tape::new();
    for line in documents.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(tape.read(line).is_ok(), "{}", String::from_utf8_lossy(line));
    }
    let length = documents.len();
    let file = MemoryFile { path: "catalog.json".to_owned(), content: documents };
    let catalog = read_catalog(&[file]);
    for finding in catalog.diagnostics() {
        if let Some(place) = finding.place {
            assert!(place.range().end <= length, "{finding:?}");
        }
    }
    // Every package arrives, however little it is worth.
    assert!(catalog.packages().count() <= answers.names.len());
});

/// Reads messages, each behind a byte for its type and two for its length.
fn read(mut data: &[u8]) -> Option<Answers> {
    let mut answers = Answers::default();
    while let [kind, high, low, rest @ ..] = data {
        let (message, behind) =
            rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
        match kind % 3 {
            0 => answers.names.push(Message::decode(message).ok()?),
            1 => answers.packages.push(Message::decode(message).ok()?),
            _ => answers.bundles.push(Message::decode(message).ok()?),
        }
        data = behind;
    }
    // A registry is asked for its packages in the order of their names.
    answers.packages.sort_by(|left, right| left.name.cmp(&right.name));
    Some(answers)
}

fn written(answers: Answers) -> Option<Vec<u8>> {
    let address = Address::parse("registry:50051").expect("an address");
    let mut out = Vec::new();
    match answers.write(&address, &ClientOptions::default(), &mut out) {
        Ok(_) => Some(out),
        Err(error) => {
            assert!(error.to_string().contains("registry:50051"), "{error}");
            None
        }
    }
}
