//! The core uses no clock, randomness, environment or file system.
//!
//! `clippy.toml` lists the banned items and their replacements. A crate of the core enables the two
//! lints in its `lib.rs`; they are off elsewhere. The tests here check that every crate of the core
//! enables them and that no file disables them.

use crate::arrows::table;

const BAN: &str = "#![warn(clippy::disallowed_methods, clippy::disallowed_types)]";

#[test]
fn crates_of_the_core_turn_the_bans_on() {
    let findings: Vec<String> = table()
        .iter()
        .filter(|(_, row)| row.core)
        .map(|(name, _)| format!("crates/{name}/src/lib.rs"))
        .filter(|path| !crate::read(path).lines().any(|line| line == BAN))
        .collect();
    crate::none(
        &findings,
        &format!("a crate of the core has the line `{BAN}` in its lib.rs"),
    );
}

#[test]
fn nothing_in_the_core_lifts_the_bans() {
    let mut findings = Vec::new();
    for (name, _) in table().iter().filter(|(_, row)| row.core) {
        for path in crate::files_under(&format!("crates/{name}/src"), ".rs") {
            let text = crate::read(&path);
            let lifted = text
                .lines()
                .any(|line| line.contains("clippy::disallowed_") && line.trim() != BAN);
            let manner = ["std::fs", "std::env", "std::process", "tokio::"];
            // Locks and channels need no runtime.
            let text = text.replace("tokio::sync::", "");
            let outside = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .find_map(|line| manner.into_iter().find(|one| names(line, one)));
            if lifted {
                findings.push(format!("{path} lifts the ban"));
            }
            if let Some(outside) = outside {
                findings.push(format!("{path} names `{outside}`"));
            }
        }
    }
    crate::none(
        &findings,
        "ask for it with a question of `World`, or take it as an argument; `run::shell` answers",
    );
}

/// Whether a line contains the path itself and not a longer one (`other_tokio::`).
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|character| {
            character.is_alphanumeric() || character == '_' || character == ':'
        })
    })
}
