//! Tests of programs that read other stacks, kept values and recorded resources, without a plugin.

use crate::place::Place;

const NETWORK: &str = r#"name: network
runtime: yaml
resources:
  zone: {type: 'pulumi:Stash', properties: {input: north}}
outputs:
  vpc: vpc-1
  key: {'fn::secret': hidden-1234}
  zone: ${zone.output}
"#;

const SHOP: &str = r#"name: shop
runtime: yaml
resources:
  net: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/network/dev}}
outputs:
  vpc: in ${net.outputs.vpc}
  key: ${net.outputs.key}
  secret: ${net.secretOutputNames}
"#;

/// A folder with the program `shop`, and with `network/Pulumi.yaml`, which is deployed as `dev`.
fn shop_and_network() -> Place {
    let place = Place::new();
    place.ends(0, &["key", "new"]);
    place.write("network/Pulumi.yaml", NETWORK);
    place.ends(0, &["-C", "network", "deploy", "--yes", "-i", "dev"]);
    place.write("Pulumi.yaml", SHOP);
    place
}

#[test]
fn a_stack_of_a_project_in_another_folder_is_read() {
    let place = shop_and_network();
    let refused = place.ends(1, &["stage", "-i", "dev"]).err;
    assert!(
        refused.contains("there is no instance `dev` of the project `network`"),
        "{refused}"
    );
    assert!(refused.contains("`network = \"../network\"`"), "{refused}");

    place.write("cyan.toml", "[projects]\nnetwork = \"network\"\n");
    place.ends(0, &["stage", "-i", "dev", "--out", "plan.cyan"]);
    // A plan is a promise: it keeps the outputs that it was made with.
    place.write("network/Pulumi.yaml", NETWORK.replace("vpc-1", "vpc-2"));
    place.ends(0, &["-C", "network", "deploy", "--yes", "-i", "dev"]);
    place.ends(0, &["deploy", "plan.cyan", "--yes"]);
    let shown = place.ends(0, &["show", "-i", "dev"]).out;
    assert!(shown.contains("vpc = \"in vpc-1\""), "{shown}");
    assert!(shown.contains("secret = [\"key\"]"), "{shown}");
    assert!(!shown.contains("hidden-1234"), "{shown}");

    let staged = place.ends(0, &["stage", "-i", "dev"]).out;
    assert!(staged.contains("\"in vpc-1\" -> \"in vpc-2\""), "{staged}");
}

#[test]
fn a_stack_in_the_file_store_of_pulumi_is_read() {
    let place = shop_and_network();
    place.ends(
        0,
        &[
            "-C",
            "network",
            "state",
            "export",
            "-i",
            "dev",
            "--as",
            "pulumi",
            "--reveal",
            "stack.json",
        ],
    );
    let deployment = std::fs::read_to_string(place.path().join("network/stack.json")).unwrap();
    let deployment: serde_json::Value = serde_json::from_str(&deployment).unwrap();
    let checkpoint = serde_json::json!({
        "version": 3,
        "checkpoint": {"stack": "organization/network/dev", "latest": deployment["deployment"]},
    });
    place.write(
        "store/.pulumi/stacks/network/dev.json",
        checkpoint.to_string(),
    );
    place.write("cyan.toml", "[projects]\nnetwork = \"store\"\n");
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    let shown = place.ends(0, &["show", "-i", "dev"]).out;
    assert!(shown.contains("vpc = \"in vpc-1\""), "{shown}");
}

#[test]
fn an_instance_of_a_blueprint_is_read_by_its_name() {
    let place = Place::new();
    place.write(
        "net.blueprint.yaml",
        "version: 2023-04-20\nresources:\n  \
         t: {type: local/file, spec: {path: vpc.txt, content: vpc-9}}\n\
         exports:\n  vpc: {type: string, field: resources.t.spec.content}\n",
    );
    place.ends(0, &["deploy", "net.blueprint.yaml", "--yes", "-i", "base"]);
    place.write(
        "Pulumi.yaml",
        "name: shop\nruntime: yaml\noutputs:\n  vpc: {'fn::stackReference': [base, vpc]}\n",
    );
    let deployed = place.ends(0, &["deploy", "Pulumi.yaml", "--yes", "-i", "dev"]);
    assert!(
        deployed.err.contains("deprecated-function"),
        "{}",
        deployed.err
    );
    assert!(deployed.out.contains("vpc: \"vpc-9\""), "{}", deployed.out);
}

#[test]
fn a_kept_value_stays_until_its_resource_is_replaced() {
    let place = Place::new();
    let program = |input: &str, options: &str| {
        format!(
            "name: shop\nruntime: yaml\nresources:\n  \
             s: {{type: 'pulumi:Stash', properties: {{input: {input}}}{options}}}\n\
             outputs: {{o: '${{s.output}}', i: '${{s.input}}'}}\n"
        )
    };
    let outputs = |place: &Place| place.ends(0, &["show", "-i", "dev"]).out;
    place.write("Pulumi.yaml", program("one", ""));
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    place.write("Pulumi.yaml", program("two", ""));
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    let shown = outputs(&place);
    assert!(
        shown.contains("o = \"one\"") && shown.contains("i = \"two\""),
        "{shown}"
    );
    let replaced = ", options: {replacementTrigger: 2}";
    place.write("Pulumi.yaml", program("two", replaced));
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    place.write(
        "Pulumi.yaml",
        program("three", ", options: {replacementTrigger: 3}"),
    );
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    let shown = outputs(&place);
    assert!(shown.contains("o = \"three\""), "{shown}");
    let staged = place.ends(0, &["stage", "-i", "dev"]).out;
    assert!(staged.contains("0 to create, 0 to update"), "{staged}");
}

#[test]
fn a_recorded_resource_is_found_by_its_urn() {
    let place = Place::new();
    let urn = "urn:pulumi:dev::shop::pulumi:index:Stash::s";
    let program = |urn: &str| {
        format!(
            "name: shop\nruntime: yaml\nresources:\n  \
             s: {{type: 'pulumi:Stash', properties: {{input: one}}}}\n\
             variables:\n  found:\n    fn::invoke:\n      \
             function: pulumi:pulumi:getResource\n      arguments: {{urn: '{urn}'}}\n\
             outputs: {{o: '${{found.state.output}}'}}\n"
        )
    };
    let missing = urn.replace("Stash::s", "Stash::t");
    place.write("Pulumi.yaml", program(&missing));
    let refused = place.ends(1, &["stage", "-i", "dev"]).err;
    assert!(refused.contains("no resource with the URN"), "{refused}");
    place.write("Pulumi.yaml", program("${s.urn}"));
    place.ends(0, &["deploy", "--yes", "-i", "dev"]);
    let shown = place.ends(0, &["show", "-i", "dev"]).out;
    assert!(shown.contains("o = \"one\""), "{shown}");
    place.write("Pulumi.yaml", program(urn));
    place.ends(0, &["stage", "-i", "dev"]);
}

#[test]
fn the_name_of_a_stack_is_a_text_that_is_known_before_the_deployment() {
    let place = Place::new();
    let program = |name: &str| {
        format!(
            "name: shop\nruntime: yaml\nvariables: {{v: 'x/${{s.id}}/dev'}}\nresources:\n  \
             s: {{type: 'pulumi:Stash', properties: {{input: one}}}}\n  \
             r: {{type: 'pulumi:pulumi:StackReference', properties: {{name: {name}}}}}\n"
        )
    };
    for (name, why) in [
        ("5", "must be a string, found a number"),
        ("'${v}'", "must be known before the deployment"),
        ("'a/b/c/d'", "names no stack"),
    ] {
        place.write("Pulumi.yaml", program(name));
        let refused = place.ends(1, &["stage", "-i", "dev"]).err;
        assert!(refused.contains(why), "{name}: {refused}");
    }
}
