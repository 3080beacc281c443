//! Requests to the API of a cluster, and the classes of their failures.
//!
//! Requests are not repeated here: the work queue does that.

use blueprint::{Name, Value};
use cartographer::kinds::CartoKind;
use cartographer::reconcile::{Refusal, RefusalReason};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use kubernetes::{ApiFailure, FailedRequest, FailureReason, GroupKind, json};
use serde_json::Value as Json;

/// The form of a body that is applied. JSON is a part of YAML.
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// The form of a part that is merged into an object.
pub(crate) const MERGE: &str = "application/merge-patch+json";

/// The form of any other body.
pub(crate) const JSON: &str = "application/json";

/// Why a request gave no object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequestFailure {
    /// No complete answer came.
    Lost(String),
    /// The server refused.
    Refused(Box<ApiFailure>),
}

impl RequestFailure {
    /// Whether the object, or its namespace, does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(
            self.reason(),
            Some(FailureReason::ObjectMissing | FailureReason::NamespaceMissing(_))
        )
    }

    /// Whether an object with this name exists.
    pub(crate) fn is_already_there(&self) -> bool {
        matches!(self.reason(), Some(FailureReason::AlreadyExists { .. }))
    }

    /// Whether the object has changed meanwhile.
    pub(crate) fn is_conflict(&self) -> bool {
        self.refusal().reason == RefusalReason::Conflict
    }

    /// Whether the server does not accept the credentials.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.reason() == Some(&FailureReason::Unauthorized)
    }

    fn reason(&self) -> Option<&FailureReason> {
        match self {
            RequestFailure::Lost(_) => None,
            RequestFailure::Refused(failure) => Some(&failure.reason),
        }
    }

    /// The failure as a reconcile learns of it.
    pub(crate) fn refusal(&self) -> Refusal {
        match self {
            RequestFailure::Lost(message) => Refusal {
                reason: RefusalReason::Unavailable,
                message: message.clone(),
            },
            RequestFailure::Refused(failure) => Refusal {
                reason: refusal_reason(&failure.reason),
                message: failure.message.clone(),
            },
        }
    }
}

fn refusal_reason(reason: &FailureReason) -> RefusalReason {
    match reason {
        FailureReason::NoRight => RefusalReason::Forbidden,
        FailureReason::KindMissing => RefusalReason::KindMissing,
        FailureReason::AlreadyExists { .. }
        | FailureReason::FieldConflicts(_)
        | FailureReason::Modified
        | FailureReason::Vanished
        | FailureReason::MadeAnew => RefusalReason::Conflict,
        FailureReason::Invalid(_)
        | FailureReason::Denied { .. }
        | FailureReason::Refused
        | FailureReason::NoDryRun(_)
        | FailureReason::NotSupported
        | FailureReason::BadRequest => RefusalReason::Rejected,
        // A namespace can be made later, and nothing that is watched would tell it. A token that
        // is not accepted any more is replaced before the next try.
        FailureReason::ObjectMissing
        | FailureReason::NamespaceMissing(_)
        | FailureReason::NamespaceTerminating
        | FailureReason::Unauthorized
        | FailureReason::WebhookFailed(_)
        | FailureReason::TooManyRequests
        | FailureReason::Timeout
        | FailureReason::Unavailable
        | FailureReason::Expired
        | FailureReason::Internal
        | FailureReason::Other(_) => RefusalReason::Unavailable,
    }
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestBody<'a> {
    /// Its form, one of the constants of this module.
    pub(crate) form: &'static str,
    /// The object.
    pub(crate) object: &'a Json,
}

/// A connection with the credentials of somebody.
#[derive(Clone)]
pub(crate) struct ApiConnection {
    client: Client,
    /// The token that goes with each request; `None` if the client has its credentials.
    token: Option<HeaderValue>,
}

impl ApiConnection {
    /// A connection whose client has its credentials.
    pub(crate) fn of_client(client: Client) -> ApiConnection {
        ApiConnection {
            client,
            token: None,
        }
    }

    /// The same connection with a token. `None` if the token cannot be sent.
    pub(crate) fn with_token(client: Client, token: &str) -> Option<ApiConnection> {
        let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        header.set_sensitive(true);
        Some(ApiConnection {
            client,
            token: Some(header),
        })
    }

    /// Sends a request and returns the object of the answer. `kind` is that of the object, for
    /// messages.
    ///
    /// # Errors
    /// If no complete answer comes, or the server refuses.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        kind: &GroupKind,
        body: Option<RequestBody<'_>>,
    ) -> Result<Json, RequestFailure> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let bytes = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, body.form);
                body.object.to_string().into_bytes()
            }
            None => Vec::new(),
        };
        let request = request.body(Body::from(bytes));
        let request = request.map_err(|error| lost("no request can be made", &error))?;
        let answer = self.client.send(request).await;
        let answer = answer.map_err(|error| lost("the server cannot be reached", &error))?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await;
        let bytes =
            bytes.map_err(|error| lost("the answer of the server is incomplete", &error))?;
        let bytes = bytes.to_bytes();
        if !status.is_success() {
            let request = FailedRequest {
                kind,
                object: body.map(|body| body.object),
            };
            let text = String::from_utf8_lossy(&bytes);
            let mut failure = ApiFailure::of_answer(status.as_u16(), &text, request);
            if failure.message.is_empty() {
                failure.message = format!("the server answers `{status}`");
            }
            return Err(RequestFailure::Refused(Box::new(failure)));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| lost("the server answers with something else than JSON", &error))
    }
}

fn lost(what: &str, error: &(dyn std::error::Error + 'static)) -> RequestFailure {
    RequestFailure::Lost(format!("{what}: {}", with_causes(error)))
}

/// The messages of an error and of its causes, each once.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        at = cause.source();
    }
    message
}

/// An object as the body of a request.
///
/// # Errors
/// If JSON cannot express it: the request would be wrong.
pub(crate) fn body_of(object: &Value) -> Result<Json, Refusal> {
    let rejected = |message: String| Refusal {
        reason: RefusalReason::Rejected,
        message,
    };
    match json::to_json(object) {
        Ok((body, unknown)) if unknown.is_empty() => Ok(body),
        Ok(_) => Err(rejected("a part of the object is not known".to_owned())),
        Err(error) => Err(rejected(error.to_string())),
    }
}

/// The path of the objects of a kind of `carto.run`.
pub(crate) fn carto_path(kind: CartoKind, namespace: Option<&str>, name: &str) -> String {
    let (version, plural) = (cartographer::kinds::API_VERSION, kind.plural());
    match namespace {
        Some(namespace) => format!("/apis/{version}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("/apis/{version}/{plural}/{name}"),
    }
}

/// A text as a part of a query: everything but letters, digits and `-._~` is escaped.
pub(crate) fn query_part(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => {
                escaped.push('%');
                escaped.push_str(&format!("{byte:02X}"));
            }
        }
    }
    escaped
}

/// The group and kind of an object of a kind of `carto.run`.
pub(crate) fn carto_group_kind(kind: CartoKind) -> GroupKind {
    GroupKind::new(cartographer::kinds::GROUP, Name::from(kind.name()))
}
