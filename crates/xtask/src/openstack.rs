//! A cloud of OpenStack for the tests: the real services with their database and message bus, and
//! real Heat to compare with. All of them listen on free ports of this machine.
//!
//! Not here: virtual machines, disks and packets. Nova's fake driver plays the hosts, and drivers in
//! `counterparts/openstack/drivers` play the agents and disks, so that objects reach the states that
//! they have in a real cloud. Load balancers exist in Octavia alone: no machine carries them out.

mod bootstrap;
mod install;
mod processes;
mod services;
mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::build_tool::target;
use crate::servers::delete_abandoned;
use processes::{CloudGuard, CloudProcesses, GUARD};
use settings::CloudSettings;

/// The variable in which tests find the file that describes how to connect. Its clouds are `admin`,
/// which may do everything, and `demo`, a member of a project.
const CLOUDS: &str = "CYAN_TEST_CLOUDS";

/// A running cloud. It is stopped, and its data deleted, when this is dropped. The thread that
/// started it must not end before.
#[derive(Debug)]
pub(crate) struct RunningCloud {
    settings: CloudSettings,
    processes: CloudProcesses,
    /// Whether the start is over. The logs of a start that failed stay until the next start.
    works: bool,
    _guard: CloudGuard,
}

/// Installs the missing programs and starts a cloud. Returns when the services work.
///
/// # Errors
/// If a program cannot be installed, or a server ends or is not ready in time.
pub(crate) fn start(root: &Path) -> io::Result<RunningCloud> {
    let programs = timed("the programs", install::programs)?;
    let all = target(root).join("openstack");
    fs::create_dir_all(&all)?;
    delete_abandoned(&all, processes::kill_all)?;
    let folder = fs::canonicalize(all)?.join(std::process::id().to_string());
    // A former process with the same id may have left its folder.
    let _ = fs::remove_dir_all(&folder);
    let guard = CloudGuard::new(&folder)?;
    timed("the state of a new cloud", || {
        bootstrap::prepare_state(&folder, &programs)
    })?;
    let mut cloud = RunningCloud {
        settings: CloudSettings::new(folder.clone(), programs)?,
        processes: CloudProcesses::new(&folder)?,
        works: false,
        _guard: guard,
    };
    timed("the start", || cloud.launch())?;
    cloud.works = true;
    Ok(cloud)
}

/// The command `cargo xtask openstack`.
///
/// # Errors
/// If the arguments are unknown, or the cloud cannot be started.
pub(crate) fn run(root: &Path, arguments: &[String]) -> io::Result<bool> {
    match arguments {
        [] => serve(root),
        // Only this program says that.
        [option, folder] if option == GUARD => processes::guard(Path::new(folder)).map(|()| true),
        _ => Err(io::Error::other("`cargo xtask openstack` has no arguments")),
    }
}

/// Starts a cloud and prints the variable for a shell. Returns when standard input ends; an
/// interrupt ends the cloud too.
///
/// # Errors
/// If the cloud cannot be started.
fn serve(root: &Path) -> io::Result<bool> {
    let cloud = start(root)?;
    for (name, value) in cloud.variables() {
        println!("export {name}='{value}'");
    }
    eprintln!("openstack: {} MiB", cloud.memory());
    eprintln!("it runs until Ctrl-C or the end of the input");
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    timed("the end", || {
        drop(cloud);
        Ok(true)
    })
}

/// Starts a cloud while the caller does other things.
pub(crate) fn start_in_background(root: &Path) -> BackgroundCloud {
    let root = root.to_owned();
    let (tell, told) = channel();
    let (stop, stopped) = channel();
    let thread = std::thread::spawn(move || serve_background(&root, &tell, &stopped));
    BackgroundCloud {
        told,
        stop: Some(stop),
        thread: Some(thread),
    }
}

/// Starts a cloud, tells how to connect, and runs it until the other side of `stopped` is dropped.
fn serve_background(
    root: &Path,
    tell: &Sender<io::Result<CloudVariables>>,
    stopped: &Receiver<()>,
) -> Option<String> {
    let begin = Instant::now();
    let cloud = match start(root) {
        Ok(cloud) => cloud,
        Err(error) => {
            let _ = tell.send(Err(error));
            return None;
        }
    };
    let ready = begin.elapsed().as_secs_f64();
    let _ = tell.send(Ok(cloud.variables()));
    let _ = stopped.recv();
    let (whole, memory) = (begin.elapsed().as_secs_f64(), cloud.memory());
    Some(format!(
        "openstack: ready after {ready:.1} s, ran for {:.1} s, {memory} MiB at the end",
        whole - ready
    ))
}

/// The variables for the tests, with their values.
type CloudVariables = [(&'static str, String); 1];

/// A cloud that another thread starts. It is stopped when this is dropped.
#[derive(Debug)]
pub(crate) struct BackgroundCloud {
    told: Receiver<io::Result<CloudVariables>>,
    /// The cloud runs until this is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Option<String>>>,
}

impl BackgroundCloud {
    /// Waits until the cloud works. Returns the variables for the tests.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn wait(&self) -> io::Result<CloudVariables> {
        self.told
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
    }

    /// Stops the cloud. Returns a line with its times and memory if it ran.
    pub(crate) fn end(mut self) -> Option<String> {
        self.stop()
    }

    fn stop(&mut self) -> Option<String> {
        drop(self.stop.take());
        self.thread.take()?.join().ok()?
    }
}

impl Drop for BackgroundCloud {
    fn drop(&mut self) {
        self.stop();
    }
}

impl RunningCloud {
    /// The variables for the tests.
    fn variables(&self) -> CloudVariables {
        [(CLOUDS, self.clouds().display().to_string())]
    }

    /// The file that describes how to connect.
    pub(crate) fn clouds(&self) -> PathBuf {
        self.settings.file("clouds.yaml")
    }

    /// The memory of all processes in MiB.
    fn memory(&self) -> u64 {
        self.processes.memory()
    }

    fn launch(&mut self) -> io::Result<()> {
        let Self {
            settings,
            processes,
            ..
        } = self;
        settings.write()?;
        services::start_bus(settings, processes)?;
        services::start_database(settings, processes)?;
        bootstrap::move_addresses(settings)?;
        services::start_keystone(settings, processes)?;
        services::start_services(settings, processes)?;
        bootstrap::load_policies(settings)
    }
}

impl Drop for RunningCloud {
    fn drop(&mut self) {
        processes::kill_all(&self.settings.folder);
        if self.works {
            let _ = fs::remove_dir_all(&self.settings.folder);
        }
    }
}

/// Does a stage of the start, and says how long it took.
///
/// # Errors
/// The error of the stage, with its name.
fn timed<T>(stage: &str, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let begin = Instant::now();
    let done = work().map_err(|error| io::Error::new(error.kind(), format!("{stage}: {error}")))?;
    eprintln!(
        "openstack: {stage} took {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    Ok(done)
}
