//! What stands before and after the value of a change.

use super::drawing::Drawing;

/// The beginnings of the lines of a change.
#[derive(Clone, Debug)]
pub(crate) struct Margin {
    /// The beginning of the first line.
    first: String,
    /// The beginning of further lines, which is as wide.
    pub(crate) rest: String,
}

impl Margin {
    /// Spaces alone.
    pub(crate) fn new(indent: &str) -> Margin {
        Margin {
            first: indent.to_owned(),
            rest: indent.to_owned(),
        }
    }

    /// Spaces and a sign of one character before the first line.
    pub(crate) fn signed(indent: &str, sign: &str) -> Margin {
        Margin {
            first: format!("{indent}{sign} "),
            rest: format!("{indent}  "),
        }
    }

    /// The indent of what stands below the first line.
    pub(crate) fn below(&self) -> String {
        format!("{}  ", self.rest)
    }
}

/// The place of a change: what stands before and after its value.
pub(crate) struct ChangeLabel<'a> {
    /// The beginnings of the lines.
    pub(crate) margin: &'a Margin,
    /// The path of the value.
    pub(crate) path: &'a str,
    /// Whether the change forces a replacement.
    pub(crate) forces: bool,
}

impl ChangeLabel<'_> {
    /// The text before the value, without the space between them.
    pub(crate) fn head(&self) -> String {
        format!("{}{}:", self.margin.first, self.path)
    }

    /// The text after the value, or after the head if the value stands below it.
    pub(crate) fn note(&self, drawing: Drawing) -> String {
        match self.forces {
            true => drawing.paint.magenta(" (forces replacement)"),
            false => String::new(),
        }
    }

    /// The number of characters before the value and after it, without styles.
    pub(crate) fn length(&self, drawing: Drawing) -> usize {
        let plain = Drawing {
            paint: drawing.paint.without_colors(),
            ..drawing
        };
        let before = self.margin.rest.chars().count() + self.path.chars().count() + 2;
        before + self.note(plain).chars().count()
    }
}
