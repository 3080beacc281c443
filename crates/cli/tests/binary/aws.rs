//! Tests of the examples for AWS: validate, stage, and rehearse from the first deploy to the
//! destroy. Also the diagnostics for a missing provider.

use std::path::Path;

use crate::place::Place;

/// Creates a folder with a copy of an example and its own key.
fn example(name: &str) -> Place {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/aws")
        .join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let place = Place::with(name, &text);
    place.ends(0, &["key", "new"]);
    place
}

fn last(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

/// Validates strictly, stages without a rehearsal, and rehearses: deploys, stages again without
/// changes, deploys with each of the inputs in `then`, destroys. Returns the exports of the first
/// deploy.
#[track_caller]
fn rehearse(name: &str, inputs: &[&str], resources: usize, then: &[(&[&str], &str)]) -> String {
    let place = example(name);
    place.ends(0, &["validate", "--strict", name]);
    let with = |words: &[&'static str], inputs: &[&str]| {
        let all: Vec<String> = words
            .iter()
            .chain(inputs)
            .map(|word| (*word).to_owned())
            .chain([name.to_owned()])
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        place.ends(0, &all).out
    };
    let counts = format!("{resources} to create, 0 to update, 0 to delete");
    assert_eq!(last(&with(&["stage"], inputs)), counts);
    assert_eq!(last(&with(&["stage", "--simulate"], inputs)), counts);
    let deployed = with(&["deploy", "--simulate", "--yes"], inputs);
    assert_eq!(
        last(&deployed),
        format!("{resources} created, 0 updated, 0 deleted")
    );
    assert_eq!(
        last(&with(&["stage", "--simulate"], inputs)),
        "0 to create, 0 to update, 0 to delete"
    );
    let exports = place.ends(0, &["exports", "--simulate"]).out;
    for (changed, counts) in then {
        let all: Vec<&str> = inputs.iter().chain(*changed).copied().collect();
        assert_eq!(
            last(&with(&["deploy", "--simulate", "--yes"], &all)),
            *counts
        );
        assert_eq!(
            last(&with(&["stage", "--simulate"], &all)),
            "0 to create, 0 to update, 0 to delete"
        );
    }
    let gone = with(&["destroy", "--simulate", "--yes"], &[]);
    assert!(
        last(&gone).starts_with("0 created, 0 updated, ") && !last(&gone).ends_with(", 0 deleted"),
        "{gone}"
    );
    exports
}

#[test]
fn functions_that_save_orders() {
    let inputs = ["--var", "databasePassword=horse"];
    let then: [(&[&str], &str); 2] = [
        (
            &["--var", "databasePort=5433"],
            "0 created, 2 updated, 0 deleted",
        ),
        (
            &["--var", "deploymentTarget=container"],
            "0 created, 1 updated, 4 deleted",
        ),
    ];
    let exports = rehearse("save-order.blueprint.yaml", &inputs, 6, &then);
    assert!(
        exports.contains("ordersTable = \"ordersApi-production-orders\""),
        "{exports}"
    );
    assert!(
        exports.contains("ordersTableArn = \"arn:aws:dynamodb:"),
        "{exports}"
    );
}

#[test]
fn a_secret_of_a_rehearsal_is_neither_shown_nor_kept_open() {
    let place = example("save-order.blueprint.yaml");
    let arguments = [
        "deploy",
        "--simulate",
        "--yes",
        "--var",
        "databasePassword=correct-horse",
    ];
    let deployed = place.ends(0, &arguments);
    let shown = place.ends(0, &["show", "--simulate", "databaseSecret"]);
    for text in [deployed.out, deployed.err, shown.out] {
        assert!(!text.contains("correct-horse"), "{text}");
    }
    // The state does not contain the secret in clear. The simulated world is a separate file, which
    // contains its inputs as a real cloud does.
    let bytes = std::fs::read(place.path().join(".cyan/state.simulated.db")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("correct-horse"));
}

#[test]
fn events_of_orders() {
    let then: [(&[&str], &str); 1] = [(
        &["--var", "orderTopicType=fifo"],
        "1 created, 0 updated, 2 deleted",
    )];
    let exports = rehearse("order-events.blueprint.yaml", &[], 8, &then);
    assert!(
        exports.contains("eventBusArn = \"arn:aws:events:"),
        "{exports}"
    );
}

#[test]
fn an_api_for_orders() {
    // The name identifies a stage, so another name replaces it.
    let then: [(&[&str], &str); 1] = [(
        &["--var", "stage=v2"],
        "0 created, 0 updated, 0 deleted, 1 replaced",
    )];
    let exports = rehearse("orders-api.blueprint.yaml", &[], 8, &then);
    assert!(
        exports.contains(".execute-api.eu-west-1.amazonaws.com/v1\""),
        "{exports}"
    );
}

#[test]
fn a_network() {
    let then: [(&[&str], &str); 2] = [
        (
            &["--var", "zones=[\"eu-west-1a\"]"],
            "0 created, 0 updated, 1 deleted",
        ),
        (
            &["--var", "zones=[\"eu-west-1a\"]", "--var", "isPublic=false"],
            "0 created, 0 updated, 3 deleted",
        ),
    ];
    let exports = rehearse("network.blueprint.yaml", &[], 8, &then);
    assert!(exports.contains("vpcId = \"vpc-"), "{exports}");
}

/// Creates a copy of a folder of examples.
fn folder(name: &str, files: &[&str]) -> Place {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/aws")
        .join(name);
    let place = Place::new();
    for file in files {
        place.write(file, std::fs::read(from.join(file)).unwrap());
    }
    place
}

#[test]
fn workers_that_are_one_document_twice() {
    let place = folder(
        "order-workers",
        &["workers.blueprint.yaml", "parts/worker.yaml"],
    );
    place.ends(0, &["validate", "--strict"]);
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "15 to create, 0 to update, 0 to delete"
    );
    let deployed = place.ends(0, &["deploy", "--simulate", "-y"]);
    assert_eq!(deployed.last_line(), "15 created, 0 updated, 0 deleted");
    assert_eq!(
        place.ends(0, &["stage", "--simulate"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    let policy = place.ends(0, &["show", "--simulate", "billing/policy"]).out;
    assert!(
        policy.contains("\"aws:SourceArn\": \"arn:aws:sns:"),
        "{policy}"
    );
    let text = place
        .read("workers.blueprint.yaml")
        .replace("timeout: 60", "timeout: 90");
    place.write("workers.blueprint.yaml", text);
    let changed = place.ends(0, &["deploy", "--simulate", "-y"]);
    assert_eq!(changed.last_line(), "0 created, 2 updated, 0 deleted");
    assert!(!changed.out.contains("shipping/"), "{}", changed.out);
    assert_eq!(
        place.ends(0, &["destroy", "--simulate", "-y"]).last_line(),
        "0 created, 0 updated, 15 deleted"
    );
}

#[test]
fn functions_linked_to_a_table() {
    let place = folder(
        "order-links",
        &["orders.blueprint.yaml", "links.json", "cyan.toml"],
    );
    place.ends(0, &["validate", "--strict"]);
    let deployed = place.ends(0, &["deploy", "-y"]);
    assert_eq!(deployed.last_line(), "5 created, 0 updated, 0 deleted");
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
    assert_eq!(place.ends(0, &["exports", "access"]).out, "write\n");
    let save = place.ends(0, &["show", "saveOrder"]).out;
    assert!(save.contains("\"TABLE_ORDERS\": \"orders\""), "{save}");
    for (role, may_write) in [("saveRole", true), ("listRole", false)] {
        let shown = place.ends(0, &["show", role]).out;
        assert_eq!(shown.contains("dynamodb:PutItem"), may_write, "{shown}");
        assert!(
            shown.contains("\"Resource\": \"arn:aws:dynamodb:"),
            "{shown}"
        );
    }
    // Without the label, nothing of the link remains.
    place.write("orders.blueprint.yaml", {
        let text = place
            .read("orders.blueprint.yaml")
            .replace("labels: {data: orders}", "labels: {data: bills}");
        text.replace(
            "annotations: {aws.lambda.orders.access: write}",
            "displayName: Save",
        )
        .replace("${link(saveOrder, orders).access}", "none")
    });
    assert_eq!(
        place.ends(0, &["deploy", "-y"]).last_line(),
        "0 created, 4 updated, 0 deleted"
    );
    assert!(
        !place
            .ends(0, &["show", "saveOrder"])
            .out
            .contains("TABLE_ORDERS")
    );
    assert!(
        !place
            .ends(0, &["show", "saveRole"])
            .out
            .contains("policies")
    );
    assert_eq!(
        place.ends(0, &["destroy", "-y"]).last_line(),
        "0 created, 0 updated, 5 deleted"
    );
}

#[test]
fn buckets_and_their_names() {
    let exports = rehearse("buckets.blueprint.yaml", &[], 3, &[]);
    assert!(
        exports.contains("buckets = [\"orders-invoices\", \"orders-reports\", "),
        "{exports}"
    );
}

#[test]
fn operation_without_a_provider_is_refused_before_it_begins() {
    let place = example("buckets.blueprint.yaml");
    let refused = place.ends(1, &["deploy", "--yes"]);
    assert!(
        refused
            .err
            .contains("error[no-provider]: there is no provider for `aws` here yet"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("--simulate") && refused.err.contains("buckets.blueprint.yaml:10:3"),
        "{}",
        refused.err
    );
    assert!(refused.out.is_empty(), "{}", refused.out);
    place.ends(0, &["stage", "--out", "plan.json"]);
    let refused = place.ends(1, &["deploy", "plan.json"]);
    assert!(
        refused.err.contains("error[no-provider]"),
        "{}",
        refused.err
    );
    assert!(!place.ends(0, &["list"]).out.contains("buckets"));
}

#[test]
fn mistakes_with_types_of_aws_are_reported_like_others() {
    let document = "version: 2023-04-20
resources:
  b: {type: AWS/S3/Buckets}
  c: {type: aws/s3/bucket, spec: {bucketNam: x, arn: y, accessControl: Publik}}
  q: {type: aws/sqs/queue, spec: {visibilityTimeout: soon}}
";
    let place = Place::with("a.blueprint.yaml", document);
    let said = place.ends(1, &["validate"]).err;
    for words in [
        "unknown resource type `AWS/S3/Buckets`",
        "did you mean `aws/s3/bucket`?",
        "unknown field `bucketNam`",
        "did you mean `bucketName`?",
        "error[computed-field-set]",
        "error[value-not-allowed]",
        "error[type-mismatch]",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn types_of_a_service_are_listed() {
    let place = Place::new();
    let all = place.ends(0, &["types"]).out;
    assert!(
        all.contains("`cyan types aws` lists them") && !all.contains("aws/s3/bucket"),
        "{all}"
    );
    let service = place.ends(0, &["types", "aws/S3"]).out;
    assert!(
        service.contains("  aws/s3/bucket ") && !service.contains("aws/s3-outposts"),
        "{service}"
    );
    assert!(place.ends(0, &["types", "aws"]).out.lines().count() > 1_500);
    let one = place.ends(0, &["types", "aws/eventbridge/eventBus"]).out;
    assert!(
        one.starts_with(
            "aws/events/event-bus (resource)\nCloudFormation calls it AWS::Events::EventBus.\n"
        ),
        "{one}"
    );
    assert!(
        place
            .ends(2, &["types", "aws/lamda"])
            .err
            .contains("did you mean `aws/lambda`?")
    );
    assert!(
        place
            .ends(2, &["types", "aws/lambda/functon"])
            .err
            .contains("did you mean `aws/lambda/function`?")
    );
}

#[test]
fn a_data_source_without_a_provider_says_how_to_rehearse_it() {
    let document = "version: 2023-04-20
datasources:
  network:
    type: aws/ec2/vpc
    filter: {field: tags, operator: has key, search: production}
    exports: {vpcId: {type: string}}
resources:
  web:
    type: aws/ec2/security-group
    spec: {groupDescription: web, vpcId: \"${datasources.network.vpcId}\"}
exports:
  network: {type: string, field: datasources.network.vpcId}
";
    let place = Place::with("blueprint.yaml", document);
    for command in [&["stage"][..], &["deploy", "-y"]] {
        let refused = place.ends(1, command);
        let says = [
            "error[no-provider]",
            "blueprint.yaml:3:3",
            "`--simulate`",
            "`--simulate --catalog FILE`",
        ];
        assert!(
            says.iter().all(|words| refused.err.contains(words)),
            "{}",
            refused.err
        );
        assert!(!place.has(".cyan"));
    }
    // The simulation invents the result, and returns the same result the next time.
    let first = place.ends(0, &["stage", "--simulate"]).out;
    assert!(first.contains("+ network: \"vpc-"), "{first}");
    assert_eq!(place.ends(0, &["stage", "--simulate"]).out, first);
}
