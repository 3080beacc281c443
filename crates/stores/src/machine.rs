//! The machine that a store runs on.
//!
//! On Linux: boot id and `CLOCK_BOOTTIME`, processes by number, start time and namespace. On other
//! systems processes are not identified, and the clock is the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blueprint::Name;
use state::{Host, Liveness, Process};

/// This machine and this process.
pub(crate) struct ThisMachine {
    boot: Name,
    process: Option<Process>,
}

impl ThisMachine {
    /// Returns the machine and the current process.
    pub(crate) fn here() -> ThisMachine {
        let process = system::process();
        ThisMachine {
            boot: process
                .as_ref()
                .map_or_else(Name::default, |process| process.boot.clone()),
            process,
        }
    }

    /// Returns the machine's clock only, for leases that do not outlive the process.
    pub(crate) fn clock() -> ThisMachine {
        ThisMachine {
            boot: Name::default(),
            process: None,
        }
    }
}

impl Host for ThisMachine {
    fn boot(&self) -> Name {
        self.boot.clone()
    }

    fn elapsed(&self) -> Duration {
        system::elapsed()
    }

    fn wall(&self) -> i64 {
        since_1970().as_secs().cast_signed()
    }

    fn process(&self) -> Option<Process> {
        self.process.clone()
    }

    fn liveness(&self, process: &Process) -> Liveness {
        let Some(own) = &self.process else {
            return Liveness::Unknown;
        };
        if own.host != process.host {
            return Liveness::Unknown;
        }
        if own.boot != process.boot {
            return Liveness::Dead;
        }
        if own.namespace != process.namespace {
            return Liveness::Unknown;
        }
        system::liveness(process.pid, process.started)
    }
}

fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::io::ErrorKind;
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};
    use state::{Liveness, Process};

    pub(super) fn elapsed() -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        Duration::new(
            now.tv_sec.unsigned_abs(),
            u32::try_from(now.tv_nsec).unwrap_or_default(),
        )
    }

    pub(super) fn process() -> Option<Process> {
        let text = |path: &str| {
            fs::read_to_string(path)
                .ok()
                .map(|text| text.trim().to_owned())
        };
        let boot = text("/proc/sys/kernel/random/boot_id").filter(|boot| !boot.is_empty())?;
        // Neither the name nor the id alone is unique.
        let host = format!(
            "{} {}",
            text("/proc/sys/kernel/hostname")?,
            text("/etc/machine-id").unwrap_or_default()
        );
        let namespace = fs::read_link("/proc/self/ns/pid")
            .ok()?
            .to_string_lossy()
            .into_owned();
        let pid = std::process::id();
        let (_, started) = status(pid).ok().flatten()?;
        let (host, boot, namespace) = (host.trim().into(), boot.into(), namespace.into());
        Some(Process {
            host,
            boot,
            namespace,
            pid,
            started,
        })
    }

    pub(super) fn liveness(pid: u32, started: u64) -> Liveness {
        match status(pid) {
            // A zombie process that was not waited for yet also has a row.
            Ok(Some(('Z' | 'X', _))) => Liveness::Dead,
            Ok(Some((_, since))) if since == started => Liveness::Alive,
            Ok(Some(_)) => Liveness::Dead,
            Ok(None) => Liveness::Unknown,
            Err(error) if error.kind() == ErrorKind::NotFound && is_gone(pid) => Liveness::Dead,
            Err(_) => Liveness::Unknown,
        }
    }

    /// Whether there is no process of that number. `/proc` may hide processes of other users.
    fn is_gone(pid: u32) -> bool {
        let pid = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        pid.is_none_or(|pid| {
            rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        })
    }

    /// The state of a process and its start time, in ticks since the boot.
    fn status(pid: u32) -> std::io::Result<Option<(char, u64)>> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name, in parentheses, may contain any character.
        let after = text.rsplit_once(')').map_or("", |(_, after)| after);
        let mut fields = after.split_ascii_whitespace();
        let state = fields.next().and_then(|state| state.chars().next());
        Ok(state.zip(fields.nth(18).and_then(|ticks| ticks.parse().ok())))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    use state::{Liveness, Process};

    pub(super) fn elapsed() -> Duration {
        super::since_1970()
    }

    pub(super) fn process() -> Option<Process> {
        None
    }

    pub(super) fn liveness(_pid: u32, _started: u64) -> Liveness {
        Liveness::Unknown
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_number_start_boot_and_namespace() {
        let machine = ThisMachine::here();
        let own = machine.process().expect("this is Linux");
        assert_eq!(machine.liveness(&own), Liveness::Alive);
        let another = |change: fn(&mut Process)| {
            let mut process = own.clone();
            change(&mut process);
            machine.liveness(&process)
        };
        assert_eq!(
            another(|it| it.started += 1),
            Liveness::Dead,
            "the number was given again"
        );
        assert_eq!(
            another(|it| it.pid = 4_000_000),
            Liveness::Dead,
            "more than there may be"
        );
        assert_eq!(another(|it| it.boot = "another".into()), Liveness::Dead);
        assert_eq!(
            another(|it| it.namespace = "another".into()),
            Liveness::Unknown
        );
        assert_eq!(another(|it| it.host = "another".into()), Liveness::Unknown);
    }

    #[test]
    fn a_zombie_process_is_dead() {
        let machine = ThisMachine::here();
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("it can be started");
        let of = |pid| system_process(&machine, pid);
        let process = of(child.id());
        assert_eq!(machine.liveness(&process), Liveness::Alive);
        child.kill().expect("it can be ended");
        for _ in 0..1000 {
            if machine.liveness(&process) == Liveness::Dead {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(machine.liveness(&process), Liveness::Dead);
        child.wait().expect("it has ended");
    }

    fn system_process(machine: &ThisMachine, pid: u32) -> Process {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        let started = text
            .rsplit_once(')')
            .expect("a name")
            .1
            .split_ascii_whitespace()
            .nth(19)
            .expect("a time");
        Process {
            pid,
            started: started.parse().expect("a number"),
            ..machine.process().expect("this is Linux")
        }
    }
}
