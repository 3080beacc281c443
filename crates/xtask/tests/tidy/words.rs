//! Words that the project no longer uses: private vocabulary for which the field has a term.
//!
//! `retired_words.txt` lists them with the terms that replace them. They may occur in no
//! identifier, comment, message or page.

use std::collections::BTreeMap;

use crate::rust_source;

const TABLE: &str = "crates/xtask/tests/tidy/retired_words.txt";

/// This file, which contains retired words in its tests.
const SELF_PATH: &str = "crates/xtask/tests/tidy/words.rs";

/// The searched folders, with the endings of the files.
const SEARCHED: [(&str, &[&str]); 3] = [
    ("crates", &[".rs", ".md", ".toml", ".out", ".snap"]),
    ("docs", &[".md"]),
    ("examples", &[".md", ".yaml"]),
];

/// The searched pages in the folder of the workspace.
const PAGES: [&str; 4] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
];

#[test]
fn retired_words_do_not_return() {
    let table = Table::read(&crate::read(TABLE));
    let mut paths: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    for (folder, endings) in SEARCHED {
        paths.extend(
            endings
                .iter()
                .flat_map(|ending| crate::files_under(folder, ending)),
        );
    }
    let mut findings = Vec::new();
    for path in paths
        .iter()
        .filter(|path| !path.contains("/tests/data/") && *path != SELF_PATH)
    {
        for (line, word, replacement) in table.occurrences(&crate::read(path)) {
            findings.push(format!("{path}:{line} `{word}`: say {replacement}"));
        }
    }
    for file in rust_source::all() {
        for (name, line) in file.modules.iter().flat_map(|module| &module.defined) {
            if let Some(replacement) = table.names.get(name) {
                findings.push(format!("{}:{line} `{name}`: say {replacement}", file.path));
            }
        }
    }
    crate::none(&findings, "use the standard term");
}

/// The table of retired words.
#[derive(Default)]
struct Table {
    /// Phrases of lower-case words, by their first word, each with the replacement.
    phrases: BTreeMap<String, Vec<(Vec<String>, String)>>,
    /// Names of items, with the replacements.
    names: BTreeMap<String, String>,
}

impl Table {
    fn read(text: &str) -> Self {
        let mut table = Self::default();
        for line in text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (forms, replacement) = line
                .split_once(" -> ")
                .unwrap_or_else(|| panic!("{TABLE}: `{line}`"));
            for form in forms.split(", ") {
                if let Some(name) = form
                    .strip_prefix('`')
                    .and_then(|rest| rest.strip_suffix('`'))
                {
                    table.names.insert(name.to_owned(), replacement.to_owned());
                } else {
                    let words: Vec<String> = form.split(' ').map(str::to_owned).collect();
                    table
                        .phrases
                        .entry(words[0].clone())
                        .or_default()
                        .push((words, replacement.to_owned()));
                }
            }
        }
        table
    }

    /// Returns the retired phrases in a text: line, phrase, and replacement.
    fn occurrences(&self, text: &str) -> Vec<(usize, String, &str)> {
        let mut found = Vec::new();
        let words = words(text);
        for (at, word) in words.iter().enumerate() {
            for (phrase, replacement) in self.phrases.get(&word.text).into_iter().flatten() {
                let Some(rest) = words.get(at + 1..at + phrase.len()) else {
                    continue;
                };
                if rest
                    .iter()
                    .zip(&phrase[1..])
                    .all(|(word, wanted)| word.joined && word.text == *wanted)
                {
                    found.push((word.line, phrase.join(" "), replacement.as_str()));
                }
            }
        }
        found
    }
}

/// A word of a text: a run of letters, or one part of a camel-case name (`OldHalf`).
struct Word {
    /// The word in lower case.
    text: String,
    line: usize,
    /// Whether only blanks, hyphens, underscores and comment markers stand between the word and the
    /// word before.
    joined: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let mut joined = true;
        let mut previous = ' ';
        for letter in content.chars() {
            if letter.is_ascii_alphabetic() {
                let begins = !previous.is_ascii_alphabetic()
                    || letter.is_ascii_uppercase() && previous.is_ascii_lowercase();
                match found.last_mut() {
                    Some(word) if !begins => word.text.push(letter.to_ascii_lowercase()),
                    _ => found.push(Word {
                        text: letter.to_ascii_lowercase().to_string(),
                        line,
                        joined,
                    }),
                }
                joined = true;
            } else {
                joined &= " _-/!".contains(letter);
            }
            previous = letter;
        }
    }
    found
}

#[test]
fn a_retired_word_is_found_in_each_spelling() {
    let table = Table::read(
        "# a comment\n\nold half, old halves -> deposed\nweather -> fault plan\n`Hold` -> `LeaseState`\n",
    );
    let text =
        "struct OldHalf;\nlet weather_of = 1;\n/// Not an old\n/// half: \"Stormy Weather\"\n";
    let found: Vec<_> = table
        .occurrences(text)
        .into_iter()
        .map(|(line, phrase, _)| (line, phrase))
        .collect();
    let expected = [
        (1, "old half"),
        (2, "weather"),
        (3, "old half"),
        (4, "weather"),
    ];
    assert_eq!(
        found,
        expected.map(|(line, phrase)| (line, phrase.to_owned()))
    );
    assert_eq!(table.names["Hold"], "`LeaseState`");
}

#[test]
fn innocent_words_pass() {
    let table = Table::read("old half -> deposed\nlab -> harness\n");
    assert_eq!(
        table.occurrences("it is old. Half of the labels are old, half are new"),
        []
    );
}
