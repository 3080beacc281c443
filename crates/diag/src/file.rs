//! Source files, and places in them.

use std::sync::{Arc, OnceLock};

use crate::visible;

/// A text of a [`Files`] collection. Meaningful only together with the collection that returned it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct FileId(u32);

impl FileId {
    /// The file of items without source text: the command line, an environment variable.
    pub const NONE: FileId = FileId(u32::MAX);

    /// The id with this number, for tests and storage formats.
    pub const fn new(number: u32) -> FileId {
        FileId(number)
    }

    /// The number of the file: 0-based, in the order in which files were added.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A byte range in one file: start inclusive, end exclusive. Serialised as three numbers: file,
/// start, end.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(from = "(FileId, u32, u32)", into = "(FileId, u32, u32)")]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl From<(FileId, u32, u32)> for Span {
    fn from((file, start, end): (FileId, u32, u32)) -> Span {
        Span {
            file,
            start,
            end: end.max(start),
        }
    }
}

impl From<Span> for (FileId, u32, u32) {
    fn from(span: Span) -> (FileId, u32, u32) {
        (span.file, span.start, span.end)
    }
}

impl Span {
    /// The place of items without source text.
    pub const NONE: Span = Span {
        file: FileId::NONE,
        start: 0,
        end: 0,
    };

    /// The range `start..end` of `file`.
    pub const fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Whether the span has source text.
    pub fn is_some(self) -> bool {
        self.file != FileId::NONE
    }

    /// The range from the start of `self` to the end of `other`. Both lie in the same file.
    pub fn to(self, other: Span) -> Span {
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The empty span at the start.
    pub fn head(self) -> Span {
        Span {
            end: self.start,
            ..self
        }
    }

    /// The number of bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies inside the range.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    /// The range as `usize`, to slice a text with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An item and its place in the source. Equality compares only the items.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Spanned<T> {
    /// The item.
    pub item: T,
    /// The place of the item.
    #[serde(rename = "at")]
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `item` at `span`.
    pub const fn new(item: T, span: Span) -> Spanned<T> {
        Spanned { item, span }
    }

    /// Another item at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            item: change(self.item),
            span: self.span,
        }
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// A place for display: line and column from 1, column in characters (Unicode scalar values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A named text.
#[derive(Clone, Debug)]
pub struct File {
    name: String,
    text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
    shown: OnceLock<Option<Arc<str>>>,
    is_withheld: bool,
}

impl File {
    /// The name shown to people: usually the path as they wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The text for display: of the same length, with hidden characters replaced.
    pub fn shown(&self) -> &Arc<str> {
        self.shown
            .get_or_init(|| visible::same_length(&self.text).map(Arc::from))
            .as_ref()
            .unwrap_or(&self.text)
    }

    /// Whether no part of the text may be shown, because it holds values that can be secret.
    pub fn is_withheld(&self) -> bool {
        self.is_withheld
    }

    /// The byte offsets of the line starts.
    pub fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self
                .text
                .bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| at as u32 + 1))
                .collect()
        })
    }

    /// Line and column of a byte offset. An offset past the end counts as the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.text.len());
        let starts = self.line_starts();
        let line = starts
            .partition_point(|start| *start as usize <= offset)
            .max(1);
        let start = starts[line - 1] as usize;
        let column = self
            .text
            .get(start..offset)
            .map_or(offset - start, |before| before.chars().count());
        // A byte order mark does not count as a character of the first line.
        let mark = usize::from(line == 1 && offset >= 3 && self.text.starts_with('\u{feff}'));
        Position {
            line: line as u32,
            column: (column + 1 - mark) as u32,
        }
    }
}

/// All source texts of a run.
#[derive(Clone, Debug, Default)]
pub struct Files {
    files: Vec<File>,
}

impl Files {
    /// An empty collection.
    pub fn new() -> Files {
        Files::default()
    }

    /// Adds a text under a name for people and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(File {
            name: name.into(),
            text: text.into(),
            lines: OnceLock::new(),
            shown: OnceLock::new(),
            is_withheld: false,
        });
        id
    }

    /// Adds a text that diagnostics locate but do not show: a file of inputs, which may be secret.
    pub fn add_withheld(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = self.add(name, text);
        self.files[id.0 as usize].is_withheld = true;
        id
    }

    /// The file with this id; `None` for [`FileId::NONE`] and for ids of other collections.
    pub fn get(&self, id: FileId) -> Option<&File> {
        self.files.get(id.0 as usize)
    }

    /// The text of a span; empty if the span has no source text.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file)
            .and_then(|file| file.text.get(span.range()))
            .unwrap_or("")
    }

    /// All files with their ids, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.files
            .iter()
            .enumerate()
            .map(|(number, file)| (FileId(number as u32), file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let mut files = Files::new();
        let id = files.add("a", "é: x\nbü: y\n");
        let file = files.get(id).unwrap();
        assert_eq!(file.position(2), Position { line: 1, column: 2 });
        assert_eq!(file.position(9), Position { line: 2, column: 3 });
        assert_eq!(file.position(99), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let mut files = Files::new();
        let id = files.add("a", "\u{feff}version: 1");
        assert_eq!(
            files.get(id).unwrap().position(3),
            Position { line: 1, column: 1 }
        );
    }
}
