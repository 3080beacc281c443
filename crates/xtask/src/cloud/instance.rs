//! Instances of `cyan`: the binary deploys and destroys a template in a folder of its own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::session::CloudLogin;
use super::template::{TemplateForm, TestTemplate};

/// The name of the template in the folder, and of the cloud in its `clouds.yaml`.
const DOCUMENT: &str = "stack.yaml";
const CLOUD: &str = "test";

/// The time within which a command must end.
const TIMEOUT: Duration = Duration::from_secs(900);

/// The time between two questions whether a command has ended.
const POLL: Duration = Duration::from_millis(20);

/// The number of lines of its output that explain a failure.
const EXPLAINED: usize = 12;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// By itself.
    Finished,
    /// Because it was killed.
    Killed,
}

/// One step in the life of an instance.
#[derive(Debug, Clone, Copy)]
pub(super) enum InstanceStep<'a> {
    Deploy(&'a TemplateForm),
    Destroy,
}

/// An instance of one template.
#[derive(Debug)]
pub(super) struct CyanInstance<'a> {
    program: &'a Path,
    template: &'a TestTemplate,
    folder: PathBuf,
}

impl<'a> CyanInstance<'a> {
    /// An instance that does not exist yet. Its files and state are in the folder, which is made.
    ///
    /// # Errors
    /// If the files cannot be written, or the program cannot make a key.
    pub(super) fn new(
        program: &'a Path,
        template: &'a TestTemplate,
        login: &CloudLogin,
        folder: &Path,
    ) -> io::Result<Self> {
        let instance = Self::empty(program, template, login, folder)?;
        for (name, text) in &template.files {
            fs::write(folder.join(name), text)?;
        }
        Ok(instance)
    }

    /// As [`CyanInstance::new`], without the files that the template includes.
    ///
    /// # Errors
    /// As [`CyanInstance::new`].
    pub(super) fn empty(
        program: &'a Path,
        template: &'a TestTemplate,
        login: &CloudLogin,
        folder: &Path,
    ) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let instance = Self {
            program,
            template,
            folder: folder.to_owned(),
        };
        instance.sign_in(login, &[])?;
        // Some properties are secrets. The state seals them with a key.
        let status = instance.command()?.args(["key", "new"]).status()?;
        if status.success() {
            Ok(instance)
        } else {
            Err(instance.failure(&status.to_string()))
        }
    }

    /// Makes the instance sign in here from now on, with these addresses of services in place of
    /// those of the catalogue.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn sign_in(
        &self,
        login: &CloudLogin,
        addresses: &[(&'static str, String)],
    ) -> io::Result<()> {
        let file = self.folder.join("clouds.yaml");
        fs::write(file, login.clouds_file(CLOUD, addresses))
    }

    /// Runs the command of a step to its end.
    ///
    /// # Errors
    /// If it cannot be started, or fails. The error has the end of its output.
    pub(super) fn run(&self, step: InstanceStep<'_>) -> io::Result<()> {
        self.await_end(self.start(step)?)
    }

    /// Runs a command with these arguments on the instance to its end.
    ///
    /// # Errors
    /// As [`CyanInstance::run`].
    pub(super) fn run_command(&self, arguments: &[&str]) -> io::Result<()> {
        let mut command = self.command()?;
        command.args(arguments).args(["--color", "never"]);
        let child = command.args(["--instance", &self.template.name]).spawn()?;
        self.await_end(child)
    }

    fn await_end(&self, mut child: Child) -> io::Result<()> {
        match wait(&mut child, TIMEOUT)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.failure(&status.to_string())),
            None => Err(self.failure("it was killed because it did not end")),
        }
    }

    /// Runs the command of a step, and kills it after this time if it still runs.
    ///
    /// # Errors
    /// If it cannot be started, or fails before it is killed.
    pub(super) fn run_and_kill(
        &self,
        step: InstanceStep<'_>,
        after: Duration,
    ) -> io::Result<CommandEnd> {
        let mut child = self.start(step)?;
        match wait(&mut child, after)? {
            None => Ok(CommandEnd::Killed),
            Some(status) if status.success() => Ok(CommandEnd::Finished),
            Some(status) => Err(self.failure(&status.to_string())),
        }
    }

    /// The program with an environment of its own. Its output goes to a file.
    fn command(&self) -> io::Result<Command> {
        let output = File::create(self.output())?;
        let mut command = Command::new(self.program);
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .env("OS_CLIENT_CONFIG_FILE", self.folder.join("clouds.yaml"))
            .env("OS_CLOUD", CLOUD)
            .env("XDG_CONFIG_HOME", self.folder.join("configuration"))
            .env_remove("CYAN_STATE");
        Ok(command)
    }

    fn start(&self, step: InstanceStep<'_>) -> io::Result<Child> {
        let mut command = self.command()?;
        let verb = match step {
            InstanceStep::Deploy(_) => "deploy",
            InstanceStep::Destroy => "destroy",
        };
        command.args([verb, DOCUMENT, "--yes", "--color", "never"]);
        command.args(["--instance", &self.template.name]);
        if let InstanceStep::Deploy(form) = step {
            fs::write(self.folder.join(DOCUMENT), &form.template)?;
            if let Some(environment) = &form.environment {
                fs::write(self.folder.join("environment.yaml"), environment)?;
                command.args(["--environment", "environment.yaml"]);
            }
        }
        command.spawn()
    }

    fn output(&self) -> PathBuf {
        self.folder.join("output.txt")
    }

    /// The error of a command, with the end of its output.
    fn failure(&self, status: &str) -> io::Error {
        let text = fs::read_to_string(self.output()).unwrap_or_default();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let end = lines
            .get(lines.len().saturating_sub(EXPLAINED)..)
            .unwrap_or_default();
        io::Error::other(format!("{status}\n    {}", end.join("\n    ")))
    }
}

/// Waits until a process ends. Kills it after this time, and then returns nothing.
fn wait(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() >= time {
            child.kill()?;
            let status = child.wait()?;
            // It may have ended in the last moment.
            return Ok(status.code().map(|_| status));
        }
        std::thread::sleep(POLL.min(time));
    }
}
