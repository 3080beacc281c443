//! The copy of the tree, and the builds in it.
//!
//! Changes that do not compile together with the others are removed until the rest compiles.
//! [`alone`] then tries each of them in a build of its own.

use std::collections::BTreeSet;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use crate::cargo;
use crate::sample::Mutant;
use crate::schemata::Schemata;
use crate::trial::{Tests, Verdict};

/// The crates whose tests run: they contain the mutated code, or run all of it.
const TESTED: [&str; 3] = ["expr", "engine", "testkit"];

/// Options that optimise the crates of the tree a little, since each test runs a hundred times.
const FASTER: [&str; 4] = [
    "--config",
    "profile.dev.opt-level=1",
    "--config",
    "profile.dev.package.\"*\".opt-level=0",
];

/// The tree, and the folder with its copy.
pub(crate) struct Tree {
    root: PathBuf,
    copy: PathBuf,
}

/// A test executable: its name, its path and the folder that it runs in.
pub(crate) struct Executable {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) folder: PathBuf,
}

impl Tree {
    pub(crate) fn of(root: &Path, copy: &Path) -> Tree {
        Tree {
            root: root.to_owned(),
            copy: copy.to_owned(),
        }
    }

    /// The path of a file beside the copied files.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.copy.join(name)
    }

    /// Brings the copy up to date. Unchanged files are not written, so that cargo rebuilds little.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn refresh(&self) -> Result<(), Error> {
        let mut list = Command::new("git");
        list.current_dir(&self.root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let output = list.output()?;
        let listed = String::from_utf8_lossy(&output.stdout);
        let mut files: BTreeSet<&str> =
            listed.split('\0').filter(|path| !path.is_empty()).collect();
        files.retain(|path| self.root.join(path).is_file());
        let note = self.file("files");
        for gone in std::fs::read_to_string(&note)
            .unwrap_or_default()
            .lines()
            .filter(|path| !files.contains(path))
        {
            // The file may be missing already.
            let _ = std::fs::remove_file(self.copy.join(gone));
        }
        for path in &files {
            self.put(path, &std::fs::read(self.root.join(path))?)?;
        }
        std::fs::write(note, files.into_iter().collect::<Vec<_>>().join("\n"))
    }

    fn put(&self, path: &str, text: &[u8]) -> Result<(), Error> {
        let to = self.copy.join(path);
        if std::fs::read(&to).is_ok_and(|before| before == text) {
            return Ok(());
        }
        std::fs::create_dir_all(to.parent().unwrap_or(&self.copy))?;
        std::fs::write(&to, text)
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        // The copy has its own build folder: in a shared one, cargo would confuse the copy with the
        // original tree.
        command
            .current_dir(&self.copy)
            .args(arguments)
            .env("CARGO_TARGET_DIR", self.copy.join("target"));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The errors of the compiler in the libraries of these crates; none if they compile.
    fn errors(&self, crates: &BTreeSet<String>) -> Result<Vec<Json>, Error> {
        let mut command =
            self.cargo(&["check", "--lib", "--keep-going", "--message-format", "json"]);
        command.args(crates.iter().flat_map(|name| ["--package", name.as_str()]));
        let output = command.output()?;
        let mut errors = messages(&output.stdout, "compiler-message");
        errors.retain(|message| message["message"]["level"] == "error");
        if errors.is_empty() && !output.status.success() {
            return Err(Error::other("cargo fails, and says not why"));
        }
        Ok(errors)
    }

    /// Builds the test executables of the crates in `TESTED`.
    pub(crate) fn executables(&self) -> Result<Vec<Executable>, Error> {
        let mut command = self.cargo(&[
            "test",
            "--no-run",
            "--lib",
            "--tests",
            "--message-format",
            "json",
        ]);
        command
            .args(FASTER)
            .args(TESTED.iter().flat_map(|name| ["--package", name]));
        let output = command.output()?;
        if !output.status.success() {
            return Err(Error::other(format!(
                "the tests do not compile in {}",
                self.copy.display()
            )));
        }
        let built = messages(&output.stdout, "compiler-artifact");
        let executables = built
            .iter()
            .filter(|artifact| artifact["profile"]["test"] == true)
            .filter_map(|artifact| {
                let folder = Path::new(artifact["manifest_path"].as_str()?)
                    .parent()?
                    .to_owned();
                let krate = folder.file_name()?.to_string_lossy().into_owned();
                let target = artifact["target"]["name"].as_str()?;
                let name = if target == krate {
                    krate
                } else {
                    format!("{krate}::{target}")
                };
                Some(Executable {
                    name,
                    path: PathBuf::from(artifact["executable"].as_str()?),
                    folder,
                })
            });
        Ok(executables.collect())
    }
}

/// The messages of cargo with this reason.
fn messages(output: &[u8], reason: &str) -> Vec<Json> {
    let lines = output
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Json>(line).ok());
    lines
        .filter(|message| message["reason"] == reason)
        .collect()
}

/// The places of an error in the crates: file and line, with macros expanded.
fn places(error: &Json) -> Vec<(&str, usize)> {
    let spans = error["message"]["spans"].as_array().into_iter().flatten();
    let mut places = Vec::new();
    for span in spans.filter(|span| span["is_primary"] == true) {
        let mut span = span;
        while span["expansion"]["span"].is_object() {
            span = &span["expansion"]["span"];
        }
        let line = span["line_start"]
            .as_u64()
            .and_then(|line| usize::try_from(line).ok());
        places.extend(span["file_name"].as_str().zip(line));
    }
    places
}

/// Writes the changes into the copy, and removes those that do not compile.
///
/// # Errors
/// If unchanged code does not compile, or files cannot be written.
pub(crate) fn until_it_compiles(tree: &Tree, together: &mut Schemata) -> Result<(), Error> {
    let crates: BTreeSet<String> = together.crates();
    loop {
        for (file, text) in together.texts() {
            tree.put(&file, text.as_bytes())?;
        }
        let errors = tree.errors(&crates)?;
        if errors.is_empty() {
            return Ok(());
        }
        let mut taken = false;
        for error in &errors {
            for (file, line) in places(error) {
                taken |= together.take_out(file, line);
            }
        }
        if !taken {
            let said = errors
                .iter()
                .filter_map(|error| error["message"]["rendered"].as_str())
                .collect::<String>();
            return Err(Error::other(format!(
                "the copy of the tree does not compile:\n{said}"
            )));
        }
    }
}

/// Makes one change in the copy, reverts all others, and runs all tests.
///
/// # Errors
/// If files cannot be written or programs not started.
pub(crate) fn alone(
    tree: &Tree,
    together: &Schemata,
    mutant: &Mutant,
    tests: &Tests,
) -> Result<Verdict, Error> {
    let Some(changed) = together
        .sources()
        .get(&mutant.file)
        .and_then(|source| mutant.applied(source))
    else {
        return Ok(Verdict::Gone);
    };
    for (file, source) in together.sources() {
        tree.put(file, source.as_bytes())?;
    }
    tree.put(&mutant.file, changed.as_bytes())?;
    if !tree
        .errors(&BTreeSet::from([mutant.package().to_owned()]))?
        .is_empty()
    {
        return Ok(Verdict::Unviable);
    }
    tree.executables()?;
    tests.judge(None)
}
