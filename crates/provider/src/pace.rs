//! How often a provider may be called, and how calls that were refused are made again: facts of a catalogue as data.
//!
//! Not here: waiting (the engine decides when, its shell waits).

use std::time::Duration;

use crate::{ErrorKind, ProviderError};

/// How often, and after which pauses, a call is made again that was refused and may succeed later (reference 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How many tries follow the first one.
    pub attempts: u32,
    /// The first pause; each one after it is twice as long.
    pub first: Duration,
    /// No pause is longer, jitter aside.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries { attempts: 5, first: Duration::from_secs(2), longest: Duration::from_secs(300) }
    }
}

impl Retries {
    /// The pause after so many retries (0 after the first try), as long as a fifth of it longer or shorter by the token, so
    /// that many that were refused together do not come back together. What the server asked for is waited for at
    /// least, as far as the longest pause reaches.
    pub fn pause(&self, retries: u32, token: &str, asked_for: Option<Duration>) -> Duration {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let (first, longest) = (millis(self.first), millis(self.longest));
        let doubled = first.saturating_mul(1 << retries.min(20));
        let asked_for = asked_for.map_or(0, millis).min(longest);
        let whole = doubled.min(longest);
        let hash = token.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let spread = hash % (whole / 5 + 1);
        let own = whole - whole / 10 + spread;
        // Nobody comes before the instant that the server named.
        let pause = if own < asked_for { asked_for.saturating_add(spread) } else { own };
        Duration::from_millis(pause)
    }
}

/// How calls of one provider are made again, by the class of the error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Where something may go away by itself.
    pub transient: Retries,
    /// Where there were too many calls.
    pub throttled: Retries,
}

impl RetryPolicy {
    /// What holds for an error of that class; none where trying again would not help.
    pub fn of(&self, kind: ErrorKind) -> Option<&Retries> {
        match kind {
            ErrorKind::Transient | ErrorKind::TimedOut => Some(&self.transient),
            ErrorKind::Throttled => Some(&self.throttled),
            _ => None,
        }
    }

    /// The pause before a call is made again that has been made again so often already; none where it is not.
    pub fn again(&self, error: &ProviderError, retries: u32, token: &str) -> Option<Duration> {
        let policy = self.of(error.kind).filter(|policy| retries < policy.attempts)?;
        Some(policy.pause(retries, token, error.retry_after))
    }
}

/// What a person says of how a provider is called, in place of what its catalogue says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// At most this many calls at once.
    pub max_parallel: Option<u32>,
    /// How often it may be called.
    pub rate: Option<Rate>,
    /// How calls that were refused are made again.
    pub retries: Option<RetryPolicy>,
}

/// How often a provider may be called: a bucket of tokens, one for each call, that fills up steadily.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So long it takes until a call more may be made.
    pub interval: Duration,
    /// So many calls may come at once after a rest; at least 1.
    pub burst: u32,
}

/// A bucket is filled no more often than this: what is due sooner comes together.
const SHORTEST: Duration = Duration::from_millis(20);

impl Rate {
    /// So many calls in a second, and so many at once; `None` where that is no number above 0. Without a burst, what may
    /// come in a second may come at once.
    pub fn new(per_second: f64, burst: Option<u32>) -> Option<Rate> {
        let interval = (per_second > 0.0).then(|| Duration::try_from_secs_f64(1.0 / per_second).ok()).flatten()?;
        let burst = burst.unwrap_or_else(|| per_second.ceil().min(f64::from(u32::MAX)) as u32);
        Some(Rate { interval, burst: burst.max(1) })
    }

    /// How a bucket is filled that has given something away: after how long, and how much is put back then.
    pub fn refill(&self) -> (Duration, u32) {
        let fits = SHORTEST.as_nanos() / self.interval.as_nanos().max(1);
        let count = u32::try_from(fits).unwrap_or(u32::MAX).clamp(1, self.burst);
        // A timer is no finer than a millisecond.
        ((self.interval * count).max(Duration::from_millis(1)), count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(retries: Retries, count: u32, asked_for: Option<u64>) -> u64 {
        retries.pause(count, "op-1", asked_for.map(Duration::from_millis)).as_millis() as u64
    }

    #[test]
    fn pauses_double_from_two_seconds_to_five_minutes_with_a_fifth_of_jitter() {
        let usual = Retries::default();
        for (count, whole) in
            [(0, 2_000), (1, 4_000), (2, 8_000), (3, 16_000), (4, 32_000), (9, 300_000), (63, 300_000)]
        {
            let pause = millis(usual, count, None);
            assert!((whole * 9 / 10..=whole * 11 / 10).contains(&pause), "{count}: {pause}");
        }
        let pauses: std::collections::BTreeSet<Duration> =
            (0..50).map(|number| usual.pause(3, &format!("op-{number}"), None)).collect();
        assert!(pauses.len() > 40, "those that were refused together come back together: {pauses:?}");
    }

    #[test]
    fn what_the_server_asked_for_is_waited_for_as_far_as_the_longest_pause_reaches() {
        let usual = Retries::default();
        let plain = millis(usual, 0, None);
        assert_eq!(millis(usual, 0, Some(500)), plain, "the own pause is longer");
        assert!((20_000..=20_400).contains(&millis(usual, 0, Some(20_000))));
        assert!((300_000..=300_400).contains(&millis(usual, 0, Some(86_400_000))), "a day is more than anybody waits");
    }

    #[test]
    fn each_class_of_errors_has_a_policy_of_its_own_and_other_errors_have_none() {
        let patient = Retries { attempts: 9, first: Duration::from_secs(1), longest: Duration::from_secs(8) };
        let policy = RetryPolicy { throttled: patient, ..RetryPolicy::default() };
        let tries = |kind| {
            let error = ProviderError::new(kind, "");
            (0..20).take_while(|count| policy.again(&error, *count, "t").is_some()).count()
        };
        assert_eq!(tries(ErrorKind::Throttled), 9);
        assert_eq!(tries(ErrorKind::Transient), 5);
        assert_eq!(tries(ErrorKind::Permanent), 0);
        assert_eq!(tries(ErrorKind::Cancelled), 0);
    }

    #[test]
    fn a_rate_is_an_interval_and_fast_ones_are_filled_by_the_handful() {
        let slow = Rate::new(0.5, None).expect("a rate");
        assert_eq!(slow, Rate { interval: Duration::from_secs(2), burst: 1 });
        assert_eq!(slow.refill(), (Duration::from_secs(2), 1));
        let fast = Rate::new(1_000.0, None).expect("a rate");
        assert_eq!(fast.burst, 1_000);
        assert_eq!(fast.refill(), (Duration::from_millis(20), 20));
        assert_eq!(Rate::new(100.0, Some(1)).expect("a rate").refill(), (Duration::from_millis(10), 1));
        assert_eq!(Rate::new(0.0, None), None);
        assert_eq!(Rate::new(f64::NAN, None), None);
    }
}
