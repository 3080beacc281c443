//! Reports YAML syntax errors in plain terms, at the place of the mistake.

use diag::{Diagnostic, FileId, Span};

use crate::parser_stop::ParserErrorKind;
use crate::place::line_start;
use crate::scan::ScanFindings;
use crate::{DOCUMENT_TOO_LARGE, INVALID_SYNTAX};

/// The diagnostic of an error that the YAML parser reported at `at`. `seen` has the open quotes and
/// brackets there, `next` is the line at which parsing resumes.
pub(crate) fn yaml(
    file: FileId,
    text: &str,
    at: usize,
    kind: &ParserErrorKind,
    seen: &ScanFindings,
    next: Option<usize>,
) -> Diagnostic {
    let bytes = text.as_bytes();
    // Some errors are placed after the dash that causes them.
    let dashes = matches!(
        kind,
        ParserErrorKind::ExpectedBlockMappingKey | ParserErrorKind::BlockSequenceEntryNotAllowed
    );
    let at = if dashes && text.get(..at).is_some_and(|before| before.ends_with("- ")) {
        at - 2
    } else {
        at
    };
    let place = |from: usize, to: usize| {
        Span::new(file, from.min(text.len()) as u32, to.min(text.len()) as u32)
    };
    let here = place(at, after(text, at));
    match kind {
        ParserErrorKind::UnclosedQuotedScalar
        | ParserErrorKind::InvalidQuotedScalarIndent
        | ParserErrorKind::DocumentIndicatorInQuotedScalar => {
            let quote = seen.quote.map_or(here, |quote| place(quote, quote + 1));
            return INVALID_SYNTAX
                .new("a quoted text that does not end")
                .label(quote, "opened here")
                .help("close the quote; further lines of a quoted text are indented deeper than its key");
        }
        ParserErrorKind::RecursionLimitExceeded => return too_deep(file, at, crate::MAX_DEPTH),
        _ => {}
    }
    // A tab in the indentation is the mistake, whatever the parser reports.
    let is_structural = !matches!(
        kind,
        ParserErrorKind::UnknownQuotedScalarEscape | ParserErrorKind::InvalidUnicodeEscape
    );
    if let Some(tab) = indenting_tab(text, at).filter(|_| is_structural) {
        return tab_in_indentation(place(tab, tab + 1));
    }
    // A new entry of an outer container before the bracket is closed shows that the closing bracket
    // is missing.
    let forgotten = next.is_none_or(|next| next <= at) || is_unexpected_end(kind);
    if let Some(bracket) = seen.bracket.filter(|bracket| {
        forgotten && (is_unexpected_end(kind) || line_start(text, *bracket) < line_start(text, at))
    }) {
        let sign = bytes[bracket] as char;
        let other = if sign == '[' { ']' } else { '}' };
        return INVALID_SYNTAX
            .new(format!("a `{sign}` that is never closed"))
            .label(place(bracket, bracket + 1), "opened here")
            .help(format!("close it with `{other}`"));
    }
    parser_error(text, at, kind, seen, &place)
}

/// The message for an error of the parser that has no other explanation.
fn parser_error(
    text: &str,
    at: usize,
    kind: &ParserErrorKind,
    seen: &ScanFindings,
    place: &dyn Fn(usize, usize) -> Span,
) -> Diagnostic {
    let bytes = text.as_bytes();
    let here = place(at, after(text, at));
    let problem = |message: &str, label: &str| INVALID_SYNTAX.new(message).label(here, label);
    match kind {
        ParserErrorKind::MappingValueNotAllowed | ParserErrorKind::InvalidColonPlacement => {
            problem(
                "a `:` where no key can end",
                "this would begin a map inside a text",
            )
            .help("quote the text, or put the inner map on lines of its own, indented deeper")
        }
        ParserErrorKind::SimpleKeyExpected | ParserErrorKind::InvalidSimpleKey => problem(
            "a line that is neither a key nor a value",
            "expected `key: value`",
        )
        .help("put a `:` after the key"),
        ParserErrorKind::ExpectedBlockMappingKey
        | ParserErrorKind::ExpectedBlockSequenceEntry
        | ParserErrorKind::InvalidIndentation => indentation_error(text, at, kind, here),
        ParserErrorKind::TabInBlockIndentation
        | ParserErrorKind::TabInIndentation
        | ParserErrorKind::TabNotAllowed
        | ParserErrorKind::TabAtBlockScalarStart
        | ParserErrorKind::TabInPlainScalar => {
            let line = line_start(text, at);
            // Some errors are placed before the line that begins with the tab.
            let tab = bytes
                .get(line..)
                .and_then(|rest| rest.iter().position(|byte| *byte == b'\t'));
            let tab = tab.map_or(here, |tab| place(line + tab, line + tab + 1));
            tab_in_indentation(tab)
        }
        ParserErrorKind::UnexpectedCharacter { character } => problem(
            &format!(
                "a text without quotes cannot begin with `{}`",
                character.escape_default()
            ),
            "reserved in YAML",
        )
        .help("quote the text"),
        ParserErrorKind::InvalidTrailingSingleQuotedScalar
        | ParserErrorKind::InvalidTrailingDoubleQuotedScalar => problem(
            "more text after a closing quote",
            "the quoted text has ended before",
        )
        .help(
            "quote the whole text, and double a `'` inside `'..'` or write `\\\"` inside `\"..\"`",
        ),
        ParserErrorKind::UnknownQuotedScalarEscape
        | ParserErrorKind::InvalidQuotedScalarHexEscape
        | ParserErrorKind::InvalidLowSurrogateHexEscape
        | ParserErrorKind::InvalidLowSurrogate
        | ParserErrorKind::MissingLowSurrogate
        | ParserErrorKind::UnpairedLowSurrogate
        | ParserErrorKind::InvalidUnicodeEscape => INVALID_SYNTAX
            .new("no such escape")
            .label(
                unknown_escape(text, at).map_or(here, |at| place(at, at + 1)),
                "a backslash has a meaning inside `\"..\"`",
            )
            .help("write `\\\\` for a backslash, or use `'..'`, where it has none"),
        ParserErrorKind::ExpectedFlowMappingSeparator => {
            problem("expected `,` or `}`", "the map goes on or ends here")
        }
        ParserErrorKind::ExpectedFlowSequenceSeparator => {
            problem("expected `,` or `]`", "the list goes on or ends here")
        }
        ParserErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let wrong = seen.mismatch.map_or(here, |at| place(at, at + 1));
            INVALID_SYNTAX
                .new(format!("`{close}` cannot close `{open}`"))
                .label(wrong, "the wrong bracket")
        }
        ParserErrorKind::MisplacedFlowCollectionEnd => {
            problem("a closing bracket without an opening one", "closes nothing")
        }
        ParserErrorKind::BlockEntryInFlowCollection
        | ParserErrorKind::BlockSequenceEntryNotAllowed => problem(
            "a `-` where no list can begin",
            "an item of a list stands on a line of its own",
        )
        .help("put the list on lines of its own, or quote the text"),
        ParserErrorKind::InvalidBlockScalarHeader => problem(
            "text behind `|` or `>`",
            "the text of a block begins on the next line",
        )
        .help("move it to the next line"),
        ParserErrorKind::InvalidBlockScalarIndent | ParserErrorKind::ZeroBlockScalarIndent => {
            problem(
                "a block of text that is not indented evenly",
                "a line at the beginning is indented deeper",
            )
        }
        ParserErrorKind::CommentNotSeparated => problem(
            "a comment right behind a value",
            "needs a space before the `#`",
        ),
        ParserErrorKind::CommentInterceptedScalar => problem(
            "a comment inside a text of several lines",
            "the text cannot go on after a comment",
        )
        .help("quote the text, or move the comment above it"),
        ParserErrorKind::MissingAnchorOrAliasName => problem(
            "a `&` or `*` without a name",
            "would begin an anchor or an alias",
        )
        .help("quote the text"),
        ParserErrorKind::UnsupportedYamlMajorVersion
        | ParserErrorKind::YamlVersionTooLong
        | ParserErrorKind::MissingYamlVersion => {
            problem("a version of YAML that is not understood", "`%YAML 1.2` is")
        }
        ParserErrorKind::UndeclaredTagHandle => problem(
            "a tag with an undeclared prefix",
            "no `%TAG` above names it",
        ),
        ParserErrorKind::BomInsideDocument => problem(
            "a byte order mark inside the text",
            "may only stand at the beginning",
        ),
        _ => problem("this is not well-formed YAML", "unexpected here")
            .note(kind.to_string().replace('\'', "`")),
    }
}

/// The message for something else where an entry of a map or list was expected.
fn indentation_error(text: &str, at: usize, kind: &ParserErrorKind, here: Span) -> Diagnostic {
    let problem = |message: &str, label: &str| INVALID_SYNTAX.new(message).label(here, label);
    let line = line_start(text, at);
    let is_first_of_line = text
        .get(line..at)
        .is_some_and(|before| before.bytes().all(|byte| byte == b' '));
    if is_first_of_line && at > line {
        problem(
            "indentation that fits no line above",
            "neither beside nor inside the entry above",
        )
        .help("align this line with the entries that it belongs to")
    } else if matches!(kind, ParserErrorKind::ExpectedBlockSequenceEntry) {
        problem(
            "expected another item of the list",
            "neither a `-` nor the end of the list",
        )
    } else {
        problem("expected a key", "no entry of a map can begin like this")
    }
}

pub(crate) fn tab_in_indentation(tab: Span) -> Diagnostic {
    INVALID_SYNTAX
        .new("a tab where only spaces are allowed")
        .label(tab, "tabs have no fixed width")
        .help("indent with spaces")
}

/// The tab in the indentation of the line at `at`, or of the next line if `at` is at the end of its
/// line.
fn indenting_tab(text: &str, at: usize) -> Option<usize> {
    let of = |line: usize| {
        let indentation = text
            .get(line..)?
            .bytes()
            .take_while(|byte| matches!(byte, b' ' | b'\t'));
        indentation
            .enumerate()
            .find(|(_, byte)| *byte == b'\t')
            .map(|(column, _)| line + column)
    };
    let line = line_start(text, at);
    of(line).or_else(|| {
        let rest = text.get(at..)?;
        let end = rest.find('\n')?;
        rest[..end]
            .trim()
            .is_empty()
            .then(|| of(at + end + 1))
            .flatten()
    })
}

/// The diagnostic for lists and maps nested deeper than `limit`.
pub(crate) fn too_deep(file: FileId, at: usize, limit: usize) -> Diagnostic {
    INVALID_SYNTAX
        .new(format!(
            "more than {limit} lists and maps inside each other"
        ))
        .label(Span::new(file, at as u32, at as u32), "nested too deep")
}

/// The diagnostic for a document with too many values.
pub(crate) fn too_many_nodes() -> Diagnostic {
    DOCUMENT_TOO_LARGE
        .new("a document may have a million values, this one has more")
        .help("split the document")
}

/// The offset after the character at `at`.
fn after(text: &str, at: usize) -> usize {
    at + text
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .filter(|next| !next.is_control())
        .map_or(0, char::len_utf8)
}

/// The first backslash from `at` on, within the text, before a letter that is not a valid escape.
fn unknown_escape(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'\\', Some(letter)) if !b"0abt\tnvfre \"/\\N_LPxuU\r\n".contains(letter) => {
                return Some(at);
            }
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn is_unexpected_end(kind: &ParserErrorKind) -> bool {
    matches!(
        kind,
        ParserErrorKind::UnclosedFlowCollection { .. }
            | ParserErrorKind::UnexpectedEofFlowSequence
            | ParserErrorKind::UnexpectedEofFlowMapping
            | ParserErrorKind::UnexpectedEofImplicitFlowMapping
            | ParserErrorKind::UnexpectedEof
    )
}
