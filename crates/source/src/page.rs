//! Distinguishes web pages from documents. If a login, a proxy or a wrong address is in the way,
//! servers answer with a page, often with a success status.
//!
//! Not here: the recognition of a document by a dialect.

/// Maximum number of characters of a title in a message.
const TITLE: usize = 60;

/// The number of bytes at the start of a page that are searched for its title.
const HEAD: usize = 16 * 1024;

/// The description of a page, with its article. `None` if the content may be a document, because no
/// document begins with a tag.
pub fn web_page(bytes: &[u8]) -> Option<String> {
    let bytes = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let begins = |tag: &str| {
        bytes
            .get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
    };
    if !["<!doctype html", "<html", "<head", "<body", "<?xml", "<!--"]
        .iter()
        .any(|tag| begins(tag))
    {
        return None;
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    let lower = head.to_ascii_lowercase();
    if !lower.contains("<html") && !begins("<!doctype html") {
        return begins("<?xml").then(|| "an XML document".to_owned());
    }
    let title = lower.find("<title").and_then(|at| {
        let begin = at + lower[at..].find('>')? + 1;
        let end = begin + lower[begin..].find("</title")?;
        head.get(begin..end)
    });
    let title: Vec<&str> = title.unwrap_or_default().split_whitespace().collect();
    let title: String = title
        .join(" ")
        .chars()
        .filter(|one| !one.is_control())
        .take(TITLE)
        .collect();
    Some(if title.is_empty() {
        "an HTML page".to_owned()
    } else {
        format!("an HTML page with the title `{title}`")
    })
}

#[cfg(test)]
mod tests {
    use super::web_page;

    #[test]
    fn pages_are_distinguished_from_documents() {
        for (text, page) in [
            (
                "<!DOCTYPE html><html><head><title>Sign\n in</title>",
                "an HTML page with the title `Sign in`",
            ),
            ("\u{feff} \r\n<HTML lang=en><body>no", "an HTML page"),
            (
                "<!-- proxy --><html><TITLE id=x>Blocked</TITLE>",
                "an HTML page with the title `Blocked`",
            ),
            ("<?xml version='1.0'?><Error/>", "an XML document"),
            ("<?xml version='1.0'?><html><title></title>", "an HTML page"),
            ("<html><title>cut", "an HTML page"),
        ] {
            assert_eq!(web_page(text.as_bytes()).as_deref(), Some(page), "{text}");
        }
        for text in [
            "",
            "version: 2023-04-20",
            "<<: *a",
            "# <html>",
            "{}",
            "<",
            "<!-- only -->",
            "\u{feff}",
            "<?php",
        ] {
            assert_eq!(web_page(text.as_bytes()), None, "{text}");
        }
    }
}
