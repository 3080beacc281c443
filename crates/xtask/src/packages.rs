//! Packages of Python and Node that tests need, installed once in pinned versions.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable with the folder of packages that are installed outside the checkout.
const CACHE: &str = "CYAN_TEST_CACHE";

/// A package to install. The name of its folder contains the version, so that each version has its
/// own folder.
pub(crate) enum TestPackage {
    /// Packages of Python with all their dependencies, pinned.
    Python {
        folder: &'static str,
        requirements: &'static str,
    },
    /// A package of Node.
    Node {
        folder: &'static str,
        package: &'static str,
    },
}

const PULUMI: TestPackage = TestPackage::Python {
    folder: "pulumi-3.272.0",
    requirements: include_str!("../counterparts/pulumi-3.272.0.txt"),
};

/// Returns the Python of an environment with the provider framework of Pulumi. The environment is
/// outside the checkout, so that all checkouts share it.
///
/// # Errors
/// If the framework cannot be installed.
pub(crate) fn pulumi() -> io::Result<PathBuf> {
    Ok(install(&cache()?, &PULUMI)?.join("bin/python"))
}

/// Returns the folder of packages that are installed outside the checkout.
///
/// # Errors
/// If no environment variable names a folder.
pub(crate) fn cache() -> io::Result<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    variable(CACHE)
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("cyan-tests")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache/cyan-tests")))
        .ok_or_else(|| io::Error::other(format!("neither {CACHE} nor HOME is set")))
}

/// Installs a package if it is missing. Returns its folder.
pub(crate) fn install(all: &Path, package: &TestPackage) -> io::Result<PathBuf> {
    let (TestPackage::Python { folder, .. } | TestPackage::Node { folder, .. }) = package;
    let home = all.join(folder);
    let done = home.join("installed");
    fs::create_dir_all(all)?;
    // Two runs at the same time must not install into the same folder.
    let lock = File::create(all.join("lock"))?;
    lock.lock()?;
    if done.is_file() {
        return Ok(home);
    }
    println!("installing {folder}");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home)?;
    match package {
        TestPackage::Python { requirements, .. } => {
            let list = home.join("requirements.txt");
            fs::write(&list, requirements)?;
            run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
            let mut pip = Command::new(home.join("bin/pip"));
            run(pip
                .args([
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--requirement",
                ])
                .arg(&list))?;
        }
        TestPackage::Node { package, .. } => {
            let mut npm = Command::new("npm");
            npm.args([
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--prefix",
            ]);
            run(npm.arg(&home).arg(package))?;
        }
    }
    File::create(done)?;
    Ok(home)
}

fn run(command: &mut Command) -> io::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| io::Error::other(format!("`{shown}` {why}"));
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("ended with {status}"))),
        Err(error) => Err(failed(format!("cannot be started: {error}"))),
    }
}
