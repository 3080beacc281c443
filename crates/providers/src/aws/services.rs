//! Aliases of AWS services and types: product names, names of the command line tool, names in the
//! specification.
//!
//! Names are in plain form: lower case, without hyphens. The catalogue tries the result of the
//! table in order. A name of the catalogue itself takes precedence over an alias.
//!
//! Not here: names that differ from the catalogue's only in case and hyphens.

/// Aliases of services, each with the candidates in order.
const SERVICES: &[(&str, &[&str])] = &[
    ("acm", &["certificatemanager"]),
    ("airflow", &["mwaa"]),
    ("alb", &["elasticloadbalancingv2"]),
    ("amp", &["aps"]),
    ("apigateway", &["apigatewayv2"]),
    ("apigw", &["apigateway", "apigatewayv2"]),
    ("appautoscaling", &["applicationautoscaling"]),
    ("beanstalk", &["elasticbeanstalk"]),
    ("certificatemanagerpca", &["acmpca"]),
    ("cloudmap", &["servicediscovery"]),
    ("cloudwatchevents", &["events"]),
    ("cloudwatchlogs", &["logs"]),
    ("cloudwatchrum", &["rum"]),
    ("cloudwatchsynthetics", &["synthetics"]),
    ("cognitoidentity", &["cognito"]),
    ("cognitoidentityprovider", &["cognito"]),
    ("cognitoidp", &["cognito"]),
    ("containerregistry", &["ecr"]),
    ("containerservice", &["ecs"]),
    ("costandusagereport", &["cur"]),
    ("costexplorer", &["ce"]),
    ("databasemigrationservice", &["dms"]),
    ("datalifecyclemanager", &["dlm"]),
    ("ddb", &["dynamodb"]),
    ("documentdb", &["docdb"]),
    ("ds", &["directoryservice"]),
    ("dynamo", &["dynamodb"]),
    ("ebs", &["ec2"]),
    ("elasticcomputecloud", &["ec2"]),
    ("elasticcontainerregistry", &["ecr"]),
    ("elasticcontainerservice", &["ecs"]),
    ("elasticfilesystem", &["efs"]),
    ("elastickubernetesservice", &["eks"]),
    ("elasticloadbalancing", &["elasticloadbalancingv2"]),
    ("elasticmapreduce", &["emr"]),
    ("elb", &["elasticloadbalancing", "elasticloadbalancingv2"]),
    ("elbv2", &["elasticloadbalancingv2"]),
    ("es", &["elasticsearch"]),
    (
        "eventbridge",
        &["events", "eventschemas", "scheduler", "pipes"],
    ),
    ("eventbridgepipes", &["pipes"]),
    ("eventbridgescheduler", &["scheduler"]),
    ("eventbridgeschemas", &["eventschemas"]),
    ("faultinjectionsimulator", &["fis"]),
    ("firehose", &["kinesisfirehose"]),
    ("flink", &["kinesisanalyticsv2"]),
    ("identityandaccessmanagement", &["iam"]),
    ("identitycenter", &["sso"]),
    ("inspector2", &["inspectorv2"]),
    ("kafka", &["msk"]),
    ("keymanagementservice", &["kms"]),
    ("keyspaces", &["cassandra"]),
    ("kinesisdatafirehose", &["kinesisfirehose"]),
    ("kinesisdatastreams", &["kinesis"]),
    ("kinesisvideostreams", &["kinesisvideo"]),
    ("lexv2", &["lex"]),
    ("loadbalancing", &["elasticloadbalancingv2"]),
    ("locationservice", &["location"]),
    ("macie2", &["macie"]),
    ("managedgrafana", &["grafana"]),
    ("managedprometheus", &["aps"]),
    ("managedstreamingforkafka", &["msk"]),
    ("mq", &["amazonmq"]),
    ("mskconnect", &["kafkaconnect"]),
    ("nlb", &["elasticloadbalancingv2"]),
    ("opensearch", &["opensearchservice", "opensearchserverless"]),
    ("parameterstore", &["ssm"]),
    ("pca", &["acmpca"]),
    ("privateca", &["acmpca"]),
    ("prometheus", &["aps"]),
    ("relationaldatabaseservice", &["rds"]),
    ("resourceaccessmanager", &["ram"]),
    ("s3control", &["s3"]),
    ("schemas", &["eventschemas"]),
    ("sesv2", &["ses"]),
    ("sfn", &["stepfunctions"]),
    ("simpledb", &["sdb"]),
    ("simpleemailservice", &["ses"]),
    ("simplenotificationservice", &["sns"]),
    ("simplequeueservice", &["sqs"]),
    ("simplestorageservice", &["s3"]),
    ("ssoadmin", &["sso"]),
    ("states", &["stepfunctions"]),
    ("systemsmanager", &["ssm"]),
    ("transferfamily", &["transfer"]),
    ("vpc", &["ec2"]),
    ("waf2", &["wafv2"]),
];

/// Aliases of types that do not follow from an alias of their service. The examples of the
/// specification use the first entries.
const TYPES: &[(&str, &str)] = &[
    ("aws/vpc", "aws/ec2/vpc"),
    ("aws/apigateway/httpapi", "aws/apigatewayv2/api"),
    ("aws/apigateway/websocketapi", "aws/apigatewayv2/api"),
    ("aws/cloudwatch/loggroup", "aws/logs/loggroup"),
    (
        "aws/ec2/autoscalinggroup",
        "aws/autoscaling/autoscalinggroup",
    ),
    ("aws/ec2/elasticip", "aws/ec2/eip"),
    (
        "aws/ec2/loadbalancer",
        "aws/elasticloadbalancingv2/loadbalancer",
    ),
    (
        "aws/ec2/targetgroup",
        "aws/elasticloadbalancingv2/targetgroup",
    ),
    ("aws/eventbridge/schedule", "aws/scheduler/schedule"),
    ("aws/lambda/layer", "aws/lambda/layerversion"),
    ("aws/rds/cluster", "aws/rds/dbcluster"),
    ("aws/rds/instance", "aws/rds/dbinstance"),
    ("aws/rds/subnetgroup", "aws/rds/dbsubnetgroup"),
    ("aws/route53/zone", "aws/route53/hostedzone"),
    ("aws/route53/record", "aws/route53/recordset"),
];

/// Candidates for a plain name that the catalogue does not have, the most likely first.
pub fn others(plain: &str) -> impl Iterator<Item = String> {
    let whole = TYPES
        .iter()
        .find(|(other, _)| *other == plain)
        .map(|(_, name)| (*name).to_owned());
    let mut parts = plain.splitn(3, '/');
    let (namespace, service, rest) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let services = SERVICES
        .iter()
        .find(|(other, _)| *other == service && !rest.is_empty())
        .map_or(&[] as &[&str], |(_, services)| services);
    // The alias of a type may contain the alias of its service.
    let named: Vec<String> = services
        .iter()
        .map(|service| format!("{namespace}/{service}/{rest}"))
        .collect();
    let types: Vec<String> = named
        .iter()
        .filter_map(|name| {
            TYPES
                .iter()
                .find(|(other, _)| other == name)
                .map(|(_, name)| (*name).to_owned())
        })
        .collect();
    whole.into_iter().chain(named).chain(types)
}

/// Aliases of services in plain form, each with its candidates.
pub fn names() -> &'static [(&'static str, &'static [&'static str])] {
    SERVICES
}

/// Aliases of types in plain form, each with its type.
pub fn types() -> &'static [(&'static str, &'static str)] {
    TYPES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order_and_plain() {
        assert!(
            SERVICES.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "each once, by name"
        );
        let plain = |name: &str| name == provider::plain_name(name);
        assert!(
            SERVICES
                .iter()
                .all(|(other, names)| plain(other) && names.iter().all(|name| plain(name)))
        );
        assert!(
            TYPES
                .iter()
                .all(|(other, name)| plain(other) && plain(name))
        );
    }

    #[test]
    fn a_name_of_a_service_may_mean_several() {
        let names: Vec<String> = others("aws/elb/targetgroup").collect();
        assert_eq!(
            names,
            [
                "aws/elasticloadbalancing/targetgroup",
                "aws/elasticloadbalancingv2/targetgroup"
            ]
        );
        assert_eq!(others("aws/vpc").collect::<Vec<_>>(), ["aws/ec2/vpc"]);
        assert_eq!(others("aws/nothing/here").count(), 0);
    }
}
