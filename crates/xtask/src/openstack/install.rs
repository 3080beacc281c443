//! The programs of the cloud: a database and a message bus from the system's packages, and the
//! services of OpenStack in an environment of Python.
//!
//! The environment is outside the checkout. The name of its folder contains a digest of what is in
//! it, so that a change of a version or a driver makes a new one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::counterparts::{is_root, present};
use crate::packages::{TestPackage, cache, install};

/// The packages of Python with all their dependencies, pinned.
pub(super) const REQUIREMENTS: &str = include_str!("../../counterparts/openstack/requirements.txt");

/// The drivers that stand in for agents and disks, with the names of their files.
pub(super) const DRIVERS: [(&str, &str); 2] = [
    (
        "cyan_test_network.py",
        include_str!("../../counterparts/openstack/drivers/cyan_test_network.py"),
    ),
    (
        "cyan_test_volumes.py",
        include_str!("../../counterparts/openstack/drivers/cyan_test_volumes.py"),
    ),
];

/// How Neutron finds its driver.
pub(super) const ENTRY_POINTS: &str =
    include_str!("../../counterparts/openstack/drivers/entry_points.txt");

/// The version of Python for which `REQUIREMENTS` was resolved.
const PYTHON: &str = "3.11";

/// The installer of the environment. It is ten times as fast as pip.
const UV: TestPackage = TestPackage::Python {
    folder: "uv-0.13.9",
    requirements: include_str!("../../counterparts/uv-0.13.9.txt"),
};

/// The server script of the message bus. The one on `PATH` changes the user.
const BUS: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// The script with which packages ask whether they may start their servers.
const START_POLICY: &str = "/usr/sbin/policy-rc.d";

/// The installed programs.
#[derive(Debug, Clone)]
pub(crate) struct CloudPrograms {
    /// The folder of the environment of Python.
    pub(super) packages: PathBuf,
    pub(super) database: PathBuf,
    pub(super) bus: PathBuf,
}

impl CloudPrograms {
    /// A program of the environment of Python.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.packages.join("bin").join(name)
    }
}

/// Installs the missing programs, one run at a time.
///
/// # Errors
/// If a program is missing and cannot be installed.
pub(super) fn programs() -> io::Result<CloudPrograms> {
    let all = cache()?;
    let uv = install(&all, &UV)?.join("bin/uv");
    fs::create_dir_all(&all)?;
    let lock = File::create(all.join("openstack.lock"))?;
    lock.lock()?;
    let database = system_program("mariadbd", "/usr/sbin/mariadbd");
    let bus = Some(PathBuf::from(BUS)).filter(|bus| bus.is_file());
    if database.is_none() || bus.is_none() {
        install_system_packages()?;
    }
    let missing = |package: &str| {
        io::Error::other(format!(
            "the package `{package}` is missing; install it with apt-get"
        ))
    };
    let database = system_program("mariadbd", "/usr/sbin/mariadbd")
        .ok_or_else(|| missing("mariadb-server"))?;
    if !Path::new(BUS).is_file() {
        return Err(missing("rabbitmq-server"));
    }
    Ok(CloudPrograms {
        packages: python_packages(&all, &uv)?,
        database,
        bus: PathBuf::from(BUS),
    })
}

/// A digest of texts, for names of folders.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A program on `PATH`, or in a folder that is on the path of administrators only.
fn system_program(name: &str, path: &str) -> Option<PathBuf> {
    if present(name) {
        return Some(PathBuf::from(name));
    }
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}

/// Installs the database and the message bus without starting them.
///
/// # Errors
/// If this program may not, or the package manager fails.
fn install_system_packages() -> io::Result<()> {
    if !is_root() || !present("apt-get") {
        return Err(io::Error::other(
            "the packages `mariadb-server` and `rabbitmq-server` are missing; install them",
        ));
    }
    println!("installing mariadb-server, rabbitmq-server");
    let policy = Path::new(START_POLICY);
    let ours = !policy.exists();
    if ours {
        // 101 means: do not start it.
        fs::write(policy, "#!/bin/sh\nexit 101\n")?;
        fs::set_permissions(policy, fs::Permissions::from_mode(0o755))?;
    }
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // An outdated list of packages may still work.
    let _ = apt(&["update", "-qq"]);
    let installed = apt(&[
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "mariadb-server",
        "rabbitmq-server",
    ]);
    if ours {
        fs::remove_file(policy)?;
    }
    installed
}

/// Makes the environment of Python if it is missing. Returns its folder.
fn python_packages(all: &Path, uv: &Path) -> io::Result<PathBuf> {
    let mut contents = vec![PYTHON, REQUIREMENTS, ENTRY_POINTS];
    contents.extend(DRIVERS.iter().map(|(_, text)| *text));
    let home = all.join(format!("openstack-{}", digest(&contents)));
    let done = home.join("installed");
    if done.is_file() {
        return Ok(home);
    }
    println!("installing OpenStack");
    let _ = fs::remove_dir_all(&home);
    let uv = |arguments: &[&OsStr]| {
        run(Command::new(uv)
            .args(arguments)
            .arg("--quiet")
            .env("VIRTUAL_ENV", &home))
    };
    let word = OsStr::new;
    uv(&[word("venv"), word("--python"), word(PYTHON), home.as_ref()])?;
    let list = home.join("requirements.txt");
    fs::write(&list, REQUIREMENTS)?;
    // The list is complete. Some packages forbid a version of another one that works.
    uv(&[
        word("pip"),
        word("install"),
        word("--no-deps"),
        word("--requirement"),
        list.as_ref(),
    ])?;
    let library = home.join(format!("lib/python{PYTHON}/site-packages"));
    for (name, text) in DRIVERS {
        fs::write(library.join(name), text)?;
    }
    let description = library.join("cyan_test-1.dist-info");
    fs::create_dir_all(&description)?;
    fs::write(
        description.join("METADATA"),
        "Metadata-Version: 2.1\nName: cyan-test\nVersion: 1\n",
    )?;
    fs::write(description.join("entry_points.txt"), ENTRY_POINTS)?;
    File::create(done)?;
    Ok(home)
}

/// Runs a program without its output.
///
/// # Errors
/// If it cannot be started or fails, with the last line that it wrote to stderr.
fn run(command: &mut Command) -> io::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::other(format!("`{shown}` cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.trim().lines().last().unwrap_or("it says nothing");
    Err(io::Error::other(format!("`{shown}` failed: {last}")))
}
