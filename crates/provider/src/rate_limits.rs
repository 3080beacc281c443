//! Rate limits and retry policies of a provider: facts of a catalogue as data, and a limiter
//! without a clock.
//!
//! Not here: waiting (the engine decides the time, its shell waits).

use std::time::Duration;

use crate::{ErrorKind, ProviderError};

/// The number of retries of a failed call, and the pauses before them (decisions/apply#retries).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Maximum number of retries after the first try.
    pub max_retries: u32,
    /// The first pause. Each further pause is twice as long.
    pub first_pause: Duration,
    /// The maximum pause, without jitter.
    pub max_pause: Duration,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries {
            max_retries: 5,
            first_pause: Duration::from_secs(2),
            max_pause: Duration::from_secs(300),
        }
    }
}

impl Retries {
    /// The pause after a number of retries (0 after the first try). The token spreads it over a
    /// fifth of its length, so that calls that failed together are not retried together. It is at
    /// least as long as the server asked for, up to the maximum pause.
    pub fn pause(&self, retries: u32, token: &str, asked_for: Option<Duration>) -> Duration {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let (first, longest) = (millis(self.first_pause), millis(self.max_pause));
        let doubled = first.saturating_mul(1 << retries.min(20));
        let asked_for = asked_for.map_or(0, millis).min(longest);
        let whole = doubled.min(longest);
        let hash = token.bytes().fold(0_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let spread = hash % (whole / 5 + 1);
        let own = whole - whole / 10 + spread;
        // A retry never comes before the time that the server named.
        let pause = if own < asked_for {
            asked_for.saturating_add(spread)
        } else {
            own
        };
        Duration::from_millis(pause)
    }
}

/// The retries of one provider's calls, by the class of the error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    /// For temporary failures and timeouts.
    pub transient: Retries,
    /// For throttled calls.
    pub throttled: Retries,
}

impl RetryPolicy {
    /// Returns the policy for a class of errors. `None` if a retry does not help.
    pub fn of(&self, kind: ErrorKind) -> Option<&Retries> {
        match kind {
            ErrorKind::Transient | ErrorKind::TimedOut => Some(&self.transient),
            ErrorKind::Throttled => Some(&self.throttled),
            _ => None,
        }
    }

    /// Returns the pause before the next retry, after a number of retries. `None` if the call is
    /// not retried.
    pub fn next_pause(&self, error: &ProviderError, retries: u32, token: &str) -> Option<Duration> {
        let policy = self
            .of(error.kind)
            .filter(|policy| retries < policy.max_retries)?;
        Some(policy.pause(retries, token, error.retry_after))
    }
}

/// The user's limits for a provider, in place of those of its catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Maximum number of concurrent calls.
    pub max_parallel: Option<u32>,
    /// Maximum call rate.
    pub rate: Option<Rate>,
    /// The retry policy for failed calls.
    pub retries: Option<RetryPolicy>,
}

/// The allowed rate of calls to a provider: the parameters of a [`TokenBucket`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The time until one more call is allowed.
    pub interval: Duration,
    /// The number of calls that are allowed at once after a pause; at least 1.
    pub burst: u32,
}

/// A bucket is refilled no more often than this. Tokens that are due sooner are added together.
const SHORTEST: Duration = Duration::from_millis(20);

impl Rate {
    /// A rate in calls per second, with the number of calls that are allowed at once. Without a
    /// burst, the calls of one second may come at once. `None` if the rate is not above 0.
    pub fn new(per_second: f64, burst: Option<u32>) -> Option<Rate> {
        let interval = (per_second > 0.0)
            .then(|| Duration::try_from_secs_f64(1.0 / per_second).ok())
            .flatten()?;
        let burst = burst.unwrap_or_else(|| per_second.ceil().min(f64::from(u32::MAX)) as u32);
        Some(Rate {
            interval,
            burst: burst.max(1),
        })
    }

    /// The pause between two refills of a bucket, for a caller that is woken by timers. Several
    /// tokens of a fast rate are due after it.
    pub fn refill_interval(&self) -> Duration {
        let fits = SHORTEST.as_nanos() / self.interval.as_nanos().max(1);
        let count = u32::try_from(fits).unwrap_or(u32::MAX).clamp(1, self.burst);
        // Timers have a resolution of a millisecond.
        (self.interval * count).max(Duration::from_millis(1))
    }
}

/// A rate limiter. Each call takes one token; tokens come back at a steady [`Rate`], up to its
/// burst.
///
/// It has no clock: each method takes the time since any fixed start, which must not go back.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// The time at which the bucket will be full.
    full_at: Duration,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate) -> TokenBucket {
        TokenBucket {
            rate,
            full_at: Duration::ZERO,
        }
    }

    /// The rate of the bucket.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes a token. Returns the time that the caller must wait before it uses the token; zero if
    /// one was available. The tokens of waiting callers are taken in advance.
    pub fn take(&mut self, now: Duration) -> Duration {
        let full_at = self.full_at.max(now);
        self.full_at = full_at + self.rate.interval;
        (full_at - now).saturating_sub(self.rate.interval * (self.rate.burst - 1))
    }

    /// The number of available tokens. Negative if tokens were taken in advance.
    pub fn tokens(&self, now: Duration) -> i64 {
        let missing = self
            .full_at
            .saturating_sub(now)
            .as_nanos()
            .div_ceil(self.rate.interval.as_nanos().max(1));
        i64::from(self.rate.burst).saturating_sub(i64::try_from(missing).unwrap_or(i64::MAX))
    }

    /// Whether all tokens are available.
    pub fn is_full(&self, now: Duration) -> bool {
        self.full_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(retries: Retries, count: u32, asked_for: Option<u64>) -> u64 {
        retries
            .pause(count, "op-1", asked_for.map(Duration::from_millis))
            .as_millis() as u64
    }

    #[test]
    fn pauses_double_from_two_seconds_to_five_minutes_with_a_fifth_of_jitter() {
        let usual = Retries::default();
        for (count, whole) in [
            (0, 2_000),
            (1, 4_000),
            (2, 8_000),
            (3, 16_000),
            (4, 32_000),
            (9, 300_000),
            (63, 300_000),
        ] {
            let pause = millis(usual, count, None);
            assert!(
                (whole * 9 / 10..=whole * 11 / 10).contains(&pause),
                "{count}: {pause}"
            );
        }
        let pauses: std::collections::BTreeSet<Duration> = (0..50)
            .map(|number| usual.pause(3, &format!("op-{number}"), None))
            .collect();
        assert!(
            pauses.len() > 40,
            "calls that failed together are retried together: {pauses:?}"
        );
    }

    #[test]
    fn a_pause_is_at_least_what_the_server_asked_for_up_to_the_maximum() {
        let usual = Retries::default();
        let plain = millis(usual, 0, None);
        assert_eq!(
            millis(usual, 0, Some(500)),
            plain,
            "the own pause is longer"
        );
        assert!((20_000..=20_400).contains(&millis(usual, 0, Some(20_000))));
        assert!(
            (300_000..=300_400).contains(&millis(usual, 0, Some(86_400_000))),
            "a day is beyond the maximum"
        );
    }

    #[test]
    fn only_retryable_classes_of_errors_have_a_policy() {
        let throttled = Retries {
            max_retries: 9,
            first_pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(8),
        };
        let policy = RetryPolicy {
            throttled,
            ..RetryPolicy::default()
        };
        let tries = |kind| {
            let error = ProviderError::new(kind, "");
            (0..20)
                .take_while(|count| policy.next_pause(&error, *count, "t").is_some())
                .count()
        };
        assert_eq!(tries(ErrorKind::Throttled), 9);
        assert_eq!(tries(ErrorKind::Transient), 5);
        assert_eq!(tries(ErrorKind::Permanent), 0);
        assert_eq!(tries(ErrorKind::Cancelled), 0);
    }

    #[test]
    fn a_rate_is_an_interval_with_a_bounded_refill_interval() {
        let slow = Rate::new(0.5, None).expect("a rate");
        assert_eq!(
            slow,
            Rate {
                interval: Duration::from_secs(2),
                burst: 1
            }
        );
        assert_eq!(slow.refill_interval(), Duration::from_secs(2));
        let fast = Rate::new(1_000.0, None).expect("a rate");
        assert_eq!(fast.burst, 1_000);
        assert_eq!(fast.refill_interval(), Duration::from_millis(20));
        assert_eq!(
            Rate::new(100.0, Some(1)).expect("a rate").refill_interval(),
            Duration::from_millis(10)
        );
        assert_eq!(Rate::new(0.0, None), None);
        assert_eq!(Rate::new(f64::NAN, None), None);
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn five_per_second() -> TokenBucket {
        TokenBucket::new(Rate {
            interval: SECOND / 5,
            burst: 5,
        })
    }

    /// The waits of calls that come at the same time, in milliseconds.
    fn waits(bucket: &mut TokenBucket, now: Duration, calls: usize) -> Vec<u128> {
        (0..calls).map(|_| bucket.take(now).as_millis()).collect()
    }

    #[test]
    fn a_burst_passes_at_once_and_further_calls_wait_in_even_steps() {
        let waits_of_all = waits(&mut five_per_second(), Duration::ZERO, 100);
        assert_eq!(waits_of_all[..7], [0, 0, 0, 0, 0, 200, 400]);
        assert_eq!(waits_of_all[99], 95 * 200);
    }

    #[test]
    fn tokens_come_back_up_to_the_burst() {
        let mut bucket = five_per_second();
        assert_eq!(waits(&mut bucket, Duration::ZERO, 5), [0; 5]);
        assert_eq!(
            (
                bucket.tokens(Duration::ZERO),
                bucket.tokens(SECOND / 5),
                bucket.tokens(SECOND)
            ),
            (0, 1, 5)
        );
        assert_eq!(waits(&mut bucket, SECOND / 5, 2), [0, 200]);
        assert_eq!(waits(&mut bucket, SECOND * 60, 6), [0, 0, 0, 0, 0, 200]);
    }

    #[test]
    fn tokens_taken_in_advance_delay_later_calls() {
        let mut bucket = five_per_second();
        waits(&mut bucket, Duration::ZERO, 8);
        assert_eq!(bucket.tokens(Duration::ZERO), -3);
        assert_eq!(bucket.tokens(SECOND / 5 * 3), 0);
        assert!(!bucket.is_full(SECOND) && bucket.is_full(SECOND / 5 * 8));
    }

    #[test]
    fn refills_of_a_fast_rate_add_several_tokens() {
        let rate = Rate::new(1_000.0, None).expect("a rate");
        let mut bucket = TokenBucket::new(rate);
        waits(&mut bucket, Duration::ZERO, 1_000);
        assert_eq!(bucket.tokens(rate.refill_interval()), 20);
    }
}
