//! Checks that documents that would exhaust the memory or time of the machine are refused, in every
//! dialect.
//!
//! The process has limits of memory and processor time that are generous for a build without
//! optimisation. Without the limits on documents, each example would exceed them by far.

use std::fmt::Write as _;
use std::process::Command;

use crate::place::{Place, Ran, ran};

const HOT: &str = "heat_template_version: 2021-04-16\n";

/// Runs a command with limits of memory (500 MB above the base size of a process) and of processor
/// time.
pub(crate) fn bounded(place: &Place, command: &str, file: &str) -> Ran {
    let mut arguments = vec![command, file, "--simulate", "--state", "memory:"];
    if command != "validate" {
        arguments.extend(["--instance", "shop"]);
    }
    limited(place, &arguments, "ulimit -v 700000; ulimit -t 40")
}

/// Runs a command after these commands of a shell, which set limits.
fn limited(place: &Place, arguments: &[&str], limits: &str) -> Ran {
    let cyan = place.cyan(arguments);
    let words = cyan
        .get_args()
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect::<Vec<_>>()
        .join(" ");
    let program = cyan.get_program().to_str().unwrap();
    let mut shell = Command::new("sh");
    shell.current_dir(place.path());
    shell.args(["-c", &format!("{limits}; exec '{program}' {words}")]);
    for (name, value) in cyan.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    ran(shell.output().unwrap())
}

/// Checks that `validate` and `stage` end within the limits: with one of these codes, or
/// successfully if there are none.
fn ends_with(name: &str, text: &str, codes: &[&str]) {
    let place = Place::with(name, text);
    for command in ["validate", "stage"] {
        let ran = bounded(&place, command, name);
        let said: String = ran.err.chars().take(2000).collect();
        assert_eq!(ran.code, i32::from(!codes.is_empty()), "{command}: {said}");
        assert!(
            codes.is_empty()
                || codes
                    .iter()
                    .any(|code| ran.err.contains(&format!("error[{code}]"))),
            "{command} says none of {codes:?}: {said}"
        );
    }
}

fn chain(length: usize, link: &str) -> String {
    let mut text = format!(
        "{HOT}resources:\n  r0: {{type: OS::Heat::Value, properties: {{value: [abcdefgh, abcdefgh]}}}}\n"
    );
    for at in 1..length {
        let former = format!("{{get_attr: [r{}, value]}}", at - 1);
        let value = link.replace("FORMER", &former);
        writeln!(
            text,
            "  r{at}: {{type: OS::Heat::Value, properties: {{value: {value}}}}}"
        )
        .unwrap();
    }
    text
}

fn value(value: &str) -> String {
    format!("{HOT}resources:\n  r: {{type: OS::Heat::Value, properties: {{value: {value}}}}}\n")
}

#[test]
fn a_group_of_a_billion_members_is_refused() {
    let member = "{type: OS::Heat::Value, properties: {value: 1}}";
    for (kind, properties) in [
        (
            "ResourceGroup",
            format!("{{count: 1000000000, resource_def: {member}}}"),
        ),
        (
            "ResourceGroup",
            format!("{{count: 100000, resource_def: {member}}}"),
        ),
        (
            "AutoScalingGroup",
            format!("{{min_size: 1000000000, max_size: 1000000000, resource: {member}}}"),
        ),
    ] {
        let text = format!(
            "{HOT}resources:\n  g: {{type: 'OS::Heat::{kind}', properties: {properties}}}\n"
        );
        ends_with("t.yaml", &text, &["value-constraint"]);
    }
    let inner = format!(
        "{{type: OS::Heat::ResourceGroup, properties: {{count: 10000, resource_def: {member}}}}}"
    );
    let text = format!(
        "{HOT}resources:\n  g: {{type: OS::Heat::ResourceGroup, properties: {{count: 10000, resource_def: {inner}}}}}\n"
    );
    ends_with("t.yaml", &text, &["value-constraint", "values-too-large"]);
}

#[test]
fn values_that_double_along_a_chain_are_refused() {
    for link in [
        "[FORMER, FORMER]",
        "{a: FORMER, b: FORMER}",
        "{list_concat: [FORMER, FORMER]}",
        "{list_join: ['', [FORMER, FORMER]]}",
        "{str_replace: {template: x y, params: {x: FORMER, y: FORMER}}}",
        "{if: [true, [FORMER, FORMER], 1]}",
    ] {
        ends_with(
            "t.yaml",
            &chain(40, link),
            &["value-too-large", "argument-range"],
        );
    }
}

#[test]
fn many_large_values_are_refused_together() {
    // Each value is below the limit for one value.
    let mut text = chain(16, "[FORMER, FORMER]");
    for at in 0..400 {
        writeln!(
            text,
            "  s{at}: {{type: OS::Heat::Value, properties: {{value: {{get_attr: [r15, value]}}}}}}"
        )
        .unwrap();
    }
    ends_with("t.yaml", &text, &["values-too-large"]);
    let mut text = chain(16, "[FORMER, FORMER]");
    text.push_str("outputs:\n");
    for at in 0..400 {
        writeln!(text, "  o{at}: {{value: {{get_attr: [r15, value]}}}}").unwrap();
    }
    ends_with("t.yaml", &text, &["values-too-large"]);
    let calls = "{list_join: ['-', {get_attr: [r15, value, 0, 0, 0, 0]}]}, ".repeat(600);
    let text = format!(
        "{}  s: {{type: OS::Heat::Value, properties: {{value: [{calls}]}}}}\n",
        chain(16, "[FORMER, FORMER]")
    );
    ends_with(
        "t.yaml",
        &text,
        &["values-too-large", "value-too-large", "argument-range"],
    );
}

#[test]
fn repeat_that_grows_its_own_text_is_refused() {
    let growing: Vec<String> = (10..34)
        .map(|at| format!("a{at}: [a{0}a{0}]", at + 1))
        .collect();
    let text = value(&format!(
        "{{repeat: {{template: a10, for_each: {{{}}}}}}}",
        growing.join(", ")
    ));
    ends_with("t.yaml", &text, &["argument-range"]);
    let items: Vec<String> = (0..1000).map(|at| format!("x{at}")).collect();
    let each = format!("[{}]", items.join(", "));
    let text = value(&format!(
        "{{repeat: {{template: ab, for_each: {{a: {each}, b: {each}, c: [x]}}}}}}"
    ));
    ends_with("t.yaml", &text, &["argument-range"]);
}

#[test]
fn replacing_thousands_of_placeholders_is_linear() {
    let words: Vec<String> = (0..20_000)
        .map(|at| format!("w{}", at * 7919 % 20_000))
        .collect();
    let params: Vec<String> = (0..8000).map(|at| format!("w{at}: v{at}")).collect();
    let text = value(&format!(
        "{{str_replace: {{template: '{}', params: {{{}}}}}}}",
        words.join(" "),
        params.join(", ")
    ));
    ends_with("t.yaml", &text, &[]);
}

#[test]
fn thousands_of_misspelt_references_are_reported_in_time() {
    let (mut resources, mut parameters) = (String::new(), String::new());
    for at in 0..1100 {
        writeln!(
            resources,
            "  resource_number_{at}: {{type: OS::Heat::Value, properties: {{value: {{get_resource: resourse_nunber_{at}}}}}}}"
        )
        .unwrap();
        writeln!(
            parameters,
            "  r{at}: {{type: OS::Heat::Value, properties: {{value: {{get_param: parameter_{at}}}}}}}"
        )
        .unwrap();
    }
    let place = Place::with("t.yaml", &format!("{HOT}resources:\n{resources}"));
    let ran = bounded(&place, "validate", "t.yaml");
    assert!(ran.err.contains("did you mean `resource_number_7`?"));
    assert_eq!(ran.err.matches("error[").count(), 1100);
    assert!(ran.err.contains("`t.yaml` has 1100 errors"));
    place.write("t.yaml", format!("{HOT}resources:\n{parameters}"));
    let ran = bounded(&place, "stage", "t.yaml");
    assert!(
        ran.code == 1 && ran.err.contains("error[unknown-variable]"),
        "{}",
        ran.code
    );
}

#[test]
fn bombs_of_aliases_and_merge_keys_are_refused() {
    let keys: Vec<String> = (0..1000).map(|at| format!("k{at}: 1")).collect();
    let mut text = format!("{HOT}resources:\n  a0: &a0 {{{}}}\n", keys.join(", "));
    for at in 1..211 {
        writeln!(text, "  a{at}: {{<<: *a0, x{at}: 1}}").unwrap();
    }
    let place = Place::with("t.yaml", &text);
    let ran = bounded(&place, "validate", "t.yaml");
    // A mistake at one place is reported once, however often it is merged.
    assert_eq!(
        ran.err
            .matches("error[unknown-key]: a resource has no key `k7`\n")
            .count(),
        1
    );
    ends_with("t.yaml", &text, &["unknown-key"]);
    let mut text = format!(
        "{HOT}resources:\n  r0: {{type: OS::Heat::Value, properties: {{value: &a0 [x, x, x, x, x, x, x, x, x, x]}}}}\n"
    );
    for at in 1..7 {
        let former = format!("*a{}, ", at - 1).repeat(10);
        writeln!(
            text,
            "  r{at}: {{type: OS::Heat::Value, properties: {{value: &a{at} [{former}]}}}}"
        )
        .unwrap();
    }
    ends_with("t.yaml", &text, &["document-too-large"]);
}

#[test]
fn the_native_language_has_the_same_limits() {
    let mut text =
        "version: 2023-04-20\nvalues:\n  v0: {type: array, value: [abcdefgh, abcdefgh]}\n"
            .to_owned();
    for at in 1..40 {
        let former = format!("\"${{values.v{}}}\"", at - 1);
        writeln!(
            text,
            "  v{at}: {{type: array, value: [{former}, {former}]}}"
        )
        .unwrap();
    }
    text.push_str(
        "resources:\n  a: {type: local/file, spec: {path: x, content: \"${len(values.v39)}\"}}\n",
    );
    ends_with("a.blueprint.yaml", &text, &["value-too-large"]);
    let mut text = "version: 2023-04-20\nresources:\n".to_owned();
    for at in 0..20 {
        writeln!(
            text,
            "  a{at}: {{type: local/directory, each: \"${{range(0, 90000)}}\", spec: {{path: \"d{at}-${{i}}\"}}}}"
        )
        .unwrap();
    }
    ends_with("a.blueprint.yaml", &text, &["value-constraint"]);
}

#[test]
fn documents_in_documents_have_a_limit_on_all_their_resources() {
    let place = Place::new();
    let includes = |name: &str, count: usize| {
        let mut text = format!("{HOT}resources:\n");
        for at in 0..count {
            writeln!(text, "  r{at}: {{type: {name}}}").unwrap();
        }
        text
    };
    place.write("a.yaml", includes("b.yaml", 300));
    place.write("b.yaml", includes("c.yaml", 300));
    place.write("c.yaml", includes("OS::Heat::None", 300));
    for command in ["validate", "stage"] {
        let ran = bounded(&place, command, "a.yaml");
        assert!(
            ran.code == 1 && ran.err.contains("error[value-constraint]"),
            "{}: {}",
            ran.code,
            ran.err
        );
        assert!(
            ran.err.contains("may have at most 100000 resources"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn limits_can_be_set() {
    let place = Place::with(
        "t.yaml",
        &value("{list_join: [',', [aaaaaaaaaaaaaaaaaaaaaaaaa, b]]}"),
    );
    place.ends(0, &["validate"]);
    let long = format!("{{list_join: [',', [{}, b]]}}", "a".repeat(3000));
    place.write("t.yaml", value(&long));
    place.ends(0, &["validate"]);
    place.write("cyan.toml", "[documents]\nvalue-bytes = 2000\n");
    let said = place.ends(1, &["validate"]).err;
    assert!(
        said.contains("error[value-too-large]: `list_join` is given more than 2000 bytes"),
        "{said}"
    );
    place.write("cyan.toml", "[documents]\nall-value-bytes = 2000\n");
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("error[values-too-large]")
    );
    place.write("cyan.toml", "[documents]\nmembers = 3\n");
    let group = "{type: OS::Heat::ResourceGroup, properties: {count: 4, resource_def: {type: OS::Heat::None}}}";
    place.write("t.yaml", format!("{HOT}resources: {{g: {group}}}\n"));
    let said = place.ends(1, &["validate", "--simulate"]).err;
    assert!(
        said.contains("a group may have at most 3 members, not 4"),
        "{said}"
    );
    place.write("cyan.toml", "[documents]\nall-members = 3\n");
    let said = place.ends(1, &["validate", "--simulate"]).err;
    assert!(
        said.contains("together may have at most 3 resources"),
        "{said}"
    );
    place.write("cyan.toml", "[documents]\nvalue-byte = 3\n");
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("did you mean `value-bytes`?")
    );
}

/// A template, a data source and an input named `big`.
const NAMES_BIG: [(&str, &str); 2] = [
    (
        "template.blueprint.yaml",
        "version: 2023-04-20\nresources: {r: {type: std/template, spec: {source: BIG, variables: {}}}}\n",
    ),
    (
        "data.blueprint.yaml",
        "version: 2023-04-20\ndatasources: {d: {type: local/file, filter: {field: path, operator: '=', search: BIG}, \
         exports: {size: {type: integer}}}}\nresources: {r: {type: std/value, spec: {input: '${datasources.d.size}'}}}\n",
    ),
];

#[cfg(unix)]
#[test]
fn files_larger_than_the_memory_are_refused() {
    let limits = "ulimit -v 700000; ulimit -t 40";
    let place = Place::with("blueprint.yaml", "version: 2023-04-20\nresources: {}\n");
    let big = std::fs::File::create(place.path().join("big")).unwrap();
    big.set_len(3 << 30).unwrap();
    for file in ["big", "/dev/zero"] {
        for (name, text) in NAMES_BIG {
            place.write(name, text.replace("BIG", file));
            let ran = limited(&place, &["stage", name, "-i", "x"], limits);
            let says = if file == "big" {
                "it has 3221225472 bytes; at most 67108864 are read"
            } else {
                "it is not a regular file"
            };
            assert_eq!(ran.code, 1, "{name}: {}", ran.err);
            assert!(ran.err.contains(says), "{name}: {}", ran.err);
        }
        for arguments in [
            &["validate", file][..],
            &["stage", "blueprint.yaml", "--vars", file],
            &["validate", "blueprint.yaml", "--config", file],
            &["validate", "blueprint.yaml", "--catalog", file],
        ] {
            let ran = limited(&place, arguments, limits);
            assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.err);
            assert!(
                ran.err.contains("too large"),
                "{arguments:?} {file}: {}",
                ran.err
            );
        }
    }
    std::fs::rename(place.path().join("big"), place.path().join("cyan.toml")).unwrap();
    let ran = limited(&place, &["validate", "blueprint.yaml"], limits);
    assert!(ran.err.contains("too large"), "{}", ran.err);
    std::fs::remove_file(place.path().join("cyan.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path().join("cyan.toml")).unwrap();
    let ran = limited(&place, &["validate", "blueprint.yaml"], limits);
    assert!(
        ran.err.contains("`cyan.toml` is not a regular file"),
        "{}",
        ran.err
    );
}

#[test]
fn limit_of_named_files_can_be_set() {
    let (name, text) = NAMES_BIG[1];
    let place = Place::with(name, &text.replace("BIG", "long.txt"));
    place.write("long.txt", "x".repeat(3000));
    place.ends(0, &["stage", "-i", "x"]);
    place.write("cyan.toml", "[documents]\nfile-bytes = 2000\n");
    let said = place.ends(1, &["stage", "-i", "x"]).err;
    assert!(
        said.contains("it has 3000 bytes; at most 2000 are read"),
        "{said}"
    );
}

#[test]
fn limit_of_documents_and_inputs_can_be_set() {
    let text = "version: 2023-04-20\nvariables: {n: {type: integer}}\nresources: {r: {type: random/id, spec: {}}}\n";
    let long = |text: &str, bytes: usize| format!("{text}#{}\n", "x".repeat(bytes));
    let place = Place::with("blueprint.yaml", &long(text, 17 << 20));
    place.write("n.yaml", "n: 1\n");
    let stage = ["stage", "-i", "x", "--vars", "n.yaml"];
    let said = place.ends(1, &stage).err;
    assert!(
        said.contains("a document may have 16 MiB of text"),
        "{said}"
    );
    place.write("cyan.toml", "[documents]\ntext-bytes = 33554432\n");
    place.ends(0, &stage);
    place.write("cyan.toml", "[documents]\ntext-bytes = 2000\n");
    for (document, inputs) in [(3000, 0), (0, 3000)] {
        place.write("blueprint.yaml", long(text, document));
        place.write("n.yaml", long("n: 1\n", inputs));
        let said = place.ends(1, &stage).err;
        assert!(said.contains("may have 2000 bytes of text"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn source_of_a_file_is_copied_in_blocks() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources: {r: {type: local/file, spec: {path: copy, source: big}}}\n",
    );
    let big = std::fs::File::create(place.path().join("big")).unwrap();
    big.set_len(640 << 20).unwrap();
    let arguments = ["deploy", "--yes", "--simulate=false"];
    // Less than the file. Each thread that allocates may reserve 64 MiB of addresses besides.
    let ran = limited(&place, &arguments, "ulimit -v 600000");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let copied = std::fs::metadata(place.path().join("copy")).unwrap();
    assert_eq!(copied.len(), 640 << 20);
}

#[cfg(unix)]
#[test]
fn limit_of_file_sizes_is_an_error_and_the_state_stays() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nresources: {r: {type: local/file, spec: {path: copy, source: big}}}\n",
    );
    place.write("big", vec![b'x'; 3 << 20]);
    let ran = limited(&place, &["deploy", "--yes"], "ulimit -f 2048");
    assert_eq!(ran.code, 4, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("File too large"), "{}", ran.err);
    assert!(!place.has("copy"));
    // The limit is below what the store needs.
    let ran = limited(&place, &["deploy", "--yes"], "ulimit -f 0");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("error"), "{} {}", ran.out, ran.err);
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(place.read("copy").len(), 3 << 20);
}
