//! Evaluation of calls: guards, unknown and secret values, questions, limits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use blueprint::{Expr, ExprKind, Ref, ReferenceHead, Type, Value};
use diag::{Diagnostics, FileId, Span, Spanned, TextMap};
use expr::{Ask, AskFailure, EvaluationStop, FunctionTable, ResolvedHead, Scope};

/// A scope with variables by name. The resource `absent` is absent, others are unknown. Records
/// questions and answers none.
#[derive(Default)]
struct World {
    inputs: HashMap<&'static str, Value>,
    asked: Vec<Ask>,
    answers: bool,
}

impl Scope for World {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        match &reference.head {
            ReferenceHead::Input(name) => Ok(ResolvedHead {
                value: self
                    .inputs
                    .get(name.as_ref())
                    .cloned()
                    .ok_or(EvaluationStop::Reported)?,
                used: 0,
            }),
            ReferenceHead::Resource { name, .. } if name.as_ref() == "absent" => {
                let diagnostic = expr::codes::ABSENT_ELEMENT
                    .new("absent")
                    .label(reference.head_span, "");
                Err(EvaluationStop::Absent(Box::new(diagnostic)))
            }
            ReferenceHead::Resource { .. } => Ok(ResolvedHead {
                value: Value::unknown(unknown_type(reference), Some(blueprint::Address::root("r"))),
                used: reference.path.len(),
            }),
            _ => Err(EvaluationStop::Reported),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        self.asked.push(ask.clone());
        match ask {
            Ask::Provider { arguments, .. } => {
                Some(Ok(arguments.values().last().cloned().unwrap_or_default()))
            }
            _ if self.answers => Some(Ok("answer".into())),
            _ => None,
        }
    }

    fn link(&mut self, a: &str, b: &str) -> Result<Value, EvaluationStop> {
        Ok(Value::from(format!("{a}::{b}")))
    }
}

/// The type of an unknown field: text for the id; `None` for the whole spec.
fn unknown_type(reference: &Ref) -> Option<Type> {
    (reference.path.len() == 2).then_some(Type::Text)
}

fn parse_with(table: &FunctionTable, text: &str) -> Expr {
    let mut found = Diagnostics::new();
    let length = text.len() as u32;
    let map = TextMap::identity(FileId::new(0), 0, length);
    let expr = expr::parse_text(
        text,
        &map,
        Span::new(FileId::new(0), 0, length),
        table,
        &mut found,
    );
    assert!(!found.has_errors(), "{text}: {found:?}");
    expr
}

fn parse(text: &str) -> Expr {
    parse_with(expr::core_functions(), text)
}

fn world() -> World {
    let inputs = [
        ("s", Value::from("text")),
        ("pw", Value::from("hidden").secret()),
        (
            "config",
            Value::map([
                ("host", Value::from("h")),
                ("key", Value::from("k").secret()),
            ]),
        ),
        ("hidden", Value::map([("host", Value::from("h"))]).secret()),
        ("nothing", Value::Null),
        ("n", Value::Int(7)),
    ];
    World {
        inputs: inputs.into(),
        asked: Vec::new(),
        answers: false,
    }
}

fn run(text: &str) -> Result<Value, EvaluationStop> {
    expr::evaluate(
        &parse(text),
        expr::core_functions(),
        &mut world(),
        &mut Diagnostics::new(),
    )
}

#[track_caller]
fn value(text: &str) -> Value {
    run(text).unwrap_or_else(|stop| panic!("{text}: {stop:?}"))
}

/// The code and the place of the failure of an expression.
#[track_caller]
fn failure(text: &str) -> String {
    match run(text) {
        Err(EvaluationStop::Failed(one)) => {
            format!("{} {}..{}", one.code.name, one.span().start, one.span().end)
        }
        Err(EvaluationStop::Absent(one)) => {
            format!(
                "absent: {} {}..{}",
                one.code.name,
                one.span().start,
                one.span().end
            )
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn absent_reference_is_none_in_guarding_arguments() {
    assert_eq!(
        value("${coalesce(absent.spec.host, \"d\")}"),
        Value::from("d")
    );
    assert_eq!(value("${first(absent.spec.host, \"d\")}"), Value::from("d"));
    assert_eq!(value("${lookup(absent.spec, \"k\", 3)}"), Value::Int(3));
    assert_eq!(value("${coalesce(jsondecode(\"{}\").a, 1)}"), Value::Int(1));
    assert_eq!(
        value("${coalesce(variables.config.nope, 1)}"),
        Value::Int(1)
    );
    assert_eq!(value("${if(true, 1, absent.spec.x)}"), Value::Int(1));
    assert_eq!(value("${and(false, absent.spec.x)}"), Value::Bool(false));
    assert_eq!(
        failure("${coalesce(to_upper(absent.spec.x), \"d\")}"),
        "absent: absent-element 20..26"
    );
    assert_eq!(failure("${absent.spec.x}"), "absent: absent-element 2..8");
    assert_eq!(
        failure("${variables.config.nope}"),
        "absent: absent-element 2..18"
    );
}

#[test]
fn unknown_parts_make_only_dependent_results_unknown() {
    for text in [
        "${to_upper(r.spec.id)}",
        "a${r.spec.id}",
        "${len(r.spec.id)}",
        "${keys(r.spec)}",
        "${merge(object(a = 1), r.spec)}",
        "${eq(list(r.spec.id), list(\"a\"))}",
        "${jsonencode(object(a = r.spec.id))}",
        "${if(eq(r.spec.id, \"a\"), 1, 2)}",
        "${and(eq(r.spec.id, \"a\"), false)}",
        "${filter(list(r.spec.id), has_prefix_g(\"a\"))}",
        "${coalesce(r.spec.id, 1)}",
    ] {
        let result = value(text);
        let mut waits_for = Vec::new();
        result.waits_for(&mut waits_for);
        assert!(
            result.is_unknown() && waits_for.len() == 1,
            "{text}: {result:?}"
        );
    }
    assert_eq!(value("${len(list(r.spec.id))}"), Value::Int(1));
    assert_eq!(value("${object(a = r.spec.id, b = 2).b}"), Value::Int(2));
    assert_eq!(
        value("${keys(object(a = r.spec.id))}"),
        Value::list(["a".into()])
    );
    assert_eq!(
        value("${lookup(object(a = r.spec.id, b = 2), \"b\")}"),
        Value::Int(2)
    );
    assert_eq!(
        value("${merge(object(a = r.spec.id), object(a = 2)).a}"),
        Value::Int(2)
    );
    assert_eq!(
        value("${map(list(r.spec.id, \"b\"), to_upper)[1]}"),
        Value::from("B")
    );
    let Value::Unknown(unknown) = value("x${r.spec.id}") else {
        panic!("known")
    };
    assert_eq!(unknown.ty, Some(Type::Text));
}

#[test]
fn values_made_from_a_secret_are_secret() {
    for text in [
        "${to_upper(variables.pw)}",
        "a${variables.pw}",
        "${len(variables.pw)}",
        "${eq(variables.pw, \"x\")}",
        "${sha256(variables.pw)}",
        "${variables.hidden.host}",
        "${keys(variables.hidden)}",
        "${if(eq(variables.pw, \"x\"), 1, 2)}",
        "${variables.config.key}",
        "${jsonencode(variables.config)}",
    ] {
        let result = value(text);
        assert!(matches!(result, Value::Secret(_)), "{text}: {result:?}");
    }
    assert!(!value("${keys(variables.config)}").has_secret());
    assert!(!value("${variables.config.host}").has_secret());
    let list = value("${list(\"a\", variables.pw)}");
    assert_eq!(list.as_list().unwrap()[0], Value::from("a"));
    assert!(matches!(list.as_list().unwrap()[1], Value::Secret(_)));
    assert!(value("${to_upper(join(list(variables.pw, r.spec.id), \"\"))}").has_secret());
}

#[test]
fn a_failure_does_not_quote_a_secret() {
    for text in [
        "${fromjson(\"{}\", variables.pw)}",
        "${cidrsubnet(variables.pw, 1, 1)}",
        "${datetime(variables.pw)}",
        "${map(list(object()), getattr(variables.pw))}",
        "${jsondecode(variables.pw)}",
    ] {
        let Err(EvaluationStop::Failed(diagnostic)) = run(text) else {
            panic!("{text} did not fail")
        };
        assert!(!format!("{diagnostic:?}").contains("hidden"), "{text}");
    }
}

#[test]
fn failures_are_reported_at_the_invalid_part() {
    for (text, expected) in [
        ("${to_upper(variables.n)}", "argument-type 11..22"),
        ("${substr(\"abc\", 0, 4)}", "argument-range 19..20"),
        ("${map(list(1), to_upper)}", "argument-type 15..23"),
        (
            "${map(list(\"ab\"), replace_g(\"\", \"x\"))}",
            "argument-range 18..36",
        ),
        (
            "${cidrsubnet(\"010.0.0.0/8\", 1, 1)}",
            "argument-format 13..26",
        ),
        (
            "${cidrsubnet(\"10.0.0.0/+8\", 1, 1)}",
            "argument-format 13..26",
        ),
        (
            "${cidrsubnet(\"10.0.0.0/33\", 1, 1)}",
            "argument-format 13..26",
        ),
        ("${cidrsubnet(\"::/0\", 128, -1)}", "argument-range 26..28"),
        ("${eq(\"1\", 1)}", "incomparable 2..12"),
        ("${trim()}", "argument-count 2..6"),
        ("${list(1, \"a\")}", "mixed-list 10..13"),
        ("${list(getattr(\"x\"))}", "function-as-value 7..19"),
        ("${getattr(\"x\")}", "function-as-value 0..15"),
        ("a${list()}", "interpolated-complex 1..10"),
        ("a${utf8(base64decode(\"/w==\"))}", "not-utf8 8..28"),
        ("a${base64decode(\"/w==\")}", "not-utf8 1..24"),
        ("${split(\"a\", \",\")[3]}", "index-out-of-range 17..20"),
        ("${split(\"a\", \",\").x}", "wrong-accessor 17..19"),
        ("${variables.s.x}", "wrong-accessor 13..15"),
        ("${filter(list(\"a\"), to_upper)}", "callback-result 20..28"),
        ("${map(list(\"a\"), replace)}", "callback-type 17..24"),
        ("${pipe(len, to_upper)}", "callback-type 12..20"),
        ("${map(list(\"a\"), getattr)}", "function-as-value 17..24"),
        ("${map(list(\"a\"), compose)}", "argument-type 17..24"),
        ("${nope(1)}", "unknown-function 2..6"),
        ("${object(1)}", "argument-type 9..10"),
    ] {
        assert_eq!(failure(text), expected, "{text}");
    }
    let Err(EvaluationStop::Failed(one)) =
        run("${map(jsondecode(\"[{\\\"a\\\":1},{}]\"), getattr(\"a\"))}")
    else {
        panic!("no failure")
    };
    assert!(one.message.ends_with("(item 1)"), "{}", one.message);
}

fn entry(key: &str, value: Expr) -> (Spanned<blueprint::Name>, Expr) {
    (Spanned::new(key.into(), Span::NONE), value)
}

fn document(entries: Vec<(&str, Expr)>) -> Expr {
    Expr::new(
        ExprKind::Map(
            entries
                .into_iter()
                .map(|(key, value)| entry(key, value))
                .collect(),
        ),
        Span::NONE,
    )
}

#[test]
fn none_is_left_out_but_a_written_null_stays() {
    let list = Expr::new(
        ExprKind::List(vec![
            parse("${none}"),
            Expr::literal(Value::Null, Span::NONE),
            parse("a"),
        ]),
        Span::NONE,
    );
    let expr = document(vec![
        ("gone", parse("${variables.nothing}")),
        ("kept", Expr::literal(Value::Null, Span::NONE)),
        ("list", list),
    ]);
    let result = expr::evaluate(
        &expr,
        expr::core_functions(),
        &mut world(),
        &mut Diagnostics::new(),
    )
    .unwrap();
    assert_eq!(
        result,
        Value::map([
            ("kept", Value::Null),
            ("list", Value::list([Value::Null, "a".into()]))
        ])
    );
}

#[test]
fn one_run_reports_every_failure_and_asks_every_question() {
    let expr = document(vec![
        ("a", parse("${trim(variables.n)}")),
        ("b", parse("${len(variables.n)}")),
        ("c", parse("x")),
    ]);
    let mut found = Diagnostics::new();
    let result = expr::evaluate(&expr, expr::core_functions(), &mut world(), &mut found);
    assert!(matches!(result, Err(EvaluationStop::Failed(_))));
    assert_eq!(found.len(), 1);

    let expr = document(vec![
        ("a", parse("${trim(variables.n)}")),
        ("b", parse("${cwd()}")),
        ("c", parse("${file(\"f\")}")),
    ]);
    let (mut found, mut world) = (Diagnostics::new(), world());
    let result = expr::evaluate(&expr, expr::core_functions(), &mut world, &mut found);
    assert!(
        matches!(result, Err(EvaluationStop::Ask(asks)) if asks[0] == Ask::WorkingDirectory && asks.len() == 2)
    );
    assert!(found.is_empty());
    assert_eq!(world.asked.len(), 2);
}

#[test]
fn memoised_calls_are_identified_by_their_place() {
    let ask = |expr: &Expr| {
        let mut world = World {
            answers: true,
            ..world()
        };
        expr::evaluate(
            expr,
            expr::core_functions(),
            &mut world,
            &mut Diagnostics::new(),
        )
        .unwrap();
        world.asked
    };
    let inner = Expr::new(
        ExprKind::List(vec![
            parse("x"),
            parse("${uuid()}-${if(false, uuid(), uuid())}"),
        ]),
        Span::NONE,
    );
    let asked = ask(&document(vec![("input", document(vec![("a.b", inner)]))]));
    let places = |asked: &[Ask]| -> Vec<(String, u32)> {
        let place = |ask: &Ask| match ask {
            Ask::Memoised { path, nth, .. } => (path.to_string(), *nth),
            other => panic!("{other:?}"),
        };
        asked.iter().map(place).collect()
    };
    let path = "input[\"a.b\"][1]".to_string();
    assert_eq!(places(&asked), [(path.clone(), 0), (path, 2)]);
    // A call by a callback has no position and is numbered after all written calls.
    let called = "${join(map(list(\"unix\", \"tag\"), datetime), datetime(\"rfc3339\"))}";
    let asked = ask(&document(vec![("x", parse(called))]));
    assert_eq!(
        places(&asked),
        [
            ("x".to_string(), 1),
            ("x".to_string(), 2),
            ("x".to_string(), 0)
        ]
    );

    let print = |text: &str| match ask(&parse(text)).remove(0) {
        Ask::Memoised { fingerprint, .. } => fingerprint,
        other => panic!("{other:?}"),
    };
    assert_eq!(print("${uuid()}"), print("${ uuid( ) }"));
    assert_ne!(print("a${uuid()}"), print("b${uuid()}"));
}

#[test]
fn memoised_values_derive_from_time_and_random_bytes() {
    let now = 1_672_671_845;
    let drawn = |format: &str| {
        expr::new_memoised_value("datetime", &[format.into()], now, [0; 16]).unwrap()
    };
    assert_eq!(drawn("unix"), "1672671845".into());
    assert_eq!(drawn("tagcompact"), "20230102150405".into());
    assert_eq!(
        expr::new_memoised_value("uuid", &[], now, [0xff; 16]),
        Some("ffffffff-ffff-4fff-bfff-ffffffffffff".into())
    );
    assert_eq!(
        expr::new_memoised_value("datetime", &["iso".into()], now, [0; 16]),
        None
    );
}

#[test]
fn functions_of_providers_are_asked_for() {
    let mut table = expr::core_functions().clone();
    let mut tag = table.get("join").unwrap().clone();
    let index = expr::Parameter {
        name: "index".into(),
        ty: Type::Int,
        optional: false,
        callback: None,
        absent_as_none: false,
    };
    tag.name = "test_tag".into();
    tag.parameters = vec![
        expr::Parameter {
            name: "item".into(),
            ty: Type::Text,
            ..index.clone()
        },
        index,
    ];
    tag.min_arguments = 2;
    tag.takes_index = true;
    tag.purity = expr::Purity::Provider {
        namespace: "test".into(),
        name: tag.name.clone(),
    };
    table.insert(tag).unwrap();
    let mut world = world();
    let expr = parse_with(&table, "${map(list(\"a\", \"b\", variables.pw), test_tag)}");
    let result = expr::evaluate(&expr, &table, &mut world, &mut Diagnostics::new()).unwrap();
    assert_eq!(
        result,
        Value::list([Value::Int(0), Value::Int(1), Value::Int(2).secret()])
    );
    assert!(matches!(&world.asked[2], Ask::Provider { arguments, .. }
            if matches!(arguments.positional(), Some([first, ..])
                if first.revealed() == "hidden".into() && first.has_secret())));
}

#[test]
fn links_are_named_as_addresses_print() {
    assert_eq!(value("${link(api, resources.fn)}"), "api::fn".into());
    assert_eq!(value("${link(\"api\", fns[1])}"), "api::fns[1]".into());
    assert_eq!(failure("${link(variables.s, fn)}"), "argument-type 7..18");
}

/// A function that returns a list with its first argument twice.
struct Doubling;

impl Scope for Doubling {
    fn read(&mut self, _: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        Err(EvaluationStop::Reported)
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        let Ask::Provider { arguments, .. } = ask else {
            return None;
        };
        let argument = arguments.values().next()?;
        Some(Ok(Value::list([argument.clone(), argument.clone()])))
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Err(EvaluationStop::Reported)
    }
}

#[test]
fn results_are_bounded() {
    let doubled = (0..40).fold("\"a\"".to_string(), |inner, _| format!("list({inner})"));
    value(&format!("${{{doubled}}}"));
    // Each step doubles the text, which exceeds the limit long before the end.
    let calls = (0..60).fold("\"aa\"".to_string(), |inner, _| {
        format!("replace({inner}, \"a\", \"aa\")")
    });
    assert!(failure(&format!("${{{calls}}}")).starts_with("argument-range"));
    // Each list contains the previous one twice, sixty times over: 2^60 items without a copy.
    let pairs = format!("reduce(split(\"{}\", \"\"), nest, list())", "a".repeat(60));
    let mut table = expr::core_functions().clone();
    let mut nest = table.get("list").unwrap().clone();
    nest.name = "nest".into();
    nest.purity = expr::Purity::Provider {
        namespace: "test".into(),
        name: nest.name.clone(),
    };
    table.insert(nest).unwrap();
    let expr = parse_with(&table, &format!("${{{pairs}}}"));
    let result = expr::evaluate(&expr, &table, &mut Doubling, &mut Diagnostics::new());
    assert!(
        matches!(result, Err(EvaluationStop::Failed(one)) if one.code.name == "argument-range")
    );
}

#[test]
fn parts_of_an_unknown_value_have_their_known_type() {
    let object = blueprint::ObjectType {
        fields: [
            ("count".into(), Type::Int),
            ("words".into(), Type::list(Type::Text)),
        ]
        .into_iter()
        .collect(),
    };
    let mut world = world();
    world.inputs.insert(
        "later",
        Value::unknown(Some(Type::Object(object.into())), None),
    );
    world
        .inputs
        .insert("map", Value::unknown(Some(Type::map(Type::Int)), None));
    let functions = expr::core_functions();
    let mut ty =
        |text| match expr::evaluate(&parse(text), functions, &mut world, &mut Diagnostics::new())
            .unwrap()
        {
            Value::Unknown(unknown) => unknown.ty.as_ref().map(Type::to_string),
            other => panic!("{other}"),
        };
    assert_eq!(ty("${variables.later.count}").as_deref(), Some("integer"));
    assert_eq!(ty("${variables.later.words[3]}").as_deref(), Some("string"));
    assert_eq!(ty("${variables.later.other}"), None);
    assert_eq!(ty("${variables.map.any}").as_deref(), Some("integer"));
    assert_eq!(ty("${variables.later.count.more}"), None);
}

#[test]
fn number_of_calls_is_independent_of_depth() {
    let many = vec!["a"; 600].join(",");
    assert_eq!(
        value(&format!(
            "${{len(map(split(\"{many}\", \",\"), to_upper))}}"
        )),
        Value::Int(600)
    );
    let picked = format!(
        "${{len(map(map(split(\"{many}\", \",\"), split_g(\";\")), pipe(getelem(0), to_upper)))}}"
    );
    assert_eq!(value(&picked), Value::Int(600));
    let calls = vec!["to_upper(\"a\")"; 600].join(", ");
    assert_eq!(value(&format!("${{len(list({calls}))}}")), Value::Int(600));
    let choices = vec!["if(true, \"a\", \"b\")"; 600].join(", ");
    assert_eq!(
        value(&format!("${{len(list({choices}))}}")),
        Value::Int(600)
    );
}

#[test]
fn a_text_is_bounded_however_large_its_parts_are() {
    let mut world = world();
    world.inputs.insert("big", Value::from("a".repeat(6 << 20)));
    let functions = expr::core_functions();
    let mut evaluate =
        |text| expr::evaluate(&parse(text), functions, &mut world, &mut Diagnostics::new());
    assert_eq!(
        evaluate("x${variables.big}")
            .unwrap()
            .as_text()
            .map(str::len),
        Some((6 << 20) + 1)
    );
    let result = evaluate("x${variables.big}${variables.big}");
    assert!(
        matches!(result, Err(EvaluationStop::Failed(one)) if one.code.name == "argument-range")
    );
}

#[test]
fn function_results_are_limited_to_the_byte() {
    let large = |call: &str, size: usize, letter: &str| {
        let mut world = world();
        world.inputs.insert("big", Value::from(letter.repeat(size)));
        let expr = parse(&format!("${{{}}}", call.replace("big", "variables.big")));
        match expr::evaluate(
            &expr,
            expr::core_functions(),
            &mut world,
            &mut Diagnostics::new(),
        ) {
            Ok(value) => value.as_text().map(str::len),
            Err(EvaluationStop::Failed(one)) if one.code.name == "argument-range" => None,
            other => panic!("{other:?}"),
        }
    };
    let limit = 10 << 20;
    assert_eq!(large("jsonencode(big)", limit - 2, "a"), Some(limit));
    assert_eq!(large("jsonencode(big)", limit - 1, "a"), None);
    // The text is far below the limit, but exceeds it when each character is escaped.
    assert_eq!(large("jsonencode(big)", limit - limit / 4, "\""), None);
    assert_eq!(large("base64encode(big)", limit / 4 * 3, "a"), Some(limit));
    assert_eq!(large("base64encode(big)", limit / 4 * 3 + 1, "a"), None);
    assert_eq!(
        large("replace(big, \"aa\", \"bbbb\")", limit / 2, "a"),
        Some(limit)
    );
    assert_eq!(
        large("replace(big, \"aa\", \"bbbb\")", limit / 2 + 1, "a"),
        None
    );
    // Each item takes more memory than its text.
    assert_eq!(
        large("join(split(big, \",\"), \",\")", 1000, ","),
        Some(1000)
    );
    assert_eq!(large("join(split(big, \",\"), \",\")", 1 << 20, ","), None);
}

#[test]
fn the_deepest_expression_fits_the_stack_of_a_thread() {
    let text = format!("${{{}1{}}}", "list(".repeat(255), ")".repeat(255));
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let done = thread
        .spawn(move || run(&text).is_ok())
        .unwrap()
        .join()
        .unwrap();
    assert!(done);
    let deep = (0..2000).fold(parse("x"), |inner, _| {
        Expr::new(ExprKind::List(vec![inner]), Span::NONE)
    });
    let result = expr::evaluate(
        &deep,
        expr::core_functions(),
        &mut world(),
        &mut Diagnostics::new(),
    );
    assert!(
        matches!(result, Err(EvaluationStop::Failed(one)) if one.code.name == "argument-range")
    );
}
