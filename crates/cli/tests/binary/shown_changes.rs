//! Tests of what a plan shows of a change.

use std::os::unix::fs::PermissionsExt as _;

use crate::place::Place;

/// Deploys a document, writes another one and stages it with these flags.
fn staged(place: &Place, old: &str, new: &str, flags: &[&str]) -> String {
    place.write("blueprint.yaml", old);
    place.ends(0, &["deploy", "--yes"]);
    place.write("blueprint.yaml", new);
    let arguments: Vec<&str> = ["stage"].iter().chain(flags).copied().collect();
    place.ends(0, &arguments).out
}

fn file(content: &str) -> String {
    format!(
        "version: 2023-04-20\nresources:\n  f: {{type: local/file, spec: {{path: f.txt, content: {}}}}}\n",
        serde_json::to_string(content).unwrap()
    )
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!(
        "version: 2023-04-20\nresources:\n  v: {{type: std/value, spec: {{input: {}}}}}\n",
        serde_json::to_string(&items).unwrap()
    )
}

const COPY: &str = "version: 2023-04-20\nresources:\n  copy: {type: local/file, spec: {path: out.txt, source: in.txt}}\n";

fn numbered(count: usize) -> String {
    (1..=count)
        .map(|number| format!("key{number} = {number}\n"))
        .collect()
}

#[test]
fn a_change_at_the_end_of_a_long_text_is_visible() {
    let long = "word ".repeat(60);
    let (old, new) = (file(&format!("{long}old")), file(&format!("{long}new")));
    let place = Place::new();
    let text = staged(&place, &old, &new, &[]);
    assert!(
        text.contains("    content:\n      - ...\"") && text.contains(" word old\"\n      + ...\""),
        "{text}"
    );
    let text = place.ends(0, &["stage", "--verbose"]).out;
    assert!(
        text.contains(&format!("- \"{long}old\"\n      + \"{long}new\"\n")),
        "{text}"
    );
}

#[test]
fn a_new_text_of_several_lines_is_shown_as_lines() {
    let place = Place::with("blueprint.yaml", &file(&numbered(100)));
    let text = place.ends(0, &["stage"]).out;
    assert!(
        text.contains("    content: |\n      key1 = 1\n      key2 = 2\n")
            && text.contains("      key60 = 60\n      (40 more lines; `-v` shows all)\n    mode:"),
        "{text}"
    );
    let text = place.ends(0, &["stage", "--verbose"]).out;
    assert!(
        text.contains("      key100 = 100\n") && !text.contains("more lines"),
        "{text}"
    );
}

#[test]
fn an_edited_source_is_shown_as_a_difference() {
    let place = Place::with("in.txt", &numbered(40));
    place.write("blueprint.yaml", COPY);
    place.ends(0, &["deploy", "--yes"]);
    place.write(
        "in.txt",
        numbered(40).replace("key20 = 20", "key20 = twenty"),
    );
    let shown = "    the content of `in.txt` has changed:\n        key18 = 18\n        key19 = 19\n      - key20 = 20\n      + key20 = twenty\n        key21 = 21\n        key22 = 22\n";
    let text = place.ends(0, &["stage", "--out", "saved.plan"]).out;
    assert!(text.contains(shown) && !text.contains("Sha256"), "{text}");
    let text = place.ends(0, &["stage", "--verbose"]).out;
    assert!(
        text.contains(shown) && text.contains("sourceSha256"),
        "{text}"
    );
    let text = place.ends(0, &["deploy", "saved.plan"]).out;
    assert!(text.contains(shown), "a saved plan shows the same: {text}");
    let text = place.ends(0, &["stage"]).out;
    assert!(!text.contains("key20"), "{text}");
}

#[test]
fn a_file_that_is_to_be_as_its_source_again_shows_the_difference() {
    let place = Place::with("in.txt", &numbered(3));
    place.write("blueprint.yaml", COPY);
    place.ends(0, &["deploy", "--yes"]);
    place.write("out.txt", "key1 = 1\nother\nkey3 = 3\n");
    let text = place.ends(0, &["stage"]).out;
    assert!(
        text.contains("    the content is that of `in.txt` again:\n        key1 = 1\n      - other\n      + key2 = 2\n        key3 = 3\n"),
        "{text}"
    );
}

#[test]
fn a_source_that_is_no_text_or_private_shows_its_digest() {
    for (bytes, mode) in [(&b"\0\x01new"[..], 0o644), (b"new key\n", 0o600)] {
        let place = Place::with("in.txt", "old key\n");
        place.write("blueprint.yaml", COPY);
        let set_mode = || {
            let path = place.path().join("in.txt");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode();
        place.ends(0, &["deploy", "--yes"]);
        place.write("in.txt", bytes);
        set_mode();
        let text = place.ends(0, &["stage", "--verbose"]).out;
        assert!(
            text.contains("    the content of `in.txt` has changed\n")
                && text.contains("sourceSha256")
                && !text.contains("new"),
            "{text}"
        );
    }
}

#[test]
fn a_source_that_repeats_a_secret_is_not_shown() {
    let place = Place::with("in.txt", "first line\n");
    place.ends(0, &["key", "new"]);
    let document = "version: 2023-04-20
variables: {word: {type: string, secret: true, default: correct-horse-battery}}
resources:
  other: {type: local/file, spec: {path: other.txt, content: \"word is ${variables.word}\\nand more\\n\"}}
  copy: {type: local/file, dependsOn: [other], spec: {path: out.txt, source: in.txt}}
";
    place.write("blueprint.yaml", document);
    place.ends(0, &["deploy", "--yes"]);
    place.write("in.txt", "first line\nthe word is correct-horse-battery\n");
    place.write("blueprint.yaml", document.replace("and more", "and less"));
    for flags in [
        &["stage"][..],
        &["stage", "--verbose"],
        &["stage", "--json"],
        &["deploy", "--yes"],
    ] {
        let ran = place.ends(0, flags);
        assert!(
            !ran.out.contains("horse")
                && !ran.err.contains("horse")
                && !ran.out.contains("and less"),
            "{flags:?}: {}{}",
            ran.out,
            ran.err
        );
        if flags[0] == "stage" && flags != ["stage", "--json"] {
            assert!(
                ran.out.contains("content: (secret) -> (secret)\n")
                    && ran.out.contains("the content of `in.txt` has changed\n"),
                "{}",
                ran.out
            );
        }
    }
}

#[test]
fn a_secret_that_a_source_replaces_is_not_shown() {
    let place = Place::with("in.txt", "public\nlines\n");
    place.ends(0, &["key", "new"]);
    let old = "version: 2023-04-20
variables: {word: {type: string, secret: true, default: correct-horse-battery}}
resources:
  copy: {type: local/file, spec: {path: out.txt, content: \"${variables.word}\\nsecond line\\n\"}}
";
    place.write("blueprint.yaml", old);
    place.ends(0, &["deploy", "--yes"]);
    // The file keeps a part of the secret text.
    place.write("out.txt", "correct-horse-battery\nedited\n");
    place.write("blueprint.yaml", COPY);
    for flag in ["--color=never", "--verbose", "--json"] {
        let ran = place.ends(0, &["stage", flag, "--out", "saved.plan"]);
        let all = format!("{}{}{}", ran.out, ran.err, place.read("saved.plan"));
        assert!(!all.contains("horse") && !all.contains("edited"), "{all}");
    }
}

#[test]
fn an_item_in_front_of_a_list_is_one_insertion() {
    let thirty = || (0..30).map(|number| format!("item {number}"));
    let longer = std::iter::once("first".to_owned()).chain(thirty());
    let text = staged(&Place::new(), &list(thirty()), &list(longer), &[]);
    assert!(
        text.contains("    input:\n      + [0]: \"first\"\n\n") && !text.contains("item"),
        "{text}"
    );
}

#[test]
fn no_character_of_a_changed_line_acts_on_a_terminal() {
    let place = Place::new();
    let (old, new) = (
        "a\nb\u{1b}[35;1mold\nc\n",
        "a\nb\u{1b}[35;1mnew\u{202e}\nc\n",
    );
    let text = staged(&place, &file(old), &file(new), &["--color", "always"]);
    assert!(
        !text.contains("\u{1b}[35;1m") && !text.contains('\u{202e}'),
        "{text:?}"
    );
    assert!(text.contains("+ b\\u{1b}[35;1mnew\\u{202e}"), "{text:?}");
}

#[test]
fn drift_shows_changed_lines() {
    let place = Place::with("blueprint.yaml", &file(&numbered(40)));
    place.ends(0, &["deploy", "--yes"]);
    place.write("f.txt", numbered(40).replace("key39 = 39\n", ""));
    let text = place.ends(0, &["drift"]).out;
    assert!(
        text.contains("    content:\n        key37 = 37\n        key38 = 38\n      - key39 = 39\n        key40 = 40\n"),
        "{text}"
    );
    let text = place.ends(0, &["stage"]).out;
    assert!(text.contains("      + key39 = 39\n"), "{text}");
}

#[test]
fn exports_that_are_lists_or_texts_show_their_difference() {
    let document = |items: &str, text: &str| {
        format!(
            "version: 2023-04-20\nresources:\n  v: {{type: std/value, spec: {{input: {{items: {items}, text: {text}}}}}}}\nexports:\n  items: {{type: array, field: resources.v.spec.input.items}}\n  text: {{type: string, field: resources.v.spec.input.text}}\n"
        )
    };
    let (old, new) = (
        document("[a, b]", r#""x\ny\n""#),
        document("[z, a, b]", r#""x\nz\n""#),
    );
    let place = Place::new();
    let text = staged(&place, &old, &new, &[]);
    assert!(
        text.contains(
            "exports\n  ~ items:\n      + [0]: \"z\"\n  ~ text:\n        x\n      - y\n      + z\n"
        ),
        "{text}"
    );
    let text = place.ends(0, &["show"]).out;
    assert!(text.contains("  text = |\n    x\n    y\n"), "{text}");
}

#[test]
fn machine_output_has_the_error_of_each_failed_resource() {
    let document = "version: 2023-04-20\nresources:\n  fails: {type: local/command, spec: {create: \"echo broken >&2; exit 3\"}}\n  works: {type: local/file, spec: {path: a.txt, content: x}}\n";
    let place = Place::with("blueprint.yaml", document);
    place.ends(4, &["deploy", "--yes"]);
    let result = |arguments: &[&str]| {
        let out = place.ends(0, arguments).out;
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["result"].clone()
    };
    let one = result(&["show", "fails", "--json"]);
    assert!(
        one["error"].as_str().unwrap().contains("exit code 3"),
        "{one}"
    );
    let whole = result(&["show", "--json"]);
    let resources = whole["resources"].as_array().unwrap();
    let named = |name: &str| resources.iter().find(|it| it["address"] == name).unwrap();
    assert_eq!(*named("fails"), one);
    assert!(named("works")["error"].is_null(), "{whole}");
}

#[test]
fn an_address_with_a_line_break_is_one_line_and_is_read_back() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nvariables: {names: {type: string, default: '[\"m\\nn\"]'}}\nresources:\n  r: {type: std/value, metadata: {annotations: {cyan.eachKey: \"${elem}\"}}, each: '${jsondecode(variables.names)}', spec: {input: same}}\n",
    );
    let address = r#"r["m\nn"]"#;
    let staged = place.ends(0, &["stage"]).out;
    assert!(
        staged.contains(&format!("+ {address} std/value")),
        "{staged}"
    );
    place.ends(0, &["deploy", "--yes"]);
    place.ends(0, &["show", address]);
    let replaced = place.ends(0, &["stage", "--replace", address]).out;
    assert!(replaced.contains(address), "{replaced}");
    place.ends(0, &["stage", "--target", address]);
}
