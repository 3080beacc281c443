//! Reads the text of an interpolation: literal parts, and property accesses between `${` and `}`
//! (decisions/pulumi#interpolation).
//!
//! ```text
//! text    = { "$$" | "${" access "}" | any other character }
//! access  = root { "." name | "[" index "]" }          root = name | "[" quoted "]"
//! name    = one or more characters except . [ }        index = quoted | digits
//! ```
//!
//! Not here: the meaning of names (`lowering`).

use diag::{Diagnostic, Diagnostics, Span, Spanned, TextMap};
use expr::codes::{SUBSTITUTION_EMPTY, SUBSTITUTION_UNTERMINATED};

use crate::codes::ACCESS_SYNTAX;

/// A part of an interpolated text.
#[derive(Debug, PartialEq)]
pub(crate) enum TextPiece {
    /// Literal text, with `$$` replaced by `$`.
    Literal(String),
    /// A property access and the place of its `${..}`.
    Access(PropertyAccess, Span),
    /// A part that was reported.
    Reported(Span),
}

/// A property access: a name, and steps into its value.
#[derive(Debug, PartialEq)]
pub(crate) struct PropertyAccess {
    /// The name of a configuration entry, variable or resource.
    pub(crate) root: Spanned<String>,
    /// The steps, each with its place.
    pub(crate) steps: Vec<Spanned<AccessStep>>,
}

/// One step of an access.
#[derive(Debug, PartialEq)]
pub(crate) enum AccessStep {
    /// `.name` or `["name"]`.
    Name(String),
    /// `[0]`.
    Index(u64),
}

/// Whether a text has anything to replace: an access, or an escaped dollar sign.
pub(crate) fn is_interpolated(text: &str) -> bool {
    text.contains("${") || text.contains("$$")
}

/// Whether a text has an access: `${` after no escaped dollar sign.
pub(crate) fn has_access(text: &str) -> bool {
    text.replace("$$", "").contains("${")
}

/// Splits a text into its parts. Reports mistakes in the accesses.
pub(crate) fn pieces(text: &str, map: &TextMap, found: &mut Diagnostics) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = 0;
    while let Some(at) = text[rest..].find('$').map(|at| at + rest) {
        literal.push_str(&text[rest..at]);
        let after = text[at + 1..].chars().next();
        match after {
            Some('$') => {
                literal.push('$');
                rest = at + 2;
            }
            Some('{') => {
                if !literal.is_empty() {
                    pieces.push(TextPiece::Literal(std::mem::take(&mut literal)));
                }
                let mut reader = AccessReader {
                    text,
                    at: at + 2,
                    map,
                };
                let piece = match reader.access() {
                    Ok(access) => TextPiece::Access(access, reader.span(at, reader.at)),
                    Err(mistake) => {
                        found.push(*mistake);
                        reader.skip();
                        TextPiece::Reported(reader.span(at, reader.at))
                    }
                };
                rest = reader.at;
                pieces.push(piece);
            }
            _ => {
                literal.push('$');
                rest = at + 1;
            }
        }
    }
    literal.push_str(&text[rest..]);
    if !literal.is_empty() {
        pieces.push(TextPiece::Literal(literal));
    }
    pieces
}

/// Reads one access. `at` is the byte that is read next.
struct AccessReader<'t> {
    text: &'t str,
    at: usize,
    map: &'t TextMap,
}

impl AccessReader<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        self.map.span(start as u32, end as u32)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Moves to the end of an access with a mistake: after the next `}`.
    fn skip(&mut self) {
        self.at = match self.text[self.at..].find('}') {
            Some(end) => self.at + end + 1,
            None => self.text.len(),
        };
    }

    /// Reads the access after `${`, and its `}`.
    fn access(&mut self) -> Result<PropertyAccess, Box<Diagnostic>> {
        let start = self.at;
        let root = match self.peek() {
            Some('}') => {
                let span = self.span(start - 2, start + 1);
                return Err(Box::new(
                    SUBSTITUTION_EMPTY
                        .new("`${}` accesses nothing")
                        .label(span, "a name is missing")
                        .help("write a name between the braces, or `$${}` for the text"),
                ));
            }
            Some('[') => {
                let (step, span) = self.brackets()?;
                match step {
                    AccessStep::Name(name) => Spanned::new(name, span),
                    AccessStep::Index(_) => {
                        return Err(Box::new(
                            ACCESS_SYNTAX
                                .new("an access cannot begin with a position")
                                .label(span, "a name is needed first")
                                .help("begin with a name, such as `${list[0]}`"),
                        ));
                    }
                }
            }
            _ => self.name(start)?,
        };
        let mut steps = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.unterminated(start)),
                Some('}') => {
                    self.at += 1;
                    return Ok(PropertyAccess { root, steps });
                }
                Some('.') => {
                    // Further dots have no meaning.
                    while self.peek() == Some('.') {
                        self.at += 1;
                    }
                    if matches!(self.peek(), Some('[' | '}') | None) {
                        continue;
                    }
                    let name = self.name(start)?;
                    steps.push(name.map(AccessStep::Name));
                }
                Some('[') => {
                    let (step, span) = self.brackets()?;
                    steps.push(Spanned::new(step, span));
                }
                Some(_) => {
                    let span = self.span(self.at, self.at + self.peek().map_or(1, char::len_utf8));
                    return Err(Box::new(
                        ACCESS_SYNTAX
                            .new("only `.name` or `[..]` can follow a `]`")
                            .label(span, "not expected here"),
                    ));
                }
            }
        }
    }

    fn name(&mut self, start: usize) -> Result<Spanned<String>, Box<Diagnostic>> {
        let begin = self.at;
        let length = self.text[begin..].find(['.', '[', '}']);
        let Some(length) = length else {
            return Err(self.unterminated(start));
        };
        if length == 0 {
            let span = self.span(begin, begin + 1);
            return Err(Box::new(
                ACCESS_SYNTAX
                    .new("a name is missing in the access")
                    .label(span, "a name is needed before this"),
            ));
        }
        self.at = begin + length;
        let name = self.text[begin..self.at].to_owned();
        Ok(Spanned::new(name, self.span(begin, self.at)))
    }

    /// Reads `["name"]` or `[0]`.
    fn brackets(&mut self) -> Result<(AccessStep, Span), Box<Diagnostic>> {
        let begin = self.at;
        self.at += 1;
        let step = match self.peek() {
            Some('"') => AccessStep::Name(self.quoted(begin)?),
            Some(digit) if digit.is_ascii_digit() => {
                let rest = &self.text[self.at..];
                let length = rest
                    .find(|letter: char| !letter.is_ascii_digit())
                    .unwrap_or(rest.len());
                let digits = &rest[..length];
                self.at += length;
                let index = digits.parse().map_err(|_| {
                    Box::new(
                        ACCESS_SYNTAX
                            .new("the position is too large")
                            .label(self.span(begin, self.at), "more than any list has"),
                    )
                })?;
                AccessStep::Index(index)
            }
            _ => {
                let span = self.span(begin, self.at);
                return Err(Box::new(
                    ACCESS_SYNTAX
                        .new("`[` needs a name in quotes or a position")
                        .label(span, "neither follows")
                        .help("write `[\"name\"]` or `[0]`"),
                ));
            }
        };
        if self.peek() != Some(']') {
            let span = self.span(begin, self.at);
            return Err(Box::new(
                ACCESS_SYNTAX
                    .new("the bracket is not closed")
                    .label(span, "`]` is missing after this"),
            ));
        }
        self.at += 1;
        Ok((step, self.span(begin, self.at)))
    }

    /// Reads a name in quotes, in which `\"` is a quote.
    fn quoted(&mut self, bracket: usize) -> Result<String, Box<Diagnostic>> {
        self.at += 1;
        let mut name = String::new();
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("\\\"") {
                name.push('"');
                self.at += 2;
                continue;
            }
            match rest.chars().next() {
                None => {
                    let span = self.span(bracket, self.text.len());
                    return Err(Box::new(
                        ACCESS_SYNTAX
                            .new("the quoted name has no end")
                            .label(span, "`\"` is missing"),
                    ));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(name);
                }
                Some(letter) => {
                    name.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
    }

    fn unterminated(&self, start: usize) -> Box<Diagnostic> {
        let span = self.span(start - 2, self.text.len());
        Box::new(
            SUBSTITUTION_UNTERMINATED
                .new("`${` has no `}`")
                .label(span, "begins here")
                .help("add `}`, or write `$${` for the text `${`"),
        )
    }
}

#[cfg(test)]
mod tests {
    use diag::FileId;

    use super::*;

    fn read(text: &str) -> (Vec<TextPiece>, usize) {
        let map = TextMap::identity(FileId::new(0), 0, text.len() as u32);
        let mut found = Diagnostics::new();
        let pieces = pieces(text, &map, &mut found);
        (pieces, found.len())
    }

    /// The root and the steps of a text that is one access.
    fn access(text: &str) -> String {
        let (pieces, mistakes) = read(text);
        assert_eq!(mistakes, 0, "{text}");
        let [TextPiece::Access(access, _)] = pieces.as_slice() else {
            panic!("{text}: {pieces:?}");
        };
        let steps = access.steps.iter().map(|step| match &step.item {
            AccessStep::Name(name) => format!(".{name}"),
            AccessStep::Index(at) => format!("[{at}]"),
        });
        std::iter::once(access.root.item.clone())
            .chain(steps)
            .collect()
    }

    #[test]
    fn an_escaped_dollar_sign_begins_no_access() {
        assert!(has_access("a ${x}") && has_access("$$${x}"));
        assert!(!has_access("$${x}") && !has_access("$x"));
    }

    #[test]
    fn the_access_forms_of_the_specification_are_read() {
        for (text, steps) in [
            ("${root}", "root"),
            ("${root.foo}", "root.foo"),
            (r#"${root["foo"]}"#, "root.foo"),
            ("${root.bar.quux}", "root.bar.quux"),
            (r#"${root["bar"].quux}"#, "root.bar.quux"),
            (r#"${root["bar"]["quux"]}"#, "root.bar.quux"),
            ("${root[0]}", "root[0]"),
            ("${root[100]}", "root[100]"),
            ("${root[0].foo}", "root[0].foo"),
            ("${root[0][1].foo}", "root[0][1].foo"),
            ("${root.foo.items[0].bar[1]}", "root.foo.items[0].bar[1]"),
            (
                r#"${root["key with \"escaped\" quotes"]}"#,
                r#"root.key with "escaped" quotes"#,
            ),
            (r#"${root["key with a ."]}"#, "root.key with a ."),
            (
                r#"${["root key with \"escaped\" quotes"].foo}"#,
                r#"root key with "escaped" quotes.foo"#,
            ),
            (r#"${["root key with a ."][100]}"#, "root key with a .[100]"),
            ("${root..foo}", "root.foo"),
        ] {
            assert_eq!(access(text), steps, "{text}");
        }
    }

    #[test]
    fn dollar_signs_are_escaped_or_stand_alone() {
        for (text, literal) in [
            ("$${value}", "${value}"),
            ("a$b", "a$b"),
            ("cost: 5$", "cost: 5$"),
            ("$$$${x}", "$${x}"),
        ] {
            let (pieces, mistakes) = read(text);
            assert_eq!(pieces, [TextPiece::Literal(literal.into())], "{text}");
            assert_eq!(mistakes, 0);
        }
    }

    #[test]
    fn a_mistake_ends_with_its_braces() {
        for text in [
            "${}", "${[0]}", "${a[x]}", "${a[\"b}", "${a", "${a[0]b}", "${.a}",
        ] {
            let (_, mistakes) = read(text);
            assert_eq!(mistakes, 1, "{text}");
        }
        let (pieces, mistakes) = read("a ${} b ${c} d");
        assert_eq!(mistakes, 1);
        assert_eq!(pieces.len(), 5, "{pieces:?}");
    }
}
