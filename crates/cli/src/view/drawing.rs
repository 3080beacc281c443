//! How values and changes are drawn: the colours, the width of a line, and whether long ones are
//! cut.

use super::wrap;
use crate::terminal::{Paint, Terminal};

/// The number of characters in a line of a pipe or file.
const PIPE_WIDTH: usize = 160;

/// How values and changes are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing {
    /// The colours.
    pub(crate) paint: Paint,
    /// Whether nothing is cut.
    pub(crate) whole: bool,
    /// The number of characters in a line.
    pub(crate) width: usize,
}

impl Drawing {
    /// How results are drawn on stdout.
    pub(crate) fn on(terminal: &Terminal) -> Drawing {
        Drawing {
            paint: terminal.out,
            whole: terminal.verbose,
            width: wrap::columns().unwrap_or(PIPE_WIDTH),
        }
    }

    /// How results are drawn on a page, whatever the terminal is.
    pub(crate) fn for_pages(terminal: &Terminal) -> Drawing {
        Drawing {
            paint: terminal.out.without_colors(),
            whole: terminal.verbose,
            width: PIPE_WIDTH,
        }
    }

    /// The line that stands for lines that are not shown.
    pub(crate) fn hidden_lines(self, count: usize) -> String {
        let lines = if count == 1 { "line" } else { "lines" };
        self.paint
            .dim(format!("({count} more {lines}; `-v` shows all)"))
    }

    /// Keeps the first lines of a text that begins at `from`. Without a cut, nothing is added.
    pub(crate) fn cut_lines(self, text: &mut String, from: usize, limit: usize, indent: &str) {
        if self.whole {
            return;
        }
        let added = text.get(from..).unwrap_or_default();
        let Some((end, _)) = added.match_indices('\n').nth(limit - 1) else {
            return;
        };
        let hidden = added.get(end + 1..).unwrap_or_default().lines().count();
        // A mark that hides one line has no use.
        if hidden > 1 {
            text.truncate(from + end + 1);
            text.push_str(&format!("{indent}{}\n", self.hidden_lines(hidden)));
        }
    }
}

/// A drawing without colours, for tests.
#[cfg(test)]
pub(crate) fn plain(whole: bool, width: usize) -> Drawing {
    let never = crate::terminal::ColorChoice::Never;
    Drawing {
        paint: Terminal::new(never, false, false, false).out,
        whole,
        width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_says_how_many_lines_are_hidden() {
        let cut = |whole: bool, limit: usize| {
            let mut text = "head\na\nb\nc\nd\n".to_owned();
            plain(whole, 80).cut_lines(&mut text, 5, limit, "  ");
            text
        };
        assert_eq!(
            cut(false, 2),
            "head\na\nb\n  (2 more lines; `-v` shows all)\n"
        );
        assert_eq!(cut(false, 3), "head\na\nb\nc\nd\n");
        assert_eq!(cut(false, 4), "head\na\nb\nc\nd\n");
        assert_eq!(cut(true, 2), "head\na\nb\nc\nd\n");
    }
}
