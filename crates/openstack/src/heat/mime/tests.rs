//! Written messages, compared with recorded answers.

use super::{MimePart, message, parts_of};

fn written(parts: &str) -> String {
    let parts: Vec<serde_json::Value> = serde_json::from_str(parts).unwrap();
    let mut found = Vec::new();
    for part in parts {
        let text = |key: &str| {
            part.get(key)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        if text("type") == "multipart" {
            found.extend(parts_of(&text("config")));
        } else {
            found.push(MimePart {
                text: text("config"),
                subtype: text("subtype"),
                filename: text("filename"),
            });
        }
    }
    let message = message(&found);
    let boundary = message.split('"').nth(1).unwrap().to_owned();
    message.replace(&boundary, "BOUNDARY")
}

#[test]
fn messages_are_written_as_recorded() {
    let recorded: Vec<(String, String)> =
        serde_json::from_str(include_str!("recorded.json")).unwrap();
    assert!(recorded.len() >= 40);
    for (parts, wanted) in recorded {
        assert_eq!(written(&parts), wanted, "{parts}");
    }
}

/// Compares written messages with recorded answers: a file of lines, each with parts in JSON and
/// their message.
#[test]
fn messages_are_written_as_in_the_file_that_is_named() {
    let Some(file) = std::env::var_os("CYAN_HEAT_MIME") else {
        return;
    };
    let mut wrong = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let (parts, wanted): (String, String) = serde_json::from_str(line).unwrap();
        let ours = written(&parts);
        if ours != wanted {
            wrong += 1;
            if wrong < 6 {
                println!("{parts}\nwanted {wanted:?}\n   got {ours:?}");
            }
        }
    }
    assert_eq!(wrong, 0);
}

#[test]
fn the_boundary_follows_from_the_content_and_is_no_line_of_it() {
    let part = |text: &str| MimePart {
        text: text.to_owned(),
        ..MimePart::default()
    };
    assert_eq!(message(&[part("a")]), message(&[part("a")]));
    assert_ne!(message(&[part("a")]), message(&[part("b")]));
    assert_eq!(super::boundary(&[]).len(), 15 + 19 + 2);
}
