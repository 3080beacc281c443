//! Tests of `--simulate` and `--catalog` through the binary. A rehearsal changes no real resource,
//! and simulated state never mixes with real state.

use serde_json::Value as Json;

use crate::place::Place;

const REAL: &str = "version: 2023-04-20
resources:
  note: {type: local/file, spec: {path: note.txt, content: hello}}
  run:
    type: local/command
    spec: {create: touch ran}
  reader:
    type: local/file
    spec: {path: \"${run.spec.id}.txt\", content: \"${note.spec.sha256}\"}
exports:
  size: {type: integer, field: resources.note.spec.size}
";

#[test]
fn a_rehearsal_writes_no_file_and_runs_no_command() {
    let place = Place::with("blueprint.yaml", REAL);
    let staged = place.ends(0, &["stage", "--simulate"]);
    assert_eq!(staged.last_line(), "3 to create, 0 to update, 0 to delete");
    assert_eq!(
        staged.err,
        "Rehearsal: every provider is simulated, nothing real is changed.\n"
    );
    assert!(!place.has(".cyan"), "stage creates no state");

    let deployed = place.ends(0, &["deploy", "--simulate", "-y"]);
    assert_eq!(deployed.last_line(), "3 created, 0 updated, 0 deleted");
    assert!(!place.has("note.txt") && !place.has("ran"));
    assert!(place.has(".cyan/state.simulated.db") && place.has(".cyan/state.simulated.world"));
    assert!(!place.has(".cyan/state.db"));

    let size = place.ends(0, &["exports", "size", "--simulate"]).out;
    assert_eq!(
        place.ends(0, &["stage", "--simulate"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place
            .ends(0, &["drift", "--simulate", "--exit-code"])
            .last_line(),
        "0 drifted, 0 vanished"
    );
    for command in ["show", "history", "list"] {
        place.ends(0, &[command, "--simulate"]);
    }
    place.ends(0, &["reconcile", "--simulate", "-y"]);
    assert_eq!(
        place.ends(0, &["destroy", "--simulate", "-y"]).last_line(),
        "0 created, 0 updated, 3 deleted"
    );
    place.ends(0, &["deploy", "--simulate", "-y"]);
    assert!(!size.trim().is_empty());
}

#[test]
fn simulated_and_real_state_are_separate() {
    let place = Place::with("blueprint.yaml", REAL);
    place.ends(0, &["deploy", "--simulate", "-y"]);
    assert_eq!(place.ends(0, &["list"]).out, "", "no real instance yet");
    let none = place.ends(1, &["show"]);
    assert!(
        none.err.contains("there is no instance") && none.err.contains("--simulate"),
        "{}",
        none.err
    );

    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "3 created, 0 updated, 0 deleted"
    );
    assert!(place.has("note.txt") && place.has("ran"));
    assert_eq!(
        place.ends(0, &["destroy", "--simulate", "-y"]).last_line(),
        "0 created, 0 updated, 3 deleted"
    );
    assert!(
        place.has("note.txt"),
        "the rehearsal of an end ends nothing"
    );
    assert_eq!(
        place.ends(0, &["drift", "--exit-code"]).last_line(),
        "0 drifted, 0 vanished"
    );

    let state = place.ends(2, &["show", "--state", "sqlite:.cyan/state.simulated.db"]);
    assert!(
        state.err.contains("is the state of a rehearsal") && state.err.contains("--simulate"),
        "{}",
        state.err
    );
    place.ends(
        0,
        &[
            "list",
            "--simulate",
            "--state",
            "sqlite:.cyan/state.simulated.db",
        ],
    );
    place.ends(
        0,
        &["deploy", "-y", "--simulate", "--state", "sqlite:other"],
    );
    assert!(place.has("other.simulated.db") && place.has("other.simulated.world"));
    place.ends(0, &["deploy", "-y", "--simulate", "--state", "memory:"]);
}

#[test]
fn plan_of_a_simulation_and_real_plan_are_not_interchangeable() {
    let place = Place::with("blueprint.yaml", REAL);
    place.ends(0, &["stage", "--simulate", "--out", "rehearsal.plan"]);
    place.ends(0, &["stage", "--out", "real.plan"]);
    let refused = place.ends(1, &["deploy", "rehearsal.plan"]);
    assert!(
        refused
            .err
            .contains("`rehearsal.plan` is a plan of a rehearsal"),
        "{}",
        refused.err
    );
    let refused = place.ends(1, &["deploy", "real.plan", "--simulate"]);
    assert!(
        refused.err.contains("`real.plan` is a real plan"),
        "{}",
        refused.err
    );
    assert!(
        !place.has("note.txt") && !place.has(".cyan"),
        "nothing was done"
    );
    assert_eq!(
        place
            .ends(0, &["deploy", "rehearsal.plan", "--simulate"])
            .last_line(),
        "3 created, 0 updated, 0 deleted"
    );
    assert!(!place.has("note.txt"));
    assert_eq!(
        place.ends(0, &["deploy", "real.plan"]).last_line(),
        "3 created, 0 updated, 0 deleted"
    );
    assert!(place.has("note.txt"));
}

#[test]
fn machine_output_says_that_it_is_a_rehearsal() {
    let place = Place::with("blueprint.yaml", REAL);
    let staged: Json =
        serde_json::from_str(&place.ends(0, &["stage", "--simulate", "--json"]).out).unwrap();
    assert_eq!(staged["simulated"], true);
    let real: Json = serde_json::from_str(&place.ends(0, &["stage", "--json"]).out).unwrap();
    assert!(real.get("simulated").is_none());
    let ran = place.ends(0, &["deploy", "--simulate", "--json", "-y"]);
    let lines: Vec<Json> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in ["plan", "summary"] {
        let line = lines.iter().find(|line| line["event"] == event).unwrap();
        assert_eq!(line["simulated"], true, "{line}");
    }
    assert_eq!(ran.err, "", "machines read one stream");
    assert_eq!(place.ends(0, &["stage", "--simulate", "--quiet"]).err, "");
}

const SHOP: &str = r#"{
  "format": 1,
  "namespace": "shop",
  "resourceTypes": {
    "shop/rack": {
      "idField": "rackId",
      "fields": {
        "name": {"kind": "string", "required": true, "unique": true, "mustRecreate": true},
        "boards": {"kind": "integer", "min": 1, "max": 9, "default": 3},
        "rackId": {"kind": "string", "computed": true},
        "rackArn": {"kind": "string", "computed": true},
        "url": {"kind": "string", "computed": true},
        "size": {"kind": "object", "computed": true, "fields": {"width": {"kind": "integer"}, "made": {"kind": "boolean"}}}
      }
    }
  },
  "dataSourceTypes": {
    "shop/supplier": {
      "filter": {"country": {"type": "string"}},
      "fields": {"country": {"kind": "string"}, "phone": {"kind": "string"}}
    }
  }
}
"#;

const SHELVES: &str = "version: 2023-04-20
datasources:
  nearest:
    type: shop/supplier
    filter: {field: country, operator: \"=\", search: ie}
    exports: {country: {type: string}, phone: {type: string}}
resources:
  books: {type: shop/rack, spec: {name: books}}
  pots: {type: shop/rack, spec: {name: \"pots from ${datasources.nearest.country}\", boards: 2}}
exports:
  arn: {type: string, field: resources.books.spec.rackArn}
  id: {type: string, field: resources.books.spec.rackId}
  url: {type: string, field: resources.books.spec.url}
  width: {type: integer, field: resources.books.spec.size.width}
";

fn shop() -> Place {
    let place = Place::with("blueprint.yaml", SHELVES);
    place.write("shop.json", SHOP);
    place
}

/// Adds `--catalog shop.json` to a command.
fn with_shop<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [command, &["--catalog", "shop.json"]].concat()
}

#[test]
fn types_that_have_no_provider_are_checked_staged_and_rehearsed() {
    let place = shop();
    let unknown = place.ends(1, &["validate"]);
    assert!(
        unknown.err.contains("error[unknown-provider]"),
        "{}",
        unknown.err
    );
    place.ends(0, &with_shop(&["validate"]));
    let deployed = place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
    assert!(
        deployed.out.contains("\"pots from ie\""),
        "{}",
        deployed.out
    );
    let export = |name: &str| {
        place
            .ends(0, &["exports", name, "--simulate"])
            .out
            .trim_end()
            .to_owned()
    };
    assert_eq!(
        export("arn"),
        "arn:shop:rack:eu-west-1:123456789012:rack/books"
    );
    assert!(
        export("id").starts_with("rack-") && export("url").starts_with("https://"),
        "{} {}",
        export("id"),
        export("url")
    );
    assert!(export("width").parse::<i64>().is_ok());
    let before = (export("id"), export("url"), export("width"));

    // A change of a create-only field replaces the resource, any other change updates it. An
    // invalid value is refused before any step.
    place.write(
        "blueprint.yaml",
        SHELVES
            .replace("name: books", "name: novels")
            .replace("boards: 2", "boards: 4"),
    );
    let changed = place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    assert_eq!(
        changed.last_line(),
        "0 created, 1 updated, 0 deleted, 1 replaced"
    );
    assert_ne!(
        before,
        (export("id"), export("url"), export("width")),
        "another object has other values"
    );
    place.write("blueprint.yaml", SHELVES.replace("boards: 2", "boards: 10"));
    assert!(
        place
            .ends(1, &with_shop(&["deploy", "--simulate", "-y"]))
            .err
            .contains("error[value-constraint]")
    );

    place.ends(0, &with_shop(&["destroy", "--simulate", "-y"]));
    let other = shop();
    other.ends(
        0,
        &with_shop(&[
            "deploy",
            "--simulate",
            "-y",
            "-i",
            place.path().file_name().unwrap().to_str().unwrap(),
        ]),
    );
}

#[test]
fn the_same_document_gives_the_same_values_everywhere() {
    let exports = || {
        let place = shop();
        place.ends(
            0,
            &with_shop(&["deploy", "--simulate", "-y", "-i", "garden"]),
        );
        place
            .ends(0, &["exports", "--simulate", "-i", "garden"])
            .out
    };
    assert_eq!(exports(), exports());
}

#[test]
fn the_world_of_a_rehearsal_can_be_changed_by_hand() {
    let place = shop();
    place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    let world = ".cyan/state.simulated.world";
    let text = place.read(world);
    assert!(text.contains("\"boards\":2"), "{text}");
    place.write(world, text.replace("\"boards\":2", "\"boards\":5"));
    let drift = place.ends(3, &with_shop(&["drift", "--simulate", "--exit-code"]));
    assert!(
        drift.out.contains("pots") && drift.out.contains("boards"),
        "{}",
        drift.out
    );
    assert_eq!(drift.last_line(), "1 drifted, 0 vanished");
    assert_eq!(
        place
            .ends(0, &with_shop(&["deploy", "--simulate", "-y"]))
            .last_line(),
        "0 created, 1 updated, 0 deleted"
    );
    std::fs::remove_file(place.path().join(world)).unwrap();
    assert_eq!(
        place
            .ends(3, &with_shop(&["drift", "--simulate", "--exit-code"]))
            .last_line(),
        "0 drifted, 2 vanished"
    );
}

#[test]
fn a_unique_value_that_another_object_has_is_refused() {
    let place = shop();
    place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    let taken = place.run(&with_shop(&["deploy", "--simulate", "-y", "-i", "second"]));
    assert_eq!(taken.code, 4, "{}{}", taken.out, taken.err);
    assert!(
        taken.err.contains("another object has this `name` already"),
        "{}",
        taken.err
    );
}

#[test]
fn a_catalogue_manages_nothing() {
    let place = shop();
    for command in ["deploy", "destroy", "show"] {
        let refused = place.ends(2, &with_shop(&[command]));
        assert!(
            refused.err.contains("manages nothing") && refused.err.contains("--simulate"),
            "{}",
            refused.err
        );
    }
    // A simulation without the catalogue of its resources names the missing types.
    place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    for command in ["drift", "destroy"] {
        let lacks = place.ends(2, &[command, "--simulate"]);
        assert!(
            lacks.err.contains("`shop/rack`") && lacks.err.contains("--catalog"),
            "{}",
            lacks.err
        );
    }
    assert!(
        place
            .ends(0, &with_shop(&["types", "shop/rack", "--simulate"]))
            .out
            .contains("boards")
    );
}

#[test]
fn invalid_catalogue_is_reported_with_its_path() {
    let place = shop();
    let said = |text: &str| {
        place.write("wrong.json", text);
        place.ends(1, &["validate", "--catalog", "wrong.json"]).err
    };
    let missing = place.ends(1, &["validate", "--catalog", "nowhere.json"]);
    assert!(
        missing.err.contains("`nowhere.json` cannot be read"),
        "{}",
        missing.err
    );
    assert!(
        place
            .ends(1, &["validate", "--catalog", "."])
            .err
            .contains("is a folder")
    );
    place.write("bytes.json", [0xff, 0xfe]);
    assert!(
        place
            .ends(1, &["validate", "--catalog", "bytes.json"])
            .err
            .contains("no UTF-8")
    );

    for (text, words, at) in [
        ("", "not a catalogue in JSON", "wrong.json:1:1"),
        ("version: 1\n", "not a catalogue in JSON", "wrong.json:1:1"),
        (
            "{\"format\": 1,\n \"namespace\": \"x\",}",
            "not a catalogue in JSON",
            "wrong.json:2:",
        ),
        ("[]", "must be an object", "wrong.json:1:1"),
        ("{}", "`format` is missing", "wrong.json:1:1"),
        (
            "{\"format\": 2, \"namespace\": \"x\"}",
            "only format 1 is known",
            "wrong.json:1:12",
        ),
        (
            "{\"format\": 1, \"format\": 1}",
            "written twice",
            "wrong.json:1:",
        ),
        (
            "{\"format\": 1, \"namespace\": \"local\"}",
            "is a built-in namespace",
            "wrong.json:1:",
        ),
        (
            "{\"format\": 1, \"namespace\": \"x\",\n\"resourceTypes\": {\n\"x/a\": {\"idField\": \"nose\"}}}",
            "there is no field `nose`",
            "wrong.json:3:20",
        ),
    ] {
        let said = said(text);
        assert!(
            said.contains("error[invalid-catalog]") && said.contains(words) && said.contains(at),
            "{text}\n{said}"
        );
    }
    let deep = format!(
        "{{\"format\": 1, \"namespace\": \"x\", \"about\": {}1{}}}",
        "[".repeat(9_000),
        "]".repeat(9_000)
    );
    assert!(said(&deep).contains("error[invalid-catalog]"));

    let twice = place.ends(
        1,
        &[
            "validate",
            "--catalog",
            "shop.json",
            "--catalog",
            "shop.json",
        ],
    );
    assert!(
        twice.err.contains("another catalogue has `shop/rack` too"),
        "{}",
        twice.err
    );
    let function =
        r#"{"format": 1, "namespace": "NAME", "functions": {"mix_up": {"returns": "any"}}}"#;
    place.write("one.json", function.replace("NAME", "one"));
    place.write("two.json", function.replace("NAME", "two"));
    let both = place.ends(
        1,
        &[
            "validate",
            "--json",
            "--catalog",
            "one.json",
            "--catalog",
            "two.json",
        ],
    );
    let both: Json = serde_json::from_str(&both.out).unwrap();
    assert_eq!(both["diagnostics"][0]["code"], "invalid-catalog");
}

#[test]
fn a_catalogue_takes_the_place_of_types_that_are_simulated_anyway() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {colour: red}}\n  b: {type: test/queue, spec: {name: q}}\n",
    );
    place.write(
        "more.json",
        r#"{"format": 1, "namespace": "test", "resourceTypes": {"test/data": {"fields": {"colour": {"kind": "string"}}}}}"#,
    );
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("error[unknown-spec-field]")
    );
    place.ends(0, &["validate", "--catalog", "more.json"]);
    let deployed = place.ends(0, &["deploy", "--simulate", "--catalog", "more.json", "-y"]);
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
}

/// The catalogue and the document on the page on catalogues work together.
#[test]
fn page_on_catalogues_is_correct() {
    let page = include_str!("../../../../docs/catalogues.md");
    let block = |language: &str| {
        let fence = page.find(&format!("```{language}\n")).unwrap();
        let start = fence + page[fence..].find('\n').unwrap() + 1;
        &page[start..start + page[start..].find("```").unwrap()]
    };
    let place = Place::with("blueprint.yaml", block("yaml"));
    place.write("shop.json", block("json"));
    place.ends(0, &with_shop(&["validate", "--strict"]));
    place.ends(0, &with_shop(&["deploy", "--simulate", "-y"]));
    let label = place.ends(0, &["exports", "label", "--simulate"]).out;
    assert!(
        label.starts_with("rack-") && label.trim_end().ends_with(" in the hall"),
        "{label}"
    );
    assert!(
        place
            .ends(0, &["exports", "url", "--simulate"])
            .out
            .starts_with("https://")
    );
}

#[test]
fn simulation_writes_no_secret_in_clear_text() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20
variables:
  pin: {type: string, secret: true}
resources:
  a: {type: test/record, spec: {title: t, password: \"${variables.pin}\"}}
  b: {type: local/file, spec: {path: b, content: \"pin ${variables.pin}\", mode: \"0600\"}}
",
    );
    place.ends(0, &["key", "new"]);
    let pin = ["--simulate", "--var", "pin=sesame-open-1001"];
    let with_pin = |command: &[&'static str]| [command, &pin[..]].concat();
    place.ends(0, &with_pin(&["deploy", "-y"]));
    for name in ["state.simulated.db", "state.simulated.world"] {
        let bytes = std::fs::read(place.path().join(".cyan").join(name)).unwrap();
        assert!(
            !String::from_utf8_lossy(&bytes).contains("sesame"),
            "{name}"
        );
    }
    assert_eq!(
        place.ends(0, &with_pin(&["stage"])).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(
        place.ends(0, &["drift", "--simulate"]).last_line(),
        "0 drifted, 0 vanished"
    );
    let other = ["stage", "--simulate", "--var", "pin=another"];
    assert_eq!(
        place.ends(0, &other).last_line(),
        "0 to create, 2 to update, 0 to delete"
    );
    place.ends(0, &["deploy", "-y", "--simulate", "--var", "pin=another"]);
    assert_eq!(
        place.ends(0, &["destroy", "-y", "--simulate"]).last_line(),
        "0 created, 0 updated, 2 deleted"
    );
}

const SHOP_DATABASE: &str = r#"{"format": 1, "namespace": "shop", "resourceTypes": {"shop/db": {"idField": "id", "fields": {
  "id": {"kind": "string", "computed": true},
  "size": {"kind": "integer"},
  "ids": {"kind": "map", "values": {"kind": "string"}, "computed": true},
  "hosts": {"kind": "array", "items": {"kind": "string"}, "computed": true},
  "pools": {"kind": "map", "values": {"kind": "array", "items": {"kind": "string"}}, "computed": true}}}}}"#;

#[test]
fn a_rehearsed_object_has_the_parts_that_the_document_reads() {
    let document = "version: 2023-04-20
values: {ids: {type: object, value: '${resources.d.spec.ids}'}}
resources:
  d: {type: shop/db, spec: {size: 1}}
  e: {type: std/value, spec: {input: '${d.spec.ids.reader} ${d.spec.hosts[4]} ${d.spec.pools[\"a-b\"][3]}'}}
  f: {type: std/value, spec: {input: '${values.ids.writer}'}}
";
    let place = Place::with("shop.blueprint.yaml", document);
    place.write("cat.json", SHOP_DATABASE);
    let with = ["--simulate", "--catalog", "cat.json"];
    let run = |command: &str, more: &[&str]| {
        let all: Vec<&str> = [&[command][..], &with[..], more].concat();
        place.ends(0, &all)
    };
    let deployed = run("deploy", &["-y"]);
    assert_eq!(deployed.last_line(), "3 created, 0 updated, 0 deleted");
    assert_eq!(
        run("stage", &[]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    run("destroy", &["-y"]);
}

#[test]
fn a_rehearsed_attribute_has_the_parts_that_the_template_reads() {
    let template = "heat_template_version: 2018-08-31
resources:
  box: {type: OS::Nova::Server, properties: {flavor: s, image: i, networks: [{network: front}]}}
  m: {type: OS::Octavia::PoolMember, properties: {pool: p, address: {get_attr: [box, networks, front, 0]}, protocol_port: 80}}
outputs:
  first: {value: {get_attr: [box, networks, front, 0]}}
  name: {value: {get_attr: [box, addresses, front, 1, addr]}}
";
    let place = Place::with("a.yaml", template);
    let deployed = place.ends(0, &["deploy", "--simulate", "-y", "a.yaml", "-i", "x"]);
    assert_eq!(deployed.last_line(), "2 created, 0 updated, 0 deleted");
    let exports = place.ends(0, &["exports", "--simulate", "-i", "x"]).out;
    assert!(
        !exports.contains("null") && !exports.contains("\"\""),
        "{exports}"
    );
}
