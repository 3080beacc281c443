//! Blocks by words: a colon at the end of a line begins one, `end`, `elif` and `else` end it.

use crate::lexer::{StarToken, StarTokenKind};

/// The tokens with the begins and ends of blocks. Indentation has no meaning.
pub(crate) fn with_blocks(tokens: Vec<StarToken>) -> Vec<StarToken> {
    let mut found: Vec<StarToken> = Vec::with_capacity(tokens.len());
    // The lines at which the open blocks begin.
    let mut open: Vec<u32> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if begins_block(&found) {
            let last = found.last().map_or(token.line, |last| last.line);
            open.push(last);
            found.push(like(&token, StarTokenKind::Indent));
        }
        let closes = match &token.kind {
            StarTokenKind::Sign("elif") => true,
            // Without a colon it belongs to a conditional expression.
            StarTokenKind::Sign("else") => {
                let next = tokens.peek().map(|next| &next.kind);
                next == Some(&StarTokenKind::Sign(":"))
            }
            StarTokenKind::Identifier(name) => &**name == "end",
            _ => false,
        };
        if closes && open.pop().is_none() {
            let mut token = like(&token, StarTokenKind::Invalid("unexpected end".into()));
            // The scanner has passed the line break.
            if let Some(next) = tokens.peek()
                && next.kind == StarTokenKind::LineBreak
            {
                token.line = next.end_line;
            }
            found.push(token);
            break;
        }
        let next_end = tokens.peek().map_or(token.end_line, |next| next.end_line);
        if closes {
            // Mistakes are reported where the scanner is: it looks at the next token.
            let mut outdent = like(&token, StarTokenKind::Outdent);
            if token.kind != StarTokenKind::Sign("elif") {
                outdent.end_line = next_end;
            }
            found.push(outdent);
        }
        match &token.kind {
            StarTokenKind::Identifier(name) if &**name == "end" => {
                tokens.next_if(|next| next.kind == StarTokenKind::LineBreak);
            }
            StarTokenKind::Sign("pass") => {
                let words = "use of reserved keyword 'pass' is not allowed";
                found.push(like(&token, StarTokenKind::Invalid(words.into())));
                break;
            }
            StarTokenKind::End => {
                if let Some(line) = open.last() {
                    let words = "mismatched set of block openings (if/else/elif/for/def) and \
                                 closing (end)";
                    let mut token = like(&token, StarTokenKind::Invalid(words.into()));
                    (token.line, token.end_line) = (*line, *line);
                    found.push(token);
                }
                found.push(token);
            }
            StarTokenKind::Sign("else") => {
                let mut token = token;
                token.end_line = next_end;
                found.push(token);
            }
            _ => found.push(token),
        }
    }
    found
}

fn begins_block(found: &[StarToken]) -> bool {
    let mut last = found.iter().rev().map(|token| &token.kind);
    last.next() == Some(&StarTokenKind::LineBreak) && last.next() == Some(&StarTokenKind::Sign(":"))
}

fn like(token: &StarToken, kind: StarTokenKind) -> StarToken {
    StarToken {
        kind,
        line: token.line,
        end_line: token.end_line,
    }
}
