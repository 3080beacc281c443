//! Tokens of service accounts: asked for when an account is first needed, and again after half of
//! their life.
//!
//! Invariant: a token is used only for the account, by its uid, that it was made for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blueprint::Name;
use cartographer::reconcile::{AccountName, Refusal, RefusalReason};
use http::Method;
use jiff::Timestamp;
use kube::Client;
use kubernetes::GroupKind;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use crate::api::{ApiConnection, JSON, RequestBody, RequestFailure};
use crate::metrics::Counters;
use crate::options::{AccountClients, ControllerOptions};

/// How long a token is asked for.
const LIFE: Duration = Duration::from_secs(2 * 60 * 60);

/// The connection of an account.
struct AccountConnection {
    uid: Name,
    connection: ApiConnection,
    renew_at: Instant,
    expires_at: Instant,
}

/// One place for each account, so that only one task asks for its token.
type AccountPlace = Arc<AsyncMutex<Option<AccountConnection>>>;

/// The connections of service accounts.
pub(crate) struct AccountTokens {
    /// The client and connection of the controller, which asks for tokens.
    client: Client,
    controller: ApiConnection,
    places: Mutex<HashMap<AccountName, AccountPlace>>,
}

impl AccountTokens {
    pub(crate) fn new(client: Client) -> AccountTokens {
        AccountTokens {
            controller: ApiConnection::of_client(client.clone()),
            client,
            places: Mutex::default(),
        }
    }

    /// The connection of an account that exists with a uid. `Ok(None)` if the server says that it
    /// does not exist.
    ///
    /// # Errors
    /// If no token can be had.
    pub(crate) async fn connection(
        &self,
        account: &AccountName,
        uid: &Name,
        options: &ControllerOptions,
        counters: &Counters,
    ) -> Result<Option<ApiConnection>, Refusal> {
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.entry(account.clone()).or_default().clone()
        };
        let mut place = place.lock().await;
        let now = Instant::now();
        let usable = place
            .as_ref()
            .filter(|known| known.uid == *uid && now < known.expires_at);
        if let Some(known) = usable
            && now < known.renew_at
        {
            return Ok(Some(known.connection.clone()));
        }
        let usable = usable.map(|known| known.connection.clone());
        counters.count_request("create", "serviceaccounts/token");
        match self.ask(account, options).await {
            Ok(token) => {
                let made = connect(&self.client, uid, &token, options)?;
                let connection = made.connection.clone();
                *place = Some(made);
                Ok(Some(connection))
            }
            Err(failure) if failure.is_missing() => {
                *place = None;
                Ok(None)
            }
            // The earlier token is still valid: the next request tries again to renew it.
            Err(failure) => usable.map(Some).ok_or_else(|| failure.refusal()),
        }
    }

    /// Forgets the token of an account, because the server does not accept it.
    pub(crate) fn forget(&self, account: &AccountName) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.remove(account);
    }

    async fn ask(
        &self,
        account: &AccountName,
        options: &ControllerOptions,
    ) -> Result<AccountToken, RequestFailure> {
        let AccountName { namespace, name } = account;
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": LIFE.as_secs()},
        });
        let kind = GroupKind::new("", "ServiceAccount");
        let body = Some(RequestBody {
            form: JSON,
            object: &request,
        });
        let answer = self.controller.send(Method::POST, &path, &kind, body);
        let answer = answer.await?;
        let Some(token) = answer["status"]["token"].as_str() else {
            let message = "the server answers a request for a token without one";
            return Err(RequestFailure::Lost(message.to_owned()));
        };
        Ok(AccountToken {
            token: token.to_owned(),
            life: life_of(&answer, options.clock.as_ref()()),
        })
    }
}

struct AccountToken {
    token: String,
    life: Duration,
}

/// How long a token lives: a server may give a shorter life than it was asked for.
fn life_of(answer: &Json, now: Timestamp) -> Duration {
    let end = answer["status"]["expirationTimestamp"].as_str();
    let end = end.and_then(|end| end.parse::<Timestamp>().ok());
    let left = end.and_then(|end| Duration::try_from(end.duration_since(now)).ok());
    left.unwrap_or(LIFE).min(LIFE)
}

fn connect(
    client: &Client,
    uid: &Name,
    token: &AccountToken,
    options: &ControllerOptions,
) -> Result<AccountConnection, Refusal> {
    let refused = |message: String| Refusal {
        reason: RefusalReason::Unavailable,
        message,
    };
    let connection = match &options.accounts {
        AccountClients::SameConnection => {
            ApiConnection::with_token(client.clone(), &token.token)
                .ok_or_else(|| refused("the server gives a token that cannot be sent".to_owned()))?
        }
        AccountClients::PerToken(make) => {
            let made = make.as_ref()(&token.token).map_err(refused)?;
            ApiConnection::of_client(made)
        }
    };
    let now = Instant::now();
    Ok(AccountConnection {
        uid: uid.clone(),
        connection,
        renew_at: now + token.life / 2 - jitter(uid, token.life),
        expires_at: now + token.life,
    })
}

/// Up to a tenth of a life, different for each account, so that tokens that were made together are
/// not renewed together.
fn jitter(uid: &str, life: Duration) -> Duration {
    let digest = Sha256::digest(uid.as_bytes());
    let part = u32::from(digest[0]);
    life / 10 * part / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_is_what_the_server_gives() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let answer = |end: &str| json!({"status": {"expirationTimestamp": end}});
        let life = |end: &str| life_of(&answer(end), now).as_secs();
        assert_eq!(life("2026-01-01T00:10:00Z"), 600);
        assert_eq!(life("2026-01-02T00:00:00Z"), LIFE.as_secs());
        assert_eq!(life("2025-12-31T00:00:00Z"), LIFE.as_secs());
        assert_eq!(life("later"), LIFE.as_secs());
    }

    #[test]
    fn jitter_is_below_a_tenth() {
        for uid in ["a", "b", "c", "d"] {
            assert!(jitter(uid, LIFE) < LIFE / 10);
        }
        assert_ne!(jitter("a", LIFE), jitter("b", LIFE));
    }
}
