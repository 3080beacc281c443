//! Wake-ups and the time of a run, as the shell reports them.
//!
//! Not here: a clock. The shell waits and reports the time.

use std::time::Duration;

use understand::links::DeterministicMap;

use crate::model::Effect;

/// The reason of a wake-up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    /// The time limit of a step is over.
    Deadline(u32),
    /// A cancelled call is no longer awaited.
    Abandoned(u32),
    /// The time in which a resource must become ready is over.
    Unstable(u32),
    /// A call, or the questions of a task, are retried.
    Retry(u32),
    /// The readiness of a resource is polled again.
    Poll(u32),
    /// A pause is over.
    Pause(u32),
    /// The rate limiter of a provider gets tokens back. The number is that of the provider's queue.
    Refill(u32),
    /// Running calls are no longer awaited after a stop: they are cancelled.
    Drain,
    /// Cancelled calls are no longer awaited.
    Abandon,
}

/// The time for which cancelled calls are awaited.
pub(crate) const AFTER_CANCEL: Duration = Duration::from_secs(20);

/// Pending wake-ups, and the time.
#[derive(Default)]
pub(crate) struct Timers {
    wakes: DeterministicMap<u64, Wake>,
    last: u64,
    /// The start of the run: seconds since 1970 UTC.
    began: i64,
    /// The time of the last commit: seconds since 1970 UTC.
    now: i64,
    /// The time since the start of the run; `None` if the shell does not report it.
    elapsed: Option<Duration>,
}

impl Timers {
    /// Sets the time at which the run begins.
    pub(crate) fn begin(&mut self, now: i64) {
        (self.began, self.now) = (now, now);
    }

    /// Sets the time at which a commit is durable.
    pub(crate) fn committed(&mut self, now: i64) {
        self.now = now;
    }

    /// Sets the time since the start of the run.
    pub(crate) fn set_elapsed(&mut self, elapsed: Duration) {
        self.elapsed = Some(elapsed);
    }

    /// The latest time that the shell has reported: seconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        let elapsed = self
            .elapsed
            .map_or(0, |elapsed| elapsed.as_secs().cast_signed());
        self.now.max(self.began.saturating_add(elapsed))
    }

    /// Schedules a wake-up.
    pub(crate) fn wake(&mut self, wake: Wake, after: Duration, effects: &mut Vec<Effect>) {
        self.last += 1;
        self.wakes.insert(self.last, wake);
        effects.push(Effect::Wake(self.last, after));
    }

    /// Takes the reason of a wake-up; `None` if it was taken already.
    pub(crate) fn take(&mut self, number: u64) -> Option<Wake> {
        self.wakes.remove(&number)
    }

    /// Milliseconds since the start of the run, if the shell reports times.
    pub(crate) fn millis(&self) -> Option<u32> {
        self.elapsed
            .map(|elapsed| u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX))
    }
}
