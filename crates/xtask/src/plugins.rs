//! Provider plugins of others that the tests host: built from their published Go modules, pinned.
//!
//! They are built once, into the user's cache folder, because a build takes minutes. If one cannot be built, its tests
//! fail.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable in which tests find the folder with the programs.
const VARIABLE: &str = "CYAN_TEST_TERRAFORM";

/// A module whose main package is a provider.
struct Module {
    /// The name of its program.
    program: &'static str,
    path: &'static str,
    version: &'static str,
}

const MODULES: [Module; 2] = [
    Module {
        program: "terraform-provider-time",
        path: "github.com/hashicorp/terraform-provider-time",
        version: "v0.14.2",
    },
    // Release 2.9: the module of the provider's newer home is not published.
    Module {
        program: "terraform-provider-local",
        path: "github.com/terraform-providers/terraform-provider-local",
        version: "v1.4.1-0.20260513075820-3561e410f9fe",
    },
];

/// Builds what is missing. Returns the variables for the tests; reports and leaves out what cannot be built.
pub(crate) fn build() -> Vec<(&'static str, String)> {
    match folder().and_then(|folder| build_all(&folder)) {
        Ok(programs) => vec![(VARIABLE, programs.to_string_lossy().into_owned())],
        Err(error) => {
            println!("missing: plugins of Terraform (they are built with Go): {error}");
            Vec::new()
        }
    }
}

/// The folder for all of them, outside of the checkout.
fn folder() -> io::Result<PathBuf> {
    let set = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA")).or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.ok_or_else(|| io::Error::other("there is no cache folder: HOME is not set"))?;
    Ok(cache.join("cyan-counterparts/terraform"))
}

/// Returns the folder with the programs. Its name has all versions, so that others have another folder.
fn build_all(all: &Path) -> io::Result<PathBuf> {
    let names = MODULES
        .map(|module| format!("{}-{}", module.program.trim_start_matches("terraform-provider-"), module.version));
    let programs = all.join(names.join("_"));
    fs::create_dir_all(&programs)?;
    // Two runs at the same time must not build into the same folder.
    let lock = File::create(all.join("lock"))?;
    lock.lock()?;
    for module in &MODULES {
        let name = format!("{}{}", module.program, std::env::consts::EXE_SUFFIX);
        if !programs.join(&name).is_file() {
            println!("building {} {}", module.program, module.version);
            install(module, &name, &programs)?;
        }
    }
    Ok(programs)
}

/// Builds a program and moves it to its place when it is complete.
fn install(module: &Module, name: &str, programs: &Path) -> io::Result<()> {
    let half = programs.join("half");
    let mut go = Command::new("go");
    go.args(["install", "-trimpath"]).arg(format!("{}@{}", module.path, module.version));
    // Settings of the user for another project must not change the build.
    go.env("GOBIN", &half).env("GOFLAGS", "").env("GO111MODULE", "on").env("GOWORK", "off").env("CGO_ENABLED", "0");
    let output = go.current_dir(programs).stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = output.map_err(|error| io::Error::other(format!("`go` cannot be started: {error}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.trim().lines().last().unwrap_or("it says nothing").to_owned();
        return Err(io::Error::other(format!("`go install` of {} failed: {last}", module.path)));
    }
    fs::rename(half.join(name), programs.join(name))
}
