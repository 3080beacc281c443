//! Tests each way in which a value becomes secret or passes a secret on: functions, shapes of
//! values, parts of a document, children, data sources, Heat's parameters and functions. Each
//! position has its own secret. The tests use the real providers, and inspect their child processes
//! while these run.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::hunt::{SecretSearch, marker};
use crate::place::{Place, Ran, ran};

/// Calls with a secret text `S`.
const CALLS: [&str; 84] = [
    // Functions of the language.
    "S",
    "to_upper(S)",
    "to_lower(S)",
    "trim(S)",
    "trimprefix(S, \"Mk\")",
    "trimsuffix(S, \"x\")",
    "replace(S, \"q\", \"p\")",
    "substr(S, 1, 24)",
    "split(S, \"q\")",
    "join(split(S, \"/\"), \" \")",
    "join(list(\"a\", S), S)",
    "list(S)",
    "list(list(S))",
    "object(a = S)",
    "object(a = object(b = list(S)))",
    "keys(jsondecode(join(list(\"{\\\"\", substr(S, 0, 19), \"\\\": 1}\"), \"\")))",
    "jsondecode(join(list(\"{\\\"\", substr(S, 0, 19), \"\\\": 1}\"), \"\"))",
    "vals(object(a = S))",
    "merge(object(a = 1), object(b = S))",
    "jsonencode(object(a = S))",
    "jsondecode(jsonencode(list(S)))",
    "fromjson(jsonencode(object(a = S)), \"/a\")",
    "map(list(S, \"b\"), to_upper)",
    "map(list(S), replace_g(\"q\", \"p\"))",
    "filter(list(S, \"b\"), has_prefix_g(\"Mk\"))",
    "reduce(list(S, S), coalesce, \"\")",
    "sort(list(S, \"b\"), compare)",
    "flatmap(list(S), split_g(\"/\"))",
    "map(list(object(a = S)), getattr(\"a\"))",
    "lookup(object(a = S), \"a\")",
    "lookup(object(a = 1), \"b\", S)",
    "coalesce(none, S)",
    "first(\"\", S)",
    "if(contains(S, \"Mk\"), S, \"\")",
    "if(true, object(a = S), none)",
    "base64encode(S)",
    "utf8(base64decode(base64encode(S)))",
    "object(a = S).a",
    "list(S)[0]",
    // Functions of `std`.
    "std_replace(S, \"q\", \"p\")",
    "lower(S)",
    "upper(S)",
    "title(S)",
    "strrev(S)",
    "trimspace(S)",
    "chomp(S)",
    "std_trim(S, \"x\")",
    "std_trimprefix(S, \"Mk\")",
    "std_trimsuffix(S, \"x\")",
    "indent(S, 2)",
    "std_split(\"q\", S)",
    "std_substr(S, 0, 20)",
    "urlencode(S)",
    "std_base64encode(S)",
    "std_base64decode(std_base64encode(S))",
    "std_jsonencode(object(a = S))",
    "std_jsondecode(std_jsonencode(object(a = S)))",
    "yamlencode(object(a = S))",
    "yamldecode(yamlencode(object(a = S)))",
    "tostring(S)",
    "format(\"<%s>\", S)",
    "formatlist(\"<%s>\", list(S, \"b\"))",
    "regex_replace(S, \"q\", \"p\")",
    "regexall(\"[a-zA-Z0-9]+\", S)",
    "chunklist(list(S, \"b\"), 1)",
    "std_coalesce(list(\"\", S))",
    "coalescelist(list(list(), list(S)))",
    "compact(list(\"\", S))",
    "concat(list(list(S), list(\"b\")))",
    "distinct(list(S, S))",
    "element(list(S), 0)",
    "flatten(list(list(S)))",
    "std_join(list(S, \"b\"), \"-\")",
    "std_values(object(a = S))",
    "std_lookup(object(a = S), \"a\", \"\")",
    "std_merge(list(object(a = S), object(b = \"1\")))",
    "reverse(list(S, \"b\"))",
    "slice(list(S, \"b\"), 0, 1)",
    "tolist(list(S))",
    "toset(list(S))",
    "transpose(object(a = list(S)))",
    "zipmap(list(\"a\"), list(S))",
    "zipmap(list(S), list(\"a\"))",
    "setintersection(list(list(S), list(S)))",
];

/// Entries of `resources` with a secret text `S`. `N` is the number of the position.
const PLACES: [&str; 27] = [
    "{type: std/value, spec: {input: 'a ${S} b'}}",
    "{type: std/value, spec: {input: '${S}${S}'}}",
    "{type: std/value, spec: {input: [1, '${S}']}}",
    "{type: std/value, spec: {input: {k: '${S}'}}}",
    "{type: std/value, spec: {input: {k: [{l: 'x ${S}'}]}}}",
    "{type: std/value, metadata: {annotations: {a.b: '${S}'}}, spec: {input: 1}}",
    "{type: std/value, metadata: {custom: {c: [{d: '${S}'}]}}, spec: {input: 1}}",
    "{type: std/value, condition: '${eq(S, \"no\")}', spec: {input: '${S}'}}",
    "{type: std/value, condition: '${contains(S, \"Mk\")}', spec: {input: 1}}",
    "{type: std/value, description: 'about ${S}', spec: {input: 1}}",
    "{type: std/template, spec: {template: '{{ a }}', variables: {a: '${S}'}}}",
    "{type: std/template, spec: {template: '{{ a.b }}', variables: {a: {b: 'x ${S}'}}}}",
    "{type: std/template, spec: {template: '${S}', variables: {}}}",
    "{type: local/file, spec: {path: open/fN, content: '${S}'}}",
    "{type: local/file, spec: {path: open/fN, content: 'user:${S}'}}",
    "{type: local/file, spec: {path: open/fN, sensitiveContent: '${S}'}}",
    "{type: local/file, spec: {path: open/fN, contentBase64: '${base64encode(S)}'}}",
    "{type: local/archive, spec: {path: open/aN.tar, entries: {a.txt: '${S}'}}}",
    "{type: local/symlink, spec: {path: open/lN, target: '${urlencode(S)}'}}",
    "{type: local/file, spec: {path: 'open/f${urlencode(S)}', content: x}}",
    "{type: local/command, spec: {create: 'cat; sleep 0.2', stdin: '${S}'}}",
    "{type: local/command, spec: {create: 'cat >&2; sleep 0.2', stdin: 'x ${S}', read: 'true'}}",
    "{type: local/command, spec: {create: 'sleep 0.2; base64', stdin: '${S}'}}",
    "{type: local/command, spec: {create: 'sleep 0.2; od -An -tx1', stdin: '${S}'}}",
    "{type: local/command, spec: {create: 'cat; sleep 0.2', stdin: '${jsonencode(object(a = S))}'}}",
    "{type: random/id, spec: {bytes: 8, keepers: {k: '${S}'}}}",
    "{type: time/static, spec: {triggers: {k: '${S}'}}}",
];

/// Entries of `resources` with a secret in a part that appears in output. They are refused.
const REFUSED: [&str; 4] = [
    "{type: std/value, metadata: {displayName: 'a ${S}'}, spec: {input: 1}}",
    "{type: std/value, each: '${list(S, \"b\")}', spec: {input: '${elem}'}}",
    "{type: std/value, each: '${list(object(a = S))}', spec: {input: 'x ${elem.a}'}}",
    "{type: std/value, each: '${keys(jsondecode(join(list(\"{\\\"\", substr(S, 0, 19), \"\\\": 1}\"), \"\")))}', spec: {input: 1}}",
];

/// Commands that receive a secret in their environment. No other process may have it there.
const GIVEN: [&str; 3] = [
    "{type: local/command, spec: {create: 'echo \"$IT\"; sleep 0.2', environment: {IT: '${S}'}}}",
    "{type: local/command, spec: {create: 'echo \"$IT\" >&2; sleep 0.2; exit 0', environment: {IT: 'a ${S} b'}}}",
    "{type: local/command, spec: {create: [sh, -c, 'sleep 0.2; printf %s \"$IT\" | base64'], environment: {IT: '${S}'}}}",
];

/// Calls on a secret `S` that fail, or may fail.
const FAILING_CALLS: [&str; 33] = [
    "parseint(S, 10)",
    "tonumber(S)",
    "tobool(S)",
    "jsondecode(S)",
    "std_jsondecode(S)",
    "fromjson(S, \"/a\")",
    "fromjson(\"{}\", S)",
    "fromjson(\"{}\", join(list(\"/\", S), \"\"))",
    "yamldecode(join(list(\"a: [\", S), \"\"))",
    "base64decode(S)",
    "std_base64decode(S)",
    "utf8(base64decode(S))",
    "csvdecode(join(list(\"a,b\\n\", S), \"\"))",
    "regex_match(\"x\", join(list(\"(\", S), \"\"))",
    "regex(\"x\", S)",
    "regex(S, \"never\")",
    "regexall(\"x\", join(list(\"[\", S), \"\"))",
    "cidrhost(S, 1)",
    "cidrnetmask(S)",
    "cidrsubnet(S, 4, 0)",
    "std_cidrsubnet(S, 4, 0)",
    "file(S)",
    "lookup(object(a = 1), S)",
    "std_lookup(object(a = 1), S)",
    "map(list(object(a = 1)), getattr(S))",
    "datetime(S)",
    "format(join(list(\"%d %z\", S), \"\"), S)",
    "substr(S, 0, 1000)",
    "std_substr(S, 0, 1000)",
    "std_index(list(\"a\"), S)",
    "element(split(S, \"no\"), 7)",
    "zipmap(list(S), list())",
    "jsondecode(join(list(\"{\\\"\", substr(S, 0, 19), \"\\\": 1}\"), \"\")).missing",
];

/// Resources with a secret `S` that fail during the run. The messages do not show the secret.
const FAILING_RESOURCES: [&str; 20] = [
    "{type: local/file, spec: {path: open/x/f, source: 'no/${S}'}}",
    "{type: local/file, spec: {path: open/f, content: x, mode: '${S}'}}",
    "{type: local/file, spec: {path: open/f, contentBase64: '${S}'}}",
    "{type: local/file, spec: {path: 'open/x/${S}', content: x}}",
    "{type: local/directory, spec: {path: 'open/x/${S}', parents: false}}",
    "{type: local/symlink, spec: {path: open/taken, target: '${S}'}}",
    "{type: local/archive, spec: {path: open/a.tar, root: 'no/${S}'}}",
    "{type: local/archive, spec: {path: open/a.tar, root: open, include: ['[${S}']}}",
    "{type: local/archive, spec: {path: 'open/${S}', entries: {a: x}}}",
    "{type: local/command, spec: {create: 'echo ok', workingDir: '${S}'}}",
    "{type: local/command, spec: {create: ['${S}']}}",
    "{type: local/command, spec: {create: x, interpreter: ['${S}']}}",
    "{type: local/command, spec: {create: 'exit 1', timeout: '${S}'}}",
    "{type: local/command, spec: {create: 'cat >&2; exit 4', stdin: '${S}'}}",
    "{type: std/template, spec: {template: '{{ a ${S}', variables: {}}}",
    "{type: std/template, spec: {template: '{{ nothing[\"x\"] | ${urlencode(S)} }}', variables: {}}}",
    "{type: tls/certificate-request, spec: {privateKeyPem: '${S}', commonName: a.example}}",
    "{type: tls/self-signed-certificate, spec: {privateKeyPem: '-----BEGIN PRIVATE KEY-----\n${S}\n-----END PRIVATE KEY-----', commonName: a}}",
    "{type: http/request, spec: {url: '${S}'}}",
    "{type: time/offset, spec: {base: '${S}', days: 1}}",
];

/// Data sources that fail, each with its exports.
const FETCHES: [(&str, &str); 6] = [
    (
        "content",
        "{type: local/file, filter: {field: path, operator: '=', search: 'no/${S}'}, exports: {content: {type: string}}}",
    ),
    (
        "names",
        "{type: local/directory, filter: {field: path, operator: '=', search: 'no/${S}'}, exports: {names: {type: array}}}",
    ),
    (
        "names",
        "{type: local/directory, filter: [{field: path, operator: '=', search: open}, {field: glob, operator: '=', search: '[${S}'}], exports: {names: {type: array}}}",
    ),
    (
        "value",
        "{type: local/environment, filter: {field: name, operator: '=', search: '${S}'}, exports: {value: {type: string}}}",
    ),
    (
        "stdout",
        "{type: local/command, filter: {field: command, operator: '=', search: 'echo ${base64encode(S)} >&2; exit 3'}, exports: {stdout: {type: string}}}",
    ),
    (
        "stdout",
        "{type: local/command, filter: [{field: command, operator: '=', search: 'true'}, {field: workingDir, operator: '=', search: '${S}'}], exports: {stdout: {type: string}}}",
    ),
];

/// Declarations of inputs that do not accept the secret.
const MISFITS: [&str; 5] = [
    "{type: string, secret: true, allowedValues: [a, b]}",
    "{type: integer, secret: true}",
    "{type: float, secret: true}",
    "{type: boolean, secret: true}",
    "{type: integer, secret: true, allowedValues: [1, 2]}",
];

/// Declarations of hidden parameters that do not accept the secret.
const HEAT_MISFITS: [&str; 9] = [
    "{type: string, hidden: true, constraints: [{length: {max: 3}}]}",
    "{type: string, hidden: true, constraints: [{allowed_pattern: '[0-9]'}]}",
    "{type: string, hidden: true, constraints: [{allowed_values: [a, b]}]}",
    "{type: string, hidden: true, constraints: [{custom_constraint: cron_expression}]}",
    "{type: string, hidden: true, constraints: [{custom_constraint: net_cidr}]}",
    "{type: number, hidden: true}",
    "{type: boolean, hidden: true}",
    "{type: json, hidden: true}",
    "{type: comma_delimited_list, hidden: true, constraints: [{length: {min: 9}}]}",
];

/// A child that uses its variables. It declares only one of them as secret.
const CHILD: &str = "version: 2023-04-20
variables:
  handed: {type: string}
  own: {type: string, secret: true}
  map: {type: string}
values:
  both: {type: string, value: \"${variables.handed} and ${variables.own}\"}
metadata: {note: \"${variables.handed}\"}
resources:
  inner: {type: std/value, spec: {input: [\"${values.both}\", \"${variables.map}\"]}}
  file: {type: local/file, spec: {path: open/child, content: \"${variables.handed}\"}}
exports:
  both: {type: string, field: values.both}
  inner: {type: array, field: resources.inner.spec.output}
  map: {type: string, field: variables.map}
";

/// Expressions that use Heat's parameters. `P` is the name of a hidden text parameter.
const HEAT: [&str; 32] = [
    "{get_param: P}",
    "[{get_param: P}]",
    "{a: {b: {get_param: P}}}",
    "{str_replace: {template: 'a X b', params: {X: {get_param: P}}}}",
    "{str_replace: {template: {get_param: P}, params: {nothing: x}}}",
    "{str_replace_strict: {template: 'a X b', params: {X: {get_param: P}}}}",
    "{str_replace_vstrict: {template: 'a X b', params: {X: {get_param: P}}}}",
    "{str_split: ['q', {get_param: P}]}",
    "{list_join: [', ', [{get_param: P}, b]]}",
    "{list_concat: [[{get_param: P}], [b]]}",
    "{list_concat_unique: [[{get_param: P}], [b]]}",
    "{map_merge: [{a: {get_param: P}}, {b: 1}]}",
    "{map_replace: [{a: old}, {values: {old: {get_param: P}}}]}",
    "{map_replace: [{old: a}, {keys: {old: {get_param: P}}}]}",
    "{repeat: {template: 'a X', for_each: {X: [{get_param: P}]}}}",
    "{repeat: {template: {X: 1}, for_each: {X: [{get_param: P}]}}}",
    "{filter: [[b], [{get_param: P}, b]]}",
    "{yaql: {expression: $.data.a, data: {a: {get_param: P}}}}",
    "{yaql: {expression: $.data.a.toUpper(), data: {a: {get_param: P}}}}",
    "{yaql: {expression: 'dict($.data.a => 1)', data: {a: {get_param: P}}}}",
    "{yaql: {expression: '$.data.a.select($ + x)', data: {a: [{get_param: P}]}}}",
    "{if: [always, {get_param: P}, b]}",
    "{if: [{not: {equals: [{get_param: P}, b]}}, {get_param: P}, b]}",
    "{if: [{contains: [{get_param: P}, [b]]}, a, {get_param: P}]}",
    "{make_url: {scheme: https, username: u, password: {get_param: P}, host: h}}",
    "{make_url: {scheme: https, host: h, query: {q: {get_param: P}}}}",
    "{get_attr: [valueP, value]}",
    "[{get_attr: [valueP, value]}, 1]",
    "{str_replace: {template: 'a X b', params: {X: {get_attr: [valueP, value]}}}}",
    "{get_attr: [nestedP, out]}",
    "{get_attr: [configP, config]}",
    "{list_join: ['', [{get_attr: [groupP, value, 0]}, b]]}",
];

const NESTED: &str = "heat_template_version: 2021-04-16
parameters: {handed: {type: string}}
resources:
  inner: {type: OS::Heat::Value, properties: {value: {get_param: handed}}}
outputs:
  out: {value: {str_replace: {template: 'a X b', params: {X: {get_attr: [inner, value]}}}}}
";

/// Records the arguments and environments of child processes until it is ended.
struct Watch {
    over: Arc<AtomicBool>,
    seen: Arc<Mutex<HashMap<u32, BTreeSet<Vec<u8>>>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watch {
    /// Watches all processes that this test starts.
    fn start() -> Watch {
        let (over, seen) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(Mutex::new(HashMap::new())),
        );
        let watch = (over.clone(), seen.clone());
        let thread = std::thread::spawn(move || {
            while !watch.0.load(Ordering::Relaxed) {
                record_child_processes(&watch.1);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        Watch {
            over,
            seen,
            thread: Some(thread),
        }
    }

    /// Ends the watch. Returns the observed strings by process.
    fn end(mut self) -> HashMap<u32, BTreeSet<Vec<u8>>> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

/// Records the arguments and environments of the child processes of every `cyan` that this process
/// started.
fn record_child_processes(seen: &Mutex<HashMap<u32, BTreeSet<Vec<u8>>>>) {
    let mut parents: HashMap<u32, u32> = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let parent = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parents.extend(parent.map(|parent| (id, parent)));
    }
    let own = std::process::id();
    for (id, parent) in &parents {
        // The arguments of the binary itself come from the test; only its child processes are
        // watched.
        let mut above = std::iter::successors(Some(*parent), |id| parents.get(id).copied());
        if *parent == own || !above.any(|id| id == own) {
            continue;
        }
        // Between `fork` and `exec`, a child is a copy of the binary.
        let is_copy = || {
            let program = std::fs::read_link(format!("/proc/{id}/exe")).unwrap_or_default();
            program.ends_with("cyan") || program.as_os_str().is_empty()
        };
        if is_copy() {
            continue;
        }
        for name in ["cmdline", "environ"] {
            if let Ok(bytes) = std::fs::read(format!("/proc/{id}/{name}")) {
                seen.lock().unwrap().entry(*id).or_default().insert(bytes);
            }
        }
    }
}

/// The runs of one document. All output and files are searched.
struct Search {
    place: Place,
    hunt: SecretSearch,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Search {
    #[track_caller]
    fn ends(&mut self, code: i32, words: &[&str], given: bool) -> Ran {
        let mut command = self.place.cyan(words);
        command
            .env("TMPDIR", self.place.path())
            .env("DEPLOY_TOKEN", marker("the environment"));
        if given {
            command.args(&self.arguments).envs(self.variables.clone());
        }
        let said = ran(command.output().unwrap());
        assert_eq!(
            said.code,
            code,
            "cyan {}\n{}{}",
            words.join(" "),
            said.out,
            said.err
        );
        let line = format!("`cyan {}`", words.join(" "));
        self.hunt.search(&line, said.out.as_bytes());
        self.hunt.search(&line, said.err.as_bytes());
        self.hunt.search_files(
            self.place.path(),
            &["inputs/", "open/", "home/", "env.yaml"],
        );
        said
    }

    /// Runs the whole life cycle of the resources in a file.
    fn run_life_cycle(&mut self, file: &str) {
        self.place.run(&["key", "new"]);
        self.ends(0, &["validate", file], true);
        self.ends(0, &["graph", file, "--format", "dot"], false);
        self.ends(0, &["stage", file, "-i", "it"], true);
        self.ends(
            0,
            &["stage", file, "-i", "it", "--json", "--out", "kept.plan"],
            true,
        );
        self.ends(0, &["deploy", file, "-i", "it", "--yes", "--json"], true);
        self.ends(0, &["stage", file, "-i", "it"], true);
        for words in [
            ["show"].as_slice(),
            &["show", "--json"],
            &["list", "--json"],
            &["exports"],
            &["exports", "--json"],
            &["history", "--json"],
            &["drift", "--json"],
            &["state", "export"],
        ] {
            self.ends(0, words, false);
        }
        self.ends(0, &["deploy", file, "-i", "it", "--yes"], true);
        self.ends(0, &["destroy", "--yes", "--json"], false);
    }
}

/// Returns the marker of a position.
fn secret(at: usize) -> String {
    marker(&format!("way {at}"))
}

#[test]
fn secret_passed_through_any_function_or_place_appears_nowhere_in_clear_text() {
    let mut hunt = SecretSearch::default();
    let (mut variables, mut values, mut resources, mut exports, mut given) = (
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    );
    let (mut at, mut in_environments) = (0, Vec::new());
    let mut next = |hunt: &mut SecretSearch| {
        at += 1;
        variables.push_str(&format!("  s{at}: {{type: string, secret: true}}\n"));
        given.push_str(&format!(
            "s{at}: {}\n",
            serde_json::to_string(&secret(at)).unwrap()
        ));
        hunt.plant(&format!("position {at}"), &secret(at));
        (at, format!("variables.s{at}"))
    };
    for call in CALLS {
        let (at, name) = next(&mut hunt);
        let call = call.replace('S', &name);
        resources.push_str(&format!(
            "  r{at}: {{type: std/value, spec: {{input: {{v: '${{{call}}}'}}}}}}\n"
        ));
        exports.push_str(&format!(
            "  r{at}: {{type: object, field: resources.r{at}.spec.output}}\n"
        ));
    }
    for entry in PLACES {
        let (at, name) = next(&mut hunt);
        resources.push_str(&format!(
            "  r{at}: {}\n",
            entry.replace("N,", &format!("{at},")).replace('S', &name)
        ));
    }
    for entry in GIVEN {
        let (at, name) = next(&mut hunt);
        in_environments.push(secret(at));
        resources.push_str(&format!("  r{at}: {}\n", entry.replace('S', &name)));
    }
    // Secrets in named values, exports, the document's metadata, data sources and a child.
    let mut own = || next(&mut hunt).1;
    let (value, text, export, note, filter, stdin) = (own(), own(), own(), own(), own(), own());
    let (handed, child, key) = (own(), own(), own());
    values.push_str(&format!("  v1: {{type: string, value: '${{{value}}}'}}\n"));
    values.push_str(&format!(
        "  v2: {{type: object, value: {{a: ['x ${{{text}}}']}}}}\n"
    ));
    exports.push_str(
        "  v1: {type: string, field: values.v1}\n  v2: {type: object, field: values.v2}\n",
    );
    exports.push_str(&format!(
        "  variable: {{type: string, description: an input, field: {export}}}\n"
    ));
    let document = format!(
        "version: 2023-04-20
variables:
{variables}include:
  child: {{path: child.yaml, variables: {{handed: '${{{handed}}}', own: '${{{child}}}', map: '${{jsonencode(object(k = {key}))}}'}}}}
values:
{values}datasources:
  named: {{type: local/environment, filter: {{field: name, operator: '=', search: DEPLOY_TOKEN}}, exports: {{value: {{type: string}}}}}}
  cat:
    type: local/command
    metadata: {{annotations: {{a.b: '${{{filter}}}'}}}}
    filter: [{{field: command, operator: '=', search: 'cat; sleep 0.2'}}, {{field: stdin, operator: '=', search: '${{{stdin}}}'}}]
    exports: {{stdout: {{type: string}}}}
metadata: {{note: ['${{{note}}}']}}
resources:
{resources}  named: {{type: std/value, spec: {{input: '${{datasources.named.value}}'}}}}
  cat: {{type: std/value, spec: {{input: 'x ${{datasources.cat.stdout}}'}}}}
  taken: {{type: std/value, spec: {{input: ['${{children.child.both}}', '${{children.child.inner}}', '${{children.child.map}}']}}}}
exports:
{exports}"
    );
    hunt.plant("the environment", &marker("the environment"));
    let place = Place::with("blueprint.yaml", &document);
    place.write("child.yaml", CHILD);
    place.write("open/x", "");
    let positions = at + 1;
    // The inputs come from a file, the environment and the arguments. No child process of a command
    // sees them.
    let (mut arguments, mut environment, mut file) = (
        vec!["--vars".into(), "inputs/given.yaml".into()],
        Vec::new(),
        String::new(),
    );
    for (at, line) in given.lines().enumerate() {
        let (name, _) = line.split_once(": ").unwrap();
        match at % 4 {
            0 => environment.push((format!("CYAN_VAR_{name}"), secret(at + 1))),
            1 => arguments.extend(["--var".to_owned(), format!("{name}={}", secret(at + 1))]),
            _ => file.push_str(&format!("{line}\n")),
        }
    }
    place.write("inputs/given.yaml", file);
    let mut search = Search {
        place,
        hunt,
        arguments,
        variables: environment,
    };
    let watch = Watch::start();
    search.run_life_cycle("blueprint.yaml");
    let children = watch.end();
    let found = |secret: &&String| {
        let all = || children.values().flatten();
        all().any(|bytes| String::from_utf8_lossy(bytes).contains(secret.as_str()))
    };
    assert_eq!(
        in_environments.iter().filter(found).count(),
        GIVEN.len(),
        "the look at children finds what is there"
    );
    // The command of the data source runs for each plan.
    assert!(children.len() > 10, "{} children were seen", children.len());
    for bytes in children.values().flatten() {
        let text = String::from_utf8_lossy(bytes);
        assert!(
            !text.contains("CYAN_VAR_") && !text.contains("CYAN_KEY"),
            "{text}"
        );
        // The document passes a secret to one command in its environment, which is allowed.
        let asked: Vec<&String> = in_environments
            .iter()
            .filter(|secret| text.contains(secret.as_str()))
            .collect();
        assert!(
            asked.len() <= 1,
            "the secrets of several commands in one: {text}"
        );
        let rest = asked.iter().fold(text.to_string(), |text, secret| {
            text.replace(secret.as_str(), ".")
        });
        let rest = rest.replace(&format!("DEPLOY_TOKEN={}", marker("the environment")), ".");
        // The document writes an encoded secret into this command, which ends so soon that it is
        // rarely seen.
        if rest.contains(">&2; exit 3") {
            continue;
        }
        search
            .hunt
            .search("the arguments and environment of a child", rest.as_bytes());
    }
    eprintln!("{positions} positions, {} children", children.len());
    assert!(positions >= 120, "{positions}");
}

#[test]
fn place_that_would_show_a_secret_refuses_it_without_showing_it() {
    for (at, entry) in REFUSED.into_iter().enumerate() {
        let (at, mut hunt) = (at + 1000, SecretSearch::default());
        hunt.plant(entry, &secret(at));
        let entry = entry.replace('S', "variables.s");
        let place = Place::with(
            "blueprint.yaml",
            &format!(
                "version: 2023-04-20\nvariables: {{s: {{type: string, secret: true}}}}\nresources:\n  r: {entry}\n"
            ),
        );
        place.run(&["key", "new"]);
        let given = format!("s={}", secret(at));
        let mut search = Search {
            place,
            hunt,
            arguments: vec!["--var".into(), given],
            variables: Vec::new(),
        };
        for command in ["validate", "stage"] {
            let said = search.ends(1, &[command], true);
            assert!(said.err.contains("secret-exposed"), "{}", said.err);
            search.ends(1, &[command, "--json"], true);
        }
    }
}

#[test]
fn failure_that_is_about_a_secret_does_not_show_it() {
    let head = "version: 2023-04-20\nvariables:\n  s: ";
    let text = "{type: string, secret: true}";
    let call = |call: &str| {
        let call = call.replace('S', "variables.s");
        format!(
            "{head}{text}\nresources:\n  r: {{type: std/value, spec: {{input: '${{{call}}}'}}}}\n"
        )
    };
    let entry = |entry: &str| {
        format!(
            "{head}{text}\nresources:\n  r: {}\n",
            entry.replace('S', "variables.s")
        )
    };
    let source = |(exported, source): &(&str, &str)| {
        let source = source.replace('S', "variables.s");
        format!(
            "{head}{text}\ndatasources:\n  d: {source}\nresources:\n  r: {{type: std/value, spec: {{input: '${{datasources.d.{exported}}}'}}}}\n"
        )
    };
    let misfit = |input: &str| {
        format!("{head}{input}\nresources:\n  r: {{type: std/value, spec: {{input: 1}}}}\n")
    };
    let heat = |parameter: &str| {
        format!(
            "heat_template_version: 2021-04-16\nparameters:\n  s: {parameter}\nresources: {{r: {{type: OS::Heat::None}}}}\n"
        )
    };
    let documents = FAILING_CALLS
        .into_iter()
        .map(call)
        .chain(FAILING_RESOURCES.into_iter().map(entry));
    let documents = documents
        .chain(FETCHES.iter().map(source))
        .chain(MISFITS.into_iter().map(misfit));
    let documents = documents.chain(HEAT_MISFITS.into_iter().map(heat));
    let (mut failed, mut worked, mut leaks) = (0, Vec::new(), Vec::new());
    for (at, document) in documents.enumerate() {
        let (at, mut hunt) = (at + 2000, SecretSearch::default());
        hunt.plant(&document, &secret(at));
        let place = Place::with("stack.yaml", &document);
        place.write("open/taken", "");
        place.run(&["key", "new"]);
        place.write(
            "inputs/given.yaml",
            format!("s: {}\n", serde_json::to_string(&secret(at)).unwrap()),
        );
        let given = format!("s={}", secret(at));
        let ways = [["--vars", "inputs/given.yaml"], ["--var", &given]];
        let mut has_failed = false;
        for (words, way) in [
            (["validate", "stack.yaml"].as_slice(), 0),
            (&["validate", "stack.yaml"], 1),
            (&["stage", "stack.yaml", "-i", "it", "--json"], 0),
            (&["stage", "stack.yaml", "-i", "it"], 1),
            (&["deploy", "stack.yaml", "-i", "it", "--yes"], 0),
            (&["deploy", "stack.yaml", "-i", "it", "--yes", "--json"], 1),
            (&["show", "--json"], 2),
            (&["history", "--json"], 2),
        ] {
            let mut command = place.cyan(words);
            command
                .args(ways.get(way).into_iter().flatten())
                .env("TMPDIR", place.path());
            let said = ran(command.output().unwrap());
            assert_ne!(said.code, 70, "{document}{}", said.err);
            has_failed |= said.code != 0 && way != 2;
            for text in [&said.out, &said.err] {
                if hunt.finds(text.as_bytes()) {
                    leaks.push(format!("`cyan {}` of\n{document}\n{text}", words.join(" ")));
                }
            }
        }
        hunt.search_files(place.path(), &["inputs/", "open/", "home/"]);
        match has_failed {
            true => failed += 1,
            false => worked.push(document),
        }
    }
    assert!(
        leaks.is_empty(),
        "{} leaks\n{}",
        leaks.len(),
        leaks.join("\n\n")
    );
    eprintln!("{failed} failures; these do not fail: {worked:#?}");
    assert!(failed >= 60, "{failed}: {worked:#?}");
}

#[test]
fn hidden_parameter_of_a_template_appears_nowhere_in_clear_text() {
    let mut hunt = SecretSearch::default();
    let (mut parameters, mut resources, mut outputs) =
        (String::new(), String::new(), String::new());
    let (mut given, mut defaults, mut encrypted, mut arguments) =
        (String::new(), String::new(), Vec::new(), Vec::new());
    for (at, uses) in HEAT.iter().enumerate() {
        let (name, secret) = (format!("p{at}"), marker(&format!("heat {at}")));
        hunt.plant(&format!("parameter {at}"), &secret);
        let written = serde_json::to_string(&secret).unwrap();
        let mut schema = "type: string, hidden: true".to_owned();
        match at % 4 {
            0 => given.push_str(&format!("  {name}: {written}\n")),
            1 => defaults.push_str(&format!("  {name}: {written}\n")),
            2 => {
                encrypted.push(name.clone());
                schema = "type: string".to_owned();
                given.push_str(&format!("  {name}: {written}\n"));
            }
            _ => arguments.extend(["--var".to_owned(), format!("{name}={secret}")]),
        }
        parameters.push_str(&format!("  {name}: {{{schema}}}\n"));
        let value = uses.replace('P', &name);
        let declared = |kind: &str| value.contains(&format!("{kind}{name}"));
        if declared("value") {
            resources.push_str(&format!(
                "  value{name}: {{type: OS::Heat::Value, properties: {{value: {{get_param: {name}}}}}}}\n"
            ));
        }
        if declared("nested") {
            resources.push_str(&format!(
                "  nested{name}: {{type: nested.yaml, properties: {{handed: {{get_param: {name}}}}}}}\n"
            ));
        }
        if declared("config") {
            resources.push_str(&format!(
                "  config{name}: {{type: OS::Heat::SoftwareConfig, properties: {{config: {{get_param: {name}}}}}}}\n"
            ));
        }
        if declared("group") {
            resources.push_str(&format!(
                "  group{name}: {{type: OS::Heat::ResourceGroup, properties: {{count: 2, resource_def: {{type: OS::Heat::Value, properties: {{value: {{get_param: {name}}}}}}}}}}}\n"
            ));
        }
        resources.push_str(&format!(
            "  r{at}: {{type: OS::Heat::Value, properties: {{value: {value}}}}}\n"
        ));
        outputs.push_str(&format!(
            "  r{at}: {{value: {{get_attr: [r{at}, value]}}}}\n"
        ));
        outputs.push_str(&format!("  o{at}: {{value: {value}}}\n"));
    }
    // Hidden parameters of the other types.
    for (name, ty, value) in [
        ("list", "comma_delimited_list", "SECRET-of-a-list,b"),
        ("map", "json", "{\"k\": [\"SECRET-of-a-map\"]}"),
        ("number", "number", "918273645546372"),
    ] {
        let secret = marker(name)[..16].to_owned();
        let value = value.replace("SECRET", &secret);
        hunt.plant(name, if ty == "number" { &value } else { &secret });
        parameters.push_str(&format!("  {name}: {{type: {ty}, hidden: true}}\n"));
        given.push_str(&format!(
            "  {name}: {}\n",
            serde_json::to_string(&value).unwrap()
        ));
        resources.push_str(&format!(
            "  r{name}: {{type: OS::Heat::Value, properties: {{value: {{get_param: {name}}}}}}}\n"
        ));
        outputs.push_str(&format!("  o{name}: {{value: {{get_param: {name}}}}}\n"));
    }
    let template = format!(
        "heat_template_version: 2021-04-16\nparameters:\n{parameters}conditions:\n  always: {{equals: [a, a]}}\nresources:\n{resources}outputs:\n{outputs}"
    );
    let place = Place::with("stack.yaml", &template);
    place.write("nested.yaml", NESTED);
    place.write(
        "env.yaml",
        format!(
            "parameters:\n{given}parameter_defaults:\n{defaults}encrypted_param_names: [{}]\n",
            encrypted.join(", ")
        ),
    );
    arguments.extend(["-e".to_owned(), "env.yaml".to_owned()]);
    Search {
        place,
        hunt,
        arguments,
        variables: Vec::new(),
    }
    .run_life_cycle("stack.yaml");
}
