//! The processor time and the memory of this process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time of all threads so far.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap())
}

/// A count of kilobytes from `/proc/self/status`, in bytes: `VmRSS` is the resident memory and
/// `VmHWM` its peak.
pub(crate) fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}
