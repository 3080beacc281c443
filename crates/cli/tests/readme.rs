//! What the pages show is what happens: the commands of README.md and of docs run as they stand there and print what stands
//! below them.
//!
//! A block ```` ```yaml NAME ```` (or `json`, `toml`) of a page is a file of that name. A block ```` ```console ```` holds commands after
//! `$ ` and what they print. A line `<!-- $ COMMAND -->` is a step that the reader need not see; `$EXAMPLES` is the folder of the
//! examples. Each page has a folder of its own, which is shown as `~`.
//!
//! With `CYAN_ACCEPT` set (`cargo xtask accept`) the output of now is written into the page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

fn page(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// README.md and all pages below docs but the reference, which is generated.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![page("README.md")];
    for folder in ["docs", "docs/guide"] {
        let entries = fs::read_dir(page(folder)).expect("there are docs");
        let files = entries.map(|entry| entry.expect("it can be listed").path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    pages.sort();
    pages
}

fn text_of(page: &Path) -> String {
    fs::read_to_string(page).expect("a page is text")
}

/// What a line for the shell prints, both streams in the order in which they came, and whether it went well.
fn shell(line: &str, folder: &Path) -> (String, bool) {
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
        .env("XDG_CONFIG_HOME", folder.join(".config"))
        .env("EXAMPLES", page("examples").canonicalize().expect("there are examples"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .output()
        .expect("there is a shell");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    (text.replace(&folder.display().to_string(), "~"), output.status.success())
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
        if let Some(hidden) = line.strip_prefix("<!-- $ ").and_then(|rest| rest.strip_suffix(" -->")) {
            let (said, well) = shell(hidden, folder);
            assert!(well, "{}: {hidden}: {said}", file.display());
        }
        match line.strip_prefix("$ ") {
            Some(command) if in_console => {
                now.push_str(&format!("{line}\n{}", shell(command, folder).0));
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
fn commands_of_the_pages_print_what_they_show() {
    let mut with_commands = 0;
    for file in pages() {
        let text = text_of(&file);
        if text.contains("```console") {
            with_commands += 1;
            let place = TempDir::new().expect("there is a place for temporary files");
            // As a shell names the folder it is in, also where a part of its path is a link.
            let folder = place.path().canonicalize().expect("it is there");
            shows(&file, &text, &folder);
        }
    }
    assert!(with_commands >= 12, "{with_commands}");
}

/// Commands that build the project, with the test that runs each in another way.
const BUILDS: &[(&str, &str)] = &[
    ("cargo install --path crates/cli", "the_build_commands_name_what_is_there"),
    ("cargo run --release -q -p cli -- key new", "the_larger_example_of_the_readme_deploys_the_site"),
    ("cargo xtask bench", "the_build_commands_name_what_is_there"),
    ("cargo xtask performance", "the_build_commands_name_what_is_there"),
];

#[test]
fn every_command_of_a_page_stands_in_a_block_that_runs() {
    const PROGRAMS: &[&str] =
        &["cyan ", "cargo ", "$ ", "sed ", "echo ", "export ", "mkdir ", "cd ", "openssl ", "sqlite3 "];
    let mut wrong = Vec::new();
    for file in pages() {
        let text = text_of(&file);
        let mut fence: Option<&str> = None;
        for (at, line) in text.lines().enumerate() {
            if let Some(kind) = line.strip_prefix("```") {
                fence = if fence.is_some() { None } else { Some(kind) };
                if ["sh", "bash", "shell", "text"].contains(&kind) && kind != "text" {
                    wrong.push(format!("{}:{}: a block `{kind}` does not run", file.display(), at + 1));
                }
                continue;
            }
            let shown = match fence {
                Some("console") => continue,
                Some(_) => line.trim_start().strip_prefix("$ "),
                None => {
                    line.strip_prefix("    ").filter(|rest| PROGRAMS.iter().any(|program| rest.starts_with(program)))
                }
            };
            if let Some(command) = shown
                && !BUILDS.iter().any(|(known, _)| command.starts_with(known))
            {
                wrong.push(format!("{}:{}: {command}", file.display(), at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "no test runs these:\n{}", wrong.join("\n"));
}

#[test]
fn commands_within_sentences_exist_with_their_flags() {
    let place = TempDir::new().expect("there is a place for temporary files");
    let mut help: BTreeMap<String, String> = BTreeMap::new();
    let mut help_of = |words: &str| {
        help.entry(words.to_owned()).or_insert_with(|| shell(&format!("cyan {words} --help"), place.path()).0).clone()
    };
    let mut seen = 0;
    for file in pages() {
        let text = text_of(&file);
        let outside: String = text.split("```").step_by(2).collect();
        for span in outside.split('`').skip(1).step_by(2).filter_map(|span| span.strip_prefix("cyan ")) {
            let place = format!("{}: `cyan {span}`", file.display());
            let words: Vec<&str> =
                span.split_whitespace().take_while(|word| !["|", ">", "&&", ";"].contains(word)).collect();
            let named: Vec<&&str> = words.iter().filter(|word| word.starts_with(char::is_lowercase)).collect();
            let Some(command) = named.first() else { continue };
            let listed = format!("\n  {command} ");
            let all = help_of("");
            let is_alias = ["plan", "preview", "apply", "up", "output"].contains(*command);
            assert!(all.contains(&listed) || is_alias || **command == "help", "{place}: no such command");
            let group = ["state", "key"].contains(*command).then(|| named.get(1)).flatten();
            let full = match group {
                Some(below) if below.contains('/') => command.to_string(),
                Some(below) => format!("{command} {below}"),
                None => command.to_string(),
            };
            let own = help_of(&full);
            for flag in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                let flag = flag.split('=').next().unwrap_or(flag);
                assert!(own.contains(flag), "{place}: no flag {flag}");
            }
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn the_larger_example_of_the_readme_deploys_the_site() {
    let place = TempDir::new().expect("there is a place for temporary files");
    let text = text_of(&page("README.md"));
    let command = text.lines().find_map(|line| line.strip_prefix("    cargo run ")).expect("it begins with a command");
    let command = format!("cargo run {command}").replace("cargo run --release -q -p cli --", "cyan");
    let made = "public private site.tar.gz .cyan";
    let copy = format!("cp -R \"$EXAMPLES\" . && cd examples/static-site && rm -rf {made}");
    assert_eq!(shell(&copy, place.path()).0, "");
    let said = shell(&command, place.path()).0;
    assert!(said.ends_with("19 created, 0 updated, 0 deleted\n"), "{said}");
}

/// Building takes minutes and is done before this test: here what these commands name is looked for.
#[test]
fn the_build_commands_name_what_is_there() {
    let manifest = text_of(&page("crates/cli/Cargo.toml"));
    assert!(manifest.contains("[[bin]]\nname = \"cyan\""), "`cargo install --path crates/cli` installs `cyan`");
    let alias = text_of(&page(".cargo/config.toml"));
    assert!(alias.contains("xtask = \"run -q --package xtask --\""), "{alias}");
    let workshop = text_of(&page("crates/xtask/src/main.rs"));
    for file in pages() {
        for command in text_of(&file).lines().filter_map(|line| line.strip_prefix("    cargo xtask ")) {
            let name = command.split(' ').next().unwrap_or(command);
            assert!(workshop.contains(&format!("\"{name}\"")), "{}: cargo xtask {name}", file.display());
        }
    }
}
