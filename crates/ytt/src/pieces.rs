//! The pieces of a text template: text, and code between `(@` and `@)`.

/// A piece of a text template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text {
        line: u32,
        text: String,
    },
    /// `(@= value @)`
    Value {
        line: u32,
        code: String,
    },
    /// `(@ statements @)`
    Code {
        line: u32,
        code: String,
    },
}

/// A mistake in the brackets of a text template, and its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PieceFault {
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The pieces of a text that begins at a line, without the blanks that `-` removes.
///
/// # Errors
/// If code does not end, or a bracket is where it must not be.
pub(crate) fn pieces(text: &str, first_line: u32) -> Result<Vec<Piece>, PieceFault> {
    let raw = split(text, first_line)?;
    let mut found: Vec<Piece> = Vec::with_capacity(raw.len());
    let mut trims_next = false;
    for (is_code, line, content) in raw {
        if !is_code {
            let text = match std::mem::take(&mut trims_next) {
                true => content.trim_start(),
                false => content,
            };
            let text = text.to_owned();
            found.push(Piece::Text { line, text });
            continue;
        }
        trims_next = content.ends_with('-');
        if content.starts_with('-')
            && let Some(Piece::Text { text, .. }) = found.last_mut()
        {
            text.truncate(text.trim_end().len());
        }
        let prints = content.starts_with('=') || content.starts_with("-=");
        let code = content.strip_prefix("-=").unwrap_or(content);
        let code = code.strip_prefix('=').unwrap_or(code);
        let code = code.strip_prefix('-').unwrap_or(code);
        let code = code.strip_suffix('-').unwrap_or(code).to_owned();
        found.push(match prints {
            true => Piece::Value { line, code },
            false => Piece::Code { line, code },
        });
    }
    Ok(found)
}

/// The pieces as they are written: whether they are code, and their lines.
fn split(text: &str, first_line: u32) -> Result<Vec<(bool, u32, &str)>, PieceFault> {
    let mut found = Vec::new();
    let (mut line, mut column) = (first_line, 1);
    let (mut is_code, mut start, mut start_line) = (false, 0, first_line);
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        let opens = last == '(' && letter == '@';
        let closes = last == '@' && letter == ')';
        if (opens && is_code) || (closes && !is_code) {
            let what = if opens {
                "opening '(@'"
            } else {
                "closing '@)'"
            };
            let message = format!("Unexpected code {what} at line {line} col {column}");
            return Err(PieceFault { line, message });
        }
        if opens || closes {
            let content = text.get(start..at - 1).unwrap_or_default();
            found.push((is_code, start_line, content));
            (is_code, start, start_line) = (opens, at + 1, line);
        }
        if letter == '\n' {
            line += 1;
            column = 1;
        } else {
            column += 1;
        }
        last = letter;
    }
    if is_code {
        let message = format!("Missing code closing '@)' at line {line} col {column}");
        return Err(PieceFault { line, message });
    }
    found.push((false, start_line, &text[start..]));
    Ok(found)
}
