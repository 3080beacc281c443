//! Exchanges one request for one answer, over HTTP. A request that may be repeated is, a few times, if
//! the connection breaks or the service asks for it.
//!
//! Not here: tokens, versions, the meaning of an answer (`cloud`).

use std::time::Duration;

use ::provider::ErrorKind;
use bytes::{Bytes, BytesMut};
use http_client::Clients;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::Service;
use super::failure::ServiceError;

/// The time that a request may take. A service answers its first request seconds late.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time that a request with a large body may take.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(3600);
/// The size in bytes from which a body is large.
const LARGE: usize = 1 << 20;
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 << 20;
/// How often a request is sent, the first time included.
const TRIES: u32 = 4;
/// The longest pause that a service may ask for before a repetition.
const MAX_PAUSE: Duration = Duration::from_secs(20);

/// Whether a request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It changes nothing.
    Allowed,
    /// It may have taken effect.
    Never,
}

/// A request, complete but for the connection.
pub(super) struct Outgoing {
    pub(super) service: Service,
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) repeat: Repeat,
}

/// An answer with any status.
pub(super) struct RawAnswer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl RawAnswer {
    /// The text of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The error of an answer that is no success.
    pub(super) fn error(&self, service: Service) -> ServiceError {
        ServiceError {
            request_id: self.request_id(),
            retry_after: self.retry_after(),
            ..ServiceError::answered(service, self.status, &self.body)
        }
    }

    /// The id under which the service logs the request.
    pub(super) fn request_id(&self) -> Option<String> {
        let names = [
            "x-openstack-request-id",
            "x-compute-request-id",
            "x-trans-id",
        ];
        names
            .iter()
            .find_map(|name| self.header(name))
            .map(str::to_owned)
    }

    /// The pause that the service asked for: seconds, or the time to wait for.
    fn retry_after(&self) -> Option<Duration> {
        let asked = self.header("retry-after")?.trim();
        if let Ok(seconds) = asked.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let until = jiff::fmt::rfc2822::parse(asked).ok()?.timestamp();
        let pause = until.duration_since(jiff::Timestamp::now());
        Some(Duration::try_from(pause).unwrap_or_default())
    }

    /// Whether the service, or a proxy before it, asks for a repetition.
    fn asks_for_repetition(&self) -> bool {
        matches!(self.status, 429 | 502 | 503 | 504)
    }
}

/// The connections to the services of a cloud.
pub(super) struct Transport {
    clients: Clients,
}

impl Transport {
    /// Connections that trust these authorities (in PEM form), or those of the machine.
    pub(super) fn trusting(authorities: Option<&str>) -> Transport {
        Transport {
            clients: authorities.map_or_else(Clients::default, Clients::trusting),
        }
    }

    /// Sends a request, and again if it may be.
    ///
    /// # Errors
    /// If no answer came. The error says whether the request was sent.
    pub(super) async fn exchange(&self, outgoing: &Outgoing) -> Result<RawAnswer, ServiceError> {
        let mut tries = 1;
        loop {
            let sent = self.send(outgoing).await;
            let (may_clear, asked) = match &sent {
                Ok(answer) => (answer.asks_for_repetition(), answer.retry_after()),
                Err(broken) => (broken.may_clear, None),
            };
            let usual = Duration::from_millis(250) * (1 << (tries - 1));
            let pause = asked.unwrap_or_default().max(usual);
            let may_repeat = outgoing.repeat == Repeat::Allowed && tries < TRIES;
            if !may_clear || !may_repeat || pause > MAX_PAUSE {
                return sent.map_err(|broken| broken.error);
            }
            tokio::time::sleep(pause).await;
            tries += 1;
        }
    }

    /// Sends a request once.
    async fn send(&self, outgoing: &Outgoing) -> Result<RawAnswer, BrokenExchange> {
        let service = outgoing.service;
        let client = self.clients.of(&outgoing.url).await;
        let client = client.map_err(|why| BrokenExchange {
            error: ServiceError::not_sent(service, why).of_class(ErrorKind::Permanent),
            may_clear: false,
        })?;
        let size = outgoing.body.as_ref().map_or(0, Bytes::len);
        let timeout = if size < LARGE {
            TIMEOUT
        } else {
            UPLOAD_TIMEOUT
        };
        let request = client
            .request(outgoing.method.clone(), outgoing.url.clone())
            .timeout(timeout)
            .headers(outgoing.headers.clone());
        let request = match &outgoing.body {
            Some(body) => request.body(body.clone()),
            None => request,
        };
        let broken = |error| BrokenExchange::of(service, &outgoing.url, &error);
        let mut answer = request.send().await.map_err(broken)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                let why = format!("the answer is longer than {} MiB", MAX_ANSWER >> 20);
                return Err(BrokenExchange {
                    error: ServiceError::lost(service, why),
                    may_clear: false,
                });
            }
        }
        Ok(RawAnswer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body: body.freeze(),
        })
    }
}

/// An exchange without an answer.
struct BrokenExchange {
    error: ServiceError,
    /// Whether a repetition may succeed.
    may_clear: bool,
}

impl BrokenExchange {
    fn of(service: Service, url: &Url, error: &reqwest::Error) -> BrokenExchange {
        let place = url.origin().ascii_serialization();
        let why = http_client::innermost_message(error);
        if http_client::refuses_certificate(error) {
            let message = format!(
                "the certificate of {place} is not trusted: {why}; name the certificate authority \
                 of the cloud with `cacert` in clouds.yaml, or with the variable `OS_CACERT`"
            );
            return BrokenExchange {
                error: ServiceError::not_sent(service, message).of_class(ErrorKind::Permanent),
                may_clear: false,
            };
        }
        if error.is_builder() {
            return BrokenExchange {
                error: ServiceError::not_sent(service, why).of_class(ErrorKind::Permanent),
                may_clear: false,
            };
        }
        if error.is_connect() {
            let message = format!("{place} cannot be reached: {why}");
            return BrokenExchange {
                error: ServiceError::not_sent(service, message),
                may_clear: true,
            };
        }
        let message = match error.is_timeout() {
            true => format!("{place} did not answer in time"),
            false => format!("the connection to {place} broke: {why}"),
        };
        BrokenExchange {
            error: ServiceError::lost(service, message),
            // The answer to the next try would take as long.
            may_clear: !error.is_timeout(),
        }
    }
}

/// The headers of a request. Values that are no header are refused.
///
/// # Errors
/// The name of the header whose value is not allowed.
pub(super) fn headers<'a>(
    all: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in all {
        let refused = || format!("the value of the header `{name}` is not allowed");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| refused())?;
        value.set_sensitive(name.eq_ignore_ascii_case("x-auth-token"));
        headers.insert(key, value);
    }
    Ok(headers)
}
