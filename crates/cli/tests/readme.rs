//! What the pages show is what happens: the commands of README.md and of the guide run as they stand there and print what
//! stands below them.
//!
//! A block ```` ```yaml NAME ```` (or `json`, `toml`) of the guide is a file of that name, a block ```` ```console ```` holds commands after
//! `$ ` and what they print.
//!
//! With `CYAN_ACCEPT` set (`cargo xtask accept`) the output of now is written into the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

fn page(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The first document of a page.
fn document(page: &str) -> String {
    let (_, rest) = page.split_once("```yaml\n").expect("the page shows a document");
    rest.split_once("```").expect("its block has an end").0.to_owned()
}

/// What a line for the shell prints, both streams in the order in which they came.
fn shell(line: &str, folder: &Path) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_cyan")).parent().expect("it lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CYAN_")) {
        command.env_remove(name);
    }
    let output = command
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("XDG_CONFIG_HOME", folder.join("home"))
        .env("NO_COLOR", "1")
        .output()
        .expect("there is a shell");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn commands_of_the_readme_print_what_it_shows() {
    let place = TempDir::new().expect("there is a place for temporary files");
    let text = fs::read_to_string(page("README.md")).expect("there is a README");
    fs::write(place.path().join("garden.blueprint.yaml"), document(&text)).expect("the document can be written");

    shows(&page("README.md"), &text, place.path());
}

/// Runs the commands of a page in a folder, and compares what they print with what the page shows, or writes it there.
fn shows(file: &Path, text: &str, folder: &Path) {
    let mut now = String::new();
    let mut in_console = false;
    let mut written: Option<(&str, String)> = None;
    for line in text.lines() {
        match line {
            "```console" => in_console = true,
            "```" => {
                in_console = false;
                if let Some((name, text)) = written.take() {
                    let file = folder.join(name);
                    fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("the folder can be made");
                    fs::write(file, text).expect("the file can be written");
                }
            }
            _ => {}
        }
        if let Some((_, text)) = &mut written {
            text.push_str(&format!("{line}\n"));
        }
        if let Some((_, name)) = line.strip_prefix("```").and_then(|fence| fence.split_once(' ')) {
            written = Some((name, String::new()));
        }
        match line.strip_prefix("$ ") {
            Some(command) if in_console => {
                now.push_str(&format!("{line}\n{}", shell(command, folder)));
            }
            // Output as it stood in the page: what stands there now comes from the command.
            _ if in_console && line != "```console" => {}
            _ => now.push_str(&format!("{line}\n")),
        }
    }
    if std::env::var_os("CYAN_ACCEPT").is_some() {
        fs::write(file, now).expect("the page can be written");
    } else {
        let name = file.display();
        assert!(now == text, "{name}: run `cargo xtask accept` and look at what changes; now it is:\n{now}");
    }
}

#[test]
fn commands_of_the_guide_print_what_it_shows() {
    let mut pages: Vec<PathBuf> = fs::read_dir(page("docs/guide"))
        .expect("there is a guide")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    pages.sort();
    assert!(pages.len() >= 2);
    for file in pages {
        let place = TempDir::new().expect("there is a place for temporary files");
        let text = fs::read_to_string(&file).expect("a page is text");
        shows(&file, &text, place.path());
    }
}

#[test]
fn the_first_command_of_the_readme_deploys_the_site() {
    let place = TempDir::new().expect("there is a place for temporary files");
    let text = fs::read_to_string(page("README.md")).expect("there is a README");
    let command = text.lines().find_map(|line| line.strip_prefix("    cargo run ")).expect("it begins with a command");
    let command = format!("cargo run {command}").replace("cargo run --release -q -p cli --", "cyan");
    let made = "public private site.tar.gz .cyan";
    let copy = format!("cp -R '{}' . && cd examples/static-site && rm -rf {made}", page("examples").display());
    assert_eq!(shell(&copy, place.path()), "");
    let said = shell(&command, place.path());
    assert!(said.ends_with("19 created, 0 updated, 0 deleted\n"), "{said}");
}

#[test]
fn the_document_of_the_guide_deploys() {
    let place = TempDir::new().expect("there is a place for temporary files");
    let guide = fs::read_to_string(page("docs/guide.md")).expect("there is a guide");
    fs::write(place.path().join("garden.blueprint.yaml"), document(&guide)).expect("the document can be written");
    let last = |command: &str| shell(command, place.path()).lines().next_back().unwrap_or_default().to_owned();
    assert_eq!(last("cyan deploy --yes --var owner=Ada"), "3 created, 0 updated, 0 deleted");
    assert_eq!(last("cyan deploy --yes --var owner=Ada --var beds=3"), "0 created, 1 updated, 0 deleted");
    shell("cyan stage --var owner=Grace --var beds=3 --out change.plan", place.path());
    assert_eq!(last("cyan deploy change.plan"), "0 created, 1 updated, 0 deleted");
    shell("echo mine >> garden/sign.txt", place.path());
    assert_eq!(last("cyan drift"), "1 drifted, 0 vanished");
    assert_eq!(last("cyan destroy --yes"), "0 created, 0 updated, 3 deleted");
}
