//! `http/request`: a resource that is created, updated, read and deleted by requests.
//!
//! `read`, `update` and `delete` inherit `headers`, `timeout` and `url` of the spec if they do not
//! set these; `update` also inherits `body`.

use std::sync::Arc;

use blueprint::{FieldPath, Map, Value, parse_duration};
use http_client::{Clients, roots};
use provider::{
    Applied, ApplyRequest, Call, CheckFindings, ErrorKind, Observed, PlanRequest, Planned,
    ProviderError, ReadOutcome, ReadRequest,
};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::address;
use super::answer;
use super::exchange::{self, Exchange, HttpAnswer};
use super::secrecy;
use super::secrets::SecretTexts;

/// Fields whose change updates the resource.
const SENT: [&str; 4] = ["url", "method", "headers", "body"];

/// Fields whose change is only recorded, because they concern later requests.
const RECORDED: [&str; 7] = [
    "read",
    "update",
    "delete",
    "expectStatus",
    "timeout",
    "caCertificatePem",
    "reveal",
];

/// The header by which servers recognise a repeated request.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// One of the requests of a spec.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestRole {
    Make,
    Read,
    Update,
    Delete,
}

impl RequestRole {
    fn key(self) -> &'static str {
        match self {
            RequestRole::Make => "",
            RequestRole::Read => "read",
            RequestRole::Update => "update",
            RequestRole::Delete => "delete",
        }
    }

    fn method(self) -> Method {
        match self {
            RequestRole::Make => Method::POST,
            RequestRole::Read => Method::GET,
            RequestRole::Update => Method::PUT,
            RequestRole::Delete => Method::DELETE,
        }
    }

    /// Fields that are inherited from the spec.
    fn inherits(self) -> &'static [&'static str] {
        match self {
            RequestRole::Make => &[],
            RequestRole::Update => &["url", "headers", "timeout", "body"],
            RequestRole::Read | RequestRole::Delete => &["url", "headers", "timeout"],
        }
    }

    fn path(self, field: &str) -> String {
        if self == RequestRole::Make {
            field.to_owned()
        } else {
            format!("{}.{field}", self.key())
        }
    }

    /// The fields of the request in a spec, including inherited ones. `None` if the spec has no
    /// such request.
    fn fields(self, spec: &Value) -> Option<Value> {
        let secret = spec.split_secret().1;
        if self == RequestRole::Make {
            return Some(spec.clone());
        }
        let (own, marked) = spec
            .get(self.key())
            .filter(|own| !own.is_null())?
            .split_secret();
        let mut fields: Map = own.as_map()?.clone();
        for field in self.inherits() {
            if fields.get(field).is_none_or(Value::is_null)
                && let Some(value) = spec.get(field)
            {
                fields.insert((*field).into(), value.clone());
            }
        }
        Some(Value::Map(Arc::new(fields)).tainted(secret || marked))
    }
}

/// Builds a request of a spec. `None` if the spec has no such request.
fn exchange(
    part: RequestRole,
    spec: &Value,
    outputs: &Value,
) -> Result<Option<Exchange>, ProviderError> {
    let Some(fields) = part.fields(spec) else {
        return Ok(None);
    };
    let at = |error: ProviderError| match &error.field {
        Some(field) => {
            let path = part.path(&field.to_string());
            error.at(path)
        }
        None => error,
    };
    let refuse =
        |message: String| ProviderError::new(ErrorKind::Document, message).at(part.path("url"));
    let text = |fields: &Value| {
        fields
            .get("url")
            .and_then(Value::as_text)
            .unwrap_or_default()
            .to_owned()
    };
    let main = address::absolute(&text(spec))
        .map_err(|message| ProviderError::new(ErrorKind::Document, message).at("url"))?;
    let (url, secret): (Url, bool) = match part {
        RequestRole::Make => (main, false),
        _ => address::filled(&text(&fields), outputs, &main).map_err(refuse)?,
    };
    let mut exchange = Exchange::of(&fields, url, part.method()).map_err(at)?;
    exchange.secret_url |= secret || spec.get("url").is_some_and(Value::has_secret);
    exchange.authorities = spec
        .get("caCertificatePem")
        .and_then(Value::as_text)
        .map(Into::into);
    Ok(Some(exchange))
}

/// Checks every request of a spec, as far as its values are known.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    for part in [
        RequestRole::Make,
        RequestRole::Read,
        RequestRole::Update,
        RequestRole::Delete,
    ] {
        let own = match part {
            RequestRole::Make => Some(spec),
            _ => spec.get(part.key()),
        };
        if let Some(own) = own {
            check_part(part, own, found);
        }
    }
    let parts = spec.get("reveal").and_then(Value::as_list);
    for (at, part) in parts.unwrap_or_default().iter().enumerate() {
        if let Some(Err(message)) = part.as_text().map(secrecy::part) {
            found.refuse(format!("reveal[{at}]"), message);
        }
    }
    if let Some(pem) = spec.get("caCertificatePem").and_then(Value::as_text)
        && let Err(message) = roots(pem)
    {
        found.refuse("caCertificatePem", message);
    }
}

fn check_part(part: RequestRole, own: &Value, found: &mut CheckFindings) {
    let mut refuse = |field: &str, message: String| found.refuse(part.path(field), message);
    let text = |field: &str| own.get(field).and_then(Value::as_text);
    if let Some(url) = text("url") {
        if part == RequestRole::Make {
            if let Err(message) = address::absolute(url) {
                refuse("url", message.into());
            }
        } else if let Some(message) = address::problem(url) {
            refuse("url", message);
        }
    }
    if let Some(Err(message)) = text("method").map(exchange::method) {
        refuse("method", message.into());
    }
    if let Some(Err(error)) = text("timeout").map(parse_duration) {
        refuse("timeout", format!("is {error}"));
    }
    for (name, value) in own
        .get("headers")
        .map(exchange::header_list)
        .unwrap_or_default()
    {
        if value.is_unknown() {
            continue;
        }
        if let Err((field, message)) = exchange::header(&name, &value) {
            refuse(&field, message.into());
        }
    }
}

/// Plans an update: finds the changes that are only recorded.
pub(super) fn plan(request: &PlanRequest<'_>) -> Planned {
    if request.prior_inputs.is_null() {
        return Planned::default();
    }
    let changed = |field: &&str| is_changed(field, request.prior_inputs, request.desired);
    let only_recorded = RECORDED
        .iter()
        .filter(|field| changed(field))
        .map(|field| FieldPath::field(*field))
        .collect();
    Planned {
        only_recorded,
        ..Planned::default()
    }
}

fn is_changed(field: &str, before: &Value, after: &Value) -> bool {
    let written = |spec: &Value| {
        spec.get(field)
            .filter(|value| !value.is_null())
            .map(Value::revealed)
    };
    written(before) != written(after)
}

/// The secrets of a call.
fn secrets(call: &Call, values: [&Value; 3]) -> SecretTexts {
    SecretTexts::of(values.into_iter().chain([&call.settings]))
}

/// Sends the request that creates the resource.
pub(super) async fn create(
    call: &Call,
    request: &ApplyRequest<'_>,
    clients: &Clients,
) -> Result<Applied, ProviderError> {
    let secrets = secrets(call, [request.desired, &Value::Null, &Value::Null]);
    let mut exchange =
        exchange(RequestRole::Make, request.desired, &Value::Null)?.ok_or_else(nothing_to_send)?;
    add_idempotency_key(&mut exchange, call);
    let answer = exchange.send(call, clients, &secrets).await?;
    accept(
        &exchange,
        &answer,
        &secrets,
        request.desired,
        call.token.clone(),
    )
}

/// Sends the request that updates the resource, if a relevant field changes. Without an update
/// request, sends the request that creates the resource.
pub(super) async fn update(
    call: &Call,
    request: &ApplyRequest<'_>,
    clients: &Clients,
) -> Result<Applied, ProviderError> {
    let id = request.id.unwrap_or_default().into();
    if !SENT
        .iter()
        .any(|field| is_changed(field, request.prior_inputs, request.desired))
    {
        let mut fields = request.prior.as_map().cloned().unwrap_or_default();
        // A part that the spec no longer has must not stay.
        RECORDED
            .iter()
            .for_each(|field| drop(fields.shift_remove(field)));
        fields.extend(request.desired.as_map().cloned().unwrap_or_default());
        // The answer stays, but other parts of it may be secret now.
        if is_changed("reveal", request.prior_inputs, request.desired)
            && let Some(exchange) = sent_by_update(request)?
        {
            let secrets = secrets(call, [request.desired, request.prior_inputs, &Value::Null]);
            secrecy::show(&mut fields, &secrets);
            secrecy::hide(&mut fields, exchange.carries_secret(), request.desired);
        }
        let fields = Value::Map(Arc::new(fields));
        return Ok(Applied::ready(id, fields));
    }
    let secrets = secrets(call, [request.desired, request.prior_inputs, request.prior]);
    let mut exchange = sent_by_update(request)?.ok_or_else(nothing_to_send)?;
    add_idempotency_key(&mut exchange, call);
    let answer = exchange.send(call, clients, &secrets).await?;
    let gone = is_gone(&exchange, &answer);
    let result = accept(&exchange, &answer, &secrets, request.desired, id);
    result.map_err(|error| {
        if gone {
            ProviderError {
                kind: ErrorKind::NotFound,
                ..error
            }
        } else {
            error
        }
    })
}

/// The request of an update: its own one or, without it, the one that creates the resource.
fn sent_by_update(request: &ApplyRequest<'_>) -> Result<Option<Exchange>, ProviderError> {
    match exchange(RequestRole::Update, request.desired, request.prior)? {
        Some(exchange) => Ok(Some(exchange)),
        None => exchange(RequestRole::Make, request.desired, &Value::Null),
    }
}

/// Sends the request that deletes the resource, if there is one.
pub(super) async fn delete(
    call: &Call,
    request: &ApplyRequest<'_>,
    clients: &Clients,
) -> Result<Applied, ProviderError> {
    let done = Applied::ready("", Value::Null);
    let secrets = secrets(call, [request.prior_inputs, request.prior, &Value::Null]);
    let Some(mut exchange) = exchange(RequestRole::Delete, request.prior_inputs, request.prior)?
    else {
        return Ok(done);
    };
    add_idempotency_key(&mut exchange, call);
    let answer = exchange.send(call, clients, &secrets).await?;
    if exchange.expects(answer.status) || is_gone(&exchange, &answer) {
        return Ok(done);
    }
    Err(exchange.refused(&answer, &secrets))
}

/// Reads the resource, if the spec has a `read` request; otherwise returns the record.
pub(super) async fn read(
    call: &Call,
    request: &ReadRequest<'_>,
    clients: &Clients,
) -> Result<ReadOutcome, ProviderError> {
    let Some(outputs) = request.outputs.as_map() else {
        return Ok(ReadOutcome::Unknown);
    };
    if let Some(exchange) = exchange(RequestRole::Read, request.inputs, request.outputs)? {
        let secrets = secrets(call, [request.inputs, request.outputs, &Value::Null]);
        let answer = exchange.send(call, clients, &secrets).await?;
        if is_gone(&exchange, &answer) {
            return Ok(ReadOutcome::Absent);
        }
        if !exchange.expects(answer.status) {
            return Err(exchange.refused(&answer, &secrets));
        }
    }
    // The answer is not compared, because it may have another form than the request.
    let mut fields = request.inputs.as_map().cloned().unwrap_or_default();
    fields.extend(
        outputs
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    Ok(ReadOutcome::Present(Observed {
        id: request.id.unwrap_or_default().into(),
        fields: Value::Map(Arc::new(fields)),
        private: request.private.clone(),
        expired: None,
        ..Observed::default()
    }))
}

/// Whether the answer means that the resource does not exist. A status that the spec expects does
/// not mean this.
fn is_gone(exchange: &Exchange, answer: &HttpAnswer) -> bool {
    matches!(answer.status.as_u16(), 404 | 410) && !exchange.expects(answer.status)
}

/// Adds the idempotency key, by which a server recognises a repeated request.
fn add_idempotency_key(exchange: &mut Exchange, call: &Call) {
    if matches!(exchange.method, Method::POST | Method::PATCH)
        && let Ok(token) = HeaderValue::from_str(&call.token)
    {
        exchange
            .headers
            .entry(HeaderName::from_static(IDEMPOTENCY_KEY))
            .or_insert(token);
    }
}

/// The resource from an answer. If the answer is too long, the error holds the resource.
fn accept(
    exchange: &Exchange,
    answer: &HttpAnswer,
    secrets: &SecretTexts,
    spec: &Value,
    id: blueprint::Name,
) -> Result<Applied, ProviderError> {
    if !exchange.expects(answer.status) {
        return Err(exchange.refused(answer, secrets));
    }
    let (mut computed, warnings) = answer::fields(answer, secrets);
    secrecy::hide(&mut computed, exchange.carries_secret(), spec);
    let mut fields = spec.as_map().cloned().unwrap_or_default();
    fields.extend(computed);
    let applied = Applied::ready(id, Value::Map(Arc::new(fields))).with_warnings(warnings);
    if answer.body.is_none() {
        let mut error = ProviderError::new(
            ErrorKind::Permanent,
            format!("`{}`: {}", exchange.shown(), answer::too_long()),
        );
        error.partial = Some(Box::new(applied));
        return Err(error);
    }
    Ok(applied)
}

fn nothing_to_send() -> ProviderError {
    ProviderError::new(ErrorKind::Document, "there is nothing to send")
}
