//! The virtual clock, and the host that stores see.

use std::time::Duration;

use blueprint::Name;
use engine::run::Clock;
use state::{Host, Liveness};

/// 2023-01-02T15:04:05Z, at which every harness starts; seconds since 1970.
pub const START_TIME: i64 = 1_672_671_845;

/// A host with the virtual clock.
pub(crate) struct VirtualHost(pub(crate) Clock);

impl Host for VirtualHost {
    fn boot(&self) -> Name {
        "simulated".into()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> i64 {
        self.0.now()
    }

    fn process(&self) -> Option<state::Process> {
        None
    }

    fn liveness(&self, _process: &state::Process) -> Liveness {
        Liveness::Unknown
    }
}
