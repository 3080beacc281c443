//! Calls of functions of packages by `invoke`.

use std::sync::Arc;

use blueprint::{Address, Field, Kind, Ref, ReferenceHead, Schema, Type, Value};
use diag::{Diagnostics, FileId, Files, Span, TextMap};
use expr::{
    Arguments, Ask, AskFailure, CallConfiguration, EvaluationStop, FunctionDef, Parameter, Purity,
    ResolvedHead, Returns, Scope,
};

/// A scope with the function `shop/getItem`, which takes its arguments by name, and the function
/// `shop/double`, which takes them by position.
#[derive(Default)]
struct Shop {
    asked: Vec<Ask>,
}

fn parameter(name: &str, ty: Type, optional: bool) -> Parameter {
    Parameter {
        name: name.into(),
        ty,
        optional,
        callback: None,
        absent_as_none: false,
    }
}

fn function(name: &str) -> Option<FunctionDef> {
    let (named, parameters, returns) = match name {
        "shop/getItem" => {
            let parameters = vec![
                parameter("name", Type::Text, false),
                parameter("weight", Type::Float, true),
            ];
            let mut key = Field::of(Kind::String);
            key.sensitive = true;
            let fields = [
                ("size".into(), Field::of(Kind::Integer)),
                ("key".into(), key),
            ];
            let schema = Schema {
                fields: fields.into_iter().collect(),
                open: false,
            };
            (true, parameters, Returns::Fields(Arc::new(schema)))
        }
        "shop/double" => {
            let parameters = vec![parameter("number", Type::Int, false)];
            (false, parameters, Returns::Type(Type::Int))
        }
        _ => return None,
    };
    Some(FunctionDef {
        name: name.into(),
        min_arguments: 1,
        parameters,
        rest: None,
        returns,
        returned_function: None,
        takes_index: false,
        named,
        none_propagates: false,
        purity: Purity::Provider {
            namespace: "shop".into(),
            name: name.into(),
        },
        not_in_specification: false,
        docs: "".into(),
        examples: Vec::new(),
        native: None,
        rehearsed: None,
    })
}

impl Scope for Shop {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let value = match &reference.head {
            ReferenceHead::Input(name) if name.as_ref() == "secret" => Value::from("s").secret(),
            ReferenceHead::Input(_) => Value::unknown(None, Some(Address::root("later"))),
            _ => return Err(EvaluationStop::Reported),
        };
        Ok(ResolvedHead { value, used: 0 })
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        self.asked.push(ask.clone());
        Some(Ok(Value::map([("size", Value::Int(3))])))
    }

    fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        function(name).map(Arc::new)
    }

    fn link(&mut self, _: &str, _: &str) -> Result<Value, EvaluationStop> {
        Err(EvaluationStop::Reported)
    }
}

/// The value of a text, and the questions that its evaluation asks.
fn evaluate(text: &str) -> (Result<Value, EvaluationStop>, Vec<Ask>) {
    let mut files = Files::new();
    let file: FileId = files.add("a.yaml", text);
    let span = Span::new(file, 0, text.len() as u32);
    let functions = expr::core_functions();
    let mut found = Diagnostics::new();
    let map = TextMap::identity(file, 0, text.len() as u32);
    let parsed = expr::parse_text(text, &map, span, functions, &mut found);
    assert!(found.is_empty(), "{found:?}");
    let mut scope = Shop::default();
    let value = expr::evaluate(&parsed, functions, &mut scope, &mut found);
    (value, scope.asked)
}

fn value(text: &str) -> Value {
    evaluate(text).0.expect("it has a value")
}

fn failure(text: &str) -> String {
    match evaluate(text).0 {
        Err(EvaluationStop::Failed(diagnostic)) => {
            format!("{}: {}", diagnostic.code.name, diagnostic.message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn named_arguments_are_asked_by_name_and_converted() {
    let (value, asked) =
        evaluate("${invoke(\"shop/getItem\", object(name=\"a\", weight=2), eu).size}");
    assert_eq!(value.unwrap(), Value::Int(3));
    let [
        Ask::Provider {
            namespace,
            function,
            arguments,
            configuration: CallConfiguration::Declared(name),
        },
    ] = asked.as_slice()
    else {
        panic!("{asked:?}");
    };
    assert_eq!(
        (namespace.as_ref(), function.as_ref(), name.item.as_ref()),
        ("shop", "shop/getItem", "eu")
    );
    let wanted = [("name", Value::from("a")), ("weight", Value::Float(2.0))];
    assert_eq!(*arguments, Arguments::named(wanted));
}

#[test]
fn positional_arguments_are_asked_by_position() {
    let (_, asked) = evaluate("${invoke(\"shop/double\", list(4), resources.eu)}");
    assert!(
        matches!(&asked[..], [Ask::Provider { arguments: Arguments::Positional(items), configuration: CallConfiguration::Declared(_), .. }] if *items == [Value::Int(4)]),
        "{asked:?}"
    );
    let (_, asked) = evaluate("${invoke(\"shop/double\", list(4))}");
    assert!(matches!(
        &asked[..],
        [Ask::Provider {
            configuration: CallConfiguration::Inherited,
            ..
        }]
    ));
}

#[test]
fn unknown_arguments_make_each_field_unknown() {
    let (value, asked) = evaluate("${invoke(\"shop/getItem\", object(name=variables.later))}");
    let value = value.unwrap();
    assert!(asked.is_empty());
    let (size, key) = (value.get("size").unwrap(), value.get("key").unwrap());
    assert!(size.is_unknown() && !size.has_secret(), "{size:?}");
    assert!(key.has_unknown() && key.has_secret(), "{key:?}");
    let mut waits_for = Vec::new();
    value.waits_for(&mut waits_for);
    assert_eq!(waits_for, [Address::root("later")]);
}

#[test]
fn a_secret_argument_makes_the_result_secret() {
    let secret = value("${invoke(\"shop/getItem\", object(name=variables.secret)).size}");
    assert_eq!(secret, Value::Int(3).secret());
}

#[test]
fn a_function_that_the_scope_does_not_know_has_an_unknown_result() {
    assert!(value("${invoke(\"shop/none\", object(a=1))}").is_unknown());
}

#[test]
fn mistakes_in_computed_arguments_are_reported() {
    let cases = [
        (
            "object(nam=\"a\")",
            "unknown-field: `shop/getItem` has no argument `nam`",
        ),
        (
            "object(weight=1)",
            "argument-count: `shop/getItem` needs the argument `name`",
        ),
        (
            "object(name=list())",
            "argument-type: `name` of `shop/getItem` must be string, found array",
        ),
        (
            "list(1)",
            "argument-type: `shop/getItem` takes its arguments by name",
        ),
    ];
    for (arguments, expected) in cases {
        let text = format!("${{invoke(\"shop/getItem\", {arguments})}}");
        assert_eq!(failure(&text), expected);
    }
    assert_eq!(
        failure("${invoke(\"shop/double\", list(1, 2))}"),
        "argument-count: `shop/double` does not take 2 arguments"
    );
    assert_eq!(
        failure("${invoke(variables.later, list())}"),
        "argument-type: `invoke` needs the name of a function as a literal"
    );
}
