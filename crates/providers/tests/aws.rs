//! The AWS catalogue: its content, its consistency, and the names of its types.

use std::collections::HashSet;
use std::sync::Arc;

use blueprint::{Field, Kind, Schema, Type};
use provider::{Catalogs, FilterType, ResourceType, TypeRef, TypeSource, plain_name};
use providers::aws;

fn catalogs() -> Catalogs {
    Catalogs::new([aws::catalog()]).0
}

fn find(name: &str) -> Option<Arc<ResourceType>> {
    match catalogs().resource_type(&name.into()) {
        TypeRef::Known(found) => Some(found),
        _ => None,
    }
}

fn name_of(name: &str) -> String {
    find(name).map_or_else(|| "nothing".to_owned(), |found| found.name.to_string())
}

#[test]
fn every_type_is_complete() {
    let types = aws::types();
    let names: Vec<&str> = types.resource_type_names().collect();
    assert!(names.len() > 1_500, "{}", names.len());
    assert!(
        types.packed().about().starts_with("cfn-lint "),
        "{}",
        types.packed().about()
    );
    let mut seen = HashSet::new();
    for name in names {
        assert!(seen.insert(plain_name(name)), "{name} is there twice");
        let ty = find(name).unwrap_or_else(|| panic!("{name} is damaged"));
        assert_eq!(ty.name.as_ref(), name);
        let original = types.original_name(name).expect("it has one");
        assert_eq!(original.split("::").count(), 3, "{original}");
        if let Some(field) = &ty.id_field {
            assert!(ty.schema.fields.contains_key(field), "{name}: {field}");
        }
        sound(name, &ty.schema);
    }
}

/// Checks that the fields of a schema are consistent at every depth.
fn sound(at: &str, schema: &Schema) {
    for (name, field) in &schema.fields {
        let at = format!("{at}.{name}");
        assert!(
            name.starts_with(|first: char| first.is_ascii_lowercase()),
            "{at}"
        );
        assert!(
            !(field.required && field.computed),
            "{at}: required and computed"
        );
        assert!(
            !field.unique || field.is_settable(),
            "{at}: unique and not settable"
        );
        assert!(
            !field.must_recreate || field.is_settable(),
            "{at}: recreated and not settable"
        );
        assert!(
            !field.optional || field.computed,
            "{at}: optional and not computed"
        );
        of_field(&at, field);
    }
}

fn of_field(at: &str, field: &Field) {
    let limits = &field.constraint;
    assert!(
        limits
            .min
            .zip(limits.max)
            .is_none_or(|(min, max)| min <= max),
        "{at}"
    );
    assert!(
        limits
            .min_length
            .zip(limits.max_length)
            .is_none_or(|(min, max)| min <= max),
        "{at}"
    );
    assert!(
        limits
            .min_items
            .zip(limits.max_items)
            .is_none_or(|(min, max)| min <= max),
        "{at}"
    );
    assert!(!(field.set && field.keyed_by.is_some()), "{at}");
    match &field.kind {
        Kind::Array(item) => of_field(&format!("{at}[]"), item),
        Kind::Map(value) => of_field(&format!("{at}.*"), value),
        Kind::Object(schema) => sound(at, schema),
        Kind::Union(branches) => branches.iter().for_each(|branch| of_field(at, branch)),
        _ => {}
    }
}

#[test]
fn every_pattern_compiles() {
    fn patterns<'f>(field: &'f Field, found: &mut HashSet<&'f str>) {
        found.extend(field.constraint.pattern.as_deref());
        match &field.kind {
            Kind::Array(inside) | Kind::Map(inside) => patterns(inside, found),
            Kind::Object(schema) => schema
                .fields
                .values()
                .for_each(|field| patterns(field, found)),
            Kind::Union(branches) => branches.iter().for_each(|branch| patterns(branch, found)),
            _ => {}
        }
    }
    // The types of some large services. The generator checks all of them.
    for name in [
        "aws/s3/bucket",
        "aws/lambda/function",
        "aws/ecs/task-definition",
        "aws/iam/role",
        "aws/events/rule",
    ] {
        let ty = find(name).expect("it is there");
        let mut found = HashSet::new();
        ty.schema
            .fields
            .values()
            .for_each(|field| patterns(field, &mut found));
        for pattern in found {
            assert!(regex::Regex::new(pattern).is_ok(), "{name}: {pattern}");
        }
    }
}

#[test]
fn aliases_and_loose_spellings_are_resolved() {
    for (written, name) in [
        ("aws/lambda/function", "aws/lambda/function"),
        (
            "aws/ec2/autoScalingGroup",
            "aws/auto-scaling/auto-scaling-group",
        ),
        ("aws/dynamodb/table", "aws/dynamodb/table"),
        ("aws/dynamo-db/Table", "aws/dynamodb/table"),
        ("AWS/DynamoDB/Table", "aws/dynamodb/table"),
        ("aws/secretsmanager/secret", "aws/secrets-manager/secret"),
        ("aws/api-gateway/rest-api", "aws/api-gateway/rest-api"),
        ("aws/apigateway/restApi", "aws/api-gateway/rest-api"),
        ("aws/apigateway/http-api", "aws/api-gateway-v2/api"),
        ("aws/apigatewayv2/api", "aws/api-gateway-v2/api"),
        ("aws/eventbridge/event-bus", "aws/events/event-bus"),
        ("aws/eventbridge/rule", "aws/events/rule"),
        ("aws/eventbridge/schedule", "aws/scheduler/schedule"),
        ("aws/cloudwatch/alarm", "aws/cloudwatch/alarm"),
        ("aws/cloudwatch/log-group", "aws/logs/log-group"),
        ("aws/cloudwatch-logs/log-group", "aws/logs/log-group"),
        (
            "aws/stepfunctions/stateMachine",
            "aws/step-functions/state-machine",
        ),
        ("aws/sfn/state-machine", "aws/step-functions/state-machine"),
        ("aws/cognito-idp/user-pool", "aws/cognito/user-pool"),
        (
            "aws/elasticloadbalancingv2/loadBalancer",
            "aws/elastic-load-balancing-v2/load-balancer",
        ),
        (
            "aws/elbv2/target-group",
            "aws/elastic-load-balancing-v2/target-group",
        ),
        (
            "aws/elb/load-balancer",
            "aws/elastic-load-balancing/load-balancer",
        ),
        ("aws/acm/certificate", "aws/certificate-manager/certificate"),
        (
            "aws/certificate-manager/certificate",
            "aws/certificate-manager/certificate",
        ),
        ("aws/systems-manager/parameter", "aws/ssm/parameter"),
        ("aws/sqs/queue", "aws/sqs/queue"),
        (
            "aws/firehose/delivery-stream",
            "aws/kinesis-firehose/delivery-stream",
        ),
        ("aws/kafka/cluster", "aws/msk/cluster"),
        ("aws/vpc", "aws/ec2/vpc"),
        ("aws/vpc/subnet", "aws/ec2/subnet"),
        (
            "aws/ec2/vpc-gateway-attachment",
            "aws/ec2/vpc-gateway-attachment",
        ),
        ("aws/rds/instance", "aws/rds/db-instance"),
        ("aws/s3/bukcet", "nothing"),
        ("aws/s3", "nothing"),
        ("aws", "nothing"),
    ] {
        assert_eq!(name_of(written), name, "{written}");
    }
}

#[test]
fn every_alias_of_a_service_names_a_type() {
    let services: HashSet<String> = aws::types()
        .resource_type_names()
        .filter_map(|name| Some(plain_name(name.split('/').nth(1)?)))
        .collect();
    for (other, names) in aws::services::names() {
        for name in *names {
            assert!(
                services.contains(*name),
                "`{other}` leads to `{name}`, which is no service"
            );
        }
    }
    for (other, name) in aws::services::types() {
        assert_eq!(plain_name(&name_of(name)), *name, "{other}");
        assert_eq!(name_of(other), name_of(name), "{other}");
    }
}

#[test]
fn listable_types_are_data_sources() {
    let TypeRef::Known(vpc) = catalogs().data_source_type(&"aws/vpc".into()) else {
        panic!("it is there")
    };
    assert_eq!(vpc.name.as_ref(), "aws/ec2/vpc");
    assert_eq!(vpc.filters["tags"].ty, FilterType::Map(Type::Text));
    assert_eq!(vpc.filters["cidrBlock"].ty, FilterType::Scalar(Type::Text));
    assert_eq!(
        vpc.filters["cidrBlockAssociations"].ty,
        FilterType::List(Type::Text)
    );
    assert!(vpc.schema.fields.contains_key("vpcId"));
    let TypeRef::Known(database) = catalogs().data_source_type(&"aws/rds/db-instance".into())
    else {
        panic!("it is there")
    };
    assert!(!database.filters.contains_key("masterUserPassword"));
    // Resources that are attached to a stack by name cannot be listed.
    assert!(matches!(
        catalogs().data_source_type(&"aws/cloudformation/wait-condition".into()),
        TypeRef::UnknownType
    ));
    let types = aws::types();
    let listed = types.data_source_type_names().count();
    assert!(
        listed > 1_000 && listed < types.resource_type_names().count(),
        "{listed}"
    );
}

#[test]
fn regions_and_sizes_are_variable_types() {
    let TypeRef::Known(region) = catalogs().variable_type(&"aws/region".into()) else {
        panic!("it is there")
    };
    assert!(
        region
            .options
            .iter()
            .any(|option| option.label.as_ref() == "eu-west-1")
    );
    assert!(
        region
            .options
            .iter()
            .all(|option| option.label.matches('-').count() >= 2)
    );
    // The spelling of the specification.
    let TypeRef::Known(size) = catalogs().variable_type(&"aws/ec2/instanceSize".into()) else {
        panic!("it is there")
    };
    assert_eq!(size.name.as_ref(), "aws/ec2/instance-size");
    let place = |label: &str| {
        size.options
            .iter()
            .position(|option| option.label.as_ref() == label)
    };
    assert!(
        place("t3.micro") < place("t3.large")
            && place("t3.large") < place("t3.2xlarge")
            && place("t3.micro").is_some()
    );
    let names: Vec<String> = catalogs()
        .variable_type_names()
        .map(str::to_owned)
        .collect();
    assert_eq!(names, ["aws/region", "aws/ec2/instance-size"]);
}

#[test]
fn facts_of_well_known_types() {
    let function = find("aws/lambda/function").expect("it is there");
    let fields = &function.schema.fields;
    assert_eq!(function.id_field.as_deref(), Some("functionName"));
    assert!(fields["role"].required && fields["code"].required && fields["arn"].computed);
    assert!(fields["functionName"].must_recreate && fields["functionName"].optional);
    let Kind::Object(code) = &fields["code"].kind else {
        panic!("{:?}", fields["code"].kind)
    };
    assert!(code.fields["zipFile"].ignore_drift);

    let queue = find("aws/sqs/queue").expect("it is there");
    assert_eq!(queue.id_field.as_deref(), Some("queueUrl"));
    let instance = find("aws/rds/db-instance").expect("it is there");
    assert!(instance.schema.fields["masterUserPassword"].sensitive);
    assert!(
        instance.schema.fields["endpoint"].computed
            && instance.schema.fields["dbInstanceArn"].computed
    );
    let rest = find("aws/api-gateway/rest-api").expect("it is there");
    assert_eq!(rest.id_field.as_deref(), Some("restApiId"));
    let resource = find("aws/api-gateway/resource").expect("it is there");
    assert_eq!(resource.id_field.as_deref(), Some("resourceId"));
}
