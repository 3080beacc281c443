//! Tests of diagnostics for documents with several mistakes, combined with inputs and environments.

use crate::place::{Place, Ran};

const TEMPLATE: &str = "\
heat_template_version: 2018-08-31
parameters:
  count: {type: number}
  size: {type: number, default: many}
  there: {type: boolean, default: true}
resources:
  gone: {type: gone.yaml}
  child: {type: child.yaml, properties: {length: {get_param: count}}}
outputs:
  count: {value: {get_param: count}}
";

const CHILD: &str = "\
heat_template_version: 2018-08-31
parameters:
  length: {type: number, constraints: [{range: {max: 600}}]}
resources:
  name: {type: \"OS::Heat::RandomString\", properties: {length: {get_param: length}}}
";

/// The codes of the reported diagnostics, in order.
fn codes(ran: &Ran) -> Vec<&str> {
    ran.err
        .lines()
        .filter_map(|line| {
            line.strip_prefix("error[")
                .or_else(|| line.strip_prefix("warning["))?
                .split(']')
                .next()
        })
        .collect()
}

fn place() -> Place {
    let place = Place::with("t.yaml", TEMPLATE);
    place.write("child.yaml", CHILD);
    place
}

#[test]
fn inputs_are_checked_in_every_template() {
    let place = place();
    let of = |arguments: &[&str]| codes(&place.ends(1, arguments)).join(" ");
    assert_eq!(
        of(&["validate", "t.yaml"]),
        "invalid-default source-unreadable"
    );
    assert_eq!(
        of(&["validate", "t.yaml", "--var", "size=3"]),
        "invalid-default source-unreadable"
    );
    assert_eq!(
        of(&["validate", "t.yaml", "--var", "count=550"]),
        "invalid-default source-unreadable value-constraint child-failed"
    );
    assert_eq!(
        of(&[
            "validate",
            "t.yaml",
            "--var",
            "count=601",
            "--var",
            "there=no",
            "--var",
            "x=1"
        ]),
        "undeclared-variable invalid-default source-unreadable value-constraint"
    );
    place.write("env.yaml", "parameters: {count: lots, there: maybe}\n");
    let said = of(&["validate", "t.yaml", "-e", "env.yaml"]);
    assert_eq!(
        said,
        "unparsable-value invalid-default unparsable-value source-unreadable"
    );
    // `stage`, `deploy` and `graph` report the same diagnostics.
    assert_eq!(of(&["stage", "t.yaml", "-e", "env.yaml"]), said);
    assert_eq!(of(&["deploy", "-y", "t.yaml", "-e", "env.yaml"]), said);
    assert_eq!(of(&["graph", "t.yaml", "-e", "env.yaml"]), said);
    assert_eq!(
        of(&["stage", "t.yaml"]),
        "missing-variable invalid-default source-unreadable"
    );
    place.write("vars.yaml", "count: [\n");
    assert!(of(&["validate", "t.yaml", "--vars", "vars.yaml"]).starts_with("invalid-syntax"));
    let gone = place.ends(1, &["stage", "t.yaml", "--vars", "gone.yaml"]);
    assert!(
        gone.err.contains("gone.yaml`") && codes(&gone).contains(&"source-unreadable"),
        "{}",
        gone.err
    );
}

#[test]
fn invalid_input_does_not_hide_other_mistakes() {
    let place = place();
    place.write(
        "t.yaml",
        TEMPLATE
            .replace("  gone: {type: gone.yaml}\n", "")
            .replace("default: many", "default: 3"),
    );
    place.ends(0, &["validate", "t.yaml"]);
    let staged = place.ends(
        1,
        &[
            "stage",
            "t.yaml",
            "--var",
            "count=550",
            "--var",
            "size=many",
        ],
    );
    assert_eq!(
        codes(&staged),
        ["unparsable-value", "value-constraint", "child-failed"],
        "{}",
        staged.err
    );
    let json = place.ends(1, &["validate", "t.yaml", "--var", "count=550", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let all = value["diagnostics"].as_array().unwrap().iter();
    assert_eq!(
        all.map(|one| one["code"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["value-constraint", "child-failed"]
    );
    place.ends(0, &["validate", "t.yaml", "--var", "count=500"]);
}

/// The chosen argument of `if` is checked with the values of other resources that are known before
/// a deployment.
#[test]
fn values_chosen_by_a_condition_are_checked() {
    let text = |condition: &str| {
        format!(
            "heat_template_version: 2021-04-16
parameters: {{big: {{type: boolean}}}}
conditions: {{c: {condition}}}
resources:
  list: {{type: OS::Heat::Value, properties: {{value: [a]}}}}
  it: {{type: OS::Heat::Value, properties: {{value: {{if: [c, {{str_split: [',', {{get_attr: [list, value]}}]}}, 1]}}}}}}
"
        )
    };
    let place = Place::with("t.yaml", &text("true"));
    let refused = |arguments: &[&str]| {
        let ran = place.ends(
            1,
            &[&["validate", "t.yaml", "--simulate"], arguments].concat(),
        );
        assert!(
            ran.err
                .contains("error[argument-type]: `str_split` splits text, not a list"),
            "{}",
            ran.err
        );
    };
    refused(&[]);
    place.write("t.yaml", text("false"));
    place.ends(0, &["validate", "t.yaml", "--simulate"]);
    place.write("t.yaml", text("{get_param: big}"));
    place.ends(0, &["validate", "t.yaml", "--simulate"]);
    place.ends(
        0,
        &["validate", "t.yaml", "--simulate", "--var", "big=false"],
    );
    refused(&["--var", "big=true"]);
}

#[test]
fn inputs_of_blueprints_are_checked_too() {
    let text = "version: 2023-04-20\nvariables:\n  port: {type: integer}\n  zone: {type: string, default: a}\n\
                resources:\n  note: {type: local/file, spec: {path: note.txt, content: \"${variables.port}\"}}\n";
    let place = Place::with("a.blueprint.yaml", text);
    place.ends(0, &["validate"]);
    place.ends(0, &["validate", "--var", "port=80"]);
    let wrong = place.ends(1, &["validate", "--var", "port=http", "--var", "zones=b"]);
    assert_eq!(codes(&wrong), ["undeclared-variable", "unparsable-value"]);
    let (before, after) = (
        "content: \"${variables.port}\"",
        "content: \"${variables.prot}\"",
    );
    place.write("a.blueprint.yaml", text.replace(before, after));
    let wrong = place.ends(1, &["stage", "--var", "port=http"]);
    assert_eq!(codes(&wrong), ["unparsable-value", "unknown-variable"]);
}

#[test]
fn limits_of_templates_are_settings() {
    let place = Place::new();
    let nested = |inner: &str| {
        format!("heat_template_version: 2018-08-31\nresources:\n  a: {{type: {inner}}}\n")
    };
    for level in 0..7 {
        place.write(
            &format!("t{level}.yaml"),
            nested(&format!("t{}.yaml", level + 1)),
        );
    }
    place.write("t7.yaml", nested("OS::Heat::None"));
    let deep = place.ends(1, &["validate", "t0.yaml"]);
    assert_eq!(codes(&deep).first(), Some(&"child-depth"));
    place.write("cyan.toml", "[dialects.hot]\nnesting = 7\n");
    place.ends(0, &["validate", "t0.yaml"]);
    place.write("cyan.toml", "[dialects.hot]\nnesting = 7\nresources = 7\n");
    let many = place.ends(0, &["validate", "t0.yaml"]);
    assert_eq!(codes(&many), ["too-large"]);
    let strict = place.ends(1, &["validate", "t0.yaml", "--strict"]);
    assert!(
        strict
            .err
            .contains("error[too-large]: the template has more than 7 resources"),
        "{}",
        strict.err
    );
    place.write(
        "cyan.toml",
        "[dialects.hot]\nnesting = 7\nresources = 8\ndocument-bytes = 20\n",
    );
    assert_eq!(codes(&place.ends(0, &["validate", "t0.yaml"])).len(), 8);
    for (wrong, said) in [
        (
            "nesting = 17",
            "`dialects.hot` wants a number from 1 to 16 for `nesting`",
        ),
        (
            "nestings = 7",
            "`dialects.hot` has no setting `nestings`; did you mean `nesting`?",
        ),
        (
            "yaql-format = 1",
            "`dialects.hot` wants true or false for `yaql-format`",
        ),
    ] {
        place.write("cyan.toml", format!("[dialects.hot]\n{wrong}\n"));
        let refused = place.run(&["validate", "t0.yaml"]);
        assert!(
            refused.code != 0 && refused.err.contains(said),
            "{}",
            refused.err
        );
    }
}

#[test]
fn a_thousand_resources_are_enough() {
    let template = |count: usize| {
        format!(
            "heat_template_version: 2018-08-31\nresources:\n  group:\n    type: OS::Heat::ResourceGroup\n    properties: \
             {{count: {count}, resource_def: {{type: \"OS::Heat::None\"}}}}\n"
        )
    };
    let place = Place::with("t.yaml", &template(999));
    assert_eq!(codes(&place.ends(0, &["validate"])), [""; 0]);
    place.write("t.yaml", template(1000));
    assert_eq!(codes(&place.ends(0, &["validate"])), ["too-large"]);
    assert_eq!(
        codes(&place.ends(0, &["stage", "-i", "web"])),
        ["too-large"]
    );
}

#[test]
fn limits_of_yaql_are_settings() {
    let template = |expression: &str| {
        format!(
            "heat_template_version: 2018-08-31\noutputs:\n  o: {{value: {{yaql: {{expression: \"{expression}\"}}}}}}\n"
        )
    };
    let place = Place::with("t.yaml", &template("range(300).toList().len()"));
    let value = || {
        let staged = place.ends(0, &["stage", "--json", "-i", "web", "t.yaml"]);
        let json: serde_json::Value = serde_json::from_str(&staged.out).unwrap();
        json["result"]["exports"].to_string()
    };
    assert!(!value().contains("300"), "{}", value());
    place.write("cyan.toml", "[dialects.hot]\nyaql-items = 300\n");
    assert!(value().contains("300"), "{}", value());
    place.write("t.yaml", template("'{0}-{b}'.format(1, b => 2)"));
    assert!(!value().contains("1-2"), "{}", value());
    place.write("cyan.toml", "[dialects.hot]\nyaql-format = true\n");
    assert!(value().contains("1-2"), "{}", value());
    place.write("t.yaml", template("range(100).sum()"));
    assert!(value().contains("4950"), "{}", value());
    place.write("cyan.toml", "[dialects.hot]\nyaql-steps = 50\n");
    assert!(!value().contains("4950"), "{}", value());
}

#[test]
fn a_template_in_json_is_json_in_whatever_file() {
    let text = |quoted: &str| {
        format!(
            "{{{quoted}heat_template_version{quoted}: \"2018-08-31\", \"outputs\": {{\"o\": {{\"value\": [1e3, {{\"a\": 1E-3}}]}}}}}}"
        )
    };
    let place = Place::with("t.yaml", &text("\""));
    place.write("t.json", text("\""));
    place.write("flow.yaml", text(""));
    let value = |file: &str| {
        let staged = place.ends(0, &["stage", "--json", "-i", "web", file]);
        let json: serde_json::Value = serde_json::from_str(&staged.out).unwrap();
        json["result"]["exports"][0]["after"].to_string()
    };
    assert_eq!(value("t.json"), r#"[1000.0,{"a":0.001}]"#);
    assert_eq!(value("t.yaml"), value("t.json"));
    // In YAML 1.1 these numbers are texts.
    assert_eq!(value("flow.yaml"), r#"["1e3",{"a":"1E-3"}]"#);
}

#[test]
fn registry_entry_with_an_unknown_type_is_ignored_if_another_applies() {
    let place = Place::with(
        "t.yaml",
        "heat_template_version: 2018-08-31\nresources: {a: {type: \"C::D\"}}\n",
    );
    place.write(
        "env.yaml",
        "resource_registry: {\"C::*\": \"OS::Nope\", \"C::D\": \"OS::Heat::None\"}\n",
    );
    place.ends(0, &["validate", "t.yaml", "-e", "env.yaml"]);
    place.write(
        "env.yaml",
        "resource_registry: {\"C::*\": \"OS::Heat::Nope\", \"C::D\": \"OS::Heat::None\"}\n",
    );
    place.ends(0, &["validate", "t.yaml", "-e", "env.yaml"]);
    place.write(
        "env.yaml",
        "resource_registry: {\"C::D\": \"OS::Heat::Nope\"}\n",
    );
    let unknown = place.ends(1, &["validate", "t.yaml", "-e", "env.yaml"]);
    assert_eq!(codes(&unknown), ["unknown-resource-type"]);
    assert!(unknown.err.contains("OS::Heat::Nope"), "{}", unknown.err);
}

#[test]
fn functions_of_templates_are_listed_and_explained() {
    let place = Place::new();
    let all = place.ends(0, &["functions"]).out;
    assert!(
        all.contains("substr")
            && all.contains("FUNCTION OF HOT")
            && all.contains("str_replace_vstrict"),
        "{all}"
    );
    let one = place.ends(0, &["functions", "list_join"]).out;
    assert!(
        one.starts_with("list_join  (dialect hot)\n") && one.contains("Since 2013-05-23"),
        "{one}"
    );
    // Some names are functions in both languages.
    let both = place.ends(0, &["functions", "filter"]).out;
    assert!(
        both.contains("filter(") && both.contains("filter  (dialect hot)"),
        "{both}"
    );
    let near = place.ends(2, &["functions", "list_jion"]);
    assert!(
        near.err.contains("did you mean `list_join`?"),
        "{}",
        near.err
    );
    let json = place.ends(0, &["functions", "get_attr", "--json"]).out;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (
            value["result"]["name"].as_str(),
            value["result"]["dialect"].as_str()
        ),
        (Some("get_attr"), Some("hot"))
    );
}
