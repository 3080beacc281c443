//! YAML: trees, places and diagnostics of whole texts.

mod show;

use show::{diagnostics, one_line, spans};
use syntax::Format::Yaml;

#[track_caller]
fn check(text: &str, tree: &str, found: &[&str]) {
    assert_eq!(
        (one_line(text, Yaml).as_str(), diagnostics(text, Yaml)),
        (tree, found.iter().map(ToString::to_string).collect()),
        "{text}"
    );
}

#[test]
fn a_map() {
    check("a: 1", "{a: 1}", &[]);
    assert_eq!(spans("a: 1", Yaml), ["a: 1", "a", "1"]);
}
