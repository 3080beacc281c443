//! Servers that replace cloud services during the tests.
//!
//! Each server is installed once, pinned, below the build folder, and listens on a free port of
//! this machine while the tests run. If a server cannot be installed, its tests fail.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::build_tool::target;
use crate::counterparts::present;
use crate::packages::{TestPackage, install};

/// The time within which a server must answer.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(90);

/// The variable that tells the tests that all servers were started, so that a missing one is a
/// failure.
const ALL: &str = "CYAN_TEST_ALL";

struct Server {
    /// The name of the server in messages.
    what: &'static str,
    /// The variable in which tests find the address of the server.
    variable: &'static str,
    package: TestPackage,
    /// The program, in the folder of the package.
    program: &'static str,
    arguments: &'static [&'static str],
    /// The argument before the port.
    port: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

const MOTO: TestPackage = TestPackage::Python {
    folder: "moto-5.2.5",
    requirements: include_str!("../counterparts/moto-5.2.5.txt"),
};

const SERVERS: [Server; 3] = [
    Server {
        what: "S3",
        variable: "CYAN_TEST_S3",
        package: MOTO,
        program: "bin/moto_server",
        arguments: &["-H", "127.0.0.1"],
        port: "-p",
        environment: &[],
    },
    Server {
        what: "S3 with credentials",
        variable: "CYAN_TEST_S3_STRICT",
        package: MOTO,
        program: "bin/moto_server",
        arguments: &["-H", "127.0.0.1"],
        port: "-p",
        environment: &[("INITIAL_NO_AUTH_ACTION_COUNT", "0")],
    },
    Server {
        what: "Azure Blob Storage",
        variable: "CYAN_TEST_AZURE",
        package: TestPackage::Node {
            folder: "azurite-3.35.0",
            package: "azurite@3.35.0",
        },
        program: "node_modules/.bin/azurite-blob",
        arguments: &[
            "--silent",
            "--inMemoryPersistence",
            "--disableTelemetry",
            "--blobHost",
            "127.0.0.1",
        ],
        port: "--blobPort",
        environment: &[],
    },
];

/// The running servers. They are stopped when this is dropped.
pub(crate) struct RunningServers {
    children: Vec<Child>,
    variables: Vec<(&'static str, String)>,
}

/// Installs missing packages and starts all servers. Reports and leaves out a server that cannot be
/// started.
pub(crate) fn start(root: &Path) -> RunningServers {
    let mut running = RunningServers {
        children: Vec::new(),
        variables: vec![(ALL, "1".to_owned())],
    };
    let folder = target(root);
    for server in &SERVERS {
        let started = install(&folder.join("counterparts"), &server.package)
            .and_then(|home| launch(server, &home));
        match started {
            Ok((child, port)) => {
                running.children.push(child);
                running
                    .variables
                    .push((server.variable, format!("http://127.0.0.1:{port}")));
            }
            Err(error) => println!("missing: a server of {}: {error}", server.what),
        }
    }
    running.wait();
    running
}

impl RunningServers {
    /// The variables for the tests.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
    }

    /// Waits until all servers answer.
    fn wait(&self) {
        let begin = Instant::now();
        for (name, address) in &self.variables[1..] {
            while !answers(address) {
                if begin.elapsed() > START_TIMEOUT {
                    println!("the server of {name} does not answer");
                    return;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

impl Drop for RunningServers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether an HTTP server answers at an address.
pub(crate) fn answers(address: &str) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = TcpStream::connect(address.trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut first = [0; 5];
        stream.read_exact(&mut first)?;
        Ok(&first == b"HTTP/")
    };
    ask().unwrap_or(false)
}

/// Starts a server on a free port.
fn launch(server: &Server, home: &Path) -> io::Result<(Child, u16)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let child = bound(&home.join(server.program))
        .args(server.arguments)
        .arg(server.port)
        .arg(port.to_string())
        .envs(server.environment.iter().copied())
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((child, port))
}

/// A command that ends with this program, even if this program is killed.
pub(crate) fn bound(program: &Path) -> Command {
    if present("setpriv") {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// Deletes the folders of servers whose program was interrupted. The name of a folder is the id of
/// the process that started the servers. `clear` is called for each folder before.
pub(crate) fn delete_abandoned(all: &Path, clear: impl Fn(&Path)) -> io::Result<()> {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return Ok(());
    }
    for entry in fs::read_dir(all)? {
        let entry = entry?;
        if !processes.join(entry.file_name()).exists() {
            let folder = fs::canonicalize(entry.path());
            clear(&folder.unwrap_or_else(|_| entry.path()));
            // Another run may delete it at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
