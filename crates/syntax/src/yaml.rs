//! YAML to a tree: events become nodes with exact places.
//!
//! ```text
//! text ── events ── open containers ── root ── aliases ── Tree
//!            │              ▲
//!         trouble ── recovery: what is wrong, and where to read on
//! ```
//!
//! The only module that names the YAML parser. Reading on after an error (`recovery`) begins at the start of a line
//! with some containers open: the parser is given a short text that opens as many before the rest of the document.

use std::borrow::Cow;

use diag::{Diagnostics, FileId, Span, Spanned};
use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, StructureStyle};

use crate::decode;
use crate::recovery::Trouble;
use crate::scan::{Cut, unclosed};
use crate::simple;
use crate::{
    Content, DOCUMENT_TOO_LARGE, Entry, Format, MAX_DEPTH, MAX_NODES, MULTIPLE_DOCUMENTS, Node, Scalar, Style, Tree,
};

/// A container whose end has not been read yet.
pub(crate) struct Open {
    /// The node to be; its span begins where the container does.
    pub(crate) node: Node,
    /// A key whose value has not been read yet; maps only.
    pub(crate) key: Option<Node>,
    /// Whether it is written with brackets.
    pub(crate) flow: bool,
}

/// What a document has become so far.
pub(crate) struct Reader<'t> {
    pub(crate) file: FileId,
    pub(crate) text: &'t str,
    pub(crate) found: &'t mut Diagnostics,
    pub(crate) root: Option<Node>,
    pub(crate) open: Vec<Open>,
    pub(crate) comments: Vec<Span>,
    /// Substitutions that the parser shall not see as they are, ascending.
    pub(crate) masks: Vec<Cut>,
    /// Where the last event stood.
    pub(crate) last: usize,
    pub(crate) nodes: usize,
    /// The place of the error that was reported last.
    pub(crate) reported: Option<usize>,
    aliases: bool,
    /// Emptied vectors of closed containers: a container grows in one of them and is then stored without excess.
    spare_entries: Vec<Vec<Entry>>,
    spare_items: Vec<Vec<Node>>,
}

/// How the offsets of a part that is being read translate into offsets of the whole text.
#[derive(Clone, Copy)]
struct Part {
    /// Bytes before the part that open containers and stand nowhere in the text.
    prefix: usize,
    /// Where the rest of it begins in the text.
    from: usize,
}

impl Part {
    fn offset(self, offset: usize) -> usize {
        (offset + self.from).saturating_sub(self.prefix).max(self.from)
    }

    fn span(self, file: FileId, at: granit_parser::Span) -> Span {
        let range = at.byte_range().unwrap_or(0..0);
        let start = self.offset(range.start);
        Span::new(file, start as u32, self.offset(range.end).max(start) as u32)
    }
}

pub(crate) fn parse(file: FileId, text: &str, found: &mut Diagnostics) -> Tree {
    match simple::parse(file, text) {
        Some(tree) => tree,
        None => parse_events(file, text, found),
    }
}

fn parse_events(file: FileId, text: &str, found: &mut Diagnostics) -> Tree {
    let mut from = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader {
        file,
        text,
        found,
        root: None,
        open: Vec::new(),
        comments: Vec::new(),
        masks: Vec::new(),
        last: from,
        nodes: 0,
        reported: None,
        aliases: false,
        spare_entries: Vec::new(),
        spare_items: Vec::new(),
    };
    let mut trouble = reader.read(&text[from..], Part { prefix: 0, from });
    while let Some(what) = trouble {
        match reader.recover(what, from) {
            Some(next) => from = next,
            None => break,
        }
        reader.last = from;
        let (source, prefix) = reader.part(from);
        trouble = reader.read(&source, Part { prefix, from });
    }
    while !reader.open.is_empty() {
        reader.close(None);
    }
    let Reader { mut root, comments, aliases, nodes, found, .. } = reader;
    if aliases && let Some(root) = &mut root {
        crate::alias::resolve(root, text, nodes, found);
    }
    Tree { root, comments, format: Format::Yaml }
}

impl Reader<'_> {
    /// Reads events until the document ends or something is wrong.
    fn read(&mut self, source: &str, part: Part) -> Option<Trouble> {
        let mut options = Options::default();
        options.max_buffered_comment_events = usize::MAX;
        options.emit_anchor_events = true;
        options.emit_unresolved_aliases = true;
        let mut parser = Parser::new_from_str_with_options(source, options);
        let mut started = false;
        while let Some(next) = parser.next_event() {
            let (event, at) = match next {
                Ok(next) => next,
                Err(error) => {
                    let at = part.offset(error.marker().byte_offset().unwrap_or(source.len()));
                    return Some(Trouble::Error { at: at.min(self.text.len()), kind: error.kind().clone() });
                }
            };
            let in_prefix = at.start.byte_offset().unwrap_or(0) < part.prefix;
            match event {
                Event::Scalar(text, style, ..) => {
                    if in_prefix {
                        self.empty_in_prefix(at.is_empty());
                        continue;
                    }
                    let span = part.span(self.file, at);
                    let style = style_of(style);
                    if style == Style::Plain
                        && let Some(trouble) = self.cut(span, !self.in_flow())
                    {
                        return Some(trouble);
                    }
                    let mut node = self.node(span, at, part);
                    self.scalar(&mut node, text, style);
                    self.put(node);
                }
                Event::MappingStart(style, ..) | Event::SequenceStart(style, ..) if !in_prefix => {
                    let mut span = part.span(self.file, at);
                    if style == StructureStyle::Block && matches!(event, Event::SequenceStart(..)) {
                        span.start = self.first_dash(span.start);
                    }
                    if style == StructureStyle::Block {
                        span.end = span.start;
                    }
                    if self.open.len() >= MAX_DEPTH {
                        return Some(Trouble::TooDeep { at: span.start as usize });
                    }
                    let mut node = self.node(span, at, part);
                    node.content = match event {
                        Event::MappingStart(..) => Content::Map(self.spare_entries.pop().unwrap_or_default()),
                        _ => Content::List(self.spare_items.pop().unwrap_or_default()),
                    };
                    self.open.push(Open { node, key: None, flow: style == StructureStyle::Flow });
                    self.last = span.start as usize;
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    let span = part.span(self.file, at);
                    if !span.is_empty() {
                        self.last = span.start as usize;
                    }
                    self.close((!span.is_empty()).then_some(span.end));
                }
                Event::Anchor(..) => {
                    let span = part.span(self.file, at);
                    self.anchor(span);
                }
                Event::Alias(_) | Event::UnresolvedAlias(_) => {
                    self.aliases = true;
                    let span = part.span(self.file, at);
                    let mut node = Node::missing(span);
                    node.set_alias(span);
                    self.put(node);
                }
                Event::Comment(..) => self.comments.push(part.span(self.file, at)),
                Event::DocumentStart(..) if started => {
                    let span = part.span(self.file, at);
                    self.second_document(span);
                    return None;
                }
                Event::DocumentStart(..) => started = true,
                _ => {}
            }
            if self.nodes > MAX_NODES {
                let place = Span::new(self.file, self.last as u32, self.last as u32);
                self.found.push(too_many_nodes().label(place, "not read from here on"));
                return None;
            }
        }
        None
    }

    /// A value of nothing in the text that only opens containers: that of the last key, if one waits.
    fn empty_in_prefix(&mut self, empty: bool) {
        if empty && let Some(Open { key: Some(key), node, .. }) = self.open.last() {
            let at = after_colon(self.text, key.written().end, node.span.start);
            self.put(empty_scalar(self.file, at));
        }
    }

    pub(crate) fn second_document(&mut self, span: Span) {
        let text = if span.is_empty() { "this begins another document" } else { "another document begins here" };
        self.found.push(
            MULTIPLE_DOCUMENTS
                .new("a file holds one document, this one holds several")
                .label(span, text)
                .help("move what follows into a file of its own"),
        );
    }

    fn node(&self, span: Span, at: granit_parser::Span, part: Part) -> Node {
        let mut node = Node::missing(span);
        if let Some(tag) = at.tag_span() {
            let span = part.span(self.file, tag);
            if let Some(written) = self.text.get(span.range()) {
                node.set_tag(Spanned::new(written.into(), span));
            }
        }
        node
    }

    fn scalar(&self, node: &mut Node, mut text: Cow<'_, str>, style: Style) {
        if style == Style::Plain && node.span.is_empty() {
            node.content = Content::Scalar(Scalar { text: Box::default(), style });
            if node.tag().is_none() {
                let at = self.place_of_nothing(node.span.start as usize) as u32;
                node.span = Span::new(self.file, at, at);
            }
            return;
        }
        if matches!(style, Style::Literal | Style::Folded) {
            let after = node.tag().map_or(self.end_of_last(), |tag| tag.span.end as usize);
            node.span = block_span(self.text, after, node.span);
            // The parser adds a line break that the text does not have where it ends with the scalar.
            if node.span.end as usize == self.text.len() && !self.text.ends_with(['\n', '\r']) {
                let content = text.strip_suffix('\n').unwrap_or(&text).to_owned();
                text = content.into();
            }
        }
        node.content = match self.mask_in(node.span) {
            Some(mask) if !mask.closed && style == Style::Plain => Content::Missing,
            Some(_) => Content::Scalar(Scalar { text: decode::text(node.span, style, &text, self.text), style }),
            None => Content::Scalar(Scalar { text: text.into(), style }),
        };
    }

    /// Whether a plain scalar ends inside a substitution because YAML cut it there.
    fn cut(&self, span: Span, block: bool) -> Option<Trouble> {
        let (start, end) = (span.start as usize, span.end as usize);
        let bytes = self.text.as_bytes();
        let slice = self.text.get(start..end)?;
        if !slice.contains('$') || self.mask_in(span).is_some() {
            return None;
        }
        if !block && slice.ends_with('$') && bytes.get(end) == Some(&b'{') {
            return Some(Trouble::Cut { at: end - 1, end });
        }
        let at = unclosed(self.text, start, end)?;
        let blanks = bytes[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let cut = match bytes.get(end + blanks) {
            Some(b'#') => blanks > 0,
            Some(b':') => true,
            Some(b',' | b'[' | b']' | b'{' | b'}') => !block,
            _ => false,
        };
        cut.then_some(Trouble::Cut { at, end })
    }

    /// The first mask that lies in `span`, one without an end before all others.
    fn mask_in(&self, span: Span) -> Option<Cut> {
        if self.masks.is_empty() {
            return None;
        }
        let first = self.masks.partition_point(|mask| mask.end <= span.start as usize);
        let inside = self.masks.get(first..)?.iter().take_while(|mask| mask.start < span.end as usize);
        inside.copied().reduce(|one, other| if one.closed { other } else { one })
    }

    /// Right after the colon or dash to which a value of nothing belongs.
    fn place_of_nothing(&self, at: usize) -> usize {
        match self.open.last() {
            Some(Open { key: Some(key), node, .. }) => after_colon(self.text, key.written().end, node.span.start),
            Some(Open { node: Node { content: Content::List(_), .. }, flow: false, .. }) => {
                after_dash(self.text.as_bytes(), self.end_of_last()).unwrap_or(at)
            }
            // A key of nothing stands behind its `?`, also if that ends the line.
            Some(Open { key: None, node: Node { content: Content::Map(_), span, .. }, .. }) => {
                let before = self.text.get(..at).unwrap_or_default().trim_end();
                let stands_alone = |rest: &str| rest.is_empty() || rest.ends_with(char::is_whitespace);
                let is_own = before.len() > span.start as usize;
                if is_own && before.strip_suffix('?').is_some_and(stands_alone) { before.len() } else { at }
            }
            _ => at,
        }
    }

    /// Where a block list begins that the parser says begins at `start`: in the column of its key it names the item.
    fn first_dash(&self, start: u32) -> u32 {
        let Some(Open { key: Some(key), node, .. }) = self.open.last() else { return start };
        let after = after_colon(self.text, key.written().end, node.span.start);
        after_dash(self.text.as_bytes(), after).map_or(start, |after| start.min(after as u32 - 1))
    }

    /// Where the text that was made into nodes ends.
    fn end_of_last(&self) -> usize {
        let Some(Open { node, key, .. }) = self.open.last() else { return 0 };
        let last = match (key, &node.content) {
            (Some(key), _) => Some(key),
            (None, Content::Map(entries)) => entries.last().map(|entry| &entry.value),
            (None, Content::List(items)) => items.last(),
            _ => None,
        };
        last.map_or(node.span.start, |last| last.written().end) as usize
    }

    fn in_flow(&self) -> bool {
        self.open.last().is_some_and(|open| open.flow)
    }

    /// Gives the last node that began its anchor.
    fn anchor(&mut self, span: Span) {
        if let Some(node) = self.youngest() {
            node.set_anchor(span);
        }
    }

    /// The node that the last event began.
    fn youngest(&mut self) -> Option<&mut Node> {
        let Some(Open { node, key, .. }) = self.open.last_mut() else { return self.root.as_mut() };
        if key.is_some() {
            return key.as_mut();
        }
        if node.as_map().is_none_or(<[Entry]>::is_empty) && node.as_list().is_none_or(<[Node]>::is_empty) {
            return Some(node);
        }
        match &mut node.content {
            Content::Map(entries) => entries.last_mut().map(|entry| &mut entry.value),
            Content::List(items) => items.last_mut(),
            _ => None,
        }
    }

    /// Adds a finished node to the container that is open.
    pub(crate) fn put(&mut self, node: Node) {
        self.nodes += 1;
        if !node.span.is_empty() {
            self.last = self.last.max(node.written().start as usize);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.node.content {
            Content::Map(entries) => match open.key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => open.key = Some(node),
            },
            Content::List(items) => items.push(node),
            _ => {}
        }
    }

    /// Ends the container that was opened last: at `end`, or with its last child.
    pub(crate) fn close(&mut self, end: Option<u32>) {
        let Some(Open { mut node, key, flow }) = self.open.pop() else { return };
        if let (Some(key), Content::Map(entries)) = (key, &mut node.content) {
            let at = place_of_missing(self.text, key.written().end);
            entries.push(Entry { key, value: Node::missing(Span::new(self.file, at, at)) });
        }
        let last = match &node.content {
            Content::Map(entries) => entries.last().map(|entry| entry.value.written().end.max(entry.key.written().end)),
            Content::List(items) => items.last().map(|item| item.written().end),
            _ => None,
        };
        let last = last.unwrap_or(node.span.end);
        node.span.end = if flow { end.unwrap_or(last) } else { last }.max(node.span.end);
        match &mut node.content {
            Content::Map(entries) => {
                let mut exact = Vec::with_capacity(entries.len());
                exact.append(entries);
                self.spare_entries.push(std::mem::replace(entries, exact));
            }
            Content::List(items) => {
                let mut exact = Vec::with_capacity(items.len());
                exact.append(items);
                self.spare_items.push(std::mem::replace(items, exact));
            }
            _ => {}
        }
        let before = self.last;
        self.put(node);
        self.last = before;
    }
}

pub(crate) fn too_many_nodes() -> diag::Diagnostic {
    DOCUMENT_TOO_LARGE.new("a document may have a million values, this one has more").help("split the document")
}

pub(crate) fn empty_scalar(file: FileId, at: usize) -> Node {
    let scalar = Scalar { text: Box::default(), style: Style::Plain };
    Node::new(Span::new(file, at as u32, at as u32), Content::Scalar(scalar))
}

/// After the colon that follows a key of the map that begins at `map`; where there is none, the end of the key.
fn after_colon(text: &str, key_end: u32, map: u32) -> usize {
    let key_end = key_end as usize;
    let bytes = text.as_bytes();
    let column = |at: usize| {
        let before = &bytes[..at.min(bytes.len())];
        before.iter().rev().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count()
    };
    let blanks = bytes[key_end.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    // On a line of its own a colon is one only before white space and below its map; otherwise it begins the next key.
    let same_line = !bytes[key_end.min(bytes.len())..][..blanks].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    let stands_alone = bytes.get(key_end + blanks + 1).is_none_or(u8::is_ascii_whitespace);
    let is_below = || column(key_end + blanks) == column(map as usize);
    let is_colon = bytes.get(key_end + blanks) == Some(&b':') && (same_line || stands_alone && is_below());
    if is_colon { key_end + blanks + 1 } else { key_end }
}

/// After the dash of the next item of a block list; only white space, comments and what belongs to
/// the list may stand before it.
pub(crate) fn after_dash(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'-' => return Some(at + 1),
            b'#' => at = decode::line_end(bytes, at),
            b'&' | b'!' => {
                let rest = bytes.get(at..)?;
                at += rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
}

/// Where the value of a key is missing: after its colon, if that stands on the same line.
pub(crate) fn place_of_missing(text: &str, key_end: u32) -> u32 {
    let after = after_colon(text, key_end, key_end);
    let between = text.get(key_end as usize..after).unwrap_or("");
    if between.contains(['\n', '\r']) { key_end } else { after as u32 }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

/// The span of a block scalar from its indicator to the end of its last line with content.
///
/// The parser's own begins at the first character of the content; the indicator is looked for from `after` on.
fn block_span(text: &str, after: usize, content: Span) -> Span {
    let bytes = text.as_bytes();
    let stop = (content.start as usize).min(bytes.len());
    let mut header = None;
    let mut above = stop;
    // The header ends a line above the content; only blank lines and, if there is no content, comments lie between.
    while header.is_none()
        && let Some(last) = bytes[after.min(above)..above].iter().rposition(|byte| !byte.is_ascii_whitespace())
    {
        let last = after + last;
        let start = bytes[after..last]
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(after, |end| after + end + 1);
        header =
            (start..=last).find(|place| matches!(bytes[*place], b'|' | b'>') && is_header(&bytes[place + 1..=last]));
        above = start;
    }
    let start = header.unwrap_or(stop);
    let end = (content.end as usize).min(bytes.len());
    let trimmed =
        text.get(stop..end).map_or(end, |content| stop + content.trim_end_matches(['\n', '\r', ' ', '\t']).len());
    let line = decode::line_end(bytes, header.unwrap_or(start));
    // White space at the end of the last line is content.
    let end = if trimmed > stop { decode::line_end(bytes, trimmed).min(end) } else { line.min(end.max(start)) };
    Span::new(content.file, start as u32, end.max(start) as u32)
}

/// Whether what follows `|` or `>` may do so: indicators, then nothing or a comment.
fn is_header(rest: &[u8]) -> bool {
    let indicators = rest.iter().take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
    let blanks = rest[indicators..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match rest.get(indicators + blanks) {
        None => true,
        Some(b'#') => blanks > 0,
        Some(_) => false,
    }
}

/// The parser's errors, for those who put them into words.
pub(crate) type Kind = ErrorKind;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both ways must agree wherever the short one is taken.
    fn agree(text: &str) -> Result<bool, TestCaseError> {
        let file = FileId::new(0);
        let Some(simple) = simple::parse(file, text) else { return Ok(false) };
        let mut found = Diagnostics::new();
        let events = parse_events(file, text, &mut found);
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(format!("{:?}", simple), format!("{:?}", events));
        Ok(true)
    }

    /// Lines that are often simple, at indentations that often fit.
    fn lines() -> impl Strategy<Value = String> {
        let content = prop::sample::select(vec![
            "a:",
            "b: 1",
            "c: x y",
            "d: \"q # r\"",
            "e: 'q: r' # c",
            "- f",
            "- g: 1",
            "- ",
            "-",
            "- - h",
            "- i:",
            "# c",
            "",
            "j",
            "k: -1",
            "l: - m",
            "n: ${f(\"x\")} y",
            "o: ${x",
            "p: {}",
            "q: |",
            "r:  s  ",
            "t : u",
            "u: v#w",
            "w: x:y",
            "x: é",
            "- \"y\"",
            "- z # c",
            "-  - a",
            "-   b:   c",
            "a:   # c",
            "---",
            "f: \"x\\n\"",
            "g: 'it''s'",
            "h: !t i",
            "- - - 1",
            "k: ~",
            "l: $",
            "m: - ",
            "n: .5",
            "é: 1",
        ]);
        let line = (0usize..4, content).prop_map(|(indent, content)| format!("{}{content}\n", "  ".repeat(indent)));
        prop::collection::vec(line, 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_short_way_gives_the_same_tree(text in lines(), cut in any::<prop::sample::Index>()) {
            agree(&text)?;
            let mut at = cut.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            agree(&text[..at])?;
        }
    }

    #[test]
    fn simple_documents_take_the_short_way() {
        for text in [
            "",
            "# c\n",
            "version: 2023-04-20\nresources:\n  r0:\n    type: test/data # c\n    spec:\n      input: v ${r.spec.id}\n",
            "a:\n- b\n- c: 1\n  d: \"e\"\n-\n  - f\ng:\nh:\n  i: 'j'",
            "- - a\n  - b\n-\n- c:\n    d: é\n",
        ] {
            assert!(agree(text).expect("the same tree"), "{text}");
        }
    }
}
