//! Checks that commands on pages have the effects that the pages show: README.md, `docs` and the
//! pages of `examples`.
//!
//! * A block of `yaml`, `json` or `toml` is a file if the text before it ends with its name and a
//!   colon, as in "`shop.blueprint.yaml`:". The reader sees the name, which the words after the
//!   opening fence would hide.
//! * ```` ```console ```` holds commands after `$ ` and their output, which is compared exactly.
//! * ```` ```sh ```` holds commands that run on a terminal; questions are answered with `y`. Each
//!   must succeed, or end with N if its comment says `exit code N`.
//!
//! A page has no steps that its reader does not see. Commands of a page run one after another, in a
//! folder that is their home and is shown as `~`. No other kind of block may contain commands, and
//! the binary must accept every command in prose. With `CYAN_ACCEPT` set (`cargo xtask accept`) the
//! output is written into the page.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Folders and files that examples create. A user may have run an example in place.
const MADE: [&str; 7] = [
    "public",
    "private",
    "dev",
    "release",
    "services",
    ".cyan",
    "site.tar.gz",
];

/// Returns all pages with commands, by their path from the root of the repository.
fn pages() -> Vec<String> {
    let mut found = vec!["README.md".to_owned()];
    let mut open = vec![PathBuf::from("docs"), PathBuf::from("examples")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if Path::new(ROOT).join(&path).is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}

fn text_of(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the folder of the clone in which the commands of a page start: that of the page, or an
/// empty one for `docs`.
fn start_of(page: &str) -> &str {
    match page {
        page if page.starts_with("docs/") => "../work",
        page => page.rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}

fn copy(from: &Path, to: &Path, without: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_name().unwrap();
        if without.iter().any(|made| name == *made) {
            continue;
        }
        if entry.is_dir() {
            copy(&entry, &to.join(name), &MADE);
        } else {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}

/// The folder in which the commands of one page run.
struct Session {
    place: TempDir,
    home: PathBuf,
    folder: PathBuf,
}

/// The subset of `cargo` that pages use. The binary is already built.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
    "install --path crates/cli" | "install --path crates/cli --no-default-features") exit 0 ;;
    "run --release -p cli -- "*) shift 5; exec cyan "$@" ;;
    "xtask "*) grep -q "\"$2\"" "$PAGE_ROOT/crates/xtask/src/main.rs" || { echo "no such task: $2"; exit 1; } ;;
    *) echo "not expected on a page: cargo $*"; exit 1 ;;
esac
"#;

/// The programs that install packages, with all that pages do with them. `crates/xtask/tests/dist.rs`
/// installs real packages.
const INSTALLERS: (&[&str], &str) = (
    &["docker", "npm", "npx", "pip", "sudo"],
    r#"#!/bin/sh
case "${0##*/} $*" in
    "pip install target/dist/packages/cyan-*.whl") ;;
    "npm install target/dist/packages/cyan-*.tgz") ;;
    "sudo apt install ./target/dist/packages/cyan_*.deb") ;;
    "docker build -t cyan target/dist/packages/docker") ;;
    "npx cyan "*) shift; exec cyan "$@" ;;
    "docker run --rm -v $PWD:/work cyan "*) ;;
    *) echo "not expected on a page: ${0##*/} $*"; exit 1 ;;
esac
"#,
);

/// Runs a line in the folder of the previous line, and records the folder in which it ends.
const LINE: &str =
    r#"cd "$PAGE_FOLDER"; eval "$PAGE_LINE"; code=$?; pwd > "$PAGE_PLACE/folder"; exit $code"#;

impl Session {
    fn new(page: &str) -> Session {
        let place = TempDir::new().unwrap();
        // The canonical path, as a shell shows its folder.
        let clone = place.path().canonicalize().unwrap().join("cyanotype");
        copy(
            &Path::new(ROOT).join("examples"),
            &clone.join("examples"),
            &[],
        );
        let home = clone.join(start_of(page));
        fs::create_dir_all(&home).unwrap();
        let bin = place.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let (installers, text) = INSTALLERS;
        let installers = installers.iter().map(|name| (*name, text));
        for (name, text) in installers.chain([("cargo", CARGO)]) {
            let program = bin.join(name);
            fs::write(&program, text).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let home = home.canonicalize().unwrap();
        Session {
            place,
            folder: home.clone(),
            home,
        }
    }

    fn run(&mut self, command: &mut Command, line: &str, answer: &str) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_cyan")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CYAN_"))
        {
            command.env_remove(name);
        }
        let mut child = command
            .current_dir(&self.folder)
            .env(
                "PATH",
                format!(
                    "{}:{}:{path}",
                    self.place.path().join("bin").display(),
                    binary.display()
                ),
            )
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C")
            .env("PAGE_ROOT", ROOT)
            .env("PAGE_PLACE", self.place.path())
            .env("PAGE_FOLDER", &self.folder)
            .env("PAGE_LINE", line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command without questions may have ended already, so the write may fail.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), answer.as_bytes());
        let output = child.wait_with_output().unwrap();
        if let Ok(folder) = fs::read_to_string(self.place.path().join("folder")) {
            self.folder = PathBuf::from(folder.trim_end());
        }
        output
    }

    /// Runs a line in a pipe. Returns the output of both streams, in order.
    fn prints(&mut self, line: &str) -> String {
        let mut command = Command::new("sh");
        let output = self.run(
            command.args(["-c", &format!("exec 2>&1; {LINE}")]),
            line,
            "",
        );
        let text = String::from_utf8(output.stdout).unwrap();
        text.replace(&*self.home.to_string_lossy(), "~")
    }

    /// Runs a line on a terminal. If a program is missing, prints a note and skips the line.
    fn succeeds(&mut self, page: &str, line: &str) {
        let (_, comment) = line.split_once('#').unwrap_or((line, ""));
        let code = comment
            .split_once("exit code ")
            .map_or("0", |(_, rest)| &rest[..1]);
        let program = line.split_whitespace().next().unwrap_or_default();
        for program in [program, "script"] {
            if !self
                .run(
                    Command::new("sh").args(["-c", "command -v \"$PAGE_LINE\""]),
                    program,
                    "",
                )
                .status
                .success()
            {
                return println!("skipped: there is no program `{program}` for `{line}` of {page}");
            }
        }
        let output = self.run(
            Command::new("script").args(["-qec", LINE, "/dev/null"]),
            line,
            "y\n",
        );
        let said = String::from_utf8_lossy(&output.stdout);
        let ended = output
            .status
            .code()
            .map_or_else(String::new, |code| code.to_string());
        assert_eq!(
            ended, code,
            "{page}: exit code of `{line}`, which printed\n{said}"
        );
    }
}

/// The name of the file that a block of this language is, by the last line of text above it.
fn file_above<'a>(line: &'a str, language: &str) -> Option<&'a str> {
    let (_, name) = line.strip_suffix("`:")?.rsplit_once('`')?;
    let (_, extension) = name.rsplit_once('.')?;
    (extension == language).then_some(name)
}

/// Runs the commands of a page. Compares their output with the page, or writes it there.
fn run_page(page: &str) {
    let text = text_of(page);
    let mut session = Session::new(page);
    let mut now = String::new();
    let mut kind: Option<&str> = None;
    let mut written: Option<(&str, String)> = None;
    let mut above = "";
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            now.push_str(&format!("{line}\n"));
            if kind.is_some() {
                kind = None;
                if let Some((name, text)) = written.take() {
                    let file = session.folder.join(name);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, text).unwrap();
                }
            } else {
                let word = fence.split(' ').next().unwrap_or_default();
                kind = Some(word);
                written = file_above(above, word).map(|name| (name, String::new()));
                above = "";
            }
            continue;
        }
        if let Some((_, text)) = &mut written {
            text.push_str(&format!("{line}\n"));
        }
        if kind.is_none() && !line.is_empty() {
            above = line;
        }
        match (kind, line.strip_prefix("$ ")) {
            (Some("console"), Some(command)) => {
                now.push_str(&format!("{line}\n{}", session.prints(command)))
            }
            // The output on the page belongs to the command before it.
            (Some("console"), None) => {}
            (Some("sh"), _) => {
                if !line.is_empty() {
                    session.succeeds(page, line);
                }
                now.push_str(&format!("{line}\n"));
            }
            _ => now.push_str(&format!("{line}\n")),
        }
    }
    if std::env::var_os("CYAN_ACCEPT").is_some() {
        fs::write(Path::new(ROOT).join(page), now).unwrap();
    } else {
        let diff = similar::TextDiff::from_lines(&text, &now);
        assert!(
            now == text,
            "{page}: run `cargo xtask accept` and read what changes:\n{}",
            diff.unified_diff()
        );
    }
}

/// Runs the pages of a group. Fails if there are fewer than expected.
fn run_group(group: &str, at_least: usize) {
    let group_pages: Vec<String> = pages()
        .into_iter()
        .filter(|page| group_of(page) == group)
        .collect();
    assert!(group_pages.len() >= at_least, "{group}: {group_pages:?}");
    group_pages.iter().for_each(|page| run_page(page));
}

/// Returns the group of a page. Groups run concurrently, and every page belongs to one.
fn group_of(page: &str) -> &'static str {
    match page.split('/').collect::<Vec<_>>()[..] {
        ["README.md"] => "readme",
        ["docs", "guide", _] => "guide",
        ["examples", ..] => "examples",
        _ => "docs",
    }
}

#[test]
fn commands_of_the_readme_print_what_it_shows() {
    run_group("readme", 1);
}

/// The README begins with two commands: one builds the program and deploys an example, the other
/// runs all tests as the checks before a merge do.
#[test]
fn first_commands_of_the_readme_deploy_and_test_from_a_clone() {
    let text = text_of("README.md");
    let (_, _, block) = blocks(&text)
        .into_iter()
        .find(|(_, fence, _)| fence == "sh")
        .unwrap();
    let [deploy, test] = block.lines().collect::<Vec<_>>()[..] else {
        panic!("two commands are expected: {block}");
    };
    let checks = text_of(".ci/run");
    assert!(
        checks
            .lines()
            .any(|line| line.split(" || ").next() == Some(test)),
        "`.ci/run` does not run `{test}`"
    );

    let mut session = Session::new("README.md");
    assert!(deploy.starts_with("cargo run "), "{deploy}");
    let output = session.prints(deploy);
    assert!(
        output.ends_with("5 created, 0 updated, 0 deleted\n"),
        "{output}"
    );
    let unit = session
        .home
        .join("examples/services/services/notes.service");
    assert!(fs::read_to_string(unit).unwrap().contains("ExecStart="));
}

#[test]
fn commands_of_the_guide_print_what_it_shows() {
    run_group("guide", 7);
}

#[test]
fn commands_of_the_examples_run() {
    run_group("examples", 9);
}

#[test]
fn commands_of_all_other_pages_run() {
    run_group("docs", 10);
}

/// Returns the blocks of a page: the line number, the words after the fence (`indented` for a block
/// without one), the text.
fn blocks(text: &str) -> Vec<(usize, String, String)> {
    let mut found: Vec<(usize, String, String)> = Vec::new();
    let (mut fenced, mut indented, mut after_empty) = (false, false, true);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(fence) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            if fenced {
                found.push((number, fence.to_owned(), String::new()));
            }
        } else if fenced || indented && line.starts_with("    ") {
            found.last_mut().unwrap().2.push_str(&format!("{line}\n"));
        } else {
            indented = after_empty && line.starts_with("    ");
            if indented {
                found.push((number, "indented".to_owned(), format!("{line}\n")));
            }
        }
        after_empty = line.is_empty();
    }
    found
}

#[test]
fn every_command_on_a_page_is_run() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = text_of(&page);
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim_start().starts_with("<!-- $") {
                wrong.push(format!(
                    "{page}:{number}: the reader does not see this step"
                ));
            }
        }
        for (number, fence, text) in blocks(&text) {
            let at = format!("{page}:{number}");
            let (language, hidden) = fence.split_once(' ').unwrap_or((&fence, ""));
            if hidden.contains('.') {
                wrong.push(format!(
                    "{at}: the reader does not see `{hidden}`; write it above the block"
                ));
            }
            match language {
                "console" | "sh" => {}
                "text" | "yaml" | "json" | "toml" => {
                    let is_command = |line: &str| {
                        ["$ ", "cyan ", "cargo "]
                            .iter()
                            .any(|begin| line.trim_start().starts_with(begin))
                    };
                    if let Some(line) = text.lines().find(|line| is_command(line)) {
                        wrong.push(format!(
                            "{at}: `{line}` is a command; use a block `console` or `sh`"
                        ));
                    }
                }
                "indented" => wrong.push(format!(
                    "{at}: put a fence with a language around this block"
                )),
                other => wrong.push(format!("{at}: a block `{other}` is not known to this test")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the commands in the prose of a text: code spans that begin with `cyan`.
fn commands_in_prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let prose: Vec<&str> = text
        .lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fence && !fenced
        })
        .map(str::trim)
        .collect();
    let spans = prose.join(" ");
    spans
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| span.starts_with("cyan "))
        .map(str::to_owned)
        .collect()
}

/// Whether the binary accepts a command. Words in capitals, `..` and `[=ID]` are placeholders.
fn is_understood(command: &str) -> Result<(), String> {
    let first = command
        .split([';', '|', '>', '&'])
        .next()
        .unwrap_or_default()
        .replace("[=ID]", "");
    let words: Vec<&str> = first
        .split_whitespace()
        .skip(1)
        .take_while(|word| *word != "#")
        .collect();
    let words = words
        .into_iter()
        .filter(|word| *word != "..")
        .map(|word| if word == "N" { "1" } else { word });
    let output = Command::new(env!("CARGO_BIN_EXE_cyan"))
        .args(words)
        .arg("--help")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("`{command}`: {said}"))
    }
}

#[test]
fn commands_in_prose_and_help_are_understood() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut check = |from: &str, text: &str| {
        for command in commands_in_prose(text) {
            count += 1;
            wrong.extend(
                is_understood(&command)
                    .err()
                    .map(|error| format!("{from}: {error}")),
            );
        }
    };
    for page in pages() {
        check(&page, &text_of(&page));
    }
    // Check the help of every command and subcommand.
    let mut open = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let output = Command::new(env!("CARGO_BIN_EXE_cyan"))
            .args(&words)
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        check(&format!("cyan {} --help", words.join(" ")), &help);
        let (_, below) = help.split_once("\nCommands:\n").unwrap_or_default();
        for line in below.lines().take_while(|line| !line.is_empty()) {
            let name = line.split_whitespace().next().unwrap_or_default();
            if name != "help" {
                open.push([&words[..], &[name.to_owned()]].concat());
            }
        }
    }
    assert!(count > 120, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
