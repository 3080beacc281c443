//! An instance in the form that Heat abandons and adopts stacks in.

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
    let deployed = place.cyan(&["deploy", "site.yaml", "-y", "-i", "site", "--var", "pass=hush", "--var", "size=3"]);
    let mut deployed = deployed;
    let output = deployed.env("CYAN_KEY_FILE", place.path().join("key")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    place
}

fn exported(place: &Place, more: &[&str]) -> (String, String) {
    let arguments: Vec<&str> = ["state", "export", "-i", "site", "--as", "heat"].iter().chain(more).copied().collect();
    let output = place.cyan(&arguments).env("CYAN_KEY_FILE", place.path().join("key")).output().unwrap();
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
    assert_eq!(stack["template"]["resources"]["a"]["properties"], json!({"value": {"get_param": "size"}}));
    assert_eq!(stack["environment"]["parameters"], json!({"size": "3"}));
    assert_eq!(stack["files"], json!({"n.yaml": NESTED, "note.txt": "a note"}));
    let a = &stack["resources"]["a"];
    assert_eq!([&a["type"], &a["metadata"]], [&json!("OS::Heat::Value"), &json!({"m": 1})]);
    assert!(a["resource_id"].as_str().unwrap().starts_with("site-a-"), "{a}");
    // Nested stacks stand in the place of the resources that they are.
    let nested = &stack["resources"]["n"];
    let name = nested["name"].as_str().unwrap();
    assert!(name.starts_with("site-n-"), "{nested}");
    assert!(nested["resources"]["inner"]["resource_id"].as_str().unwrap().starts_with(name), "{nested}");
    assert_eq!(nested["template"]["parameters"], json!({"p": {"type": "string"}}));
    let members: Vec<&String> = stack["resources"]["g"]["resources"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["0", "1"]);
    // What is secret is not there, and that is said.
    assert!(!text.contains("hush"), "{text}");
    assert_eq!(stack["resources"]["r"]["resource_data"], json!({}));
    assert!(err.contains("Secrets are left out: the parameter pass, r.value"), "{err}");
}

#[test]
fn secrets_are_written_in_clear_where_that_is_asked_for() {
    let place = deployed();
    let (text, err) = exported(&place, &["--reveal"]);
    let stack: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(stack["environment"]["parameters"]["pass"], json!("hush"));
    assert_eq!(stack["resources"]["r"]["resource_data"]["value"].as_str().unwrap().len(), 12);
    assert!(!err.contains("left out"), "{err}");
}

#[test]
fn what_is_no_template_of_heat_is_not_written_as_one() {
    let place = Place::with("blueprint.yaml", "version: 2023-04-20\nresources: {a: {type: random/id, spec: {}}}\n");
    place.ends(0, &["deploy", "-y"]);
    let ran = place.ends(2, &["state", "export", "--as", "heat"]);
    assert!(ran.err.contains("not deployed from a document of that language"), "{}", ran.err);
    let ran = place.ends(2, &["state", "export", "--as", "nothing"]);
    assert!(ran.err.contains("there is no form `nothing`; there is `heat`"), "{}", ran.err);
}
