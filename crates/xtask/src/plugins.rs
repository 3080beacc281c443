//! Provider plugins that the tests host: two published ones, built from pinned Go modules, and one
//! of this repository, with behaviour that no published plugin has. Also the Python with which
//! tests run their own plugins of Pulumi, and the variables of all programs that are built once.
//!
//! Plugins are built or installed once, outside the checkout, because that takes minutes. If one is
//! missing, its tests fail.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::go_tool::{executable, go};
use crate::packages::{cache, pulumi};
use crate::{jsonpath_programs, pulumi_programs};

/// The variable that names a Python with the provider framework of Pulumi.
const PULUMI: &str = "CYAN_TEST_PULUMI";

/// The variable in which tests find the folder with the published plugins.
const PUBLISHED: &str = "CYAN_TEST_TERRAFORM";

/// The variable in which tests find the plugin of this repository.
const PEER: &str = "CYAN_TEST_TERRAFORM_PEER";

/// The sources of the plugin of this repository, below the root.
const PEER_FOLDER: &str = "crates/terraform_host/tests/peer";

/// The source files of the plugin of this repository.
const PEER_FILES: [&str; 3] = ["main.go", "go.mod", "go.sum"];

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
    // Release 2.9. The module at the provider's newer address is not published.
    Module {
        program: "terraform-provider-local",
        path: "github.com/terraform-providers/terraform-provider-local",
        version: "v1.4.1-0.20260513075820-3561e410f9fe",
    },
];

/// Builds the missing plugins. Returns the variables for the tests; reports and leaves out a plugin
/// that cannot be built.
pub(crate) fn build(root: &Path) -> Vec<(&'static str, String)> {
    let mut variables = Vec::new();
    match pulumi() {
        Ok(python) => variables.push((PULUMI, python.display().to_string())),
        Err(error) => println!("missing: the provider framework of Pulumi: {error}"),
    }
    let built = cache().and_then(|cache| {
        let folder = cache.join("terraform");
        fs::create_dir_all(&folder)?;
        // Two runs at the same time must not build into the same folder.
        let lock = File::create(folder.join("lock"))?;
        lock.lock()?;
        Ok([
            (PUBLISHED, build_published(&folder)?),
            (PEER, build_peer(root, &folder)?),
        ])
    });
    match built {
        Ok(paths) => {
            variables.extend(paths.map(|(variable, path)| (variable, path.display().to_string())))
        }
        Err(error) => println!("missing: plugins of Terraform (they are built with Go): {error}"),
    }
    variables.extend(pulumi_programs::build(root));
    variables.extend(jsonpath_programs::build(root));
    variables
}

/// Builds the missing plugins and prints the variables for a shell. Returns whether every plugin is
/// available.
///
/// # Errors
/// Never. All tasks have the same signature.
pub(crate) fn print(root: &Path) -> io::Result<bool> {
    let variables = build(root);
    for (name, value) in &variables {
        println!("export {name}='{value}'");
    }
    Ok(variables.len() == 6)
}

/// Builds the published plugins and returns their folder. The folder's name contains all versions,
/// so that other versions have another folder.
fn build_published(all: &Path) -> io::Result<PathBuf> {
    let names = MODULES.map(|module| {
        format!(
            "{}-{}",
            module.program.trim_start_matches("terraform-provider-"),
            module.version
        )
    });
    let programs = all.join(names.join("_"));
    for module in &MODULES {
        let (name, half) = (executable(module.program), programs.join("half"));
        if !programs.join(&name).is_file() {
            println!("building {} {}", module.program, module.version);
            fs::create_dir_all(&half)?;
            let source = format!("{}@{}", module.path, module.version);
            go(Command::new("go")
                .args(["install", "-trimpath", &source])
                .env("GOBIN", &half)
                .current_dir(&half))?;
            // The program is renamed only when it is complete.
            fs::rename(half.join(&name), programs.join(&name))?;
            fs::remove_dir_all(half)?;
        }
    }
    Ok(programs)
}

/// Builds the plugin of this repository and returns its program. The name of its folder depends on
/// its sources.
fn build_peer(root: &Path, all: &Path) -> io::Result<PathBuf> {
    let sources = root.join(PEER_FOLDER);
    let mut hasher = DefaultHasher::new();
    for file in PEER_FILES {
        fs::read(sources.join(file))?.hash(&mut hasher);
    }
    let home = all.join(format!("peer-{:016x}", hasher.finish()));
    let (program, half) = (
        home.join(executable("terraform-provider-peer")),
        home.join("half"),
    );
    if !program.is_file() {
        println!("building terraform-provider-peer");
        fs::create_dir_all(&home)?;
        go(Command::new("go")
            .args(["build", "-trimpath", "-o"])
            .arg(&half)
            .arg(".")
            .current_dir(sources))?;
        fs::rename(half, &program)?;
    }
    Ok(program)
}
