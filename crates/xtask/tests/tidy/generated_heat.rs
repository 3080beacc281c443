//! The reference page of the functions of Heat's templates.

use hot::functions::{self, references, versions};

use crate::generated::NOTE;

/// Writes the page with each function: versions, effect, examples.
pub(crate) fn functions() -> String {
    let mut page = format!(
        "# Functions of Heat's templates\n\n{NOTE}\n\nWhat a template can call, and in which versions. A map with one key that names a function of \
         the template's version is a call; any other map is data. After `=>` comes the result, after `!` the code of the diagnostic; an \
         example with a version in front is one of that version. [What there is to know about such templates](../heat.md); \
         [the language of `yaql`](yaql.md).\n"
    );
    let names = references::references()
        .iter()
        .map(|one| one.name)
        .chain(functions::functions().map(|one| one.name));
    let names: Vec<String> = names
        .map(|name| format!("[`{name}`](#{})", anchor(name)))
        .collect();
    page.push_str(&format!("\n{}\n", names.join(" ")));
    for one in references::references() {
        let versions = versions(one.since, one.until, None, true);
        page.push_str(&format!(
            "\n## `{}`\n\n{}\n\n{versions}\n\n```text\n",
            one.name, one.docs
        ));
        for example in one.examples {
            page.push_str(&format!("{example}\n"));
        }
        page.push_str("```\n");
    }
    for one in functions::functions() {
        let versions = versions(one.since, one.until, one.in_conditions, one.in_values);
        page.push_str(&format!(
            "\n## `{}`\n\n{}\n\n{versions}\n\n```text\n",
            one.name, one.docs
        ));
        for example in one.examples {
            let arrow = if example.expected.starts_with('!') {
                ""
            } else {
                "=> "
            };
            let version = example
                .version
                .map(|version| format!("{}: ", version.date()))
                .unwrap_or_default();
            page.push_str(&format!(
                "{version}{}: {} {arrow}{}\n",
                one.name, example.argument, example.expected
            ));
        }
        page.push_str("```\n");
    }
    page
}

fn anchor(name: &str) -> String {
    name.chars()
        .filter(|letter| *letter != ':')
        .collect::<String>()
        .to_lowercase()
}
