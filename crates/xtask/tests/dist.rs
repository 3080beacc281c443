//! What `cargo xtask dist` packs, installed and tried in empty environments. The packages are made
//! of the binary of these tests, without its symbols and uncompressed, because that is fast.
//!
//! Not here: the image of Docker itself; its file system is tried instead.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The packages, which all tests try.
static PACKAGES: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    // The tests of the crate `cli` have it built beside this program.
    let built = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("cyan");
    assert!(built.exists(), "build it first: cargo build -p cli");
    let binary = folder.path().join("cyan");
    let stripped = Command::new("strip")
        .arg("-o")
        .args([&binary, &built])
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        fs::copy(&built, &binary).unwrap();
    }
    pack(&binary, &folder.path().join("packages"));
    folder
});

fn pack(binary: &Path, out: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .args(["dist", "--level", "0", "--binary"])
        .arg(binary);
    run(command.arg("--out").arg(out));
}

/// The one package whose name ends so.
fn package(ending: &str) -> PathBuf {
    let mut found = fs::read_dir(PACKAGES.path().join("packages"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending));
    let package = found.next().unwrap();
    assert_eq!(found.next(), None);
    package
}

/// Runs a program that must succeed.
fn run(command: &mut Command) -> String {
    let output = output(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{errors}");
    text
}

fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Returns whether a program is here, and says so if a test is skipped without it.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn present(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    let all = std::env::var_os("CYAN_TEST_ALL").is_some();
    assert!(there || !all, "`{program}` is missing");
    if !there {
        eprintln!("skipped: `{program}` is needed");
    }
    there
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn is_root() -> bool {
    let root = run(Command::new("id").arg("-u")).trim() == "0";
    if !root {
        eprintln!("skipped: only root can try this");
    }
    root
}

/// Deploys a new document with an installed binary: no variables, an empty home and folder.
fn try_out(binary: &Path) {
    let home = TempDir::new().unwrap();
    let work = home.path().join("work");
    fs::create_dir(&work).unwrap();
    let cyan = |arguments: &[&str]| {
        let mut command = Command::new(binary);
        command.args(arguments).current_dir(&work).env_clear();
        run(command.env("HOME", home.path()))
    };
    assert_eq!(cyan(&["--version"]), version());
    cyan(&["init"]);
    let said = cyan(&["deploy", "--yes"]);
    assert!(said.contains("2 created, 0 updated, 0 deleted"), "{said}");
    assert!(work.join("letter.txt").is_file());
}

fn version() -> String {
    concat!("cyan ", env!("CARGO_PKG_VERSION"), "\n").to_owned()
}

#[test]
fn pip_installs_the_wheel() {
    if !present("python3") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let environment = folder.path().join("environment");
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(&environment));
    let pip = || {
        let mut pip = Command::new(environment.join("bin/pip"));
        pip.arg("--disable-pip-version-check");
        pip
    };
    run(pip().args(["install", "--no-index"]).arg(package(".whl")));
    try_out(&environment.join("bin/cyan"));
    let shown = run(pip().args(["show", "cyan"]));
    assert!(
        shown.contains("\nSummary: One engine for every blueprint\n"),
        "{shown}"
    );
    // The record names every file, so that nothing is left.
    run(pip().args(["uninstall", "--yes", "cyan"]));
    assert!(!environment.join("bin/cyan").exists());
}

#[test]
fn npm_installs_the_package() {
    if !present("npm") {
        return;
    }
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("package.json"), "{}").unwrap();
    let npm = |program: &str, arguments: &[&str]| {
        let mut npm = Command::new(program);
        npm.args(arguments).current_dir(folder.path());
        npm.env("HOME", folder.path().join("home"));
        npm
    };
    let mut install = npm("npm", &["install", "--offline", "--no-audit", "--no-fund"]);
    run(install.arg(package(".tgz")));
    try_out(&folder.path().join("node_modules/.bin/cyan"));
    let said = run(&mut npm("npx", &["--offline", "cyan", "--version"]));
    assert_eq!(said, version());
}

#[test]
fn dpkg_unpacks_the_package() {
    if !present("dpkg-deb") {
        return;
    }
    let package = package(".deb");
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(root));
    try_out(&root.join("usr/bin/cyan"));
    for file in [
        "bash-completion/completions/cyan",
        "fish/vendor_completions.d/cyan.fish",
        "zsh/vendor-completions/_cyan",
        "man/man1/cyan-deploy.1.gz",
        "doc/cyan/copyright",
        "doc/cyan/changelog.gz",
    ] {
        let path = root.join("usr/share").join(file);
        assert!(fs::metadata(&path).unwrap().len() > 100, "{file}");
    }
    let others = root.join("usr/share/doc/cyan/LICENSES-THIRD-PARTY");
    let others = fs::read_to_string(others).unwrap();
    assert!(others.contains("\nserde_json "), "{others:.300}");
    assert!(others.contains("Permission is hereby granted"));
}

#[test]
fn dpkg_installs_the_package_if_its_dependencies_are_there() {
    if !present("dpkg") || !is_root() {
        return;
    }
    let package = package(".deb");
    let needed = run(Command::new("dpkg-deb")
        .arg("-f")
        .arg(&package)
        .arg("Depends"));
    assert!(needed.starts_with("libc6 (>= 2."), "{needed}");
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("var/lib/dpkg");
    for part in ["info", "updates"] {
        fs::create_dir_all(database.join(part)).unwrap();
    }
    let install = || {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg("--root").arg(folder.path()).arg("--install");
        output(dpkg.arg(&package))
    };
    fs::write(database.join("status"), "").unwrap();
    assert!(!install().status.success(), "there is no libc6");
    let libraries: Vec<&str> = needed
        .split(',')
        .filter_map(|one| one.split_whitespace().next())
        .collect();
    let mut query = Command::new("dpkg-query");
    let here = run(query.arg("--status").args(libraries));
    fs::write(database.join("status"), here).unwrap();
    let installed = install();
    let errors = String::from_utf8_lossy(&installed.stderr);
    assert!(installed.status.success(), "{errors}");
    try_out(&folder.path().join("usr/bin/cyan"));
    let mut verify = Command::new("dpkg");
    verify.arg("--root").arg(folder.path());
    assert_eq!(run(verify.args(["--verify", "cyan"])), "");
}

/// What the image contains is all that the binary needs.
#[test]
fn binary_deploys_in_the_file_system_of_the_image() {
    if !is_root() {
        return;
    }
    let folder = package("docker");
    let page = fs::read_to_string(folder.join("Dockerfile")).unwrap();
    assert!(page.starts_with("FROM scratch\nCOPY rootfs/ /\n"), "{page}");
    // Other tests compare the folder.
    let copy = TempDir::new().unwrap();
    let files = copy.path().join("rootfs");
    run(Command::new("cp")
        .arg("-a")
        .arg(folder.join("rootfs"))
        .arg(&files));
    let cyan = |arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(&files).args(["/usr/bin/cyan", "-C", "/work"]);
        command.args(arguments).env_clear().env("HOME", "/root");
        // Here `chroot` itself is looked for.
        command.env("PATH", std::env::var_os("PATH").unwrap());
        run(&mut command)
    };
    assert_eq!(cyan(&["--version"]), version());
    cyan(&["init"]);
    let said = cyan(&["deploy", "--yes"]);
    assert!(said.contains("2 created, 0 updated, 0 deleted"), "{said}");
    assert!(files.join("work/letter.txt").is_file());
}

#[test]
fn packages_of_the_same_binary_are_equal() {
    let again = TempDir::new().unwrap();
    pack(&PACKAGES.path().join("cyan"), again.path());
    let first = digests(&PACKAGES.path().join("packages"));
    assert!(first.len() > 10, "{first:?}");
    assert_eq!(first, digests(again.path()));
}

/// The digests of all files of a folder, by their relative paths.
fn digests(folder: &Path) -> BTreeMap<String, String> {
    let listed = run(Command::new("find")
        .args([".", "-type", "f"])
        .current_dir(folder));
    let mut summed = Command::new("sha256sum");
    let summed = run(summed.args(listed.lines()).current_dir(folder));
    summed
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(digest, path)| (path.to_owned(), digest.to_owned()))
        .collect()
}
