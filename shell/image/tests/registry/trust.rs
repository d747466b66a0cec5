//! Secrets go to whom they are for, and to nobody else.

use std::{net::TcpStream, os::unix::fs::PermissionsExt};

use operon_image::{CredentialSources, Images, ImagesOptions, PullError, Tree};

use operon_oci::{
    Reference,
    build::{BuiltImage, ImageSettings, LayerBuilder},
};

use super::{
    faults::Fixture,
    injector::{Injector, Request, answer},
    support::{Scene, image},
};

const TOKEN: &str = "Bearer t0ken-word";

/// A registry that wants a token of the server at `realm`; where `redirect` is given, layers are there.
fn registry(
    realm: impl Fn(&Request) -> String + Send + Sync + 'static,
    redirect: Option<String>,
) -> Injector {
    let fixture = Fixture::sound();
    Injector::start(move |request, stream| {
        if request.header("authorization") != Some(TOKEN) {
            let challenge = format!("Bearer realm=\"{}\",service=\"here\"", realm(request));
            return answer(stream, "401 Unauthorized", &[("WWW-Authenticate", &challenge)], b"{}");
        }
        match &redirect {
            Some(host) if fixture.is_layer(request) => {
                let location = format!("http://{host}{}", request.path);
                answer(stream, "307 Temporary Redirect", &[("Location", &location)], b"");
            }
            _ => fixture.serve(request, stream),
        }
    })
}

fn token_server(reply: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Injector {
    Injector::start(reply)
}

fn good(_: &Request, stream: &mut TcpStream) {
    answer(stream, "200 OK", &[], br#"{"token": "t0ken-word", "expires_in": 300}"#);
}

fn with_password(scene: &Scene, host: &str) -> ImagesOptions {
    let file =
        format!(r#"{{"auths": {{"{host}": {{"username": "me", "password": "s3cret-word"}}}}}}"#);
    let credentials =
        CredentialSources { pull_secrets: vec![file.into_bytes()], files: Vec::new() };
    ImagesOptions { credentials, ..scene.options() }
}

fn fetch(options: ImagesOptions, host: &str) -> Result<Tree, PullError> {
    Images::new(options).unwrap().fetch_catalog(&image(host, "me/catalog:v1"))
}

#[test]
fn tokens_are_fetched_once_and_stay_at_home() {
    let scene = Scene::new();
    let tokens = token_server(good);
    let store = {
        let fixture = Fixture::sound();
        Injector::start(move |request, stream| fixture.serve(request, stream))
    };
    let realm = format!("http://{}/token", tokens.host);
    let server = registry(move |_| realm.clone(), Some(store.host.clone()));
    fetch(with_password(&scene, &server.host), &server.host).unwrap();

    let asked = tokens.seen();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].path.contains("scope=repository%3Ame%2Fcatalog%3Apull"), "{asked:?}");
    assert!(asked[0].path.contains("service=here"), "{asked:?}");
    assert!(asked[0].header("authorization").unwrap().starts_with("Basic "));
    assert_eq!(store.seen().len(), 1);
    assert_eq!(store.seen()[0].header("authorization"), None);
}

#[test]
fn identity_tokens_are_exchanged() {
    let scene = Scene::new();
    let tokens = token_server(good);
    let realm = format!("http://{}/token", tokens.host);
    let server = registry(move |_| realm.clone(), None);
    let file = format!(r#"{{"auths": {{"{}": {{"identitytoken": "s3cret&word"}}}}}}"#, server.host);
    let credentials =
        CredentialSources { pull_secrets: vec![file.into_bytes()], files: Vec::new() };
    fetch(ImagesOptions { credentials, ..scene.options() }, &server.host).unwrap();
    let asked = tokens.seen();
    assert_eq!(asked[0].method, "POST");
    assert_eq!(asked[0].path, "/token");
    let form = String::from_utf8(asked[0].body.clone()).unwrap();
    for field in ["grant_type=refresh_token", "refresh_token=s3cret%26word", "service=here"] {
        assert!(form.split('&').any(|found| found == field), "{field}: {form}");
    }
}

#[test]
fn token_servers_that_lie_are_told_of() {
    type Reply = fn(&Request, &mut TcpStream);
    let replies: [(&str, Reply, &str); 5] = [
        ("html", |_, stream| answer(stream, "200 OK", &[], b"<html>Login</html>"), "is not JSON"),
        (
            "huge",
            |_, stream| answer(stream, "200 OK", &[], &vec![b' '; 3 << 20]),
            "has more than 1048576 bytes",
        ),
        (
            "empty",
            |_, stream| answer(stream, "200 OK", &[], b"{}"),
            "has neither `token` nor `access_token`",
        ),
        (
            "wrong",
            |_, stream| answer(stream, "200 OK", &[], br#"{"token": "other"}"#),
            "refuses access to",
        ),
        (
            "no",
            |_, stream| answer(stream, "401 Unauthorized", &[], br#"{"details": "bad password"}"#),
            "bad password",
        ),
    ];
    for (name, reply, expected) in replies {
        let scene = Scene::new();
        let tokens = token_server(reply);
        let realm = format!("http://{}/token", tokens.host);
        let server = registry(move |_| realm.clone(), None);
        let error =
            fetch(with_password(&scene, &server.host), &server.host).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(!error.contains("s3cret-word"), "{name}: {error}");
    }
    // Nobody is asked over an open line, however the registry tries.
    let realms = ["http://tokens.invalid/token", "ftp://127.0.0.1/token", "nonsense"];
    for realm in realms {
        let scene = Scene::new();
        let server = registry(move |_| realm.to_owned(), None);
        let error = fetch(with_password(&scene, &server.host), &server.host).unwrap_err();
        assert!(matches!(error, PullError::Token { .. }), "{realm}: {error}");
    }
}

#[test]
fn redirects_are_followed_a_few_times() {
    let scene = Scene::new();
    let server = Injector::start(|request, stream| {
        answer(stream, "302 Found", &[("Location", &format!("{}x", request.path))], b"");
    });
    let error = fetch(scene.options(), &server.host).unwrap_err();
    assert!(error.to_string().contains("redirected more than 5 times"), "{error}");
    assert!(server.seen().len() <= 13, "{}", server.seen().len());
    let nowhere = Injector::start(|_, stream| answer(stream, "302 Found", &[], b""));
    let error = fetch(scene.options(), &nowhere.host).unwrap_err();
    assert!(error.to_string().contains("without saying where to go"), "{error}");
}

#[test]
fn helpers_run_for_auth_files_and_never_for_pull_secrets() {
    let scene = Scene::new();
    let program = |name: &str, script: &str| {
        let file = format!("bin/docker-credential-{name}");
        scene.write(&file, format!("#!/bin/sh\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(scene.path(&file), mode).unwrap();
        scene.text(&file)
    };
    // The search path is changed for children, because it cannot be for one thread of this process.
    let ran = scene.text("ran");
    let reply = r#"echo "{\"Username\": \"me\", \"Secret\": \"s3cret-word\"}""#;
    program("good", &format!("read server; touch {ran}; {reply}"));
    program("slow", "exec sleep 100");
    program("endless", "exec yes");
    let claims = [
        ("good", "user `me` of helper `good`"),
        ("slow", "did not answer within 1 s"),
        ("endless", "is of no use"),
        ("missing", "cannot run `docker-credential-missing`"),
    ];
    let server = Injector::start(|_, stream| {
        answer(stream, "401 Unauthorized", &[("WWW-Authenticate", "Basic realm=\"x\"")], b"{}");
    });
    let child = |task: &str, secret: String| {
        super::child::run(
            task,
            &[
                ("PATH", format!("{}:/usr/bin:/bin", scene.text("bin"))),
                ("OPERON_TEST_SECRET", secret),
                ("OPERON_TEST_FILE", scene.text("auth.json")),
                ("OPERON_TEST_HOST", server.host.clone()),
                ("OPERON_TEST_CACHE", scene.text("cache")),
            ],
        )
    };
    for (name, expected) in claims {
        let file = format!(r#"{{"credHelpers": {{"{}": "{name}"}}}}"#, server.host);
        scene.write("auth.json", &file);
        let output = child("auth file", String::new());
        assert!(output.contains(expected), "{name}: {output}");
        assert!(!output.contains("s3cret-word"), "{name}: {output}");
    }
    assert!(scene.path("ran").exists());
    std::fs::remove_file(scene.path("ran")).unwrap();
    for file in [
        format!(r#"{{"credHelpers": {{"{}": "good"}}}}"#, server.host),
        r#"{"credsStore": "good"}"#.to_owned(),
    ] {
        let output = child("pull secret", file);
        assert!(output.contains("helpers, which are not run for pull secrets"), "{output}");
        assert!(!scene.path("ran").exists(), "a pull secret ran a program");
    }
    // What the kubelet reads counts, whatever helpers are named next to it.
    let file = format!(
        r#"{{"auths": {{"{0}": {{"username": "tenant", "password": "x"}}}}, "credHelpers": {{"{0}": "good"}}}}"#,
        server.host
    );
    let output = child("pull secret", file);
    assert!(output.contains("tried as user `tenant` of pull secret 1"), "{output}");
    assert!(!scene.path("ran").exists(), "a pull secret ran a program");
}

#[test]
fn uploads_elsewhere_get_no_secret() {
    let scene = Scene::new();
    let store = Injector::start(|_, stream| answer(stream, "201 Created", &[], b""));
    let elsewhere = format!("http://{}/upload?id=1", store.host);
    let server = Injector::start(move |request, stream| {
        if request.header("authorization").is_none() {
            let challenge = [("WWW-Authenticate", "Basic realm=\"x\"")];
            return answer(stream, "401 Unauthorized", &challenge, b"{}");
        }
        match request.method.as_str() {
            "HEAD" => answer(stream, "404 Not Found", &[], b""),
            "POST" => answer(stream, "202 Accepted", &[("Location", &elsewhere)], b""),
            _ => answer(stream, "201 Created", &[], b""),
        }
    });
    let mut layer = LayerBuilder::new();
    layer.file("configs/a.json", "{}").unwrap();
    let built = BuiltImage::new(&ImageSettings::default(), vec![layer.build().unwrap()]);
    let images = Images::new(with_password(&scene, &server.host)).unwrap();
    let to = Reference::parse(&format!("{}/me/catalog:v1", server.host)).unwrap();
    images.push(&built, &to).unwrap();
    let uploads = store.seen();
    assert_eq!(uploads.len(), 2, "a layer and a configuration: {uploads:?}");
    assert!(uploads.iter().all(|upload| upload.header("authorization").is_none()));
    assert!(uploads.iter().all(|upload| upload.path.contains("id=1&digest=sha256")));
}

#[test]
fn proxies_that_refuse_are_named() {
    let scene = Scene::new();
    let proxy = Injector::start(|_, stream| answer(stream, "403 Forbidden", &[], b"no"));
    let output = super::child::run(
        "pull",
        &[
            ("HTTPS_PROXY", format!("http://{}", proxy.host)),
            ("OPERON_TEST_HOST", "registry.invalid".to_owned()),
            ("OPERON_TEST_CACHE", scene.text("cache")),
        ],
    );
    assert!(output.contains("through the proxy of `HTTPS_PROXY`"), "{output}");
    assert!(output.contains("NO_PROXY"), "{output}");
    assert!(proxy.seen().iter().all(|request| request.method == "CONNECT"), "{:?}", proxy.seen());
    assert!(!proxy.seen().is_empty());
    let error = fetch(scene.options(), "registry.invalid").unwrap_err();
    let is_named = matches!(error, PullError::NameResolution { .. } | PullError::Proxy { .. });
    assert!(is_named, "{error}");
}
