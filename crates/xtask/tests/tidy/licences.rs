//! Checks the origin and the licences of dependencies.

use crate::metadata::{self, text};

/// Licences that allow a binary under MIT or Apache-2.0. MPL-2.0 applies to single files, which
/// this project does not change. OpenSSL and bzip2-1.0.6 are for bundled C code.
const LICENCES: [&str; 16] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "bzip2-1.0.6",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "OpenSSL",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Forbidden dependencies, with the reason.
const BANNED: [(&str, &str); 2] = [
    (
        "ring",
        "a second crypto provider makes the process-wide default ambiguous; take the feature for aws-lc-rs",
    ),
    (
        "openssl-sys",
        "needs a library of the machine; TLS is rustls with aws-lc-rs",
    ),
];

#[test]
fn dependencies_come_from_the_registry_on_allowed_terms() {
    let ours = crate::root().join("crates").to_string_lossy().into_owned();
    let mut findings = Vec::new();
    for package in metadata::all() {
        let (name, version) = (text(&package, "name"), text(&package, "version"));
        match package["source"].as_str() {
            None if text(&package, "manifest_path").starts_with(&ours) => continue,
            Some(source) if source.starts_with("registry+") => {}
            other => findings.push(format!(
                "{name} {version} comes from {}",
                other.unwrap_or("a folder")
            )),
        }
        let terms = text(&package, "license");
        if !allowed(terms) {
            findings.push(format!("{name} {version} is under `{terms}`"));
        }
    }
    crate::none(
        &findings,
        "take another crate; or, if the terms fit, add them to the list with a word on why",
    );
}

#[test]
fn nothing_banned_is_built() {
    let built = built_here();
    let findings: Vec<String> = BANNED
        .iter()
        .filter(|(name, _)| built.iter().any(|one| one == name))
        .map(|(name, why)| format!("{name}: {why}"))
        .collect();
    crate::none(
        &findings,
        "find the feature that brings it in with `cargo tree --invert NAME`",
    );
}

#[test]
fn deny_toml_has_the_same_lists() {
    let quoted = |text: &str| -> Vec<String> {
        text.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let configuration = crate::read("deny.toml");
    let section = |head: &str| {
        let after = configuration.split(head).nth(1).unwrap_or_default();
        after.split("\n]").next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        quoted(&section("\nallow = [")),
        LICENCES,
        "correct `licenses.allow` in deny.toml"
    );
    let banned: Vec<String> = BANNED
        .iter()
        .flat_map(|(name, reason)| [*name, *reason])
        .map(str::to_owned)
        .collect();
    assert_eq!(
        quoted(&section("\ndeny = [")),
        banned,
        "correct `bans.deny` in deny.toml"
    );
}

/// Returns the packages that are built on this machine. The lock file also has packages that no
/// feature enables.
fn built_here() -> Vec<String> {
    let output = std::process::Command::new(env!("CARGO"))
        .current_dir(crate::root())
        .args([
            "tree",
            "--workspace",
            "--offline",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .output()
        .expect("cargo runs these tests, so it can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8_lossy(&output.stdout);
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// Whether the allowed licences satisfy a licence expression.
fn allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = either(&mut words);
    met && words.peek().is_none()
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Tokens<'_>) -> bool {
    let mut met = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words);
    }
    met
}

fn all_of(words: &mut Tokens<'_>) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: &mut Tokens<'_>) -> bool {
    match words.next() {
        Some("(") => {
            let met = either(words);
            words.next() == Some(")") && met
        }
        Some(word) => {
            // An exception only adds permissions.
            if words.next_if_eq(&"WITH").is_some() {
                words.next();
            }
            LICENCES.contains(&word)
        }
        None => false,
    }
}

#[test]
fn licence_expressions_are_understood() {
    assert!(allowed("MIT OR LGPL-2.1-or-later"));
    assert!(allowed("MIT/Apache-2.0"));
    assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(allowed("Apache-2.0 WITH LLVM-exception"));
    assert!(!allowed("MIT AND GPL-3.0-only"));
    assert!(!allowed("(MIT OR Apache-2.0) AND GPL-3.0-only"));
    assert!(!allowed("GPL-3.0-only OR (MIT AND AGPL-3.0-only)"));
    assert!(!allowed(""));
}
