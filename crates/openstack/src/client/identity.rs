//! Signs in at Keystone: credentials become a token and the catalogue of services.
//!
//! Facts: `POST /v3/auth/tokens` of the Identity API v3. The token is the header `X-Subject-Token`.
//!
//! Not here: when a token is renewed (`cloud`).

use std::time::Duration;

use ::provider::ErrorKind;
use reqwest::Method;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::Service;
use super::access::Access;
use super::failure::{Delivery, ServiceError};
use super::transport::{self, Outgoing, RawAnswer, Repeat, Transport};

/// A token.
pub(super) struct KeystoneToken {
    pub(super) text: String,
    /// When it should be renewed; `None` if Keystone did not say when it expires.
    renew_at: Option<Instant>,
}

impl KeystoneToken {
    /// Whether the token is about to expire.
    pub(super) fn is_old(&self) -> bool {
        self.renew_at.is_some_and(|time| Instant::now() >= time)
    }
}

/// The result of a sign-in.
pub(super) struct SignedIn {
    pub(super) token: KeystoneToken,
    /// The id of the project; empty without one.
    pub(super) project: String,
    /// The catalogue of services.
    pub(super) catalogue: Json,
}

/// Signs in.
///
/// # Errors
/// [`ErrorKind::Credentials`] if Keystone refuses or is not there;
/// [`ErrorKind::Transient`] if it does not answer.
pub(super) async fn sign_in(
    transport: &Transport,
    access: &Access,
) -> Result<SignedIn, ServiceError> {
    let mut auth = json!({ "identity": access.identity.json() });
    if let Some(scope) = access.scope.json() {
        auth["scope"] = scope;
    }
    let mut url = access.endpoints.keystone.clone();
    url.set_path(&format!(
        "{}/v3/auth/tokens",
        url.path().trim_end_matches('/')
    ));
    let headers = [
        ("Accept", "application/json"),
        ("Content-Type", "application/json"),
    ];
    let headers = transport::headers(headers)
        .map_err(|why| ServiceError::not_sent(Service::Identity, why))?;
    let outgoing = Outgoing {
        service: Service::Identity,
        method: Method::POST,
        url,
        headers,
        body: Some(json!({ "auth": auth }).to_string().into()),
        // A second token does no harm.
        repeat: Repeat::Allowed,
    };
    let answer = transport.exchange(&outgoing).await?;
    let token = answer.header("x-subject-token").map(str::to_owned);
    let body: Option<Json> = serde_json::from_slice(&answer.body).ok();
    let made = token
        .zip(body)
        .filter(|_| (200..300).contains(&answer.status));
    let Some((text, mut body)) = made else {
        return Err(refused(access, &answer));
    };
    let body = &mut body["token"];
    let renew_at = lifetime(body).map(|lifetime| Instant::now() + lifetime - margin(lifetime));
    Ok(SignedIn {
        token: KeystoneToken { text, renew_at },
        project: body["project"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        catalogue: body["catalog"].take(),
    })
}

/// The time from the issue of a token to its end, by the clock of Keystone.
fn lifetime(token: &Json) -> Option<Duration> {
    let time = |key: &str| token[key].as_str()?.parse::<jiff::Timestamp>().ok();
    let lifetime = time("expires_at")?.duration_since(time("issued_at")?);
    Duration::try_from(lifetime).ok()
}

/// How long before its end a token is renewed: time for the requests that are on their way, and for
/// what services do with it after their answer.
fn margin(lifetime: Duration) -> Duration {
    Duration::from_secs(300).min(lifetime / 4)
}

/// The error of an answer without a token.
fn refused(access: &Access, answer: &RawAnswer) -> ServiceError {
    let error = answer.error(Service::Identity);
    let (who, cloud) = (access.identity.shown(), &access.endpoints.named);
    let address = access.endpoints.keystone.as_str().trim_end_matches('/');
    // Keystone answers with 404 and an error of its own when an application credential is gone.
    let of_keystone = serde_json::from_slice::<Json>(&answer.body)
        .is_ok_and(|body| body["error"]["message"].is_string());
    let message = match answer.status {
        status if status == 401 || (status == 404 && of_keystone) => format!(
            "{address} refuses {who}: {}; check the password or secret, the domains and the project \
             of {cloud}",
            error.message.trim_end_matches('.'),
        ),
        403 => format!("{address} refuses {who}: {}", error.message),
        429 | 500..=599 => return error,
        404 => format!(
            "there is no Keystone with the API v3 at {address}; check `auth_url` of {cloud}"
        ),
        status => format!(
            "{address} answered a sign-in with {status} and without a token, as no Keystone does; \
             check `auth_url` of {cloud}"
        ),
    };
    ServiceError {
        message,
        delivery: Delivery::Answered(answer.status),
        ..error
    }
    .of_class(ErrorKind::Credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_renewed_before_its_end() {
        let token = json!({
            "issued_at": "2026-11-30T11:29:40.000000Z",
            "expires_at": "2026-11-30T12:29:40.000000Z",
        });
        assert_eq!(lifetime(&token), Some(Duration::from_secs(3600)));
        assert_eq!(margin(Duration::from_secs(3600)), Duration::from_secs(300));
        assert_eq!(margin(Duration::from_secs(60)), Duration::from_secs(15));
        assert_eq!(
            lifetime(&json!({"expires_at": "soon", "issued_at": 1})),
            None
        );
        let past =
            json!({"issued_at": "2026-11-30T12:00:00Z", "expires_at": "2026-11-30T11:00:00Z"});
        assert_eq!(lifetime(&past), None);
    }
}
