//! Texts with several YAML documents.

mod show;

use diag::{Diagnostics, FileId};
use proptest::prelude::*;
use syntax::{Format, Tree, parse, parse_stream};

fn stream(text: &str) -> (Vec<Tree>, Diagnostics) {
    parse_stream(FileId::new(0), text, Format::Yaml)
}

/// The roots on one line each, and the codes of the diagnostics with their lines.
fn shown(text: &str) -> (Vec<String>, Vec<String>) {
    let (documents, found) = stream(text);
    let roots = documents
        .iter()
        .map(|tree| tree.root.as_ref().map_or("nothing".into(), show::node))
        .collect();
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let codes = found
        .iter()
        .map(|one| format!("{} {}", one.code.name, line(one.span().start)))
        .collect();
    (roots, codes)
}

#[test]
fn each_document_has_its_own_tree() {
    for (text, roots) in [
        ("", &["nothing"][..]),
        ("# c\n", &["nothing"]),
        ("a: 1\n", &["{a: 1}"]),
        ("---\na: 1\n", &["{a: 1}"]),
        ("a: 1\n---\nb: 2\n", &["{a: 1}", "{b: 2}"]),
        ("a: 1\n---\n", &["{a: 1}", "~"]),
        ("---\n---\na: 1\n", &["~", "{a: 1}"]),
        ("a: 1\n...\n---\nb: 2\n...\n", &["{a: 1}", "{b: 2}"]),
        ("a: 1\n...\nb: 2\n", &["{a: 1}", "{b: 2}"]),
        ("a: 1\n...\n|\n b\n", &["{a: 1}", "\"b\\n\""]),
        (
            "--- [a]\n--- |\n  text\n--- x\n",
            &["[a]", "\"text\\n\"", "x"],
        ),
        (
            "a: |\n  x\n---\nb: 'y\n  z'\n",
            &["{a: \"x\\n\"}", "{b: \"y z\"}"],
        ),
        (
            "a: &n 1\nb: *n\n---\nc: &n 2\nd: *n\n",
            &["{a: &1, b: *1}", "{c: &2, d: *2}"],
        ),
        (
            "a: ${f(\"x: y\")}\n---\nb: ${f(\"x: y\")}\nc: [-, 1]\n",
            &["{a: ${f(\"x: y\")}}", "{b: ${f(\"x: y\")}, c: [-, 1]}"],
        ),
    ] {
        let (found, codes) = shown(text);
        assert_eq!(found, roots, "{text:?}");
        assert!(
            codes
                .iter()
                .all(|code| code.starts_with("split-substitution")),
            "{text:?}: {codes:?}"
        );
    }
}

#[test]
fn a_json_text_is_one_document() {
    let (documents, found) = parse_stream(FileId::new(0), "{\"a\": 1}", Format::Json);
    assert_eq!((documents.len(), found.len()), (1, 0));
}

#[test]
fn an_anchor_belongs_to_its_document() {
    let (_, codes) = shown("a: &n 1\n---\nb: *n\n");
    assert_eq!(codes, ["invalid-syntax 3"]);
}

#[test]
fn a_mistake_in_one_document_leaves_the_others() {
    for (text, roots, codes) in [
        (
            "a: [1\n---\nb: 2\n",
            &["{a: []}", "{b: 2}"][..],
            &["invalid-syntax 1"][..],
        ),
        (
            "a: 'x\n---\nb: 2\n---\nc: 3\n",
            &["{a: ?}", "{b: 2}", "{c: 3}"],
            &["invalid-syntax 1"],
        ),
        (
            "a: 1\n---\nb: 2\n\tc: 3\nd: 4\n---\ne: 5\n",
            &["{a: 1}", "{b: ?, d: 4}", "{e: 5}"],
            &["invalid-syntax 4"],
        ),
        (
            "a: 1\n---\nb: }\n...\n---\nc: 3\n",
            &["{a: 1}", "{b: ?}", "{c: 3}"],
            &["invalid-syntax 3"],
        ),
        (
            "a: 1\n---\nb: @x\n...\n",
            &["{a: 1}", "{b: ?}"],
            &["invalid-syntax 3"],
        ),
    ] {
        let (found, problems) = shown(text);
        assert_eq!(found, roots, "{text:?}");
        assert_eq!(problems, codes, "{text:?}");
    }
}

#[test]
fn comments_belong_to_the_document_around_them() {
    let text = "# 1\na: 1 # 1\n# 1\n---\n# 2\nb: 2\n...\n# 3\n---\n# 3\nc: 3\n# 3\n";
    let (documents, found) = stream(text);
    assert!(found.is_empty(), "{found:?}");
    for (at, tree) in documents.iter().enumerate() {
        assert!(
            tree.comments
                .iter()
                .all(|comment| text[comment.range()] == format!("# {}", at + 1)),
            "{tree:?}"
        );
    }
    assert_eq!(
        documents
            .iter()
            .map(|tree| tree.comments.len())
            .collect::<Vec<_>>(),
        [3, 1, 3]
    );
}

#[test]
fn a_reader_of_one_document_reports_the_second() {
    let (tree, found) = parse(FileId::new(0), "a: 1\n---\nb: 2\n", Format::Yaml);
    assert_eq!(
        tree.root.as_ref().map(show::node).as_deref(),
        Some("{a: 1}")
    );
    assert_eq!(
        found.iter().map(|one| one.code.name).collect::<Vec<_>>(),
        ["multiple-documents"]
    );
}

/// Limits apply to the whole text, and the cost is linear in its size.
#[test]
fn many_documents_are_read_in_linear_time() {
    let (documents, found) = stream(&"a: [-, 1]\n---\n".repeat(50_000));
    assert_eq!((documents.len(), found.len()), (50_001, 0));
    let (documents, found) = stream(&"a: [-, x: ${f(\"a: b\")}]\n---\n".repeat(20_000));
    assert!(
        documents.len() > 90 && found.len() <= 110,
        "{} {}",
        documents.len(),
        found.len()
    );
    let (documents, found) = stream(&"---\n".repeat(1_100_000));
    assert!(
        documents.len() <= syntax::MAX_NODES + 2,
        "{}",
        documents.len()
    );
    assert_eq!(
        found.iter().map(|one| one.code.name).collect::<Vec<_>>(),
        ["document-too-large"]
    );
}

/// Documents of lines that are often correct.
fn document() -> impl Strategy<Value = String> {
    let content = prop::sample::select(vec![
        "a: 1",
        "b: [x, {y: z}]",
        "c:",
        "  - 'q'",
        "  - d: \"e\\n\"",
        "f: |",
        "  text",
        "",
        "g: &n v",
        "h: *n",
        "i: !t j",
        "k: ${f(\"x\")}",
        "l: é # comment",
        "m: ]",
        "n: 'open",
        "\to: tab",
        "p: >-",
        "- item",
    ]);
    prop::collection::vec(content, 0..6)
        .prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The text with every byte outside `range` replaced by a line break: the rest keeps its place.
fn alone(text: &str, range: std::ops::Range<usize>) -> String {
    format!("{}{}", "\n".repeat(range.start), &text[range])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A document of a stream has the same tree and places as on its own.
    #[test]
    fn documents_of_a_stream_are_read_like_single_ones(texts in prop::collection::vec(document(), 1..5)) {
        let mut text = String::new();
        let mut ranges = Vec::new();
        for document in &texts {
            text.push_str("---\n");
            let start = text.len();
            text.push_str(document);
            ranges.push(start..text.len());
        }
        let (documents, found) = stream(&text);
        let mut whole = found.iter().map(|one| (one.code.name, one.message.clone(), one.span())).collect::<Vec<_>>();
        let clean = whole.is_empty();
        if clean {
            prop_assert_eq!(documents.len(), texts.len());
        }
        let mut single = Vec::new();
        for (range, tree) in ranges.iter().zip(&documents) {
            let (own, problems) = parse(FileId::new(0), &alone(&text, range.clone()), Format::Yaml);
            single.extend(problems.iter().map(|one| (one.code.name, one.message.clone(), one.span())));
            let is_empty = own.root.is_none();
            if clean && !is_empty {
                prop_assert_eq!(format!("{:?}", own.root), format!("{:?}", tree.root), "{:?}", text);
                prop_assert_eq!(&own.comments, &tree.comments);
            }
        }
        if documents.len() == texts.len() {
            whole.dedup();
            prop_assert_eq!(whole.is_empty(), single.is_empty(), "{:?} {:?} {:?}", text, whole, single);
        }
    }

    /// Any text gives documents in the order of the text, and the content of each lies between its
    /// neighbours.
    #[test]
    fn any_text_gives_a_stream(pieces in prop::collection::vec(prop::sample::select(vec![
        "---\n", "--- ", "...\n", "a: ", "1\n", "\n", "  ", "- ", "'", "\"", "[", "]", "{", "}", ",", "# c\n", "|\n", "&n ", "*n",
        "%YAML 1.2\n", "%TAG ! x\n", "\u{feff}", "\r\n", "\r", "\t", "${", "}", ": ", "? ", "é", "\0",
    ]), 0..24)) {
        let text = pieces.concat();
        let (documents, found) = stream(&text);
        prop_assert!(!documents.is_empty());
        let mut end = 0;
        for tree in &documents {
            let mut first = u32::MAX;
            let mut last = 0;
            show::walk(tree, &mut |node| {
                let span = node.span_with_properties();
                assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
                if node.is_missing() {
                    assert!(!found.is_empty(), "something is missing, and nothing was reported: {text:?}");
                }
                first = first.min(span.start);
                last = last.max(span.end);
            });
            if tree.root.is_some() {
                prop_assert!(first >= end, "{documents:?} of {text:?}");
                end = last;
            }
        }
        let (one, reported) = parse(FileId::new(0), &text, Format::Yaml);
        if documents.len() == 1 && reported.iter().all(|one| one.code.name != "multiple-documents") {
            prop_assert_eq!(format!("{:?}", one), format!("{:?}", documents[0]), "{:?}", text);
        }
    }
}
