//! Tests of the comparison of values.

use super::*;

fn changes(before: &str, after: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut changes = Vec::new();
    differences(
        &Schema::default(),
        &read(before),
        &read(after),
        &mut changes,
    );
    let show = |value: &Option<Value>| {
        value
            .as_ref()
            .map_or("-".to_owned(), |value| value.to_string())
    };
    changes
        .iter()
        .map(|change| {
            format!(
                "{} {} {}",
                change.path,
                show(&change.before),
                show(&change.after)
            )
        })
        .collect()
}

#[test]
fn only_changed_leaves_are_named() {
    assert_eq!(
        changes(r#"{"a":{"b":1,"c":[1,2]}}"#, r#"{"a":{"b":1,"c":[1,3,4]}}"#),
        ["spec.a.c[1] 2 3", "spec.a.c[2] - 4"]
    );
    assert_eq!(
        changes(r#"{"a":1}"#, r#"{"a":1.0,"b":[]}"#),
        ["spec.b - []"]
    );
    assert_eq!(
        changes(r#"{"a":{"x":1}}"#, r#"{"a":2}"#),
        ["spec.a.x 1 -", "spec.a - 2"]
    );
    assert_eq!(
        changes(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
        Vec::<String>::new()
    );
    // Null is not a leaf, unless there is no other leaf to report.
    assert_eq!(
        changes("{}", r#"{"a":{"b":null,"c":{"d":null}}}"#),
        Vec::<String>::new()
    );
    assert_eq!(changes("{}", r#"{"a":{"b":null}}"#), ["spec.a.b - null"]);
}

#[test]
fn a_leaf_of_a_list_has_the_outermost_list() {
    let mut changes = Vec::new();
    let before = read(r#"{"a":[[1,2],[3]],"b":1,"c":[]}"#);
    let after = read(r#"{"a":[[1,0],[3]],"b":2,"c":[4]}"#);
    differences(&Schema::default(), &before, &after, &mut changes);
    let list_of = |change: &Change| {
        let list = change.list.as_ref()?;
        Some((list.path.clone(), list.after.to_string(), list.ordered))
    };
    let a = Some(("spec.a".to_owned(), "[[1, 0], [3]]".to_owned(), true));
    let c = Some(("spec.c".to_owned(), "[4]".to_owned(), true));
    let lists: Vec<_> = changes.iter().map(list_of).collect();
    assert_eq!(lists, [a, None, c.clone(), c]);
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn keyed_list() -> Field {
    let item = Schema {
        fields: [
            ("name".into(), Field::of(Kind::String)),
            ("key".into(), Field::of(Kind::String)),
        ]
        .into_iter()
        .collect(),
        open: false,
    };
    let items = Kind::Array(Arc::new(Field::of(Kind::Object(Arc::new(item)))));
    Field {
        keyed_by: Some("name".into()),
        ..Field::of(items)
    }
}

#[test]
fn item_with_an_unknown_key_is_paired_with_a_remaining_one() {
    let mut field = keyed_list();
    let Kind::Array(item) = &mut field.kind else {
        panic!("a list")
    };
    let Kind::Object(schema) = &mut Arc::make_mut(item).kind else {
        panic!("objects")
    };
    let key = Arc::make_mut(schema).fields.get_mut("key").unwrap();
    key.must_recreate = true;
    let before = read(r#"[{"name":"a","key":"x"},{"name":"b","key":"y"}]"#);
    let unknown = Value::map([
        ("name", Value::unknown(None, None)),
        ("key", Value::from("x")),
    ]);
    let after = Value::list([read(r#"{"name":"b","key":"y"}"#), unknown]);
    let mut changes = Vec::new();
    compare_values(
        Some(before),
        Some(after),
        Some(&field),
        &mut String::from("spec.f"),
        false,
        &mut changes,
    );
    let [change] = changes.as_slice() else {
        panic!("{changes:?}")
    };
    assert!(
        change.path == "spec.f[1]"
            && change.forces
            && change.before == Some(read(r#"{"name":"a","key":"x"}"#)),
        "{change:?}"
    );
}

#[test]
fn item_with_unknown_parts_is_paired_by_its_key() {
    let field = keyed_list();
    let paths = |before: &str, after: Value| {
        let mut changes = Vec::new();
        compare_values(
            Some(read(before)),
            Some(after),
            Some(&field),
            &mut String::from("spec.f"),
            false,
            &mut changes,
        );
        changes
            .iter()
            .map(|change| change.path.to_string())
            .collect::<Vec<_>>()
    };
    let two = r#"[{"name":"a","key":"x"},{"name":"b","key":"y"}]"#;
    let known = Value::map([
        ("name", Value::from("b")),
        ("key", Value::unknown(None, None)),
    ]);
    assert_eq!(
        paths(two, Value::list([known])),
        ["spec.f[0].key", "spec.f[0].name", "spec.f[0].key"]
    );
    // A known item without a key is paired with no old item.
    let other = Value::list([read(r#"{"key":"x"}"#)]);
    assert_eq!(
        paths(r#"[{"name":"a","key":"x"}]"#, other),
        ["spec.f[0].key", "spec.f[0].name", "spec.f[0].key"]
    );
}

#[test]
fn order_of_a_set_in_a_list_is_ignored() {
    let set = Field {
        set: true,
        ..Field::of(Kind::Array(Arc::new(Field::of(Kind::Any))))
    };
    let lists = Field::of(Kind::Array(Arc::new(set)));
    assert!(same_field(
        &lists,
        &read("[[1,2],[3]]"),
        &read("[[2,1],[3]]")
    ));
    assert!(!same_field(
        &lists,
        &read("[[1,2],[3]]"),
        &read("[[3],[1,2]]")
    ));
    assert!(!same_field(&lists, &read("[[1],[3]]"), &read("[[1]]")));
}

#[test]
fn reordered_large_set_is_equal() {
    let field = Field {
        set: true,
        ..Field::of(Kind::Array(Arc::new(Field::of(Kind::Any))))
    };
    let item = |at: i64| {
        Value::map([
            (
                "n",
                if at % 2 == 0 {
                    Value::Int(at)
                } else {
                    Value::Float(at as f64)
                },
            ),
            ("z", Value::Null),
        ])
    };
    let there = Value::list((0..20_000).map(item));
    let back = Value::list(
        (0..20_000)
            .rev()
            .map(|at| Value::map([("n", Value::Int(at))])),
    );
    let more = Value::list((0..20_001).map(item));
    assert!(same_field(&field, &there, &back) && !same_field(&field, &there, &more));
}

#[test]
fn ignored_path_adds_or_removes_only_its_last_name() {
    let wanted = read(r#"{"a":{"x":1},"b":1}"#);
    let prior = read(r#"{"c":{"x":2},"a":{"x":3,"y":4}}"#);
    let with = |path| serde_json::to_string(&with_path_of(&wanted, &prior, path)).unwrap();
    assert_eq!(with("a.x"), r#"{"a":{"x":3},"b":1}"#);
    assert_eq!(with("a.y"), r#"{"a":{"x":1,"y":4},"b":1}"#);
    assert_eq!(with("b"), r#"{"a":{"x":1}}"#);
    assert_eq!(with("b.x"), r#"{"a":{"x":1},"b":1}"#);
    assert_eq!(with("c.x"), r#"{"a":{"x":1},"b":1}"#);
    // An item that either list lacks stays; `*` means every entry and item.
    let wanted = read(r#"{"l":[1,2,3],"m":{"k":1,"new":2},"o":[{"x":1,"y":1}]}"#);
    let prior = read(r#"{"l":[7,8],"m":{"k":5,"old":6},"o":[{"x":9,"y":9},{}]}"#);
    let with = |path| serde_json::to_string(&with_path_of(&wanted, &prior, path)).unwrap();
    let rest = r#""m":{"k":1,"new":2},"o":[{"x":1,"y":1}]}"#;
    assert_eq!(with("l[1]"), format!(r#"{{"l":[1,8,3],{rest}"#));
    assert_eq!(with("l[2]"), format!(r#"{{"l":[1,2,3],{rest}"#));
    assert_eq!(with("l[*]"), format!(r#"{{"l":[7,8,3],{rest}"#));
    assert_eq!(
        with("m[*]"),
        r#"{"l":[1,2,3],"m":{"k":5,"old":6},"o":[{"x":1,"y":1}]}"#
    );
    assert_eq!(
        with("o[*].x"),
        r#"{"l":[1,2,3],"m":{"k":1,"new":2},"o":[{"x":9,"y":1}]}"#
    );
    let prior = read(r#"{"c":{"x":2},"a":{"x":3,"y":4}}"#);
    let secret = Value::map([("a", read(r#"{"x":1}"#).secret())]);
    assert_eq!(
        with_path_of(&secret, &prior, "a.x").to_string(),
        r#"{"a": (secret)}"#
    );
}

/// A list of objects with a written key and a computed token.
fn nested() -> Field {
    let text = || Field::of(Kind::String);
    let token = Field {
        computed: true,
        ..text()
    };
    let schema = Schema {
        fields: [("key".into(), text()), ("token".into(), token)]
            .into_iter()
            .collect(),
        open: false,
    };
    let item = Field::of(Kind::Object(Arc::new(schema)));
    Field::of(Kind::Array(Arc::new(item)))
}

#[test]
fn computed_parts_need_not_be_sent() {
    let sent = read(r#"[{"key":"k"}]"#);
    for (answered, has) in [
        (r#"[{"key":"k"}]"#, true),
        (r#"[{"key":"k","token":"t"}]"#, true),
        (r#"[{"key":"other","token":"t"}]"#, false),
        (r#"[{"token":"t"}]"#, false),
        (r#"[{"key":"k","more":"m"}]"#, false),
        (r#"[{"key":"k"},{"key":"k"}]"#, false),
    ] {
        let answered = read(answered);
        assert_eq!(has_sent(&nested(), &answered, &sent), has, "{answered}");
    }
}
