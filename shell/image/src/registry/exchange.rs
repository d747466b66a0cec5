//! One request and its answer: who asks, where it is redirected to, what a refusal means.
//!
//! Redirects are followed here rather than by the HTTP library, so that the header with the secret goes to
//! the registry and to nobody else. Whether a request is repeated is decided in `retry`.

use std::time::Duration;

use operon_driver::ForbiddenAddress;
use operon_oci::{ErrorBody, MAX_ERROR_BODY_BYTES};
use reqwest::{
    Method, Response, StatusCode, Url,
    header::{AUTHORIZATION, HeaderName, LOCATION, RETRY_AFTER},
};
use tokio::time::timeout;

use super::{
    Failure, Repository,
    body::read_up_to,
    connection::{Scheme, host_of, is_loopback, proxy_variable},
    failure::{Retry, innermost, whole_chain},
};
use crate::{
    PullError,
    limits::{MAX_REDIRECTS, SLOWEST_UPLOAD},
};

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Vec<u8>,
    pub(super) access: Access,
}

/// What a request needs to be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading.
    Pull,
    /// Reading and writing.
    Push,
    /// Writing, and reading in another repository of the same registry.
    Mount(String),
}

impl Call {
    pub(super) fn new(method: Method, url: Url, access: Access) -> Self {
        Self { method, url, headers: Vec::new(), body: Vec::new(), access }
    }

    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }
}

impl Repository {
    /// Returns the address of something in the repository, such as `manifests/latest`.
    pub(super) async fn url(&self, rest: &str) -> Result<Url, Failure> {
        let scheme = self.scheme().await?;
        let text =
            format!("{}://{}/v2/{}/{rest}", scheme.name(), self.host, self.reference.repository());
        self.parsed(&text)
    }

    fn parsed(&self, text: &str) -> Result<Url, Failure> {
        Url::parse(text).map_err(|error| {
            PullError::Setup {
                registry: self.host.clone(),
                problem: format!("`{text}` is not a valid address: {error}"),
            }
            .into()
        })
    }

    /// Finds out whether the host speaks TLS, where it need not.
    async fn scheme(&self) -> Result<Scheme, Failure> {
        if !self.is_insecure && !is_loopback(&self.host) {
            return Ok(Scheme::Https);
        }
        let connections = &self.registry.connections;
        if let Some(scheme) = connections.scheme(&self.host) {
            return Ok(scheme);
        }
        // Nothing is told and nothing is believed yet, so the certificate does not matter yet.
        let url = self.parsed(&format!("https://{}/v2/", self.host))?;
        let probe = connections.client(&url, true)?.get(url).send();
        let scheme = match timeout(self.limits().answer_timeout, probe).await {
            Ok(Ok(_)) => Scheme::Https,
            Ok(Err(error)) => {
                let words = whole_chain(&error);
                let is_talking = error.is_connect()
                    && forbidden(&error).is_none()
                    && !error.is_dns()
                    && !words.contains("refused")
                    && !words.contains("unreachable");
                if !is_talking {
                    return Err(self.not_sent(&error, "https"));
                }
                Scheme::Http
            }
            Err(_) => return Err(self.too_slow("the first answer", self.limits().answer_timeout)),
        };
        connections.note_scheme(&self.host, scheme);
        Ok(scheme)
    }

    /// Sends a request, and says who asks if the registry wants to know. The answer is a success.
    pub(super) async fn send(&self, call: &Call) -> Result<Response, Failure> {
        let response = self.send_any(call).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refusal(response).await)
    }

    /// Sends a request like [`Self::send`], but leaves refusals other than "who are you" to the caller.
    pub(super) async fn send_any(&self, call: &Call) -> Result<Response, Failure> {
        let known = self.known_authorization(&call.access);
        let (response, is_registry) = self.follow(call, known.as_deref()).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !is_registry {
            return Ok(response);
        }
        let authorization = self.authorize(&response, &call.access).await?;
        let (response, is_registry) = self.follow(call, Some(&authorization.header)).await?;
        if response.status() == StatusCode::UNAUTHORIZED && is_registry {
            self.forget_authorization(&call.access);
            let answer = self.words_of(response).await;
            let tried = authorization.tried;
            return Err(self.unauthorised(answer, tried).into());
        }
        Ok(response)
    }

    /// Sends a request and follows redirects; tells whether the answer is the registry's own.
    async fn follow(
        &self,
        call: &Call,
        authorization: Option<&str>,
    ) -> Result<(Response, bool), Failure> {
        let mut url = call.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let is_registry = self.is_home(&url);
            let secret = authorization.filter(|_| is_registry);
            let response = self.send_once(call, &url, secret).await?;
            let is_read = matches!(call.method, Method::GET | Method::HEAD);
            if !response.status().is_redirection() || !is_read {
                return Ok((response, is_registry));
            }
            url = self.next_url(&url, &response)?;
        }
        let problem = format!("redirected more than {MAX_REDIRECTS} times");
        Err(self.redirected(problem).into())
    }

    /// Returns the address that an answer sends us to. From TLS nothing leads to an open line.
    pub(super) fn next_url(&self, base: &Url, response: &Response) -> Result<Url, Failure> {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let next = location.and_then(|location| base.join(location).ok());
        let Some(next) = next else {
            let problem = format!("answered {} without saying where to go", response.status());
            return Err(self.redirected(problem).into());
        };
        match next.scheme() {
            "https" => Ok(next),
            "http" if base.scheme() == "http" => Ok(next),
            scheme => {
                let problem = format!(
                    "redirected to `{scheme}://{}`, which is not protected by TLS",
                    host_of(&next)
                );
                Err(self.redirected(problem).into())
            }
        }
    }

    /// Tells whether an address is one of the registry itself, so that secrets may go there.
    pub(super) fn is_home(&self, url: &Url) -> bool {
        let home = Url::parse(&format!("{}://{}/", url.scheme(), self.host));
        let is_plain = self.registry.connections.scheme(&self.host) == Some(Scheme::Http);
        home.is_ok_and(|home| home.origin() == url.origin())
            && (url.scheme() == "https" || is_plain)
    }

    /// Tells whether no certificate is looked at: there is none, or the user chose so for this registry.
    pub(super) fn is_unverified(&self, url: &Url) -> bool {
        url.scheme() == "http" || self.is_insecure && self.is_home(url)
    }

    async fn send_once(
        &self,
        call: &Call,
        url: &Url,
        authorization: Option<&str>,
    ) -> Result<Response, Failure> {
        let client = self.registry.connections.client(url, self.is_unverified(url))?;
        let mut request = client.request(call.method.clone(), url.clone());
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if !call.body.is_empty() || matches!(call.method, Method::PUT | Method::POST) {
            request = request.body(call.body.clone());
        }
        let upload = Duration::from_secs(call.body.len() as u64 / SLOWEST_UPLOAD);
        let limit = self.limits().answer_timeout + upload;
        match timeout(limit, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.not_sent(&error, url.scheme())),
            Err(_) => Err(self.too_slow("the answer", limit)),
        }
    }

    /// Says why a request could not even be sent, or its answer not begin.
    pub(super) fn not_sent(&self, error: &reqwest::Error, scheme: &str) -> Failure {
        if let Some(forbidden) = forbidden(error) {
            return PullError::Forbidden(forbidden).into();
        }
        let registry = error.url().map_or_else(|| self.host.clone(), host_of);
        let (words, problem) = (whole_chain(error), innermost(error));
        let proxy = proxy_variable(scheme).filter(|_| !is_loopback(&registry));
        let speaks_of_proxy = words.contains("tunnel") || words.contains("proxy");
        match proxy {
            Some(variable) if speaks_of_proxy || error.is_connect() => {
                let variable = variable.to_owned();
                return Failure::soon(PullError::Proxy { registry, variable, problem });
            }
            _ => {}
        }
        if words.contains("certificate") {
            return PullError::Tls { registry, problem }.into();
        }
        if error.is_timeout() {
            return self.too_slow("connecting", self.limits().connect_timeout);
        }
        if error.is_dns() || words.contains("dns error") {
            return Failure::soon(PullError::NameResolution { registry, problem });
        }
        if error.is_connect() {
            return Failure::soon(PullError::Unreachable { registry, problem });
        }
        Failure::soon(PullError::Broken { registry, reference: self.shown.clone(), problem })
    }

    pub(super) fn too_slow(&self, what: &str, after: Duration) -> Failure {
        let (registry, reference) = (self.host.clone(), self.shown.clone());
        Failure::soon(PullError::Timeout { registry, reference, what: what.to_owned(), after })
    }

    fn redirected(&self, problem: String) -> PullError {
        let (registry, reference) = (self.host.clone(), self.shown.clone());
        PullError::Redirected { registry, reference, problem }
    }

    pub(super) fn unauthorised(&self, answer: String, tried: String) -> PullError {
        let (registry, reference) = (self.host.clone(), self.shown.clone());
        PullError::Unauthorised { registry, reference, answer, tried }
    }

    /// Turns an answer that is no success into an error.
    pub(super) async fn refusal(&self, response: Response) -> Failure {
        let status = response.status();
        let pause = retry_after(&response);
        let answer = self.words_of(response).await;
        let (registry, reference) = (self.host.clone(), self.shown.clone());
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let tried = self.tried().await;
                self.unauthorised(answer, tried).into()
            }
            StatusCode::NOT_FOUND => {
                PullError::NotFound { registry, reference, answer, nearest: Vec::new() }.into()
            }
            StatusCode::TOO_MANY_REQUESTS => {
                let error = PullError::RateLimited { registry, answer, retry_after: pause };
                let retry = match pause {
                    Some(pause) if pause > self.limits().longest_pause => Retry::Never,
                    Some(pause) => Retry::After(pause),
                    None => Retry::Soon,
                };
                Failure { error, retry }
            }
            status => {
                let is_passing = status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT;
                let status = status.as_u16();
                let error = PullError::Answer { registry, reference, status, answer };
                let retry = match pause {
                    _ if !is_passing => Retry::Never,
                    Some(pause) if pause <= self.limits().longest_pause => Retry::After(pause),
                    _ => Retry::Soon,
                };
                Failure { error, retry }
            }
        }
    }

    /// Returns what a refusal says, for people.
    pub(super) async fn words_of(&self, response: Response) -> String {
        let status = response.status();
        let body = read_up_to(self, response, MAX_ERROR_BODY_BYTES as u64).await;
        let line = body.map(|body| ErrorBody::parse(&body).line).unwrap_or_default();
        if line.is_empty() { status.to_string() } else { line }
    }
}

/// Returns the reason if a request was not sent because of its address.
fn forbidden(error: &reqwest::Error) -> Option<ForbiddenAddress> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = next {
        if let Some(forbidden) = inner.downcast_ref::<ForbiddenAddress>() {
            return Some(forbidden.clone());
        }
        next = inner.source();
    }
    None
}

fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}
