//! Descriptions of all functions, for people.
//!
//! Not here: the reference page, which has more details on versions.

use super::super::version::Version;
use super::{functions, references};
use dialect::Explained;

/// All functions that a template can call, in the order of the reference.
pub(crate) fn explained() -> Vec<Explained> {
    let described = references::references().iter().map(|one| Explained {
        name: one.name,
        docs: one.docs,
        since: versions(one.since, one.until, None, true),
        examples: one
            .examples
            .iter()
            .map(|example| ((*example).to_owned(), String::new()))
            .collect(),
    });
    let others = functions().map(|one| Explained {
        name: one.name,
        docs: one.docs,
        since: versions(one.since, one.until, one.in_conditions, one.in_values),
        examples: one
            .examples
            .iter()
            .map(|example| {
                let version = example
                    .version
                    .map(|version| format!("{}: ", version.date()))
                    .unwrap_or_default();
                (
                    format!("{version}{}: {}", one.name, example.argument),
                    example.expected.to_owned(),
                )
            })
            .collect(),
    });
    described.chain(others).collect()
}

/// The versions in which a function can be called, as a sentence.
pub fn versions(
    since: Version,
    until: Option<Version>,
    in_conditions: Option<Version>,
    in_values: bool,
) -> String {
    let until = until
        .map(|until| format!(", gone in {}", until.date()))
        .unwrap_or_default();
    match (in_values, in_conditions) {
        (true, None) => format!("Since {}{until}.", since.date()),
        (true, Some(version)) => format!(
            "Since {}{until}; in conditions since {}.",
            since.date(),
            version.date()
        ),
        (false, _) => format!("In conditions only, since {}{until}.", since.date()),
    }
}
