//! Streams: where documents begin and end, in either notation and mixed.

use operon_document::{
    json::{Tape, canonical},
    stream::{Event, StreamState, last_json_boundary, last_yaml_boundary, read, read_piece},
};

/// Reads a stream and tells what was come upon, one word per event.
fn events(text: &str) -> Vec<String> {
    let mut events = Vec::new();
    read(text.as_bytes(), &mut Tape::new(), &mut |event| {
        events.push(describe(text, event));
    });
    events
}

fn describe(text: &str, event: Event<'_>) -> String {
    match event {
        Event::Document(document) => canonical(document.root),
        Event::Broken(broken) => format!("broken at {}", broken.place.start),
        Event::Ignored(range) => format!("ignored {:?}", &text[range]),
    }
}

#[test]
fn documents_are_found_as_upstream_finds_them() {
    for (text, expected) in [
        ("", &[][..]),
        ("{\"a\":1}{\"b\":2}\n\n {\"c\":3}", &["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]),
        ("a: 1\n---\nb: 2\n", &["{\"a\":1}", "{\"b\":2}"]),
        ("---\na: 1\n---\n", &["{\"a\":1}"]),
        ("---\n---\na: 1\n", &["null", "{\"a\":1}"]),
        ("\n", &["null"]),
        ("a: 1\n--- # comment\nb: 2", &["{\"a\":1}", "{\"b\":2}"]),
        ("a: 1\n--- b: 2\nc: 3", &["broken at 5", "{\"c\":3}"]),
        // One JSON document may be followed by YAML; after two it stays JSON.
        ("{\"a\":1}\n---\nb: 2\n", &["{\"a\":1}", "{\"b\":2}"]),
        ("{\"a\":1}{\"b\":2}\n---\nc: 3\n", &["{\"a\":1}", "{\"b\":2}", "broken at 16"]),
        ("{a: 1}\n", &["{\"a\":1}"]),
        // A broken document does not hide the next one.
        (
            "{\"a\":1}\n{\"b\":2}\n{\"c\": oops}\n{\"d\":4}",
            &["{\"a\":1}", "{\"b\":2}", "broken at 22", "{\"d\":4}"],
        ),
        ("a: 1\n---\nb: [\n---\nc: 3\n", &["{\"a\":1}", "broken at 14", "{\"c\":3}"]),
        // What upstream drops without a word is at least mentioned.
        ("---\n{\"a\": 1}\n{\"b\": 2}\n", &["{\"a\":1}", "ignored \"{\\\"b\\\": 2}\""]),
        ("{a: 1} # comment\n...\n", &["{\"a\":1}"]),
    ] {
        assert_eq!(events(text), expected, "{text:?}");
    }
}

#[test]
fn a_stream_may_be_cut_wherever_a_boundary_says() {
    let json = "{\"a\": \"}{\"}\n{\"b\": [1, {\"c\": \"\\\"}\"}]}\n{\"d\": 1}";
    let yaml = "a: 1\n---\nb: |\n  text\n---\nc: 3\n";
    for (text, boundary) in
        [(json, last_json_boundary as fn(&[u8]) -> usize), (yaml, last_yaml_boundary)]
    {
        for cut in 0..text.len() {
            let at = boundary(&text.as_bytes()[..cut]);
            let mut state = StreamState::guess(text.as_bytes());
            let mut found = Vec::new();
            for piece in [&text[..at], &text[at..]] {
                read_piece(piece.as_bytes(), &mut state, &mut Tape::new(), &mut |event| {
                    found.push(describe(piece, event));
                });
            }
            assert_eq!(found, events(text), "cut at {at}");
        }
    }
}
