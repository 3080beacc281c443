//! Tests of values that become secret, or cease to be, while an instance exists: secrecy follows
//! the document of now.

use crate::place::{Place, Ran};

const DOCUMENT: &str = "version: 2023-04-20
variables: {s: {type: string}}
resources:
  r: {type: std/value, spec: {input: {a: '${variables.s}', b: plain}}}
  f: {type: local/file, spec: {path: g.txt, content: \"pre ${variables.s} post\\n\"}}
exports:
  o: {type: object, field: resources.r.spec.output}
  v: {type: string, field: variables.s}
";

const TEMPLATE: &str = "heat_template_version: 2018-08-31
parameters: {s: {type: string}}
resources: {r: {type: OS::Heat::TestResource, properties: {value: {get_param: s}}}}
outputs: {a: {value: {get_attr: [r, output]}}}
";

const PARENT: &str = "version: 2023-04-20
variables: {s: {type: string}}
include: {side: {path: side.yaml, variables: {s: '${variables.s}'}, metadata: {}}}
exports: {o: {type: string, field: children.side.o}}
";

const SIDE: &str = "version: 2023-04-20
variables: {s: {type: string}}
resources: {r: {type: std/value, spec: {input: '${variables.s}'}}}
exports: {o: {type: string, field: resources.r.spec.output}}
";

const VALUE: &str = "topsecret1";

fn with_key(name: &str, text: &str) -> Place {
    let place = Place::with(name, text);
    place.ends(0, &["key", "new"]);
    place
}

fn shows(ran: &Ran) -> bool {
    ran.out.contains(VALUE) || ran.err.contains(VALUE)
}

/// Runs all commands that print values, and returns those that print the value.
fn printed(place: &Place, name: &str, value: &str) -> Vec<String> {
    let commands: Vec<Vec<String>> = [
        format!("stage -i a {name} --var s={value}"),
        format!("stage -i a {name} --var s=other12345"),
        format!("stage --json -i a {name} --var s={value}"),
        "exports -i a".to_owned(),
        "exports -i a --json".to_owned(),
        "show -i a".to_owned(),
        "show -i a r".to_owned(),
        "show -i a --json".to_owned(),
        "drift -i a".to_owned(),
    ]
    .iter()
    .map(|command| command.split(' ').map(str::to_owned).collect())
    .collect();
    let mut printing = Vec::new();
    for command in commands {
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if shows(&place.run(&arguments)) {
            printing.push(command.join(" "));
        }
    }
    printing
}

fn deploy(place: &Place, name: &str) {
    let set = format!("s={VALUE}");
    place.ends(0, &["deploy", "--yes", "-i", "a", name, "--var", &set]);
}

#[test]
fn value_that_becomes_secret_is_hidden_everywhere() {
    let documents = [
        (
            "a.blueprint.yaml",
            DOCUMENT,
            "s: {type: string}",
            "s: {type: string, secret: true}",
        ),
        (
            "b.yaml",
            TEMPLATE,
            "s: {type: string}",
            "s: {type: string, hidden: true}",
        ),
        (
            "c.blueprint.yaml",
            PARENT,
            "s: {type: string}",
            "s: {type: string, secret: true}",
        ),
    ];
    for (name, text, plain, secret) in documents {
        let place = with_key(name, text);
        place.write("side.yaml", SIDE);
        deploy(&place, name);
        assert!(!printed(&place, name, VALUE).is_empty(), "{name}");
        place.write(name, text.replace(plain, secret));
        let set = format!("s={VALUE}");
        let staged = place.run(&["stage", "-i", "a", name, "--var", &set]);
        assert!(!shows(&staged), "{name}: {}", staged.out);
        let staged = place.run(&["stage", "-i", "a", name, "--var", "s=other12345"]);
        assert!(!shows(&staged), "{name}: {}", staged.out);
        deploy(&place, name);
        // A file that was changed by hand shows its drift.
        if place.has("g.txt") {
            place.write("g.txt", "x");
        }
        assert_eq!(printed(&place, name, VALUE), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn value_that_is_no_longer_secret_is_shown() {
    let documents = [
        (
            "a.blueprint.yaml",
            DOCUMENT,
            "s: {type: string}",
            "s: {type: string, secret: true}",
        ),
        (
            "b.yaml",
            TEMPLATE,
            "s: {type: string}",
            "s: {type: string, hidden: true}",
        ),
    ];
    for (name, text, plain, secret) in documents {
        let place = with_key(name, &text.replace(plain, secret));
        deploy(&place, name);
        assert_eq!(printed(&place, name, VALUE), Vec::<String>::new(), "{name}");
        place.write(name, text);
        deploy(&place, name);
        for command in [&["exports", "-i", "a"][..], &["show", "-i", "a", "r"]] {
            let ran = place.ends(0, command);
            assert!(ran.out.contains(VALUE), "{name}: {command:?}: {}", ran.out);
        }
    }
}
