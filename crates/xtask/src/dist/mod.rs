//! Packages that install `cyan` without a compiler, for the platform of this machine: a wheel for
//! Python, a package for npm, a package for Debian, and a folder from which Docker builds an image.
//!
//! The same binary gives the same bytes: entries are sorted and have one fixed date.
//!
//! Not here: publishing them, and platforms other than Linux.

mod archive;
mod content;
mod debian;
mod docker;
mod elf;
mod npm;
mod project;
mod third_party;
mod wheel;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build_tool::{cargo, target};
use content::Content;
use elf::Needs;
use project::Project;

/// What the command line asks for.
struct DistOptions {
    /// The binary to pack. Without it, one is built with the profile `dist`.
    binary: Option<PathBuf>,
    /// The folder of the packages.
    out: PathBuf,
    /// How hard archives are compressed, from 0 (not at all) to 9.
    level: u32,
}

/// Builds all packages and prints their paths. Returns whether the binary could be built.
///
/// # Errors
/// If an option is wrong, the binary is none for Linux, or a file cannot be read or written.
pub(crate) fn run(root: &Path, arguments: &[String]) -> io::Result<bool> {
    let options = options(root, arguments)?;
    let project = Project::read(root)?;
    let file = match options.binary {
        Some(file) => file,
        None => match build(root, &project)? {
            Some(file) => file,
            None => return Ok(false),
        },
    };
    let file = fs::canonicalize(&file).map_err(|error| about(&file, &error))?;
    let binary = fs::read(&file)?;
    let needs = Needs::read(&binary).map_err(|error| about(&file, &error))?;
    let mut licences = Vec::new();
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        licences.push((name.to_owned(), fs::read(root.join(name))?));
    }
    let others = third_party::licences(root)?;
    licences.push(("LICENSES-THIRD-PARTY".to_owned(), others.into_bytes()));
    let content = Content {
        project,
        file,
        binary,
        needs,
        licences,
        level: options.level,
    };
    if options.out == packages(root) {
        // Nobody else writes there. Packages of another version would fit the names on the page too.
        let _ = fs::remove_dir_all(&options.out);
    }
    fs::create_dir_all(&options.out)?;
    for (name, bytes) in [
        wheel::pack(&content)?,
        npm::pack(&content)?,
        debian::pack(root, &content)?,
    ] {
        let path = options.out.join(name);
        fs::write(&path, bytes)?;
        println!("{}", path.display());
    }
    let folder = options.out.join("docker");
    docker::prepare(&content, &folder)?;
    println!("{}", folder.display());
    docker::build(&content, &folder)?;
    Ok(true)
}

/// Builds the binary as it is distributed. Returns its file, or `None` if it does not compile.
fn build(root: &Path, project: &Project) -> io::Result<Option<PathBuf>> {
    let built = Command::new(cargo())
        .current_dir(root)
        .args(["build", "--locked", "--profile", "dist", "--package", "cli"])
        .args(["--features", "full"])
        .status()?;
    let file = target(root).join("dist").join(&project.name);
    Ok(built.success().then_some(file))
}

/// The folder of the packages unless another one is named.
fn packages(root: &Path) -> PathBuf {
    target(root).join("dist/packages")
}

fn options(root: &Path, arguments: &[String]) -> io::Result<DistOptions> {
    let mut options = DistOptions {
        binary: None,
        out: packages(root),
        level: 6,
    };
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| io::Error::other(format!("`{option}` needs a value")))?;
        match option.as_str() {
            "--binary" => options.binary = Some(PathBuf::from(value)),
            "--out" => options.out = PathBuf::from(value),
            "--level" => options.level = level(value)?,
            _ => {
                return Err(io::Error::other(format!(
                    "there is no option `{option}`; there are --binary, --out and --level"
                )));
            }
        }
    }
    Ok(options)
}

fn level(value: &str) -> io::Result<u32> {
    let level = value.parse().ok().filter(|level| *level <= 9);
    level.ok_or_else(|| io::Error::other(format!("`--level {value}` is no number from 0 to 9")))
}

fn about(file: &Path, error: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::{level, options};
    use std::path::Path;

    #[test]
    fn options_have_values_and_known_names() {
        let read = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
            options(Path::new("/"), &given).map_err(|error| error.to_string())
        };
        let given = read(&["--binary", "a", "--out", "b", "--level", "0"]).unwrap();
        assert_eq!(given.binary.as_deref(), Some(Path::new("a")));
        assert_eq!((given.out.as_path(), given.level), (Path::new("b"), 0));
        assert_eq!(read(&["--out"]).err().unwrap(), "`--out` needs a value");
        assert!(read(&["--bin", "a"]).err().unwrap().contains("`--bin`"));
        assert!(level("10").is_err());
    }
}
