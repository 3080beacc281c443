//! Invariants: every text gives a value or a failure, never a panic, and the same result each time.

use blueprint::Value;
use proptest::prelude::*;
use yaql::{
    CallForm, DrawRequest, DrawSite, EvaluationLimits, EvaluationStop, ExternalValue,
    ExternalValues, NoExternalValues, ParameterPlace, ParameterType, Program, functions,
};

/// A small limit of steps, so that many texts can be tested.
const LIMITS: EvaluationLimits = EvaluationLimits {
    items: 200,
    bytes: 10_000,
    steps: 5_000,
    depth: 200,
    text_format: true,
};

fn data() -> Value {
    let row =
        |name: &str, age: i64| Value::map([("n", Value::from(name)), ("a", Value::from(age))]);
    let data = Value::map([
        ("l", Value::list([row("ann", 3), row("bob", 2)])),
        ("m", Value::map([("k", Value::from(1)), ("é", Value::Null)])),
        ("s", Value::from("a,b c")),
        ("f", Value::from(-0.5)),
        ("big", Value::Decimal("100000000000000000000".into())),
    ]);
    Value::map([("data", data)])
}

/// Records requests and answers them from then on.
#[derive(Default)]
struct Drawn(Vec<DrawRequest>);

impl ExternalValues for Drawn {
    fn stored_value(&mut self, site: DrawSite, what: ExternalValue) -> Option<Value> {
        self.0
            .contains(&DrawRequest { site, what })
            .then(|| match what {
                ExternalValue::Now => Value::Int(1_577_934_245_000_000),
                ExternalValue::Random => Value::Float(f64::from(site.turn % 10) / 10.0),
            })
    }
}

fn check(text: &str) {
    let inside = |span: &std::ops::Range<usize>| text.get(span.clone()).is_some();
    let program = match Program::compile(text) {
        Ok(program) => program,
        Err(failure) => {
            assert!(inside(&failure.span), "{text:?}: {failure:?}");
            return;
        }
    };
    let mut drawn = Drawn::default();
    let first = loop {
        match program.evaluate(&data(), &LIMITS, &mut drawn) {
            Err(EvaluationStop::Ask(questions)) => {
                let known = drawn.0.len();
                drawn.0.extend(questions);
                drawn.0.sort();
                drawn.0.dedup();
                assert!(
                    drawn.0.len() > known,
                    "{text:?} asks again for what was drawn"
                );
            }
            other => break other,
        }
    };
    if let Err(EvaluationStop::Failed(failure)) = &first {
        assert!(inside(&failure.span), "{text:?}: {failure:?}");
    }
    let second = program.evaluate(&data(), &LIMITS, &mut drawn);
    // `==` does not work, because NaN does not equal itself.
    assert_eq!(format!("{first:?}"), format!("{second:?}"), "{text:?}");
}

const TOKENS: [&str; 64] = [
    "$",
    "$1",
    "$x",
    "$.data",
    "$.data.l",
    "$.data.m",
    "$.data.s",
    "$.data.big",
    "1",
    "0",
    "-1",
    "2.5",
    "200",
    "a",
    "n",
    "é",
    "'x'",
    "\"\\u00e9\"",
    "`v`",
    "true",
    "false",
    "null",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ",",
    "=>",
    ".",
    "?.",
    "+",
    "-",
    "*",
    "/",
    "mod",
    "=",
    "!=",
    "<",
    ">=",
    "in",
    "and",
    "or",
    "not",
    "=~",
    "->",
    ".select($)",
    ".where($ > 1)",
    ".len()",
    ".first()",
    "let(x => 1) -> ",
    "def(f, $) -> ",
    "f(",
    "str(",
    "range(3)",
    "[1, 2]",
    "{a => 1}",
    "set(1, 2)",
    "now()",
    "random()",
    "'",
    "\u{1f600}",
];

/// Returns an argument that may fit a parameter of a type.
fn argument(kind: ParameterType, pick: usize) -> &'static str {
    let fitting: &[&'static str] = match kind {
        ParameterType::Int | ParameterType::Integer => &[
            "0",
            "1",
            "-1",
            "5",
            "$.data.big",
            "9223372036854775807",
            "-9223372036854775807",
            "true",
        ],
        ParameterType::Number => &[
            "0",
            "2.5",
            "-3",
            "$.data.big",
            "float(nan)",
            "float(inf)",
            "float('-inf')",
            "5e",
        ],
        ParameterType::Text => &[
            "a",
            "''",
            "'é日'",
            "$.data.s",
            "'a' * 9000",
            "'[a-z]('",
            "'%Y-%j %Q'",
            "'{0} {'",
        ],
        ParameterType::Bool => &["true", "false"],
        ParameterType::Iterable
        | ParameterType::Ordered
        | ParameterType::Sequence
        | ParameterType::Iterator => &[
            "[]",
            "[1, [2], null]",
            "$.data.l",
            "range(200)",
            "sequence()",
            "set(1, a)",
            "'a,b'.split(',')",
            "[1].memorize()",
        ],
        ParameterType::Map => &["{}", "$.data.m", "{a => {b => [1]}}", "[1].toDict($)"],
        ParameterType::Set => &["set()", "set(1, a)", "$.data.m.keys()", "$.data.m.items()"],
        ParameterType::Ordering => &["[2, 1].orderBy($)"],
        ParameterType::Regex => &["regex('(a)|b')", "regex('')", "regex('(?P<x>.)*')"],
        ParameterType::Datetime => &[
            "datetime(1, 1, 1)",
            "datetime(9999, 12, 31, 23, 59, 59)",
            "now()",
        ],
        ParameterType::Timespan => &[
            "timespan()",
            "timespan(days => 999999999)",
            "timespan(microseconds => -1)",
        ],
        ParameterType::Context => &["let(x => 1)", "with(1)"],
        ParameterType::Rule | ParameterType::LazyRule => &["a => 1", "true => 2", "[1] => 3"],
        ParameterType::Lambda => &["$", "$1 + $2", "$.a", "null", "[$, 1]", "random()", "$ > 1"],
        ParameterType::Any | ParameterType::Null => &[
            "null", "1", "a", "[1]", "{a => 1}", "range(2)", "regex(a)", "now()",
        ],
    };
    fitting[pick % fitting.len()]
}

/// Writes a call of any function with arguments that mostly fit.
fn call(function: usize, picks: &[usize]) -> String {
    let all = functions();
    let function = &all[function % all.len()];
    let mut picks = picks.iter().copied();
    let mut arguments = Vec::new();
    for parameter in &function.parameters {
        let Some(pick) = picks.next() else { break };
        let kind = if pick % 11 == 0 {
            ParameterType::Any
        } else {
            parameter.kind
        };
        match parameter.place {
            ParameterPlace::One
                if parameter.default.is_some()
                    && pick % 5 == 0
                    && function.how != CallForm::Operator =>
            {
                arguments.push(format!(
                    "{} => {}",
                    parameter.name,
                    argument(kind, pick / 5)
                ));
            }
            ParameterPlace::One => arguments.push(argument(kind, pick).to_owned()),
            ParameterPlace::Rest => arguments
                .extend((0..pick % 4).map(|more| argument(kind, pick / 3 + more).to_owned())),
            ParameterPlace::Named => arguments.push(format!("default => {}", argument(kind, pick))),
        }
    }
    match (function.how, arguments.split_first()) {
        (CallForm::Method | CallForm::Both, Some((first, rest))) => {
            format!("({first}).{}({})", function.name, rest.join(", "))
        }
        (CallForm::Property, Some((first, _))) => {
            format!(
                "({first}).{}",
                function.name.rsplit('#').next().unwrap_or_default()
            )
        }
        (CallForm::Operator, Some((first, rest))) => match function.name {
            "#list" => format!("[{}]", arguments.join(", ")),
            "#map" => format!("{{{}}}", arguments.join(", ")),
            "#indexer" => format!("{first}[{}]", rest.join(", ")),
            name if name.starts_with("#unary") => {
                format!("{} ({first})", &name["#unary_operator_".len()..])
            }
            "*equal" => format!("({first}) = ({})", rest.join(", ")),
            "*not_equal" => format!("({first}) != ({})", rest.join(", ")),
            name => format!(
                "({first}) {} ({})",
                &name["#operator_".len()..],
                rest.join(", ")
            ),
        },
        _ => format!("{}({})", function.name, arguments.join(", ")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,40}") {
        check(&text);
    }

    #[test]
    fn no_sequence_of_tokens_panics(tokens in prop::collection::vec(0..TOKENS.len(), 0..12)) {
        let text: Vec<_> = tokens.into_iter().map(|token| TOKENS[token]).collect();
        check(&text.concat());
        check(&text.join(" "));
    }

    #[test]
    fn no_call_panics(function in 0..10_000_usize, picks in prop::collection::vec(0..10_000_usize, 0..9), around in 0..6_usize) {
        let call = call(function, &picks);
        check(&match around {
            0 => format!("str({call})"),
            1 => format!("[{call}, {call}].select($)"),
            2 => format!("let(x => {call}) -> [$x = $x, $x]"),
            3 => format!("({call}).toList()"),
            4 => format!("{{({call}) => 1}}"),
            _ => call,
        });
    }
}

#[test]
fn missing_values_are_requested_together() {
    let program = Program::compile("[now(), random(), random(1, 6), range(3).select(random())]")
        .expect("it is an expression");
    let Err(EvaluationStop::Ask(questions)) = program.evaluate(
        &Value::Null,
        &EvaluationLimits::default(),
        &mut NoExternalValues,
    ) else {
        panic!("it asks");
    };
    let drawn: Vec<_> = questions
        .iter()
        .map(|question| (question.site.turn, question.what))
        .collect();
    assert_eq!(
        drawn,
        [
            (0, ExternalValue::Now),
            (0, ExternalValue::Random),
            (0, ExternalValue::Random),
            (0, ExternalValue::Random)
        ]
    );
    assert_eq!(
        questions
            .iter()
            .map(|question| question.site.call)
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4
    );
}
