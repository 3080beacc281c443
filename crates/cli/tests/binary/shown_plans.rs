//! Tests of plan files that are only looked at: `cyan show PLAN`, `cyan stage PLAN`, and plans as
//! Markdown.

use serde_json::Value;

use crate::place::{Place, Ran, ran};

const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

/// A document whose next plan has many parts: an update of texts, of a list, and of a secret list, a
/// create, a delete, a replacement, drift, exports, metadata and a child.
const BEFORE: &str = r#"version: 2023-04-20
variables:
  word: {type: string, secret: true}
metadata: {note: one}
include:
  part: {path: part.yaml}
resources:
  text: {type: local/file, spec: {path: text.txt, content: "a\nb\nc\n"}}
  copy: {type: local/file, spec: {path: copy.txt, source: source.txt}}
  items: {type: std/value, spec: {input: [1, 2, 3]}}
  hidden: {type: std/value, spec: {input: ["${variables.word}", plain]}}
  gone: {type: local/file, spec: {path: gone.txt, content: x}}
  drifted: {type: local/file, spec: {path: drifted.txt, content: kept}}
exports:
  items: {type: array, field: resources.items.spec.input}
"#;

const PART: &str = "version: 2023-04-20\nresources:\n  inner: {type: std/value, spec: {input: 1}}\nexports:\n  out: {type: integer, field: resources.inner.spec.input}\n";

fn with_key(place: &Place, words: &[&str]) -> Ran {
    let ran = ran(place.cyan(words).env("CYAN_KEY", KEY).output().unwrap());
    assert_eq!(ran.code, 0, "{words:?}\n{}{}", ran.out, ran.err);
    ran
}

/// A place with a deployed document, and with changes of it that are not deployed.
fn changed_place() -> Place {
    let place = Place::with("blueprint.yaml", BEFORE);
    place.write("part.yaml", PART);
    place.write("source.txt", "one\ntwo\n");
    with_key(&place, &["deploy", "--yes", "--var", "word=sesame"]);
    let after = BEFORE
        .replace("b\\nc", "B\\nc")
        .replace("[1, 2, 3]", "[0, 1, 2, 4]")
        .replace("plain]", "plain, \"${variables.word}\"]")
        .replace(
            "  gone: {type: local/file, spec: {path: gone.txt, content: x}}\n",
            "  new: {type: local/file, spec: {path: new.txt, content: y}}\n",
        )
        .replace("note: one", "note: two");
    place.write("blueprint.yaml", after);
    place.write("part.yaml", PART.replace("input: 1", "input: 2"));
    place.write("source.txt", "one\n2\n");
    place.write("drifted.txt", "by hand");
    place
}

/// The folder of a reviewer: a plan file, and neither state nor key nor document.
fn reviewer(plan: &str) -> Place {
    Place::with("change.plan", plan)
}

#[test]
fn a_saved_plan_is_shown_like_a_fresh_one_without_state_and_key() {
    let place = changed_place();
    for flags in [
        &[][..],
        &["--verbose"],
        &["--json"],
        &["--format", "markdown"],
    ] {
        let stage = ["stage", "--var", "word=open", "--out", "change.plan"];
        let fresh = with_key(&place, &[&stage[..], flags].concat());
        let there = reviewer(&place.read("change.plan"));
        for command in ["show", "stage"] {
            let shown = there.ends(0, &[&[command, "change.plan"][..], flags].concat());
            if flags == ["--json"] {
                let [fresh, shown]: [Value; 2] =
                    [&fresh.out, &shown.out].map(|text| serde_json::from_str(text).unwrap());
                assert_eq!(fresh["result"], shown["result"]);
            } else {
                assert_eq!(fresh.out, shown.out, "{command} {flags:?}");
            }
            assert!(!there.has(".cyan"), "looking makes no state");
        }
        assert!(!fresh.out.contains("sesame") && !fresh.out.contains("open\""));
    }
}

#[test]
fn a_saved_plan_answers_whether_it_changes_anything() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: std/value, spec: {input: 1}}\n",
    );
    place.ends(0, &["stage", "--out", "first.plan"]);
    place.ends(3, &["stage", "first.plan", "--exit-code"]);
    place.ends(0, &["deploy", "first.plan"]);
    place.ends(0, &["stage", "--out", "second.plan"]);
    place.ends(0, &["stage", "second.plan", "--exit-code"]);
    // A rehearsal is one for its readers, too.
    place.ends(0, &["stage", "--simulate", "--out", "third.plan"]);
    let shown = place.ends(0, &["show", "third.plan"]);
    assert!(shown.err.contains("Rehearsal"), "{}", shown.err);
}

#[test]
fn markdown_has_counts_a_table_and_folded_changes_without_secrets() {
    let place = changed_place();
    let text = with_key(
        &place,
        &["stage", "--var", "word=open", "--format", "markdown"],
    )
    .out;
    assert!(text.starts_with("### Plan: deploy `"), "{text}");
    for part in [
        "\n**1 to create, ",
        "\n| | resource | type | action |\n|---|---|---|---|\n",
        "| <code>+</code> | <code>new</code> | <code>local/file</code> | create: new |\n",
        "| <code>-</code> | <code>gone</code> | <code>local/file</code> | delete: no longer in the document |\n",
        "<details><summary><code>drifted</code> update</summary>\n\n```text\n",
        "\n</details>\n",
        "<details><summary>Exports and what else to know</summary>",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        text.contains("(secret)") && !text.contains("sesame"),
        "{text}"
    );
    let opened = text.matches("<details>").count();
    assert_eq!(opened, text.matches("</details>").count());
}

#[test]
fn a_file_that_is_no_plan_or_not_as_written_is_named_with_the_fix() {
    let place = changed_place();
    let stage = ["stage", "--var", "word=open", "--out", "change.plan"];
    with_key(&place, &stage);
    let plan = place.read("change.plan");
    let there = reviewer(&plan);
    let edited = plan.replacen("new.txt", "old.txt", 1);
    let cut = &plan[..plan.len() / 2];
    let newer = plan.replacen("\"format\":3", "\"format\":9", 1);
    for (text, what, fix) in [
        (
            edited.as_str(),
            "it was edited or damaged",
            "copy the file again",
        ),
        (cut, "the file is damaged", "copy the file again"),
        (
            newer.as_str(),
            "the plan has format 9",
            "stage again with this one",
        ),
        (
            "hello",
            "is not a plan",
            "make a plan with `cyan stage --out PLAN`",
        ),
    ] {
        there.write("change.plan", text);
        let refused = there.ends(1, &["show", "change.plan"]);
        assert!(
            refused.err.contains(what) && refused.err.contains(fix) && refused.out.is_empty(),
            "{what}\n{}",
            refused.err
        );
    }
    let missing = there.ends(1, &["show", "chang.plan"]);
    assert!(
        missing.err.contains("did you mean `change.plan`?"),
        "{}",
        missing.err
    );
    there.write("change.plan", &plan);
    for flags in [
        &["stage", "change.plan", "--var", "word=x"][..],
        &["stage", "change.plan", "--out", "other.plan"],
        &["stage", "change.plan", "--no-refresh"],
        &["show", "change.plan", "--reveal"],
        &["show", "change.plan", "-i", "other"],
        &["show", "--format", "markdown"],
    ] {
        there.ends(2, flags);
    }
    let unknown = there.ends(2, &["show", "other.plan", "--format", "markdown"]);
    assert!(
        unknown.err.contains("there is no file `other.plan`"),
        "{}",
        unknown.err
    );
}

#[test]
fn plans_of_earlier_formats_are_shown_as_far_as_they_go() {
    for name in ["plan-1.json", "plan-2.json"] {
        let folder = format!("{}/tests/formats", env!("CARGO_MANIFEST_DIR"));
        let there = reviewer(&std::fs::read_to_string(format!("{folder}/{name}")).unwrap());
        let shown = there.ends(0, &["show", "change.plan"]);
        assert_eq!(shown.last_line(), "2 to create, 0 to update, 0 to delete");
        assert!(shown.err.contains("An earlier version wrote this plan"));
    }
}
