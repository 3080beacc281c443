//! The house style: examples, and properties of every text without errors.

use proptest::prelude::*;
use syntax::Format::{self, Json, JsonWithComments, Yaml};
use syntax::{is_same, layout, parse};

fn laid(text: &str, format: Format) -> Option<String> {
    let (tree, found) = parse(diag::FileId::new(0), text, format);
    assert!(!found.has_errors(), "{found:?}\n{text}");
    layout(text, &tree)
}

/// Checks the properties of a layout. Returns whether the text could be laid out.
fn keeps_properties(text: &str, format: Format) -> bool {
    let file = diag::FileId::new(0);
    let (tree, found) = parse(file, text, format);
    if found.has_errors() {
        return false;
    }
    let Some(once) = layout(text, &tree) else {
        return false;
    };
    let (again, found) = parse(file, &once, format);
    assert!(!found.has_errors(), "{found:?}\nof\n{once}\nfrom\n{text}");
    assert!(
        is_same(text, &tree, &once, &again),
        "{once}\nis not\n{text}"
    );
    let twice = layout(&once, &again);
    assert_eq!(
        twice.as_deref(),
        Some(once.as_str()),
        "twice is not once; from\n{text:?}"
    );
    assert!(once.is_empty() || once.ends_with('\n'), "{once:?}");
    true
}

#[track_caller]
fn becomes(format: Format, text: &str, wanted: &str) {
    let Some(is) = laid(text, format) else {
        panic!(
            "left alone: {:#?}",
            parse(diag::FileId::new(0), text, format)
        )
    };
    assert_eq!(is, wanted, "\n{is}");
    assert!(keeps_properties(text, format) && keeps_properties(wanted, format));
}

#[test]
fn levels_are_two_columns_and_lists_stand_below_their_key() {
    becomes(
        Yaml,
        "a:\n    b:   1\n    c:\n    - x\n    -   d: 1\n        e: 2\n    -\n      f: 3\n",
        "a:\n  b: 1\n  c:\n    - x\n    - d: 1\n      e: 2\n    - f: 3\n",
    );
    becomes(Yaml, "- - a\n  - b\n-   - c", "- - a\n  - b\n- - c\n");
}

#[test]
fn brackets_on_one_line_stay_and_others_become_blocks() {
    becomes(
        Yaml,
        "a: { x: 1,y: [ 1,2 ] , z: {}}\n",
        "a: {x: 1, y: [1, 2], z: {}}\n",
    );
    becomes(
        Yaml,
        "a: [\n  1,\n  {b: 2},\n  # last\n  3 ]\nc: {d: [\n 1]}\n",
        "a:\n  - 1\n  - {b: 2}\n  # last\n  - 3\nc:\n  d:\n    - 1\n",
    );
    becomes(
        Yaml,
        "a: [\n  b, c, # both\n  d]\n",
        "a:\n  - b\n  - c  # both\n  - d\n",
    );
    let long = "x".repeat(60);
    becomes(
        Yaml,
        &format!("a: [{long}, {long}]\n"),
        &format!("a:\n  - {long}\n  - {long}\n"),
    );
    becomes(
        Yaml,
        "{\"a\": 1,\n \"b\": [\n  true ]}",
        "\"a\": 1\n\"b\":\n  - true\n",
    );
    becomes(Yaml, "a: [b: 1]\n", "a: [{b: 1}]\n");
}

#[test]
fn comments_keep_their_places() {
    becomes(
        Yaml,
        "# top\n\n\n\n# second\na: # of a\n   # in a\n   b: 1    # of b\n   # end of a\n# before c\nc: 2\n# end\n",
        "# top\n\n# second\na:  # of a\n  # in a\n  b: 1  # of b\n  # end of a\n# before c\nc: 2\n# end\n",
    );
    becomes(
        Yaml,
        "a:\n- x # one\n# two\n- y\nb:\n    # nothing yet\nc: [ # one\n  1, # two\n  2 # three\n  # four\n] # five\n",
        "a:\n  - x  # one\n  # two\n  - y\nb:\n  # nothing yet\nc:\n  # one\n  - 1  # two\n  - 2  # three\n  # four\n  # five\n",
    );
    becomes(
        Yaml,
        "a: # why\n  text\nb: | # how\n   x\n# c\nc: 1",
        "a:  # why\n  text\nb: |  # how\n  x\n# c\nc: 1\n",
    );
}

#[test]
fn empty_lines_between_elements_are_one_at_most() {
    becomes(
        Yaml,
        "\n\na: 1\n\n\n\nb:\n\n  c: 1\n\n  d: 2\n\n\n# e\n\ne: 1\n\n\n",
        "a: 1\n\nb:\n  c: 1\n\n  d: 2\n\n# e\n\ne: 1\n",
    );
}

#[test]
fn texts_keep_their_content_and_style() {
    becomes(
        Yaml,
        "a: |\n        one\n          two  \n\n        three\nb: 1\n",
        "a: |\n  one\n    two  \n\n  three\nb: 1\n",
    );
    becomes(
        Yaml,
        "a: |2\n    one\n  two\n\n\nb: >-\n    x\n    y\n\n      z\n    w\n",
        "a: |2\n    one\n  two\n\nb: >-\n  x\n  y\n\n    z\n  w\n",
    );
    becomes(
        Yaml,
        "a: |+\n   x\n\n\nb: |+\n\nc: |\nd: |\n  last",
        "a: |+\n  x\n\n\nb: |+\n\nc: |\nd: |-\n  last\n",
    );
    becomes(
        Yaml,
        "a: 'it''s'\nb: 'say \"x\"'\nc: \"5\"\nd: yes\ne: 'x'\n'f': g\n",
        "a: \"it's\"\nb: 'say \"x\"'\nc: \"5\"\nd: yes\ne: \"x\"\n\"f\": g\n",
    );
    becomes(
        Yaml,
        "a: one\n      two\n\n      three\nb: \"x \\\n     y\n\n     z\"\n",
        "a: one\n  two\n\n  three\nb: \"x \\\n  y\n\n  z\"\n",
    );
    becomes(
        Yaml,
        "a:   ${b.spec.c}-${ f( 1 ,2 ) }  \n",
        "a: ${b.spec.c}-${ f( 1 ,2 ) }\n",
    );
}

#[test]
fn odd_layouts_are_kept() {
    becomes(
        Yaml,
        "%YAML 1.2\n# c\n---   # d\na:   1\n",
        "%YAML 1.2\n# c\n---  # d\na: 1\n",
    );
    becomes(
        Yaml,
        "a: &x\n   b: 1\nc: *x\nd: !t   e\nf: !u [1]\n",
        "a: &x\n  b: 1\nc: *x\nd: !t e\nf: !u [1]\n",
    );
    becomes(Yaml, "? a\n: b\n? c\n", "a: b\nc:\n");
    becomes(Yaml, "a: 1\r\n\r\nb:\r\n- c\r\n", "a: 1\n\nb:\n  - c\n");
    becomes(Yaml, "# nothing", "# nothing\n");
    becomes(Yaml, "", "");
    assert_eq!(laid("just text\n", Yaml), None);
    assert_eq!(laid("&a b: c\n", Yaml), None);
}

#[test]
fn json_opens_brackets_that_were_open() {
    becomes(
        Json,
        "{\"a\":[1,2 , {\"b\":null}],\n  \"c\" :{}, \"d\": [\n]\n}",
        "{\n  \"a\": [1, 2, { \"b\": null }],\n  \"c\": {},\n  \"d\": []\n}\n",
    );
    becomes(
        JsonWithComments,
        "// top\n{ // open\n  \"a\": 1, // one\n\n\n  /* b's */ \"b\": /* in */ 2 // two\n  ,\n  \"c\": [ 1, // first\n 2, ]\n  // , end\n}\n// last",
        "// top\n{ // open\n  \"a\": 1, // one\n\n  /* b's */\n  \"b\": /* in */ 2, // two\n  \"c\": [\n    1, // first\n    2,\n  ]\n  // , end\n}\n// last\n",
    );
    let long = "x".repeat(60);
    becomes(
        Json,
        &format!("[\"{long}\", \"{long}\",]"),
        &format!("[\n  \"{long}\",\n  \"{long}\"\n]\n"),
    );
    becomes(
        JsonWithComments,
        "{\"a\" // why\n: 1, \"b\": [/* none */]}",
        "{\n  // why\n  \"a\": 1,\n  \"b\": [ /* none */\n  ]\n}\n",
    );
    becomes(JsonWithComments, "[1,]", "[1]\n");
}

#[test]
fn documents_of_the_repository_are_laid_out() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join("examples"), root.join("conformance")];
    let mut count = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if [".yaml", ".yml", ".jsonc"]
                .iter()
                .any(|ending| name.ends_with(ending))
            {
                let text = std::fs::read_to_string(&path).expect("it is text");
                let format = Format::of_name(&name);
                let (tree, found) = parse(diag::FileId::new(0), &text, format);
                // Some texts are invalid on purpose, some use constructs that are not rearranged.
                count += usize::from(!found.has_errors() && keeps_properties(&text, format));
                assert!(
                    found.has_errors()
                        || tree
                            .root
                            .as_ref()
                            .is_none_or(|root| root.as_scalar().is_some())
                        || layout(&text, &tree).is_some()
                        || text.contains(['&', '|', '>'])
                        || ["{:", "[:", "{?", " : "]
                            .iter()
                            .any(|odd| text.contains(odd)),
                    "{name}"
                );
            }
        }
    }
    assert!(count > 20, "{count}");
}

/// Generates texts in which characters with a meaning for parsers are frequent.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[a-c]{1,3}",
        6 => prop::sample::select(vec![
            ": ", ": ", ":", "- ", "- ", "-", "? ", "\n", "\n", "\n  ", "\n    ", " ", "\t", "\r\n", "# ", " # c\n", "\n# d\n", "{", "}", "[", "]", ", ",
            "\"", "'", "|", "|\n  ", "|+\n ", ">\n  ", ">-\n  ", "\n\n", "&a ", "*a", "!t ", "---\n", "...", "${", "}", "\\", "//", "/*", "*/", "1", "true",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Generates lines that often fit together.
fn lines() -> impl Strategy<Value = String> {
    let content = prop::sample::select(vec![
        "a:",
        "b: 1",
        "c: x y",
        "d: \"q # r\"",
        "e: 'q: r' # c",
        "- f",
        "- g: 1",
        "- ",
        "-",
        "- - h",
        "- i:",
        "# c",
        "# d",
        "",
        "",
        "j: &x",
        "k: *x",
        "l: !t m",
        "n: {o: 1, p: [q, r]}",
        "s: [",
        "t,",
        "u, # v",
        "]",
        "w: {x: ",
        "y}",
        "z: |",
        "text",
        "  deep  ",
        "a1: >-",
        "b1: |+",
        "c1: |2",
        "d1: \"e",
        "f\"",
        "g1: 'h",
        "i'",
        "? j",
        ": k",
        "l1: m",
        "n1:   # o",
        "- # p",
        "- {q: r}",
        "---",
        "s1: >",
        "- |",
        "t1: []",
        "{}",
        "- u: |-",
        "- !v",
        "w1 : x",
    ]);
    let line = (0usize..5, content)
        .prop_map(|(indent, content)| format!("{}{content}\n", "  ".repeat(indent)));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// Generates a well-formed document of blocks, brackets, texts and comments with varying
/// indentation.
fn document() -> impl Strategy<Value = String> {
    #[derive(Clone, Debug)]
    enum Value {
        Leaf(&'static str),
        Text(&'static str, Vec<&'static str>),
        Map(Vec<(usize, Value)>),
        List(Vec<Value>),
    }
    fn write(out: &mut String, value: &Value, indent: usize, seed: &mut u64) {
        let mut next = |most: u64| {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % most
        };
        let step = 1 + next(4) as usize;
        let noise = |out: &mut String, indent: usize, next: &mut dyn FnMut(u64) -> u64| {
            for _ in 0..next(3) {
                match next(5) {
                    0 => out.push_str(&format!("{}# note {}\n", " ".repeat(indent), next(9))),
                    1 => out.push('\n'),
                    _ => {}
                }
            }
        };
        match value {
            Value::Leaf(text) => {
                out.push_str(&format!(" {text}"));
                if next(5) == 0 {
                    out.push_str("   # said");
                }
                out.push('\n');
            }
            Value::Text(header, lines) => {
                out.push_str(&format!(
                    " {header}{}\n",
                    if next(5) == 0 { " # header" } else { "" }
                ));
                for line in lines {
                    let line = if line.is_empty() {
                        String::new()
                    } else {
                        format!("{}{line}", " ".repeat(indent + step))
                    };
                    out.push_str(&format!("{line}\n"));
                }
            }
            Value::Map(entries) => {
                out.push_str(if next(6) == 0 { " # inside\n" } else { "\n" });
                let indent = indent + step;
                for (at, (key, value)) in entries.iter().enumerate() {
                    noise(out, indent, &mut next);
                    out.push_str(&format!("{}key{key}x{at}:", " ".repeat(indent)));
                    let mut seed = next(u64::MAX >> 33);
                    write(out, value, indent, &mut seed);
                }
                noise(out, indent, &mut next);
            }
            Value::List(items) => {
                out.push('\n');
                let indent = indent + step;
                for item in items {
                    noise(out, indent, &mut next);
                    out.push_str(&format!("{}-", " ".repeat(indent)));
                    let mut seed = next(u64::MAX >> 33);
                    write(out, item, indent, &mut seed);
                }
                noise(out, indent, &mut next);
            }
        }
    }
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "1",
            "plain text",
            "\"quoted: # text\"",
            "'single ''x'''",
            "${a.spec.b}",
            "[a, b]",
            "{c: d, e: [1, 2]}",
            "",
            "[]",
            "{}",
            "~",
            "[one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen]",
        ])
        .prop_map(Value::Leaf),
        (
            prop::sample::select(vec!["|", ">", "|-", ">-", "|+", ">+"]),
            prop::collection::vec(
                prop::sample::select(vec!["a line", "", "  deeper", "with # no comment", "trailing  "]),
                1..5
            ),
        )
            .prop_map(|(header, lines)| {
                // The first line sets the indentation of the text.
                let lines = std::iter::once("first").chain(lines).collect();
                Value::Text(header, lines)
            }),
    ];
    let value = leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec((0..3usize, inner.clone()), 1..5).prop_map(Value::Map),
            prop::collection::vec(inner, 1..5).prop_map(Value::List),
        ]
    });
    (prop::collection::vec(value, 1..4), any::<u64>()).prop_map(|(values, mut seed)| {
        let mut out = String::new();
        for (at, value) in values.iter().enumerate() {
            out.push_str(&format!("top{at}:"));
            write(&mut out, value, 0, &mut seed);
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces(text in pieces(), format in prop_oneof![4 => Just(Yaml), 1 => Just(Json), 1 => Just(JsonWithComments)]) {
        keeps_properties(&text, format);
    }

    #[test]
    fn any_lines(text in lines()) {
        keeps_properties(&text, Yaml);
    }

    #[test]
    fn well_formed_documents_are_always_laid_out(text in document()) {
        let (_, found) = parse(diag::FileId::new(0), &text, Yaml);
        prop_assert!(!found.has_errors(), "{:?}\n{}", found, text);
        prop_assert!(keeps_properties(&text, Yaml), "left alone:\n{}", text);
    }
}
