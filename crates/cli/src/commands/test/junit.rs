//! Results as XML in the form of JUnit, which services for continuous integration read.

use std::time::Duration;

use super::cases::FinishedCase;

/// The results of all cases, one suite for each file.
pub(super) fn xml(finished: &[FinishedCase]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str(&format!("<testsuites{}>\n", counts(finished)));
    for suite in finished.chunk_by(|left, right| left.tests.path == right.tests.path) {
        let file = suite.first().map(FinishedCase::file).unwrap_or_default();
        text.push_str(&format!(
            "  <testsuite name=\"{}\"{}>\n",
            escaped(&file),
            counts(suite)
        ));
        suite.iter().for_each(|case| write_case(&mut text, case));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn write_case(text: &mut String, case: &FinishedCase) {
    let (file, name) = (escaped(&case.file()), escaped(case.name()));
    let time = seconds(case.took);
    let begin = format!("    <testcase classname=\"{file}\" name=\"{name}\" time=\"{time}\"");
    text.push_str(&begin);
    if case.failures.is_empty() {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    for failure in &case.failures {
        text.push_str(&format!(
            "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
            failure.code.name,
            escaped(&failure.message),
            escaped(&case.place(failure)),
        ));
    }
    text.push_str("    </testcase>\n");
}

/// The attributes with the numbers of cases and their time.
fn counts(cases: &[FinishedCase]) -> String {
    let failed = cases
        .iter()
        .filter(|case| !case.failures.is_empty())
        .count();
    let took: Duration = cases.iter().map(|case| case.took).sum();
    format!(
        " tests=\"{}\" failures=\"{failed}\" errors=\"0\" time=\"{}\"",
        cases.len(),
        seconds(took)
    )
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// A text in an attribute or an element. A character that XML cannot contain is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_and_characters_that_xml_cannot_contain_are_escaped() {
        assert_eq!(
            escaped("a<b & \"c\"\u{1b}\n"),
            "a&lt;b &amp; &quot;c&quot;\u{fffd}&#10;"
        );
    }
}
