//! The places of the diagnostics about a document's shape: line, column, severity, code, in the
//! order of the text.

use blueprint_dialect::BlueprintDialect;
use diag::Files;
use dialect::Dialect as _;
use syntax::Format;

/// All diagnostics as `line:column E code`, sorted by place.
fn found_in(name: &str, text: &str) -> Vec<String> {
    let mut files = Files::new();
    let file = files.add(name, text);
    let (tree, mut found) = syntax::parse(file, text, Format::of_name(name));
    let context = dialect::LoadContext::NONE;
    let document = dialect::Document::new(file, name, text, std::slice::from_ref(&tree), &context);
    found.append(
        BlueprintDialect
            .lower(&document, expr::core_functions(), &Default::default())
            .diagnostics,
    );
    found.sort();
    let file = files.get(file).expect("it was added");
    found
        .iter()
        .map(|one| {
            let place = file.position(one.span().start);
            let severity = one
                .severity
                .word()
                .chars()
                .next()
                .map_or(' ', |first| first.to_ascii_uppercase());
            format!(
                "{}:{} {severity} {}",
                place.line, place.column, one.code.name
            )
        })
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(found_in("main.yaml", text), expected, "{text}");
}

/// Checks the diagnostics in a resource with these lines: the first of them is line 1, without its
/// indentation of 4.
#[track_caller]
fn check_resource(lines: &str, expected: &[&str]) {
    let mut text = String::from("version: 2023-04-20\nresources:\n  r:\n    type: test/data\n");
    let mut given = 0;
    for line in lines.lines() {
        text.push_str(&format!("    {line}\n"));
        given += 1;
    }
    if !lines.contains("spec:") {
        text.push_str("    spec: { input: 1 }\n");
    }
    let found: Vec<String> = found_in("main.yaml", &text)
        .iter()
        .map(|one| {
            let (line, rest) = one.split_once(':').expect("a place");
            let (column, rest) = rest.split_once(' ').expect("a severity");
            let line: u32 = line.parse().expect("a line");
            let column: u32 = column.parse().expect("a column");
            assert!((5..5 + given).contains(&line), "{one} in {text}");
            format!("{}:{} {rest}", line - 4, column - 4)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn an_empty_document_lacks_everything() {
    for text in ["", "\n", "# nothing\n", "---\n", "~\n", "{}\n"] {
        check(text, &["1:1 E missing-version", "1:1 E nothing-declared"]);
    }
    check("[]", &["1:1 E wrong-shape"]);
    check("text", &["1:1 E wrong-shape"]);
}

#[test]
fn missing_section_is_reported_at_the_first_key() {
    check(
        "# x\nmetadata: {}\n",
        &["2:1 E missing-version", "2:1 E nothing-declared"],
    );
    assert_eq!(
        found_in("a.json", r#" {"include": {"c": {"path": "x"}}}"#),
        ["1:3 E missing-version"]
    );
}

#[test]
fn invalid_version_is_reported_at_its_value() {
    check(
        "version: 5\ninclude: { c: { path: x } }",
        &["1:10 E unsupported-version"],
    );
    check(
        "version: ~\ninclude: { c: { path: x } }",
        &["1:1 W null-ignored", "1:1 E missing-version"],
    );
    check(
        "version: [a]\ninclude: { c: { path: x } }",
        &["1:10 E wrong-shape"],
    );
    check(
        "version: a-${1}\ninclude: { c: { path: x } }",
        &["1:12 E substitution-not-allowed"],
    );
}

#[test]
fn include_or_invalid_section_counts_as_declared() {
    check("version: 2023-04-20\ninclude: { c: { path: x } }", &[]);
    check(
        "version: 2023-04-20\nresources: {}\ninclude: { c: { path: x } }",
        &[],
    );
    check(
        "version: 2023-04-20\nresources: {}",
        &["1:1 E nothing-declared"],
    );
    check(
        "version: 2023-04-20\nresources: []",
        &["2:12 E wrong-shape"],
    );
    check(
        "version: 2023-04-20\nresources: ~",
        &["1:1 E nothing-declared", "2:1 W null-ignored"],
    );
}

#[test]
fn the_second_of_two_keys_is_the_wrong_one() {
    check_resource(
        "spec:\n  input: 1\n  input: 2\n  input: 3",
        &["3:3 E duplicate-key", "4:3 E duplicate-key"],
    );
    let many: String = (0..20).map(|at| format!("  k{at}: {at}\n")).collect();
    check_resource(&format!("spec:\n{many}  k3: 1"), &["22:3 E duplicate-key"]);
    assert_eq!(
        found_in(
            "a.json",
            "{\"version\": \"2023-04-20\", \"version\": 1,\n\"include\": {\"c\": {\"path\": \"x\"}}}"
        ),
        ["1:27 E duplicate-key"]
    );
}

#[test]
fn unsupported_yaml_features_are_reported_at_their_place() {
    check_resource(
        "spec: &s\n  input: !x 1\n  a: &b [1]\n  c: *b",
        &[
            "1:7 E unsupported-yaml",
            "2:10 E unsupported-yaml",
            "3:6 E unsupported-yaml",
            "4:6 E unsupported-yaml",
        ],
    );
    // A merge is applied: nothing is missing in `s`, and its own keys take precedence.
    check(
        "version: 2023-04-20\nresources:\n  r: &r\n    type: a/b\n    spec: {}\n  s:\n    <<: *r\n    spec: { a: 1 }\n",
        &[
            "3:6 E unsupported-yaml",
            "7:5 E unsupported-yaml",
            "7:9 E unsupported-yaml",
        ],
    );
    // `<<` is only a merge key without quotes.
    check_resource("spec:\n  \"<<\": 1", &[]);
}

#[test]
fn a_substituted_key_is_one_mistake() {
    check_resource(
        "spec:\n  \"${1}\": 1\n  \"${1}\": 2",
        &["2:3 E substitution-in-key", "3:3 E substitution-in-key"],
    );
    check(
        "version: 2023-04-20\nresources:\n  \"${1}\": { type: x }\n",
        &["3:3 E substitution-in-key"],
    );
}

#[test]
fn missing_key_is_reported_at_its_section_or_item() {
    let document = |filter: &str| {
        format!(
            "version: 2025-11-02\ninclude: {{ c: {{ path: x }} }}\ndatasources:\n  d:\n    type: a/b\n    exports: {{ a: {{ type: string }} }}\n{filter}"
        )
    };
    check(
        &document("    filter:\n      field: a\n      operator: in\n"),
        &["7:5 E missing-field"],
    );
    check(
        &document("    filter:\n      - field: a\n        search: 1\n      - ~\n"),
        &["8:9 E missing-field", "10:9 E type-mismatch"],
    );
    check(&document("    filter: x\n"), &["7:13 E wrong-shape"]);
}

#[test]
fn forbidden_substitution_is_reported_at_the_first_one() {
    check_resource(
        "dependsOn: 'a ${x} ${y}'",
        &["1:15 E substitution-not-allowed"],
    );
    check_resource(
        "metadata:\n  labels:\n    a: \"\\t${x}\"",
        &["3:11 E substitution-not-allowed"],
    );
    check_resource(
        "removalPolicy: >\n  a\n  ${x}",
        &["1:1 N newer-than-version", "3:3 E substitution-not-allowed"],
    );
    check_resource(
        "linkSelector: { byLabel: { a: '${x}' } }",
        &["1:32 E substitution-not-allowed"],
    );
    check_resource(
        "linkSelector: { exclude: ['${x}'] }",
        &[
            "1:17 N newer-than-version",
            "1:28 E substitution-not-allowed",
        ],
    );
}

#[test]
fn keys_of_a_later_version_are_noted_at_the_key_and_values_at_the_value() {
    let text = "version: 2023-04-20\ninclude: { c: { path: x } }\nvariables:\n  v: { type: a/b/c }\nvalues:\n  l:\n    type: array\n    value:\n      - 1\n";
    check(
        text,
        &["4:14 N newer-than-version", "9:7 N newer-than-version"],
    );
    check(&text.replace("2023-04-20", "2025-11-02"), &[]);
}

#[test]
fn each_use_of_none_is_reported_once() {
    check_resource(
        "spec: { a: '${none}', b: 'x ${none} ${coalesce(none, 1)}' }",
        &[
            "1:15 N newer-than-version",
            "1:31 N newer-than-version",
            "1:48 N newer-than-version",
        ],
    );
}

#[test]
fn the_accessor_of_former_fields_is_found_behind_an_index() {
    check_resource(
        "spec: { a: '${b[0].state.x}', c: '${resources.b[].state}' }",
        &["1:19 W state-alias", "1:50 W state-alias"],
    );
    check_resource(
        "spec: { a: '${values.state.state}', b: '${x.spec.state}' }",
        &[],
    );
}

#[test]
fn invalid_condition_is_reported_at_its_value() {
    check_resource("condition: \"${true} x\"", &["1:12 E invalid-condition"]);
    check_resource(
        "condition:\n  and:\n    - [a]\n    - ~\n    - ''",
        &[
            "3:7 E wrong-shape",
            "4:7 E type-mismatch",
            "5:7 E invalid-condition",
        ],
    );
    check_resource(
        "condition: { or: ['${true}'], and: ['${true}'] }",
        &["1:31 E invalid-condition"],
    );
    // A mistake in the expression is the only mistake.
    check_resource("condition: ${eq(1,}", &["1:16 E unexpected-token"]);
}

#[test]
fn element_of_the_wrong_form_is_still_declared() {
    check(
        "version: 2023-04-20\nvariables: { v: a }\nresources: { r: [] }\n",
        &["2:17 E wrong-shape", "3:17 E wrong-shape"],
    );
}

#[test]
fn syntax_error_is_not_also_reported_as_missing() {
    let found = found_in(
        "a.yaml",
        "version: 2023-04-20\nresources:\n  r: { type: test/data, spec: \"\n",
    );
    assert!(
        found.iter().all(|one| one.ends_with("invalid-syntax")),
        "{found:?}"
    );
}

#[test]
fn invalid_literal_is_reported_at_its_value() {
    check_resource("each: [a]", &["1:7 E wrong-shape"]);
    check_resource("description:\n  - a", &["2:3 E wrong-shape"]);
    check_resource(
        "metadata: { annotations: { a: { b: 1 } }, custom: 1 }",
        &["1:31 E type-mismatch", "1:51 E wrong-shape"],
    );
    check(
        "version: 2023-04-20\ninclude: { c: { path: 1, variables: { a: [1], b: ~ }, metadata: { a: ~ } } }\n",
        &[
            "2:23 E type-mismatch",
            "2:42 E type-mismatch",
            "2:47 W null-ignored",
        ],
    );
}

#[test]
fn move_to_an_unknown_element_is_reported_at_the_former_name() {
    check(
        "version: 2023-04-20\nmetadata: { cyan.moved: { a: gone, b: r, c: [r] } }\nresources: { r: { type: a/b, spec: {} } }\n",
        &["2:27 W unknown-annotation", "2:45 E invalid-annotation"],
    );
}

/// A document with every element, valid and invalid.
const EVERYTHING: &str = r#"version: 2023-04-20
transform: [a, "${b}", ~]
variables: { v: { type: float, default: 012, allowedValues: [1, [x]] }, w: ~, "${k}": &a { type: string } }
values:
  l: { type: array, value: "${list(variables.v, none)}", secret: yes }
  m: *a
include: { c: { path: "${cwd()}/x", variables: { a: [1] }, metadata: { sourceType: https } } }
datasources:
  d:
    type: !t a/b
    filter: [ { field: "a${1}", operator: ">", search: [ ~ ] }, 5 ]
    exports: { x.y: { type: map, aliasFor: 5 } }
resources:
  r:
    <<: *a
    type: test/data
    each: ${values.l}
    dependsOn: [ s, ~ ]
    condition:
      and:
        - ${eq(elem, "é")}
        - or: [ true, { not: "x" } ]
    linkSelector: { byLabel: { app: 1 }, exclude: r }
    removalPolicy: keep
    metadata: { labels: [], annotations: { cyan.protect: 1, cyan.eachKey: "${elem}" }, custom: { a: { b: ~ } } }
    spec:
      text: |
        folded ${r.state.id}
      number: 1e999
exports: { e: { type: string, field: "r[0].state" } }
metadata: { cyan.moved: { old: r } }
"#;

#[test]
fn a_document_cut_anywhere_is_still_lowered() {
    for (at, _) in EVERYTHING.char_indices() {
        found_in("main.yaml", &EVERYTHING[..at]);
        if at % 5 == 0 {
            found_in("main.yaml", &EVERYTHING[at..]);
        }
    }
}

#[test]
fn every_mistake_is_reported_once_in_one_run() {
    let found = found_in("main.yaml", EVERYTHING);
    let mut once = found.clone();
    once.dedup();
    assert_eq!(found, once);
    assert_eq!(
        found,
        [
            "2:17 E substitution-not-allowed",
            "2:24 E type-mismatch",
            "3:41 W leading-zero",
            "3:65 E type-mismatch",
            "3:73 W null-ignored",
            "3:79 E substitution-in-key",
            "3:87 E unsupported-yaml",
            "5:49 N newer-than-version",
            "5:66 E type-mismatch",
            "6:3 E missing-field",
            "6:6 E unsupported-yaml",
            "7:53 E type-mismatch",
            "10:11 E unsupported-yaml",
            "11:13 N newer-than-version",
            "11:26 E substitution-not-allowed",
            "11:43 N newer-than-version",
            "11:58 E type-mismatch",
            "11:65 E wrong-shape",
            "12:29 E unknown-type",
            "12:44 E type-mismatch",
            "15:5 E unsupported-yaml",
            "15:9 E unsupported-yaml",
            "18:21 E type-mismatch",
            "22:17 W condition-constant",
            "22:30 E invalid-condition",
            "23:37 E label-not-string",
            "23:42 N newer-than-version",
            "24:5 N newer-than-version",
            "24:20 E value-not-allowed",
            "25:25 E wrong-shape",
            "25:58 E invalid-annotation",
            "28:19 W state-alias",
            "29:15 E number-out-of-range",
            "30:43 W state-alias",
        ]
    );
}
