//! The programs of Pulumi that tests compare with: its command line, the interpreter of its YAML
//! programs, and a program of this repository that runs single programs with that interpreter.
//!
//! One Go module names all of them with their versions. They are built once, outside the checkout,
//! because that takes minutes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::go_tool::{compile, compile_own, required_version};
use crate::packages::cache;

/// The variable in which tests find the folder with the command line and the interpreter.
const COMMAND_LINE: &str = "CYAN_TEST_PULUMI_CLI";

/// The variable in which tests find the program that runs single programs.
const ORACLE: &str = "CYAN_TEST_PULUMI_ORACLE";

/// The Go module, below the root.
const MODULE: &str = "crates/pulumi/tests/peer";

/// The main packages of the command line: the module, the package in it, the name of the program.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("github.com/pulumi/pulumi/pkg/v3", "cmd/pulumi", "pulumi"),
    (
        "github.com/pulumi/pulumi-yaml",
        "cmd/pulumi-language-yaml",
        "pulumi-language-yaml",
    ),
];

/// Builds the missing programs. Returns the variables for the tests; reports and leaves out what
/// cannot be built.
pub(crate) fn build(root: &Path) -> Vec<(&'static str, String)> {
    let sources = root.join(MODULE);
    let built = [
        (COMMAND_LINE, built_once(&sources, build_command_line)),
        (ORACLE, built_once(&sources, build_oracle)),
    ];
    let mut variables = Vec::new();
    for (variable, built) in built {
        match built {
            Ok(path) => variables.push((variable, path.display().to_string())),
            Err(error) => {
                println!("missing: {variable}, programs of Pulumi (built with Go): {error}");
            }
        }
    }
    variables
}

/// Builds something below the cache, one run at a time.
fn built_once(
    sources: &Path,
    build: fn(&Path, &Path) -> io::Result<PathBuf>,
) -> io::Result<PathBuf> {
    let folder = cache()?.join("pulumi-programs");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    build(sources, &folder)
}

/// Builds the command line and the interpreter. Returns their folder, whose name has the versions.
fn build_command_line(sources: &Path, all: &Path) -> io::Result<PathBuf> {
    let [(tool, _, _), (yaml, _, _)] = PROGRAMS;
    let home = all.join(format!(
        "cli-{}_yaml-{}",
        required_version(sources, tool)?,
        required_version(sources, yaml)?
    ));
    for (module, package, name) in PROGRAMS {
        compile(sources, &home, name, &format!("{module}/{package}"), "")?;
    }
    Ok(home)
}

/// Builds the program of this repository and returns it.
fn build_oracle(sources: &Path, all: &Path) -> io::Result<PathBuf> {
    compile_own(sources, all, "oracle", "./oracle")
}
