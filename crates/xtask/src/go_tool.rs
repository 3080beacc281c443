//! Go, which builds programs that tests talk to.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The file name of a program.
pub(crate) fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Runs Go. Sets the variables that the user may have set for another project.
///
/// # Errors
/// If Go cannot be started or fails.
pub(crate) fn go(command: &mut Command) -> io::Result<()> {
    command
        .env("GOFLAGS", "-mod=readonly")
        .env("GO111MODULE", "on")
        .env("GOWORK", "off")
        .env("CGO_ENABLED", "0");
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output =
        output.map_err(|error| io::Error::other(format!("`go` cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(
        text.trim()
            .lines()
            .last()
            .unwrap_or("`go` failed and says nothing")
            .to_owned(),
    ))
}

/// Returns the version, without its `v`, that a Go module requires of another.
///
/// # Errors
/// If the file `go.mod` of the module cannot be read or does not name the other one.
pub(crate) fn required_version(sources: &Path, module: &str) -> io::Result<String> {
    let text = fs::read_to_string(sources.join("go.mod"))?;
    find_version(&text, module)
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("go.mod does not name `{module}`")))
}

/// Finds the version of a required module in the text of a file `go.mod`.
fn find_version<'text>(text: &'text str, module: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("require ").unwrap_or(line);
        let version = line.strip_prefix(module)?.strip_prefix(" v")?;
        version.split_whitespace().next()
    })
}

/// Builds a main package into a folder if its program is missing there. `linker` is what Go passes
/// to its linker. Returns the program. The messages go to stderr, because stdout may be read by a
/// shell.
///
/// # Errors
/// If Go cannot be started or fails, or the folder cannot be written.
pub(crate) fn compile(
    sources: &Path,
    home: &Path,
    name: &str,
    package: &str,
    linker: &str,
) -> io::Result<PathBuf> {
    let program = home.join(executable(name));
    if !program.is_file() {
        eprintln!("building {name}");
        let begin = Instant::now();
        fs::create_dir_all(home)?;
        // The program is renamed only when it is complete.
        let half = home.join("half");
        go(Command::new("go")
            .args(["build", "-trimpath", "-ldflags", linker, "-o"])
            .arg(&half)
            .arg(package)
            .current_dir(sources))?;
        fs::rename(half, &program)?;
        eprintln!("built {name} in {} s", begin.elapsed().as_secs());
    }
    Ok(program)
}

/// Builds a program whose sources are in this repository, into a folder below `all` whose name
/// depends on them. `folder` is the main package, below the folder of the module. Returns the
/// program.
///
/// # Errors
/// If the sources cannot be read, or as [`compile`].
pub(crate) fn compile_own(
    sources: &Path,
    all: &Path,
    name: &str,
    folder: &str,
) -> io::Result<PathBuf> {
    let mut files = vec![sources.join("go.mod"), sources.join("go.sum")];
    for entry in fs::read_dir(sources.join(folder))? {
        let path = entry?.path();
        if path.extension().is_some_and(|suffix| suffix == "go") {
            files.push(path);
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file)?.hash(&mut hasher);
    }
    let home = all.join(format!("{name}-{:016x}", hasher.finish()));
    compile(sources, &home, name, folder, "")
}

#[cfg(test)]
mod tests {
    use super::find_version;

    #[test]
    fn a_version_is_found_in_a_line_and_in_a_list() {
        let text = "\
module example.com/peer
require example.com/one v1.2.3
require (
\texample.com/two/v3 v3.4.5 // indirect
)
replace example.com/two => example.com/fork v9.9.9
";
        assert_eq!(find_version(text, "example.com/one"), Some("1.2.3"));
        assert_eq!(find_version(text, "example.com/two/v3"), Some("3.4.5"));
        assert_eq!(find_version(text, "example.com/two"), None);
    }
}
