//! Runs the examples of the rows.

use blueprint::Value;

use super::functions;
use crate::untyped::of_json;

fn parse(text: &str) -> Value {
    of_json(serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn examples_of_functions_give_their_results() {
    let mut count = 0;
    for function in functions() {
        for (argument, expected) in function.examples {
            count += 1;
            let result = function.run(&parse(argument));
            let what = format!("{}: {argument}", function.key);
            match (result, expected.strip_prefix("! ")) {
                (Err(refusal), Some(code)) => assert_eq!(refusal.code.name, code, "{what}"),
                (Ok(value), None) => assert_eq!(value, parse(expected), "{what}"),
                (result, _) => panic!("{what}: {result:?}"),
            }
        }
    }
    assert!(count > 20);
}

#[test]
fn a_part_of_a_list_keeps_its_own_marks() {
    let select = super::function("SELECT").unwrap();
    let list = Value::list([
        Value::text("a").secret(),
        Value::unknown(None, None),
        Value::text("c"),
    ]);
    let item = |at: i64| {
        select
            .run(&Value::list([Value::Int(at), list.clone()]))
            .unwrap()
    };
    assert_eq!(item(0), Value::text("a").secret());
    assert!(item(1).is_unknown());
    assert_eq!(item(2), Value::text("c"));
}

#[test]
fn a_secret_part_makes_the_result_of_a_reading_function_secret() {
    let join = super::function("join").unwrap();
    let list = Value::list([Value::text("a").secret(), Value::text("b")]);
    let joined = join.run(&Value::list([Value::text("-"), list])).unwrap();
    assert_eq!(joined, Value::text("a-b").secret());
    let open = super::function("unsecret").unwrap();
    assert_eq!(open.run(&joined).unwrap(), Value::text("a-b"));
}
