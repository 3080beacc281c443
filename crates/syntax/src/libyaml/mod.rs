//! Reads YAML 1.1 as libyaml does, the library that reads YAML for Python.
//!
//! ```text
//! text ── scanner ── tokens ── composer ── tree
//!            └ scalars, tags          └ problem
//! ```
//!
//! YAML 1.2 gives some texts another meaning, and libyaml is neither as strict nor as free as its
//! specification. A language whose texts libyaml reads needs exactly its trees: tabs between
//! tokens, quoted texts whose lines are not indented, the line breaks of YAML 1.1. The composer
//! follows PyYAML where that adds a rule: one document, and no anchor twice.
//!
//! Not here: recovery from mistakes. A text that libyaml refuses is read again by `yaml`, which
//! finds all mistakes and keeps the rest of the tree.

mod composer;
mod cursor;
mod problem;
mod scalars;
mod scanner;
mod tags;
mod token;

use std::ops::Range;

use diag::{Diagnostics, FileId};

use self::composer::Composer;
use self::problem::{Problem, Scan};
use crate::place::line_start;
use crate::{Format, MAX_COPIED, MAX_NODES, Tree, alias, simple, yaml};

/// Parses the part of a text that is the document. Every text has a tree; what libyaml refuses is
/// reported.
pub(crate) fn parse(file: FileId, text: &str, part: Range<usize>, found: &mut Diagnostics) -> Tree {
    let read = &text[..part.end];
    if part.start == 0
        && !has_special_breaks(read)
        && let Some(tree) = simple::parse(file, read)
    {
        return tree;
    }
    let problem = match compose(file, read, part.start, found) {
        Ok(tree) => return tree,
        Err(problem) => problem,
    };
    // The other parser may also report what libyaml accepts: such mistakes come before the problem.
    let mut others = Diagnostics::new();
    let tree = yaml::parse_from(file, read, part.start, &mut others);
    let line = line_start(read, problem.start()) as u32;
    others.retain(|other| other.span().end >= line);
    if !others.has_errors() {
        others.push(problem.diagnostic(file, read));
    }
    found.append(others);
    tree
}

fn compose(file: FileId, text: &str, from: usize, found: &mut Diagnostics) -> Scan<Tree> {
    // libyaml skips one byte order mark before its own text begins.
    let from = if text[from..].starts_with('\u{feff}') {
        from + '\u{feff}'.len_utf8()
    } else {
        from
    };
    let forbidden = text[from..]
        .char_indices()
        .find(|(_, character)| !is_allowed(*character));
    if let Some((at, _)) = forbidden {
        let words = "control characters are not allowed";
        return Err(Problem::new(words, from + at));
    }
    let mut composer = Composer::new(file, text, from);
    let mut root = composer.document()?;
    if composer.has_aliases
        && let Some(root) = &mut root
    {
        let most = MAX_NODES.min(composer.nodes + MAX_COPIED);
        alias::resolve(root, text, composer.nodes, most, found);
    }
    Ok(Tree {
        root,
        comments: composer.scanner.cursor.comments,
        format: Format::Yaml,
    })
}

/// Whether a text has a line break that only YAML 1.1 knows.
fn has_special_breaks(text: &str) -> bool {
    !text.is_ascii() && text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}

/// Whether a text may contain a character.
fn is_allowed(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
            | '\u{10000}'..
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines that are often simple, with indentation that often fits.
    fn lines() -> impl Strategy<Value = String> {
        let content = prop::sample::select(vec![
            "a:",
            "b: 1",
            "c: x y",
            "d: \"q # r\"",
            "e: 'q: r' # c",
            "- f",
            "- g: 1",
            "- ",
            "-",
            "- - h",
            "- i:",
            "# c",
            "",
            "k: -1",
            "n: ${f(\"x\")} y",
            "r:  s  ",
            "u: v#w",
            "w: x:y",
            "x: é",
            "- \"y\"",
            "- z # c",
            "-  - a",
            "-   b:   c",
            "a:   # c",
            "k: ~",
            "l: $",
            "n: .5",
            "{a: b}",
            "x: [a, b]",
            "- &x a",
            "- *x",
            "a: |",
            "!t b: c",
        ]);
        let line = (0usize..4, content)
            .prop_map(|(indent, content)| format!("{}{content}\n", "  ".repeat(indent)));
        prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Texts that the fast parser accepts have the same tree here.
        #[test]
        fn the_fast_parser_gives_the_same_tree(text in lines(), cut in any::<prop::sample::Index>()) {
            let mut at = cut.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            for text in [&text, &text[..at]] {
                let file = FileId::new(0);
                if let Some(simple) = simple::parse(file, text) {
                    let own = compose(file, text, 0, &mut Diagnostics::new());
                    prop_assert!(own.is_ok(), "{own:?}");
                    prop_assert_eq!(format!("{:?}", own.ok()), format!("{:?}", Some(simple)));
                }
            }
        }

        /// Any text gives a tree whose places are within the text.
        #[test]
        fn any_text_gives_a_tree(text in "[-?:,\\[\\]{}#&*!|>'\"%@` \t\n\r\\\\ab0<=~.\u{85}\u{2028}\u{feff}é]{0,40}") {
            let mut found = Diagnostics::new();
            let tree = parse(FileId::new(0), &text, 0..text.len(), &mut found);
            if let Some(root) = &tree.root {
                prop_assert!(text.get(root.span_with_properties().range()).is_some());
            }
            for one in found.iter() {
                prop_assert!(text.get(one.span().range()).is_some(), "{:?}", one);
            }
        }
    }
}
