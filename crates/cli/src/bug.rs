//! The report of a bug in this program.

use std::io::Write as _;

/// Installs a panic hook that prints a short report. The caller of the panicking code returns exit
/// code 70.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let what = match (
            panic.payload().downcast_ref::<&str>(),
            panic.payload().downcast_ref::<String>(),
        ) {
            (Some(text), _) => text,
            (None, Some(text)) => without_values(text),
            (None, None) => "no words",
        };
        let place = panic
            .location()
            .map(|place| format!("{}:{}", place.file(), place.line()))
            .unwrap_or_default();
        let command = std::env::args()
            .nth(1)
            .filter(|word| !word.starts_with('-'))
            .unwrap_or_default();
        // A failed write to stderr cannot be reported anywhere.
        let _ = writeln!(
            std::io::stderr(),
            "cyan has a bug, and has stopped. The state is as of the last step that was recorded; run the same command again to go on.\n\
             Please send these lines and, if you can, the document:\n\
             \n  cyan {} ({}, {})\n  command: {command}\n  at: {place}\n  said: {what}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            command = diag::visible_line(&command),
            what = diag::visible(what),
        );
    }));
}

/// Cuts the message of a panic before the first part that may quote a value. Users forward the
/// report, and a value may be secret.
fn without_values(message: &str) -> &str {
    const NUMBERS_ALONE: &str = "index out of bounds: the len is ";
    if message
        .strip_prefix(NUMBERS_ALONE)
        .is_some_and(|rest| rest.len() < 60 && !rest.contains(['"', '`', '\'']))
    {
        return message;
    }
    let end = message
        .find(['"', '`', '\'', '\n'])
        .unwrap_or(message.len());
    let end = message[..end].find(": ").unwrap_or(end);
    message[..end].trim_end_matches(|letter: char| !letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::without_values;

    #[test]
    fn a_report_quotes_no_value() {
        for (said, shown) in [
            (
                "index out of bounds: the len is 3 but the index is 7",
                "index out of bounds: the len is 3 but the index is 7",
            ),
            (
                "index out of bounds: the len is `hunter2`",
                "index out of bounds",
            ),
            (
                "called `Result::unwrap()` on an `Err` value: Wrong(\"hunter2\")",
                "called",
            ),
            (
                "byte index 3 is not a char boundary; it is inside 'é' (bytes 2..4) of `hunter2`",
                "byte index 3 is not a char boundary; it is inside",
            ),
            ("it is there: ParseError { text: hunter2 }", "it is there"),
            (
                "range end index 10 out of range for slice of length 5",
                "range end index 10 out of range for slice of length 5",
            ),
            ("first line\nhunter2", "first line"),
            ("", ""),
        ] {
            assert_eq!(without_values(said), shown);
        }
        // The message of the standard library for a slice that ends inside a character.
        let text = String::from("hunter2é");
        let said = std::panic::catch_unwind(|| text[..8].len()).unwrap_err();
        let said = said.downcast_ref::<String>().expect("it is formatted");
        assert!(
            said.contains("hunter2") && !without_values(said).contains("hunter2"),
            "{said}"
        );
    }
}
