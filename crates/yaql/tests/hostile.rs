//! Expressions without an end, or with unbounded memory or nesting, stop at a limit.

use std::sync::mpsc;
use std::time::Duration;

use blueprint::Value;
use yaql::{EvaluationLimits, EvaluationStop, FailureKind, NoExternalValues, Program};

/// The default stack size of threads.
const STACK: usize = 1280 << 10;

/// The time limit of a test: enough on a machine under load.
const LONGEST: Duration = Duration::from_secs(20);

/// The kind of failure of an expression; `None` if it has a value.
fn failure(expression: &str) -> Option<FailureKind> {
    let (sender, receiver) = mpsc::channel();
    let text = expression.to_owned();
    let run = move || {
        let data = Value::map([("data", Value::Null)]);
        let found = Program::compile(&text)
            .map_err(EvaluationStop::Failed)
            .and_then(|program| {
                program.evaluate(&data, &EvaluationLimits::default(), &mut NoExternalValues)
            });
        let kind = match found {
            Ok(_) => None,
            Err(EvaluationStop::Failed(failure)) => Some(failure.kind),
            Err(EvaluationStop::Ask(_)) => panic!("nothing is drawn here"),
        };
        // The receiver may have timed out.
        let _ = sender.send(kind);
    };
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(run)
        .expect("a thread can be started");
    let shown: String = expression.chars().take(80).collect();
    receiver
        .recv_timeout(LONGEST)
        .unwrap_or_else(|error| panic!("{shown}: {error}"))
}

#[track_caller]
fn limited(expression: &str) {
    let shown: String = expression.chars().take(80).collect();
    assert_eq!(failure(expression), Some(FailureKind::Limit), "{shown}");
}

#[test]
fn endless_expressions_stop_at_a_limit() {
    for expression in [
        "sequence().len()",
        "range(1000000000).len()",
        "range(1000000000)",
        "sequence().where(false).first(0)",
        "1.repeat().len()",
        "[1].cycle().last()",
        "generate(1, true, 1).len()",
        "generateMany(1, [$, $])",
        "list(sequence())",
        "set(sequence())",
        "[1].join(sequence(), false, 1)",
        "sequence().select(sequence().len())",
        "def(f, f()) -> f()",
        "def(f, [f($)]) -> f(1)",
        "def(f, range(1).select(f($))) -> f(1)",
        "def(f, range(1).select(f($))) -> f(1).flatten().first()",
        "def(f, f($).where(true)) -> f(1)",
    ] {
        limited(expression);
    }
}

#[test]
fn growing_values_stop_at_a_limit() {
    for expression in [
        "a * 1000000000",
        "1000000000 * [1, 2, 3]",
        "pow(10, 1000000000)",
        "pow(pow(10, 1000), pow(10, 1000))",
        "shiftBitsLeft(1, 1000000000000)",
        "range(200).aggregate($1 * 10 + $1 * $1, pow(10, 100))",
        "range(200).aggregate($1 + $1, aaaaaaaa)",
        "range(200).aggregate([$1, $1], 0)",
        "range(200).aggregate($1 + $1, [1])",
        "range(100).aggregate([$1], 0).len() + range(200).aggregate([range(200).aggregate([$1], $1)], 0).len()",
        "'a'.replace('', aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa * 199).replace(a, bbbbbbbbbb)",
        "regex('').replace(a * 5000, b * 100)",
        "range(200).toDict($, range(200).toDict($, range(200).toDict($, range(200).toList())))",
        "range(200).select(range(200).select(range(200).select(range(200))))",
        "let(x => [1, 1]) -> let(x => [$x, $x]) -> let(x => [$x, $x, $x, $x, $x, $x, $x, $x]) -> \
         range(30).aggregate([$1, $1], $x) = range(30).aggregate([$1, $1], $x)",
        "str(range(40).aggregate([$1, $1], 1))",
        "range(40).aggregate({a => $1, b => $1}, 1)",
        "range(40).aggregate(set($1, [$1]), 1)",
    ] {
        limited(expression);
    }
}

#[test]
fn deep_nesting_stops_at_a_limit() {
    limited(&format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)));
    limited(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    limited(&format!("{}1", "-".repeat(100_000)));
    limited(&format!("{}1", "not ".repeat(100_000)));
    limited(&format!(
        "{}1{}",
        "len(".repeat(100_000),
        ")".repeat(100_000)
    ));
    limited(&format!("{}1", "let(1) -> ".repeat(100_000)));
    limited(&format!("1{}", " + 1".repeat(100_000)));
    limited(&format!("$.data{}", "?.a".repeat(100_000)));
    limited(&format!("[1]{}", ".select($)".repeat(100_000)));
    limited(&format!("[1]{}", "[0]".repeat(100_000)));
    // Each of these sequences encloses the previous one.
    limited("range(200).aggregate(range(200).aggregate($1.skip(0), $1), range(3)).len()");
    limited(
        "range(200).aggregate(range(200).aggregate($1.memorize(), $1.where(true)), range(3)).len()",
    );
    limited(
        "range(200).aggregate(range(200).aggregate(let(p => $1) -> range(2).select($p), $1), 0)",
    );
}

/// Each kind of nesting at its limit, on a thread with the default stack size.
#[test]
fn the_stack_is_deep_enough_for_the_limits() {
    for (unit, end) in [
        ("[1].select(", ")"),
        ("[1].where(", ")"),
        ("[2, 1].orderBy(", ").toList()"),
        ("coalesce(null, ", ")"),
        ("switch(true => ", ")"),
        ("[1].toDict(1, ", ")"),
        ("[1].aggregate(", ", 1)"),
        ("[1].groupBy(1, 1, ", ")"),
        ("{a => ", "}"),
        ("(true and ", ")"),
        ("regex('.').replaceBy(a, ", ")"),
        ("[1].join([1], true, ", ")"),
        ("[1].generateMany([], ", ")"),
        ("let(x => ", ") -> 1"),
        ("def(f, ", ") -> f()"),
        ("str(", ")"),
        ("[1].accumulate(", ", 1).toList()"),
    ] {
        for depth in [30, 60, 99, 150, 199, 210] {
            failure(&format!("{}1{}", unit.repeat(depth), end.repeat(depth)));
        }
    }
    for depth in 1..250 {
        failure(
            &format!(
                "def(f, switch($ > {depth} => 1, true => [1].select(f($$))).toList()) -> f(1)"
            )
            .replace("$$", "$ + 1"),
        );
    }
    failure("def(f, [$].select(f($ + 1)).toList()) -> f(1)");
    failure("def(f, [[$]].select($.where(f($).len() > 0)).flatten().toList()) -> f(1)");
    failure("def(f, [1, 2].orderBy(f($)).toList()) -> f(1)");
    failure("def(f, [1].groupBy(1, 1, f($)).toList()) -> f(1)");
    failure("def(f, regex('.').replaceBy(a, str(f($)))) -> f(1)");
    failure("def(f, {a => {b => 1}}.mergeWith({a => {b => 2}}, itemMerger => f($))) -> f(1)");
    failure("def(f, call(f, [1], {})) -> f(1)");
    failure("def(f, $.select(f($)).memorize()) -> f([[1]])");
}

#[test]
fn patterns_that_backtrack_stop() {
    for expression in [
        "('a' * 5000 + b) =~ '(?=(a+)+$)(a+)+$'",
        "('a' * 5000 + b) =~ '^(a|aa)+\\\\1$'",
        "range(200).select(range(200).where(regex('(x+x+)+(?!y)z').matches('x' * 5000)))",
    ] {
        limited(expression);
    }
    // These patterns need no backtracking.
    assert_eq!(failure("('a' * 5000 + b) =~ '(a+)+$'"), None);
    assert_eq!(failure("('a' * 5000 + b) =~ '(a|a|a)*c'"), None);
}
