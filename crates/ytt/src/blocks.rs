//! Blocks by words: a colon at the end of a line begins one, `end`, `elif` and `else` end it.

use crate::lexer::{StarToken, TokenKind};

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
            found.push(like(&token, TokenKind::Indent));
        }
        let closes = match &token.kind {
            TokenKind::Sign("elif") => true,
            // Without a colon it belongs to a conditional expression.
            TokenKind::Sign("else") => {
                let next = tokens.peek().map(|next| &next.kind);
                next == Some(&TokenKind::Sign(":"))
            }
            TokenKind::Identifier(name) => &**name == "end",
            _ => false,
        };
        if closes && open.pop().is_none() {
            found.push(like(&token, TokenKind::Invalid("unexpected end".into())));
            break;
        }
        if closes {
            found.push(like(&token, TokenKind::Outdent));
        }
        match &token.kind {
            TokenKind::Identifier(name) if &**name == "end" => {
                tokens.next_if(|next| next.kind == TokenKind::LineBreak);
            }
            TokenKind::Sign("pass") => {
                let words = "use of reserved keyword 'pass' is not allowed";
                found.push(like(&token, TokenKind::Invalid(words.into())));
                break;
            }
            TokenKind::End => {
                if let Some(line) = open.last() {
                    let words = "mismatched set of block openings (if/else/elif/for/def) and \
                                 closing (end)";
                    let mut token = like(&token, TokenKind::Invalid(words.into()));
                    (token.line, token.end_line) = (*line, *line);
                    found.push(token);
                }
                found.push(token);
            }
            _ => found.push(token),
        }
    }
    found
}

fn begins_block(found: &[StarToken]) -> bool {
    let mut last = found.iter().rev().map(|token| &token.kind);
    last.next() == Some(&TokenKind::LineBreak) && last.next() == Some(&TokenKind::Sign(":"))
}

fn like(token: &StarToken, kind: TokenKind) -> StarToken {
    StarToken {
        kind,
        line: token.line,
        end_line: token.end_line,
    }
}
