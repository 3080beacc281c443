//! Wake-ups and the time of a run, as the runtime (`run::shell`) reports them.
//!
//! Not here: a clock. The runtime waits and reports the time.

use std::time::Duration;

use understand::links::DeterministicMap;

use crate::model::Effect;

/// The reason of a wake-up. The numbers are those of tasks, unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wake {
    /// The time limit of a step is over.
    Deadline(u32),
    /// The call of one task, cancelled at its deadline, is no longer awaited.
    AbandonCall(u32),
    /// The default time limit for becoming ready is over: the resource sets none.
    Unready(u32),
    /// The task repeats its call or its questions.
    Retry(u32),
    /// The readiness of a resource is polled again.
    Poll(u32),
    /// A pause is over.
    Pause(u32),
    /// The rate limiter of a provider gets tokens back. The number is that of the provider's queue.
    Refill(u32),
    /// The time after a stop in which running calls may end is over: they are cancelled.
    Drain,
    /// The time in which calls that were cancelled after a stop may end is over: they are given up.
    AbandonAll,
}

/// The time for which cancelled calls are awaited.
pub(crate) const AFTER_CANCEL: Duration = Duration::from_secs(20);

/// Pending wake-ups, and the time.
#[derive(Default)]
pub(crate) struct Timers {
    wakes: DeterministicMap<u64, Wake>,
    /// The number of the latest wake-up.
    last: u64,
    /// The start of the run: seconds since 1970 UTC.
    began: i64,
    /// The time of the last commit, at first of the start: seconds since 1970 UTC.
    last_commit: i64,
    /// The time since the start of the run; `None` if the runtime does not report it.
    elapsed: Option<Duration>,
}

impl Timers {
    /// Sets the time at which the run begins.
    pub(crate) fn begin(&mut self, now: i64) {
        self.began = now;
        self.last_commit = now;
    }

    /// Sets the time at which a commit is durable.
    pub(crate) fn committed(&mut self, now: i64) {
        self.last_commit = now;
    }

    /// Sets the time since the start of the run.
    pub(crate) fn set_elapsed(&mut self, elapsed: Duration) {
        self.elapsed = Some(elapsed);
    }

    /// The latest time that the runtime has reported: seconds since 1970 UTC.
    pub(crate) fn now(&self) -> i64 {
        let elapsed = self
            .elapsed
            .map_or(0, |elapsed| elapsed.as_secs().cast_signed());
        let by_elapsed = self.began.saturating_add(elapsed);
        // The times of commits and the elapsed time are reported independently of each other, and
        // the elapsed time is optional.
        self.last_commit.max(by_elapsed)
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

    /// Milliseconds since the start of the run, if the runtime reports times.
    pub(crate) fn millis(&self) -> Option<u32> {
        self.elapsed
            .map(|elapsed| u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX))
    }
}
