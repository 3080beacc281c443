//! Functions of providers: calls through the world, and every way of passing functions on
//! (decisions/functions#functions-that-take-functions, decisions/blueprint#unknown-values,
//! decisions/blueprint#secret-values, decisions/blueprint#order-of-evaluation,
//! decisions/blueprint#limits-of-evaluation).

use std::sync::atomic::{AtomicUsize, Ordering};

use blueprint::Value;
use diag::Diagnostics;
use engine::{
    Environment, Options, ProviderQuestion, ProviderReply, ProviderRequest, Question, Reply,
    Request, World,
};
use provider::{BoxFuture, ErrorKind, ProviderError};
use testkit::harness::{StageResult, run_with_paused_clock};
use testkit::single_document::{codes, exports, given, harness, stage};
use testkit::toy::world::EmptyWorld;

/// A document with an export for each expression.
fn document(expressions: &[(&str, &str)]) -> String {
    let mut text = String::from(
        "version: 2025-11-02
variables:
  secret: { type: string, secret: true, default: hush }
  three: { type: integer, default: 3 }
resources:
  r: { type: test/record, spec: { title: r } }
values:
",
    );
    for (at, (ty, expression)) in expressions.iter().enumerate() {
        text.push_str(&format!(
            "  v{at}: {{ type: {ty}, value: '${{{expression}}}' }}\n"
        ));
    }
    text.push_str("exports:\n");
    for (at, (ty, _)) in expressions.iter().enumerate() {
        text.push_str(&format!("  v{at}: {{ type: {ty}, field: values.v{at} }}\n"));
    }
    text
}

/// The values of expressions, in order, as JSON.
fn values(expressions: &[(&str, &str)]) -> Vec<String> {
    run_with_paused_clock(async {
        let staged = stage(&harness(&[]), &document(expressions), given(&[])).await;
        let exports = exports(&staged);
        (0..expressions.len())
            .map(|at| {
                exports
                    .get(&format!("v{at}"))
                    .map_or("absent".into(), ToString::to_string)
            })
            .collect()
    })
}

/// The codes of the diagnostics of an expression of a type, at check or stage.
fn wrong(ty: &str, expression: &str) -> Vec<String> {
    run_with_paused_clock(async {
        let staged = stage(&harness(&[]), &document(&[(ty, expression)]), given(&[])).await;
        assert!(staged.staged.is_none(), "`{expression}` has a value");
        staged
            .diagnostics
            .iter()
            .map(|it| it.code.name.to_owned())
            .collect()
    })
}

#[test]
fn provider_functions_are_called_and_passed_like_others() {
    let got = values(&[
        ("integer", "test_double(variables.three)"),
        ("array", "map(list(1, 2), test_double)"),
        ("array", r#"map(list("a", "b"), test_tag)"#),
        ("string", r#"test_tag("a", 7)"#),
        ("integer", "reduce(list(5, 6, 7), test_weigh, 100)"),
        ("array", "map(list(1, 2), pipe(test_double, test_double))"),
        (
            "array",
            r#"map(list(object(n = 4)), compose(test_double, getattr("n")))"#,
        ),
        ("array", "flatmap(list(list(1), list(2, 3)), test_settings)"),
        ("array", "filter(list(true, false, true), test_settings)"),
        (
            "integer",
            r#"test_settings(object(a = object(b = list(1, 2)))).a.b[1]"#,
        ),
        ("integer", "test_double(test_double(test_double(1)))"),
    ]);
    let expected = [
        "6",
        "[2, 4]",
        r#"["a#0", "b#1"]"#,
        r#""a#7""#,
        "120",
        "[4, 8]",
        "[8]",
        "[1, 2, 3]",
        "[true, true]",
        "2",
        "8",
    ];
    assert_eq!(got, expected);
}

#[test]
fn none_spreads_and_is_left_out() {
    let got = values(&[
        ("integer", "test_double(none)"),
        ("array", "map(list(1), test_settings)"),
    ]);
    assert_eq!(got, ["absent", "[1]"]);
}

#[test]
fn unknown_arguments_give_unknown_results() {
    run_with_paused_clock(async {
        let text = document(&[("integer", "1")]).replace(
            "values:\n  v0: { type: integer, value: '${1}' }\nexports:\n  v0: { type: integer, field: values.v0 }\n",
            "values:
  revision: { type: integer, value: '${test_double(r.spec.revision)}' }
  list: { type: array, value: '${map(list(r.spec.revision, 2), test_double)}' }
exports:
  revision: { type: integer, field: values.revision }
  list: { type: array, field: values.list }
",
        );
        let staged = stage(&harness(&[]), &text, given(&[])).await;
        let exports = exports(&staged);
        assert!(exports["revision"].is_unknown());
        let list = exports["list"].as_list().expect("a list");
        assert!(list[0].is_unknown() && list[1] == Value::Int(4), "{list:?}");
    });
}

#[test]
fn secrets_stay_secret() {
    assert_eq!(
        values(&[("string", "test_tag(variables.secret, 1)")]),
        ["(secret)"]
    );
    run_with_paused_clock(async {
        let text = document(&[("string", "test_settings(variables.secret)")]);
        let staged = stage(&harness(&[]), &text, given(&[])).await;
        let Some(staged) = staged.staged else {
            panic!("no plan: {:?}", staged.diagnostics)
        };
        assert!(
            staged.plan.secret,
            "what is kept of the call must be sealed"
        );
        assert!(staged.plan.answers.calls.values().all(Value::has_secret));
    });
}

#[test]
fn answers_to_secret_calls_are_sealed_in_the_plan() {
    run_with_paused_clock(async {
        let harness = harness(&[]);
        let text = document(&[("string", "test_tag(variables.secret, 1)")]);
        let mut kept = std::collections::BTreeSet::new();
        for _ in 0..2 {
            let staged = stage(&harness, &text, given(&[]))
                .await
                .staged
                .expect("a plan");
            let answers = staged.plan.answers.clone();
            assert_eq!(answers.salt.len(), 32, "it was drawn");
            kept.insert(
                answers
                    .calls
                    .keys()
                    .next()
                    .cloned()
                    .expect("the call is kept"),
            );
            // A saved plan contains its answers: no value is generated and no question is asked
            // again.
            let sealer = state::seal::Sealer::with_key([7; 32]);
            let file = engine::plan_file::write(&staged.plan, &sealer).expect("there is a key");
            let (_, made_from) =
                engine::plan_file::read(&file, &sealer).expect("it was just written");
            assert_eq!(made_from.answers, answers);
            let run = harness
                .run(
                    staged,
                    true,
                    Vec::new(),
                    testkit::harness::settings(None, false),
                )
                .await;
            assert!(run.operated.is_some());
        }
        let open = document(&[("string", "test_tag(\"hush\", 1)")]);
        let staged = stage(&harness, &open, given(&[]))
            .await
            .staged
            .expect("a plan");
        assert!(
            staged.plan.answers.salt.is_empty(),
            "nothing secret was asked about"
        );
        let of_open = staged
            .plan
            .answers
            .calls
            .keys()
            .next()
            .expect("the call is kept");
        let digest = of_open.rsplit('/').next().expect("it ends in a digest");
        assert!(
            kept.iter().all(|key| !key.ends_with(digest)),
            "{kept:?} can be told from a guess"
        );
    });
}

#[test]
fn type_errors_are_found_at_check() {
    assert_eq!(wrong("integer", r#"test_double("a")"#), ["argument-type"]);
    assert_eq!(wrong("integer", "test_double()"), ["argument-count"]);
    assert_eq!(wrong("integer", "test_double(1, 2)"), ["argument-count"]);
    assert_eq!(
        wrong("array", r#"map(list("a"), test_double)"#),
        ["argument-type"]
    );
    assert_eq!(
        wrong("array", "map(list(1), test_weigh)"),
        ["callback-type"]
    );
    assert_eq!(
        wrong("array", "sort(list(1, 2), test_tag)"),
        ["argument-type"]
    );
    assert_eq!(
        wrong("array", "filter(list(1), test_double)"),
        ["callback-result"]
    );
    assert_eq!(wrong("integer", "test_doubel(1)"), ["unknown-function"]);
    assert_eq!(wrong("string", "test_double"), ["function-as-value"]);
    assert_eq!(wrong("string", "test_settings(list(1))"), ["type-mismatch"]);
}

#[test]
fn refusal_is_reported_at_the_call_with_its_item() {
    run_with_paused_clock(async {
        let text = document(&[("array", "map(list(1, 9223372036854775807), test_double)")]);
        let staged = stage(&harness(&[]), &text, given(&[])).await;
        assert_eq!(codes(&staged), ["provider-failed 8"]);
        let said = format!("{:?}", staged.diagnostics);
        assert!(
            said.contains("item 1") && said.contains("beyond 64 bits"),
            "{said}"
        );
    });
}

/// A world that answers only calls of functions.
struct Calls {
    /// The number of calls in progress, and its maximum.
    under_way: AtomicUsize,
    most: AtomicUsize,
    all: AtomicUsize,
    answer: fn(&[Value]) -> Result<Value, ProviderError>,
}

impl World for Calls {
    fn ask<'a>(&'a self, question: Question<'a>) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let Question::Provider(ProviderQuestion {
                request: ProviderRequest::Invoke(call),
                ..
            }) = question
            else {
                return question.refused("not here");
            };
            self.all.fetch_add(1, Ordering::SeqCst);
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            let arguments = call.arguments.positional().unwrap_or_default();
            Reply::Provider((self.answer)(arguments).map(ProviderReply::Returned))
        })
    }

    fn environment(&self) -> &dyn Environment {
        &EmptyWorld { now: 0 }
    }
}

async fn staged_with(
    text: &str,
    answer: fn(&[Value]) -> Result<Value, ProviderError>,
) -> (Calls, StageResult) {
    let harness = harness(&[]);
    let world = Calls {
        under_way: 0.into(),
        most: 0.into(),
        all: 0.into(),
        answer,
    };
    let read = harness.read("case.yaml", text).await;
    let mut diagnostics: Diagnostics = read.diagnostics;
    let request = Request {
        instance: "case".into(),
        document: read.checked.map(|checked| {
            (
                engine::Documents::single(checked, "".into()).into(),
                read.document,
            )
        }),
        given: given(&[]),
        options: Options::default(),
        snapshot: state::Snapshot::default(),
        catalogs: harness.catalogs.clone(),
        functions: harness.functions.clone(),
        answers: None,
        others: None,
        world: &world,
    };
    let staged = engine::plan(request, &mut diagnostics).await;
    (
        world,
        StageResult {
            files: read.files,
            diagnostics,
            staged,
        },
    )
}

#[test]
fn independent_questions_are_asked_together_and_once() {
    run_with_paused_clock(async {
        let text = document(&[
            ("array", "map(list(1, 2, 3, 4), test_double)"),
            ("integer", "add(test_double(5), test_double(6))"),
            ("integer", "test_double(1)"),
        ]);
        let (world, staged) = staged_with(&text, |arguments| Ok(arguments[0].clone())).await;
        assert!(staged.staged.is_some(), "{:?}", staged.diagnostics);
        assert_eq!(world.all.into_inner(), 6);
        assert_eq!(world.most.into_inner(), 6);
    });
}

#[test]
fn answer_of_another_type_is_a_contract_error() {
    run_with_paused_clock(async {
        let text = document(&[("integer", "test_double(1)")]);
        let (_, staged) = staged_with(&text, |_| Ok(Value::from("two"))).await;
        assert_eq!(codes(&staged), ["provider-broke-contract 8"]);
    });
}

#[test]
fn refusal_about_a_secret_does_not_show_it() {
    run_with_paused_clock(async {
        let text = document(&[("string", "test_tag(variables.secret, 1)")]);
        let (_, staged) = staged_with(&text, |arguments| {
            let words = format!("cannot use {}", arguments[0].revealed());
            Err(ProviderError::new(ErrorKind::Document, words))
        })
        .await;
        assert_eq!(codes(&staged), ["provider-failed 8"]);
        assert!(!format!("{:?}", staged.diagnostics).contains("hush"));
    });
}
