//! Limits for the length of functions, the number of parameters and fields, and the width of
//! comments.

use crate::rust_source::{self, SourceFile};

/// The limit for lines of a function, from its signature to its closing brace.
const MOST_LINES: usize = 150;

/// The limit for parameters of a function; `self` counts.
const MOST_PARAMETERS: usize = 7;

/// The limit for fields of a struct or of a variant.
const MOST_FIELDS: usize = 25;

/// The limit for columns of a line with a comment. Prose breaks at the width of code, 100 columns; a
/// diagram may be wider.
const MOST_COLUMNS: usize = 120;

/// The traits that wire formats and command-line arguments derive. The fields of such types are
/// given from outside.
const GIVEN_FROM_OUTSIDE: [&str; 5] = ["Args", "Parser", "Subcommand", "Serialize", "Deserialize"];

#[test]
fn functions_are_short() {
    crate::none(
        &over(long_functions),
        "name its steps and make each a function",
    );
}

#[test]
fn functions_take_few_parameters() {
    crate::none(
        &over(many_parameters),
        "pass what belongs together as one struct",
    );
}

#[test]
fn types_have_few_fields() {
    crate::none(
        &over(many_fields),
        "group the fields that change together into types of their own",
    );
}

#[test]
fn comments_fit_the_columns_of_code() {
    crate::none(&over(wide_comments), "break the comment's line");
}

/// Returns the findings of a check in all files.
fn over(check: fn(&SourceFile) -> Vec<String>) -> Vec<String> {
    rust_source::all().iter().flat_map(check).collect()
}

fn long_functions(file: &SourceFile) -> Vec<String> {
    let long = file.functions.iter().filter(|one| one.lines > MOST_LINES);
    long.map(|one| {
        let SourceFile { path, .. } = file;
        format!(
            "{path}:{} `{}` has {} lines, at most {MOST_LINES}",
            one.line, one.name, one.lines
        )
    })
    .collect()
}

fn many_parameters(file: &SourceFile) -> Vec<String> {
    let many = file
        .functions
        .iter()
        .filter(|one| one.parameters > MOST_PARAMETERS);
    many.map(|one| {
        let SourceFile { path, .. } = file;
        let counts = format!("{} parameters, at most {MOST_PARAMETERS}", one.parameters);
        format!("{path}:{} `{}` has {counts}", one.line, one.name)
    })
    .collect()
}

fn many_fields(file: &SourceFile) -> Vec<String> {
    let given = |one: &rust_source::TypeSize| {
        GIVEN_FROM_OUTSIDE
            .iter()
            .any(|name| one.derives.contains(*name))
    };
    let many = file
        .types
        .iter()
        .filter(|one| one.fields > MOST_FIELDS && !given(one));
    many.map(|one| {
        let SourceFile { path, .. } = file;
        format!(
            "{path}:{} `{}` has {} fields, at most {MOST_FIELDS}",
            one.line, one.name, one.fields
        )
    })
    .collect()
}

/// Returns the comments that are too wide. A comment of a single word, such as an address, cannot
/// be broken.
fn wide_comments(file: &SourceFile) -> Vec<String> {
    let wide = file.comments.iter().filter(|one| {
        let words = one
            .text
            .trim_start_matches(['/', '!', '*'])
            .split_whitespace()
            .count();
        one.columns > MOST_COLUMNS && words > 1
    });
    wide.map(|one| {
        let SourceFile { path, .. } = file;
        format!(
            "{path}:{} has {} columns, at most {MOST_COLUMNS}",
            one.line, one.columns
        )
    })
    .collect()
}

#[test]
fn definitions_over_a_limit_are_found() {
    let parameters = ["a: u8"; MOST_PARAMETERS].join(", ");
    let fields = (0..=MOST_FIELDS)
        .map(|number| format!("f{number}: u8"))
        .collect::<Vec<_>>()
        .join(", ");
    let body = "    let _ = 1;\n".repeat(MOST_LINES - 1);
    let wide = "/// word ".to_owned() + &"x".repeat(MOST_COLUMNS);
    let text = format!(
        "{wide}\nstruct S {{ {fields} }}\n#[derive(serde::Serialize)]\nstruct Wire {{ {fields} }}\n\
         enum E {{ V {{ {fields} }} }}\nimpl S {{ fn m(&self, {parameters}) {{}} }}\nfn long() {{\n{body}}}\n\
         // {}\n",
        "x".repeat(MOST_COLUMNS),
    );
    let file = rust_source::parse("a.rs", &text);
    let found = |check: fn(&SourceFile) -> Vec<String>| -> Vec<String> {
        let line = |finding: String| {
            finding
                .split_once(" has ")
                .map(|(place, _)| place.to_owned())
        };
        check(&file).into_iter().filter_map(line).collect()
    };
    assert_eq!(found(long_functions), ["a.rs:7 `long`"]);
    assert_eq!(found(many_parameters), ["a.rs:6 `S::m`"]);
    assert_eq!(found(many_fields), ["a.rs:2 `S`", "a.rs:5 `E::V`"]);
    assert_eq!(found(wide_comments), ["a.rs:1"]);
}

#[test]
fn what_is_at_a_limit_passes() {
    let parameters = ["a: u8"; MOST_PARAMETERS].join(", ");
    let body = "    let _ = 1;\n".repeat(MOST_LINES - 2);
    let file = rust_source::parse("a.rs", &format!("fn long({parameters}) {{\n{body}}}\n"));
    assert!(long_functions(&file).is_empty() && many_parameters(&file).is_empty());
}
