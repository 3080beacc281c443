//! `cyan render`: the objects of a document as manifests, without a cluster.

use serde_json::Value as Json;

use crate::place::{Place, Ran, ran};

fn render(place: &Place, arguments: &[&str]) -> Ran {
    let mut words = vec!["render"];
    words.extend(arguments);
    let ran = ran(place.cyan(&words).output().unwrap());
    if arguments.contains(&"--json") {
        crate::machine::fits(&words, &ran.out);
    }
    ran
}

#[test]
fn objects_of_every_dialect_are_written_with_namespaces_first() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20\n\
         variables:\n  level: {type: string, default: info}\n\
         resources:\n  \
         settings:\n    type: kubernetes/core/ConfigMap\n    \
         spec: {metadata: {name: settings, namespace: shop}, data: {level: '${variables.level}', on: 'yes'}}\n  \
         shop:\n    type: kubernetes/core/Namespace\n    spec: {metadata: {name: shop}}\n  \
         note:\n    type: local/file\n    spec: {path: note.txt, content: hi}\n",
    );
    let ran = render(&place, &["--var", "level=debug"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.out,
        "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n\
         ---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n\
         data:\n  level: debug\n  \"on\": \"yes\"\n"
    );
    assert_eq!(ran.err, "1 resource of other providers left out.\n");
    let json = render(&place, &["--json"]);
    let json: Json = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["result"]["objects"][1]["metadata"]["name"], "settings");
    assert_eq!(json["result"]["others"], 1);
    assert!(!place.has(".cyan"), "a rendering leaves no state");
    assert!(!place.has("note.txt"));
}

#[test]
fn a_value_that_only_a_cluster_knows_is_refused_at_its_resource() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20\n\
         resources:\n  \
         token:\n    type: random/pet\n    spec: {words: 2}\n  \
         settings:\n    type: kubernetes/core/ConfigMap\n    \
         spec: {metadata: {name: settings}, data: {token: '${token.spec.name}'}}\n",
    );
    let ran = render(&place, &[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert_eq!(ran.out, "");
    for words in [
        "error[not-rendered]: `settings` cannot be written: `data.token` is known on deploy",
        "shop.blueprint.yaml:6:3",
    ] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

#[test]
fn secrets_are_written_only_on_demand() {
    let place = Place::with(
        "shop.blueprint.yaml",
        "version: 2023-04-20\n\
         variables:\n  password: {type: string, secret: true}\n\
         resources:\n  \
         login:\n    type: kubernetes/core/Secret\n    \
         spec: {metadata: {name: login}, stringData: {password: '${variables.password}'}}\n",
    );
    let hidden = render(&place, &["--var", "password=geheim"]);
    assert_eq!(hidden.code, 1, "{}", hidden.out);
    assert!(hidden.err.contains("it has a secret"), "{}", hidden.err);
    assert!(!hidden.err.contains("geheim"), "{}", hidden.err);
    let shown = render(&place, &["--var", "password=geheim", "--reveal"]);
    assert!(shown.out.contains("password: Z2VoZWlt"), "{}", shown.out);
}
