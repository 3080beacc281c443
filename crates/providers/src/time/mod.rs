//! The provider `time`: stored times, and waiting.
//!
//! Decisions that depend on the time are made in `read`, from the time of the call; the provider
//! reads no clock.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use blueprint::{Map, Name, Value, parse_duration};
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, CheckFindings, CheckRequest, Configuration,
    Configured, ErrorKind, Observed, Operation, Provider, ProviderError, ReadOutcome, ReadRequest,
    Session, configured,
};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    Arc::new(
        provider::read_catalog(include_str!("catalog.json"))
            .expect("the catalogue of `time` is part of the program"),
    )
});

/// The provider `time`.
pub fn provider() -> TimeProvider {
    TimeProvider {}
}

/// Stores times, and waits.
pub struct TimeProvider {}

/// The fields that hold a duration, of all types.
const DURATIONS: [&str; 3] = ["every", "create", "delete"];

/// The computed fields of all types. An update does not change them.
const STABLE_FIELDS: [&str; 4] = ["id", "rfc3339", "unix", "expires"];

impl Provider for TimeProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &CATALOG
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for TimeProvider {
    fn check<'a>(
        &'a self,
        call: &'a Call,
        request: CheckRequest<'a>,
    ) -> BoxFuture<'a, Result<CheckFindings, ProviderError>> {
        let mut checked = CheckFindings::default();
        for field in DURATIONS {
            let Some(text) = request.spec.get(field).and_then(Value::as_text) else {
                continue;
            };
            match parse_duration(text) {
                Err(error) => checked.refuse(field, format!("`{text}` is {error}")),
                Ok(every) if field == "every" && every < Duration::from_secs(1) => {
                    checked.refuse(
                        field,
                        format!("`{text}` is too short: a rotation takes at least `1s`"),
                    );
                }
                Ok(every) if field == "every" && end_of_rotation(call.now, every).is_none() => {
                    checked.refuse(field, format!("`{text}` ends beyond the year 9999"));
                }
                Ok(_) => {}
            }
        }
        Box::pin(async move { Ok(checked) })
    }

    /// Returns the recorded resource. A resource without a record does not exist.
    fn read<'a>(
        &'a self,
        call: &'a Call,
        request: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async move {
            let Some(id) = request.id.filter(|_| !request.outputs.is_null()) else {
                return Ok(ReadOutcome::Absent);
            };
            let expired = if request.type_name == "time/rotating" {
                rotation_reason(request.outputs, call.now)
            } else {
                None
            };
            Ok(ReadOutcome::Present(Observed {
                id: id.into(),
                fields: request.outputs.clone(),
                private: Value::Null,
                expired,
                ..Observed::default()
            }))
        })
    }

    fn apply<'a>(
        &'a self,
        call: &'a Call,
        request: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async move {
            if request.operation == Operation::Delete {
                if request.type_name == "time/sleep" {
                    sleep(call, request.prior_inputs, "delete").await?;
                }
                return Ok(Applied::ready("", Value::Null));
            }
            let update = request.operation == Operation::Update;
            let mut fields = entries(request.desired);
            if update {
                fields.extend(STABLE_FIELDS.iter().filter_map(|field| {
                    Some(((*field).into(), request.prior.get(field)?.clone()))
                }));
            }
            match request.type_name {
                "time/static" | "time/sleep" if update => {}
                "time/static" => set_time(&mut fields, "rfc3339", call.now)?,
                "time/sleep" => {
                    sleep(call, request.desired, "create").await?;
                    fields.insert("id".into(), Value::Text(call.token.clone()));
                }
                "time/rotating" => rotate(&mut fields, request.desired, call.now)?,
                other => {
                    return Err(ProviderError::new(
                        ErrorKind::Document,
                        format!("there is no type `{other}` here"),
                    ));
                }
            }
            let id = match request.id.filter(|id| !id.is_empty()) {
                Some(id) => Name::from(id),
                None => ["id", "rfc3339"]
                    .iter()
                    .find_map(|field| fields.get(field)?.as_text())
                    .unwrap_or_default()
                    .into(),
            };
            Ok(Applied::ready(id, Value::map(fields)))
        })
    }
}

fn entries(fields: &Value) -> Map {
    fields.as_map().cloned().unwrap_or_default()
}

fn out_of_range() -> ProviderError {
    ProviderError::new(ErrorKind::Document, "this moment is beyond the year 9999")
}

/// Writes a time as RFC 3339 under a name, and as seconds since 1970 under `unix` if it is the time
/// of the resource.
fn set_time(fields: &mut Map, name: &str, seconds: i64) -> Result<(), ProviderError> {
    let text = jiff::Timestamp::from_second(seconds)
        .map_err(|_| out_of_range())?
        .to_string();
    fields.insert(name.into(), text.into());
    if name == "rfc3339" {
        fields.insert("unix".into(), Value::Int(seconds));
    }
    Ok(())
}

fn duration_field(spec: &Value, field: &str) -> Result<Option<Duration>, ProviderError> {
    let Some(text) = spec.get(field).and_then(Value::as_text) else {
        return Ok(None);
    };
    let refuse =
        |error| ProviderError::new(ErrorKind::Document, format!("`{text}` is {error}")).at(field);
    parse_duration(text).map(Some).map_err(refuse)
}

/// The end of a rotation in seconds since 1970. `None` beyond the year 9999.
fn end_of_rotation(start: i64, every: Duration) -> Option<i64> {
    let every = i64::try_from(every.as_secs()).ok()?;
    let end = start.checked_add(every)?;
    jiff::Timestamp::from_second(end).ok().map(|_| end)
}

fn rotate(fields: &mut Map, spec: &Value, now: i64) -> Result<(), ProviderError> {
    let every = duration_field(spec, "every")?
        .ok_or_else(|| ProviderError::new(ErrorKind::Document, "`every` is missing").at("every"))?;
    let start = fields.get("unix").and_then(Value::as_int).unwrap_or(now);
    let end = end_of_rotation(start, every).ok_or_else(|| out_of_range().at("every"))?;
    set_time(fields, "rfc3339", start)?;
    set_time(fields, "expires", end).map_err(|error| error.at("every"))
}

/// The reason why a rotation is due. `None` if it is not due.
fn rotation_reason(fields: &Value, now: i64) -> Option<String> {
    let expires = fields.get("expires").and_then(Value::as_text)?;
    let end: jiff::Timestamp = expires.parse().ok()?;
    (now >= end.as_second()).then(|| format!("it was to be renewed at {expires}"))
}

/// Waits for the duration in a field, until the call is cancelled or its deadline passes.
async fn sleep(call: &Call, spec: &Value, field: &str) -> Result<(), ProviderError> {
    let Some(duration) = duration_field(spec, field)?.filter(|duration| !duration.is_zero()) else {
        return Ok(());
    };
    (call.progress)(&format!("waiting {}", blueprint::format_duration(duration)));
    let deadline = async {
        match call.deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ProviderError::new(ErrorKind::Cancelled, "cancelled while waiting")),
        () = tokio::time::sleep(duration) => Ok(()),
        () = deadline => Err(ProviderError::new(ErrorKind::TimedOut, "the time given is shorter than the wait").at(field)),
    }
}
