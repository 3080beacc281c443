//! Tests output that repeats a secret in every usual encoding: of the resource that has the secret,
//! and of another resource.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use crate::hunt::{SecretSearch, escaped_forms, marker};
use crate::place::{Place, Ran, ran};

/// `holder` has the secret. `teller` and the data source `told` do not have it, and print it.
const DOCUMENT: &str = "version: 2025-11-02
variables:
  secret: {type: string, secret: true}
  fails: {type: string, default: never}
datasources:
  told:
    type: local/command
    filter: {field: command, operator: '=', search: 'cat forms; cat forms >&2; test ! -e fetch-fails'}
    exports: {stdout: {type: string}}
resources:
  teller:
    type: local/command
    dependsOn: [holder]
    spec:
      create: 'cat forms; cat forms >&2; test $FAILS != teller'
      read: 'cat forms; cat forms >&2; test ! -e read-fails'
      environment: {FAILS: '${variables.fails}'}
  holder:
    type: local/command
    spec:
      create: 'cat forms; cat forms >&2; test $FAILS != holder'
      environment: {SECRET: '${variables.secret}', FAILS: '${variables.fails}'}
exports:
  teller: {type: string, field: resources.teller.spec.stdout}
  told: {type: string, field: datasources.told.stdout}
";

/// The secret in every encoding.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = escaped_forms(secret);
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([
        secret.to_owned(),
        format!("{secret:?}"),
        hex.to_uppercase(),
        hex,
    ]);
    for before in ["", "a", "ab"] {
        let text = format!("{before}{secret}");
        forms.extend([
            STANDARD.encode(&text),
            STANDARD_NO_PAD.encode(&text),
            URL_SAFE.encode(&text),
            URL_SAFE_NO_PAD.encode(&text),
        ]);
    }
    forms
}

/// A project with the secret, and the search for it.
struct Search {
    place: Place,
    hunt: SecretSearch,
}

impl Search {
    /// Runs a command, and searches its output and all files.
    #[track_caller]
    fn ends(&mut self, code: i32, arguments: &[&str]) -> Ran {
        let mut command = self.place.cyan(arguments);
        command.env("TMPDIR", self.place.path().join("tmp"));
        let ran = ran(command.output().unwrap());
        let line = arguments.join(" ");
        assert_eq!(ran.code, code, "cyan {line}\n{}{}", ran.out, ran.err);
        for (stream, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
            let place = format!("the {stream} of `cyan {line}`");
            self.hunt.search(&place, text.as_bytes());
        }
        let folder = self.place.path().to_path_buf();
        self.hunt.search_files(&folder, &["forms", "inputs.yaml"]);
        ran
    }
}

#[test]
fn no_encoding_of_a_secret_appears_in_clear_text() {
    let secret = format!("{}&<it's>", marker("encodings"));
    let place = Place::with("blueprint.yaml", DOCUMENT);
    place.write("tmp/x", "");
    place.write("forms", forms(&secret).join("\n"));
    let input = serde_json::to_string(&secret).unwrap();
    place.write("inputs.yaml", format!("secret: {input}\n"));
    place.run(&["key", "new"]);
    let mut hunt = SecretSearch::default();
    hunt.plant("encodings", &secret);
    let mut search = Search { place, hunt };
    let given = ["--vars", "inputs.yaml"];
    let with = |words: &[&'static str]| [words, &given].concat();
    search.ends(0, &with(&["stage", "--out", "first.plan"]));
    for fails in ["fails=holder", "fails=teller"] {
        let words = ["deploy", "--yes", "--verbose", "--var", fails];
        let said = search.ends(4, &with(&words));
        assert!(said.err.contains("(secret)"), "{}", said.err);
    }
    search.ends(0, &with(&["deploy", "--yes", "--json"]));
    for words in [
        &["show"][..],
        &["show", "--json"],
        &["exports"],
        &["exports", "--json"],
        &["history", "--json"],
        &["state", "export", "exported.json"],
    ] {
        search.ends(0, words);
    }
    search.ends(0, &with(&["stage"]));
    search.place.write("read-fails", "");
    let said = search.ends(0, &with(&["stage"]));
    assert!(said.err.contains("(secret)"), "{}", said.err);
    search.ends(0, &with(&["stage", "--json", "--out", "second.plan"]));
    let said = search.ends(1, &["drift"]);
    assert!(said.err.contains("(secret)"), "{}", said.err);
    search.ends(1, &["drift", "--json"]);
    search.place.write("fetch-fails", "");
    let said = search.ends(1, &with(&["stage"]));
    assert!(said.err.contains("(secret)"), "{}", said.err);
    search.ends(0, &["destroy", "--yes", "--no-refresh"]);
    assert!(search.hunt.searched() > 50);
}
