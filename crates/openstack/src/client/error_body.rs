//! Reads the name and the message of an error in the forms in which services write them.
//!
//! Each service has its own form, and a proxy in front of it answers with HTML.

use serde_json::Value as Json;

/// The longest message that is kept, in characters.
const MAX_MESSAGE: usize = 1000;

/// What a body says about an error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DescribedError {
    /// The service's name for the failure.
    pub(super) name: Option<String>,
    pub(super) message: Option<String>,
}

/// Reads a body. An empty or unreadable body says nothing.
pub(super) fn described(body: &[u8]) -> DescribedError {
    let found = match serde_json::from_slice::<Json>(body) {
        Ok(json) => {
            let found = of_json(&json);
            // Glance writes HTML into its JSON.
            let message = found.message.map(|message| match message.contains("<br") {
                true => without_tags(&message),
                false => message,
            });
            DescribedError { message, ..found }
        }
        Err(_) => DescribedError {
            name: None,
            message: Some(text_of_html(&String::from_utf8_lossy(body))),
        },
    };
    let message = found.message.map(|message| shortened(message.trim()));
    DescribedError {
        message: message.filter(|message| !message.is_empty()),
        ..found
    }
}

fn of_json(body: &Json) -> DescribedError {
    let text = |json: &Json| {
        json.as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let Json::Object(entries) = body else {
        return DescribedError {
            name: None,
            message: text(body),
        };
    };
    // Placement and newer guidelines: a list of errors.
    if let Some(first) = body["errors"].get(0) {
        return DescribedError {
            name: text(&first["code"]).or_else(|| text(&first["title"])),
            message: text(&first["detail"]).or_else(|| text(&first["title"])),
        };
    }
    // Octavia: `faultcode` and `faultstring`.
    if let Some(message) = text(&body["faultstring"]) {
        return DescribedError {
            name: text(&body["faultcode"]),
            message: Some(message),
        };
    }
    // Heat: the error below what HTTP says.
    if let (Some(_), Json::Object(_)) = (text(&body["explanation"]), &body["error"]) {
        let error = &body["error"];
        return DescribedError {
            name: text(&error["type"]),
            message: text(&error["message"]).or_else(|| text(&body["explanation"])),
        };
    }
    // Keystone, Neutron, Nova, Cinder: one entry whose key or `type` or `title` is the name.
    let wrapped = entries.iter().find(|(_, inner)| inner.is_object());
    if let Some((key, inner)) = wrapped {
        let name = text(&inner["type"]).or_else(|| match key.as_str() {
            "error" => text(&inner["title"]),
            key => Some(key.to_owned()),
        });
        let message = text(&inner["message"]);
        let detail = text(&inner["detail"]).filter(|detail| Some(detail) != message.as_ref());
        let message = match (message, detail) {
            // A detail of several lines is the place in the program of the service.
            (Some(message), Some(detail)) if !detail.contains('\n') => {
                Some(format!("{message} {detail}"))
            }
            (message, detail) => message.or(detail),
        };
        return DescribedError { name, message };
    }
    // Designate: `type` and `message`. Barbican: `title` and `description`. Neutron's older form, and
    // proxies: one text.
    let keys = [
        "message",
        "description",
        "NeutronError",
        "error",
        "detail",
        "title",
    ];
    DescribedError {
        name: text(&body["type"]).or_else(|| text(&body["title"])),
        message: keys.iter().find_map(|key| text(&body[*key])),
    }
}

/// The text of a page: that after its heading, or else its title. A text without tags is the text.
fn text_of_html(page: &str) -> String {
    if !page.contains('<') {
        return page.to_owned();
    }
    let lower = page.to_ascii_lowercase();
    let between = |from: &str, to: &str| {
        let start = lower.find(from)? + from.len();
        let length = lower.get(start..)?.find(to)?;
        page.get(start..start + length)
    };
    let after_heading = between("</h1>", "</body>").map(without_tags);
    let body = between("<body", "</body>").and_then(|body| body.split_once('>'));
    let title = between("<title>", "</title>").map(without_tags);
    let found = after_heading.filter(|text| !text.is_empty());
    let found = found.or(title.filter(|text| !text.is_empty()));
    let found = found.or_else(|| body.map(|(_, body)| without_tags(body)));
    found.unwrap_or_else(|| without_tags(page))
}

/// A text without tags, with the usual characters in place of their names, on one line.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for character in html.chars() {
        match character {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                text.push(' ');
            }
            _ if in_tag => {}
            _ => text.push(character),
        }
    }
    let names = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let text = names.iter().fold(text, |text, (name, character)| {
        text.replace(name, character)
    });
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies as the services of release 2026.2 send them.
    #[test]
    fn each_form_gives_a_name_and_a_message() {
        for (body, name, message) in [
            (
                r#"{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}"#,
                Some("Unauthorized"),
                "The request you have made requires authentication.",
            ),
            (
                r#"{"itemNotFound": {"code": 404, "message": "Instance x could not be found."}}"#,
                Some("itemNotFound"),
                "Instance x could not be found.",
            ),
            (
                r#"{"NeutronError": {"type": "NetworkInUse", "message": "Unable to complete.", "detail": ""}}"#,
                Some("NetworkInUse"),
                "Unable to complete.",
            ),
            (
                r#"{"code": 404, "title": "Not Found", "explanation": "The resource could not be found.", "error": {"message": "The Stack (x) could not be found.", "traceback": null, "type": "EntityNotFound"}}"#,
                Some("EntityNotFound"),
                "The Stack (x) could not be found.",
            ),
            (
                r#"{"code": 409, "type": "duplicate_zone", "message": "Duplicate Zone"}"#,
                Some("duplicate_zone"),
                "Duplicate Zone",
            ),
            (
                r#"{"faultcode": "Client", "faultstring": "Load Balancer x is immutable and cannot be updated.", "debuginfo": null}"#,
                Some("Client"),
                "Load Balancer x is immutable and cannot be updated.",
            ),
            (
                r#"{"code": 404, "title": "Not Found", "description": "Secret not found."}"#,
                Some("Not Found"),
                "Secret not found.",
            ),
            (
                "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n  No image found with ID &lt;x&gt;<br /><br />\n\n\n </body>\n</html>",
                None,
                "No image found with ID <x>",
            ),
            (
                "<html><head><title>503 Service Unavailable</title></head><body><h1>503</h1></body></html>",
                None,
                "503 Service Unavailable",
            ),
            (
                r#"{"code": "404 Not Found", "title": "Not Found", "message": "No image found with ID x<br /><br />"}"#,
                Some("Not Found"),
                "No image found with ID x",
            ),
            ("upstream is gone", None, "upstream is gone"),
        ] {
            let found = described(body.as_bytes());
            assert_eq!(found.name.as_deref(), name, "{body}");
            assert_eq!(found.message.as_deref(), Some(message), "{body}");
        }
    }

    #[test]
    fn an_empty_body_says_nothing_and_a_long_one_is_cut() {
        assert_eq!(described(b""), DescribedError::default());
        assert_eq!(described(b"{}"), DescribedError::default());
        let long = "\u{e9}".repeat(5000);
        let message = described(long.as_bytes()).message.unwrap();
        assert_eq!(message.chars().count(), MAX_MESSAGE + 3);
        assert!(described(&[0xff, 0xfe, 0]).message.is_some());
    }
}
