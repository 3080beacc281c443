//! Tests of `validate` without a state: diagnostics, their texts, and the functions of `std`.

use serde_json::Value as Json;

use crate::place::Place;

/// Returns the codes of the errors and warnings that `validate` reports, in order.
fn codes(text: &str) -> Vec<String> {
    let place = Place::with("blueprint.yaml", text);
    let ran = place.run(&["validate", "--json"]);
    let said: Json = serde_json::from_str(&ran.out).unwrap();
    let all = said["diagnostics"].as_array().unwrap().iter();
    let loud = all.filter(|one| one["severity"] != "note");
    loud.map(|one| one["code"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns a document with one resource.
fn resource(text: &str) -> String {
    format!("version: 2023-04-20\nresources:\n  a: {{{text}}}\n")
}

#[test]
fn validate_finds_every_mistake_that_stage_finds_without_the_world() {
    for (text, expected) in [
        (
            "type: local/file, spec: {path: a, content: x, source: y}",
            "rejected-by-provider",
        ),
        ("type: local/file, spec: {path: a}", "rejected-by-provider"),
        (
            "type: std/template, spec: {template: x, source: y}",
            "rejected-by-provider",
        ),
        (
            "type: tls/self-signed-certificate, spec: {commonName: a, privateKeyPem: junk}",
            "rejected-by-provider",
        ),
        (
            "type: time/sleep, spec: {create: 5parsecs}",
            "value-constraint",
        ),
        (
            "type: time/sleep, spec: {create: \"${trim(' 5parsecs ')}\"}",
            "value-constraint",
        ),
        (
            "type: std/value, spec: {input: \"${substr('abc', 1, 9)}\"}",
            "argument-range",
        ),
    ] {
        assert_eq!(codes(&resource(text)), [expected], "{text}");
    }
    let beyond = "version: 2023-04-20\nresources:\n  a: {type: std/value, each: \"${list(1, 2)}\", spec: {input: \"${elem}\"}}\n  \
                  b: {type: std/value, spec: {input: \"${resources.a[5].spec.output}\"}}\n";
    assert_eq!(codes(beyond), ["index-out-of-range"]);
}

/// Values that are unknown before a deployment are no mistakes: missing inputs, files, computed
/// fields.
#[test]
fn values_known_only_to_the_world_are_accepted() {
    let text = "version: 2023-04-20\nvariables:\n  pem: {type: string}\n  names: {type: string}\nvalues:\n  \
                keys: {type: array, value: \"${split(variables.names, ',')}\"}\n  \
                lines: {type: array, value: \"${split(utf8(file(variables.names)), 'x')}\"}\nresources:\n  \
                a: {type: tls/self-signed-certificate, spec: {commonName: a, privateKeyPem: \"${variables.pem}\"}}\n  \
                b: {type: std/value, each: \"${values.keys}\", spec: {input: \"${elem}\"}}\n  \
                c: {type: std/value, each: \"${values.lines}\", spec: {input: \"${elem}\"}}\n  \
                d: {type: std/value, spec: {input: \"${b[7].spec.output}\"}}\n";
    assert_eq!(codes(text), Vec::<String>::new());
}

#[test]
fn one_mistake_gives_one_diagnostic() {
    let declared = "\nresources:\n  a: {type: std/value, spec: {input: 1}}\n";
    for (text, expected) in [
        (resource("tpye: std/value, spec: {input: 1}"), "unknown-key"),
        (
            resource("type: local/file, spec: {pth: a, content: b}"),
            "unknown-spec-field",
        ),
        (format!("verison: 2023-04-20{declared}"), "unknown-key"),
        (
            "version: 2023-04-20\nresource:\n  a: {type: std/value, spec: {input: 1}}\n".into(),
            "unknown-key",
        ),
        (
            format!(
                "version: 2023-04-20\nvariables:\n  v: {{type: integer, default: \"${{x}}\"}}{declared}"
            ),
            "substitution-not-allowed",
        ),
        (
            "\tversion: 2023-04-20\n".to_owned() + declared,
            "invalid-syntax",
        ),
        (
            "version: 2023-04-20\nresources:\n  a:\n    type: std/value\n\tspec:\n\t  input: 1\n"
                .into(),
            "invalid-syntax",
        ),
        (
            "version: 2023-04-20\nresources:\n  a: {type: std/value,\n\tspec: {input: 1}}\n".into(),
            "invalid-syntax",
        ),
        (
            resource("type: std/value, description: \"${list(1, 2)}\", spec: {input: 1}"),
            "type-mismatch",
        ),
    ] {
        assert_eq!(codes(&text), [expected], "{text}");
    }
}

#[test]
fn annotation_beside_annotations_is_moved_under_them() {
    let text = resource("type: std/value, metadata: {cyan.provider: north}, spec: {input: 1}");
    let place = Place::with("blueprint.yaml", &text);
    let refused = place.ends(1, &["validate", "blueprint.yaml"]).err;
    assert!(
        refused.contains("help: write it under `annotations`: `annotations: {cyan.provider: ...}`"),
        "{refused}"
    );
}

#[test]
fn link_names_the_real_mistake() {
    let text = |call: &str| {
        format!(
            "version: 2023-04-20\nresources:\n  a: {{type: std/value, each: \"${{list(1, 2)}}\", spec: {{input: \"${{elem}}\"}}}}\n  \
             b: {{type: std/value, spec: {{input: 1}}}}\n  c: {{type: std/value, spec: {{input: \"${{{call}}}\"}}}}\n"
        )
    };
    assert_eq!(codes(&text("link(a, b)")), ["missing-each-index"]);
    assert_eq!(codes(&text("link('a', 'b')")), ["missing-each-index"]);
    assert_eq!(codes(&text("link(a[0], b[0])")), ["index-on-single"]);
    assert_eq!(codes(&text("link(a[0], b)")), ["unknown-link"]);
}

#[test]
fn metadata_of_an_include_without_a_source_type_is_free() {
    let text = "version: 2023-04-20\ninclude:\n  k: {path: child.yaml, metadata: {owner: ops, level: 3}}\n";
    let place = Place::with("blueprint.yaml", text);
    place.write("child.yaml", resource("type: std/value, spec: {input: 1}"));
    place.ends(0, &["validate", "blueprint.yaml"]);
    place.ends(0, &["stage", "blueprint.yaml"]);
    place.write(
        "other.yaml",
        text.replace("owner: ops", "sourceType: nowhere"),
    );
    assert!(
        place
            .ends(1, &["validate", "other.yaml"])
            .err
            .contains("unknown-source-type")
    );
}

#[test]
fn operators_and_foreign_substitutions_are_reported_with_a_correction() {
    for (written, help) in [
        ("${1 + 2}", "write `add(a, b)`"),
        ("${variables.n - 2}", "write `subtract(a, b)`"),
        ("${variables.n * 2}", "write `multiply(a, b)`"),
        ("${variables.n / 2}", "write `divide(a, b)`"),
        ("${variables.n % 2}", "write `modulo(a, b)`"),
        ("${variables.n == 2}", "write `eq(a, b)`"),
        ("${variables.n >= 2}", "write `ge(a, b)`"),
        ("${variables.n ? 1 : 2}", "write `if(condition, a, b)`"),
        ("${!variables.n}", "write `not(a)`"),
        ("echo ${HOME}", "write `${\"${\"}HOME}`"),
        ("echo ${x:-y}", "write `${\"${\"}`"),
        ("echo ${x%.*}", "write `${\"${\"}`"),
        ("echo ${#x}", "write `${\"${\"}`"),
    ] {
        let text = format!(
            "version: 2023-04-20\nvariables:\n  n: {{type: integer}}\nresources:\n  a:\n    type: std/value\n    spec:\n      input: '{written}'\n"
        );
        let said = Place::with("blueprint.yaml", &text)
            .ends(1, &["validate"])
            .err;
        assert!(said.contains(help), "{written}\n{said}");
    }
}

#[test]
fn functions_of_std_work_at_every_stage() {
    let text = "version: 2023-04-20\nvariables:\n  n: {type: integer, default: 3}\nresources:\n  \
                a: {type: std/value, each: \"${range(variables.n)}\", spec: {input: \"${format('w-%02d', elem)}\"}}\n  \
                b: {type: std/value, spec: {input: \"${yamldecode(yamlencode(object(x = multiply(variables.n, 2)))).x}\"}}\nexports:\n  \
                b: {type: integer, field: resources.b.spec.output}\n";
    let place = Place::with("blueprint.yaml", text);
    for flags in [&["stage"][..], &["stage", "--simulate"]] {
        let said = place.ends(0, flags).out;
        assert!(
            said.contains("w-02") && said.contains("4 to create"),
            "{said}"
        );
    }
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.ends(0, &["exports", "b"]).out.trim(), "6");
    assert_eq!(
        place
            .ends(0, &["eval", "std_join(list(1, 2), '-')"])
            .out
            .trim(),
        "1-2"
    );
}

/// In a pipe, text output has all diagnostics, however many there are.
#[test]
fn a_pipe_gets_every_diagnostic() {
    let fields: String = (0..500).map(|at| format!("      field{at}: 1\n")).collect();
    let text = format!(
        "version: 2023-04-20\nresources:\n  a:\n    type: std/value\n    spec:\n      input: 1\n{fields}"
    );
    let place = Place::with("blueprint.yaml", &text);
    let said = place.ends(1, &["validate"]).err;
    assert_eq!(said.matches("error[unknown-spec-field]").count(), 500);
    assert!(said.contains("has 500 errors"), "{said}");
    place.ends(1, &["validate", "--all"]);
}

/// A group of ten million members is refused before it is expanded.
#[test]
fn groups_have_limits() {
    let group = |kind: &str, properties: &str| {
        format!(
            "heat_template_version: 2021-04-16\nresources:\n  g: {{type: 'OS::Heat::{kind}', properties: {properties}}}\n"
        )
    };
    let member = "{type: 'OS::Heat::Value', properties: {value: 1}}";
    for (kind, properties) in [
        (
            "ResourceGroup",
            format!("{{count: 10000000, resource_def: {member}}}"),
        ),
        (
            "AutoScalingGroup",
            format!(
                "{{min_size: 0, max_size: 90000000, desired_capacity: 10000000, resource: {member}}}"
            ),
        ),
    ] {
        let place = Place::with("t.yaml", &group(kind, &properties));
        let said = place.ends(1, &["validate", "--simulate"]).err;
        assert!(
            said.contains("a group may have at most 10000 members, not 10000000"),
            "{said}"
        );
        place.ends(1, &["stage", "--simulate"]);
    }
    let inner = format!(
        "{{type: 'OS::Heat::ResourceGroup', properties: {{count: 6000, resource_def: {member}}}}}"
    );
    let place = Place::with(
        "t.yaml",
        &group(
            "ResourceGroup",
            &format!("{{count: 30, resource_def: {inner}}}"),
        ),
    );
    let said = place.ends(1, &["validate", "--simulate"]).err;
    assert!(
        said.contains(
            "all groups and included documents together may have at most 100000 resources"
        ),
        "{said}"
    );
}

/// Too many members of `each` are refused too: in one resource, and in all resources together,
/// including those of children.
#[test]
fn each_has_limits() {
    let each = |name: &str, list: &str| {
        format!(
            "  {name}: {{type: test/data, each: \"${{{list}}}\", spec: {{input: \"${{elem}}\"}}}}\n"
        )
    };
    let head = "version: 2023-04-20\nresources:\n";
    let refused = |place: &Place, file: &str, message: &str, at: &str| {
        for command in ["validate", "stage"] {
            let said = place.ends(1, &[command]).err;
            assert_eq!(said.matches("error[value-constraint]").count(), 1, "{said}");
            assert!(
                said.contains(&format!("error[value-constraint]: {message}")),
                "{said}"
            );
            assert!(
                said.contains(&format!(" --> {file}:")) && said.contains(at),
                "{said}"
            );
        }
    };
    let wide = format!("flatten(list({}))", ["range(60000)"; 2].join(", "));
    let place = Place::with("blueprint.yaml", &format!("{head}{}", each("a", &wide)));
    refused(
        &place,
        "blueprint.yaml",
        "`each` may have at most 100000 items, not 120000",
        &wide,
    );
    let two = format!(
        "{head}{}{}{}",
        each("a", "range(60000)"),
        each("b", "range(50000)"),
        each("c", "list(1)")
    );
    let together = "all resources with `each` together may have at most 100000 members";
    place.write("blueprint.yaml", two);
    refused(&place, "blueprint.yaml", together, "b: {type");
    let children: String = (0..11)
        .map(|number| format!("  c{number}: {{path: child.yaml}}\n"))
        .collect();
    place.write(
        "blueprint.yaml",
        format!("version: 2023-04-20\nresources: {{}}\ninclude:\n{children}"),
    );
    place.write("child.yaml", format!("{head}{}", each("a", "range(10000)")));
    refused(&place, "child.yaml", together, "a: {type");
}

#[test]
fn catalogues_are_taken_by_every_command_that_changes_nothing() {
    let place = Place::with(
        "blueprint.yaml",
        &resource("type: shop/rack, spec: {name: x}"),
    );
    let catalog = r#"{"format": 1, "namespace": "shop", "resourceTypes": {"shop/rack": {"fields": {"name": {"kind": "string"}}}}}"#;
    place.write("shop.json", catalog);
    for command in [
        &["graph"][..],
        &["schema"],
        &["eval", "1"],
        &["types"],
        &["functions"],
        &["validate"],
        &["stage"],
    ] {
        place.ends(0, &[command, &["--catalog", "shop.json"]].concat());
    }
    let schema = place.ends(0, &["schema", "--catalog", "shop.json"]).out;
    assert!(schema.contains("resource:shop/rack"));
}

/// A rehearsed update shows that computed fields that depend on changed fields will change.
#[test]
fn a_computed_field_that_follows_a_change_is_planned_as_changed() {
    let text = "version: 2023-04-20\nresources:\n  a: {type: shop/rack, spec: {name: x}}\n  \
                b: {type: shop/rack, spec: {name: \"${a.spec.url}\"}}\n  c: {type: shop/rack, spec: {name: \"${a.spec.code}\"}}\n";
    let place = Place::with("blueprint.yaml", text);
    let catalog = r#"{"format": 1, "namespace": "shop", "resourceTypes": {"shop/rack": {"fields": {
        "name": {"kind": "string"},
        "code": {"kind": "string", "computed": true, "value": "c-{hash}"},
        "url": {"kind": "string", "computed": true, "value": "https://{spec.name}/"}}}}}"#;
    place.write("shop.json", catalog);
    let flags = ["--simulate", "--catalog", "shop.json"];
    place.ends(0, &[&["deploy", "--yes"][..], &flags].concat());
    place.write("blueprint.yaml", text.replace("name: x", "name: y"));
    let said = place.ends(0, &[&["stage"][..], &flags].concat()).out;
    assert!(
        said.contains("0 to create, 2 to update, 0 to delete"),
        "{said}"
    );
    place.ends(0, &[&["deploy", "--yes"][..], &flags].concat());
    let said = place.ends(0, &[&["stage"][..], &flags].concat()).out;
    assert!(
        !said.contains("to update") || said.contains("0 to update"),
        "{said}"
    );
}

/// `validate` of a template accepts what `stage` accepts.
#[test]
fn validate_accepts_templates_that_stage_accepts() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hot/cases");
    let mut differ = Vec::new();
    let mut tried = 0;
    let mut cases: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    for path in cases {
        let alone = path.extension().is_some_and(|it| it == "yaml")
            && !path.with_extension("params.json").exists();
        if !alone || !path.with_extension("expected.json").exists() || tried >= 40 {
            continue;
        }
        tried += 1;
        let place = Place::with("t.yaml", &std::fs::read_to_string(&path).unwrap());
        let staged = place.run(&["stage", "--simulate"]).code == 0;
        if staged && place.run(&["validate", "--simulate"]).code != 0 {
            differ.push(path.display().to_string());
        }
    }
    assert!(tried >= 20 && differ.is_empty(), "{tried}: {differ:?}");
}
