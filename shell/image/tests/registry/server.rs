//! Debian's `docker-registry`, on a free port of this machine.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
};

use operon_oci::{DOCKER_MANIFEST, OCI_MANIFEST};

use super::support::Scene;

/// How a registry is to be reached.
#[derive(Default)]
pub(crate) struct Setup {
    /// Whether it speaks TLS, with a certificate of its own authority in `ca.crt` of the scene.
    pub(crate) tls: bool,
    /// The user and the password it wants.
    pub(crate) login: Option<(&'static str, &'static str)>,
}

/// A registry that ends with the test.
pub(crate) struct Server {
    process: Child,
    /// Its address with its port.
    pub(crate) host: String,
}

impl Server {
    /// Starts a registry whose files lie in `name` of the scene, and waits until it listens.
    pub(crate) fn start(scene: &Scene, name: &str, setup: &Setup) -> Self {
        let mut config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}, delete: {{enabled: true}}}}\n",
            scene.text(name)
        );
        config += "http:\n  addr: 127.0.0.1:0\n";
        if setup.tls {
            certificates(scene);
            config += &format!(
                "  tls: {{certificate: {}, key: {}}}\n",
                scene.text("server.crt"),
                scene.text("server.key")
            );
        }
        if let Some((user, password)) = setup.login {
            let file = scene.text("htpasswd");
            super::support::run("htpasswd", &["-Bbc", &file, user, password]);
            config += &format!("auth: {{htpasswd: {{realm: test, path: {file}}}}}\n");
        }
        let file = format!("{name}.yml");
        scene.write(&file, config);
        let mut process = Command::new("docker-registry")
            .args(["serve", &scene.text(&file)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let port = loop {
            let line = lines.next().expect("the registry ended").unwrap();
            if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
                break rest.chars().take_while(char::is_ascii_digit).collect::<String>();
            }
        };
        // Somebody has to read on, or the registry would wait for room to write.
        thread::spawn(move || lines.for_each(drop));
        Self { process, host: format!("127.0.0.1:{port}") }
    }

    /// Returns the body of an answer.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        let head =
            format!("GET {path} HTTP/1.0\r\nAccept: {OCI_MANIFEST}, {DOCKER_MANIFEST}\r\n\r\n");
        let answer = self.exchange(head.as_bytes());
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        answer[end + 4..].to_vec()
    }

    /// Sends a body, which must be taken.
    pub(crate) fn put(&self, path: &str, media_type: &str, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "PUT {path} HTTP/1.0\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        let answer = self.exchange(&[head.as_bytes(), body].concat());
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.lines().next().unwrap().contains(" 201 "), "{answer}");
    }

    fn exchange(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes an authority, and a certificate for this machine that it signed.
fn certificates(scene: &Scene) {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let server = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    scene.write("ca.crt", authority.pem());
    scene.write("server.crt", server.pem());
    scene.write("server.key", key.serialize_pem());
}
