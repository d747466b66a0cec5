//! Debian's `docker-registry`, on a free port of this machine.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};

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
