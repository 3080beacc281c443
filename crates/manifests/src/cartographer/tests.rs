//! Lowering of supply chains: what owners become, what their resources read, and where mistakes are.

use blueprint::{Expr, ExprKind, Packages, ReferenceHead, Value};
use diag::Files;
use dialect::{Answer, Answers, Dialect, Document, FolderEntry, LoadContext, Lowered, Wanted};
use expr::FunctionTable;
use syntax::Format;

use super::CartographerDialect;

/// A chain of a source, which options choose, and its reader.
const CHAIN: &str = "\
apiVersion: carto.run/v1alpha1
kind: ClusterDelivery
metadata: {name: run}
spec:
  selector: {type: web}
  resources:
  - name: fetch
    templateRef: {kind: ClusterSourceTemplate, name: fetch}
  - name: check
    templateRef:
      kind: ClusterSourceTemplate
      options:
      - {name: check, selector: {matchLabels: {checked: 'yes'}}}
      - {passThrough: fetched, selector: {matchLabels: {checked: 'no'}}}
    sources: [{name: fetched, resource: fetch}]
  - name: run
    templateRef: {kind: ClusterTemplate, name: run}
    sources: [{name: checked, resource: check}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: fetch}
spec:
  urlPath: .data.url
  revisionPath: .data.revision
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: source}
    data: {url: $(deliverable.spec.source.git.url)$, revision: r1}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  params: [{name: replicas, default: 3}]
  template:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: run}
    spec: {replicas: $(params.replicas)$, paused: false, version: at $(source.revision)$}
---
";

fn owner(labels: &str) -> String {
    format!(
        "apiVersion: carto.run/v1alpha1\nkind: Deliverable\n\
         metadata: {{name: shop, namespace: dev, labels: {{{labels}}}}}\n\
         spec: {{source: {{git: {{url: 'https://example.com'}}}}}}\n"
    )
}

fn lower(text: &str) -> Lowered {
    let mut files = Files::new();
    let file = files.add("app.yaml", text);
    let (trees, found) = syntax::parse_stream(file, text, Format::Yaml);
    assert!(found.is_empty(), "{:?}", found.iter().next());
    let context = LoadContext::NONE;
    let document = Document::new(file, "app.yaml", text, &trees, &context);
    assert_eq!(CartographerDialect.recognise(&document), 90);
    lowered(&document)
}

fn lowered(document: &Document<'_>) -> Lowered {
    CartographerDialect.lower(document, &FunctionTable::default(), &Packages::default())
}

/// The diagnostics as `LINE CODE`.
fn mistakes(text: &str, lowered: &Lowered) -> Vec<String> {
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let found = lowered.diagnostics.iter();
    found
        .map(|one| format!("{} {}", line(one.span().start), one.code.name))
        .collect()
}

/// The part of an expression below these keys.
fn part<'e>(expr: &'e Expr, keys: &[&str]) -> &'e Expr {
    keys.iter().fold(expr, |expr, key| {
        let ExprKind::Map(entries) = &expr.kind else {
            panic!("{key}: {expr:?} is no map");
        };
        let entry = entries.iter().find(|(name, _)| *name.item == **key);
        &entry.unwrap_or_else(|| panic!("no {key}")).1
    })
}

/// The outputs that an expression reads.
fn outputs_read(expr: &Expr) -> Vec<String> {
    let mut read = Vec::new();
    expr.references(&mut |reference| {
        if let ReferenceHead::Local(name) = &reference.head {
            read.push(name.to_string());
        }
    });
    read
}

#[test]
fn each_stamped_object_of_an_owner_is_a_resource() {
    let text = format!("{CHAIN}{}", owner("type: web, checked: 'no'"));
    let lowered = lower(&text);
    // The template of the other option is not there, which this owner does not need.
    assert_eq!(mistakes(&text, &lowered), ["13 chain-hint"]);
    let resources = &lowered.blueprint.resources;
    let names: Vec<&str> = resources.keys().map(|name| name.as_ref()).collect();
    assert_eq!(
        names,
        ["deliverable/dev/shop/fetch", "deliverable/dev/shop/run"]
    );
    let run = &resources["deliverable/dev/shop/run"];
    assert_eq!(&**run.type_name.item.name(), "kubernetes/apps/Deployment");
    assert!(run.readiness.is_some());
    let literal = |keys: &[&str]| part(&run.spec, keys).as_literal().cloned();
    assert_eq!(literal(&["spec", "replicas"]), Some(Value::Int(3)));
    assert_eq!(literal(&["spec", "paused"]), Some(Value::Bool(false)));
    assert_eq!(
        literal(&["metadata", "namespace"]),
        Some(Value::text("dev"))
    );
    let labels = literal(&["metadata", "labels"]).expect("the labels are known");
    assert_eq!(
        labels
            .get("carto.run/delivery-name")
            .and_then(Value::as_text),
        Some("run")
    );
}

#[test]
fn only_parts_that_read_an_output_are_known_later() {
    let text = format!("{CHAIN}{}", owner("type: web, checked: 'no'"));
    let lowered = lower(&text);
    let run = &lowered.blueprint.resources["deliverable/dev/shop/run"];
    let version = part(&run.spec, &["spec", "version"]);
    assert!(matches!(version.kind, ExprKind::Call(_)));
    assert_eq!(outputs_read(&run.spec), ["deliverable/dev/shop/check"]);
    let written = "at $(source.revision)$";
    assert_eq!(
        &text[version.span.start as usize..version.span.end as usize],
        written
    );
}

#[test]
fn an_option_passes_its_input_through() {
    let text = format!("{CHAIN}{}", owner("type: web, checked: 'no'"));
    let lowered = lower(&text);
    let passed = &lowered.blueprint.locals["deliverable/dev/shop/check"];
    assert_eq!(outputs_read(&passed.value), ["deliverable/dev/shop/fetch"]);
}

#[test]
fn a_missing_template_is_reported_once_and_not_by_its_readers() {
    let text = format!("{CHAIN}{}", owner("type: web, checked: 'yes'"));
    let lowered = lower(&text);
    assert_eq!(mistakes(&text, &lowered), ["13 unknown-template"]);
}

#[test]
fn an_owner_that_nothing_selects_is_a_mistake_at_its_labels() {
    let text = format!("{CHAIN}{}", owner("type: batch"));
    let lowered = lower(&text);
    let line = CHAIN.matches('\n').count() + 3;
    assert!(mistakes(&text, &lowered).contains(&format!("{line} no-chain")));
    let text = format!("{CHAIN}{}", owner("type: web"));
    assert!(mistakes(&text, &lower(&text)).contains(&"12 no-option".to_owned()));
}

/// Lowers a folder with one file, of which the platform is elsewhere.
#[test]
fn a_folder_uses_the_platform_that_its_settings_name() {
    let mut files = Files::new();
    let listing = "shop.yaml\n";
    let file = files.add("apps/", listing);
    let entries = FolderEntry::of_listing(listing);
    let mut context = LoadContext {
        is_folder: true,
        ..LoadContext::default()
    };
    let document = Document::of_folder(file, "apps", listing, &entries, &context);
    // Names alone do not show that the folder has objects of Cartographer.
    assert_eq!(CartographerDialect.recognise(&document), 0);
    let paths = [("platform".into(), Value::list([Value::text("/platform")]))];
    let settings = dialect::DialectSettings::read(CartographerDialect.settings(), &paths);
    context
        .settings
        .set("cartographer", settings.expect("the setting exists"));
    let workload = owner("type: web, checked: 'no'");
    let mut answer = |wanted: &Wanted| match wanted {
        Wanted::Folder(path) if **path == *"/platform" => {
            Answer::Folder(FolderEntry::of_listing("chain.yaml\n"))
        }
        Wanted::Text(path) if **path == *"/platform/chain.yaml" => {
            Answer::Text(files.add(&**path, CHAIN), CHAIN.into())
        }
        Wanted::Text(path) if **path == *"shop.yaml" => Answer::Text(
            files.add(&**path, workload.as_str()),
            workload.as_str().into(),
        ),
        other => panic!("{other:?} is not answered"),
    };
    for _ in 0..2 {
        let document = Document::of_folder(file, "apps", listing, &entries, &context);
        let wanted = CartographerDialect.required_data(&document);
        let new = wanted
            .into_iter()
            .filter(|wanted| context.answers.get(wanted).is_none());
        let answers: Vec<(Wanted, Answer)> = new.map(|one| (one.clone(), answer(&one))).collect();
        context.answers = Answers::with(&context.answers, answers);
    }
    let document = Document::of_folder(file, "apps", listing, &entries, &context);
    assert_eq!(CartographerDialect.recognise(&document), 30);
    let lowered = lowered(&document);
    assert!(lowered.diagnostics.is_empty());
    assert_eq!(lowered.blueprint.resources.len(), 2);
}

#[test]
fn with_the_setting_plain_the_objects_are_plain_manifests() {
    let mut files = Files::new();
    let file = files.add("app.yaml", CHAIN);
    let (trees, _) = syntax::parse_stream(file, CHAIN, Format::Yaml);
    let mut context = LoadContext::default();
    let plain = [("plain".into(), Value::Bool(true))];
    let settings = dialect::DialectSettings::read(CartographerDialect.settings(), &plain);
    context
        .settings
        .set("cartographer", settings.expect("the setting exists"));
    let document = Document::new(file, "app.yaml", CHAIN, &trees, &context);
    assert_eq!(CartographerDialect.recognise(&document), 0);
}
