//! `OS::Heat::Delay`: waits `min_wait + random * max_jitter * jitter_multiplier` seconds in the
//! actions listed in the spec.

use blueprint::Value;
use provider::{Call, CheckFindings, ProviderError};
use rand::RngExt;

use super::wait::{number, wait};
use providers::random_source::RandomSource;

/// The time limit of an instance, in seconds.
const TIMEOUT: f64 = 3600.0;

/// Checks that the longest possible wait is within the time limit of the instance.
pub(super) fn check(spec: &Value, found: &mut CheckFindings) {
    let (least, jitter) = times(spec);
    if least + jitter > TIMEOUT {
        let path = if least > TIMEOUT {
            "min_wait"
        } else {
            "max_jitter"
        };
        let most = blueprint::format_float(least + jitter);
        found.out_of_range(
            path,
            format!("a wait of up to {most} s is longer than the instance may take, 3600 s"),
        );
    }
}

/// Waits if the action is in the list.
pub(super) async fn act(
    call: &Call,
    spec: &Value,
    action: &str,
    source: RandomSource,
) -> Result<(), ProviderError> {
    let actions = spec
        .get("actions")
        .and_then(Value::as_list)
        .unwrap_or_default();
    if !actions
        .iter()
        .any(|listed| listed.as_text() == Some(action))
    {
        return Ok(());
    }
    let (least, jitter) = times(spec);
    let share: f64 = if jitter > 0.0 {
        source.draw(call)?.random()
    } else {
        0.0
    };
    wait(call, least + share * jitter).await
}

/// The fixed part and the maximum random part, in seconds.
fn times(spec: &Value) -> (f64, f64) {
    let of = |name: &str, otherwise: f64| spec.get(name).and_then(number).unwrap_or(otherwise);
    (
        of("min_wait", 0.0),
        of("max_jitter", 0.0) * of("jitter_multiplier", 1.0),
    )
}
