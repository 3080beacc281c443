//! Tests a secret in each possible position: every field of the types of built-in providers, in
//! simulation. Also tests real providers, with a server that echoes each request.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value as Json;

use crate::hunt::{SecretSearch, marker};
use crate::place::{Place, ran};

/// The namespaces whose types are tested.
const NAMESPACES: [&str; 7] = [
    "local/", "random/", "tls/", "http/", "std/", "time/", "test/",
];

/// Returns a unique number for a position.
fn number(at: usize) -> String {
    format!("{}", 918_273_640_000_u64 + (at as u64 * 7_919) % 9_999)
}

/// A way to give an input.
#[derive(Clone, Copy)]
enum Route {
    Argument,
    Environment,
    File,
    Configuration,
    Default,
}

const ROUTES: [Route; 5] = [
    Route::Argument,
    Route::Environment,
    Route::File,
    Route::Configuration,
    Route::Default,
];

/// A document with the secrets among its inputs.
#[derive(Default)]
struct Draft {
    variables: String,
    resources: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    file: String,
    configured: String,
    planted: Vec<(String, String)>,
}

impl Draft {
    /// Declares a secret input and sets it in one of the ways. Returns the expression for it.
    fn secret(&mut self, at: usize, is_number: bool) -> String {
        let name = format!("s{at}");
        let value = if is_number {
            number(at)
        } else {
            marker(&format!("position {at}"))
        };
        let written = if is_number {
            value.clone()
        } else {
            serde_json::to_string(&value).unwrap()
        };
        let ty = if is_number { "integer" } else { "string" };
        let mut default = String::new();
        match ROUTES[at % ROUTES.len()] {
            Route::Argument => self
                .arguments
                .extend(["--var".to_owned(), format!("{name}={value}")]),
            Route::Environment => self
                .environment
                .push((format!("CYAN_VAR_{name}"), value.clone())),
            Route::File => self.file.push_str(&format!("{name}: {written}\n")),
            Route::Configuration => self.configured.push_str(&format!("{name}: {written}\n")),
            Route::Default => default = format!(", default: {written}"),
        }
        self.variables.push_str(&format!(
            "  {name}: {{type: {ty}, secret: true{default}}}\n"
        ));
        self.planted.push((name.clone(), value));
        format!("variables.{name}")
    }

    fn write(&self, place: &Place) {
        let text = format!(
            "version: 2023-04-20\nvariables:\n{}resources:\n{}",
            self.variables, self.resources
        );
        place.write("blueprint.yaml", text);
        place.write(
            "inputs/given.yaml",
            format!("{{}}\n{}", self.file).trim_start_matches(if self.file.is_empty() {
                ""
            } else {
                "{}\n"
            }),
        );
        place.write(
            "inputs/configured.yaml",
            format!("{{}}\n{}", self.configured).trim_start_matches(
                if self.configured.is_empty() {
                    ""
                } else {
                    "{}\n"
                },
            ),
        );
        place.write("cyan.toml", "vars = [\"inputs/configured.yaml\"]\n");
    }
}

/// Returns a valid value for a required field.
fn sample(name: &str, field: &Json) -> String {
    if let Some(first) = field["allowed"]
        .as_array()
        .and_then(|allowed| allowed.first())
    {
        return first.to_string();
    }
    let ty = field["type"].as_str().unwrap_or_default();
    match ty {
        "string" if name == "url" => "\"http://127.0.0.1:1/x\"".to_owned(),
        "string" => "\"1h\"".to_owned(),
        "integer" | "float" | "number" => "2".to_owned(),
        "boolean" => "true".to_owned(),
        _ if ty.starts_with("array") || ty.starts_with("set") => "[\"x\"]".to_owned(),
        _ if ty.starts_with("map") => "{}".to_owned(),
        "object" => object(field, None),
        _ => "\"x\"".to_owned(),
    }
}

/// Returns an object with its required fields and an additional field.
fn object(of: &Json, more: Option<(&str, String)>) -> String {
    let mut parts = Vec::new();
    for (name, field) in of["fields"].as_object().into_iter().flatten() {
        let is_other = more.as_ref().is_none_or(|(more, _)| more != name);
        if field["required"] == true && field["settable"] != false && is_other {
            parts.push(format!("{name}: {}", sample(name, field)));
        }
    }
    parts.extend(more.map(|(name, value)| format!("{name}: {value}")));
    format!("{{{}}}", parts.join(", "))
}

/// Returns values with a secret that a field accepts.
fn positions(draft: &mut Draft, next: &mut usize, field: &Json, depth: usize) -> Vec<String> {
    let mut secret = |is_number: bool| {
        *next += 1;
        draft.secret(*next, is_number)
    };
    let ty = field["type"].as_str().unwrap_or_default();
    match ty {
        "string" if field["allowed"].as_array().is_none_or(Vec::is_empty) => {
            vec![
                format!("'${{{}}}'", secret(false)),
                format!("'a-${{{}}}-b'", secret(false)),
            ]
        }
        "integer" => vec![format!("'${{{}}}'", secret(true))],
        "any" => vec![
            format!("'${{{}}}'", secret(false)),
            format!(
                "{{a: [1, '${{{}}}', {{b: '${{{}}}'}}]}}",
                secret(true),
                secret(false)
            ),
            format!(
                "'${{jsondecode(join(list(\"{{\\\"\", substr({}, 0, 19), \"\\\": 1}}\"), \"\"))}}'",
                secret(false)
            ),
        ],
        _ if ty.starts_with("array of string") => vec![format!("[x, '${{{}}}']", secret(false))],
        _ if ty.starts_with("map of string") || ty == "map" => {
            vec![format!("{{k: '${{{}}}'}}", secret(false))]
        }
        "object" if depth < 2 => {
            let mut all = Vec::new();
            for (name, inner) in field["fields"].as_object().into_iter().flatten() {
                for value in positions(draft, next, inner, depth + 1) {
                    all.push(object(field, Some((name, value))));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Deploys, shows, plans a change and destroys in simulation. Searches all output and files.
/// Returns whether the deploy succeeded.
fn rehearse(draft: &Draft, what: &str) -> bool {
    if draft.planted.is_empty() {
        return true;
    }
    let place = Place::new();
    draft.write(&place);
    place.run(&["key", "new"]);
    let mut hunt = SecretSearch::default();
    for (name, value) in &draft.planted {
        hunt.plant(&format!("{what} {name}"), value);
    }
    let but = ["blueprint.yaml", "inputs/", "home/"];
    let mut run = |words: &[&str], given: bool| {
        let mut command = place.cyan(words);
        command.args(["--simulate"]).env("TMPDIR", place.path());
        if given {
            command
                .args(["--vars", "inputs/given.yaml"])
                .args(&draft.arguments)
                .envs(draft.environment.clone());
        }
        let said = ran(command.output().unwrap());
        let line = format!("`cyan {}` of {what}", words.join(" "));
        hunt.search(&line, said.out.as_bytes());
        hunt.search(&line, said.err.as_bytes());
        hunt.search_files(place.path(), &but);
        said.code
    };
    let deployed = run(&["deploy", "-y", "--json"], true) == 0;
    if deployed {
        assert_eq!(
            run(&["stage", "--json", "--out", "kept.plan"], true),
            0,
            "{what}"
        );
        for words in [
            vec!["show"],
            vec!["show", "--json"],
            vec!["list", "--json"],
            vec!["state", "export"],
            vec!["drift"],
        ] {
            assert_eq!(run(&words, false), 0, "{words:?} of {what}");
        }
        assert_eq!(run(&["deploy", "-y"], true), 0, "{what}");
        assert_eq!(run(&["destroy", "-y"], false), 0, "{what}");
    }
    deployed
}

#[test]
fn secret_in_any_field_of_any_type_appears_nowhere_in_clear_text() {
    let place = Place::new();
    let listed: Json = serde_json::from_str(&place.run(&["types", "--json"]).out).unwrap();
    let types: Vec<String> = listed["result"]["types"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|ty| ty["kind"] == "resource")
        .filter_map(|ty| ty["name"].as_str().map(str::to_owned))
        .filter(|name| {
            NAMESPACES
                .iter()
                .any(|namespace| name.starts_with(namespace))
        })
        .collect();
    assert!(types.len() > 15, "{types:?}");
    let (mut next, mut deployed, mut refused) = (0, 0, Vec::new());
    for ty in &types {
        let said: Json = serde_json::from_str(&place.run(&["types", ty, "--json"]).out).unwrap();
        let resource = &said["result"]["resource"];
        let settable = resource["fields"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, field)| field["settable"] != false);
        let mut draft = |fields: &[(&String, &Json)]| {
            let (mut draft, mut specs) = (Draft::default(), Vec::new());
            for (name, field) in fields {
                let values = positions(&mut draft, &mut next, field, 0);
                specs.extend(
                    values
                        .into_iter()
                        .map(|value| object(resource, Some((name.as_str(), value)))),
                );
            }
            for (at, spec) in specs.iter().enumerate() {
                draft
                    .resources
                    .push_str(&format!("  r{at}: {{type: {ty}, spec: {spec}}}\n"));
            }
            draft
        };
        let fields: Vec<(&String, &Json)> = settable.collect();
        let all = draft(&fields);
        if all.planted.is_empty() {
            continue;
        }
        if rehearse(&all, ty) {
            deployed += all.planted.len();
            continue;
        }
        // The deploy of all fields was refused: try each field separately, so that a refused one
        // does not hide the others.
        for field in fields {
            let one = draft(&[field]);
            match rehearse(&one, &format!("{ty} {}", field.0)) {
                true => deployed += one.planted.len(),
                false => refused.push(format!("{ty} {}", field.0)),
            }
        }
    }
    eprintln!("{deployed} positions; refused: {refused:?}");
    assert!(
        deployed >= 100,
        "{deployed} were deployed; refused: {refused:?}"
    );
}

/// Starts a server that answers with the received request, as JSON with keys, texts and numbers
/// from it. Returns its port.
fn echo() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut part = [0; 4096];
            // Bodies are short, so one read and a short wait receive the whole body.
            stream
                .set_read_timeout(Some(std::time::Duration::from_millis(200)))
                .unwrap();
            while let Ok(read) = stream.read(&mut part) {
                request.extend_from_slice(&part[..read]);
                if read == 0 || request.ends_with(b"\r\n\r\n") && request.starts_with(b"GET") {
                    break;
                }
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let line = request.lines().next().unwrap_or_default().to_owned();
            // The answer contains only parts of the request, so that no part of it equals the text
            // in the document.
            let token = line
                .split("token=")
                .nth(1)
                .and_then(|rest| rest.split(['&', ' ']).next())
                .unwrap_or_default();
            let header = request
                .lines()
                .find_map(|line| line.strip_prefix("x-part: "))
                .unwrap_or_default();
            let header = header.split('.').nth(1).unwrap_or_default();
            let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
            let inner = body
                .split('<')
                .nth(1)
                .and_then(|rest| rest.split('>').next())
                .unwrap_or_default();
            let number = inner.parse::<u64>().unwrap_or_default();
            let answer =
                serde_json::json!({"seen": [token, header], token: 1, "n": number, "inner": inner})
                    .to_string();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-echo: {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                answer.len()
            );
        }
    });
    port
}

const DOCUMENT: &str = r#"version: 2023-04-20
variables:
  plain: {type: string, secret: true}
  number: {type: integer, secret: true}
  path: {type: string, secret: true}
  prefix: {type: string, secret: true}
  token: {type: string, secret: true}
  header: {type: string, secret: true}
  body: {type: integer, secret: true}
  printed: {type: string, secret: true}
  key: {type: string, secret: true}
  folder: {type: string, secret: true}
  target: {type: string, secret: true}
  unit: {type: string, secret: true}
datasources:
  got:
    type: http/get
    filter: {field: url, operator: "=", search: "http://127.0.0.1:PORT/data?token=${variables.token}&x=1"}
    exports: {body: {type: string}}
resources:
  named: {type: random/id, spec: {bytes: 8, prefix: "id-${variables.prefix}-"}}
  file: {type: local/file, spec: {path: "open/f-${variables.path}.txt", content: "${variables.plain}"}}
  folder: {type: local/directory, spec: {path: "open/d-${variables.folder}"}}
  link: {type: local/symlink, spec: {path: "open/l-${variables.folder}", target: "${variables.target}"}}
  asked:
    type: http/request
    spec:
      url: "http://127.0.0.1:PORT/made?token=${variables.token}&x=1"
      headers: {X-Part: "a.${variables.header}.b"}
      body: "<${variables.body}>"
  secretfile: {type: local/file, spec: {path: open/printed.txt, sensitiveContent: "${variables.printed}"}}
  prints:
    type: local/command
    dependsOn: [secretfile]
    spec: {create: "cat open/printed.txt; echo; cat open/printed.txt >&2; base64 -w 0 open/printed.txt", read: "exit 0"}
  fails:
    type: local/command
    dependsOn: [secretfile]
    condition: ${eq(variables.plain, "never")}
    spec: {create: "cat open/printed.txt >&2; exit 3"}
  map: {type: std/value, spec: {input: "${values.parsed}"}}
  keys: {type: std/value, spec: {input: ["${keys(values.parsed)}", "${vals(values.parsed)}", "${merge(values.parsed, object(b = 1))}"]}}
  numbers: {type: std/value, spec: {input: {n: "${variables.number}", l: ["${variables.number}", 1], t: "n=${variables.number}"}}}
  private: {type: tls/private-key, spec: {algorithm: ecdsa-p256}}
  request: {type: tls/certificate-request, spec: {privateKeyPem: "${private.spec.privateKeyPem}", commonName: a.example}}
  self: {type: tls/self-signed-certificate, spec: {privateKeyPem: "${private.spec.privateKeyPem}", commonName: "${variables.unit}"}}
  uses: {type: std/value, spec: {input: ["${file.spec.id}", "${named.spec.hex}", "${asked.spec.json}", "${datasources.got.body}"]}}
values:
  parsed: {type: object, value: '${jsondecode(join(list("{\"", variables.key, "\": [1, {\"", variables.key, "\": 2}]}"), ""))}'}
metadata: {numbers: "${variables.number}", map: "${values.parsed}"}
exports:
  map: {type: object, field: resources.map.spec.output}
  keys: {type: array, field: resources.keys.spec.output}
  numbers: {type: object, field: resources.numbers.spec.output}
  echoed: {type: object, field: resources.asked.spec.json}
  printed: {type: string, field: resources.prints.spec.stdout}
  id: {type: string, field: resources.file.spec.id}
  hex: {type: string, field: resources.named.spec.hex}
  request: {type: string, field: resources.request.spec.certificateRequestPem}
  public: {type: string, field: resources.private.spec.publicKeyPem}
"#;

/// Returns a secret that needs no quotes in names, paths and keys.
fn word(place: &str) -> String {
    marker(place)[..16].to_owned() + "qzv"
}

#[test]
fn outputs_of_real_providers_show_no_secret() {
    let place = Place::with(
        "blueprint.yaml",
        &DOCUMENT.replace("PORT", &echo().to_string()),
    );
    place.write("open/x", "");
    place.run(&["key", "new"]);
    let mut hunt = SecretSearch::default();
    let mut given = String::new();
    for name in [
        "plain", "path", "prefix", "token", "header", "printed", "key", "folder", "target", "unit",
    ] {
        // A token in a URL and a name in a certificate accept only letters and digits.
        let secret = if matches!(name, "plain" | "printed" | "target") {
            marker(name)
        } else {
            word(name)
        };
        given.push_str(&format!(
            "{name}: {}\n",
            serde_json::to_string(&secret).unwrap()
        ));
        hunt.plant(name, &secret);
    }
    for (at, name) in ["number", "body"].into_iter().enumerate() {
        given.push_str(&format!("{name}: {}\n", number(at)));
        hunt.plant(name, &number(at));
    }
    place.write("inputs/all.yaml", given);
    let but = ["inputs/", "open/", "home/"];
    let mut run = |code: i32, words: &[&str]| {
        let said = ran(place
            .cyan(words)
            .env("TMPDIR", place.path())
            .output()
            .unwrap());
        assert_eq!(
            said.code,
            code,
            "cyan {}: {}{}",
            words.join(" "),
            said.out,
            said.err
        );
        let line = format!("`cyan {}`", words.join(" "));
        hunt.search(&line, said.out.as_bytes());
        hunt.search(&line, said.err.as_bytes());
        hunt.search_files(place.path(), &but);
        said
    };
    run(0, &["stage", "--vars", "inputs/all.yaml"]);
    run(
        0,
        &[
            "stage",
            "--vars",
            "inputs/all.yaml",
            "--json",
            "--out",
            "kept.plan",
        ],
    );
    let deployed = run(0, &["deploy", "-y", "--vars", "inputs/all.yaml", "--json"]);
    assert!(
        deployed.out.contains("(secret)"),
        "what was printed is masked: {}",
        deployed.out
    );
    run(0, &["stage", "--vars", "inputs/all.yaml", "--json"]);
    for words in [
        vec!["show"],
        vec!["show", "--json"],
        vec!["show", "file"],
        vec!["show", "prints"],
        vec!["show", "asked", "--json"],
        vec!["list"],
        vec!["history", "--json"],
        vec!["drift", "--json"],
        vec!["exports", "--json"],
        vec!["state", "export"],
        vec!["state", "export", "--format", "heat"],
    ] {
        let said = ran(place.cyan(&words).output().unwrap());
        let line = format!("`cyan {}`", words.join(" "));
        hunt_in(&mut hunt, &line, &said.out, &said.err);
    }
    // The public part of a secret key is not secret.
    let show: Json = serde_json::from_str(&place.run(&["show", "--json"]).out).unwrap();
    let computed = |address: &str, field: &str| {
        let found = show["result"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["address"] == address);
        found.unwrap()["computed"][field]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    for (address, field) in [
        ("private", "publicKeyPem"),
        ("private", "fingerprintSha256"),
        ("request", "certificateRequestPem"),
    ] {
        assert!(
            computed(address, field).len() > 30,
            "{address} {field}: {show}"
        );
    }
    place.ends(0, &["exports", "public"]);
    let destroyed = place.ends(0, &["destroy", "-y", "--json"]);
    hunt_in(&mut hunt, "a destroy", &destroyed.out, &destroyed.err);
    hunt.search_files(place.path(), &but);
}

#[track_caller]
fn hunt_in(hunt: &mut SecretSearch, what: &str, out: &str, err: &str) {
    hunt.search(what, out.as_bytes());
    hunt.search(what, err.as_bytes());
}

#[test]
fn broken_files_of_inputs_and_settings_are_not_quoted() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20\nvariables:\n  a: {type: string, secret: true}\n  n: {type: integer, secret: true}\n\
         resources: {v: {type: std/value, spec: {input: \"${variables.a}\"}}}\n",
    );
    let mut hunt = SecretSearch::default();
    let secret = word("broken");
    hunt.plant("broken", &secret);
    let texts = [
        format!("a: \"{secret}\n"),
        format!("a: [{secret}\n"),
        format!("a: *{secret}\n"),
        format!("a: x\n  {secret}: y\n - z\n"),
        format!("{secret}\n"),
        format!("a: x\nn: {secret}\n"),
        format!("a: {secret}\na: {secret}\n"),
        format!("a: {{b: {secret}]\n"),
    ];
    let jsons = [
        format!("{{\"a\": {secret}}}"),
        format!("{{\"a\": \"{secret}"),
        format!("{{\"a\": [\"{secret}\"}}"),
    ];
    let yaml = texts.iter().map(|text| ("given.yaml", text));
    for (name, text) in yaml.chain(jsons.iter().map(|text| ("given.json", text))) {
        place.write(name, text);
        for words in [
            vec!["stage", "--vars", name],
            vec!["stage", "--vars", name, "--json"],
            vec!["stage", "--vars", name, "-v"],
        ] {
            let said = place.run(&words);
            assert_ne!(said.code, 70);
            hunt_in(
                &mut hunt,
                &format!("{words:?} with {text:?}"),
                &said.out,
                &said.err,
            );
            assert!(
                said.code == 0 || !words.contains(&"-v") || said.err.contains("error"),
                "{}",
                said.err
            );
        }
    }
    // Repeat the test with parameters in Heat's environments.
    place.write(
        "heat.yaml",
        "heat_template_version: 2021-04-16\nparameters:\n  a: {type: string, hidden: true}\n  n: {type: number, hidden: true}\n\
         resources:\n  v: {type: OS::Heat::Value, properties: {value: {get_param: a}}}\n",
    );
    let below = |text: &str| format!("parameters:\n  {}\n", text.trim_end().replace('\n', "\n  "));
    let yaml = texts
        .iter()
        .flat_map(|text| [("env.yaml", text.clone()), ("env.yaml", below(text))]);
    for (name, text) in yaml.chain(jsons.iter().map(|text| ("env.json", text.clone()))) {
        place.write(name, &text);
        for command in ["validate", "stage"] {
            for words in [
                vec![command, "heat.yaml", "-e", name],
                vec![command, "heat.yaml", "-e", name, "--json"],
            ] {
                let said = place.run(&words);
                assert_ne!(said.code, 70);
                hunt_in(
                    &mut hunt,
                    &format!("{words:?} with {text:?}"),
                    &said.out,
                    &said.err,
                );
            }
        }
    }
    for setting in [
        format!("vars = \"{secret}\"\n"),
        format!("[providers.local]\ntoken = \"{secret}\n"),
        format!("[providers.local]\ntoken = {secret}\n"),
        format!("parallelism = \"{secret}\"\n"),
    ] {
        place.write("cyan.toml", &setting);
        let said = place.run(&["validate"]);
        hunt_in(
            &mut hunt,
            &format!("cyan.toml with {setting:?}"),
            &said.out,
            &said.err,
        );
        assert!(
            said.code != 0 && said.err.contains("line "),
            "{setting}: {}",
            said.err
        );
    }
}

const CATALOGUE: &str = r#"{
  "format": 1,
  "namespace": "shop",
  "resourceTypes": {
    "shop/rack": {
      "idField": "rackId",
      "fields": {
        "name": {"kind": "string", "required": true, "unique": true, "mustRecreate": true},
        "boards": {"kind": "integer"},
        "tags": {"kind": "array", "items": {"kind": "string"}},
        "data": {"kind": "any"},
        "rackId": {"kind": "string", "computed": true, "value": "rack/{spec.name}"},
        "arn": {"kind": "string", "computed": true, "value": "arn:{spec.name}:{hash}:{updates}"},
        "count": {"kind": "integer", "computed": true, "value": "{spec.boards}"},
        "label": {"kind": "string", "computed": true, "value": "has {spec.boards} boards"},
        "echo": {"kind": "any", "computed": true, "value": {"all": ["{spec.data}", "{spec.tags}"], "name": "{spec.name}"}},
        "first": {"kind": "string", "computed": true, "optional": true, "value": "kept {spec.name}"}
      }
    }
  }
}"#;

#[test]
fn a_simulated_catalogue_repeats_no_secret_in_clear() {
    let place = Place::with(
        "blueprint.yaml",
        "version: 2023-04-20
variables:
  name: {type: string, secret: true}
  boards: {type: integer, secret: true}
  data: {type: string, secret: true}
  note: {type: string, default: one}
resources:
  rack:
    type: shop/rack
    spec: {name: \"${variables.name}\", boards: \"${variables.boards}\", tags: [\"${variables.note}\", \"${variables.data}\"], data: {k: \"${values.map}\"}}
  beside: {type: std/value, spec: {input: [\"${rack.spec.arn}\", \"${rack.spec.echo}\", \"${rack.spec.count}\", \"${rack.spec.rackId}\"]}}
values:
  map: {type: object, value: '${jsondecode(join(list(\"{\\\"\", variables.data, \"\\\": 1}\"), \"\"))}'}
exports:
  echo: {type: object, field: resources.rack.spec.echo}
  count: {type: integer, field: resources.rack.spec.count}
",
    );
    place.write("shop.json", CATALOGUE);
    place.write(
        "inputs/given.yaml",
        format!(
            "name: {}\ndata: {}\nboards: {}\n",
            word("rack"),
            word("data"),
            number(5)
        ),
    );
    place.run(&["key", "new"]);
    let mut hunt = SecretSearch::default();
    for (name, secret) in [
        ("name", word("rack")),
        ("data", word("data")),
        ("boards", number(5)),
    ] {
        hunt.plant(name, &secret);
    }
    let mut run = |words: &[&str], last: &str| {
        let given = ["--simulate", "--catalog", "shop.json"];
        let inputs: &[&str] = if matches!(words[0], "stage" | "deploy") {
            &["--vars", "inputs/given.yaml"]
        } else {
            &[]
        };
        let words = [words, &given, inputs].concat();
        let said = place.ends(0, &words);
        hunt_in(&mut hunt, &format!("{words:?}"), &said.out, &said.err);
        hunt.search_files(place.path(), &["inputs/", "home/"]);
        assert!(
            last.is_empty() || said.last_line() == last,
            "{words:?}: {}",
            said.out
        );
    };
    run(&["deploy", "-y"], "2 created, 0 updated, 0 deleted");
    // The commands run in new processes, which know only the files.
    run(&["stage"], "0 to create, 0 to update, 0 to delete");
    run(&["drift"], "0 drifted, 0 vanished");
    run(&["stage", "--json"], "");
    run(&["show", "--json"], "");
    run(&["show", "rack"], "");
    run(&["exports", "--json"], "");
    run(&["state", "export"], "");
    run(&["deploy", "-y", "--var", "note=two", "--json"], "");
    run(&["deploy", "-y", "--var", "note=two"], "");
    run(&["drift"], "0 drifted, 0 vanished");
    run(
        &["stage", "--var", "note=two"],
        "0 to create, 0 to update, 0 to delete",
    );
    run(&["destroy", "-y"], "0 created, 0 updated, 2 deleted");
}
