//! The data source `http/get`: the answer of a URL.

use blueprint::{Map, Name, Value};
use http_client::Clients;
use provider::{Call, Candidate, ErrorKind, FetchRequest, Fetched, ProviderError};
use reqwest::Method;

use super::exchange::Exchange;
use super::secrets::SecretTexts;
use super::{address, answer, secrecy};

/// Fetches the single candidate. Its arguments are passed as filters.
pub(super) async fn fetch(
    call: &Call,
    request: &FetchRequest<'_>,
    clients: &Clients,
) -> Result<Fetched, ProviderError> {
    let arguments = arguments(request.filters)?;
    let secrets = SecretTexts::of([&arguments, &call.settings]);
    let refuse =
        |field: &str, message: &str| ProviderError::new(ErrorKind::Document, message).at(field);
    let url = arguments
        .get("url")
        .and_then(Value::as_text)
        .ok_or_else(|| refuse("url", "must be written"))?;
    let reveal = arguments.get("reveal").and_then(Value::as_list);
    let reveal = reveal.unwrap_or_default();
    secrecy::check_exports(reveal).map_err(|message| refuse("reveal", &message))?;
    let url = address::absolute(url).map_err(|message| refuse("url", message))?;
    let mut exchange = Exchange::of(&arguments, url, Method::GET)?;
    exchange.authorities = arguments
        .get("caCertificatePem")
        .and_then(Value::as_text)
        .map(Into::into);
    let answer = exchange.send(call, clients, &secrets).await?;
    if !exchange.expects(answer.status) {
        return Err(exchange.refused(&answer, &secrets));
    }
    let mut fields = answer::exports(&answer, &secrets).map_err(|message| {
        ProviderError::new(
            ErrorKind::Permanent,
            format!("`{}`: {message}", exchange.shown()),
        )
    })?;
    if exchange.carries_secret() {
        secrecy::hide_exports(&mut fields, reveal);
    }
    let candidate = Candidate {
        fields: Value::Map(fields.into()),
        filter_fields: arguments,
    };
    let applied = (0..request.filters.len()).collect();
    Ok(Fetched {
        candidates: vec![candidate],
        applied,
        ..Fetched::default()
    })
}

/// The arguments by name. Each must occur once, with the operator `=`.
fn arguments(filters: &[(Name, Name, Value)]) -> Result<Value, ProviderError> {
    let mut arguments = Map::default();
    for (field, operator, value) in filters {
        let refuse = |message: String| {
            Err(ProviderError::new(ErrorKind::Document, message).at(field.as_ref()))
        };
        if operator.as_ref() != "=" {
            return refuse(format!("takes its value with `=`, not with `{operator}`"));
        }
        if arguments.insert(field.clone(), value.clone()).is_some() {
            return refuse("is written twice".into());
        }
    }
    Ok(Value::Map(arguments.into()))
}
