//! Tests of `cyan.toml`, which sets defaults for the command line.

use crate::place::Place;

const SHOP: &str = r#"{
  "format": 1,
  "namespace": "shop",
  "resourceTypes": {"shop/rack": {"fields": {"boards": {"kind": "integer", "max": 9}}}}
}
"#;

const RACK: &str =
    "version: 2023-04-20\nresources:\n  books: {type: shop/rack, spec: {boards: 2}}\n";

/// Creates a document and a catalogue in another folder, which `cyan.toml` beside the document
/// names.
fn shop(more: &str) -> Place {
    let place = Place::with("shop/books.blueprint.yaml", RACK);
    place.write("types/shop.json", SHOP);
    place.write(
        "shop/cyan.toml",
        format!("catalog = [\"../types/shop.json\"]\n{more}"),
    );
    place
}

#[test]
fn a_catalogue_is_named_once_for_all_commands() {
    let place = shop("simulate = true\n");
    let document = "shop/books.blueprint.yaml";
    for command in ["validate", "stage", "graph"] {
        place.ends(0, &[command, document]);
    }
    assert_eq!(
        place.ends(0, &["deploy", document, "-y"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    for command in ["show", "drift", "exports", "history", "list", "types"] {
        place.ends(0, &["-C", "shop", command]);
    }
    assert!(
        place
            .ends(0, &["-C", "shop", "types", "shop/rack"])
            .out
            .contains("boards")
    );
    assert_eq!(
        place.ends(0, &["destroy", document, "-y"]).last_line(),
        "0 created, 0 updated, 1 deleted"
    );
}

#[test]
fn configured_simulation_is_announced_with_how_to_disable_it() {
    let place = shop("simulate = true\n");
    place.write(
        "shop/books.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  note: {type: local/file, spec: {path: note.txt, content: x}}\n",
    );
    let rehearsed = place.ends(0, &["-C", "shop", "deploy", "-y"]);
    let first = rehearsed.err.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "Rehearsal, as `cyan.toml` says: every provider is simulated, nothing real is changed. `--simulate=false` does it for real."
    );
    assert!(!place.has("shop/note.txt"));
    let real = place.ends(0, &["-C", "shop", "deploy", "-y", "--simulate=false"]);
    assert!(!real.err.contains("Rehearsal"), "{}", real.err);
    assert!(place.has("shop/note.txt"));
    assert!(
        place
            .ends(0, &["-C", "shop", "stage", "--simulate"])
            .err
            .starts_with("Rehearsal: ")
    );
    place.ends(2, &["stage", "--simulate=perhaps"]);
}

#[test]
fn a_plan_of_a_rehearsal_is_deployed_as_one() {
    let place = shop("simulate = true\n");
    place.ends(0, &["-C", "shop", "stage", "--out", "it.plan"]);
    assert_eq!(
        place
            .ends(0, &["-C", "shop", "deploy", "it.plan"])
            .last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    let refused = place.ends(1, &["-C", "shop", "deploy", "it.plan", "--simulate=false"]);
    assert!(
        refused.err.contains("is a plan of a rehearsal"),
        "{}",
        refused.err
    );
}

#[test]
fn a_catalogue_on_the_command_line_takes_the_place_of_those_in_the_file() {
    let place = shop("simulate = true\n");
    place.write("narrow.json", SHOP.replace("\"max\": 9", "\"max\": 1"));
    let document = "shop/books.blueprint.yaml";
    let narrow = place.ends(1, &["validate", "--catalog", "narrow.json", document]);
    assert!(
        narrow.err.contains("error[value-constraint]"),
        "{}",
        narrow.err
    );
    place.ends(0, &["validate", "--catalog", "types/shop.json", document]);
}

#[test]
fn without_a_rehearsal_a_catalogue_manages_nothing() {
    let place = shop("");
    place.ends(0, &["-C", "shop", "stage"]);
    let refused = place.ends(1, &["-C", "shop", "deploy", "-y"]);
    assert!(
        refused.err.contains("error[no-provider]") && refused.err.contains("--simulate"),
        "{}",
        refused.err
    );
}

#[test]
fn a_catalogue_that_the_file_names_is_shown_at_its_place() {
    let place = shop("");
    place.write("types/shop.json", "{\"format\": 1,\n \"namespace\": 7}");
    let wrong = place.ends(1, &["-C", "shop", "validate"]);
    assert!(
        wrong.err.contains("error[invalid-catalog]") && wrong.err.contains("../types/shop.json:2:"),
        "{}",
        wrong.err
    );
    assert_eq!(wrong.out, "");
    place.write("shop/cyan.toml", "catalog = [\"nowhere.json\"]\n");
    let missing = place.ends(1, &["-C", "shop", "stage"]);
    assert!(
        missing.err.contains("nowhere.json` cannot be read"),
        "{}",
        missing.err
    );
}

/// The page lists exactly the keys that exist.
#[test]
fn page_on_the_configuration_is_correct() {
    let page = include_str!("../../../../docs/configuration.md");
    let block = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let place = shop("");
    place.write(
        "shop/books.blueprint.yaml",
        format!("{RACK}variables:\n  owner: {{type: string}}\n"),
    );
    place.write("shop/inputs.yaml", "owner: Ada\n");
    place.write("shop/shop.json", SHOP);
    place.write(
        "shop/cyan.toml",
        block
            .replace("yes = false", "yes = true")
            .replace("quiet = false", "quiet = true"),
    );
    assert_eq!(
        place.ends(0, &["-C", "shop", "deploy"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
    assert!(place.has("shop/state/garden.simulated.db"));
    // The error for an unknown key lists all keys. Each of them must be on the page.
    place.write("shop/cyan.toml", "bogus = 1\n");
    let said = place.ends(1, &["-C", "shop", "stage"]).err;
    let known = said
        .split("the keys here are ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .unwrap();
    let keys = known.split(", ").flat_map(|keys| keys.split(" and "));
    for key in keys.map(|key| key.trim_matches('`')) {
        let forms = [format!("{key} = "), format!("[{key}."), format!("[{key}]")];
        assert!(
            forms.iter().any(|form| page.contains(form)),
            "{key} is not on the page"
        );
    }
}

/// The limits of documents on the page are valid settings.
#[test]
fn the_limits_of_documents_on_the_page_can_be_set() {
    let page = include_str!("../../../../docs/configuration.md");
    let block = page
        .split("```text\n[documents]")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let place = shop("");
    place.write("cyan.toml", format!("[documents]{block}"));
    place.write(
        "a.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
    );
    place.ends(0, &["validate", "a.blueprint.yaml"]);
    place.write("cyan.toml", "[documents]\nmember = 3\n");
    let said = place.ends(1, &["validate", "a.blueprint.yaml"]).err;
    assert!(
        said.contains("`documents` has no setting `member`; did you mean `members`?"),
        "{said}"
    );
}

#[test]
fn limits_of_a_provider_are_read_and_mistakes_in_them_reported() {
    let place = Place::new();
    place.write(
        "limits.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: 1}}\n",
    );
    for (limits, wrong) in [
        (
            "[limits.shop]\nmax-parallel = 1",
            "there is no provider `shop`",
        ),
        (
            "[limits.test]\nmax-parallel = -1",
            "`limits.test.max-parallel` must be an integer from 0",
        ),
        (
            "[limits.test]\ncalls-per-second = 0",
            "`limits.test.calls-per-second` must be more than 0",
        ),
        (
            "[limits.test]\ncalls-per-secnd = 1",
            "`limits.test.calls-per-secnd` unknown key `calls-per-secnd`; did you mean `calls-per-second`?",
        ),
        (
            "[limits.test]\nburst = 3",
            "`limits.test.burst` has no meaning without `calls-per-second`",
        ),
        (
            "[limits.test]\nretries = { first = \"soon\" }",
            "`limits.test.retries.first` `soon` is no length of time",
        ),
    ] {
        place.write("cyan.toml", limits);
        let said = place.ends(1, &["stage"]).err;
        assert!(said.contains(wrong), "{limits}: {said}");
    }
    place.write(
        "cyan.toml",
        "[limits.test]\nmax-parallel = 1\ncalls-per-second = 50.5\nretries = { attempts = 0 }",
    );
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "1 created, 0 updated, 0 deleted"
    );
}
