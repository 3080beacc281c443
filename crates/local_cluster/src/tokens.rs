//! Tokens of service accounts, and who asks.

use jiff::SignedDuration;
use serde_json::{Value as Json, json};

use crate::failure::{FieldCause, RefusedRequest};
use crate::naming::TypeName;
use crate::object::{meta_text, set_field};
use crate::request::{ApiUser, Commitment, WriteSettings};
use crate::state::{ClusterState, IssuedToken, written_time};
use crate::writing::RequestTarget;

/// The shortest life of a token, in seconds.
const SHORTEST: i64 = 600;

/// The life of a token if the request does not say, in seconds.
const DEFAULT: i64 = 3600;

/// The longest life of a token, in seconds.
const LONGEST: i64 = 1 << 32;

/// Answers a `TokenRequest` for a service account.
///
/// # Errors
/// If the account does not exist, or the token would live too short.
pub(crate) fn issue(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    mut request: Json,
    settings: &WriteSettings,
) -> Result<Json, RefusedRequest> {
    let address = target.address(name);
    let account = state.store.get(&address);
    let account = account.ok_or_else(|| RefusedRequest::not_found(&address.resource, name))?;
    let account_uid = meta_text(&account, "uid").to_owned();
    let seconds = request["spec"]["expirationSeconds"]
        .as_i64()
        .unwrap_or(DEFAULT);
    let rule = match seconds {
        SHORTEST..=LONGEST => None,
        ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
        _ => Some("may not specify a duration larger than 2^32 seconds"),
    };
    if let Some(rule) = rule {
        let of = TypeName {
            group: "authentication.k8s.io".into(),
            kind: "TokenRequest".into(),
        };
        let cause = FieldCause::invalid("spec.expirationSeconds", &seconds.into(), rule);
        return Err(RefusedRequest::invalid(&of, name, &[cause]));
    }
    let now = state.now();
    let expires = now
        .checked_add(SignedDuration::from_secs(seconds))
        .map_err(|_| RefusedRequest::bad_request("the token would expire after the last time"))?;
    let token = format!("local-{}", state.ids.token());
    let namespace = &*target.namespace;
    let issued = IssuedToken {
        user: ApiUser {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
        },
        account: address,
        account_uid,
        expires,
    };
    if settings.commitment == Commitment::Stored {
        state.tokens.retain(|_, own| own.expires > now);
        state.tokens.insert(token.clone(), issued);
    }
    if !request.is_object() {
        request = json!({});
    }
    set_field(&mut request, "kind", Some("TokenRequest".into()));
    set_field(
        &mut request,
        "apiVersion",
        Some("authentication.k8s.io/v1".into()),
    );
    request["metadata"] = json!({"name": name, "namespace": namespace,
        "creationTimestamp": written_time(now)});
    if !request["spec"].is_object() {
        request["spec"] = json!({});
    }
    request["spec"]["expirationSeconds"] = seconds.into();
    if request["spec"]["audiences"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        request["spec"]["audiences"] = json!(["https://kubernetes.default.svc"]);
    }
    request["status"] = json!({"token": token, "expirationTimestamp": written_time(expires)});
    Ok(request)
}

/// The account of a token. `None` if the token is unknown or expired, or its account is gone.
pub(crate) fn user_of_token(state: &ClusterState, token: &str) -> Option<ApiUser> {
    let issued = state.tokens.get(token)?;
    let account = state.store.get(&issued.account)?;
    let is_same = meta_text(&account, "uid") == issued.account_uid;
    (is_same && issued.expires > state.now()).then(|| issued.user.clone())
}
