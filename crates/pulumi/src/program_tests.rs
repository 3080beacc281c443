//! Programs that are lowered as a whole.

use std::time::Duration;

use blueprint::{Blueprint, Expr, Value};
use diag::Diagnostics;
use dialect::{Document, LoadContext, Lowered};

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

#[test]
fn each_resource_notes_the_url_of_its_plugin() {
    let program = sound(
        "name: demo\nruntime: yaml\nresources:\n  a: {type: 'x:R', options: {version: v1.2.3}}\n  \
         b: {type: 'x:R', options: {version: 1.2.3, pluginDownloadURL: 'https://b/$${VERSION}'}}\n",
    );
    let plugin = |name: &str| {
        program.resources[name]
            .ties
            .as_ref()
            .expect("ties")
            .plugin
            .clone()
    };
    assert_eq!(
        (plugin("a").version.as_deref(), plugin("a").url),
        (Some("v1.2.3"), None)
    );
    assert_eq!(plugin("b").url.as_deref(), Some("https://b/${VERSION}"));
}

#[test]
fn a_second_version_of_a_package_is_reported() {
    let lowered = lowered(
        "name: demo\nruntime: yaml\nresources:\n  a: {type: 'x:R', options: {version: 1.2.3}}\n  \
         b: {type: 'x:R', options: {version: 1.3.0}}\n",
    );
    let found: Vec<&str> = lowered
        .diagnostics
        .iter()
        .map(|one| one.code.name)
        .collect();
    assert_eq!(found, ["unsupported-feature"]);
}
