//! Templates that are not in the conformance pack. The expected answer of each row is the answer of
//! Heat.

use std::path::Path;
use std::sync::Arc;

use blueprint::{IndexMap, Name, Value};
use engine::{Given, Options};
use testkit::harness::{Harness, run_with_paused_clock, settings};

/// The result of a deploy: the outputs, or the codes of errors.
type DeployResult = Result<IndexMap<Name, Value>, Vec<String>>;

const PART: &str = "heat_template_version: 2018-08-31\nparameters:\n  n: {type: string, default: usual}\n  \
    m: {type: number, default: 7}\nresources: {x: {type: OS::Heat::TestResource, properties: {value: {get_param: n}}}}\n\
    outputs: {n: {value: {get_param: n}}, m: {value: {get_param: m}}, five: {value: 5}, x: {value: {get_attr: [x, output]}}}\n";
const IMMUTABLE_CHILD: &str = "heat_template_version: 2018-08-31\nparameters: {n: {type: string, default: usual, immutable: true}}\n";
const IMMUTABLE_CHILD_OTHER_DEFAULT: &str = "heat_template_version: 2018-08-31\nparameters: {n: {type: string, default: other, immutable: true}}\n";
const CHILD_WITH_REQUIRED_INPUT: &str =
    "heat_template_version: 2018-08-31\nparameters: {n: {type: string}}\n";
const CHILD_WITH_DELETION_POLICY: &str = "heat_template_version: 2018-08-31\nparameters: {end: {type: string}}\n\
    resources: {x: {type: OS::Heat::TestResource, deletion_policy: {get_param: end}}}\n";
const CHILD_WITH_BLOCK_AT_END: &str = "\n \t\nheat_template_version: 2018-08-31\noutputs:\n  o:\n    value: |\n      #!/bin/sh\n      x\n\n \t\u{a0}\n";
const FILES: [(&str, &str); 7] = [
    ("part.yaml", PART),
    (
        "plain.yaml",
        "heat_template_version: 2018-08-31\nparameters: {n: {type: string, default: usual}}\n",
    ),
    ("kept.yaml", IMMUTABLE_CHILD),
    ("otherwise.yaml", IMMUTABLE_CHILD_OTHER_DEFAULT),
    ("needs.yaml", CHILD_WITH_REQUIRED_INPUT),
    ("ends.yaml", CHILD_WITH_DELETION_POLICY),
    ("block.yaml", CHILD_WITH_BLOCK_AT_END),
];

/// Deploys templates one after the other.
fn deploy_all(texts: &[&str]) -> Vec<DeployResult> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    run_with_paused_clock(run_steps(folder.path(), texts))
}

async fn run_steps(folder: &Path, texts: &[&str]) -> Vec<DeployResult> {
    let harness = Harness::with(
        folder.to_owned(),
        Vec::new(),
        vec![Arc::new(openstack::heat::provider())],
    );
    let mut all = Vec::new();
    for text in texts {
        let text = format!("heat_template_version: wallaby\nconditions: {{never: false}}\n{text}");
        let stage = harness
            .stage("main.yaml", &text, Given::default(), Options::default())
            .await;
        all.push(match stage.staged {
            Some(staged) => {
                harness
                    .run(staged, false, Vec::new(), settings(None, false))
                    .await;
                Ok(harness.snapshot().await.exports)
            }
            None => {
                let errors = stage.diagnostics.iter().filter(|one| one.is_error());
                Err(errors
                    .map(|one| one.code.name.to_owned())
                    .filter(|code| code != "child-failed")
                    .collect())
            }
        });
    }
    all
}

/// Compares the output `o` of each template with Heat's, in Python's JSON.
fn assert_outputs(rows: &[(&str, &str)]) {
    for (text, wanted) in rows {
        let came = deploy_all(&[text])
            .remove(0)
            .unwrap_or_else(|codes| panic!("{text}\n{codes:?}"));
        assert_eq!(pycompat::json(&came["o"].revealed()), *wanted, "{text}");
    }
}

/// Checks that each template is refused with a code, or accepted where the code is empty.
fn assert_refused(rows: &[(&str, &str)]) {
    for (text, code) in rows {
        let came = deploy_all(&[text]).remove(0);
        let codes = came.err().unwrap_or_default();
        let fits = if code.is_empty() {
            codes.is_empty()
        } else {
            codes.iter().any(|one| one == code)
        };
        assert!(fits, "{text}\n{codes:?} where {code:?} is meant");
    }
}

#[test]
fn omitted_single_argument_is_null() {
    let rows = [
        (r#"{list_join: [",", {if: [never, [a]]}]}"#, r#""""#),
        (
            r#"{list_join: [",", [x], {if: [never, [a]]}, [y, {if: [never, z]}]]}"#,
            r#""x,y""#,
        ),
        ("{filter: [{if: [never, [1]]}, [1, 2]]}", "[1, 2]"),
        ("{filter: [[1], {if: [never, [1]]}]}", "null"),
        ("{contains: [{if: [never, 1]}, [1, null]]}", "true"),
        (
            "{yaql: {expression: $.data, data: {if: [never, 1]}}}",
            "null",
        ),
        (
            "{yaql: {expression: $.data, data: {a: {if: [never, 1]}, b: [{if: [never, 1]}, 2]}}}",
            r#"{"b": [2]}"#,
        ),
        (
            "{repeat: {template: {if: [never, x]}, for_each: {x: [a, b]}}}",
            "[null, null]",
        ),
        // These functions take a list of arguments: an omitted one is left out.
        (
            "{map_merge: [{a: 1}, {if: [never, {b: 2}]}]}",
            r#"{"a": 1}"#,
        ),
        (
            r#"{str_split: [",", "a,b", {if: [never, 1]}]}"#,
            r#"["a", "b"]"#,
        ),
        (
            "{make_url: {scheme: http, host: h, port: {if: [never, 80]}}}",
            r#""http://h""#,
        ),
    ];
    let rows: Vec<(String, &str)> = rows
        .iter()
        .map(|(call, wanted)| (format!("outputs: {{o: {{value: {call}}}}}\n"), *wanted))
        .collect();
    assert_outputs(
        &rows
            .iter()
            .map(|(text, wanted)| (text.as_str(), *wanted))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn an_omitted_step_drops_out_of_a_path() {
    let parameter =
        "parameters: {j: {type: json, default: {a: {b: [1, 2]}}}}\noutputs: {o: {value: ";
    let attribute = "resources: {box: {type: OS::Heat::Value, properties: {value: {size: [3, 4]}}}}\noutputs: {o: {value: ";
    let rows = [
        (
            format!(
                "{parameter}{{get_param: [j, a, {{if: [never, x]}}, b, {{if: [never, 0]}}]}}}}}}\n"
            ),
            "[1, 2]",
        ),
        (
            format!("{parameter}{{get_param: [j, {{if: [never, x]}}]}}}}}}\n"),
            r#"{"a": {"b": [1, 2]}}"#,
        ),
        (
            format!("{attribute}{{get_attr: [box, value, {{if: [never, a]}}, size, 1]}}}}}}\n"),
            "4",
        ),
    ];
    assert_outputs(
        &rows
            .iter()
            .map(|(text, wanted)| (text.as_str(), *wanted))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn omitted_property_is_not_passed_to_a_template() {
    assert_outputs(&[
        (
            "resources: {p: {type: part.yaml, properties: {n: {if: [never, 1]}, m: {if: [never, 3]}}}}\n\
             outputs: {o: {value: [{get_attr: [p, n]}, {get_attr: [p, m]}]}}\n",
            r#"["usual", 7]"#,
        ),
        (
            "resources: {g: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: \
             {type: part.yaml, properties: {n: {if: [never, 1]}}}}}}\noutputs: {o: {value: {get_attr: [g, n]}}}\n",
            r#"["usual", "usual"]"#,
        ),
        (
            "resources: {g: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: OS::Heat::Value, \
             properties: {value: [{a: {if: [never, 1]}, b: {if: [{not: never}, {if: [never, 4]}]}}, {if: [never, 2, 5]}]}}}}}\n\
             outputs: {o: {value: {get_attr: [g, value]}}}\n",
            "[[{}, 5]]",
        ),
    ]);
    assert_refused(&[(
        "resources: {p: {type: needs.yaml, properties: {n: {if: [never, 1]}}}}\n",
        "missing-spec-field",
    )]);
}

#[test]
fn members_follow_their_computed_definition() {
    let group = |parameters: &str, definition: &str, attribute: &str| {
        format!(
            "parameters: {{{parameters}}}\nresources: {{g: {{type: OS::Heat::ResourceGroup, properties: {{count: 2, \
             resource_def: {definition}}}}}}}\noutputs: {{o: {{value: {{get_attr: [g, {attribute}]}}}}}}\n"
        )
    };
    let value =
        r#"d: {type: json, default: {type: OS::Heat::Value, properties: {value: "x%index%"}}}"#;
    let properties = r#"d: {type: json, default: {n: "z%index%"}}"#;
    let kind = "d: {type: string, default: OS::Heat::ResourceGroup}";
    let inner = r#"{type: {get_param: d}, properties: {count: 2, index_var: "%i_%", resource_def: {type: OS::Heat::Value,
        properties: {value: "%index%-%i_%"}}}}"#;
    let rows = [
        (group(value, "{get_param: d}", "value"), r#"["x0", "x1"]"#),
        (group(properties, "{type: part.yaml, properties: {get_param: d}}", "n"), r#"["z0", "z1"]"#),
        (group(properties, "{type: part.yaml, properties: {get_param: d}}", "m"), "[7, 7]"),
        (group(kind, inner, "attributes, value"), r#"{"0": ["0-0", "0-1"], "1": ["1-0", "1-1"]}"#),
        (
            "parameters: {d: {type: json, default: {n: q}}}\nresources: {g: {type: OS::Heat::ResourceChain, properties: \
             {resources: [part.yaml, part.yaml], resource_properties: {get_param: d}}}}\noutputs: {o: {value: {get_attr: [g, n]}}}\n"
                .to_owned(),
            r#"["q", "q"]"#,
        ),
        (
            "resources: {g: {type: OS::Heat::ResourceChain, properties: {resources: [OS::Heat::TestResource], \
             resource_properties: null}}}\noutputs: {o: {value: {get_attr: [g, output]}}}\n"
                .to_owned(),
            r#"["test_string"]"#,
        ),
    ];
    assert_outputs(
        &rows
            .iter()
            .map(|(text, wanted)| (text.as_str(), *wanted))
            .collect::<Vec<_>>(),
    );
    let missing = "d: {type: string, default: No::Such}";
    let rows = [
        (
            group(missing, "{type: {get_param: d}}", "value"),
            "unknown-resource-type",
        ),
        (
            group(
                "d: {type: number, default: 4}",
                "{type: {get_param: d}}",
                "value",
            ),
            "unknown-resource-type",
        ),
        (
            group(
                "d: {type: json, default: {}}",
                "{type: {get_param: [d, a]}}",
                "value",
            ),
            "missing-field",
        ),
        (
            group(
                "d: {type: json, default: {a: null}}",
                "{type: {get_param: [d, a]}}",
                "value",
            ),
            "missing-field",
        ),
        (
            group(
                "d: {type: json, default: {extra: 1}}",
                "{get_param: d}",
                "value",
            ),
            "unknown-spec-field",
        ),
        (
            group(
                "d: {type: json, default: {no: 1}}",
                "{type: OS::Heat::TestResource, properties: {get_param: d}}",
                "value",
            ),
            "unknown-spec-field",
        ),
        // The type of an empty group is not checked.
        (
            group(missing, "{type: {get_param: d}}", "value").replace("count: 2", "count: 0"),
            "",
        ),
    ];
    assert_refused(
        &rows
            .iter()
            .map(|(text, code)| (text.as_str(), *code))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn policies_are_checked_of_groups_templates_and_members() {
    let group = |said: &str| {
        format!(
            "resources: {{g: {{type: OS::Heat::ResourceGroup, {said}, properties: {{count: 1, resource_def: {{type: OS::Heat::None}}}}}}}}\n"
        )
    };
    let member = |said: &str| {
        format!(
            "resources: {{g: {{type: OS::Heat::AutoScalingGroup, properties: {{min_size: 1, max_size: 1, resource: \
             {{type: OS::Heat::TestResource, {said}}}}}}}}}\n"
        )
    };
    let computed = |default: &str, more: &str| {
        format!(
            "parameters: {{e: {{type: json, default: {{a: {default}}}}}}}\nresources: {{b: {{type: OS::Heat::TestResource, \
             {more} deletion_policy: {{get_param: [e, a]}}}}}}\n"
        )
    };
    let rows = [
        (group("update_policy: {rolling: {}}"), "unknown-spec-field"),
        (
            group("update_policy: {rolling_update: {size: 1}}"),
            "unknown-spec-field",
        ),
        (
            group("update_policy: {batch_create: {pause_time: soon}}"),
            "type-mismatch",
        ),
        (
            group("update_policy: {rolling_update: {min_in_service: -1}}"),
            "value-constraint",
        ),
        (
            group(
                r#"update_policy: {rolling_update: {max_batch_size: 1.7, min_in_service: "2", pause_time: "0.5"}}"#,
            ),
            "",
        ),
        (
            group("update_policy: {rolling_update: null, batch_create: {max_batch_size: null}}"),
            "",
        ),
        (group("condition: never, update_policy: {x: 1}"), ""),
        (
            group("deletion_policy: snapshot"),
            "invalid-deletion-policy",
        ),
        (group("condition: never, deletion_policy: Snapshot"), ""),
        (
            "resources: {p: {type: part.yaml, update_policy: {rolling_update: {}}}}\n".to_owned(),
            "unknown-spec-field",
        ),
        (
            "resources: {p: {type: part.yaml, deletion_policy: Snapshot}}\n".to_owned(),
            "invalid-deletion-policy",
        ),
        (
            "resources: {p: {type: ends.yaml, properties: {end: Forever}}}\n".to_owned(),
            "invalid-deletion-policy",
        ),
        (
            "resources: {p: {type: ends.yaml, properties: {end: retain}}}\n".to_owned(),
            "",
        ),
        (
            "resources: {p: {type: ends.yaml, properties: {end: none}}}\n".to_owned(),
            "invalid-deletion-policy",
        ),
        (
            member("deletion_policy: Snapshot"),
            "invalid-deletion-policy",
        ),
        (member("deletion_policy: Nope"), "invalid-deletion-policy"),
        (member("update_policy: {b: 1}"), "unknown-spec-field"),
        (computed("retain", ""), ""),
        (computed("null", ""), ""),
        (computed("5", ""), "invalid-deletion-policy"),
        // Heat checks the deletion policy even if the condition is false.
        (
            computed("Bad", "condition: never,"),
            "invalid-deletion-policy",
        ),
    ];
    assert_refused(
        &rows
            .iter()
            .map(|(text, code)| (text.as_str(), *code))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn any_read_of_a_child_can_form_a_cycle() {
    assert_refused(&[
        (
            "resources:\n  p: {type: part.yaml, properties: {n: {get_resource: b}}}\n  \
             b: {type: OS::Heat::Value, properties: {value: {get_attr: [p, five]}}}\n",
            "cycle",
        ),
        (
            "resources: {p: {type: part.yaml, properties: {n: {get_attr: [p, five]}}}}\n",
            "self-reference",
        ),
        (
            "resources:\n  g: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: OS::Heat::Value, \
             properties: {value: {get_attr: [b, value]}}}}}\n  b: {type: OS::Heat::Value, properties: {value: {get_attr: [g, refs_map]}}}\n",
            "cycle",
        ),
        (
            "resources:\n  a: {type: OS::Heat::TestResource, properties: {value: {get_attr: [b, show]}}}\n  \
             b: {type: OS::Heat::TestResource, depends_on: a}\n",
            "cycle",
        ),
        (
            "resources: {a: {type: part.yaml}, b: {type: part.yaml, properties: {n: {get_attr: [a, five]}}}}\n",
            "",
        ),
    ]);
}

#[test]
fn attribute_of_an_absent_resource_is_refused_in_outputs() {
    let rows = [
        ("{get_attr: [a, value]}", "unknown-resource"),
        (
            "[1, {list_join: [x, [{get_attr: [a, value]}]]}]",
            "unknown-resource",
        ),
        (
            "{if: [never, 3, {get_attr: [a, value]}]}",
            "unknown-resource",
        ),
        ("{get_attr: [{get_param: n}, value]}", "unknown-resource"),
        ("{get_attr: [a]}", "unknown-resource"),
        ("{get_attr: [a, show]}", "unknown-resource"),
        ("{get_attr: [g, refs]}", "unknown-resource"),
        ("{get_attr: [g, show]}", "unknown-resource"),
        ("{if: [never, {get_attr: [a, value]}, 3]}", ""),
        // An unknown name fails only the output.
        ("{get_resource: a}", ""),
    ];
    for (value, code) in rows {
        let text = format!(
            "parameters: {{n: {{type: string, default: a}}}}\nresources:\n  a: {{type: OS::Heat::Value, condition: never, \
             properties: {{value: 1}}}}\n  g: {{type: OS::Heat::ResourceGroup, condition: never, properties: {{resource_def: \
             {{type: OS::Heat::None}}}}}}\noutputs: {{o: {{value: {value}}}}}\n"
        );
        assert_refused(&[(text.as_str(), code)]);
        let switched_off = text.replace("value: {", "condition: never, value: {");
        if value.starts_with('{') {
            assert_refused(&[(switched_off.as_str(), "")]);
        }
    }
}

#[test]
fn external_resource_may_read_others_but_not_depend_on_them() {
    // An external resource exists before the resources that it reads, so this is no cycle.
    assert_outputs(&[(
        "resources:\n  a: {type: OS::Heat::TestResource, properties: {value: {get_resource: b}}}\n  \
         b: {type: OS::Heat::None, external_id: x, properties: {q: {get_attr: [a, output]}}}\n\
         outputs: {o: {value: {get_attr: [a, output]}}}\n",
        r#""x""#,
    )]);
    assert_refused(&[
        (
            "resources:\n  a: {type: OS::Heat::TestResource}\n  b: {type: OS::Heat::None, external_id: x, \
             metadata: {m: {get_attr: [a, output]}}, properties: {q: {get_resource: a}}}\n",
            "",
        ),
        (
            "resources: {b: {type: OS::Heat::None, external_id: x, depends_on: []}}\n",
            "",
        ),
        (
            "resources: {a: {type: OS::Heat::TestResource}, b: {type: OS::Heat::None, external_id: x, depends_on: a}}\n",
            "external-dependency",
        ),
        (
            "resources: {a: {type: OS::Heat::TestResource, condition: never}, b: {type: OS::Heat::None, external_id: x, depends_on: a}}\n",
            "external-dependency",
        ),
        // Nothing is made from its properties, so none is required.
        (
            "resources: {b: {type: OS::Heat::SoftwareComponent, external_id: x}}\n",
            "",
        ),
        (
            "resources: {b: {type: OS::Heat::SoftwareComponent}}\n",
            "missing-spec-field",
        ),
    ]);
}

#[test]
fn child_keeps_the_value_of_an_immutable_parameter() {
    let part = |file: &str, given: &str| {
        format!("resources: {{p: {{type: {file}, properties: {{{given}}}}}}}\n")
    };
    let rows = [
        (part("kept.yaml", "n: a"), part("kept.yaml", "n: a"), true),
        (part("kept.yaml", "n: a"), part("kept.yaml", "n: b"), false),
        // The new document decides. A default value counts like a written value.
        (part("plain.yaml", "n: a"), part("kept.yaml", "n: b"), false),
        (part("plain.yaml", "n: a"), part("kept.yaml", "n: a"), true),
        (part("plain.yaml", ""), part("otherwise.yaml", ""), false),
        (part("kept.yaml", "n: a"), part("kept.yaml", ""), false),
        (part("kept.yaml", "n: a"), part("plain.yaml", "n: b"), true),
    ];
    for (first, second, taken) in rows {
        let all = deploy_all(&[&first, &second]);
        assert!(all[0].is_ok(), "{all:?}");
        let codes = all[1].as_ref().err().cloned().unwrap_or_default();
        assert_eq!(codes.is_empty(), taken, "{first}{second}{codes:?}");
        assert!(taken || codes == ["immutable-changed"], "{codes:?}");
    }
}

#[test]
fn null_is_replaced_before_the_check() {
    let scaling = |sizes: &str| {
        format!(
            "resources: {{f: {{type: OS::Heat::AutoScalingGroup, properties: {{{sizes}, resource: {{type: OS::Heat::None}}}}}}}}\n\
             outputs: {{o: {{value: {{get_attr: [f, current_size]}}}}}}\n"
        )
    };
    let random = |said: &str| {
        format!("resources: {{f: {{type: OS::Heat::RandomString, properties: {{{said}}}}}}}\n")
    };
    let rows = [
        (scaling("min_size: 1, max_size: null"), "value-constraint"),
        (scaling("min_size: 1, max_size: 2, desired_capacity: null"), "value-constraint"),
        (scaling("min_size: 1, max_size: 2, desired_capacity: 0"), "value-constraint"),
        (scaling("min_size: null, max_size: 2"), ""),
        (scaling("min_size: 0, max_size: 2, desired_capacity: null"), ""),
        (random("length: null"), ""),
        (random("length: 9, sequence: null"), "value-not-allowed"),
        (random("character_classes: [{class: null}]"), ""),
        ("resources: {f: {type: OS::Heat::Delay, properties: {actions: [null]}}}\n".to_owned(), "value-not-allowed"),
        ("resources: {f: {type: OS::Heat::Delay, properties: {actions: null, min_wait: null}}}\n".to_owned(), ""),
        ("resources: {f: {type: OS::Heat::SoftwareConfig, properties: {inputs: [null]}}}\n".to_owned(), "missing-spec-field"),
        ("resources: {f: {type: OS::Heat::SoftwareComponent, properties: {configs: [null]}}}\n".to_owned(), "missing-spec-field"),
        (
            "resources: {f: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: null}}}\n".to_owned(),
            "missing-spec-field",
        ),
        (
            "resources: {f: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: OS::Heat::TestResource, \
             properties: null, metadata: null}}}}\n"
                .to_owned(),
            "",
        ),
    ];
    assert_refused(
        &rows
            .iter()
            .map(|(text, code)| (text.as_str(), *code))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn missing_member_fails_only_in_a_group_with_others() {
    let text = |count: u8| {
        format!(
            "resources: {{g: {{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: {{type: OS::Heat::Value, \
             properties: {{value: 3}}}}}}}}}}\noutputs: {{o: {{value: {{get_attr: [g, resource.1, value]}}}}}}\n"
        )
    };
    assert_outputs(&[(&text(2), "3"), (&text(1), "null"), (&text(0), "null")]);
    let shown = "resources: {g: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: OS::Heat::TestResource}}}}\n\
                 outputs: {o: {value: {get_attr: [g, show]}}}\n";
    assert_outputs(&[(shown, "[null, null]")]);
    assert_refused(&[(
        "resources: {g: {type: OS::Heat::ResourceChain, properties: {resources: [OS::Heat::TestResource]}}, \
         v: {type: OS::Heat::Value, properties: {value: {get_attr: [g, resource.1.output]}}}}\n",
        "unknown-field",
    )]);
}

#[test]
fn nan_is_read_back_as_planned() {
    let text = |value: &str| {
        format!(
            "resources: {{a: {{type: OS::Heat::Value, properties: {{value: {value}}}}}, b: {{type: OS::Heat::Value, properties: \
             {{value: {{get_attr: [a, value]}}}}}}}}\noutputs: {{o: {{value: {{get_attr: [b, value]}}}}}}\n"
        )
    };
    assert_outputs(&[(
        &text("[.inf, -.inf, {a: .nan}]"),
        r#"[Infinity, -Infinity, {"a": NaN}]"#,
    )]);
    let all = deploy_all(&[&text(".nan"), &text(".nan"), &text("5")]);
    assert_eq!(all[2].as_ref().unwrap()["o"], Value::Int(5), "{all:?}");
}

#[test]
fn the_text_of_a_template_is_stripped_as_by_the_client() {
    let long = "k".repeat(1100);
    for (text, wanted) in [
        (
            "outputs:\n  o:\n    value: |\n      a\n      b\n",
            "\"a\\nb\"",
        ),
        ("outputs:\n  o:\n    value: |+\n      a\n\n\n", "\"a\""),
        (
            "outputs:\n  o:\n    value: >\n      a\n      b\n \n",
            "\"a b\"",
        ),
        // A block that is not the end of the file keeps its line break.
        ("outputs:\n  o:\n    value: |\n      a\n# end\n", "\"a\\n\""),
        (
            "outputs:\n  o: {value: {get_attr: [c, o]}}\nresources:\n  c: {type: block.yaml}\n",
            "\"#!/bin/sh\\nx\"",
        ),
        // The engine parses a template that is written out in another one: it strips nothing.
        (
            "resources:\n  c:\n    type: OS::Heat::Stack\n    properties:\n      \
             template: |\n        heat_template_version: 2018-08-31\n        outputs:\n          o:\n            value: |\n              a\noutputs: {o: {value: {get_attr: [c, outputs, o]}}}\n",
            "\"a\\n\"",
        ),
    ] {
        assert_outputs(&[(text, wanted)]);
    }
    let json = format!(
        "{{\"heat_template_version\": \"2018-08-31\", \"outputs\": {{\"o\": {{\"value\": {{\"{long}\": 1}}}}}}}}"
    );
    assert_eq!(codes_of_whole(&json), [""; 0], "keys of JSON have no limit");
    let yaml =
        format!("heat_template_version: 2018-08-31\noutputs: {{o: {{value: {{{long}: 1}}}}}}");
    assert_eq!(codes_of_whole(&yaml), ["invalid-syntax"]);
}

#[test]
fn templates_and_environments_are_read_as_libyaml_reads_them() {
    for (value, wanted) in [
        ("{\n\ta: 1,\n\tb: 2 }", r#"{"a": 1, "b": 2}"#),
        ("[\n\t\"x\",\n\t\"y\"\n]", r#"["x", "y"]"#),
        ("\"one\n\ttwo\"", r#""one two""#),
        ("\"one\ntwo\"", r#""one two""#),
        ("\"a\u{85} b\"", r#""a b""#),
        ("\"a\u{2028} b\"", r#""a\u2028b""#),
        ("|#c\n      a\n      b\n#", r#""a\nb\n""#),
        ("{=: 1}", r#"{"=": 1}"#),
        ("&x [{a: &y 1}, *y]", r#"[{"a": 1}, 1]"#),
    ] {
        assert_outputs(&[(&format!("outputs:\n  o:\n    value: {value}\n"), wanted)]);
    }
    for value in ["1\n\t\n", "[&x 1, &x 2]", "=", "*x"] {
        let text = format!(
            "heat_template_version: 2018-08-31\noutputs:\n  o:\n    value: {value}\n# end\n"
        );
        assert_eq!(codes_of_whole(&text), ["invalid-syntax"], "{text}");
    }
    let context = testkit::harness::heat_environment(
        "main.yaml",
        "heat_template_version: 2018-08-31\n",
        "env.yaml",
        "parameter_defaults: {\n\tp: 'a\nb' }\n",
    );
    let shown = format!("{:?}", context.dialect_context);
    assert!(shown.contains("a b"), "{shown}");
}

/// The codes of the errors in a template, by its whole text.
fn codes_of_whole(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    run_with_paused_clock(async {
        let providers: Vec<Arc<dyn provider::Provider>> =
            vec![Arc::new(openstack::heat::provider())];
        let harness = Harness::with(folder.path().to_owned(), Vec::new(), providers);
        let stage = harness
            .stage("main.yaml", text, Given::default(), Options::default())
            .await;
        let errors = stage.diagnostics.iter().filter(|one| one.is_error());
        errors.map(|one| one.code.name.to_owned()).collect()
    })
}
