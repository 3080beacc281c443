//! Parses a MIME message into the texts of its parts. The parser is lenient: a text that is no
//! message has no parts.
//!
//! Nested parts are included. Texts stay encoded.

/// One part of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MimePart {
    /// The text of the part.
    pub(crate) text: String,
    /// The subtype of `text/`. If it is empty, the subtype follows from the file name, and without
    /// one it is `plain`.
    pub(crate) subtype: String,
    /// The file name; empty for none.
    pub(crate) filename: String,
}

/// Maximum depth of nested messages.
const DEEPEST: usize = 20;

/// The parts of a multipart message. Empty if the text is not such a message.
pub(crate) fn parts_of(text: &str) -> Vec<MimePart> {
    let mut found = Vec::new();
    multipart(&Entity::of(text), 0, &mut found);
    found
}

/// Headers and body.
struct Entity<'t> {
    headers: Vec<(String, String)>,
    body: &'t str,
}

impl<'t> Entity<'t> {
    fn of(text: &'t str) -> Entity<'t> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            let written = line.trim_end_matches(['\r', '\n']);
            if written.is_empty() {
                rest = &rest[line.len()..];
                break;
            }
            if written.starts_with([' ', '\t']) && !headers.is_empty() {
                if let Some((_, value)) = headers.last_mut() {
                    value.push('\n');
                    value.push_str(written);
                }
            } else if rest.len() == text.len() && written.starts_with("From ") {
                // The envelope line of a mailbox is no header.
            } else if let Some((name, value)) =
                written.split_once(':').filter(|(name, _)| is_name(name))
            {
                headers.push((
                    name.to_ascii_lowercase(),
                    value.trim_start_matches([' ', '\t']).to_owned(),
                ));
            } else {
                break;
            }
            rest = &rest[line.len()..];
        }
        Entity {
            headers,
            body: rest,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The content type in lower case.
    fn kind(&self) -> (String, String) {
        let plain = || ("text".to_owned(), "plain".to_owned());
        let Some(value) = self.header("content-type") else {
            return plain();
        };
        let kind = value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        match kind.split_once('/') {
            Some((main, sub)) if !sub.contains('/') => (main.to_owned(), sub.to_owned()),
            _ => plain(),
        }
    }

    fn filename(&self) -> String {
        let named = |header: &str, name: &str| parameter(self.header(header)?, name);
        named("content-disposition", "filename")
            .or_else(|| named("content-type", "name"))
            .unwrap_or_default()
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b':')
}

/// Adds the parts of a multipart message to `found`. Returns `false` if the entity is not such a
/// message.
fn multipart(entity: &Entity<'_>, depth: usize, found: &mut Vec<MimePart>) -> bool {
    let Some(boundary) = entity
        .header("content-type")
        .and_then(|value| parameter(value, "boundary"))
    else {
        return false;
    };
    let boundary = format!("--{}", boundary.trim_end());
    if entity.kind().0 != "multipart" || depth > DEEPEST {
        return false;
    }
    let mut begun: Option<usize> = None;
    let mut at = 0;
    let mut texts: Vec<&str> = Vec::new();
    let mut ended = false;
    for line in entity.body.split_inclusive('\n') {
        let rest = line
            .strip_prefix(&boundary)
            .map(|rest| rest.trim_end_matches(['\r', '\n', ' ', '\t']));
        if matches!(rest, Some("" | "--")) {
            // A repeated boundary counts once.
            if let Some(begun) = begun.filter(|begun| *begun < at || rest == Some("--")) {
                texts.push(without_end(&entity.body[begun..at]));
            }
            begun = Some(at + line.len());
            ended = rest == Some("--");
            if ended {
                break;
            }
        }
        at += line.len();
    }
    let Some(begun) = begun else { return false };
    if !ended {
        texts.push(without_end(&entity.body[begun..]));
    }
    for text in texts {
        let part = Entity::of(text);
        if !multipart(&part, depth + 1, found) {
            let (text, subtype, filename) = (part.body.to_owned(), part.kind().1, part.filename());
            found.push(MimePart {
                text,
                subtype,
                filename,
            });
        }
    }
    true
}

/// A text without the line end before a boundary, which belongs to the boundary.
fn without_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// A parameter of a header's value.
fn parameter(value: &str, name: &str) -> Option<String> {
    for part in pieces(value).skip(1) {
        let Some((key, value)) = part.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim().to_lowercase(), value.trim());
        if key == name {
            return Some(unquoted(value));
        }
        if key.strip_suffix('*') == Some(name) {
            let text = value.splitn(3, '\'').last().unwrap_or(value);
            return Some(unescaped(text));
        }
    }
    None
}

/// The pieces between semicolons outside quotes.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    value.split(move |character: char| {
        let is_end = character == ';' && !quoted;
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = character == '\\' && !escaped;
        is_end
    })
}

fn unquoted(value: &str) -> String {
    match value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inside) => inside.replace("\\\\", "\\").replace("\\\"", "\""),
        None => value.to_owned(),
    }
}

/// Decodes percent-encoded bytes as text.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digits = more
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits
            .filter(|_| *first == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
