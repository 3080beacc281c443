//! Tests of the grammar of substitutions, with one syntax error at a time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blueprint::{AccessorKind, Expr, ExprKind, Names, ReferenceHead, TextPart, Value};
use diag::{Diagnostics, FileId, Span, TextMap};

fn parse(text: &str) -> (Expr, Diagnostics) {
    let mut found = Diagnostics::new();
    let length = text.len() as u32;
    let map = TextMap::identity(FileId::new(0), 0, length);
    let span = Span::new(FileId::new(0), 0, length);
    let expr = expr::parse_text(text, &map, span, expr::core_functions(), &mut found);
    (expr, found)
}

/// The diagnostics, each as `code start..end`.
fn said(found: &Diagnostics) -> Vec<String> {
    found
        .iter()
        .map(|one| format!("{} {}..{}", one.code.name, one.span().start, one.span().end))
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) -> Expr {
    let (expr, found) = parse(text);
    assert_eq!(said(&found), expected, "{text}");
    expr
}

#[track_caller]
fn inner(text: &str) -> Expr {
    match check(text, &[]).kind {
        ExprKind::Substitution(inner) => *inner,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn text_without_a_substitution_is_a_literal() {
    for text in ["", "a", "$", "$ {", "}", "a $b {c}"] {
        assert_eq!(check(text, &[]).as_literal(), Some(&Value::text(text)));
    }
}

#[test]
fn one_substitution_alone_keeps_its_type() {
    assert!(matches!(check("${i}", &[]).kind, ExprKind::Substitution(_)));
    assert!(matches!(
        check("\n\r\n${i}\n", &[]).kind,
        ExprKind::Substitution(_)
    ));
    for text in ["${i} ", " ${i}", "${i}${i}", "$${i}", "\\${i}"] {
        assert!(matches!(check(text, &[]).kind, ExprKind::Text(_)), "{text}");
    }
    let expr = check("\n${i}\n", &[]);
    assert_eq!((expr.span.start, expr.span.end), (1, 5));
}

#[test]
fn parts_keep_every_character() {
    let ExprKind::Text(parts) = check("a$${i}\n}${elem}", &[]).kind else {
        panic!("no text")
    };
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| {
            if let TextPart::Text(text) = part {
                Some(text.as_ref())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(texts, ["a$", "\n}"]);
    let spans: Vec<(u32, u32)> = parts
        .iter()
        .filter_map(|part| {
            if let TextPart::Expr(_, span) = part {
                Some((span.start, span.end))
            } else {
                None
            }
        })
        .collect();
    assert_eq!(spans, [(2, 6), (8, 15)]);
}

#[test]
fn a_name_in_brackets_may_be_put_in_quotes() {
    for (text, fixes) in [
        ("${variables.a[b]}", vec!["\"b\""]),
        ("${variables.a[=]}", vec![]),
    ] {
        let (_, found) = parse(text);
        assert!(found.has_errors(), "{text}");
        let edits = found
            .iter()
            .flat_map(|one| &one.fixes)
            .flat_map(|fix| &fix.edits);
        assert_eq!(
            edits.map(|(_, edit)| edit.as_str()).collect::<Vec<_>>(),
            fixes,
            "{text}"
        );
    }
}

#[test]
fn literals() {
    for (text, value) in [
        ("${007}", Value::Int(7)),
        ("${-9223372036854775808}", Value::Int(i64::MIN)),
        ("${-0.50}", Value::Float(-0.5)),
        ("${true}", Value::Bool(true)),
        ("${none}", Value::Null),
        (r#"${"C:\temp"}"#, Value::text("C:\\temp")),
        (r#"${"a\\"}"#, Value::text("a\\")),
        (r#"${"\'"}"#, Value::text("\\'")),
        (r"${'it\'s }'}", Value::text("it's }")),
        ("${\"${\"}", Value::text("${")),
    ] {
        assert_eq!(inner(text).as_literal(), Some(&value), "{text}");
    }
}

#[test]
fn heads_and_paths() {
    let reference = |text: &str| match inner(text).kind {
        ExprKind::Ref(reference) => *reference,
        other => panic!("{text}: {other:?}"),
    };
    let bare = |name: &str| ReferenceHead::Resource {
        name: name.into(),
        bare: true,
    };
    for (text, head, head_end, path) in [
        ("${variables.x}", ReferenceHead::Input("x".into()), 13, 0),
        (
            "${ variables [ \"w.x\" ] }",
            ReferenceHead::Input("w.x".into()),
            22,
            0,
        ),
        ("${values.c.i}", ReferenceHead::Local("c".into()), 10, 1),
        (
            "${resources[\"x\"].spec}",
            ReferenceHead::Resource {
                name: "x".into(),
                bare: false,
            },
            16,
            1,
        ),
        (
            "${datasources.d[\"a.b\"]}",
            ReferenceHead::DataSource("d".into()),
            15,
            1,
        ),
        ("${children.c.x[]}", ReferenceHead::Child("c".into()), 12, 2),
        ("${elem.a[3]}", ReferenceHead::Item, 6, 2),
        ("${i}", ReferenceHead::Position, 3, 0),
        ("${b[1].spec.x}", bare("b"), 3, 3),
        ("${true-north}", bare("true-north"), 12, 0),
        ("${nonesuch}", bare("nonesuch"), 10, 0),
        ("${elements}", bare("elements"), 10, 0),
        ("${x.spec.true.values}", bare("x"), 3, 3),
        ("${to_upper}", bare("to_upper"), 10, 0),
    ] {
        let found = reference(text);
        assert_eq!(
            (found.head, found.head_span.end, found.path.len()),
            (head, head_end, path),
            "{text}"
        );
    }
    assert_eq!(reference("${b[].a}").path[0].kind, AccessorKind::Index(0));
    let odd = check("${b['a\\'].a}", &["accessor-charset 3..9"]);
    let ExprKind::Ref(odd) = &odd.inner().kind else {
        panic!("no reference")
    };
    assert_eq!(odd.path[0].kind, AccessorKind::Name("a\\".into()));
}

#[test]
fn bare_name_is_a_function_only_for_function_parameters() {
    let argument = |text: &str, at: usize| match inner(text).kind {
        ExprKind::Call(call) => call.arguments[at].value.kind.clone(),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(
        argument("${map(values.h, to_upper)}", 1),
        ExprKind::Function("to_upper".into())
    );
    assert_eq!(
        argument("${compose(trim, to_upper)}", 1),
        ExprKind::Function("to_upper".into())
    );
    for (text, at) in [
        ("${map(to_upper, len)}", 0),
        ("${list(to_upper)}", 0),
        ("${map(values.h, to_upper.x)}", 1),
        ("${map(values.h, nope)}", 1),
    ] {
        assert!(matches!(argument(text, at), ExprKind::Ref(_)), "{text}");
    }
}

#[test]
fn calls() {
    for text in [
        "${list()}",
        "${list(1,)}",
        "${ list( 1 , 2 ) }",
        "${list(\n1\n)}",
        "${object(values = 1, true=2, a-b=3)}",
        "${split(\"a\", \"\")[0].x}",
    ] {
        inner(text);
    }
    check("${trim(s = \"a\")}", &["named-argument-ignored 7..8"]);
    check("${no_such(s = \"a\")}", &[]);
}

#[test]
fn mistakes_are_reported_at_their_place() {
    for (text, expected) in [
        ("${}", "substitution-empty 0..3"),
        ("a${ \n }", "substitution-empty 1..7"),
        ("a ${v", "substitution-unterminated 2..5"),
        ("${", "substitution-unterminated 0..2"),
        ("${v and so on", "substitution-unterminated 0..13"),
        ("${trim(\"a\"", "substitution-unterminated 0..10"),
        ("${trim(\"a\"}", "unexpected-token 6..7"),
        ("${list(1,}", "unexpected-token 6..7"),
        ("${list(}", "unexpected-token 6..7"),
        ("${list(trim(\"a\", 1}", "unexpected-token 11..12"),
        ("${values.h[}", "unexpected-token 10..11"),
        ("${values.h[\"a\"}", "unexpected-token 10..11"),
        ("${list(1 2)}", "unexpected-token 9..10"),
        ("${list(,)}", "unexpected-token 7..8"),
        ("${object(a=)}", "unexpected-token 11..12"),
        ("${x[abc]}", "unexpected-token 4..7"),
        ("${x[-1]}", "unexpected-token 4..6"),
        ("${x[1.5]}", "unexpected-token 4..7"),
        ("${values[0]}", "unexpected-token 9..10"),
        ("${values}", "unexpected-token 8..9"),
        (
            "${map(variables,cache.hosts, len)}",
            "unexpected-token 15..16",
        ),
        ("${resources..x}", "unexpected-token 12..13"),
        ("${values.}", "unexpected-token 9..10"),
        ("${values.0}", "unexpected-token 9..10"),
        ("${.x}", "unexpected-token 2..3"),
        ("${1.x}", "unexpected-token 3..4"),
        ("${\"a\"[0]}", "unexpected-token 5..6"),
        ("${1e5}", "unexpected-token 3..5"),
        ("${+1}", "unexpected-token 2..3"),
        ("${é}", "unexpected-token 2..4"),
        ("${# c}", "unexpected-token 2..3"),
        ("${true(1)}", "unexpected-token 6..7"),
        ("${elem(1)}", "unexpected-token 6..7"),
        ("${x.spec(1)}", "unexpected-token 8..9"),
        ("${(1)}", "unexpected-token 2..3"),
        ("${f ${i}}", "unexpected-token 4..6"),
        ("${x[\"\"]}", "unexpected-token 4..6"),
        ("${x[\"a\nb\"]}", "unexpected-token 4..9"),
        ("${x[\"a}", "unterminated-string 4..7"),
        ("${'a}", "unterminated-string 2..5"),
        ("${\"a\\\"}", "unterminated-string 2..7"),
        ("${-}", "invalid-literal 2..3"),
        ("${-x}", "invalid-literal 2..3"),
        ("${- 1}", "invalid-literal 2..3"),
        ("${x[9223372036854775808]}", "invalid-literal 4..23"),
    ] {
        check(text, &[expected]);
    }
}

#[test]
fn each_substitution_reports_its_own_mistake() {
    check(
        "${a b}${}x${c d}",
        &[
            "unexpected-token 4..5",
            "substitution-empty 6..9",
            "unexpected-token 14..15",
        ],
    );
    check("${a 'b} ${c d}", &["unterminated-string 4..14"]);
    check(
        "${a b 'c} ${c d}",
        &["unexpected-token 4..5", "unexpected-token 14..15"],
    );
    check(
        "${a b ${c d}",
        &["unexpected-token 4..5", "unexpected-token 10..11"],
    );
    check(
        "${list(1, 99999999999999999999, 99999999999999999999)}",
        &["invalid-literal 10..30", "invalid-literal 32..52"],
    );
}

#[test]
fn mistake_becomes_an_error_expression() {
    let expr = check("${a b}", &["unexpected-token 4..5"]);
    assert!(matches!(expr.kind, ExprKind::Substitution(inner) if inner.kind == ExprKind::Error));
    let ExprKind::Text(parts) = check("x${a b}y", &["unexpected-token 5..6"]).kind else {
        panic!("no text")
    };
    assert!(
        matches!(&parts[1], TextPart::Expr(expr, span) if expr.kind == ExprKind::Error && span.end == 7)
    );
}

#[test]
fn names_of_link_kinds_are_heads_of_their_own() {
    let text = "${note.access}${a.spec.id}${b}";
    let mut found = Diagnostics::new();
    let map = TextMap::identity(FileId::new(0), 0, text.len() as u32);
    let heads = ["a", "b", "note", "part", "use"];
    let expr = expr::parse_text_scoped(
        text,
        &map,
        Span::NONE,
        expr::core_functions(),
        &heads,
        &mut Names::default(),
        &mut found,
    );
    let mut names = Vec::new();
    expr.references(&mut |reference| {
        if let ReferenceHead::Scoped(name) = &reference.head {
            names.push(name.to_string());
        }
    });
    assert_eq!(names, ["note", "a", "b"]);
    assert!(found.is_empty());
}

#[test]
fn references_of_exports() {
    let parse = |text: &str| {
        let mut found = Diagnostics::new();
        let map = TextMap::identity(FileId::new(0), 0, text.len() as u32);
        let expr = expr::parse_reference(text, &map, Span::NONE, &mut found);
        (expr, said(&found))
    };
    for text in [
        "resources.x.spec.id",
        "x.spec.id",
        "b[1].spec.x",
        "elem",
        "values[\"c\"].d",
        "children.core.id",
    ] {
        let (expr, found) = parse(text);
        assert!(
            found.is_empty() && matches!(expr.kind, ExprKind::Ref(_)),
            "{text}: {found:?}"
        );
    }
    for (text, expected) in [
        ("", "unexpected-token 0..0"),
        ("${x}", "unexpected-token 0..2"),
        ("trim(x)", "unexpected-token 4..5"),
        ("x y", "unexpected-token 2..3"),
        ("x.", "unexpected-token 2..2"),
        ("values", "unexpected-token 6..6"),
        ("true", "unexpected-token 0..4"),
        ("x[1", "unexpected-token 1..2"),
    ] {
        let (expr, found) = parse(text);
        assert_eq!(
            (expr.kind, found),
            (ExprKind::Error, vec![expected.to_string()]),
            "{text}"
        );
    }
}

#[test]
fn depth_limit_is_reported() {
    let nested = |depth: usize| format!("${{{}1{}}}", "list(".repeat(depth), ")".repeat(depth));
    let (_, found) = parse(&nested(256));
    assert!(found.is_empty());
    for depth in [257, 100_000] {
        let (_, found) = parse(&nested(depth));
        assert_eq!(said(&found).len(), 1, "{depth}");
        assert_eq!(found.iter().next().unwrap().code.name, "unexpected-token");
    }
    let (_, found) = parse(&format!("${{x{}}}", ".a[0]".repeat(50_000)));
    assert!(found.is_empty());
}
