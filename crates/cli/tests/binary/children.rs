//! Tests of documents that include others: refused includes, and the children in a saved plan.

use crate::place::Place;

const CHILD: &str = "version: 2023-04-20\nvariables:\n  name: {type: string}\nresources:\n  t: {type: test/data, spec: {input: \"${variables.name}\"}}\nexports:\n  id: {type: string, field: resources.t.spec.id}\n";

/// Returns a document that includes one file.
fn including(path: &str) -> String {
    format!(
        "version: 2023-04-20\ninclude:\n  core: {{path: \"{path}\", variables: {{name: orders}}}}\n"
    )
}

#[test]
fn path_that_is_not_a_document_is_refused() {
    let place = Place::new();
    place.write(
        "page.html",
        "<!DOCTYPE html>\n<html><body>404</body></html>\n",
    );
    place.write("bad.yaml", b"a\xff");
    std::fs::create_dir(place.path().join("folder")).unwrap();
    let big = std::fs::File::create(place.path().join("big.yaml")).unwrap();
    big.set_len(2 << 30).unwrap();
    for (path, says) in [
        ("missing.yaml", "there is nothing at this place"),
        ("folder", "it is a folder, not a document"),
        ("big.yaml", "it has more than 33554432 bytes"),
        ("bad.yaml", "no UTF-8 text (byte 2 cannot be read)"),
        ("page.html", "it is an HTML page, not a document"),
        ("ftp://example.com/a.yaml", "ftp://"),
    ] {
        place.write("blueprint.yaml", including(path));
        for command in ["validate", "stage"] {
            let ran = place.ends(1, &[command]);
            assert!(
                ran.err.contains("error[source-unreadable]") && ran.err.contains(says),
                "{path}: {}",
                ran.err
            );
            assert!(
                ran.err.contains("blueprint.yaml:3:16"),
                "{path}: {}",
                ran.err
            );
            assert_eq!(
                ran.err
                    .lines()
                    .filter(|line| line.starts_with("error"))
                    .count(),
                1,
                "{path}: {}",
                ran.err
            );
        }
        assert!(!place.has(".cyan"), "nothing is begun");
    }
}

#[cfg(unix)]
#[test]
fn include_of_the_including_document_is_a_cycle() {
    let place = Place::with(
        "blueprint.yaml",
        &including("again.yaml").replace(", variables: {name: orders}", ""),
    );
    std::os::unix::fs::symlink("blueprint.yaml", place.path().join("again.yaml")).unwrap();
    let ran = place.ends(1, &["validate"]);
    assert!(ran.err.contains("error[child-cycle]"), "{}", ran.err);
}

#[test]
fn child_is_shown_with_its_path_of_includes() {
    let place = Place::with("blueprint.yaml", &including("parts/core.yaml"));
    place.write(
        "parts/core.yaml",
        CHILD.replace("variables.name", "variables.nam"),
    );
    let ran = place.ends(1, &["validate"]);
    assert!(ran.err.contains("parts/core.yaml:5"), "{}", ran.err);
    assert!(
        ran.err.contains("included as `core`") && ran.err.contains("error[child-failed]"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("did you mean `name`?"), "{}", ran.err);
}

#[test]
fn saved_plan_contains_its_children() {
    let place = Place::with("blueprint.yaml", &including("core.yaml"));
    place.write("core.yaml", CHILD);
    place.ends(0, &["stage", "--out", "plan.json"]);
    place.write("core.yaml", format!("{CHILD}# later\n"));
    let ran = place.ends(1, &["deploy", "plan.json"]);
    assert!(
        ran.err.contains("error[input-changed]") && ran.err.contains("core.yaml"),
        "{}",
        ran.err
    );
    place.write("core.yaml", CHILD);
    let ran = place.ends(0, &["deploy", "plan.json"]);
    assert!(
        ran.out.ends_with("1 created, 0 updated, 0 deleted\n"),
        "{}",
        ran.out
    );
    assert!(place.ends(0, &["show"]).out.contains("core/t"));
    assert!(place.ends(0, &["graph"]).out.contains("core/t"));
    assert!(
        place
            .ends(0, &["drift"])
            .out
            .ends_with("0 drifted, 0 vanished\n")
    );
    let ran = place.ends(0, &["destroy", "--yes"]);
    assert!(
        ran.out.ends_with("0 created, 0 updated, 1 deleted\n"),
        "{}",
        ran.out
    );
}

#[test]
fn location_of_a_child_may_depend_on_an_input() {
    let text = "version: 2023-04-20\nvariables:\n  part: {type: string}\ninclude:\n  core: {path: \"${variables.part}.yaml\", variables: {name: orders}}\nexports:\n  id: {type: string, field: children.core.id}\n";
    let place = Place::with("blueprint.yaml", text);
    place.write("core.yaml", CHILD);
    assert!(place.ends(0, &["validate"]).err.is_empty());
    let ran = place.ends(0, &["stage", "--var", "part=core"]);
    assert!(
        ran.out.ends_with("1 to create, 0 to update, 0 to delete\n"),
        "{}",
        ran.out
    );
    let ran = place.ends(1, &["stage", "--var", "part=care"]);
    assert!(ran.err.contains("error[source-unreadable]"), "{}", ran.err);
}

#[test]
fn location_of_a_child_may_depend_on_a_data_source() {
    let text = "version: 2023-04-20\ndatasources:\n  which:\n    type: local/file\n    filter: {field: path, operator: '=', search: which.txt}\n    exports: {content: {type: string}}\ninclude:\n  core: {path: \"${trim(datasources.which.content)}.yaml\", variables: {name: orders}}\nexports:\n  id: {type: string, field: children.core.id}\n";
    let place = Place::with("blueprint.yaml", text);
    place.write("core.yaml", CHILD);
    place.write("which.txt", "core\n");
    let ran = place.ends(0, &["stage", "--out", "kept.plan"]);
    assert!(
        ran.out.ends_with("1 to create, 0 to update, 0 to delete\n"),
        "{}",
        ran.out
    );
    // A saved plan uses the data that it recorded, although the file names another document now.
    place.write("which.txt", "care");
    let ran = place.ends(0, &["deploy", "kept.plan"]);
    assert!(
        ran.out.ends_with("1 created, 0 updated, 0 deleted\n"),
        "{}",
        ran.out
    );
    let ran = place.ends(1, &["stage"]);
    assert!(ran.err.contains("error[source-unreadable]"), "{}", ran.err);
}

#[test]
fn an_environment_reaches_the_templates_that_a_blueprint_includes() {
    let root = "version: 2023-04-20\nvariables:\n  who: {type: string}\ninclude:\n  stack: {path: stack.yaml}\n\
                exports:\n  text: {type: string, field: children.stack.text}\n  who: {type: string, field: variables.who}\n";
    let place = Place::with("blueprint.yaml", root);
    place.write(
        "stack.yaml",
        "heat_template_version: wallaby\nparameters: {n: {type: string}}\nresources:\n  \
         v: {type: My::Value, properties: {value: {get_param: n}}}\noutputs:\n  text: {value: {get_attr: [v, value]}}\n",
    );
    place.write(
        "env.yaml",
        "resource_registry: {My::Value: OS::Heat::Value}\nparameter_defaults: {n: seven}\nparameters: {who: me}\n",
    );
    let ran = place.ends(1, &["validate"]);
    assert!(
        ran.err.contains("error[unknown-resource-type]") && ran.err.contains("variable `n`"),
        "{}",
        ran.err
    );
    place.ends(0, &["deploy", "--yes", "-e", "env.yaml"]);
    assert_eq!(
        place.ends(0, &["exports"]).out,
        "text = \"seven\"\nwho = \"me\"\n"
    );
    let ran = place.ends(0, &["deploy", "-e", "env.yaml"]);
    assert_eq!(ran.out, "0 created, 0 updated, 0 deleted\n");
}
