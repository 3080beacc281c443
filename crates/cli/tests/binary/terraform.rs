//! Tests of the life cycle of resources of Terraform's providers `time` and `local`.

#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use crate::place::{Place, Ran, ran};

const DOCUMENT: &str = "\
version: 2023-04-20
resources:
  begun: {type: tf-time/static, spec: {triggers: {round: one}}}
  note: {type: tf-local/file, spec: {filename: note.txt, content: \"begun ${begun.spec.rfc3339}\"}}
  due: {type: tf-time/offset, spec: {base_rfc3339: \"2024-02-28T00:00:00Z\", offset_days: 1}}
exports:
  sha: {type: string, field: resources.note.spec.content_sha1}
";

/// A folder with a document, and both providers as packages. Without the providers, `providers`
/// prints a message and returns `None`.
struct Providers {
    place: Place,
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn providers(document: &str) -> Option<Providers> {
    let Some(folder) = std::env::var_os("CYAN_TEST_TERRAFORM")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
    else {
        let all = std::env::var_os("CYAN_TEST_ALL").is_some();
        assert!(
            !all,
            "Terraform's providers should have been built: CYAN_TEST_TERRAFORM is not set"
        );
        eprintln!("skipped: Terraform's providers are needed; `cargo xtask test` builds them");
        return None;
    };
    let place = Place::with("shop.blueprint.yaml", document);
    let package = |name: &str| {
        let program = folder.join(format!("terraform-provider-{name}"));
        format!(
            "[plugins.tf-{name}]\nkind = \"terraform\"\npath = '{}'\n",
            program.display()
        )
    };
    place.write("cyan.toml", ["time", "local"].map(package).concat());
    Some(Providers { place })
}

impl Providers {
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.place.cyan(arguments);
        ran(command
            .env("CYAN_KEY", format!("{}=", "A".repeat(43)))
            .output()
            .unwrap())
    }

    /// Runs a command that must succeed. Returns its output.
    #[track_caller]
    fn out(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(
            ran.code,
            0,
            "cyan {}\n{}{}",
            arguments.join(" "),
            ran.out,
            ran.err
        );
        ran.out
    }

    /// Runs a command that must succeed, and checks its last line.
    #[track_caller]
    fn ends(&self, arguments: &[&str], last_line: &str) -> String {
        let out = self.out(arguments);
        assert_eq!(
            out.lines().last(),
            Some(last_line),
            "cyan {}\n{out}",
            arguments.join(" ")
        );
        out
    }

    /// Returns the value of an export.
    #[track_caller]
    fn output(&self, name: &str) -> String {
        self.out(&["output", name]).trim().to_owned()
    }
}

/// The SHA-1 digest of a text, as `sha1sum` computes it.
fn sha1(text: &str) -> String {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new("sha1sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()[..40].to_owned()
}

#[test]
fn function_of_a_terraform_provider_is_called_in_an_expression() {
    let document = "\
version: 2023-04-20
resources:
  note: {type: tf-local/file, spec: {filename: note.txt, content: '${invoke(\"tf-time/rfc3339_parse\", list(\"2024-02-28T00:00:00Z\")).year}'}}
";
    let Some(providers) = providers(document) else {
        return;
    };
    providers.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(providers.place.read("note.txt"), "2024");
}

#[test]
fn resources_of_terraform_providers_live_from_plan_to_destroy() {
    let Some(providers) = providers(DOCUMENT) else {
        return;
    };
    let place = &providers.place;
    assert!(
        providers
            .out(&["types", "tf-time"])
            .contains("tf-time/rotating")
    );
    let staged = providers.ends(&["stage"], "3 to create, 0 to update, 0 to delete");
    assert!(staged.contains("content: (known on deploy)"), "{staged}");
    providers.ends(&["deploy", "-y"], "3 created, 0 updated, 0 deleted");
    let note = place.read("note.txt");
    assert!(note.starts_with("begun 20"), "{note}");
    assert_eq!(providers.output("sha"), sha1(&note));
    providers.ends(&["stage"], "0 to create, 0 to update, 0 to delete");

    // A changed file has another id, so its provider reports the resource as gone.
    place.write("note.txt", "of another program");
    assert!(
        providers
            .out(&["drift"])
            .contains("note tf-local/file vanished")
    );
    providers.ends(&["deploy", "-y"], "1 created, 0 updated, 0 deleted");
    assert_eq!(place.read("note.txt"), note);

    place.write(
        "shop.blueprint.yaml",
        DOCUMENT.replace("offset_days: 1", "offset_days: 2"),
    );
    let staged = providers.ends(&["stage"], "0 to create, 1 to update, 0 to delete");
    let planned = "rfc3339: \"2024-02-29T00:00:00Z\" -> \"2024-03-01T00:00:00Z\"";
    assert!(staged.contains(planned), "{staged}");
    providers.ends(&["deploy", "-y"], "0 created, 1 updated, 0 deleted");

    // The ids of the provider have a resolution of one second.
    std::thread::sleep(Duration::from_millis(1100));
    let changed = DOCUMENT
        .replace("offset_days: 1", "offset_days: 2")
        .replace("round: one", "round: two");
    place.write("shop.blueprint.yaml", changed);
    let staged = providers.ends(
        &["stage"],
        "0 to create, 0 to update, 0 to delete, 2 to replace",
    );
    assert!(
        staged.contains("triggers.round: \"one\" -> \"two\" (forces replacement)"),
        "{staged}"
    );
    providers.ends(
        &["deploy", "-y"],
        "0 created, 0 updated, 0 deleted, 2 replaced",
    );
    assert_ne!(place.read("note.txt"), note);
    providers.ends(&["stage"], "0 to create, 0 to update, 0 to delete");

    providers.ends(&["destroy", "-y"], "0 created, 0 updated, 3 deleted");
    assert!(!place.has("note.txt"));
}

#[test]
fn resource_of_a_terraform_provider_is_imported() {
    // An import of this type returns an empty map of triggers, which differs from null.
    let document = "\
version: 2023-04-20
resources:
  founded: {type: tf-time/static, spec: {rfc3339: \"2020-02-12T06:36:13Z\", triggers: {}}}
";
    let Some(providers) = providers(document) else {
        return;
    };
    providers.out(&[
        "import",
        "-y",
        "tf-time/static",
        "2020-02-12T06:36:13Z",
        "founded",
    ]);
    providers.ends(&["stage"], "0 to create, 0 to update, 0 to delete");
    let wrong = providers.run(&["import", "-y", "tf-time/static", "yesterday", "founded"]);
    assert_ne!(wrong.code, 0, "{}", wrong.out);
    providers.ends(&["destroy", "-y"], "0 created, 0 updated, 1 deleted");
}

#[test]
fn diagnostics_of_terraform_providers_have_places() {
    let document = "\
version: 2023-04-20
resources:
  a: {type: tf-time/static, spec: {rfc3339: yesterday}}
  b: {type: tf-local/file, spec: {filename: x, content: a, source: b}}
  c: {type: tf-time/offset, spec: {}}
";
    let Some(providers) = providers(document) else {
        return;
    };
    for command in [["validate"].as_slice(), &["stage"], &["deploy", "-y"]] {
        let ran = providers.run(command);
        assert_eq!(ran.code, 1, "{}", ran.err);
        let places: Vec<&str> = ran
            .err
            .lines()
            .filter_map(|line| line.trim().strip_prefix("--> "))
            .collect();
        // Two places for the fields of `b` that exclude each other, and none for its missing
        // fields.
        let expected =
            [":3:45", ":4:57", ":4:68", ":5:35"].map(|place| format!("shop.blueprint.yaml{place}"));
        assert_eq!(places, expected, "{}", ran.err);
        assert!(
            ran.err.contains("Invalid RFC3339 String Value"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn change_without_a_key_for_private_data_is_refused_before_it_begins() {
    let Some(providers) = providers(DOCUMENT) else {
        return;
    };
    let refused = ran(providers.place.cyan(&["deploy", "-y"]).output().unwrap());
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(
        refused.err.contains("error[secrets-need-key]"),
        "{}",
        refused.err
    );
    assert!(!providers.place.has("note.txt"));
    providers.ends(&["stage"], "3 to create, 0 to update, 0 to delete");
}
