//! `cargo xtask catalog aws` regenerates the catalogue of AWS from the resource schemas in a
//! package. `cargo xtask catalog openstack` regenerates the catalogue of OpenStack from the
//! interfaces of Heat's types in the project.
//!
//! Only `aws` needs the network, and only to fetch the package once. `--check` fetches nothing: it
//! compares the catalogue in the project with the catalogue that the package gives.
//!
//! Not here: the conversion of a schema (the examples `aws_catalog` of `providers`
//! and `openstack_catalog` of `openstack`).

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build_tool::{cargo, target};

/// The package on PyPI with the schemas, and its version, which is pinned because another version
/// changes the catalogue.
const PACKAGE: (&str, &str) = ("cfn-lint", "1.58.0");

/// The folder of the catalogue of AWS.
const FOLDER: &str = "crates/providers/src/aws";

/// The folder of the catalogue of OpenStack, and its files.
const OPENSTACK: &str = "crates/openstack/src";
const OPENSTACK_FILES: [&str; 2] = ["catalog/catalog.bin", "heat/described.bin"];

/// The interfaces of Heat's types. The catalogue of OpenStack is generated from them.
const FACTS: &str = "conformance/hot/resource_types.json";

/// The generated files of the catalogue of AWS.
const FILES: [&str; 2] = ["catalog.bin", "options.txt"];

/// Regenerates a catalogue, or compares it with `--check`. Returns `false` if the catalogue
/// differs.
pub(crate) fn run(root: &Path, arguments: &[String]) -> io::Result<bool> {
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["aws"] => {
            let folder = package(root, true)?
                .ok_or_else(|| io::Error::other("the package cannot be fetched"))?;
            make(root, &folder, &root.join(FOLDER))
        }
        ["aws", "--check"] => check(root),
        ["openstack"] => openstack(root, &root.join(OPENSTACK)),
        ["openstack", "--check"] => check_openstack(root),
        _ => Err(io::Error::other(
            "write `cargo xtask catalog aws` or `.. openstack`, with `--check` or without",
        )),
    }
}

fn check(root: &Path) -> io::Result<bool> {
    let Some(folder) = package(root, false)? else {
        println!("skipped: the package is not fetched; `cargo xtask catalog aws` fetches it");
        return Ok(true);
    };
    let made = unpacked(root).join("made");
    std::fs::create_dir_all(&made)?;
    if !make(root, &folder, &made)? {
        return Ok(false);
    }
    let mut same = true;
    for file in FILES {
        let is = std::fs::read(made.join(file))? == std::fs::read(root.join(FOLDER).join(file))?;
        println!(
            "{FOLDER}/{file} {}",
            if is {
                "is what the package gives"
            } else {
                "differs: run `cargo xtask catalog aws`"
            }
        );
        same &= is;
    }
    Ok(same)
}

/// The folder in which packages are unpacked.
fn unpacked(root: &Path) -> PathBuf {
    target(root).join("catalog")
}

/// Returns the folder of the unpacked package. Fetches a missing package if `fetch` is set;
/// otherwise returns `None`.
fn package(root: &Path, fetch: bool) -> io::Result<Option<PathBuf>> {
    let (name, version) = PACKAGE;
    let folder = unpacked(root).join(format!("{name}-{version}"));
    if folder.join("cfnlint").is_dir() {
        return Ok(Some(folder));
    }
    if !fetch {
        return Ok(None);
    }
    // pip unpacks into another folder first, so that an interrupted run leaves no partial package.
    let beside = unpacked(root).join(format!("{name}-{version}.part"));
    let fetched = Command::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-compile",
            "--upgrade",
            "--target",
        ])
        .arg(&beside)
        .arg(format!("{name}=={version}"))
        .status()?;
    if !fetched.success() {
        return Ok(None);
    }
    std::fs::rename(&beside, &folder)?;
    Ok(Some(folder))
}

fn check_openstack(root: &Path) -> io::Result<bool> {
    let made = unpacked(root).join("made");
    for file in OPENSTACK_FILES {
        std::fs::create_dir_all(made.join(file).parent().unwrap_or(&made))?;
    }
    let mut same = openstack(root, &made)?;
    for file in OPENSTACK_FILES {
        let is = same
            && std::fs::read(made.join(file))? == std::fs::read(root.join(OPENSTACK).join(file))?;
        println!(
            "{OPENSTACK}/{file} {}",
            if is {
                "is what the facts give"
            } else {
                "differs: run `cargo xtask catalog openstack`"
            }
        );
        same &= is;
    }
    Ok(same)
}

/// Generates the catalogue of OpenStack from the facts in the project.
fn openstack(root: &Path, out: &Path) -> io::Result<bool> {
    let mut command = Command::new(cargo());
    command.current_dir(root).args([
        "run",
        "--quiet",
        "-p",
        "openstack",
        "--example",
        "openstack_catalog",
        "--",
    ]);
    Ok(command.arg(root.join(FACTS)).arg(out).status()?.success())
}

fn make(root: &Path, folder: &Path, out: &Path) -> io::Result<bool> {
    let schemas = folder.join("cfnlint/data/schemas");
    let (name, version) = PACKAGE;
    let date = std::fs::read_to_string(schemas.join("version.json"))?;
    // `{"schema_date": "2026-10-20T22:11:15Z"}`: the day is enough.
    let date = date
        .split('"')
        .nth(3)
        .and_then(|date| date.split('T').next())
        .unwrap_or("an unknown day")
        .to_owned();
    let made = Command::new(cargo())
        .current_dir(root)
        .args([
            "run",
            "--quiet",
            "-p",
            "providers",
            "--example",
            "aws_catalog",
            "--",
        ])
        .arg(&schemas)
        .arg(format!("{name} {version}, schemas of {date}"))
        .arg(out)
        .status()?;
    Ok(made.success())
}
