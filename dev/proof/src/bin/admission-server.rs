//! An operator's server for webhooks, small enough for a test: it refuses, defaults and converts buoys.
//!
//! It serves with the certificate that is mounted where operators look for one, read anew for each
//! connection, so that a new one counts without a restart. It speaks as much HTTP as an API server needs.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use operon_document::encode_base64;
use operon_object::{Value, list, map};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

/// Where the certificate and its key are mounted.
const CERTIFICATES: &str = "/tmp/k8s-webhook-server/serving-certs";

/// Where it listens.
const PORT: u16 = 9443;

/// The longest request that is answered: objects have at most 1.5 MB, and a review may hold two.
const REQUEST_LIMIT: usize = 8 << 20;

/// How long an API server may take to say what it wants.
const REQUEST_PATIENCE: Duration = Duration::from_secs(10);

/// The largest size that a buoy may have.
const LARGEST: i64 = 10;

fn main() -> ExitCode {
    let listener = match TcpListener::bind(("0.0.0.0", PORT)) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("cannot listen on port {PORT}: {error}");
            return ExitCode::FAILURE;
        }
    };
    for stream in listener.incoming().flatten() {
        thread::spawn(move || {
            if let Err(error) = serve(stream) {
                eprintln!("a request was not answered: {error}");
            }
        });
    }
    ExitCode::SUCCESS
}

fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_PATIENCE))?;
    let broken = |error: rustls::pki_types::pem::Error| io::Error::other(error.to_string());
    let certificates = CertificateDer::pem_file_iter(format!("{CERTIFICATES}/tls.crt"))
        .map_err(broken)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    let key = PrivateKeyDer::from_pem_file(format!("{CERTIFICATES}/tls.key")).map_err(broken)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let settings = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|settings| settings.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(io::Error::other)?;
    let session = ServerConnection::new(Arc::new(settings)).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(session, stream);
    let (path, body) = read_request(&mut stream)?;
    let review = Value::parse_json(&body).map_err(|error| io::Error::other(error.to_string()))?;
    println!("{path} {}", review.at(&["request", "uid"]).str());
    let answer = answer(&path, &review).to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{answer}",
        answer.len()
    )?;
    stream.flush()?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads the path and the body of a request.
fn read_request(stream: &mut impl Read) -> io::Result<(String, String)> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            if body.len() >= length.unwrap_or(0_usize) {
                let path = head.split_whitespace().nth(1).unwrap_or_default();
                let path = path.split('?').next().unwrap_or_default();
                return Ok((path.to_owned(), body.to_owned()));
            }
        }
        let count = stream.read(&mut part)?;
        if count == 0 || bytes.len() > REQUEST_LIMIT {
            return Err(io::Error::other("the request does not end, or has no end"));
        }
        bytes.extend_from_slice(part.get(..count).unwrap_or_default());
    }
}

fn answer(path: &str, review: &Value) -> Value {
    let request = review.get("request");
    let mut response = map! { "uid" => request.get("uid").str() };
    match path {
        "/convert" => {
            let wanted = request.get("desiredAPIVersion").str();
            let objects = request.get("objects").elements().iter();
            let converted = objects.map(|object| convert(object, wanted));
            response.set(&["convertedObjects"], Value::list(converted));
            response.set(&["result"], map! { "status" => "Success" });
        }
        "/mutate" => {
            response.set(&["allowed"], true);
            if request.at(&["object", "spec", "colour"]).is_null() {
                let patch =
                    list![map! { "op" => "add", "path" => "/spec/colour", "value" => "red" }];
                response.set(&["patchType"], "JSONPatch");
                let patch = encode_base64(patch.to_string().as_bytes());
                response.set(&["patch"], patch.as_str());
            }
        }
        _ => {
            let size = request.at(&["object", "spec", "size"]).as_integer().unwrap_or(0);
            response.set(&["allowed"], size <= LARGEST);
            if size > LARGEST {
                let words = format!("a buoy of size {size} sinks the boat; {LARGEST} is the most");
                response.set(&["status"], map! { "message" => words.as_str(), "code" => 403_i64 });
            }
        }
    }
    map! {
        "apiVersion" => review.get("apiVersion").str(),
        "kind" => review.get("kind").str(),
        "response" => response,
    }
}

/// Converts a buoy: what is `spec.colour` in `v1` is `spec.paint` in `v2`.
fn convert(object: &Value, wanted: &str) -> Value {
    let mut converted = object.clone();
    let (from, to) =
        if wanted.ends_with("/v2") { ("colour", "paint") } else { ("paint", "colour") };
    let paint = object.at(&["spec", from]).clone();
    if object.get("apiVersion").str() != wanted && !paint.is_null() {
        converted.set(&["spec", to], paint);
        converted.remove(&["spec", from]);
    }
    converted.set(&["apiVersion"], wanted);
    converted
}
