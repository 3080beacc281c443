//! Each way in which a text repeats a secret.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::*;

/// A text with `%` escapes for all characters but letters, digits and `-._~`.
fn percent_encoded(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// A text in which these characters are replaced.
fn escaped(text: &str, escapes: &[(char, &str)]) -> String {
    let escape = |letter| match escapes.iter().find(|(from, _)| *from == letter) {
        Some((_, to)) => (*to).to_owned(),
        None => String::from(letter),
    };
    text.chars().map(escape).collect()
}

/// The escapes of Go's encoder of JSON.
const GO_JSON: [(char, &str); 5] = [
    ('"', "\\\""),
    ('\\', "\\\\"),
    ('&', "\\u0026"),
    ('<', "\\u003c"),
    ('>', "\\u003e"),
];

#[test]
fn escapes_do_not_hide_a_secret() {
    let secret = r#"T0p&S3cret<"q'd">\x+é😀 tail"#;
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let html = [
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&quot;"),
        ('\'', "&#x27;"),
    ];
    let go_html = [
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&#34;"),
        ('\'', "&#39;"),
    ];
    let ascii: String = secret
        .chars()
        .map(|letter| match letter {
            '"' | '\\' => format!("\\{letter}"),
            letter if letter.is_ascii() => String::from(letter),
            letter => letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        })
        .collect();
    let octal: String = secret
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(byte)),
            byte if byte.is_ascii() => char::from(byte).to_string(),
            byte => format!("\\{byte:03o}"),
        })
        .collect();
    let go = escaped(secret, &GO_JSON);
    let forms = [
        go.clone(),
        escaped(&go, &GO_JSON),
        json(&json(secret)),
        json(&json(&json(secret))),
        json(&go),
        ascii.clone(),
        json(&ascii),
        octal,
        format!("{secret:?}"),
        escaped(secret, &html),
        escaped(secret, &go_html),
        escaped(&escaped(secret, &html), &html),
        escaped(&json(secret), &html),
        escaped(&escaped(secret, &html), &GO_JSON),
        escaped(secret, &[('"', "\"\"")]),
        escaped(secret, &[('\'', "''")]),
        escaped(secret, &[('\'', "'\\''")]),
        escaped(secret, &[('\'', "'\"'\"'")]),
        escaped(
            secret,
            &[
                ('&', "\\&"),
                ('<', "\\<"),
                ('>', "\\>"),
                ('"', "\\\""),
                ('\'', "\\'"),
                ('\\', "\\\\"),
                (' ', "\\ "),
            ],
        ),
        percent_encoded(secret),
        percent_encoded(secret).to_lowercase(),
        percent_encoded(secret).replace("%20", "+"),
        percent_encoded(&json(secret)),
        json(&percent_encoded(secret)),
    ];
    let mut run = RunScrubber::default();
    run.add(&Value::from(secret).secret());
    let own = scrub(&[secret]);
    for form in forms {
        let text = format!("<<{form}>>");
        for clean in [own.clean(&text), run.clean(&text)] {
            let shown = ["T0p", "S3c", "q'd", "é", "tail"]
                .into_iter()
                .find(|part| clean.contains(part));
            assert!(
                clean.contains(PLACEHOLDER) && shown.is_none() && clean.len() < 32,
                "{form} -> {clean}"
            );
        }
        let field = Value::map([("said", Value::from(text))]);
        assert!(own.marked(&field).has_secret(), "{form}");
        assert!(run.marked(&field).has_secret(), "{form}");
    }
}

#[test]
fn escapes_around_a_short_secret_keep_it_a_word() {
    let mut run = RunScrubber::default();
    run.add(&Value::from("pass").secret());
    for (said, clean) in [
        ("\\u0022pass\\u0022", "\\u0022(secret)\\u0022"),
        ("%22pass%22", "%22(secret)%22"),
        ("pa\\u0073s", "(secret)"),
        ("%22password%22", "%22password%22"),
        ("\\npass\\n", "\\n(secret)\\n"),
    ] {
        assert_eq!(run.clean(said), clean);
    }
}

#[test]
fn broken_escapes_are_text() {
    let run = {
        let mut run = RunScrubber::default();
        run.add(&Value::from("hunter22").secret());
        run
    };
    for text in [
        "\\",
        "\\u",
        "\\u12",
        "\\u{",
        "\\u{}",
        "\\u{110000}",
        "\\ud83d",
        "\\ud83d\\u0041",
        "\\x",
        "\\x4",
        "\\30",
        "\\777",
        "&",
        "&;",
        "&#;",
        "&#x;",
        "&#xd800;",
        "&unknown;",
        "%",
        "%4",
        "%zz",
        "+%",
        "'",
        "\"",
    ] {
        assert_eq!(run.clean(text), text);
        assert_eq!(
            run.clean(&format!("{text} hunter22 {text}")),
            format!("{text} (secret) {text}")
        );
    }
}

fn scrub(secrets: &[&str]) -> Scrubber {
    let values: Vec<Value> = secrets
        .iter()
        .map(|secret| Value::from(*secret).secret())
        .collect();
    Scrubber::of(&values)
}

#[test]
fn secret_is_removed_in_every_encoding() {
    let secret = "Plant-7f3a \"9c!x\" é/ü";
    let clean = scrub(&[secret]);
    let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
    for form in [
        secret.to_owned(),
        secret.to_uppercase(),
        secret.to_lowercase(),
        secret.replace(' ', "\n  "),
        serde_json::Value::from(secret).to_string(),
        format!("{secret:?}"),
        percent_encoded(secret),
        percent_encoded(secret).to_lowercase(),
        hex.to_lowercase(),
        hex,
        STANDARD.encode(secret),
        STANDARD.encode(format!("user:{secret}")),
        STANDARD.encode(format!("me:{secret} and more")),
        URL_SAFE_NO_PAD.encode(format!("a:{secret}")),
    ] {
        let said = clean.clean(&format!("refused: {form}; try again"));
        assert!(
            said.starts_with("refused: ") && said.ends_with("; try again"),
            "{said}"
        );
        let rest = said
            .replace(PLACEHOLDER, "")
            .replace("refused: ", "")
            .replace("; try again", "");
        assert!(
            said.contains(PLACEHOLDER) && rest.len() < 24,
            "{form} -> {said}"
        );
        assert!(
            !rest.contains("7f3a") && !rest.contains("9c!x"),
            "{form} -> {said}"
        );
    }
}

#[test]
fn split_or_truncated_secret_is_removed() {
    let secret = "abcdefghijklmnopqrstuvwxyz0123456789";
    let clean = scrub(&[secret]);
    assert_eq!(
        clean.clean("<abcdefghijklmnopqr\n   | stuvwxyz0123456789>"),
        "<(secret)\n   | (secret)>"
    );
    assert_eq!(
        clean.clean("<abcdefghijklmnopqr\n    stuvwxyz0123456789>"),
        "<(secret)>"
    );
    for cut in [&secret[..8], &secret[..20], &secret[10..], &secret[12..22]] {
        assert_eq!(
            clean.clean(&format!("`{cut}...` is wrong")),
            "`(secret)...` is wrong"
        );
    }
    let wrapped = STANDARD.encode(secret.repeat(4));
    let (one, two) = wrapped.split_at(76);
    assert_eq!(
        scrub(&[&secret.repeat(4)]).clean(&format!("{one}\n{two}")),
        "(secret)"
    );
}

#[test]
fn lines_and_long_words_of_a_secret_are_removed() {
    let spec = Value::map([(
        "environment",
        Value::map([
            ("KEY", Value::from("abc\nabcdef\n").secret()),
            ("PORT", Value::from("80")),
        ]),
    )]);
    assert_eq!(
        Scrubber::of([&spec]).clean("x abcdef y abc z 80"),
        "x (secret) y (secret) z 80"
    );
    assert_eq!(
        scrub(&["Bearer tok-12345"]).clean("shown to Bearer: TOK-12345"),
        "shown to Bearer: (secret)"
    );
}

#[test]
fn short_secrets_and_numbers_are_removed_as_whole_words() {
    let clean = scrub(&["a", "ab", "pin"]);
    assert_eq!(
        clean.clean("a cab, ab; opinion"),
        "(secret) cab, (secret); o(secret)ion"
    );
    assert_eq!(
        clean
            .marked(&Value::list(["a".into(), "bab".into()]))
            .to_string(),
        "[(secret), \"bab\"]"
    );
    let number = Value::list([Value::Int(4711), Value::Int(80)]).secret();
    assert_eq!(
        Scrubber::of([&number]).clean("4711 and x4711 on port 80, not 8080"),
        "(secret) and x(secret) on port (secret), not 8080"
    );
}

#[test]
fn numbers_and_keys_are_marked() {
    let secret = Value::list([Value::Int(4711), "key-of-a-map".into()]).secret();
    let fields = Value::map([
        ("number", Value::Int(4711)),
        ("other", Value::Int(4712)),
        ("text", Value::from("4711")),
        ("map", Value::map([("a-key-of-a-map", Value::Int(1))])),
        (
            "key-of-a-map",
            Value::map([("b", Value::list([Value::Int(4711), Value::Int(2)]))]),
        ),
    ]);
    let whole = Value::map([("k", Value::map([("hidden-key", Value::Int(1))]).secret())]);
    let echo = Value::map([(
        "seen",
        Value::list([Value::map([("hidden-key", Value::Int(1))]), Value::Int(1)]),
    )]);
    assert_eq!(
        Scrubber::of([&whole]).marked(&echo).to_string(),
        "{\"seen\": [(secret), (secret)]}"
    );
    assert_eq!(
        Scrubber::of([&secret]).marked(&fields).to_string(),
        "{\"number\": (secret), \"other\": 4712, \"text\": (secret), \"map\": (secret), \
         \"key-of-a-map\": {\"b\": [(secret), 2]}}"
    );
}

#[test]
fn the_lines_around_a_secret_key_are_no_secret() {
    let body = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgplanted";
    let key = Value::from(format!(
        "-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    ))
    .secret();
    let certificate = "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmg\n-----END CERTIFICATE-----\n";
    let (scrub, mut run) = (Scrubber::of([&key]), RunScrubber::default());
    run.add(&key);
    for clean in [scrub.clean(certificate), run.clean(certificate)] {
        assert_eq!(clean, certificate);
    }
    assert!(
        !scrub.marked(&certificate.into()).has_secret()
            && !run.marked(&certificate.into()).has_secret()
    );
    let shown = format!("the key {body}");
    assert!(
        scrub.marked(&shown.as_str().into()).has_secret()
            && run.marked(&shown.as_str().into()).has_secret()
    );
    assert_eq!(
        (scrub.clean(&shown), run.clean(&shown)),
        ("the key (secret)".into(), "the key (secret)".into())
    );
}

#[test]
fn secrets_of_a_run_are_found_whole() {
    let mut run = RunScrubber::default();
    for secret in [
        "abc",
        "test",
        "hunter22",
        "https://user:planted-word@host/path and a tail",
    ] {
        run.add(&Value::from(secret).secret());
    }
    run.add(&Value::map([("pin", Value::Int(918_273))]).secret());
    assert_eq!(
        run.clean("abc latest test xhunter22x 918273"),
        "abc latest (secret) x(secret)x (secret)"
    );
    assert_eq!(
        run.clean("https://user:planted-word@host/path and a tail"),
        "(secret)"
    );
    assert_eq!(
        run.clean("https://user:planted-\nword@host/path"),
        "(secret)"
    );
    assert_eq!(
        run.clean("see https://example.com/path"),
        "see https://example.com/path"
    );
    assert_eq!(run.clean(&STANDARD.encode("x:hunter22")), "eDp(secret)g==");
    assert_eq!(
        run.marked(&Value::Int(918_273)),
        Value::Int(918_273).secret()
    );
    assert!(
        !run.marked(&"https://user:planted-word@host/".into())
            .has_secret(),
        "a part of it"
    );
    assert!(
        run.marked(&"see https://user:planted-word@host/path\n and a tail!".into())
            .has_secret()
    );
    assert!(
        !format!("{run:?}").contains("hunter")
            && RunScrubber::default().marked(&"x".into()) == "x".into()
    );
}

#[test]
fn text_without_secrets_is_unchanged() {
    for text in ["", "déjà vu\n\ttwice", "the password is wrong"] {
        assert_eq!(scrub(&["Zm9v-hunter2-QUUX"]).clean(text), text);
        assert_eq!(Scrubber::default().clean(text), text);
    }
    let open = Value::map([("password", Value::from("open"))]);
    assert!(
        Scrubber::of([
            &open,
            &Value::from(true).secret(),
            &Value::from("").secret()
        ])
        .is_empty()
    );
}

#[test]
fn bytes_are_removed_and_debug_output_shows_no_secret() {
    let bytes = Value::Bytes(vec![0xff, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8].into()).secret();
    let clean = Scrubber::of([&bytes]);
    assert_eq!(clean.clean("got fffe010203040506070 8."), "got (secret).");
    let clean = scrub(&["hunter2-hunter2"]);
    let answer = Value::list(["a:HUNTER2".into(), "arn:hunter2-hunter2:1".into()]);
    assert_eq!(
        clean.marked(&answer),
        Value::list([
            "a:HUNTER2".into(),
            Value::from("arn:hunter2-hunter2:1").secret()
        ])
    );
    assert!(clean.occurs_in("a hunter2-") && !clean.occurs_in("a hunter"));
    assert!(!format!("{clean:?}").contains("hunter"));
}
