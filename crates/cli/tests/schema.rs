//! Tests of `cyan schema`: valid documents match its JSON Schema, and documents with mistakes do
//! not.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use syntax::{Content, Node, Style};

fn schema(flags: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_cyan"))
        .arg("schema")
        .args(flags)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Converts a document as an editor does, with scalars by the core schema of YAML 1.2.
fn data(node: &Node) -> Value {
    match &node.content {
        Content::Map(entries) => {
            let entries = entries.iter().map(|entry| {
                (
                    entry.key.text().unwrap_or_default().to_owned(),
                    data(&entry.value),
                )
            });
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Content::List(items) => Value::Array(items.iter().map(data).collect()),
        Content::Scalar(scalar) if scalar.style.is_text() => json!(*scalar.text),
        Content::Scalar(scalar) => match &*scalar.text {
            "true" | "True" | "TRUE" => json!(true),
            "false" | "False" | "FALSE" => json!(false),
            "null" | "~" | "" => Value::Null,
            text if scalar.style == Style::JsonNumber
                || text.starts_with(|one: char| one.is_ascii_digit() || one == '-') =>
            {
                let number = text.parse::<i64>().ok().map(Value::from);
                number
                    .or_else(|| text.parse::<f64>().ok().map(Value::from))
                    .unwrap_or_else(|| json!(text))
            }
            text => json!(text),
        },
        Content::Missing => Value::Null,
    }
}

fn document(name: &str, text: &str) -> Value {
    let (tree, found) = syntax::parse(diag::FileId::new(0), text, syntax::Format::of_name(name));
    assert!(!found.has_errors(), "{name}");
    data(&tree.root.unwrap())
}

fn files_under(folder: &str) -> Vec<PathBuf> {
    let mut open = vec![
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(folder),
    ];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_schema_is_valid_and_has_descriptions() {
    let schema = schema(&["--all"]);
    jsonschema::meta::validate(&schema).unwrap();
    let file = &schema["$defs"]["resource:local/file"];
    assert_eq!(file["required"], json!(["path"]));
    assert!(
        file["properties"]["content"]["description"]
            .as_str()
            .is_some_and(|docs| !docs.is_empty()),
        "{file}"
    );
    assert_eq!(
        file["properties"].get("sha256"),
        None,
        "documents cannot set computed fields"
    );
    assert!(schema["properties"]["resources"]["description"].is_string());
}

#[test]
fn documents_of_the_examples_fit() {
    let texts: Vec<(String, String)> = files_under("examples")
        .into_iter()
        .filter_map(|path| {
            let text = std::fs::read_to_string(&path).ok()?;
            Some((path.to_string_lossy().into_owned(), text))
        })
        .collect();
    type IsOne = fn(&str, &str) -> bool;
    let of_dialects: [(&str, usize, IsOne); 5] = [
        ("blueprint", 12, |name, _| name.contains(".blueprint.")),
        ("hot", 10, |_, text| has_key(text, "heat_template_version:")),
        ("pulumi", 2, |name, _| name.ends_with("/Pulumi.yaml")),
        ("manifests", 10, |_, text| has_key(text, "apiVersion:")),
        ("cartographer", 10, |_, text| has_key(text, "apiVersion:")),
    ];
    for (dialect, fewest, is_one) in of_dialects {
        let schema = schema(&[dialect]);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let all = texts.iter().filter(|(name, text)| {
            // Manifests inside blueprints are texts of other files.
            let is_blueprint = name.contains(".blueprint.");
            is_one(name, text) && (dialect == "blueprint" || !is_blueprint)
        });
        let mut count = 0;
        for (name, text) in all {
            // Manifests are streams of documents.
            for part in text.split("\n---\n").filter(|_| !name.ends_with(".toml")) {
                count += 1;
                let wrong = mistakes(&validator, &document(name, part));
                assert!(wrong.is_empty(), "{dialect}: {name}\n{}", wrong.join("\n"));
            }
        }
        assert!(count >= fewest, "{dialect}: {count}");
    }
}

/// Whether a line of a text begins with a key.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.starts_with(key))
}

/// The mistakes that a schema finds in a document.
fn mistakes(validator: &jsonschema::Validator, document: &Value) -> Vec<String> {
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn valid_templates_of_the_conformance_pack_fit_the_schema_of_heat() {
    let schema = schema(&["hot"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let given = std::env::var_os("CYAN_CONFORMANCE_HOT").map(PathBuf::from);
    let folder = given
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/hot"));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder.join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".yaml") else {
            continue;
        };
        // Heat ignores an unknown key of an output. An editor should not.
        if stem == "out_bad_key" {
            continue;
        }
        let expected = path.with_file_name(format!("{stem}.expected.json"));
        let expected = std::fs::read_to_string(expected).unwrap_or_default();
        let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
        let text = std::fs::read_to_string(&path).unwrap();
        if expected["ok"] != json!(true) || !text.contains("heat_template_version") {
            continue;
        }
        count += 1;
        let found = mistakes(&validator, &document(&name, &text));
        wrong.extend(found.into_iter().map(|error| format!("{name}: {error}")));
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "of {count}:\n{}", wrong.join("\n"));
}

#[test]
fn types_of_openstack_are_known_to_templates_and_blueprints() {
    for dialect in ["hot", "blueprint"] {
        let schema = schema(&[dialect]);
        let server = &schema["$defs"]["resource:OS::Nova::Server"]["properties"];
        assert!(server["flavor"].is_object(), "{dialect}: {server}");
        assert_eq!(server["user_data_format"]["default"], "HEAT_CFNTOOLS");
        assert!(
            schema["$defs"]
                .get("resource:AWS::CloudFormation::WaitCondition")
                .is_some()
        );
        // Editors load schemas of this size at once.
        assert!(schema.to_string().len() < 600_000, "{dialect}");
    }
    let schema = schema(&["hot"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let resource = |text: &str| {
        document(
            "x.yaml",
            &format!("heat_template_version: 2018-08-31\nresources:\n  a: {text}\n"),
        )
    };
    for fine in [
        "{type: OS::Nova::Server, properties: {flavor: {get_param: flavor}, image: x}}",
        "{type: OS::Neutron::Net, properties: {port_security_enabled: \"yes\"}}",
        "{type: lib/server.yaml, properties: {size: 1}}",
        "{type: \"My::Own::Type\", properties: {size: 1}}",
    ] {
        let wrong = mistakes(&validator, &resource(fine));
        assert!(wrong.is_empty(), "{fine}\n{}", wrong.join("\n"));
    }
    assert!(!validator.is_valid(&resource(
        "{type: OS::Nova::Server, properties: {flavour: m1.small}}"
    )));
}

#[test]
fn valid_documents_of_the_conformance_pack_fit_the_schema() {
    let schema = schema(&["--all"]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint/cases");
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in ["validation", "stage"] {
        for entry in std::fs::read_dir(folder.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".yaml") else {
                continue;
            };
            let expected =
                std::fs::read_to_string(folder.join(kind).join(format!("{stem}.expect.json")))
                    .unwrap_or_default();
            let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
            // Leave out documents with diagnostics, and those that need other catalogues.
            let clean = expected["diagnostics"].as_array().is_none_or(Vec::is_empty)
                && expected.get("catalog").is_none();
            if !clean {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let document = document(&name, &text);
            count += 1;
            wrong.extend(
                validator
                    .iter_errors(&document)
                    .map(|error| format!("{name}: {}: {error}", error.instance_path())),
            );
        }
    }
    assert!(count > 50, "{count}");
    assert!(wrong.is_empty(), "of {count}:\n{}", wrong.join("\n"));
}

#[test]
fn a_type_is_chosen_by_its_name_and_faults_are_found() {
    let schema = schema(&[]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let resource = |text: &str| {
        document(
            "x.yaml",
            &format!("version: 2023-04-20\nresources:\n  a: {text}\n"),
        )
    };
    for fine in [
        "{type: local/file, spec: {path: a, content: b}}",
        "{type: local/file, spec: {path: \"${variables.x}\", overwrite: \"${values.y}\"}}",
        "{type: random/pet, spec: {words: 3}, condition: {not: \"${variables.x}\"}, each: \"${values.list}\"}",
        "{type: random/pet, spec: {}, condition: {and: [\"${a}\", {or: [\"${b}\"]}]}, dependsOn: [b, c]}",
        "{type: random/pet, spec: {words: \"${variables.words}\"}, metadata: {labels: {a: b}, custom: {c: [1]}}}",
    ] {
        let document = resource(fine);
        let wrong: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| error.to_string())
            .collect();
        assert!(wrong.is_empty(), "{fine}\n{}", wrong.join("\n"));
    }
    for faulty in [
        "{type: local/file, spec: {content: b}}",
        "{type: local/file, spec: {path: a, contents: b}}",
        "{type: local/file, spec: {path: 1}}",
        "{type: local/file, spec: {path: a, overwrite: maybe}}",
        "{type: local/file, spec: {path: a, sha256: b}}",
        "{type: local/fil, spec: {path: a}}",
        "{type: \"${variables.t}\", spec: {path: a}}",
        "{type: random/pet, spec: {words: two}}",
        "{type: random/pet, spec: [], metadata: {}}",
        "{type: random/pet, specs: {}}",
        "{type: random/pet, spec: {}, condition: {nand: []}}",
        "{type: random/pet}",
    ] {
        assert!(!validator.is_valid(&resource(faulty)), "{faulty}");
    }
    for faulty in [
        "resources: {}",
        "version: 2024-01-01",
        "version: 2023-04-20\nvariable: {}",
        "version: 2023-04-20\nvalues: {a: {type: map, value: 1}}",
    ] {
        assert!(!validator.is_valid(&document("x.yaml", faulty)), "{faulty}");
    }
}

#[test]
fn types_can_be_left_out_and_taken_in() {
    let whole = schema(&[]);
    let less = schema(&["--without", "local", "--without", "http/request"]);
    let more = schema(&["--with", "aws/lambda/function"]);
    let has =
        |schema: &Value, name: &str| schema["$defs"].get(format!("resource:{name}")).is_some();
    assert!(
        has(&whole, "local/file")
            && !has(&less, "local/file")
            && !has(&less, "http/request")
            && has(&less, "random/pet")
    );
    assert!(
        !has(&whole, "aws/lambda/function")
            && has(&more, "aws/lambda/function")
            && !has(&more, "aws/lambda/permission")
    );
    // A type that was left out of the schema is accepted with any spec. A type that does not exist
    // is refused.
    let named = |ty: &str| {
        document(
            "x.yaml",
            &format!("version: 2023-04-20\nresources: {{a: {{type: {ty}, spec: {{x: 1}}}}}}"),
        )
    };
    let validator = jsonschema::validator_for(&less).unwrap();
    assert!(validator.is_valid(&named("local/file")) && !validator.is_valid(&named("lokal/file")));
    assert!(!validator.is_valid(&named("random/pet")));
    let validator = jsonschema::validator_for(&more).unwrap();
    assert!(
        validator.is_valid(&named("aws/lambda/permission"))
            && !validator.is_valid(&named("aws/lambda/function"))
    );
    let refused = Command::new(env!("CARGO_BIN_EXE_cyan"))
        .args(["schema", "--without", "locl"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("did you mean `local`?"));
}

/// Returns a document with one mistake: the value at a JSON pointer is replaced or removed.
fn with_mistake(base: &Value, mistake: &Value) -> Value {
    let mut document = base.clone();
    let (parent, key) = mistake["at"].as_str().unwrap().rsplit_once('/').unwrap();
    let parent = document
        .pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    match mistake.get("value") {
        Some(value) => drop(parent.insert(key, value.clone())),
        None => drop(parent.remove(&key).unwrap()),
    }
    document
}

/// `mistakes.json` has a document and about 300 single mistakes for it. `cyan validate` reports
/// each mistake. The schema refuses each, except for mistakes that a schema cannot express; these
/// state the reason.
#[test]
fn validate_and_the_schema_find_each_single_mistake() {
    let data: Value = serde_json::from_str(include_str!("schema/mistakes.json")).unwrap();
    let (base, mistakes) = (&data["base"], data["mistakes"].as_array().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let child = "version: 2023-04-20\nvariables: {x: {type: integer}}\nresources: {a: {type: std/value, spec: {input: 1}}}\n";
    std::fs::write(folder.path().join("child.yaml"), child).unwrap();
    let write = |name: &str, document: &Value| {
        std::fs::write(folder.path().join(name), document.to_string()).unwrap()
    };
    write("base.json", base);
    let names: Vec<String> = (0..mistakes.len()).map(|at| format!("{at}.json")).collect();
    mistakes
        .iter()
        .zip(&names)
        .for_each(|(mistake, name)| write(name, &with_mistake(base, mistake)));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyan"));
    let output = command
        .current_dir(folder.path())
        .args(["validate", "--json", "base.json"])
        .args(&names)
        .output();
    let said: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let valid: Vec<&str> = said["result"]["documents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|document| document["valid"] == json!(true))
        .map(|document| document["file"].as_str().unwrap())
        .collect();
    assert_eq!(
        valid,
        ["base.json"],
        "only the document without a mistake is valid"
    );

    let schema = schema(&[]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(base)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut passed = Vec::new();
    for mistake in mistakes {
        let refused = !validator.is_valid(&with_mistake(base, mistake));
        if refused == mistake.get("beyond").is_some() {
            passed.push(mistake.to_string());
        }
    }
    assert!(
        passed.is_empty(),
        "{} of {}:\n{}",
        passed.len(),
        mistakes.len(),
        passed.join("\n")
    );
}
