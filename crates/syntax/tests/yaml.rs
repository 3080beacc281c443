//! YAML: trees, places and diagnostics of whole texts.

mod show;

use show::{check, one_line, spans};
use syntax::Format::Yaml;

#[track_caller]
fn clean(text: &str, tree: &str) {
    check(Yaml, text, tree, &[]);
}

#[test]
fn maps_lists_and_scalars() {
    clean(
        "a: 1\nb:\n  - x\n  - {c: 'd', e: [\"f\"]}\n",
        r#"{a: 1, b: [x, {c: "d", e: ["f"]}]}"#,
    );
    clean("? a\n: b\n? [c]\n: - d\n", "{a: b, [c]: [d]}");
    clean("- - a\n  - b\n-\n  - c\n", "[[a, b], [c]]");
    clean("just text", "just text");
    clean("", "nothing");
    clean("# only a comment\n", "nothing");
    clean("a: 1\na: 2\n<<: 3\n", "{a: 1, a: 2, <<: 3}");
    clean(
        "a: true\nb: 012\nc: ~\nd: null\n",
        "{a: true, b: 012, c: ~, d: null}",
    );
    clean(
        "\u{feff}a: é\r\nb: |\r\n  x\r\n  y\r\n",
        "{a: é, b: \"x\\ny\\n\"}",
    );
    clean(
        "k: |2-\n    foo\n   bar\nl: >+\n  a\n  b\n\n  c\n\n",
        r#"{k: "  foo\n bar", l: "a b\nc\n\n"}"#,
    );
}

#[test]
fn spans_cover_what_was_written() {
    let text =
        "a:\n  - |2- # c\n    x\n     y\n\n  - {b: 'c' }\n  -   \"d\\n\\\n     e\"\nf: >\n\n  g\n";
    let expected = [
        "a:\n  - |2- # c\n    x\n     y\n\n  - {b: 'c' }\n  -   \"d\\n\\\n     e\"\nf: >\n\n  g",
        "a",
        "- |2- # c\n    x\n     y\n\n  - {b: 'c' }\n  -   \"d\\n\\\n     e\"",
        "|2- # c\n    x\n     y",
        "{b: 'c' }",
        "b",
        "'c'",
        "\"d\\n\\\n     e\"",
        "f",
        ">\n\n  g",
    ];
    assert_eq!(spans(text, Yaml), expected);
    assert_eq!(
        spans("a: |\nb: >- # > |\n  # x\n\n", Yaml)[2..],
        ["|", "b", ">- # > |\n  # x"]
    );
    assert_eq!(spans("|\n a\n", Yaml), ["|\n a"]);
}

#[test]
fn omitted_value_is_placed_after_its_indicator() {
    let text = "a :\nb:   # x\nc: !t\nd:\n  -\n  -   # y\n";
    clean(text, "{a: ~, b: ~, c: !t ~, d: [~, ~]}");
    let mut places = Vec::new();
    show::with_nodes(text, Yaml, |node, _| {
        if node.text() == Some("") {
            places.push(node.span.start as usize);
            assert!(node.span.is_empty());
        }
    });
    let after = |what: &str| text.find(what).unwrap() + what.len();
    assert_eq!(
        places,
        [
            after("a :"),
            after("b:"),
            after("!t"),
            after("d:\n  -"),
            after("  -\n  -")
        ]
    );
}

#[test]
fn anchors_tags_and_aliases_are_kept_with_the_value() {
    clean(
        "a: &x !t 1\nb: *x\n<<: *x\n",
        "{a: &!t 1, b: *!t 1, <<: *!t 1}",
    );
    clean(
        "a: &x\n  b: [*y, &y c, *y]\n"
            .replace("*y, &y", "&y 0, &y")
            .as_str(),
        "{a: &{b: [&0, &c, *c]}}",
    );
    clean("- &x a\n- &x b\n- *x\n", "[&a, &b, *b]");
    let text = "&m a: &s { input: 1 }\nb: *s\nc: !!str\n  d: 1\n";
    clean(text, "{&a: &{input: 1}, b: *{input: 1}, c: !!str {d: 1}}");
    let mut found = Vec::new();
    show::with_nodes(text, Yaml, |node, slice| {
        found.extend(node.anchor().map(slice));
        found.extend(node.alias().map(slice));
        found.extend(node.tag().map(|tag| slice(tag.span)));
    });
    assert_eq!(found, ["&m", "&s", "*s", "!!str"]);
}

#[test]
fn unknown_aliases_are_reported() {
    check(
        Yaml,
        "a: *x\nb: 1\n",
        "{a: *?, b: 1}",
        &["invalid-syntax 1:4"],
    );
    check(
        Yaml,
        "a: &x [1, *x]\nb: *x\n",
        "{a: &[1, *?], b: *[1, *?]}",
        &["invalid-syntax 1:11"],
    );
    check(
        Yaml,
        "a: *x\nb: &x 1\n",
        "{a: *?, b: &1}",
        &["invalid-syntax 1:4"],
    );
}

#[test]
fn an_alias_bomb_is_too_large() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let item = format!("*a{}", level - 1);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            vec![item; 10].join(", ")
        ));
    }
    assert_eq!(show::diagnostics(&text, Yaml), ["document-too-large 6:15"]);
    let mut deep = String::from("a0: &a0 []\n");
    (1..300).for_each(|level| deep.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1)));
    assert_eq!(show::diagnostics(&deep, Yaml)[0], "invalid-syntax 255:14");
}

#[test]
fn one_document_is_read() {
    clean("%YAML 1.2\n---\na: 1\n...\n", "{a: 1}");
    clean("--- # x\na: 1\n", "{a: 1}");
    check(
        Yaml,
        "a: 1\n---\nb: 2\n",
        "{a: 1}",
        &["multiple-documents 2:1"],
    );
    check(
        Yaml,
        "---\na: 1\n---\nb: 2\n---\nc: 3\n",
        "{a: 1}",
        &["multiple-documents 3:1"],
    );
    check(
        Yaml,
        "a: 1\n...\n---\nb: [\n",
        "{a: 1}",
        &["multiple-documents 3:1"],
    );
    check(
        Yaml,
        "a: [1,\n---\nb: 2\n",
        "{a: [1]}",
        &["invalid-syntax 1:4", "multiple-documents 2:1"],
    );
}

#[test]
fn comments_are_kept() {
    let text = "# a\nb: 1 # c\n# d\n";
    let mut files = diag::Files::new();
    let file = files.add("a", text);
    let (tree, _) = syntax::parse(file, text, Yaml);
    assert_eq!(
        tree.comments
            .iter()
            .map(|span| files.slice(*span))
            .collect::<Vec<_>>(),
        ["# a", "# c", "# d"]
    );
    clean(
        &format!("a:\n{}  b: 1\n", "  # c\n".repeat(500)),
        "{a: {b: 1}}",
    );
}

#[test]
fn text_before_and_after_an_error_is_parsed() {
    for (text, tree, place) in [
        ("r:\n\tr: 1\nb: 2\n", "{r: ?, b: 2}", "2:1"),
        ("a: \"foo\nb: 1\nc: 2\n", "{a: ?, b: 1, c: 2}", "1:4"),
        (
            "x:\n  a: 'foo\n  b: 1\ny: 2\n",
            "{x: {a: ?, b: 1}, y: 2}",
            "2:6",
        ),
        ("a: [1, 2\nb: 1\nc: 2\n", "{a: [1], b: 1, c: 2}", "1:4"),
        (
            "a:\n  b: {c: [d, e\n  f: 1\ng: 1\n",
            "{a: {b: {c: [d]}, f: 1}, g: 1}",
            "2:10",
        ),
        ("a: b: c\nd: e\n", "{a: ?, d: e}", "1:5"),
        ("a: b\n  c: d\ne: f\n", "{a: ?, e: f}", "2:4"),
        ("a: \"x\" y\nb: c\n", "{a: ?, b: c}", "1:8"),
        ("a: @b\nc: d\n", "{a: ?, c: d}", "1:4"),
        ("a: [x]]\nc: d\n", "{a: [x], c: d}", "1:7"),
        ("a: [x}\nc: d\n", "{a: [], c: d}", "1:6"),
        (
            "r:\n  a:\n    x: 1\n   y: 2\n  b: 3\nc: 1\n",
            "{r: {a: {x: 1}, b: 3}, c: 1}",
            "4:4",
        ),
        ("foo\na: b\nc: d\n", "{a: b, c: d}", "2:2"),
        ("a: 1\nb\n  c: 1\nd: 2\n", "{a: 1, d: 2}", "2:1"),
        ("- a\n- b: \"\\q\"\n- c\n", "[a, {b: ?}, c]", "2:7"),
        ("a: |x\n  b\nc: d\n", "{a: ?, c: d}", "1:4"),
        ("a: 1\n- b\nc: d\n", "{a: 1, c: d}", "2:1"),
        ("a: - b\nc: d\n", "{a: ?, c: d}", "1:4"),
        ("a: &\nc: d\n", "{a: ?, c: d}", "1:4"),
        ("a: {b: 1, c: 2", "{a: {b: 1, c: 2}}", "1:4"),
    ] {
        let found = show::diagnostics(text, Yaml);
        assert_eq!(
            (one_line(text, Yaml).as_str(), found),
            (tree, vec![format!("invalid-syntax {place}")]),
            "{text}"
        );
    }
}

#[test]
fn every_error_is_reported() {
    let text = "a: [1\nb:\n  c: \"x\" y\n  d: @\ne: 1\nf: }\n";
    let places = [
        "invalid-syntax 1:4",
        "invalid-syntax 3:10",
        "invalid-syntax 4:6",
        "invalid-syntax 6:4",
    ];
    check(Yaml, text, "{a: [], b: {c: ?, d: ?}, e: 1, f: ?}", &places);
}

#[test]
fn a_cut_substitution_is_put_together_again() {
    for (text, tree, place) in [
        (
            "a: name-${trim(\"a #\")} x # c\nb: 2\n",
            "{a: name-${trim(\"a #\")} x, b: 2}",
            "1:9",
        ),
        (
            "r:\n  a: ${f(\"a: b\")}\n  b: 2\n",
            "{r: {a: ${f(\"a: b\")}, b: 2}}",
            "2:6",
        ),
        ("- ${f(\"a: b\")}\n- 2\n", "[${f(\"a: b\")}, 2]", "1:3"),
        (
            "a: [${variables.x}]\nb: 2\n",
            "{a: [${variables.x}], b: 2}",
            "1:5",
        ),
        (
            "a: [1, x-${list(1, 2)}-y , 2]\n",
            "{a: [1, x-${list(1, 2)}-y, 2]}",
            "1:10",
        ),
        (
            "a: [${eq(a.spec.x, \"b\")}, 2]\n",
            "{a: [${eq(a.spec.x, \"b\")}, 2]}",
            "1:5",
        ),
        (
            "a: {b: ${f(x[\"y\"], \"}\")}, c: d}\n",
            "{a: {b: ${f(x[\"y\"], \"}\")}, c: d}}",
            "1:8",
        ),
        (
            "a: {b: [1,\n  {c: ${v}}],\n  d: 1}\ne: 1\n",
            "{a: {b: [1, {c: ${v}}], d: 1}, e: 1}",
            "2:7",
        ),
        (
            "- a: ${f(\"x: y\")}\n  b: 1\n",
            "[{a: ${f(\"x: y\")}, b: 1}]",
            "1:6",
        ),
        (
            "a:\n  ${f(\"x: y\")}\nb: 1\n",
            "{a: ${f(\"x: y\")}, b: 1}",
            "2:3",
        ),
        (
            "a: ${object(k = \"b #\",\n    l = 1)}\nb: 1\n",
            "{a: ${object(k = \"b #\", l = 1)}, b: 1}",
            "1:4",
        ),
        ("a: x ${v # todo\nb: 1\n", "{a: ?, b: 1}", "1:6"),
        ("a: [x ${v, 2]\nb: 1\n", "{a: [?, 2], b: 1}", "1:7"),
        (
            "&x a: &y ${f(\"x: y\")}\nb: *y\n",
            "{&a: &${f(\"x: y\")}, b: *${f(\"x: y\")}}",
            "1:10",
        ),
    ] {
        let found = show::diagnostics(text, Yaml);
        assert_eq!(
            (one_line(text, Yaml).as_str(), found),
            (tree, vec![format!("split-substitution {place}")]),
            "{text}"
        );
    }
}

#[test]
fn several_cut_substitutions_are_each_reported() {
    let text = "a: [${x}, ${f(\"]\")}]\nb: {c: 1}\nd: ${f(\"a: b\")} ${g(\" #\")}\ne: \"x\" y\nf: ${g(\"c: d\")}\n";
    let found = [
        "split-substitution 1:5",
        "split-substitution 1:11",
        "split-substitution 3:4",
        "invalid-syntax 4:8",
        "split-substitution 5:4",
    ];
    let tree = "{a: [${x}, ${f(\"]\")}], b: {c: 1}, d: ${f(\"a: b\")} ${g(\" #\")}, e: ?, f: ${g(\"c: d\")}}";
    check(Yaml, text, tree, &found);
}

#[test]
fn whole_substitutions_are_left_alone() {
    clean(
        "a: ${f(\"x\", 'y:z')} and ${v}\n",
        "{a: ${f(\"x\", 'y:z')} and ${v}}",
    );
    clean("a: ${v\nb: 1\n", "{a: ${v, b: 1}");
    clean("a: ${list(1,\n  2)}\n", "{a: ${list(1, 2)}}");
    clean(
        "a: \"${f('x: y')}\"\nb: |\n  ${f(\"x: y #\")}\nc: ['${d}']\n",
        "{a: \"${f('x: y')}\", b: \"${f(\\\"x: y #\\\")}\\n\", c: [\"${d}\"]}",
    );
    clean("a: $\nb: [$, a$]\n", "{a: $, b: [$, a$]}");
}

#[test]
fn each_text_is_reported_once() {
    check(
        Yaml,
        "a: [x ${v} y ${w}]\n",
        "{a: [x ${v} y ${w}]}",
        &["split-substitution 1:7"],
    );
    check(
        Yaml,
        "a: x\n  y ${f(\"b: c\")}\nd: 1\n",
        "{a: x y ${f(\"b: c\")}, d: 1}",
        &["split-substitution 2:5"],
    );
    check(
        Yaml,
        "a: ${f(\"b # c)}\nd: 1\n",
        "{a: ?, d: 1}",
        &["split-substitution 1:4"],
    );
    check(
        Yaml,
        "a: ${list(\"b #1\", \"c #2\")}\n",
        "{a: ${list(\"b #1\", \"c #2\")}}",
        &["split-substitution 1:4"],
    );
}

#[test]
fn substitutions_in_block_scalars_are_not_split() {
    let text = "- |2-\n     b\n\n  a${<<: }\n- ${f(\"x: y\")}\n";
    check(
        Yaml,
        text,
        "[\"   b\\n\\na${<<: }\", ${f(\"x: y\")}]",
        &["split-substitution 5:3"],
    );
}

#[test]
fn the_fix_quotes_the_value() {
    for (text, fixed) in [
        (
            "r:\n  a: x ${f(\"a: b\")} y  # c\n",
            "r:\n  a: 'x ${f(\"a: b\")} y'  # c\n",
        ),
        ("a: [1, ${v}, 2]\n", "a: [1, '${v}', 2]\n"),
        ("- ${f('a: b')}\n", "- \"${f('a: b')}\"\n"),
        ("a: {b: ${v}}\n", "a: {b: '${v}'}\n"),
        ("a: [${v}-${w} , x]\n", "a: ['${v}-${w}' , x]\n"),
    ] {
        let file = diag::Files::new().add("a", text);
        let (_, found) = syntax::parse(file, text, Yaml);
        let fix = &found.iter().next().unwrap().fixes[0];
        let mut fixed_text = text.to_owned();
        for (span, new) in fix.edits.iter().rev() {
            fixed_text.replace_range(span.range(), new);
        }
        assert_eq!(fixed_text, fixed);
        assert_eq!(show::diagnostics(&fixed_text, Yaml), [""; 0]);
    }
}

#[test]
fn nesting_has_a_limit() {
    for text in [
        "[".repeat(100_000),
        "- ".repeat(100_000),
        "{a: ".repeat(100_000),
        "? ".repeat(100_000),
    ] {
        assert_eq!(show::diagnostics(&text, Yaml).len(), 1, "{}", &text[..4]);
    }
    let deep = format!("{}{}", "[".repeat(255), "]".repeat(255));
    assert_eq!(show::diagnostics(&deep, Yaml), [""; 0]);
    assert_eq!(
        show::diagnostics(&format!("a: [{deep}]\nb: 1\n"), Yaml).len(),
        1
    );
}

#[test]
fn a_text_that_is_too_long_is_not_read() {
    let text = "x".repeat(syntax::MAX_BYTES + 1);
    check(Yaml, &text, "nothing", &["document-too-large 1:1"]);
}

#[test]
fn many_errors_are_reported_in_linear_time() {
    let text = "- \"x\" y\n".repeat(2_000);
    assert_eq!(show::diagnostics(&text, Yaml).len(), 100);
}
