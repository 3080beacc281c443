//! A machine whose clock advances only on request, and whose processes cannot be distinguished.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use blueprint::Name;

use state::{Host, Liveness, Process};

/// A host whose clock is set by its user.
#[derive(Debug)]
pub struct TestHost(AtomicI64);

impl TestHost {
    /// Returns a host whose clock shows this second since 1970.
    pub fn at(now: i64) -> TestHost {
        TestHost(AtomicI64::new(now))
    }

    /// Sets the clock.
    pub fn set(&self, now: i64) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Host for TestHost {
    fn boot(&self) -> Name {
        "test".into()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.wall().unsigned_abs())
    }

    fn wall(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn process(&self) -> Option<Process> {
        None
    }

    fn liveness(&self, _process: &Process) -> Liveness {
        Liveness::Unknown
    }
}
