//! Checks that a type name is defined at most twice in the workspace, so that it has one meaning.
//!
//! Structs, unions, enums, traits and type aliases in `crates/*/src` count, associated types and
//! tests do not. Two definitions are allowed for types that mean the same in two crates.

use std::collections::BTreeMap;

use crate::rust_source::{self, SourceFile};

/// The limit for definitions of a name.
const MOST: usize = 2;

#[test]
fn a_type_name_is_defined_at_most_twice() {
    let found = frequent(rust_source::all());
    let findings: Vec<String> = found
        .iter()
        .map(|(name, places)| {
            format!(
                "{name}: {} definitions\n    {}",
                places.len(),
                places.join("\n    ")
            )
        })
        .collect();
    crate::none(
        &findings,
        "give a type a name that a reader understands without its file",
    );
}

/// Returns the names with too many definitions, each with its places.
fn frequent(files: &[SourceFile]) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_searched(&file.path)) {
        for (name, line) in &file.type_names {
            found
                .entry(name)
                .or_default()
                .push(format!("{}:{line}", file.path));
        }
    }
    found.retain(|_, places| places.len() > MOST);
    found
}

/// Whether a path is a source file of a crate, and no test, example or benchmark.
fn is_searched(path: &str) -> bool {
    let mut parts = path.split('/').skip(2);
    parts.next() == Some("src") && !parts.any(|part| part == "tests" || part == "tests.rs")
}

#[test]
fn the_third_definition_of_a_name_is_found() {
    let file = |path: &str, text: &str| rust_source::parse(path, text);
    let files = [
        file(
            "crates/a/src/lib.rs",
            "struct Key;\nmod inner {\n    type Key = u32;\n}\n",
        ),
        file(
            "crates/b/src/lib.rs",
            "fn f() {\n    enum Key {}\n}\nstruct Pair;\ntrait Other {}\n",
        ),
    ];
    let found = frequent(&files);
    let places = [
        "crates/a/src/lib.rs:1",
        "crates/a/src/lib.rs:3",
        "crates/b/src/lib.rs:2",
    ];
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        [("Key", places.map(str::to_owned).to_vec())]
    );
}

#[test]
fn associated_types_and_tests_define_no_name() {
    let file = |path: &str, text: &str| rust_source::parse(path, text);
    let own = "struct Key;\nstruct Pair;\nimpl Iterator for Key {\n    type Item = Key;\n}\n\
               impl Iterator for Pair {\n    type Item = Pair;\n}\ntrait Items {\n    type Item;\n}\n\
               #[cfg(test)]\nmod tests {\n    struct Key;\n    struct Key2;\n}\n";
    let files = [
        file("crates/a/src/lib.rs", own),
        file("crates/a/src/inner/tests.rs", "struct Key;\n"),
        file("crates/a/tests/all.rs", "struct Key;\n"),
        file("crates/a/examples/one.rs", "struct Key;\n"),
    ];
    assert!(frequent(&files).is_empty());
}
