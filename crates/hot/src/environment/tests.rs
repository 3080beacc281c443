//! Tests of parsing, merging and resolving environments.

use blueprint::{Map, Value};

use super::*;
use crate::parameters::ParameterKind;

fn json(text: &str) -> Value {
    pycompat::parse_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(text: &str) -> Map {
    json(text).as_map().expect("a map").clone()
}

fn codes(found: &[ValueRefusal]) -> Vec<&'static str> {
    found.iter().map(|refusal| refusal.code.name).collect()
}

fn registry(text: &str) -> Registry {
    let mut found = Vec::new();
    let registry = Registry::new(&map(text), &mut found);
    assert!(
        found
            .iter()
            .all(|refusal| refusal.severity != diag::Severity::Error),
        "{found:?}"
    );
    registry
}

/// Whether a type is known, by its prefix.
fn exists(ty: &str) -> bool {
    let gone = ty.ends_with('*')
        || ["OS::Quantum", "OS::Metering"]
            .iter()
            .any(|gone| ty.starts_with(gone));
    ["OS::", "C::D", "X::"]
        .iter()
        .any(|known| ty.starts_with(known))
        && !gone
}

fn meaning(registry: &Registry, ty: &str, resource: &str) -> String {
    match registry
        .resolve(ty, Some(resource), &exists)
        .map(|resolved| resolved.target)
    {
        None => "nothing".into(),
        Some(ResolvedType::Type(name)) => name.to_string(),
        Some(ResolvedType::Template(name)) => format!("template {name}"),
    }
}

#[test]
fn an_environment_is_a_map_of_sections() {
    let mut found = Vec::new();
    HeatEnvironment::parse(&json("[]"), &mut found);
    HeatEnvironment::parse(&Value::Null, &mut found);
    let text = r#"{"parameterz": {}, "parameters": null, "resource_registry": [], "encrypted_param_names": ["a"],
        "event_sinks": [{"type": "zaqar-queue"}, {"type": "x"}, 1, {}]}"#;
    let environment = HeatEnvironment::parse(&json(text), &mut found);
    assert_eq!(
        codes(&found),
        [
            "wrong-shape",
            "unknown-section",
            "empty-section",
            "wrong-shape",
            "event-sink-ignored",
            "value-not-allowed",
            "wrong-shape",
            "missing-field"
        ]
    );
    let words: Vec<_> = found
        .iter()
        .filter_map(ValueRefusal::words)
        .take(3)
        .map(|words| words.to_string())
        .collect();
    assert_eq!(
        words,
        [
            "ValueError: The environment is not a valid YAML mapping data type.",
            "ValueError: environment has wrong section \"parameterz\"",
            "ValueError: environment has empty section \"parameters\"",
        ]
    );
    assert!(environment.encrypts("a") && !environment.encrypts("b"));
}

fn kinds(name: &str) -> Option<ParameterKind> {
    Some(match name.chars().next()? {
        's' => ParameterKind::String,
        'n' => ParameterKind::Number,
        'l' => ParameterKind::List,
        'j' => ParameterKind::Map,
        'b' => ParameterKind::Boolean,
        _ => return None,
    })
}

/// The merged parameters of files, and the mistakes.
fn merged(files: &[&str]) -> (String, Vec<(usize, &'static str)>) {
    let mut found = Vec::new();
    let parse = |text: &&str| HeatEnvironment::parse(&json(text), &mut Vec::new());
    let names = ["e1.yaml", "e2.yaml", "e3.yaml"];
    let files = names
        .into_iter()
        .zip(files.iter().map(parse))
        .map(|(name, environment)| NamedEnvironment { name, environment });
    let merged = merge(
        HeatEnvironment::default(),
        files.collect(),
        &kinds,
        &mut found,
    );
    let found = found
        .into_iter()
        .map(|(file, refusal)| (file, refusal.code.name))
        .collect();
    (
        pycompat::json_in_order(&Value::Map(merged.parameters.into())),
        found,
    )
}

#[test]
fn later_files_win_or_are_combined() {
    let first = r#"{"parameters": {"s": "one", "n": 1, "l": ["a", "b"], "j": {"a": {"x": 1}, "b": 2},
        "j2": {"a": {"x": 1, "l": [1]}, "b": "s"}, "other": 1},
        "parameter_merge_strategies": {"s": "merge", "l": "merge", "j": "merge", "j2": "deep_merge"}}"#;
    let second = r#"{"parameters": {"s": "two", "n": 2, "l": ["c"], "j": {"a": {"y": 2}, "c": null},
        "j2": {"a": {"y": 2, "l": [2]}, "b": "t"}, "other": 2, "s2": null}}"#;
    let (parameters, found) = merged(&[first, second]);
    assert_eq!(
        parameters,
        r#"{"s": "onetwo", "n": 2, "l": ["a", "b", "c"], "j": {"a": {"y": 2}, "b": 2}, "j2": {"a": {"x": 1, "l": [1, 2], "y": 2}, "b": "st"}, "other": 1}"#
    );
    assert!(found.is_empty());
    let by_default =
        r#"{"parameters": {"l": "b"}, "parameter_merge_strategies": {"default": "merge"}}"#;
    assert_eq!(
        merged(&[r#"{"parameters": {"s": "x"}}"#, by_default]).0,
        r#"{"s": "x", "l": "b"}"#
    );
    assert_eq!(
        merged(&[
            r#"{"parameters": {"l": "a"}, "parameter_merge_strategies": {"default": "merge"}}"#,
            by_default
        ])
        .0,
        r#"{"l": "a,b"}"#
    );
}

#[test]
fn strategies_that_differ_and_kinds_that_do_not_merge_are_refused() {
    let merge =
        r#"{"parameters": {"n": 1, "s": "a"}, "parameter_merge_strategies": {"default": "merge"}}"#;
    let other = r#"{"parameters": {"s": "b"}, "parameter_merge_strategies": {"s": "overwrite"}}"#;
    assert_eq!(
        merged(&[merge, other]),
        (r#"{"n": 1, "s": "a"}"#.into(), vec![(1, "merge-conflict")])
    );
    assert_eq!(
        merged(&[merge, merge]),
        (r#"{"n": 1, "s": "aa"}"#.into(), vec![(1, "merge-kind")])
    );
    let mut found = Vec::new();
    let files = [merge, other].map(|text| NamedEnvironment {
        name: "e2.yaml",
        environment: HeatEnvironment::parse(&json(text), &mut Vec::new()),
    });
    super::merge(HeatEnvironment::default(), files.into(), &kinds, &mut found);
    assert_eq!(
        found[0].1.words().map(|words| words.to_string()).as_deref(),
        Some(
            "ConflictingMergeStrategyForParam: Conflicting merge strategy 'overwrite' for parameter 's' in file 'e2.yaml'."
        )
    );
}

#[test]
fn an_entry_leads_to_a_type_or_a_template() {
    let registry = registry(
        r#"{"A::B": "C::D", "E::F": "A::B", "G::H": "No::Such", "T::U": "t.yaml", "P::*": "X::*", "Q::*": "OS::Heat::None",
            "L::M": "L::N", "L::N": "L::M", "V::*": "v.yaml", "OS::*": "OS::Heat::None"}"#,
    );
    for (ty, expected) in [
        ("A::B", "C::D"),
        ("E::F", "C::D"),
        ("G::H", "nothing"),
        ("T::U", "template t.yaml"),
        ("x.yaml", "template x.yaml"),
        ("P::Q", "X::Q"),
        ("Q::R", "OS::Heat::None"),
        ("L::M", "nothing"),
        ("V::W", "nothing"),
        ("OS::Heat::Value", "OS::Heat::None"),
        ("OS::Heat::None", "OS::Heat::None"),
        ("C::D", "C::D"),
        ("No::Such", "nothing"),
    ] {
        assert_eq!(meaning(&registry, ty, "r"), expected, "{ty}");
    }
    let empty = super::registry::Registry::default();
    assert_eq!(meaning(&empty, "OS::Quantum::Net", "r"), "OS::Neutron::Net");
    assert_eq!(
        meaning(&empty, "OS::Metering::Alarm", "r"),
        "OS::Aodh::Alarm"
    );
}

#[test]
fn cyclic_registry_is_resolved_in_bounded_time() {
    let entries: Vec<String> = (1..40)
        .map(|at| format!(r#""{0}*": "a{0}*""#, "a".repeat(at)))
        .collect();
    assert_eq!(
        meaning(
            &registry(&format!("{{{}}}", entries.join(", "))),
            &"a".repeat(41),
            "r"
        ),
        "nothing"
    );
}

#[test]
fn order_of_registry_entries_decides() {
    let mut found = Vec::new();
    let section = r#"{"C::*": "OS::Star", "C::D": "OS::Exact", "C::Da*": "OS::Late", "E::F": "OS::Exact", "E::F*": "OS::Star",
        "*": "OS::Heat::None"}"#;
    let registry = Registry::new(&map(section), &mut found);
    let shadowed: Vec<_> = found.iter().map(|refusal| refusal.path.clone()).collect();
    assert_eq!(shadowed.len(), 5, "all but `*` itself");
    assert!(
        codes(&found)
            .iter()
            .all(|code| *code == "registry-shadowed")
    );
    assert_eq!(meaning(&registry, "C::D", "r"), "OS::Heat::None");
    let registry = super::tests::registry(
        r#"{"C::*": "OS::Star", "C::D": "OS::Exact", "E::F": "OS::Exact", "E::F*": "OS::Star"}"#,
    );
    assert_eq!(meaning(&registry, "C::D", "r"), "OS::Star");
    assert_eq!(meaning(&registry, "E::F", "r"), "OS::Exact");
    assert_eq!(meaning(&registry, "E::Fa", "r"), "OS::Star");
}

#[test]
fn null_removes_registry_entries() {
    let registry = registry(
        r#"{"A::B": "OS::X", "A::C": "OS::X", "A::D*": "OS::X", "B::C": "OS::X", "A::*": null, "B::C": null, "A::E": "OS::Y"}"#,
    );
    for (ty, expected) in [
        ("A::B", "nothing"),
        ("A::Da", "nothing"),
        ("B::C", "nothing"),
        ("A::E", "OS::Y"),
    ] {
        assert_eq!(meaning(&registry, ty, "r"), expected, "{ty}");
    }
}

#[test]
fn resource_entries_precede_global_entries() {
    let registry = registry(
        r#"{"A::*": "OS::All", "resources": {"x": {"A::B": "OS::One", "hooks": "pre-create"}, "x*": {"hooks": ["post-update"],
            "restricted_actions": ["update", "replace"], "A::B": "OS::Pattern"}}}"#,
    );
    assert_eq!(meaning(&registry, "A::B", "x"), "OS::One");
    assert_eq!(meaning(&registry, "A::B", "xy"), "OS::All");
    assert_eq!(meaning(&registry, "A::C", "x"), "OS::All");
    assert_eq!(
        registry
            .hooks("x")
            .iter()
            .map(AsRef::as_ref)
            .collect::<Vec<&str>>(),
        ["pre-create", "post-update"]
    );
    assert_eq!(registry.hooks("xy").len(), 1);
    assert!(registry.hooks("y").is_empty());
    assert_eq!(registry.restricted_actions("xyz").len(), 2);
}

#[test]
fn alias_of_a_resource_applies_to_later_resources() {
    let mut registry = registry(r#"{"resources": {"x": {"OS::V": "OS::Heat::None"}}}"#);
    let all = registry.resolve_all([("w", "OS::V"), ("x", "OS::V"), ("y", "OS::V")], &exists);
    let types: Vec<_> = all
        .into_iter()
        .flatten()
        .map(|resolved| resolved.target)
        .collect();
    let ty = |name: &str| ResolvedType::Type(name.into());
    assert_eq!(
        types,
        [ty("OS::V"), ty("OS::Heat::None"), ty("OS::Heat::None")]
    );
}

#[test]
fn child_receives_the_entries_below_its_name() {
    let registry = registry(
        r#"{"T": "t.yaml", "A::B": "OS::X", "resources": {"outer": {"hooks": "pre-create", "inner": {"A::B": "OS::Y", "hooks": "pre-delete",
            "deep": {"restricted_actions": "update"}}}, "o*": {"other": {"hooks": "pre-update"}}}}"#,
    );
    let child = registry.for_child("outer", Some(&["T".into()]));
    assert_eq!(meaning(&child, "T", "inner"), "nothing");
    assert_eq!(meaning(&child, "A::B", "inner"), "OS::Y");
    assert_eq!(meaning(&child, "A::B", "other"), "OS::X");
    assert_eq!(child.hooks("inner").len() + child.hooks("other").len(), 2);
    assert!(child.hooks("outer").is_empty());
    let grandchild = child.for_child("inner", None);
    assert_eq!(grandchild.restricted_actions("deep").len(), 1);
    assert!(registry.for_child("none", None).hooks("inner").is_empty());
    assert_eq!(meaning(&registry, "T", "r"), "template t.yaml");
}

#[test]
fn hooks_and_restrictions_are_known_words() {
    let mut found = Vec::new();
    Registry::new(
        &map(
            r#"{"resources": {"x": {"hooks": "pre-fly", "restricted_actions": ["update", "kill"], "y": {"hooks": 5}}, "z": 1}, "A": ["x"]}"#,
        ),
        &mut found,
    );
    assert_eq!(
        codes(&found),
        [
            "value-not-allowed",
            "value-not-allowed",
            "value-not-allowed",
            "wrong-shape",
            "wrong-shape"
        ]
    );
    assert_eq!(
        found[0].words().map(|words| words.to_string()).as_deref(),
        Some(
            "InvalidBreakPointHook: Invalid hook type \"pre-fly\" for resource breakpoint, acceptable hook types are: ('pre-create', 'pre-update', 'pre-delete', 'post-create', 'post-update', 'post-delete')"
        )
    );
    assert_eq!(
        found[1].words().map(|words| words.to_string()).as_deref(),
        Some(
            "InvalidRestrictedAction: Invalid restricted_action type \"['update', 'kill']\" for resource, acceptable restricted_action types are: ('update', 'replace')"
        )
    );
    let steps: Vec<expr::ValueStep> = ["resources", "x", "y", "hooks"]
        .into_iter()
        .map(Into::into)
        .collect();
    assert_eq!(found[2].path, steps);
}

#[test]
fn resource_patterns_follow_shell_globs() {
    let registry = registry(
        r#"{"resources": {"a*c[0-9]?": {"hooks": "pre-create"}, "[!x]": {"hooks": "pre-update"}, "[": {"hooks": "pre-delete"}}}"#,
    );
    for (name, count) in [
        ("abc1z", 1),
        ("ac9z", 1),
        ("acz9z", 0),
        ("abc1", 0),
        ("y", 1),
        ("x", 0),
        ("[", 2),
        ("aaaacc12", 1),
    ] {
        assert_eq!(registry.hooks(name).len(), count, "{name}");
    }
}
