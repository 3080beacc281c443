//! Checks that a provider, store, source or dialect is named only in its own folder, where it is
//! registered, and in tests.

/// A crate that contains implementations.
struct Kind {
    of: &'static str,
    /// Files and folders that may name an implementation.
    may_name: &'static [&'static str],
    /// Folders of the crate that contain no implementation.
    shared: &'static [&'static str],
}

const KINDS: [Kind; 3] = [
    Kind {
        of: "providers",
        may_name: &[
            "crates/cli/src/registry.rs",
            "crates/testkit/",
            "crates/xtask/",
            "crates/providers/tests/",
            "crates/providers/examples/",
            "crates/evaluate/tests/",
            "crates/plan/tests/",
            "crates/apply/tests/",
            "crates/run/tests/",
        ],
        shared: &[],
    },
    Kind {
        of: "stores",
        may_name: &[
            "crates/cli/src/registry.rs",
            "crates/testkit/",
            "crates/xtask/",
            "crates/stores/tests/",
            "crates/stores/benches/",
            // This test takes leases as another process would.
            "crates/cli/tests/crashes/writers.rs",
        ],
        shared: &[],
    },
    Kind {
        of: "sources",
        may_name: &[
            "crates/cli/src/registry.rs",
            "crates/testkit/",
            "crates/xtask/",
            "crates/sources/tests/",
        ],
        shared: &[],
    },
];

#[test]
fn implementations_are_named_where_they_are_registered_only() {
    let mut findings = Vec::new();
    for kind in &KINDS {
        let home = format!("crates/{}/src/", kind.of);
        let mut implementations = crate::folders_in(&home);
        implementations.retain(|name| !kind.shared.contains(&name.as_str()));
        for path in crate::files_under("crates", ".rs") {
            if kind
                .may_name
                .iter()
                .any(|allowed| path.starts_with(allowed))
            {
                continue;
            }
            let at_home = path
                .strip_prefix(&home)
                .map(|rest| rest.split('/').next().unwrap_or_default());
            let prefix = if at_home.is_some() { "crate" } else { kind.of };
            for (number, line) in (1..).zip(crate::read(&path).lines()) {
                let foreign = named(line, prefix).into_iter().find(|name| {
                    at_home != Some(name) && implementations.iter().any(|one| one == name)
                });
                if let Some(name) = foreign {
                    findings.push(format!("{path}:{number} names `{}::{name}`", kind.of));
                }
            }
        }
    }
    crate::none(
        &findings,
        "use the contract; code about one implementation belongs into its folder",
    );
}

/// Returns the names that a line uses from a crate: `a` of `crate_name::a::B`, `a` and `b` of
/// `crate_name::{a::B, b}`.
fn named<'a>(line: &'a str, crate_name: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    if line.trim_start().starts_with("//") {
        return names;
    }
    let prefix = format!("{crate_name}::");
    for (at, _) in line.match_indices(&prefix) {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|character| character.is_alphanumeric() || "_:".contains(character)) {
            continue;
        }
        let rest = &line[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split('}').next().unwrap_or_default();
                names.extend(group.split(',').map(|item| word(item.trim())));
            }
            None => names.push(word(rest)),
        }
    }
    names
}

fn word(text: &str) -> &str {
    let end = text
        .find(|character: char| !character.is_alphanumeric() && character != '_')
        .unwrap_or(text.len());
    &text[..end]
}

#[test]
fn names_are_found_in_paths_and_groups() {
    assert_eq!(named("use stores::sqlite::Sqlite;", "stores"), ["sqlite"]);
    assert_eq!(
        named("use stores::{memory, sqlite::Sqlite};", "stores"),
        ["memory", "sqlite"]
    );
    assert_eq!(named("// stores::sqlite", "stores"), [""; 0]);
    assert_eq!(named("let a = my_stores::sqlite();", "stores"), [""; 0]);
}
