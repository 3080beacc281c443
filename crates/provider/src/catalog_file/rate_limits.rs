//! Rate limits and retry policies: `callsPerSecond`, `burst`, `retries`.

use std::time::Duration;

use blueprint::{Value, parse_duration};

use super::reader::{CatalogError, JsonObject, JsonPlace};
use crate::{Limits, Rate, Retries, RetryPolicy};

/// Maximum number of retries that a policy may set.
const MOST_ATTEMPTS: u32 = 1_000;

/// Reads the limits that a user sets for a provider: a map with the keys of `cyan.toml`,
/// `max-parallel`, `calls-per-second`, `burst` and `retries`. The first mistake is the error.
pub fn read_limits(value: &Value) -> Result<Limits, CatalogError> {
    let place = JsonPlace::top();
    let object = JsonObject::new(
        value,
        &place,
        &["max-parallel", "calls-per-second", "burst", "retries"],
    )?;
    Ok(Limits {
        max_parallel: object.small_count("max-parallel")?,
        rate: rate(&object, "calls-per-second")?,
        retries: object
            .get("retries")
            .map(|_| retries(&object))
            .transpose()?,
    })
}

/// Reads the call rate, which is the value of `key`. `None` if it is not limited.
pub(super) fn rate(object: &JsonObject<'_>, key: &str) -> Result<Option<Rate>, CatalogError> {
    let burst = object.small_count("burst")?;
    let Some(per_second) = object.number(key)? else {
        return match burst {
            Some(_) => Err(object.error("burst", format!("has no meaning without `{key}`"))),
            None => Ok(None),
        };
    };
    if burst == Some(0) {
        return Err(object.error("burst", "must be at least 1"));
    }
    match Rate::new(per_second, burst) {
        Some(rate) => Ok(Some(rate)),
        None => Err(object.error(key, "must be more than 0")),
    }
}

/// Reads the retry policy: values for all classes of errors, and overrides per class.
pub(super) fn retries(object: &JsonObject<'_>) -> Result<RetryPolicy, CatalogError> {
    let Some(value) = object.get("retries") else {
        return Ok(RetryPolicy::default());
    };
    let place = object.place.key("retries");
    let all = JsonObject::new(
        value,
        &place,
        &["attempts", "first", "longest", "transient", "throttled"],
    )?;
    let usual = policy(&all, Retries::default())?;
    let class = |key: &str| -> Result<Retries, CatalogError> {
        let Some(value) = all.get(key) else {
            return Ok(usual);
        };
        let place = place.key(key);
        policy(
            &JsonObject::new(value, &place, &["attempts", "first", "longest"])?,
            usual,
        )
    };
    Ok(RetryPolicy {
        transient: class("transient")?,
        throttled: class("throttled")?,
    })
}

fn policy(object: &JsonObject<'_>, otherwise: Retries) -> Result<Retries, CatalogError> {
    let pause = |key: &str, otherwise: Duration| -> Result<Duration, CatalogError> {
        let Some(text) = object.text(key)? else {
            return Ok(otherwise);
        };
        match parse_duration(&text) {
            Ok(pause) if pause >= Duration::from_millis(1) => Ok(pause),
            Ok(_) => Err(object.error(key, "must be at least `1ms`")),
            Err(_) => Err(object.error(
                key,
                format!("`{text}` is no length of time such as `2s` or `1m30s`"),
            )),
        }
    };
    let attempts = object
        .small_count("attempts")?
        .unwrap_or(otherwise.max_retries);
    if attempts > MOST_ATTEMPTS {
        return Err(object.error("attempts", format!("must be at most {MOST_ATTEMPTS}")));
    }
    let first = pause("first", otherwise.first_pause)?;
    // The default maximum grows with a longer first pause.
    let longest = pause("longest", otherwise.max_pause.max(first))?;
    if longest < first {
        return Err(object.error("longest", "must be at least as long as `first`"));
    }
    Ok(Retries {
        max_retries: attempts,
        first_pause: first,
        max_pause: longest,
    })
}
