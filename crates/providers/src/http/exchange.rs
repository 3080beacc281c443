//! One request and its answer: redirects, limits, classes of errors.
//!
//! Not here: the choice of the request (`request.rs`), conversion of answers (`answer.rs`).

use std::collections::BTreeSet;
use std::time::Duration;

use blueprint::{Name, Value, format_duration, parse_duration};
use http_client::Clients;
use provider::{Call, ErrorKind, ProviderError};
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, DATE, HeaderMap, HeaderName, HeaderValue,
    LOCATION, PROXY_AUTHORIZATION, RETRY_AFTER,
};
use reqwest::{Method, StatusCode, Url};

use super::json;
use super::secrets::SecretTexts;

/// Maximum length of an answer in bytes.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Maximum number of redirects.
const REDIRECTS: usize = 5;

/// The default time limit.
pub(super) const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of characters of an error answer in a message.
const EXCERPT: usize = 200;

/// A request to be sent.
pub(super) struct Exchange {
    /// The method.
    pub(super) method: Method,
    /// The URL.
    pub(super) url: Url,
    /// Whether the URL is secret.
    pub(super) secret_url: bool,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The body.
    pub(super) body: Option<Vec<u8>>,
    /// Whether a part of the body is secret.
    pub(super) secret_body: bool,
    /// The statuses that mean success. Empty for 200 to 299.
    pub(super) expected: Vec<u16>,
    /// The time limit.
    pub(super) timeout: Duration,
    /// The only trusted authorities, in PEM form.
    pub(super) authorities: Option<Name>,
}

/// An answer of any status.
pub(super) struct HttpAnswer {
    /// The status.
    pub(super) status: StatusCode,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The body. `None` if it is longer than [`MAX_ANSWER`].
    pub(super) body: Option<Vec<u8>>,
}

impl Exchange {
    /// Builds an exchange from the fields `url`, `method`, `headers`, `body`, `expectStatus` and
    /// `timeout`.
    ///
    /// # Errors
    /// [`ErrorKind::Document`] at the field at fault.
    pub(super) fn of(fields: &Value, url: Url, usual: Method) -> Result<Exchange, ProviderError> {
        let refuse =
            |field: &str, message: &str| ProviderError::new(ErrorKind::Document, message).at(field);
        let written = |field: &str| fields.get(field).filter(|value| !value.is_null());
        let method = match written("method").and_then(Value::as_text) {
            Some(text) => method(text).map_err(|message| refuse("method", message))?,
            None => usual,
        };
        let mut headers = HeaderMap::new();
        if let Some(value) = written("headers") {
            for (name, value) in header_list(value) {
                let (name, value) =
                    header(&name, &value).map_err(|(field, message)| refuse(&field, message))?;
                headers.append(name, value);
            }
        }
        let body_value = written("body").unwrap_or(&Value::Null);
        let body = json::body(body_value)
            .map_err(|message| refuse("body", message))?
            .map(|(bytes, media)| {
                headers
                    .entry(CONTENT_TYPE)
                    .or_insert(HeaderValue::from_static(media));
                bytes
            });
        let timeout = match written("timeout").and_then(Value::as_text) {
            Some(text) => {
                parse_duration(text).map_err(|error| refuse("timeout", &format!("is {error}")))?
            }
            None => USUAL_TIMEOUT,
        };
        let statuses = written("expectStatus")
            .and_then(Value::as_list)
            .unwrap_or_default();
        Ok(Exchange {
            method,
            url,
            secret_url: written("url").is_some_and(Value::has_secret),
            headers,
            body,
            secret_body: body_value.has_secret(),
            expected: statuses
                .iter()
                .filter_map(|status| u16::try_from(status.as_int()?).ok())
                .collect(),
            timeout,
            authorities: None,
        })
    }

    /// Whether the request sends a secret, which its answer may then repeat in any form.
    pub(super) fn carries_secret(&self) -> bool {
        self.secret_url || self.secret_body || self.headers.values().any(HeaderValue::is_sensitive)
    }

    /// Whether a status means success.
    pub(super) fn expects(&self, status: StatusCode) -> bool {
        if self.expected.is_empty() {
            status.is_success()
        } else {
            self.expected.contains(&status.as_u16())
        }
    }

    /// `POST https://host/path`, without parts that may be secret.
    pub(super) fn shown(&self) -> String {
        if self.secret_url {
            return format!("{} (secret)", self.method);
        }
        format!("{} {}", self.method, shown_url(&self.url))
    }

    /// Sends the request and waits for the answer until the call ends.
    pub(super) async fn send(
        &self,
        call: &Call,
        clients: &Clients,
        secrets: &SecretTexts,
    ) -> Result<HttpAnswer, ProviderError> {
        let timeout = call
            .deadline
            .map_or(self.timeout, |deadline| deadline.min(self.timeout));
        let late = || {
            let message = format!(
                "`{}` was not answered within {}",
                self.shown(),
                format_duration(timeout)
            );
            let kind = if timeout < self.timeout {
                ErrorKind::TimedOut
            } else {
                ErrorKind::Transient
            };
            ProviderError::new(kind, message)
        };
        let answer = tokio::select! {
            biased;
            () = call.cancel.cancelled() => {
                Err(ProviderError::new(ErrorKind::Cancelled, format!("`{}` was cancelled", self.shown())))
            }
            answer = tokio::time::timeout(timeout, self.follow(clients)) => answer.unwrap_or_else(|_| Err(late())),
        };
        let answer = answer.map_err(|error| ProviderError {
            message: secrets.scrub(&error.message),
            ..error
        })?;
        (call.progress)(&secrets.scrub(&format!("{} answered {}", self.shown(), answer.status)));
        Ok(answer)
    }

    /// Sends the request and follows redirects.
    async fn follow(&self, clients: &Clients) -> Result<HttpAnswer, ProviderError> {
        let permanent = |message: String| Err(ProviderError::new(ErrorKind::Permanent, message));
        let (mut method, mut url) = (self.method.clone(), self.url.clone());
        let (mut headers, mut body) = (self.headers.clone(), self.body.clone());
        for _ in 0..=REDIRECTS {
            let client = clients
                .trusting_only(&url, self.authorities.as_deref())
                .await;
            let client =
                client.map_err(|message| ProviderError::new(ErrorKind::Permanent, message))?;
            let mut request = client
                .request(method.clone(), url.clone())
                .headers(headers.clone());
            if let Some(body) = &body {
                request = request.body(body.clone());
            }
            let response = request
                .send()
                .await
                .map_err(|error| self.unanswered(error))?;
            let status = response.status();
            let target = response
                .headers()
                .get(LOCATION)
                .and_then(|target| target.to_str().ok());
            let target = match target
                .filter(|_| is_redirect(status) && !self.expected.contains(&status.as_u16()))
            {
                Some(target) => url.join(target),
                None => return self.receive(response).await,
            };
            let Ok(target) = target.map_err(drop) else {
                return permanent(format!(
                    "`{}` was redirected to something that is no address",
                    self.shown()
                ));
            };
            if !matches!(
                (url.scheme(), target.scheme()),
                ("http", "http" | "https") | ("https", "https")
            ) {
                return permanent(format!(
                    "`{}` was redirected from {} to {}",
                    self.shown(),
                    url.scheme(),
                    target.scheme()
                ));
            }
            // As in browsers: 307 and 308 repeat the request, other redirects send a GET.
            let repeats = matches!(
                status,
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
            );
            if !(repeats || matches!(method, Method::HEAD | Method::GET)) {
                method = Method::GET;
                body = None;
                headers.remove(CONTENT_TYPE);
            }
            if target.origin() != url.origin() {
                if body.is_some() && self.secret_body {
                    return permanent(format!(
                        "`{}` was redirected elsewhere, where its secret body is not sent",
                        self.shown()
                    ));
                }
                let kept = headers
                    .iter()
                    .filter(|(name, value)| !(value.is_sensitive() || is_credential(name)));
                headers = kept
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
            }
            url = target;
        }
        permanent(format!(
            "`{}` was redirected more than {REDIRECTS} times",
            self.shown()
        ))
    }

    async fn receive(&self, mut response: reqwest::Response) -> Result<HttpAnswer, ProviderError> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unanswered(error))?
        {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Ok(HttpAnswer {
                    status,
                    headers,
                    body: None,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(HttpAnswer {
            status,
            headers,
            body: Some(body),
        })
    }

    /// Classifies an error of the network.
    fn unanswered(&self, error: reqwest::Error) -> ProviderError {
        let error = error.without_url();
        // Without a connection nothing is sent.
        let did_nothing = error.is_connect() || error.is_builder();
        if let Some(problem) = tls_problem(&error) {
            let kind = match problem {
                rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
                    ErrorKind::Permanent
                }
                _ => ErrorKind::Transient,
            };
            return ProviderError {
                did_nothing,
                ..ProviderError::new(kind, format!("`{}` failed: {problem}", self.shown()))
            };
        }
        let mut deepest: &dyn std::error::Error = &error;
        while let Some(source) = deepest.source() {
            deepest = source;
        }
        let kind = if error.is_builder() {
            ErrorKind::Permanent
        } else {
            ErrorKind::Transient
        };
        ProviderError {
            did_nothing,
            ..ProviderError::new(kind, format!("`{}` failed: {deepest}", self.shown()))
        }
    }

    /// The error for an unexpected status.
    pub(super) fn refused(&self, answer: &HttpAnswer, secrets: &SecretTexts) -> ProviderError {
        let kind = match answer.status.as_u16() {
            429 => ErrorKind::Throttled,
            408 | 425 | 500..=599 => ErrorKind::Transient,
            401 | 403 | 407 => ErrorKind::Credentials,
            409 => ErrorKind::Conflict,
            _ => ErrorKind::Permanent,
        };
        let wanted: Vec<String> = self.expected.iter().map(u16::to_string).collect();
        let wanted = if wanted.is_empty() {
            String::new()
        } else {
            format!(", not {}", wanted.join(" or "))
        };
        let mut message = format!("`{}` answered {}{wanted}", self.shown(), answer.status);
        let said = answer
            .body
            .as_deref()
            .and_then(|body| std::str::from_utf8(body).ok())
            .unwrap_or_default();
        // Secrets are removed before the text is shortened, because a part of a secret would not be
        // recognised.
        let said = secrets.scrub(said);
        let said: Vec<&str> = said.split_whitespace().take(EXCERPT).collect();
        let said: String = said
            .join(" ")
            .chars()
            .filter(|c| !c.is_control())
            .take(EXCERPT)
            .collect();
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(&said);
        }
        // The server says of these that it has not processed the request (RFC 9110 and 8470).
        let did_nothing = matches!(answer.status.as_u16(), 408 | 425 | 429 | 503);
        let error = ProviderError {
            did_nothing,
            ..ProviderError::new(kind, secrets.scrub(&message))
        };
        match retry_after(&answer.headers) {
            Some(pause) => error.with_retry_after(pause),
            None => error,
        }
    }
}

/// The pause that the server asks for (RFC 9110, 10.2.3): in seconds, or until a time of the
/// server's clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let asked = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let instant = |text: &str| {
        jiff::fmt::rfc2822::parse(text)
            .ok()
            .map(|zoned| zoned.timestamp().as_second())
    };
    let pause = instant(asked)?.saturating_sub(instant(text(DATE)?)?);
    u64::try_from(pause).ok().map(Duration::from_secs)
}

/// A URL without user, password and query.
fn shown_url(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn is_credential(name: &HeaderName) -> bool {
    *name == AUTHORIZATION || *name == COOKIE || *name == PROXY_AUTHORIZATION
}

/// The TLS error among the causes of an error.
fn tls_problem(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        // The error inside an I/O error is not in the chain of `source`.
        next = match error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// The method with a name.
///
/// # Errors
/// A phrase with the problem.
pub(super) fn method(text: &str) -> Result<Method, &'static str> {
    let method =
        Method::from_bytes(text.as_bytes()).map_err(|_| "is no method, such as `POST` or `PUT`")?;
    if matches!(method, Method::CONNECT | Method::TRACE) {
        Err("is a method that is not sent here")
    } else {
        Ok(method)
    }
}

/// Reads headers from a map of names, or from a list of `Name: value`.
pub(super) fn header_list(value: &Value) -> Vec<(Name, Value)> {
    let (bare, secret) = value.split_secret();
    match bare {
        Value::Map(entries) => entries
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().tainted(secret)))
            .collect(),
        Value::List(items) => items
            .iter()
            .flat_map(|item| header_list(&item.clone().tainted(secret)))
            .collect(),
        Value::Text(line) => {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            vec![(
                name.trim().into(),
                Value::from(value.trim()).tainted(secret),
            )]
        }
        _ => Vec::new(),
    }
}

/// Reads a header.
///
/// # Errors
/// The field at fault, and a phrase with the problem.
pub(super) fn header(
    name: &str,
    value: &Value,
) -> Result<(HeaderName, HeaderValue), (String, &'static str)> {
    let refuse = |message| {
        // A name with other characters cannot be part of a path.
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        (
            if plain && !name.is_empty() {
                format!("headers.{name}")
            } else {
                "headers".to_owned()
            },
            message,
        )
    };
    let parsed =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse("is no name of a header"))?;
    let framing: BTreeSet<&str> = ["connection", "transfer-encoding", "upgrade"].into();
    if parsed == CONTENT_LENGTH || framing.contains(parsed.as_str()) {
        return Err(refuse("is set by the connection itself"));
    }
    let (bare, secret) = value.split_secret();
    let mut value = HeaderValue::from_str(bare.as_text().unwrap_or_default())
        .map_err(|_| refuse("holds a character that no header can hold"))?;
    value.set_sensitive(secret);
    Ok((parsed, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_header_is_parsed() {
        let said = |after: &str, date: &str| {
            let header = |text: &str| HeaderValue::from_str(text).expect("a header");
            let headers = [(RETRY_AFTER, header(after)), (DATE, header(date))];
            retry_after(&headers.into_iter().collect()).map(|pause| pause.as_secs())
        };
        let now = "Sat, 21 Nov 2026 20:00:00 GMT";
        assert_eq!(said("120", now), Some(120));
        assert_eq!(said("Sat, 21 Nov 2026 20:01:30 GMT", now), Some(90));
        assert_eq!(said("Sat, 21 Nov 2026 19:00:00 GMT", now), None);
        assert_eq!(said("soon", now), None);
        assert_eq!(said("-5", now), None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
