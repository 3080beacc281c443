//! Properties: any text parses, and the evaluation of any parsed expression terminates.

use blueprint::{Ref, TextPart, Value};
use diag::{Diagnostics, FileId, Span, TextMap};
use expr::{Ask, AskFailure, EvaluationStop, ResolvedHead, Scope};
use proptest::prelude::*;

struct Anything;

impl Scope for Anything {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let value = match reference.path.len() % 4 {
            0 => Value::from("text"),
            1 => Value::unknown(None, None),
            2 => Value::map([("a", Value::list([Value::Int(1), Value::from("b").secret()]))]),
            _ => Value::Null,
        };
        Ok(ResolvedHead { value, used: 0 })
    }

    fn answer(&mut self, _: &Ask) -> Option<Result<Value, AskFailure>> {
        Some(Ok("answer".into()))
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::Null)
    }
}

fn read(text: &str) -> Result<(), TestCaseError> {
    let table = expr::core_functions();
    let length = text.len() as u32;
    let map = TextMap::identity(FileId::new(0), 0, length);
    let mut found = Diagnostics::new();
    let expr = expr::parse_text(
        text,
        &map,
        Span::new(FileId::new(0), 0, length),
        table,
        &mut found,
    );
    for one in &found {
        prop_assert!(one.span().end <= length && text.is_char_boundary(one.span().start as usize));
    }
    if let blueprint::ExprKind::Text(parts) = &expr.kind {
        // All text is kept and each error is reported once
        // (decisions/blueprint#broken-substitutions).
        let whole: String = parts
            .iter()
            .map(|part| match part {
                TextPart::Text(text) => text.to_string(),
                TextPart::Expr(_, span) => text[span.range()].to_string(),
            })
            .collect();
        prop_assert_eq!(whole, text);
    }
    let _ = expr::evaluate(&expr, table, &mut Anything, &mut found);
    let _ = expr::parse_reference(text, &map, Span::NONE, &mut found);
    Ok(())
}

/// Generates valid and invalid pieces of expressions.
fn pieces() -> impl Strategy<Value = String> {
    let names: Vec<String> = expr::core_functions()
        .names()
        .map(|name| format!("{name}("))
        .collect();
    let signs = [
        "${",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "=",
        "\"",
        "'",
        "\\",
        "-",
        " ",
        "\n",
        "$",
        "1",
        "2.5",
        "a",
        "é",
        "i",
        "elem",
        "variables.a",
        "values.",
        "x.spec.a",
        "[0]",
        "[\"a\"]",
        "none",
        "true",
        "\"a,b\"",
        "to_upper",
        "getattr(\"a\")",
        "9999999999999999999999",
    ];
    let signs: Vec<String> = signs.iter().map(|sign| sign.to_string()).collect();
    let piece =
        prop_oneof![2 => proptest::sample::select(signs), 1 => proptest::sample::select(names)];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Generates well-formed calls. Their arguments may not fit.
fn calls() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "1",
        "-2.5",
        "\"a,b\"",
        "\"{\\\"a\\\":1}\"",
        "true",
        "none",
        "x.spec.a",
        "x.a",
        "x",
        "list(\"a\", \"b\")",
        "object(a = 1)",
        "to_upper",
        "compare",
        "getattr(\"a\")",
    ])
    .prop_map(str::to_string);
    let names: Vec<String> = expr::core_functions().names().map(str::to_string).collect();
    leaf.prop_recursive(4, 24, 3, move |inner| {
        (
            proptest::sample::select(names.clone()),
            proptest::collection::vec(inner, 0..4),
        )
            .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in ".{0,60}") {
        read(&text)?;
        read(&format!("${{{text}"))?;
    }

    #[test]
    fn any_pieces_are_read(text in pieces()) {
        read(&text)?;
        read(&format!("${{{text}}}"))?;
    }

    #[test]
    fn any_call_comes_to_an_end(text in calls()) {
        read(&format!("${{{text}}}"))?;
        read(&format!("a${{{text}}}"))?;
    }
}
