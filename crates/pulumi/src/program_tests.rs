//! Programs that are lowered as a whole.

use std::time::Duration;

use blueprint::{Blueprint, Expr, Value};
use diag::Diagnostics;
use dialect::{Answer, Answers, Document, FolderEntry, LoadContext, Lowered, Wanted};

fn lowered(text: &str) -> Lowered {
    let file = diag::FileId::new(0);
    let (tree, _) = syntax::parse(file, text, syntax::Format::Yaml);
    let (trees, context) = ([tree], LoadContext::default());
    crate::document::lower(&Document::new(file, "Pulumi.yaml", text, &trees, &context))
}

/// The meaning of a program that has no mistake.
fn sound(text: &str) -> Blueprint {
    let lowered = lowered(text);
    let found: Vec<_> = lowered.diagnostics.iter().collect();
    assert!(found.is_empty(), "{found:?}");
    lowered.blueprint
}

#[test]
fn a_call_that_names_its_provider_ignores_the_parent() {
    for options in [
        "{provider: '${p}', parent: '${p}'}",
        "{parent: '${p}', provider: '${p}'}",
    ] {
        let program = sound(&format!(
            "name: demo\nruntime: yaml\nresources: {{p: {{type: 'pulumi:providers:x'}}}}\n\
             variables: {{v: {{fn::invoke: {{function: 'x:f', options: {options}}}}}}}\n"
        ));
        // The default provider is not used.
        assert!(program.called_plugins.is_empty(), "{options}");
    }
    let program = sound("name: demo\nruntime: yaml\noutputs: {o: {'fn::x:f': {}}}\n");
    assert!(program.called_plugins.contains_key("pulumi:x"));
}

/// The program with its computed settings, whose expressions all have this value.
fn resolved(program: &Blueprint, value: &Value) -> (Blueprint, Vec<&'static str>) {
    let mut found = Diagnostics::new();
    let of = |_: &Expr| Ok(value.clone());
    let resolved = crate::computed::resolve(program, true, &of, &mut found);
    (resolved, found.iter().map(|one| one.code.name).collect())
}

#[test]
fn limits_and_aliases_may_be_computed_from_the_configuration() {
    let text = |options: &str| {
        format!(
            "name: demo\nruntime: yaml\nconfig: {{c: {{type: string}}}}\n\
             resources: {{r: {{type: 'x:R', options: {options}}}}}\n"
        )
    };
    let limited = sound(&text("{customTimeouts: {create: '${c}', delete: 1m}}"));
    assert!(limited.unsettled);
    let (whole, found) = resolved(&limited, &Value::text("2m"));
    let limits = whole.resources["r"].lifecycle.timeouts;
    assert_eq!(limits.create, Some(Duration::from_secs(120)));
    assert_eq!(limits.delete, Some(Duration::from_secs(60)));
    assert!(found.is_empty() && !whole.unsettled);
    let unknown = Value::unknown(None, None);
    for (value, code) in [
        (Value::text("soon"), "unparsable-value"),
        (Value::Bool(true), "type-mismatch"),
        (unknown, "wrong-shape"),
    ] {
        assert_eq!(resolved(&limited, &value).1, [code]);
    }
    let aliases = "[null, {type: 'x:Old', name: '${c}'}, '${c}']";
    let former = sound(&text(&format!("{{aliases: {aliases}}}")));
    let (whole, _) = resolved(&former, &Value::text("urn:a"));
    let former = &whole.resources["r"].ties.as_ref().expect("ties").former;
    let parts = |at: usize| [&former[at].urn, &former[at].name, &former[at].type_name];
    let texts = |at: usize| parts(at).map(|part| part.as_deref().unwrap_or("-"));
    assert_eq!(former.len(), 2);
    assert_eq!(texts(0), ["-", "urn:a", "x:Old"]);
    assert_eq!(texts(1), ["urn:a", "-", "-"]);
}

#[test]
fn an_alias_that_is_the_urn_of_a_declared_resource_has_no_effect() {
    let lowered = lowered(
        "name: demo\nruntime: yaml\nresources:\n  a: {type: 'x:R'}\n  \
         b: {type: 'x:R', options: {aliases: ['${a.urn}']}}\n",
    );
    let found: Vec<_> = lowered.diagnostics.iter().collect();
    assert!(
        matches!(found.as_slice(), [one] if !one.is_error()),
        "{found:?}"
    );
    assert!(lowered.blueprint.resources["b"].ties.is_none());
}

#[test]
fn a_required_version_may_be_computed() {
    let program = sound(
        "name: demo\nruntime: yaml\nconfig: {v: {type: string}}\n\
         pulumi: {requiredVersion: '${v}'}\n",
    );
    let found = |range: &str| resolved(&program, &Value::text(range)).1;
    assert!(found(">=3.0.0").is_empty());
    assert_eq!(found("=3.1.2"), ["required-version"]);
    assert_eq!(found("new"), ["required-version"]);
}

/// A program with the files in `sdks` and below: the requests for packages, and the lowered program.
fn locked(text: &str, files: &[(&str, &str)]) -> (Vec<(String, String)>, Lowered) {
    let file = diag::FileId::new(0);
    let (tree, _) = syntax::parse(file, text, syntax::Format::Yaml);
    let trees = [tree];
    let mut context = LoadContext::default();
    loop {
        let document = Document::new(file, "Pulumi.yaml", text, &trees, &context);
        let wanted = crate::packages::required(&document);
        let unknown: Vec<Wanted> = wanted
            .iter()
            .filter(|one| !matches!(one, Wanted::Package(_)))
            .cloned()
            .collect();
        if unknown.is_empty() {
            let requests = wanted.into_iter().filter_map(|one| match one {
                Wanted::Package(request) => Some((
                    request.name.to_string(),
                    format!(
                        "{} {}",
                        request.version.unwrap_or_default(),
                        request.url.unwrap_or_default()
                    ),
                )),
                _ => None,
            });
            return (requests.collect(), crate::document::lower(&document));
        }
        let answers = unknown.into_iter().map(|one| {
            let answer = match &one {
                Wanted::Folder(folder) => {
                    let inside = files
                        .iter()
                        .filter_map(|(path, _)| path.strip_prefix(&format!("{folder}/")));
                    let entries: std::collections::BTreeSet<String> = inside
                        .map(|path| match path.split_once('/') {
                            Some((below, _)) => format!("{below}/"),
                            None => path.to_owned(),
                        })
                        .collect();
                    let listing: Vec<String> = entries.into_iter().collect();
                    match listing.is_empty() {
                        true => Answer::Missing("there is none".into()),
                        false => Answer::Folder(FolderEntry::of_listing(&listing.join("\n"))),
                    }
                }
                Wanted::Text(path) => {
                    let number = files.iter().position(|(name, _)| *name == &**path);
                    let number = number.expect("a file of the listing");
                    let id = diag::FileId::new(number as u32 + 1);
                    Answer::Text(id, files[number].1.into())
                }
                other => panic!("{other:?}"),
            };
            (one, answer)
        });
        let answers: Vec<_> = answers.collect();
        context.answers = Answers::clone(&context.answers).with(answers);
    }
}

const LOCK: &str =
    "packageDeclarationVersion: 1\nname: x\nversion: 1.2.3\ndownloadUrl: 'https://a/${VERSION}'\n";

#[test]
fn a_lock_file_states_the_version_of_a_package() {
    let program = "name: demo\nruntime: yaml\nresources:\n  \
        a: {type: 'x:R'}\n  b: {type: 'x:R', options: {pluginDownloadURL: 'https://b/$${VERSION}'}}\n";
    let newer = LOCK.replace("1.2.3", "1.3.0");
    for (files, version) in [
        (vec![("sdks/x.yaml", LOCK)], "1.2.3"),
        (vec![("sdks/x/x-1.2.3.yaml", LOCK)], "1.2.3"),
        (vec![("sdk/yaml/x.yaml", LOCK)], "1.2.3"),
        // The later one counts.
        (
            vec![("sdks/a.yaml", LOCK), ("sdks/b.yaml", &newer)],
            "1.3.0",
        ),
        (
            vec![("sdks/x.yaml", LOCK), ("sdks/node/index.js", "{")],
            "1.2.3",
        ),
    ] {
        let (requests, lowered) = locked(program, &files);
        let plugin = format!("{version} https://a/${{VERSION}}");
        assert_eq!(requests, [("pulumi:x".to_owned(), plugin)]);
        let resources = &lowered.blueprint.resources;
        let of = |name: &str| resources[name].ties.as_ref().expect("ties").plugin.clone();
        assert_eq!(of("a").version.as_deref(), Some(version));
        assert_eq!(of("a").url.as_deref(), Some("https://a/${VERSION}"));
        assert_eq!(of("b").version.as_deref(), Some(version));
        assert_eq!(of("b").url.as_deref(), Some("https://b/${VERSION}"));
    }
}

#[test]
fn what_a_lock_file_cannot_say_is_reported() {
    let codes = |program: &str, lock: &str| -> Vec<&str> {
        let (_, lowered) = locked(program, &[("sdks/x.yaml", lock)]);
        lowered
            .diagnostics
            .iter()
            .map(|one| one.code.name)
            .collect()
    };
    let program = "name: demo\nruntime: yaml\nresources: {a: {type: 'x:R'}}\n";
    let nameless = LOCK.replace("name: x\n", "");
    assert_eq!(codes(program, &nameless), ["missing-field"]);
    let wrong = LOCK.replace("1.2.3", "new");
    assert_eq!(codes(program, &wrong), ["invalid-version"]);
    let more = "parameterization: {name: x, version: 1.0.0, value: ''}\n";
    let parameterized = format!("{}{more}", LOCK.replace("name: x", "name: base"));
    assert_eq!(codes(program, &parameterized), ["package-unavailable"]);
    let both = format!("{parameterized}extension: {{name: e, version: 1.0.0, value: ''}}\n");
    assert_eq!(codes(program, &both), ["wrong-shape"]);
    // A package that is not used, and a file that locks none, are of no interest.
    let other = program.replace("x:R", "y:R");
    assert!(codes(&other, &wrong).is_empty());
    assert!(codes(program, "name: x\n").is_empty());
    let two = program.replace("'x:R'", "'x:R', options: {version: 2.0.0}");
    assert_eq!(codes(&two, LOCK), ["unsupported-feature"]);
}
