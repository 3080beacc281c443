//! The binary as it is published: built twice. What the first one does with the documents of the benchmarks and of
//! `examples` is counted, and the second is laid out by those counts.
//!
//! Profile, target and flags of both builds must be the same but for the counting, or the counts belong to other functions.

use std::ffi::OsString;
use std::fs;
use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::suite::{cargo, target};

/// What counts what: every shape, as large as a large document is and as small as a small one.
const TRAINING: [&str; 6] = ["--shape", "wide,layered,chain,each,modules", "--n", "100,1000", "--reps", "1"];

/// What small documents need.
const SMALL: [&str; 6] = ["--shape", "wide,layered", "--n", "100", "--reps", "1"];

/// Where Rust's own linker is used, which puts functions in an order that it is told.
const LINKED_IN_ORDER: &str = "x86_64-unknown-linux-gnu";

/// Builds it and says where it lies; whether that could be done.
///
/// # Errors
/// If a program cannot be started or a folder not written, or where LLVM's tool for counts is not there.
pub(crate) fn run(root: &Path) -> Result<bool, Error> {
    let built = build(root)?;
    if let Some(binary) = &built {
        println!("built: {}", binary.display());
    }
    Ok(built.is_some())
}

/// The binary, built; nothing if it does not build, or does not do what a benchmark expects of it.
///
/// # Errors
/// As [`run`].
pub(crate) fn build(root: &Path) -> Result<Option<PathBuf>, Error> {
    let compiler = Compiler::ask()?;
    let merge = compiler.counts_tool()?;
    let target = target(root);
    let (work, counts) = (target.join("training"), target.join("training/counts"));
    if counts.exists() {
        fs::remove_dir_all(&counts)?;
    }
    fs::create_dir_all(&counts)?;

    let Some(counting) = compile(root, &compiler, &work, &format!("-Cprofile-generate={}", counts.display()))? else {
        return Ok(None);
    };
    if !train(root, &counting, &work)? {
        return Ok(None);
    }
    let merged = work.join("counts.profdata");
    let done = Command::new(&merge).args(["merge", "--output"]).arg(&merged).arg(&counts).status()?;
    if !done.success() {
        return Err(Error::other(format!("`{}` did not merge what was counted", merge.display())));
    }
    let mut flags = format!("-Cprofile-use={}", merged.display());
    if compiler.host == LINKED_IN_ORDER {
        let order = order(root, &counting, &work, &merge)?;
        let option = "-Clink-arg=-Wl,--no-warn-symbol-ordering,--symbol-ordering-file=";
        flags.push_str(&format!(" {option}{}", order.display()));
    }
    let linked = compile(root, &compiler, &target, &flags)?;
    linked.map(|linked| publish(&linked, &target)).transpose()
}

/// Puts the binary where it is taken from, in one piece. A linker writes here and there, and the system keeps in memory as small
/// pages what it was given like that: each start would take a millisecond more.
fn publish(linked: &Path, target: &Path) -> Result<PathBuf, Error> {
    let folder = target.join("published");
    fs::create_dir_all(&folder)?;
    let (new, path) = (folder.join("cyan.new"), folder.join("cyan"));
    fs::write(&new, fs::read(linked)?)?;
    fs::set_permissions(&new, fs::metadata(linked)?.permissions())?;
    fs::rename(&new, &path)?;
    Ok(path)
}

/// Writes down which functions a small document needs, from start to end: side by side in the binary they are in few of its pages,
/// and each page that is touched first takes as long as some thousand instructions.
fn order(root: &Path, counting: &Path, work: &Path, merge: &Path) -> Result<PathBuf, Error> {
    let counts = work.join("small");
    if counts.exists() {
        fs::remove_dir_all(&counts)?;
    }
    if !bench(root, counting, work, &counts.join("%m.profraw"), &SMALL)? {
        return Err(Error::other("a small document is not carried out"));
    }
    let merged = work.join("small.profdata");
    let done = Command::new(merge).args(["merge", "--output"]).arg(&merged).arg(&counts).status()?;
    let shown = Command::new(merge).args(["show", "--all-functions", "--counts"]).arg(&merged).output()?;
    if !done.success() || !shown.status.success() {
        return Err(Error::other(format!("`{}` does not say what was counted", merge.display())));
    }
    let (mut order, mut name) = (String::new(), None);
    for line in String::from_utf8_lossy(&shown.stdout).lines() {
        if let Some(function) = line.strip_prefix("  ").and_then(|line| line.strip_suffix(':')) {
            // What is not known outside its unit has that before its name.
            name = (!function.starts_with(' ')).then(|| function.rsplit(';').next().unwrap_or(function).to_owned());
        } else if let Some(counts) = line.trim_start().strip_prefix("Block counts: [")
            && counts.trim_end_matches(']').split(", ").any(|count| count != "0")
            && let Some(name) = name.take()
        {
            order.push_str(&name);
            order.push('\n');
        }
    }
    let path = work.join("order");
    fs::write(&path, order)?;
    Ok(path)
}

/// Builds with flags more than usual; the binary, or nothing if it does not build.
fn compile(root: &Path, compiler: &Compiler, target: &Path, more: &str) -> Result<Option<PathBuf>, Error> {
    let mut flags = std::env::var_os("RUSTFLAGS").unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push(more);
    // With the target named, what only runs while building is built without the flags.
    let built = Command::new(cargo())
        .current_dir(root)
        .env("RUSTFLAGS", flags)
        .env("CARGO_TARGET_DIR", target)
        .args(["build", "--profile", "dist", "--package", "cli", "--target", &compiler.host])
        .status()?;
    let binary = target.join(&compiler.host).join("dist/cyan");
    Ok(built.success().then_some(binary))
}

/// Has the counting binary do what people do with theirs; whether all went as it should.
fn train(root: &Path, counting: &Path, work: &Path) -> Result<bool, Error> {
    // One file for all processes: each adds to it.
    let counts = work.join("counts/%m.profraw");
    if !bench(root, counting, work, &counts, &TRAINING)? {
        return Ok(false);
    }
    for folder in fs::read_dir(root.join("examples"))? {
        for document in fs::read_dir(folder?.path()).into_iter().flatten() {
            let document = document?.path();
            if document.extension().is_some_and(|end| end == "yaml" || end == "jsonc") {
                let state = format!("sqlite:{}", work.join("state.db").display());
                // Simulated: a build asks nobody's cloud. That some want variables is no harm: errors are told to people too.
                for command in [&["validate"][..], &["stage", "--simulate", "--state", &state], &["fmt", "--check"]] {
                    let mut cyan = Command::new(counting);
                    cyan.env("LLVM_PROFILE_FILE", &counts).args(command).arg(&document);
                    cyan.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
                }
            }
        }
    }
    Ok(true)
}

/// Runs a benchmark with the counting binary; whether all went as it should.
fn bench(root: &Path, counting: &Path, work: &Path, counts: &Path, what: &[&str]) -> Result<bool, Error> {
    let mut bench = Command::new("python3");
    bench.current_dir(root.join("bench")).arg("bench.py").args(["--tool", "ours"]).args(what);
    let mut bin = OsString::from("ours=");
    bin.push(counting);
    let results = work.join("training.json");
    bench.arg("--bin").arg(bin).arg("--out").arg(&results).stdout(Stdio::null()).env("LLVM_PROFILE_FILE", counts);
    Ok(bench.status()?.success() && !fs::read_to_string(&results)?.contains("\"failed\":"))
}

/// What the compiler says of itself.
struct Compiler {
    host: String,
    /// The major version of its LLVM: tools of another one may not read what it counts.
    llvm: String,
    sysroot: PathBuf,
}

impl Compiler {
    fn ask() -> Result<Compiler, Error> {
        let say = |arguments: &[&str]| -> Result<String, Error> {
            let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
            let said = Command::new(rustc).args(arguments).output()?;
            Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
        };
        let version = say(&["-vV"])?;
        let field = |name: &str| {
            let line = version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned).ok_or_else(|| Error::other(format!("`rustc -vV` does not say its {name}")))
        };
        let llvm = field("LLVM version")?;
        let llvm = llvm.split('.').next().unwrap_or_default().to_owned();
        Ok(Compiler { host: field("host")?, llvm, sysroot: say(&["--print", "sysroot"])?.into() })
    }

    /// `llvm-profdata` of the compiler's LLVM: its own, or the system's.
    fn counts_tool(&self) -> Result<PathBuf, Error> {
        let own = self.sysroot.join("lib/rustlib").join(&self.host).join("bin/llvm-profdata");
        let named = PathBuf::from(format!("llvm-profdata-{}", self.llvm));
        let runs = |tool: &PathBuf| {
            let tried = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            tried.is_ok_and(|status| status.success())
        };
        [own, named].into_iter().find(runs).ok_or_else(|| {
            Error::other(format!(
                "llvm-profdata {0} is not there: install Rust's component llvm-tools, or the system's package llvm-{0}",
                self.llvm
            ))
        })
    }
}
