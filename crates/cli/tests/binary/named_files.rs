//! Tests of the files that documents name: regular files that exist.

use crate::place::Place;

/// What a command that fails says.
#[track_caller]
pub(crate) fn refusal(place: &Place, arguments: &[&str]) -> String {
    let ran = place.run(arguments);
    assert_ne!(ran.code, 0, "cyan {}\n{}", arguments.join(" "), ran.out);
    ran.out + &ran.err
}

/// A folder with a pipe that nobody writes to.
#[cfg(unix)]
fn with_pipe(name: &str, text: &str) -> Place {
    let place = Place::with(name, text);
    let made = std::process::Command::new("mkfifo")
        .arg(place.path().join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    place
}

#[cfg(unix)]
#[test]
fn pipe_and_device_are_refused_where_a_document_names_a_file() {
    let documents = [
        (
            "a.blueprint.yaml",
            "version: 2023-04-20\nresources: {r: {type: std/value, spec: {input: '${file(\"pipe\")}'}}}\n",
        ),
        (
            "b.blueprint.yaml",
            "version: 2023-04-20\nresources: {r: {type: local/file, spec: {path: o.txt, source: /dev/zero}}}\n",
        ),
        (
            "c.blueprint.yaml",
            "version: 2023-04-20\nresources: {r: {type: local/file, spec: {path: o.txt, source: pipe}}}\n",
        ),
        (
            "d.blueprint.yaml",
            "version: 2023-04-20\nresources: {r: {type: std/template, spec: {source: pipe, variables: {}}}}\n",
        ),
        (
            "e.yaml",
            "heat_template_version: 2018-08-31\nresources: {c: {type: OS::Heat::SoftwareConfig, properties: {config: {get_file: pipe}}}}\n",
        ),
    ];
    for (name, text) in documents {
        let place = with_pipe(name, text);
        let err = refusal(&place, &["stage", "-i", "x", name]);
        assert!(err.contains("not a regular file"), "{name}: {err}");
    }
}

#[test]
fn validate_finds_files_that_are_not_there() {
    let blueprint = "version: 2023-04-20
resources:
  a: {type: std/value, spec: {input: '${file(\"missing.sh\")}'}}
  b: {type: std/value, spec: {input: '${file(\"there.sh\")}'}}
";
    let place = Place::with("shop.blueprint.yaml", blueprint);
    place.write("there.sh", "echo");
    let err = refusal(&place, &["validate"]);
    assert!(err.contains("`missing.sh` cannot be read"), "{err}");
    assert_eq!(err.matches("error[").count(), 1, "{err}");
    place.write("missing.sh", "echo");
    place.ends(0, &["validate"]);

    let template = "heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::SoftwareConfig, properties: {config: {get_file: missing.sh}}}
";
    let place = Place::with("a.yaml", template);
    let err = refusal(&place, &["validate", "a.yaml"]);
    assert!(err.contains("missing.sh"), "{err}");
    place.write("missing.sh", "echo");
    place.ends(0, &["validate", "a.yaml"]);
}

#[test]
fn validate_finds_missing_files_in_children_and_values() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20
values: {text: {type: string, value: '${utf8(file(\"gone.txt\"))}'}}
include: {side: {path: part/side.yaml, metadata: {}}}
exports: {o: {type: string, field: values.text}}
",
    );
    place.write(
        "part/side.yaml",
        "version: 2023-04-20
resources:
  near: {type: std/value, spec: {input: '${utf8(file(\"near.txt\"))}'}}
  far: {type: std/value, spec: {input: '${utf8(file(\"far.txt\"))}'}}
",
    );
    place.write("part/near.txt", "near");
    let err = refusal(&place, &["validate"]);
    assert!(
        err.contains("`gone.txt` cannot be read") && err.contains("`far.txt` cannot be read"),
        "{err}"
    );
    assert!(!err.contains("near.txt` cannot"), "{err}");
}

#[test]
fn validate_finds_two_resources_on_one_path() {
    for (spec, is_refused) in [
        ("path: out.txt, content: b", true),
        ("path: ./part/../out.txt, content: b", true),
        ("path: \"${values.name}.txt\", content: b", true),
        ("path: other.txt, content: b", false),
        // The path of `u` is known only on deploy.
        ("path: \"${u.spec.uuid}.txt\", content: b", false),
        // Which of the two exists depends on an input that is not given.
        ("path: \"${variables.where}\", content: b", false),
    ] {
        let document = format!(
            "version: 2023-04-20
variables: {{where: {{type: string}}}}
values: {{name: {{type: string, value: out}}}}
resources:
  u: {{type: random/uuid, spec: {{}}}}
  a: {{type: local/file, spec: {{path: out.txt, content: a}}}}
  b: {{type: local/file, spec: {{{spec}}}}}
"
        );
        let place = Place::with("shop.blueprint.yaml", &document);
        if is_refused {
            let err = refusal(&place, &["validate"]);
            assert!(
                err.contains("error[claimed-twice]: `a` and `b`"),
                "{spec}: {err}"
            );
            assert_eq!(err.matches("error[").count(), 1, "{spec}: {err}");
        } else {
            place.ends(0, &["validate"]);
        }
    }
    // Members of one resource, and resources of a child.
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20
resources:
  m: {type: local/directory, each: '${range(0, 2)}', spec: {path: same}}
include: {side: {path: side.yaml, metadata: {}}}
",
    );
    place.write(
        "side.yaml",
        "version: 2023-04-20\nresources: {d: {type: local/directory, spec: {path: same}}}\n",
    );
    let err = refusal(&place, &["validate"]);
    assert_eq!(err.matches("error[claimed-twice]").count(), 2, "{err}");
}
