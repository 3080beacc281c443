//! Tests of types of hosted packages, whose tokens may have any form.

use crate::place::Place;

const CATALOG: &str = r#"{"format": 1, "namespace": ["cluster", "cloud"],
  "package": {"family": "kubernetes", "version": "1.31"},
  "resourceTypes": {
    "cluster/networking.k8s.io/Ingress": {"docs": "A rule.", "idField": "uid",
      "fields": {"name": {"kind": "string"}, "uid": {"kind": "string", "computed": true}}},
    "cloud/s3/bucket:Bucket": {"docs": "A bucket.", "idField": "arn",
      "fields": {"name": {"kind": "string"}, "arn": {"kind": "string", "computed": true}}}},
  "dataSourceTypes": {"cloud/ec2/getAmi:getAmi": {"docs": "An image.", "filter": {"name": {"type": "string"}},
    "fields": {"name": {"kind": "string"}, "id": {"kind": "string"}}, "rows": [{"name": "a", "id": "ami-1"}]}},
  "variableTypes": {"cloud/region:Region": {"kind": "string", "options": [{"label": "north", "value": "n-1"}]}}}"#;

const DOCUMENT: &str = r#"version: 2023-04-20
variables:
  region:
    type: cloud/region:Region
    default: north
datasources:
  image:
    type: cloud/ec2/getAmi:getAmi
    metadata: {}
    filter:
      field: name
      operator: "="
      search: a
    exports:
      id:
        type: string
resources:
  bucket:
    type: cloud/s3/bucket:Bucket
    spec:
      name: ${datasources.image.id}-${variables.region}
  rule:
    type: cluster/networking.k8s.io/Ingress
    spec:
      name: ${resources.bucket.spec.arn}
"#;

fn place() -> Place {
    let place = Place::with("shop.blueprint.yaml", DOCUMENT);
    place.write("hosted.json", CATALOG);
    place
}

#[test]
fn a_document_names_any_token_of_a_hosted_package() {
    let place = place();
    let run = |command: &[&str], simulated: bool| {
        let simulate: &[&str] = if simulated { &["--simulate"] } else { &[] };
        place
            .ends(
                0,
                &[command, simulate, &["--catalog", "hosted.json"]].concat(),
            )
            .out
    };
    run(&["validate"], false);
    let staged = run(&["stage"], true);
    assert!(
        staged.contains("+ bucket cloud/s3/bucket:Bucket create")
            && staged.contains("\"ami-1-n-1\""),
        "{staged}"
    );
    let deployed = run(&["deploy", "--yes"], true);
    assert!(deployed.contains("2 created"), "{deployed}");
    let shown = run(&["show"], true);
    for name in [
        "cloud/s3/bucket:Bucket",
        "cluster/networking.k8s.io/Ingress",
    ] {
        assert!(shown.contains(name), "{shown}");
    }
    assert!(run(&["stage"], true).contains("0 to create, 0 to update, 0 to delete"));
    assert!(run(&["drift"], true).contains("0 drifted"));
    assert!(run(&["types", "cluster"], false).contains("cluster/networking.k8s.io/Ingress"));
    assert!(run(&["types", "cloud/s3/bucket:Bucket"], false).contains("A bucket."));
    assert!(run(&["schema"], false).contains("resource:cloud/s3/bucket:Bucket"));
    let destroyed = run(&["destroy", "--yes"], true);
    assert!(destroyed.contains("2 deleted"), "{destroyed}");
}

#[test]
fn mistakes_in_types_of_hosted_packages_are_reported() {
    let place = place();
    for (written, message) in [
        (
            "cloud/s3/bucket:Buckett",
            "did you mean `cloud/s3/bucket:Bucket`?",
        ),
        ("cloud/", "`cloud/` cannot be the name of a type"),
        (
            "other/s3/bucket:Bucket",
            "`other/s3/bucket:Bucket` cannot be the name of a type",
        ),
    ] {
        place.write(
            "shop.blueprint.yaml",
            DOCUMENT.replace("type: cloud/s3/bucket:Bucket", &format!("type: {written}")),
        );
        let ran = place.run(&["validate", "--catalog", "hosted.json"]);
        assert!(
            ran.code != 0 && (ran.out.contains(message) || ran.err.contains(message)),
            "{}{}",
            ran.out,
            ran.err
        );
    }
}

#[test]
fn a_hosted_package_cannot_have_a_built_in_namespace() {
    let place = place();
    // `random` has a provider, `aws` only a catalogue.
    for (namespace, another) in [("random", "pulumi-random"), ("aws", "pulumi-aws")] {
        let text = format!(
            r#"{{"format": 1, "namespace": ["{namespace}"], "package": {{"family": "pulumi"}}, "resourceTypes": {{}}}}"#
        );
        place.write("taken.json", text);
        place.write(
            "cyan.toml",
            "simulate = true\ncatalog = [\n  \"hosted.json\",\n  \"taken.json\",\n]\n",
        );
        let ran = place.run(&["validate"]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        for part in [
            format!("the namespace `{namespace}` is built in, a hosted package cannot have it"),
            "taken.json:1:".to_owned(),
            "`cyan.toml:4:3` lists the catalogue".to_owned(),
            format!("give the package another name, such as `{another}`"),
        ] {
            assert!(ran.err.contains(&part), "{part}: {}", ran.err);
        }
    }
    // If the command line names the catalogue, the diagnostic names no line of the configuration.
    std::fs::remove_file(place.path().join("cyan.toml")).unwrap();
    let ran = place.run(&["validate", "--catalog", "taken.json"]);
    assert!(
        ran.code == 1 && ran.err.contains("is built in") && !ran.err.contains("cyan.toml"),
        "{}",
        ran.err
    );
}
