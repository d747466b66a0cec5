//! Seeds for the registry API: messages, frames and connections in both directions.

use super::archive::gzip;

/// Encodes a field of text or of a message; its length has up to two times seven bits.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = [content.len() as u8 & 0x7f | 0x80, (content.len() >> 7) as u8];
    [&[number << 3 | 2][..], &length, content].concat()
}

/// Puts a message into a gRPC frame.
fn frame(is_compressed: bool, message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_be_bytes();
    [&[u8::from(is_compressed)][..], &length, message].concat()
}

/// An input is messages, each behind a byte for its type and two for its length.
pub(super) fn answers() -> Vec<Vec<u8>> {
    let message = |kind: u8, fields: &[(u8, &[u8])]| {
        let body: Vec<u8> = fields.iter().flat_map(|(number, text)| field(*number, text)).collect();
        [vec![kind, (body.len() >> 8) as u8, body.len() as u8], body].concat()
    };
    let api = [field(1, b"a.io"), field(2, b"v1"), field(3, b"A")].concat();
    let word = field(1, b"old");
    let property = |kind: &[u8], value: &[u8]| [field(1, kind), field(2, value)].concat();
    let of_package = property(b"olm.package", br#"{"packageName":"a","version":"1.0.0"}"#);
    let needs = property(b"olm.package", br#"{"packageName":"b","version":">1.0.0"}"#);
    let names = [message(0, &[(1, b"a")]), message(0, &[(1, b"b")])].concat();
    let channel = [field(1, b"c"), field(2, b"a.v1"), field(3, &word)].concat();
    let bare_channel = [field(1, b"c"), field(2, b"b.v1")].concat();
    let packages = [
        message(1, &[(1, b"a"), (2, &channel), (3, b"c"), (4, &word)]),
        message(1, &[(1, b"b"), (2, &bare_channel), (3, b"c")]),
    ]
    .concat();
    let new = message(
        2,
        &[
            (1, b"a.v1"),
            (2, b"a"),
            (3, b"c"),
            (6, b"q.io/a:v1"),
            (10, b"<1.0.0"),
            (12, &of_package),
            (13, b"a.v0"),
            (14, b"a.v00"),
            (15, &word),
        ],
    );
    let old = message(
        2,
        &[
            (1, b"b.v1"),
            (2, b"b"),
            (3, b"c"),
            (4, b"{}"),
            (5, b"{\"kind\":\"A\"}"),
            (7, &api),
            (8, &api),
            (9, b"1.0.0"),
            (11, &needs),
        ],
    );
    vec![
        [names.clone(), packages.clone(), new.clone(), old.clone()].concat(),
        [old, new.clone(), packages.clone(), names.clone()].concat(),
        [names, packages, new.clone(), new].concat(),
    ]
}

/// An input is a byte that selects a call, and the body of its request; or bytes of a connection.
pub(super) fn requests() -> Vec<Vec<u8>> {
    const COMPRESSED: u8 = 64;
    const IN_PIECES: u8 = 32;
    const RAW: u8 = 128;
    let of = |texts: &[&str]| -> Vec<u8> {
        (1..).zip(texts).flat_map(|(number, text)| field(number, text.as_bytes())).collect()
    };
    let bodies = [
        of(&[]),
        of(&["a"]),
        of(&["a", "c", "a.v1"]),
        of(&["a", "c"]),
        of(&["a.v1"]),
        of(&["a.v1", "a", "c"]),
        of(&["a.io", "v1", "A", "as"]),
        of(&["a.io", "v1", "A", "as"]),
        of(&["a.io", "v1", "A", "as"]),
        of(&[]),
        of(&["b", "a"]),
        of(&["api.Registry"]),
        // The field for a listing of services is the seventh.
        field(7, b"*"),
        of(&["a"]),
    ];
    let mut inputs = Vec::new();
    for (call, body) in (0..).zip(&bodies) {
        inputs.push([&[call][..], &frame(false, body)].concat());
        inputs.push([&[call | COMPRESSED][..], &frame(true, &gzip(body))].concat());
    }
    // No frame, half a frame, and several.
    let [_, one, ..] = &bodies;
    inputs.push(vec![1]);
    inputs.push([&[1 | IN_PIECES][..], &frame(false, one)].concat());
    inputs.push([&[1][..], &frame(false, one)[..4]].concat());
    inputs.push([&[1][..], &frame(false, one), &frame(false, one)].concat());
    inputs.push([&[RAW][..], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"].concat());
    inputs.push([&[RAW][..], &connection(&frame(false, one))].concat());
    inputs
}

/// Encodes a whole connection of HTTP/2 with one call.
fn connection(body: &[u8]) -> Vec<u8> {
    let http = |kind: u8, flags: u8, stream: u8, content: &[u8]| {
        let length = (content.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, stream], content].concat()
    };
    let literal = |name: &str, value: &str| {
        let lengths = [name.len() as u8, value.len() as u8];
        [&[0, lengths[0]][..], name.as_bytes(), &lengths[1..], value.as_bytes()].concat()
    };
    let headers = [
        literal(":method", "POST"),
        literal(":scheme", "http"),
        literal(":path", "/api.Registry/GetPackage"),
        literal(":authority", "registry"),
        literal("content-type", "application/grpc"),
        literal("te", "trailers"),
    ]
    .concat();
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        http(4, 0, 0, &[]),
        http(1, 4, 1, &headers),
        http(0, 1, 1, body),
    ]
    .concat()
}

/// An input is a byte that selects a server, and what it sends.
pub(super) fn connections() -> Vec<Vec<u8>> {
    const RAW: u8 = 0;
    const RAW_AFTER_SETTINGS: u8 = 1;
    const PROXY: u8 = 2;
    const ANSWERS: u8 = 3;
    const COMPRESSED: u8 = 16;
    let answer = |flags: u8, body: &[u8]| {
        [&[flags, (body.len() >> 8) as u8, body.len() as u8][..], body].concat()
    };
    let channel = [field(1, b"c"), field(2, b"a.v1")].concat();
    let name = field(1, b"a");
    let package = [field(1, b"a"), field(2, &channel), field(3, b"c")].concat();
    let property =
        [field(1, b"olm.package"), field(2, br#"{"packageName":"a","version":"1.0.0"}"#)].concat();
    let bundle = [
        field(1, b"a.v1"),
        field(2, b"a"),
        field(3, b"c"),
        field(6, b"q.io/a:v1"),
        field(12, &property),
    ]
    .concat();
    let plain = |message: &[u8]| answer(0, &frame(false, message));
    let packed = |message: &[u8]| answer(COMPRESSED, &frame(true, &gzip(message)));
    let raw = |kind: u8, bytes: &[u8]| [&[kind][..], bytes].concat();
    vec![
        raw(ANSWERS, &[plain(&name), plain(&package), plain(&bundle), plain(&bundle)].concat()),
        raw(ANSWERS, &[packed(&name), packed(&package), packed(&bundle), packed(&name)].concat()),
        // A refusal, an answer without trailers, a reset stream and an error of HTTP.
        raw(ANSWERS, &[plain(&name), answer(5, b""), answer(32, b""), answer(64, b"")].concat()),
        raw(ANSWERS, &[answer(128, b"no"), plain(&package), plain(&bundle)].concat()),
        raw(RAW, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        raw(RAW, b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0"),
        // A frame that ends the connection.
        raw(RAW_AFTER_SETTINGS, b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x02"),
        raw(PROXY, b"HTTP/1.1 200 Connection established\r\n\r\n\0\0\0\x04\0\0\0\0\0"),
        raw(PROXY, b"HTTP/1.1 407 Proxy Authentication Required\r\nA: b\r\n\r\n"),
    ]
}
