//! Templates with limits, unknown values and secrets.

use blueprint::{Address, Map, Value};

use crate::{Limits, Template, TextTemplate};

fn values() -> Map {
    let mut values = Map::new();
    values.insert("name".into(), Value::text("shop"));
    values.insert("port".into(), Value::Int(80));
    let later = Some(Address::root("db"));
    values.insert("later".into(), Value::unknown(None, later));
    values.insert("password".into(), Value::text("pw-1").secret());
    let both = [
        ("open", Value::Int(1)),
        ("hidden", Value::text("pw-2").secret()),
    ];
    values.insert("both".into(), Value::map(both));
    values
}

fn render(code: &str) -> Result<Vec<Value>, crate::Mistake> {
    let text = format!("#@ load(\"@ytt:data\", \"data\")\n{code}");
    Template::parse(&text)?.render(&values(), &Limits::default())
}

/// The value of `v` in the one document.
fn value(code: &str) -> Value {
    let documents = render(code).unwrap_or_else(|mistake| panic!("{code}: {mistake}"));
    documents[0].get("v").cloned().unwrap_or_default()
}

fn mistake(code: &str) -> crate::Mistake {
    match render(code) {
        Err(mistake) => mistake,
        Ok(documents) => panic!("{code}: {documents:?}"),
    }
}

/// Runs in a thread with the stack of a worker thread.
fn with_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("a thread starts").join().expect("it ends")
}

#[test]
fn documents_are_made_from_data_values() {
    let documents = render("a: #@ data.values.name\n---\nb: #@ data.values.port + 1\n");
    let expected = [
        Value::map([("a", Value::text("shop"))]),
        Value::map([("b", Value::Int(81))]),
    ];
    assert_eq!(documents, Ok(expected.to_vec()));
}

#[test]
fn every_template_ends() {
    let endless = [
        "#@ while True:\n#@ x = 1\n#@ end\nv: 1\n",
        "#@ def f(): return f()\nv: #@ f()\n",
        "v: #@ \"x\" * 1099511627776\n",
        "v: #@ len(\"x\" * (1 << 40))\n",
        "v: #@ [0] * (1 << 40)\n",
        "v: #@ list(range(2000000000))\n",
        "#@ for i in range(2000000000):\n#@ x = i\n#@ end\nv: 1\n",
        "#@ x = \"ab\"\n#@ for i in range(60):\n#@ x = x + x\n#@ end\nv: #@ x\n",
        "#@ x = []\n#@ while True:\n#@ x.append(x)\n#@ end\nv: #@ x\n",
        "#@ x = []\n#@ for i in range(100000):\n#@ x = [x]\n#@ end\nv: #@ x\n",
        "#@ x = ()\n#@ for i in range(100000):\n#@ x = (x,)\n#@ end\nv: #@ str(x)\n",
        "#@ x = []\n#@ x.append(x)\nv: #@ x\n",
        "v: #@ \"{}\".format([\"x\" * 1000] * 1000000)\n",
        "v: #@ \"a\".replace(\"\", \"x\" * 40000000)\n",
    ];
    for code in endless {
        let found = with_small_stack(move || render(code).err());
        assert!(found.is_some(), "{code}");
    }
}

#[test]
fn deep_code_is_refused() {
    for code in [
        format!("v: #@ {}1{}\n", "(".repeat(5_000), ")".repeat(5_000)),
        format!("v: #@ {}1\n", "-".repeat(5_000)),
        format!("v: #@ {}1\n", "not ".repeat(5_000)),
        format!("v: #@ {}1\n", "lambda: ".repeat(5_000)),
        format!("v: #@ {}1{}\n", "[".repeat(5_000), "]".repeat(5_000)),
        format!("v: #@ 1{}\n", " + 1".repeat(50_000)),
        format!("v: #@ x{}\n", ".a".repeat(50_000)),
        "#@ if True:\n".repeat(5_000),
        format!("v: {}\n", "[".repeat(5_000)),
    ] {
        let found = with_small_stack(move || render(&code).is_err());
        assert!(found);
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    let code = "#@ def f(n):\n#@ if n == 0:\n#@ return []\n#@ end\n#@ return [f(n - 1)]\n#@ end\n\
                v: #@ f(20)\n";
    let found = with_small_stack(move || render(code).is_ok());
    assert!(found);
}

#[test]
fn unknown_values_stay_unknown_leaf_by_leaf() {
    let later = values().get("later").cloned().unwrap_or_default();
    let documents = render("a: #@ data.values.later\nb: 1\nc: #@ [1, data.values.later]\n");
    let expected = Value::map([
        ("a", later.clone()),
        ("b", Value::Int(1)),
        ("c", Value::list([Value::Int(1), later.clone()])),
    ]);
    assert_eq!(documents, Ok(vec![expected]));
    for code in [
        "v: #@ data.values.later.url",
        "v: #@ \"x\" + data.values.later",
        "v: #@ \"{}-{}\".format(1, data.values.later)",
        "v: #@ \"%s\" % data.values.later",
        "v: #@ str(data.values.later)",
        "v: #@ data.values.later.upper()",
        "v: #@ data.values.later == 1",
        "v: #@ 1 if data.values.later else 2",
        "v: #@ data.values.later or 2",
        "v: #@ \",\".join([\"a\", data.values.later])",
        "#@yaml/text-templated-strings\nv: a(@= data.values.later @)b",
    ] {
        assert_eq!(value(code), later, "{code}");
    }
}

#[test]
fn condition_or_loop_over_unknown_makes_the_result_unknown() {
    let later = values().get("later").cloned().unwrap_or_default();
    for code in [
        "#@ if data.values.later:\na: 1\n#@ end\nb: 2\n",
        "#@ for x in data.values.later:\n- 1\n#@ end\n",
        "a: #@ [x for x in data.values.later]\n",
        "a: #@ {data.values.later: 1}\n",
    ] {
        assert_eq!(render(code), Ok(vec![later.clone()]), "{code}");
    }
}

#[test]
fn leaf_that_is_computed_from_a_secret_is_secret() {
    for (code, expected) in [
        ("v: #@ data.values.password", "pw-1"),
        ("v: #@ \"x\" + data.values.password", "xpw-1"),
        ("v: #@ data.values.password.upper()", "PW-1"),
        ("v: #@ \"{}\".format(data.values.password)", "pw-1"),
        ("v: #@ data.values.password[0]", "p"),
        ("v: #@ \"a\" if data.values.password else \"b\"", "a"),
        (
            "#@yaml/text-templated-strings\nv: a(@= data.values.password @)",
            "apw-1",
        ),
    ] {
        assert_eq!(value(code), Value::text(expected).secret(), "{code}");
    }
    let both = value("#@ load(\"@ytt:struct\", \"struct\")\nv: #@ struct.decode(data.values.both)");
    assert_eq!(both.get("open"), Some(&Value::Int(1)));
    assert_eq!(both.get("hidden"), Some(&Value::text("pw-2").secret()));
    let json = "#@ load(\"@ytt:json\", \"json\")\nv: #@ json.encode(data.values.both)";
    assert!(value(json).has_secret());
    let parts = value("v: #@ data.values.password.split(\"-\")");
    assert_eq!(parts.get("x"), None);
    assert_eq!(
        parts,
        Value::list(["pw", "1"].map(|part| Value::text(part).secret()))
    );
}

#[test]
fn mistakes_show_no_secret() {
    for code in [
        "v: #@ fail(data.values.password)",
        "v: #@ int(data.values.password)",
        "v: #@ {}[data.values.password]",
        "v: #@ fail([data.values.password])",
        "v: #@ data.values.password.format(1, 2).foo",
        "#@ load(\"@ytt:assert\", \"assert\")\nv: #@ assert.equals(data.values.password, \"x\")",
        "#@ load(\"@ytt:assert\", \"assert\")\nv: #@ assert.fail(data.values.password)",
        "#@ load(\"@ytt:json\", \"json\")\nv: #@ json.decode(data.values.password)",
    ] {
        let mistake = mistake(code);
        assert!(!mistake.message.contains("pw-1"), "{mistake}");
    }
}

#[test]
fn mistakes_have_the_line_and_span_of_the_code() {
    let mistake = mistake("a: 1\nb: #@ 1 / 0\n");
    assert_eq!(
        (mistake.line, mistake.message.as_str()),
        (3, "real division by zero")
    );
    assert_eq!(mistake.span, Some(34..45));
    let mistake = Template::parse("a: 1\nb: #@ foo\n").map(drop);
    assert_eq!(mistake.map_err(|mistake| mistake.line), Err(2));
    let mistake = Template::parse("#@ x = 1\na: 1 # plain\n").map(drop);
    assert_eq!(mistake.map_err(|mistake| mistake.line), Err(2));
}

#[test]
fn text_without_code_is_plain_yaml() {
    let template = Template::parse("a: 1 # plain\nb: yes\na: 2\n");
    let documents = template.and_then(|own| own.render(&values(), &Limits::default()));
    let expected = Value::map([("a", Value::Int(2)), ("b", Value::Bool(true))]);
    assert_eq!(documents, Ok(vec![expected]));
}

#[test]
fn annotated_documents_change_the_others() {
    let code = "a: 1\n#@overlay/match by=lambda i, l, r: True\n---\n\
                #@overlay/match missing_ok=True\nb: 2\n";
    let expected = Value::map([("a", Value::Int(1)), ("b", Value::Int(2))]);
    assert_eq!(render(code), Ok(vec![expected]));
    let mistake = mistake("a: 1\n#@data/values\n---\nb: 2\n");
    assert_eq!(mistake.line, 3);
}

#[test]
fn text_template_gives_a_text() {
    let text = "(@ load(\"@ytt:data\", \"data\") -@)\nport (@= str(data.values.port) @)\n";
    let template = TextTemplate::parse(text);
    let result = template.and_then(|template| template.render(&values(), &Limits::default()));
    assert_eq!(result, Ok(Value::text("port 80\n")));
}

#[test]
fn template_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Template>();
    is_shared::<TextTemplate>();
}

#[test]
fn unknown_module_is_named() {
    let mistake = mistake("#@ load(\"@ytt:nope\", \"nope\")\nv: 1\n");
    assert!(mistake.message.contains("no such module"), "{mistake}");
}
