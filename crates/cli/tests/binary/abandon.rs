//! Tests of exports to, and imports from, the format of `openstack stack abandon`.

use serde_json::{Value as Json, json};

use crate::place::Place;

const SITE: &str = "heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 2}
  pass: {type: string, hidden: true}
resources:
  a: {type: OS::Heat::Value, properties: {value: {get_param: size}}, metadata: {m: 1}}
  r: {type: OS::Heat::RandomString, properties: {length: 12}}
  n: {type: n.yaml, properties: {p: {get_file: note.txt}}}
  g: {type: OS::Heat::ResourceGroup, properties: {count: 2, resource_def: {type: OS::Heat::Value, properties: {value: x}}}}
  p: {type: OS::Heat::Value, properties: {value: {get_param: pass}}}
";
const NESTED: &str = "heat_template_version: 2018-08-31
parameters: {p: {type: string}}
resources: {inner: {type: OS::Heat::Value, properties: {value: {get_param: p}}}}
";

fn deployed() -> Place {
    let place = Place::with("site.yaml", SITE);
    place.write("n.yaml", NESTED);
    place.write("note.txt", "a note");
    place.ends(0, &["key", "new", "key"]);
    place.write("cyan.toml", "");
    let deployed = place.cyan(&[
        "deploy",
        "site.yaml",
        "-y",
        "-i",
        "site",
        "--var",
        "pass=hush",
        "--var",
        "size=3",
    ]);
    let mut deployed = deployed;
    let output = deployed
        .env("CYAN_KEY_FILE", place.path().join("key"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    place
}

fn exported(place: &Place, more: &[&str]) -> (String, String) {
    let arguments: Vec<&str> = ["state", "export", "-i", "site", "--as", "heat"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let output = place
        .cyan(&arguments)
        .env("CYAN_KEY_FILE", place.path().join("key"))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{err}");
    (String::from_utf8(output.stdout).unwrap(), err)
}

#[test]
fn an_instance_is_written_as_a_stack_that_was_abandoned() {
    let place = deployed();
    let (text, err) = exported(&place, &[]);
    let stack: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(
        [&stack["name"], &stack["action"], &stack["status"]],
        [&json!("site"), &json!("CREATE"), &json!("COMPLETE")]
    );
    assert_eq!(
        stack["template"]["resources"]["a"]["properties"],
        json!({"value": {"get_param": "size"}})
    );
    assert_eq!(stack["environment"]["parameters"], json!({"size": "3"}));
    assert_eq!(
        stack["files"],
        json!({"n.yaml": NESTED, "note.txt": "a note"})
    );
    let a = &stack["resources"]["a"];
    assert_eq!(
        [&a["type"], &a["metadata"]],
        [&json!("OS::Heat::Value"), &json!({"m": 1})]
    );
    assert!(
        a["resource_id"].as_str().unwrap().starts_with("site-a-"),
        "{a}"
    );
    // A resource that is a nested stack is exported as that stack.
    let nested = &stack["resources"]["n"];
    let name = nested["name"].as_str().unwrap();
    assert!(name.starts_with("site-n-"), "{nested}");
    assert!(
        nested["resources"]["inner"]["resource_id"]
            .as_str()
            .unwrap()
            .starts_with(name),
        "{nested}"
    );
    assert_eq!(
        nested["template"]["parameters"],
        json!({"p": {"type": "string"}})
    );
    let members: Vec<&String> = stack["resources"]["g"]["resources"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(members, ["0", "1"]);
    // Secrets are left out, and a message on stderr says so.
    assert!(!text.contains("hush"), "{text}");
    assert_eq!(stack["resources"]["r"]["resource_data"], json!({}));
    assert!(
        err.contains("Secrets are left out: the parameter pass, r.value"),
        "{err}"
    );
}

#[test]
fn secrets_are_exported_in_clear_text_on_request() {
    let place = deployed();
    let (text, err) = exported(&place, &["--reveal"]);
    let stack: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(stack["environment"]["parameters"]["pass"], json!("hush"));
    assert_eq!(
        stack["resources"]["r"]["resource_data"]["value"]
            .as_str()
            .unwrap()
            .len(),
        12
    );
    assert!(!err.contains("left out"), "{err}");
}

#[test]
fn document_of_another_dialect_is_not_exported_as_a_stack() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources: {a: {type: random/id, spec: {}}}\n",
    );
    place.ends(0, &["deploy", "-y"]);
    let ran = place.ends(2, &["state", "export", "--as", "heat"]);
    assert!(
        ran.err
            .contains("not deployed from a document of that language"),
        "{}",
        ran.err
    );
    let ran = place.ends(2, &["state", "export", "--as", "nothing"]);
    assert!(
        ran.err
            .contains("there is no form `nothing`; there is `heat`"),
        "{}",
        ran.err
    );
}

/// Runs a command with the key of [`deployed`].
fn with_key(place: &Place, arguments: &[&str]) -> crate::place::Ran {
    place.write(
        "key",
        [b'A'; 43]
            .iter()
            .chain(b"=\n")
            .copied()
            .collect::<Vec<u8>>(),
    );
    crate::place::ran(
        place
            .cyan(arguments)
            .env("CYAN_KEY_FILE", place.path().join("key"))
            .output()
            .unwrap(),
    )
}

#[test]
fn abandoned_stack_is_adopted_without_creating_anything() {
    let (text, _) = exported(&deployed(), &["--reveal"]);
    let stack: Json = serde_json::from_str(&text).unwrap();
    let place = Place::new();
    place.write("stack.json", &text);
    let ran = with_key(&place, &["state", "import", "stack.json", "-y"]);
    assert_eq!(
        (ran.code, ran.last_line()),
        (0, "0 created, 0 updated, 0 deleted"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert_eq!(
        ran.out.matches("taken under management").count(),
        6,
        "{}",
        ran.out
    );
    assert_eq!(
        (
            place.read("n.yaml").as_str(),
            place.read("note.txt").as_str()
        ),
        (NESTED, "a note")
    );
    // The adopted instance continues the same stack.
    let again = with_key(
        &place,
        &[
            "stage",
            "site.json",
            "-e",
            "site.environment.json",
            "-i",
            "site",
        ],
    );
    assert_eq!(
        again.out, "0 to create, 0 to update, 0 to delete\n",
        "{}",
        again.err
    );
    let shown = with_key(&place, &["show", "-i", "site", "n/inner", "--json"]);
    let shown: Json = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(
        shown["result"]["id"], stack["resources"]["n"]["resources"]["inner"]["resource_id"],
        "{shown}"
    );
    let gone = with_key(&place, &["destroy", "-i", "site", "-y"]);
    assert_eq!(
        gone.last_line(),
        "0 created, 0 updated, 6 deleted",
        "{}",
        gone.err
    );
}

#[test]
fn resource_without_an_id_is_neither_adopted_nor_created() {
    let (text, _) = exported(&deployed(), &["--reveal"]);
    let mut stack: Json = serde_json::from_str(&text).unwrap();
    stack["resources"]["a"]["resource_id"] = Json::Null;
    stack["resources"]["g"]["resources"]
        .as_object_mut()
        .unwrap()
        .remove("1");
    let place = Place::with("stack.json", &stack.to_string());
    let ran = with_key(&place, &["state", "import", "stack.json", "-y"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    for address in ["a", "g/1"] {
        assert!(
            ran.err.contains(&format!(
                "error[import-failed]: `{address}` cannot be imported"
            )),
            "{}",
            ran.err
        );
    }
    assert!(
        ran.err.contains("its id was not provided") && !place.has(".cyan"),
        "{}",
        ran.err
    );
}

#[test]
fn files_of_another_machine_are_written_locally() {
    let stack = json!({
        "name": "far", "action": "CREATE", "status": "COMPLETE",
        "template": {
            "heat_template_version": "2018-08-31",
            "resources": {"n": {"type": "file:///home/ann/n.yaml", "properties": {"p": {"get_file": "file:///home/ann/parts/note.txt"}}}},
        },
        "environment": {"parameters": {}, "resource_registry": {"resources": {}}},
        "files": {"file:///home/ann/n.yaml": NESTED, "file:///home/ann/parts/note.txt": "a note"},
        "resources": {"n": {"name": "far-n-x", "resources": {"inner": {"resource_id": "far-n-x-inner", "type": "OS::Heat::Value", "resource_data": {}}}}},
    });
    let place = Place::with("stack.json", &stack.to_string());
    let ran = place.ends(0, &["state", "import", "stack.json", "-y"]);
    assert!(
        ran.err.contains("wrote `n.yaml`") && !ran.err.contains("environment"),
        "{}",
        ran.err
    );
    assert_eq!(
        place.ends(0, &["stage", "far.json", "-i", "far"]).out,
        "0 to create, 0 to update, 0 to delete\n"
    );
    let away = stack
        .to_string()
        .replace("file:///home/ann/parts/note.txt", "../note.txt");
    place.write("stack.json", away);
    let ran = place.ends(1, &["state", "import", "stack.json", "-y", "-i", "other"]);
    assert!(
        ran.err
            .contains("`../note.txt`, which is not below this folder"),
        "{}",
        ran.err
    );
}

#[test]
fn hidden_parameters_are_asked_for_by_name() {
    let stack = json!({
        "name": "far", "action": "CREATE", "status": "COMPLETE",
        "template": {
            "heat_template_version": "2018-08-31",
            "parameters": {"secret": {"type": "string", "hidden": true}, "size": {"type": "number"}},
            "resources": {"a": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "secret"}}}},
        },
        "environment": {"parameters": {"secret": "******", "size": 2}},
        "files": {},
        "resources": {"a": {"resource_id": "far-a-x", "type": "OS::Heat::Value", "resource_data": {"value": "hush"}}},
    });
    let place = Place::with("stack.json", &stack.to_string());
    let ran = with_key(&place, &["state", "import", "stack.json", "-y"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err
            .contains("the values of hidden parameters of `far` are not given: `secret`")
            && ran.err.contains("--var NAME=VALUE")
            && !place.has("far.json"),
        "{}",
        ran.err
    );
    let given = [
        "state",
        "import",
        "stack.json",
        "-y",
        "--var",
        "secret=hush",
    ];
    let ran = with_key(&place, &given);
    assert_eq!(
        ran.last_line(),
        "0 created, 0 updated, 0 deleted",
        "{}",
        ran.err
    );
    assert!(!place.read("far.environment.json").contains("secret"));
    let plan = [
        "stage",
        "far.json",
        "-e",
        "far.environment.json",
        "-i",
        "far",
        "--var",
        "secret=hush",
    ];
    let ran = with_key(&place, &plan);
    assert_eq!(
        ran.out, "0 to create, 0 to update, 0 to delete\n",
        "{}",
        ran.err
    );
}

#[test]
fn scaling_group_keeps_the_names_of_its_members() {
    let member = |id: &str, time: &str| json!({"resource_id": id, "creation_time": time, "type": "OS::Heat::None", "resource_data": {}});
    let stack = json!({
        "name": "far", "action": "CREATE", "status": "COMPLETE",
        "template": {
            "heat_template_version": "2018-08-31",
            "resources": {"g": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {"min_size": 1, "max_size": 3, "desired_capacity": 2, "resource": {"type": "OS::Heat::None"}},
            }},
            "outputs": {"refs": {"value": {"get_attr": ["g", "refs"]}}},
        },
        "environment": {},
        "files": {},
        "resources": {"g": {"resources": {
            "zq3kbn2m4xvt": member("old", "2026-01-01T00:00:00Z"),
            "a1w8l5r6y7cd": member("young", "2026-02-01T00:00:00Z"),
        }}},
    });
    let place = Place::with("stack.json", &stack.to_string());
    place.ends(0, &["state", "import", "stack.json", "-y"]);
    let ran = place.ends(0, &["stage", "far.json", "-i", "far"]);
    assert_eq!(ran.out, "0 to create, 0 to update, 0 to delete\n");
    let ran = place.ends(0, &["exports", "refs", "-i", "far"]);
    assert!(
        ran.out.contains("old") && ran.out.find("old") < ran.out.find("young"),
        "{}",
        ran.out
    );
}

#[test]
fn only_a_real_heat_is_asked_for_a_stack() {
    let place = Place::new();
    let ran = place.ends(2, &["state", "import", "--from", "pulumi", "shop"]);
    assert!(
        ran.err.contains("`pulumi` itself, only from `heat`"),
        "{}",
        ran.err
    );
    let ran = place.ends(
        2,
        &["state", "import", "--from", "heat", "shop", "--simulate"],
    );
    assert!(
        ran.err.contains("a rehearsal has no objects"),
        "{}",
        ran.err
    );
}
