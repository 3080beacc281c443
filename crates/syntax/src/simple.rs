//! A fast parser for simple YAML.
//!
//! Most documents are block maps and lists with scalars of one line. This parser reads them in one
//! pass over the lines, in a fraction of the time of the YAML parser. It returns `None` for every
//! form that it does not support: among them brackets, block scalars, anchors, escapes, tabs,
//! carriage returns, scalars of several lines and errors. The YAML parser then reads the whole
//! text. A property test in `yaml` checks that both give the same tree for each text that this
//! parser accepts.
//!
//! Not here: diagnostics. The YAML parser reads each text about which something must be reported.

use diag::{FileId, Span};

use crate::scan::{table, unclosed};
use crate::{Content, Format, MAX_DEPTH, MAX_NODES, MapEntry, Node, Scalar, Style, Tree};

/// The maximum length of a key in bytes. YAML allows 1024 characters.
const MAX_KEY: usize = 1000;

enum SimpleMembers {
    Map {
        entries: Vec<MapEntry>,
        key: Option<Node>,
    },
    List {
        items: Vec<Node>,
        /// The offset after a dash whose item has not been read.
        dash: Option<usize>,
    },
}

struct SimpleContainer {
    column: usize,
    start: usize,
    members: SimpleMembers,
}

impl SimpleContainer {
    fn map(column: usize, start: usize, entries: Vec<MapEntry>) -> SimpleContainer {
        SimpleContainer {
            column,
            start,
            members: SimpleMembers::Map { entries, key: None },
        }
    }

    /// Whether a key or a dash still has no value.
    fn expects_value(&self) -> bool {
        match &self.members {
            SimpleMembers::Map { key, .. } => key.is_some(),
            SimpleMembers::List { dash, .. } => dash.is_some(),
        }
    }
}

struct SimpleYamlReader<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    open: Vec<SimpleContainer>,
    root: Option<Node>,
    comments: Vec<Span>,
    nodes: usize,
    spare: Vec<Vec<MapEntry>>,
}

/// The number of entries up to which a map is short. The entries of a short map are copied into an
/// allocation of exact size, and the vector is reused for the next map. The size of a longer map is
/// estimated.
const SHORT_MAP: usize = 64;

/// The bytes of the keys that this parser accepts.
const IN_KEY: [bool; 256] =
    table(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./");

/// The maximum number of entries for which an estimate reserves capacity at once.
const MAX_RESERVED: usize = 1 << 16;

/// Parses a text; `None` if it is not simple.
pub(crate) fn parse(file: FileId, text: &str) -> Option<Tree> {
    let bytes = text.as_bytes();
    if !has_plain_characters(text) {
        return None;
    }
    let mut reader = SimpleYamlReader {
        file,
        text,
        bytes,
        open: Vec::new(),
        root: None,
        comments: Vec::new(),
        nodes: 0,
        spare: Vec::new(),
    };
    let mut at = 0;
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        reader.line(at, end)?;
        at = end + 1;
    }
    while !reader.open.is_empty() {
        reader.close();
    }
    (reader.nodes <= MAX_NODES).then_some(Tree {
        root: reader.root,
        comments: reader.comments,
        format: Format::Yaml,
    })
}

impl SimpleYamlReader<'_> {
    fn line(&mut self, start: usize, end: usize) -> Option<()> {
        let mut at = start + spaces(self.bytes.get(start..end)?);
        match self.bytes.get(at..end)?.first() {
            None => return Some(()),
            Some(b'#') => {
                self.comments.push(self.span(at, end));
                return Some(());
            }
            _ => {}
        }
        let mut column = at - start;
        let rest = self.bytes.get(at..end)?;
        if column == 0 && (rest.starts_with(b"---") || rest.starts_with(b"..."))
            || self.nodes > MAX_NODES
        {
            return None;
        }
        let mut item = is_item(rest);
        while let Some(open) = self.open.last() {
            let list = matches!(open.members, SimpleMembers::List { .. });
            // A list may have the indentation of the key above it. The next key in that column ends
            // the list.
            if open.column > column || open.column == column && list && !item {
                self.close();
            } else {
                break;
            }
        }
        let mut fresh = true;
        while item {
            self.dash(at, column, fresh)?;
            fresh = false;
            let rest = self.bytes.get(at + 1..end)?;
            let skip = 1 + spaces(rest);
            at += skip;
            column += skip;
            match self.bytes.get(at..end)?.first() {
                None => return Some(()),
                Some(b'#') => {
                    self.comments.push(self.span(at, end));
                    return Some(());
                }
                _ => {}
            }
            item = is_item(self.bytes.get(at..end)?);
        }
        match self.key(at, end) {
            Some(colon) => self.entry(at, colon, column, end, fresh),
            // Not supported: a scalar that begins on a line of its own may have further lines.
            None if fresh => None,
            None => {
                let node = self.scalar(at, end)?;
                self.add_node(node);
                Some(())
            }
        }
    }

    /// Reads a dash at `at`; `fresh` if it is the first token of its line.
    fn dash(&mut self, at: usize, column: usize, fresh: bool) -> Option<()> {
        match self.open.last_mut() {
            Some(SimpleContainer {
                column: own,
                members: SimpleMembers::List { items, dash },
                ..
            }) if *own == column && fresh => {
                if let Some(place) = dash.replace(at + 1) {
                    items.push(Node::empty(self.file, place));
                    self.nodes += 1;
                }
                return Some(());
            }
            Some(open) if open.expects_value() => {
                let in_key_column =
                    open.column == column && matches!(open.members, SimpleMembers::Map { .. });
                if open.column >= column && !in_key_column {
                    return None;
                }
            }
            None if self.root.is_none() => {}
            _ => return None,
        }
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        let members = SimpleMembers::List {
            items: Vec::new(),
            dash: Some(at + 1),
        };
        self.open.push(SimpleContainer {
            column,
            start: at,
            members,
        });
        Some(())
    }

    /// Reads a key from `at` to `colon`, and its value if that is on the same line. Opens a map
    /// unless the key continues one; `fresh` if the key is the first token of its line.
    fn entry(
        &mut self,
        at: usize,
        colon: usize,
        column: usize,
        end: usize,
        fresh: bool,
    ) -> Option<()> {
        let continues = match self.open.last_mut() {
            Some(SimpleContainer {
                column: own,
                members: SimpleMembers::Map { entries, key },
                ..
            }) if *own == column && fresh => {
                if let Some(key) = key.take() {
                    let value = Node::empty(self.file, key.span.end as usize + 1);
                    entries.push(MapEntry { key, value });
                    self.nodes += 1;
                }
                true
            }
            Some(open) if open.expects_value() && open.column < column => false,
            None if self.root.is_none() => false,
            _ => return None,
        };
        if !continues {
            if self.open.len() >= MAX_DEPTH {
                return None;
            }
            let entries = self.spare.pop().unwrap_or_default();
            self.open.push(SimpleContainer::map(column, at, entries));
        }
        let key = self.node(at, colon, at, colon, Style::Plain)?;
        self.add_node(key);
        let value = colon + 1 + spaces(self.bytes.get(colon + 1..end)?);
        match self.bytes.get(value..end)?.first() {
            None => {}
            Some(b'#') => self.comments.push(self.span(value, end)),
            Some(_) => {
                let node = self.scalar(value, end)?;
                self.add_node(node);
            }
        }
        Some(())
    }

    /// The offset of the colon of a simple key at `at`; `None` if there is no simple key.
    fn key(&self, at: usize, end: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..end)?;
        let length = bytes.iter().position(|byte| !IN_KEY[*byte as usize])?;
        let begins = bytes
            .first()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let ends = bytes[length] == b':' && matches!(bytes.get(length + 1), None | Some(b' '));
        (begins && ends && length <= MAX_KEY).then_some(at + length)
    }

    /// Reads the scalar at `at`, which must end on this line.
    fn scalar(&mut self, at: usize, end: usize) -> Option<Node> {
        let bytes = self.bytes.get(at..end)?;
        let quote = *bytes.first()?;
        if matches!(quote, b'"' | b'\'') {
            let length = bytes[1..]
                .iter()
                .position(|byte| *byte == quote || *byte == b'\\' && quote == b'"')?;
            let after = &bytes[length + 2..];
            let blanks = spaces(after);
            if bytes[length + 1] != quote {
                return None;
            }
            match after.get(blanks) {
                None => {}
                Some(b'#') if blanks > 0 => {
                    self.comments.push(self.span(at + length + 2 + blanks, end))
                }
                Some(_) => return None,
            }
            let style = if quote == b'"' {
                Style::DoubleQuoted
            } else {
                Style::SingleQuoted
            };
            return self.node(at, at + length + 2, at + 1, at + 1 + length, style);
        }
        let begins = quote.is_ascii_alphanumeric()
            || quote >= 0x80
            || matches!(quote, b'$' | b'/' | b'_' | b'(' | b'~' | b'+' | b'.')
            || quote == b'-' && bytes.get(1).is_some_and(u8::is_ascii_alphanumeric);
        if !begins {
            return None;
        }
        let mut length = bytes.len();
        let mut substitution = false;
        for place in memchr::memchr3_iter(b':', b'#', b'$', bytes) {
            match bytes[place] {
                b':' if matches!(bytes.get(place + 1), None | Some(b' ')) => return None,
                b'#' if bytes[place - 1] == b' ' => {
                    length = place;
                    self.comments.push(self.span(at + place, end));
                    break;
                }
                b'$' => substitution = true,
                _ => {}
            }
        }
        while bytes[length - 1] == b' ' {
            length -= 1;
        }
        if substitution && unclosed(self.text, at, at + length).is_some() {
            return None;
        }
        self.node(at, at + length, at, at + length, Style::Plain)
    }

    /// A scalar with the source text `start..end`, whose content without quotes is `from..to`.
    fn node(&self, start: usize, end: usize, from: usize, to: usize, style: Style) -> Option<Node> {
        let text = self.text.get(from..to)?.into();
        Some(Node::new(
            self.span(start, end),
            Content::Scalar(Scalar { text, style }),
        ))
    }

    fn add_node(&mut self, node: Node) {
        self.nodes += 1;
        let start = self.open.last().map_or(0, |open| open.start);
        match self.open.last_mut().map(|open| &mut open.members) {
            Some(SimpleMembers::Map { entries, key }) => match key.take() {
                Some(key) => {
                    if entries.len() == entries.capacity() && entries.len() >= SHORT_MAP {
                        // Reserve for all entries at once instead of doubling: as if the rest of
                        // the text were this map, with entries as long as those read so far.
                        let read = (node.span.end as usize).saturating_sub(start).max(1);
                        let left = self.text.len().saturating_sub(start + read);
                        let more = (entries.len() as u64 * left as u64 / read as u64) as usize;
                        entries
                            .reserve_exact((more + more / 16).min(MAX_RESERVED).max(entries.len()));
                    }
                    entries.push(MapEntry { key, value: node });
                }
                None => *key = Some(node),
            },
            Some(SimpleMembers::List { items, dash }) => {
                *dash = None;
                items.push(node);
            }
            None => self.root = Some(node),
        }
    }

    fn close(&mut self) {
        let Some(SimpleContainer { start, members, .. }) = self.open.pop() else {
            return;
        };
        let (content, end) = match members {
            SimpleMembers::Map { mut entries, key } => {
                if let Some(key) = key {
                    let value = Node::empty(self.file, key.span.end as usize + 1);
                    entries.push(MapEntry { key, value });
                    self.nodes += 1;
                }
                let end = entries
                    .last()
                    .map_or(start as u32, |entry| entry.value.span.end);
                if entries.len() > SHORT_MAP {
                    entries.shrink_to_fit();
                    (Content::Map(entries), end)
                } else {
                    let mut exact = Vec::with_capacity(entries.len());
                    exact.append(&mut entries);
                    self.spare.push(entries);
                    (Content::Map(exact), end)
                }
            }
            SimpleMembers::List { mut items, dash } => {
                if let Some(place) = dash {
                    items.push(Node::empty(self.file, place));
                    self.nodes += 1;
                }
                let end = items.last().map_or(start as u32, |item| item.span.end);
                (Content::List(items), end)
            }
        };
        let span = Span::new(self.file, start as u32, end);
        self.add_node(Node::new(span, content));
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }
}

/// Whether a text has no control characters except line feeds, and no characters that YAML treats
/// specially wherever they occur. Checks every byte without early exit, so that the compiler can
/// vectorise it.
fn has_plain_characters(text: &str) -> bool {
    let (mut control, mut any) = (false, 0);
    for &byte in text.as_bytes() {
        control |= byte < 0x20 && byte != b'\n' || byte == 0x7f;
        any |= byte;
    }
    !control && (any < 0x80 || text.chars().all(is_plain_character))
}

/// Whether a character is no control character, byte order mark or noncharacter.
fn is_plain_character(character: char) -> bool {
    !matches!(
        character,
        '\u{80}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

fn spaces(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b' ').count()
}

fn is_item(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'-') && matches!(bytes.get(1), None | Some(b' '))
}
