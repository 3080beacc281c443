//! Wraps long lines between words on a terminal. In a pipe `columns` is `None`, and lines are not
//! wrapped.

use std::io::{self, IsTerminal as _};

/// The minimum width of wrapped text. With less room, lines are not wrapped.
const MIN_WIDTH: usize = 24;

/// The number of characters in a line of stdout, if it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stdout())
        && size.ws_col > 0
    {
        return Some(usize::from(size.ws_col));
    }
    Some(80)
}

/// Wraps text that begins after `indent` characters. All further lines have the same indent.
pub(crate) fn hanging(text: &str, indent: usize, columns: Option<usize>) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| hanging_line(line, indent, columns))
        .collect();
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

fn hanging_line(text: &str, indent: usize, columns: Option<usize>) -> String {
    let Some(room) = columns
        .and_then(|columns| columns.checked_sub(indent))
        .filter(|room| *room >= MIN_WIDTH)
    else {
        return text.to_owned();
    };
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut wrapped = String::with_capacity(text.len() + indent);
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Wraps the paragraphs of a Markdown page. Code blocks, tables and lists stay unchanged.
pub(crate) fn page(text: &str, columns: Option<usize>) -> String {
    if columns.is_none() {
        return text.to_owned();
    }
    let mut in_block = false;
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        if in_block || is_fence || line.is_empty() || line.starts_with(['#', '|', '*', '-', ' ']) {
            if !paragraph.is_empty() {
                lines.push(hanging(&std::mem::take(&mut paragraph), 0, columns));
            }
            lines.push(line.to_owned());
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
        in_block ^= is_fence;
    }
    if !paragraph.is_empty() {
        lines.push(hanging(&paragraph, 0, columns));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_split_and_later_lines_are_indented() {
        let text = "a text of more words than fit into thirty characters";
        assert_eq!(
            hanging(text, 4, Some(34)),
            "a text of more words than fit\n    into thirty characters"
        );
        assert_eq!(hanging(text, 4, None), text, "in a pipe");
        assert_eq!(hanging(text, 30, Some(40)), text, "too little room");
        let word = "x".repeat(60);
        assert_eq!(
            hanging(&format!("{word} y"), 0, Some(30)),
            format!("{word}\ny")
        );
    }

    #[test]
    fn further_lines_of_a_text_are_indented() {
        let docs = "The content.\n Conflicts with `source`.\n";
        assert_eq!(
            hanging(docs, 6, None),
            "The content.\n      Conflicts with `source`."
        );
    }

    #[test]
    fn code_on_a_page_is_not_broken() {
        let long = "word ".repeat(20).trim_end().to_owned();
        let text = format!("{long}\n\n```yaml\n{long}\n```\n{long}");
        assert_eq!(page(&text, None), text);
        assert_eq!(
            page("a\nb\n\nc", Some(40)),
            "a b\n\nc",
            "a paragraph is one"
        );
        let shown = page(&text, Some(40));
        assert!(
            shown.contains(&format!("```yaml\n{long}\n```\n")),
            "{shown}"
        );
        assert!(
            !shown.starts_with(&long) && !shown.ends_with(&long),
            "{shown}"
        );
    }
}
