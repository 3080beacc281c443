//! Tables of text.

use std::borrow::Cow;

use super::wrap;
use crate::terminal::Paint;

/// Prints rows under a header. Each column is as wide as its longest cell. The last column may have
/// any length and is wrapped on a terminal.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], paint: Paint) -> String {
    within(head, rows, paint, wrap::columns())
}

fn within(head: &[&str], rows: &[Vec<String>], paint: Paint, columns: Option<usize>) -> String {
    // Escape the cells first: a cell has one line, and its width is that of the escaped text.
    let rows: Vec<Vec<Cow<'_, str>>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| diag::visible_line(cell)).collect())
        .collect();
    let length = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = head.iter().map(|word| length(word)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let mut text = String::new();
    let mut write = |cells: Vec<&str>, paint: &dyn Fn(String) -> String| {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            if at + 1 == cells.len() {
                line.push_str(&wrap::hanging(cell, before, columns));
            } else {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', widths[at] - length(cell) + 2));
            }
        }
        text.push_str(&paint(line.trim_end().to_owned()));
        text.push('\n');
    };
    write(head.to_vec(), &|line| paint.bold(line));
    for row in rows {
        write(row.iter().map(AsRef::as_ref).collect(), &|line| line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{ColorChoice, Terminal};

    #[test]
    fn columns_line_up() {
        let paint = Terminal::new(ColorChoice::Never, false, false, false).out;
        let rows = vec![
            vec!["a".into(), "long one".into()],
            vec!["größer".into(), "b".into()],
        ];
        assert_eq!(
            within(&["x", "y"], &rows, paint, None),
            "x       y\na       long one\ngrößer  b\n"
        );
        let rows = vec![vec!["a".into(), "a text of several words, too long".into()]];
        let narrow = within(&["x", "y"], &rows, paint, Some(30));
        assert_eq!(narrow, "x  y\na  a text of several words,\n   too long\n");
    }
}
