//! Addresses that a cluster's tenants must not reach are not connected to, however they are named.

use operon_driver::AddressPolicy;
use operon_image::{Images, ImagesOptions, PullError, Tree};

use super::{
    faults::Fixture,
    injector::{Injector, Request, answer},
    support::{Scene, image},
};

/// Fetches as a controller does that may connect to one host of this machine.
fn fetch(host: &str, allowed: &[&str]) -> Result<Tree, PullError> {
    fetch_beside(&[], host, allowed)
}

/// Fetches as a controller does whose API server has these addresses.
fn fetch_beside(api_server: &[&str], host: &str, allowed: &[&str]) -> Result<Tree, PullError> {
    let scene = Scene::new();
    let allowed = allowed.iter().map(|written| written.parse().unwrap()).collect();
    let addresses = AddressPolicy::cluster(allowed, []);
    // As in a controller, the addresses are known after the policy was handed on.
    let shared = addresses.clone();
    shared.set_api_server(api_server.iter().map(|written| written.parse().unwrap()));
    let options = ImagesOptions { addresses, ..scene.options() };
    Images::new(options).unwrap().fetch_catalog(&image(host, "me/catalog:v1"))
}

fn assert_forbidden(result: Result<Tree, PullError>, what: &str) {
    let error = result.expect_err(what);
    assert!(matches!(error, PullError::Forbidden(_)), "{what}: {error}");
    let text = error.to_string();
    assert!(text.contains("--allow-address") && !text.contains("127.0.0.1 "), "{what}: {text}");
    assert_eq!(error.summary(), text, "{what}");
}

fn port(server: &Injector) -> &str {
    server.host.rsplit(':').next().unwrap()
}

fn sound() -> Injector {
    let fixture = Fixture::sound();
    Injector::start(move |request, stream| fixture.serve(request, stream))
}

#[test]
fn registries_on_loopback_need_permission() {
    let server = sound();
    let named = format!("localhost:{}", port(&server));
    for host in [&server.host, &named] {
        assert_forbidden(fetch(host, &[]), host);
        assert_forbidden(fetch(host, &["127.0.0.1:1", "localhost:1"]), host);
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    assert!(fetch(&server.host, &[&server.host]).is_ok());
    assert!(fetch(&server.host, &["127.0.0.1"]).is_ok());
    assert!(fetch(&named, &["localhost"]).is_ok());
}

#[test]
fn redirects_and_token_servers_need_permission() {
    let target = sound();
    let port = port(&target);
    let hosts = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("0x7f.1:{port}"),
        format!("2130706433:{port}"),
        format!("0:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("[::1]:{port}"),
    ];
    for host in hosts {
        let redirecting = {
            let (fixture, host) = (Fixture::sound(), host.clone());
            Injector::start(move |request: &Request, stream| match fixture.is_layer(request) {
                true => {
                    let location = format!("http://{host}{}", request.path);
                    answer(stream, "307 Temporary Redirect", &[("Location", &location)], b"");
                }
                false => fixture.serve(request, stream),
            })
        };
        assert_forbidden(fetch(&redirecting.host, &[&redirecting.host]), &host);

        let challenging = {
            let host = host.clone();
            Injector::start(move |_, stream| {
                let challenge = format!("Bearer realm=\"http://{host}/token\"");
                let headers = [("WWW-Authenticate", challenge.as_str())];
                answer(stream, "401 Unauthorized", &headers, b"{}");
            })
        };
        let error = fetch(&challenging.host, &[&challenging.host]).unwrap_err();
        // A realm that is not spelled as a loopback address is refused for its plain HTTP already.
        let is_refused = matches!(error, PullError::Forbidden(_) | PullError::Token { .. });
        assert!(is_refused, "{host}: {error}");
    }
    assert!(target.seen().is_empty(), "{:?}", target.seen());
}

#[test]
fn the_api_server_is_out_of_reach_of_images() {
    let server = sound();
    let named = format!("localhost:{}", port(&server));
    let redirecting = {
        let (fixture, host) = (Fixture::sound(), server.host.clone());
        Injector::start(move |request: &Request, stream| match fixture.is_layer(request) {
            true => {
                let location = format!("http://{host}{}", request.path);
                answer(stream, "307 Temporary Redirect", &[("Location", &location)], b"");
            }
            false => fixture.serve(request, stream),
        })
    };
    for host in [&server.host, &named, &redirecting.host] {
        let error = fetch_beside(&[&server.host], host, &[&redirecting.host]).unwrap_err();
        assert!(matches!(error, PullError::Forbidden(_)), "{host}: {error}");
        assert!(error.to_string().contains("is the API server"), "{host}: {error}");
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    assert!(!redirecting.seen().is_empty(), "the redirect was asked for");
}
