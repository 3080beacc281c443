//! A plan as Markdown, for a comment in a review.
//!
//! Markdown and HTML in names are escaped. Changes stand in code blocks, whose fence is longer than
//! any in them.

use engine::{ShownPlan, Step};

use super::drawing::Drawing;
use super::plan::{PlanContext, sign, summary, what_happens};

/// The maximum length in bytes. Comments of GitHub have at most 65,536 characters.
const LIMIT: usize = 60_000;
/// The part of the limit for the table of resources.
const TABLE_LIMIT: usize = LIMIT / 2;

/// Prints a plan.
pub(crate) fn plan(plan: &ShownPlan<'_>, drawing: Drawing) -> String {
    let mut context = PlanContext::of(plan, drawing);
    let mut text = format!(
        "### Plan: {} `{}`\n\n**{}**\n",
        plan.purpose_word,
        plan.instance,
        summary(plan.counts())
    );
    if !plan.unread.is_empty() {
        let count = plan.unread.len();
        text.push_str(&format!(
            "\n> **Partial:** {count} could not be read and are assumed to be unchanged.\n"
        ));
    }
    let steps = context.steps.clone();
    write_table(&mut text, &steps, drawing);
    let mut hidden = 0_usize;
    for step in steps {
        let mut details = String::new();
        context.write_details(&mut details, step, "");
        let title = format!("{} {}", code(&step.address.to_string()), step.action.word());
        if !push_folded(&mut text, &title, &details) {
            hidden += 1;
        }
    }
    let mut rest = String::new();
    context.write_rest(&mut rest);
    let is_written = push_folded(&mut text, "Exports and what else to know", &rest);
    if hidden > 0 || !is_written {
        text.push_str(&format!(
            "\nToo long for a comment: the details of {hidden} resources are left out. `cyan show PLAN` prints all.\n"
        ));
    }
    text
}

/// Writes a row for each step, as many as fit.
fn write_table(text: &mut String, steps: &[&Step], drawing: Drawing) {
    if steps.is_empty() {
        return;
    }
    text.push_str("\n| | resource | type | action |\n|---|---|---|---|\n");
    for (at, step) in steps.iter().enumerate() {
        if text.len() > TABLE_LIMIT {
            let more = steps.len() - at;
            text.push_str(&format!("| | and {more} more | | |\n"));
            return;
        }
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            code(&sign(step.action, drawing.paint)),
            code(&step.address.to_string()),
            code(step.type_name.as_ref()),
            escaped(&what_happens(step)),
        ));
    }
}

/// Writes a text as a code block that opens on a click. Writes no empty one. Returns whether there
/// is room for it.
fn push_folded(text: &mut String, title: &str, details: &str) -> bool {
    let details = outdented(details);
    if details.is_empty() {
        return true;
    }
    let fence = fence_for(&details);
    let folded = format!(
        "\n<details><summary>{title}</summary>\n\n{fence}text\n{details}\n{fence}\n\n</details>\n"
    );
    let has_room = text.len() + folded.len() <= LIMIT;
    if has_room {
        text.push_str(&folded);
    }
    has_room
}

/// A text without the indent that all its lines have, and without empty lines at its ends.
fn outdented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines().map(|line| line.len() - line.trim_start_matches(' ').len());
    let indent = indent.min().unwrap_or(0);
    let lines: Vec<&str> = text
        .trim_end()
        .lines()
        .skip_while(|line| line.trim().is_empty())
        .map(|line| line.get(indent..).unwrap_or_default())
        .collect();
    lines.join("\n")
}

/// A fence that is longer than any run of backticks in a text.
fn fence_for(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

/// A text as code, also in a cell of a table.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A text without characters that have a meaning in Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '"' | '\\' | '~' | '@' | '#'
            | '!' | '$' => escaped.push_str(&format!("&#{};", u32::from(c))),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence_for("a `b` c"), "```");
        assert_eq!(fence_for("a\n```\nb\n````"), "`````");
    }

    #[test]
    fn names_cannot_leave_their_cell() {
        assert_eq!(
            code("a[\"x|y\"]\n</code> @all"),
            "<code>a&#91;&#34;x&#124;y&#34;&#93; &#60;/code&#62; &#64;all</code>"
        );
    }

    #[test]
    fn folded_text_that_does_not_fit_is_left_out() {
        let mut text = "x".repeat(LIMIT - 100);
        assert!(!push_folded(&mut text, "title", &"y\n".repeat(100)));
        assert_eq!(text.len(), LIMIT - 100);
        assert!(
            push_folded(&mut text, "title", "\n\n"),
            "there is nothing to write"
        );
        assert!(push_folded(&mut text, "t", "    a\n      b\n\n"));
        assert!(
            text.ends_with("```text\na\n  b\n```\n\n</details>\n"),
            "{text}"
        );
    }
}
