//! `OS::Heat::MultipartMime`: texts as one MIME message, in the exact form of Heat's own writer
//! except for the boundary, which is derived from the content (decisions/heat#mime-boundaries).
//!
//! Not here: parsing a message ([`parse`]), the content of configs that parts name (`config.rs`).

mod parse;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(crate) use self::parse::{MimePart, parts_of};

/// Characters of base64 in a line.
const LINE: usize = 76;

/// Writes a message.
pub(crate) fn message(parts: &[MimePart]) -> String {
    let parts: Vec<String> = parts.iter().map(written).collect();
    let boundary = boundary(&parts);
    let mut out = format!(
        "Content-Type: multipart/mixed; boundary=\"{boundary}\"\nMIME-Version: 1.0\n\n--{boundary}\n"
    );
    out.push_str(&parts.join(&format!("\n--{boundary}\n")));
    out.push_str(&format!("\n--{boundary}--\n"));
    out
}

fn written(part: &MimePart) -> String {
    let subtype = match (part.subtype.as_str(), part.filename.as_str()) {
        ("", "") => "plain",
        ("", filename) => Some(stem(filename))
            .filter(|stem| !stem.is_empty())
            .unwrap_or("plain"),
        (subtype, _) => subtype,
    };
    let (charset, encoding) = if part.text.is_ascii() {
        ("us-ascii", "7bit")
    } else {
        ("utf-8", "base64")
    };
    let kind = word(&format!("text/{subtype}; charset=\"{charset}\""));
    let mut out =
        format!("Content-Type: {kind}\nMIME-Version: 1.0\nContent-Transfer-Encoding: {encoding}\n");
    if !part.filename.is_empty() {
        out.push_str(&format!(
            "Content-Disposition: attachment; {}\n",
            named(&part.filename)
        ));
    }
    out.push('\n');
    if part.text.is_ascii() {
        out.push_str(&part.text.replace("\r\n", "\n").replace('\r', "\n"));
    } else {
        let mut rest = STANDARD.encode(&part.text);
        while !rest.is_empty() {
            let more = rest.split_off(rest.len().min(LINE));
            out.push_str(&rest);
            out.push('\n');
            rest = more;
        }
    }
    out
}

/// The value of a header: unchanged if it is ASCII, else as an encoded word in the shorter of the
/// two encodings.
fn word(value: &str) -> String {
    if value.is_ascii() {
        return value.to_owned();
    }
    let mut quoted = String::new();
    for byte in value.bytes() {
        match byte {
            b' ' => quoted.push('_'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'!' | b'*' | b'+' | b'/' => {
                quoted.push(char::from(byte))
            }
            _ => quoted.push_str(&format!("={byte:02X}")),
        }
    }
    let base64 = STANDARD.encode(value);
    if base64.len() < quoted.len() {
        format!("=?utf-8?b?{base64}?=")
    } else {
        format!("=?utf-8?q?{quoted}?=")
    }
}

/// A file name without its extension. A name whose only dot is at the start has no extension.
fn stem(filename: &str) -> &str {
    let start = filename.rfind('/').map_or(0, |at| at + 1);
    let name = &filename[start..];
    let hidden = name.len() - name.trim_start_matches('.').len();
    match name.rfind('.') {
        Some(at) if at >= hidden && at > 0 => &filename[..start + at],
        _ => filename,
    }
}

/// The parameter for the file name: quoted, or percent-encoded if it is not ASCII.
fn named(filename: &str) -> String {
    if filename.is_ascii() {
        return format!(
            "filename=\"{}\"",
            filename.replace('\\', "\\\\").replace('"', "\\\"")
        );
    }
    let mut out = String::from("filename*=utf-8''");
    for byte in filename.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A boundary that is not a line of any part.
fn boundary(parts: &[String]) -> String {
    let digest = Sha256::digest(parts.join("\n"));
    let number = digest
        .iter()
        .take(8)
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        >> 1;
    let first = format!("==============={number:019}==");
    let is_line = |boundary: &str| {
        let line = format!("--{boundary}");
        let mut lines = parts.iter().flat_map(|part| part.lines());
        lines.any(|one| {
            one.strip_prefix(&line)
                .is_some_and(|rest| rest.is_empty() || rest == "--")
        })
    };
    let more = (0..).map(|count: u32| format!("{first}.{count}"));
    std::iter::once(first.clone())
        .chain(more)
        .find(|boundary| !is_line(boundary))
        .unwrap_or(first)
}

#[cfg(test)]
mod tests;
