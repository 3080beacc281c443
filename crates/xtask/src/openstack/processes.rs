//! The processes of the cloud: they are started, watched and killed.
//!
//! Some programs start others, which outlive them. The variable `FOLDER` in the environment of each
//! process names the folder of its cloud, so that all of them are found.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::servers::bound;

/// The variable that names the folder of the cloud of a process.
const FOLDER: &str = "CYAN_TEST_CLOUD_FOLDER";

/// The argument with which this program becomes a `CloudGuard`.
pub(super) const GUARD: &str = "--guard";

/// The time between two questions whether something is ready.
const POLL: Duration = Duration::from_millis(100);

/// The processes of one cloud. They are killed when this is dropped.
#[derive(Debug)]
pub(super) struct CloudProcesses {
    folder: PathBuf,
    running: Vec<(&'static str, Child)>,
}

impl CloudProcesses {
    /// No processes yet. Their logs are in the folder.
    ///
    /// # Errors
    /// If the folder of the logs cannot be made.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join("logs"))?;
        Ok(Self {
            folder: folder.to_owned(),
            running: Vec::new(),
        })
    }

    /// Starts a program that runs as long as the cloud.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn launch(&mut self, name: &'static str, mut command: Command) -> io::Result<()> {
        let log = File::create(log_file(&self.folder, name))?;
        let child = command
            // Ctrl-C on the terminal is for this program, which kills the others.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| io::Error::other(format!("{name} cannot be started: {error}")))?;
        self.running.push((name, child));
        Ok(())
    }

    /// Asks until the answer is yes.
    ///
    /// # Errors
    /// If the question fails, a process has ended, or the time is over.
    pub(super) fn wait_for(
        &mut self,
        what: &str,
        timeout: Duration,
        mut ready: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<()> {
        let begin = Instant::now();
        while !ready()? {
            self.check()?;
            if begin.elapsed() > timeout {
                let seconds = timeout.as_secs();
                return Err(io::Error::other(format!(
                    "waited {seconds} s for {what}; the logs are in {}",
                    self.folder.join("logs").display()
                )));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Checks that all processes run.
    fn check(&mut self) -> io::Result<()> {
        for (name, child) in &mut self.running {
            if let Some(status) = child.try_wait()? {
                return Err(failure(&self.folder, name, &status.to_string()));
            }
        }
        Ok(())
    }

    /// Asks a process to end, and waits until it has.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub(super) fn end(&mut self, name: &str) -> io::Result<()> {
        let found = self.running.iter().position(|(one, _)| *one == name);
        let Some(at) = found else {
            return Ok(());
        };
        let (_, mut child) = self.running.remove(at);
        signal("TERM", &[child.id()])?;
        child.wait().map(|_| ())
    }

    /// The memory of all processes in MiB. A page that several of them share is counted once.
    pub(super) fn memory(&self) -> u64 {
        let kilobytes: u64 = members(&self.folder)
            .into_iter()
            .filter_map(|process| fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok())
            .filter_map(|text| proportional_size(&text))
            .sum();
        kilobytes / 1024
    }
}

impl Drop for CloudProcesses {
    fn drop(&mut self) {
        kill_all(&self.folder);
        for (_, child) in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that kills those of a cloud when this program ends, however it ends. The programs that
/// this one starts end with it, but some of their own children do not.
#[derive(Debug)]
pub(super) struct CloudGuard(Child);

impl CloudGuard {
    /// Starts it for the cloud in this folder.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        Command::new(std::env::current_exe()?)
            .args(["openstack", GUARD])
            .arg(folder)
            // Ctrl-C on the terminal must not reach it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map(Self)
    }
}

impl Drop for CloudGuard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the process of a `CloudGuard` does: waits for the end of its input, which is the end of the
/// program that started it, and kills the processes of the cloud in this folder.
///
/// # Errors
/// If the input cannot be read.
pub(super) fn guard(folder: &Path) -> io::Result<()> {
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    kill_all(folder);
    Ok(())
}

/// A command with the environment of the cloud in this folder. It ends with this program.
pub(super) fn command(folder: &Path, program: &Path) -> Command {
    let mut command = bound(program);
    // A user of OpenStack may have set variables that choose another cloud or settings.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("OS_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .env(FOLDER, folder)
        // Some services change their title, which by default overwrites their environment.
        .env("SPT_NOENV", "1")
        .env("PYTHONWARNINGS", "ignore")
        // Threads of one process share few heaps, which saves memory.
        .env("MALLOC_ARENA_MAX", "2")
        // A proxy cannot reach the services.
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("no_proxy", "127.0.0.1,localhost");
    command
}

/// Runs a program of the cloud in this folder to its end. Its log has the given name.
///
/// # Errors
/// If it cannot be started or fails, with the last line that it wrote.
pub(super) fn run(folder: &Path, name: &str, command: &mut Command) -> io::Result<()> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(log_file(folder, name))?;
    let status = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .status()
        .map_err(|error| io::Error::other(format!("{name} cannot be started: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(failure(folder, name, &status.to_string()))
    }
}

/// Kills the processes of the cloud in this folder, until none is left.
pub(super) fn kill_all(folder: &Path) {
    // A process may start another one between the search and its end.
    for _ in 0..50 {
        let left = members(folder);
        if left.is_empty() || signal("KILL", &left).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The log of a program of the cloud in this folder.
pub(super) fn log_file(folder: &Path, name: &str) -> PathBuf {
    folder.join("logs").join(format!("{name}.log"))
}

/// The error of a program that ended, with the last line of its log.
fn failure(folder: &Path, name: &str, status: &str) -> io::Error {
    let log = fs::read(log_file(folder, name)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let last = log.trim().lines().last().unwrap_or("it wrote no log");
    io::Error::other(format!("{name} ended with {status}: {last}"))
}

/// The ids of the living processes of the cloud in this folder. Empty on a system without `/proc`.
fn members(folder: &Path) -> Vec<u32> {
    let mark = format!("{FOLDER}={}\0", folder.display());
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process: &u32| {
            // A process that has ended, but was not waited for, has an empty environment.
            fs::read(format!("/proc/{process}/environ"))
                .is_ok_and(|text| contains(&text, mark.as_bytes()))
        })
        .collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Sends a signal to processes. One that has ended in the meantime is no error.
fn signal(name: &str, processes: &[u32]) -> io::Result<()> {
    let ids = processes.iter().map(u32::to_string);
    // The `kill` of the shell is always there, the program is not.
    Command::new("sh")
        .args(["-c", "kill -\"$0\" \"$@\"", name])
        .args(ids)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map(|_| ())
}

/// The proportional set size in a file `smaps_rollup`, in KiB.
fn proportional_size(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CloudProcesses, command, kill_all, members, proportional_size};

    #[test]
    fn grandchildren_are_found_and_killed_and_other_clouds_are_not() {
        let all = std::env::temp_dir().join(format!("cyan-processes-{}", std::process::id()));
        let (one, other) = (all.join("1"), all.join("12"));
        for folder in [&one, &other] {
            std::fs::create_dir_all(folder).expect("the folder is made");
        }
        let mut cloud = CloudProcesses::new(&one).expect("the folder of logs is made");
        let mut neighbour = CloudProcesses::new(&other).expect("the folder of logs is made");
        for (processes, folder) in [(&mut cloud, &one), (&mut neighbour, &other)] {
            let mut shell = command(folder, Path::new("sh"));
            shell.args(["-c", "sleep 600 & sleep 600 & wait"]);
            processes.launch("shell", shell).expect("sh is started");
        }
        let limit = std::time::Duration::from_secs(30);
        cloud
            .wait_for("three processes", limit, || Ok(members(&one).len() == 3))
            .expect("they start");
        neighbour
            .wait_for("three processes", limit, || Ok(members(&other).len() == 3))
            .expect("they start");
        kill_all(&one);
        assert_eq!(members(&one), Vec::<u32>::new());
        assert_eq!(members(&other).len(), 3);
        drop(neighbour);
        assert_eq!(members(&other), Vec::<u32>::new());
        let _ = std::fs::remove_dir_all(all);
    }

    #[test]
    fn a_process_that_ends_is_an_error_with_its_last_line() {
        let folder = std::env::temp_dir().join(format!("cyan-ends-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder is made");
        let mut cloud = CloudProcesses::new(&folder).expect("the folder of logs is made");
        let mut shell = command(&folder, Path::new("sh"));
        shell.args(["-c", "echo first; echo second; exit 3"]);
        cloud.launch("shell", shell).expect("sh is started");
        let limit = std::time::Duration::from_secs(30);
        let error = cloud
            .wait_for("nothing", limit, || Ok(false))
            .expect_err("the shell ends");
        assert_eq!(error.to_string(), "shell ended with exit status: 3: second");
        drop(cloud);
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn the_proportional_size_is_read() {
        let text = "5581-7ffe [rollup]\nRss:  9000 kB\nPss:       1234 kB\nPss_Dirty:   20 kB\n";
        assert_eq!(proportional_size(text), Some(1234));
        assert_eq!(proportional_size("Rss: 1 kB\n"), None);
    }
}
