//! Telling a registry who asks: from its challenge to the header that is sent.
//!
//! A token is kept for the scope it was given for, until shortly before it ends. A token server is
//! asked over TLS, unless the registry was declared insecure or both are on this machine. Where
//! credentials come from is known in `credentials`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use operon_oci::{Challenge, Credentials, MAX_TOKEN_BYTES, Token};
use reqwest::{
    Method, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE},
};
use tokio::time::timeout;

use super::{
    Failure, Repository,
    body::read_whole,
    connection::{host_of, is_loopback},
    credentials::FoundCredentials,
    exchange::Access,
};
use crate::{PullError, limits::MAX_REDIRECTS};

/// How long before its end a token is no longer used: it must last for the request.
const TOKEN_MARGIN: Duration = Duration::from_secs(10);

/// The name that token servers know this program by.
const CLIENT_ID: &str = "operon";

/// The headers that were accepted, by host and scope.
#[derive(Default)]
pub(super) struct Tokens {
    known: Mutex<BTreeMap<(String, String), Known>>,
}

struct Known {
    header: String,
    ends: Option<Instant>,
}

/// Shows how many there are, and none of them.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.known.lock().map_or(0, |known| known.len());
        formatter.debug_struct("Tokens").field("count", &count).finish()
    }
}

/// What is sent to be let in.
pub(super) struct Authorization {
    pub(super) header: String,
    /// Which credentials it was made of, for messages.
    pub(super) tried: String,
}

impl Access {
    /// Returns the scopes that a token server is asked for.
    fn scopes(&self, repository: &str) -> Vec<String> {
        match self {
            Self::Pull => vec![format!("repository:{repository}:pull")],
            Self::Push => vec![format!("repository:{repository}:pull,push")],
            Self::Mount(from) => vec![
                format!("repository:{repository}:pull,push"),
                format!("repository:{from}:pull"),
            ],
        }
    }
}

impl Repository {
    pub(super) fn known_authorization(&self, access: &Access) -> Option<String> {
        let known = self.registry.tokens.known.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.get(&self.token_key(access))?;
        let lives = entry.ends.is_none_or(|ends| ends > Instant::now() + TOKEN_MARGIN);
        lives.then(|| entry.header.clone())
    }

    pub(super) fn forget_authorization(&self, access: &Access) {
        let mut known = self.registry.tokens.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&self.token_key(access));
    }

    fn remember(&self, access: &Access, header: &str, ends: Option<Instant>) {
        let mut known = self.registry.tokens.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(self.token_key(access), Known { header: header.to_owned(), ends });
    }

    fn token_key(&self, access: &Access) -> (String, String) {
        (self.host.clone(), access.scopes(self.reference.repository()).join(" "))
    }

    fn find_credentials(&self) -> Result<FoundCredentials, PullError> {
        self.registry.credentials.find(&self.reference, self.limits().helper_timeout)
    }

    /// Says which credentials there were, for a message.
    pub(super) async fn tried(&self) -> String {
        self.find_credentials().map_or_else(|error| error.to_string(), |found| found.told)
    }

    /// Answers a challenge.
    pub(super) async fn authorize(
        &self,
        challenged: &Response,
        access: &Access,
    ) -> Result<Authorization, Failure> {
        let headers = challenged.headers().get_all(WWW_AUTHENTICATE);
        let texts = headers.iter().filter_map(|value| value.to_str().ok());
        let challenges: Vec<Challenge> = texts.flat_map(Challenge::parse).collect();
        let found = self.find_credentials()?;
        for challenge in &challenges {
            if let Challenge::Bearer { realm, service, .. } = challenge {
                let token = self.token(realm, service.as_deref(), &found, access).await?;
                let header = format!("Bearer {}", token.secret());
                self.remember(access, &header, Some(Instant::now() + token.lifetime));
                return Ok(Authorization { header, tried: found.told });
            }
        }
        let is_basic = challenges.iter().any(|one| matches!(one, Challenge::Basic { .. }));
        match (is_basic, found.credentials.basic_header()) {
            (true, Some(header)) => {
                self.remember(access, &header, None);
                Ok(Authorization { header, tried: found.told })
            }
            (true, None) => {
                let answer = "it wants a name and a password".to_owned();
                Err(self.unauthorised(answer, found.told).into())
            }
            (false, _) => {
                let names: Vec<String> = challenges.iter().map(name_of).collect();
                let answer = match names.is_empty() {
                    true => "it does not say how to log in".to_owned(),
                    false => format!("it wants {}, which is not known here", names.join(" or ")),
                };
                Err(self.unauthorised(answer, found.told).into())
            }
        }
    }

    async fn token(
        &self,
        realm: &str,
        service: Option<&str>,
        found: &FoundCredentials,
        access: &Access,
    ) -> Result<Token, Failure> {
        let unusable = |problem: String| PullError::Token {
            registry: self.host.clone(),
            realm: realm.chars().take(200).collect(),
            problem,
        };
        let mut url =
            Url::parse(realm).map_err(|error| unusable(format!("that is no address: {error}")))?;
        self.check_realm(&url).map_err(unusable)?;
        let scopes = access.scopes(self.reference.repository());
        let mut fields: Vec<(&str, &str)> = Vec::new();
        fields.extend(service.map(|service| ("service", service)));
        fields.extend(scopes.iter().map(|scope| ("scope", scope.as_str())));
        let response = if let Credentials::IdentityToken { token } = &found.credentials {
            let more = [
                ("grant_type", "refresh_token"),
                ("client_id", CLIENT_ID),
                ("refresh_token", token.as_str()),
            ];
            let form = encoded(fields.into_iter().chain(more));
            self.ask_realm(Method::POST, &url, None, Some(form)).await?
        } else {
            url.query_pairs_mut().extend_pairs(fields);
            let header = found.credentials.basic_header();
            self.ask_realm(Method::GET, &url, header.as_deref(), None).await?
        };
        let status = response.status();
        if matches!(status.as_u16(), 401 | 403) {
            let answer = self.words_of(response).await;
            return Err(self.unauthorised(answer, found.told.clone()).into());
        }
        if !status.is_success() {
            let answer = self.words_of(response).await;
            let error = unusable(format!("it answered {}: {answer}", status.as_u16()));
            let is_passing = status.is_server_error() || status.as_u16() == 429;
            return Err(if is_passing { Failure::soon(error) } else { error.into() });
        }
        let what = "the answer of the token server";
        let bytes = read_whole(self, response, what, MAX_TOKEN_BYTES as u64).await?;
        Token::parse(&bytes).map_err(|error| unusable(error.to_string()).into())
    }

    /// Tells whether secrets may be sent to a token server.
    fn check_realm(&self, url: &Url) -> Result<(), String> {
        let is_plain_allowed =
            self.is_insecure || (is_loopback(&self.host) && is_loopback(&host_of(url)));
        match url.scheme() {
            "https" => Ok(()),
            "http" if is_plain_allowed => Ok(()),
            scheme => Err(format!(
                "credentials are not sent over `{scheme}`; the token server must use `https`, or the registry be \
                 declared insecure"
            )),
        }
    }

    /// Asks the token server; redirects are followed without the secret.
    async fn ask_realm(
        &self,
        method: Method,
        url: &Url,
        authorization: Option<&str>,
        form: Option<String>,
    ) -> Result<Response, Failure> {
        let mut url = url.clone();
        let origin = url.origin();
        for _ in 0..=MAX_REDIRECTS {
            let client = self.registry.connections.client(&url, self.is_unverified(&url))?;
            let mut request = client.request(method.clone(), url.clone());
            if let Some(authorization) = authorization.filter(|_| url.origin() == origin) {
                request = request.header(AUTHORIZATION, authorization);
            }
            if let Some(form) = &form {
                request = request
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(form.clone());
            }
            let limit = self.limits().answer_timeout;
            let response = match timeout(limit, request.send()).await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => return Err(self.not_sent(&error, url.scheme())),
                Err(_) => return Err(self.too_slow("the answer of the token server", limit)),
            };
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            match next {
                // A form carries the secret in its body, so it is sent nowhere else.
                Some(next) if response.status().is_redirection() && form.is_none() => {
                    self.check_realm(&next).map_err(|problem| PullError::Token {
                        registry: self.host.clone(),
                        realm: host_of(&next),
                        problem,
                    })?;
                    url = next;
                }
                _ => return Ok(response),
            }
        }
        Err(PullError::Token {
            registry: self.host.clone(),
            realm: host_of(&url),
            problem: format!("it redirected more than {MAX_REDIRECTS} times"),
        }
        .into())
    }
}

fn name_of(challenge: &Challenge) -> String {
    match challenge {
        Challenge::Bearer { .. } => "`Bearer`".to_owned(),
        Challenge::Basic { .. } => "`Basic`".to_owned(),
        Challenge::Other { scheme } => {
            format!("`{}`", scheme.chars().take(40).collect::<String>())
        }
    }
}

/// Writes fields as a form does.
fn encoded<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let mut url = Url::parse("http://form.invalid/").expect("bug: a constant address is malformed");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}
