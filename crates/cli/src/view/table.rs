//! Columns of text.

use crate::terminal::Paint;

/// Rows under a head, columns as wide as they need; the last one may be of any length.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], paint: Paint) -> String {
    let length = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = head.iter().map(|word| length(word)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    let mut text = String::new();
    let mut write = |cells: Vec<&str>, paint: &dyn Fn(String) -> String| {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            line.push_str(cell);
            if at + 1 < cells.len() {
                line.extend(std::iter::repeat_n(' ', widths[at] - length(cell) + 2));
            }
        }
        text.push_str(&paint(line.trim_end().to_owned()));
        text.push('\n');
    };
    write(head.to_vec(), &|line| paint.bold(line));
    for row in rows {
        write(row.iter().map(String::as_str).collect(), &|line| line);
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
        let rows = vec![vec!["a".into(), "long one".into()], vec!["größer".into(), "b".into()]];
        assert_eq!(table(&["x", "y"], &rows, paint), "x       y\na       long one\ngrößer  b\n");
    }
}
