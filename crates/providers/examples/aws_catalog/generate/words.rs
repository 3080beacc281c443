//! Splits CloudFormation's names into words, and joins them in the spelling of documents.
//!
//! Capital letters alone do not show the words of `SSEKMSKeyId`, so tables here list such names.
//! The catalogue stores both spellings, so that neither has to be derived at run time.

/// Words with an unusual spelling, or words that are joined without a visible boundary.
const WORDS: &[(&str, &[&str])] = &[
    ("ACMPCA", &["ACM", "PCA"]),
    ("AWSKMS", &["AWS", "KMS"]),
    ("B2BI", &["B2BI"]),
    ("CIDRIP", &["CIDR", "IP"]),
    ("DBv2", &["DB", "v2"]),
    ("DBv", &["DBv"]),
    ("DDoS", &["DDoS"]),
    ("EKSRE", &["EKSRE"]),
    ("FSx", &["FSx"]),
    ("HANADB", &["HANA", "DB"]),
    ("HANASID", &["HANA", "SID"]),
    ("IoT", &["IoT"]),
    ("IPv", &["IPv"]),
    ("JDBCURL", &["JDBC", "URL"]),
    ("JMXURL", &["JMX", "URL"]),
    ("SAPSID", &["SAP", "SID"]),
    ("SMBACL", &["SMB", "ACL"]),
    ("SSEKMS", &["SSE", "KMS"]),
    ("VPCDHCP", &["VPC", "DHCP"]),
];

/// Product names that are one word in the name of a service.
const SERVICES: &[&str] = &[
    "ACMPCA",
    "AppConfig",
    "AppFlow",
    "AppStream",
    "AppSync",
    "CloudFormation",
    "CloudFront",
    "CloudHSM",
    "CloudTrail",
    "CloudWatch",
    "CodeArtifact",
    "CodeBuild",
    "CodeCommit",
    "CodeDeploy",
    "CodeGuru",
    "CodePipeline",
    "CodeStar",
    "DataBrew",
    "DataSync",
    "DataZone",
    "DevOps",
    "DocDB",
    "DynamoDB",
    "ElastiCache",
    "FinSpace",
    "FleetWise",
    "GameLift",
    "GuardDuty",
    "HealthImaging",
    "HealthLake",
    "IdentityStore",
    "MediaConnect",
    "MediaConvert",
    "MediaLive",
    "MediaPackage",
    "MediaStore",
    "MediaTailor",
    "MemoryDB",
    "OpenSearch",
    "OpsWorks",
    "QuickSight",
    "RoboMaker",
    "SageMaker",
    "SiteWise",
    "TwinMaker",
    "WAFv2",
    "WorkSpaces",
    "WorkspacesInstances",
];

/// Names that are one word in the name of a resource type.
const NAMES: &[&str] = &[
    "CloudFormation",
    "CloudFront",
    "CloudWatch",
    "DNSSEC",
    "DynamoDB",
    "GitHub",
    "GraphQL",
    "MicroVM",
    "OAuth2",
    "OAuth",
    "OTel",
];

/// The words of a name, in their original spelling.
pub(crate) fn words(name: &str) -> Vec<&str> {
    split(name, &[])
}

fn split<'n>(name: &'n str, whole: &[&str]) -> Vec<&'n str> {
    let bytes = name.as_bytes();
    let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
    let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let small = |mut at: usize| {
        while is_lower(at) || is_digit(at) {
            at += 1;
        }
        at
    };
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let rest = &name[at..];
        if let Some(product) = whole
            .iter()
            .find(|one| rest.starts_with(**one) && !is_lower(at + one.len()))
        {
            words.push(&rest[..product.len()]);
            at += product.len();
            continue;
        }
        let known = WORDS.iter().find(|(one, _)| {
            // A known word that ends in a lower-case letter may be followed by digits, but not by
            // another lower-case letter.
            rest.starts_with(one) && !is_lower(at + one.len())
        });
        if let Some((one, parts)) = known {
            let mut from = at;
            for part in *parts {
                words.push(&name[from..from + part.len()]);
                from += part.len();
            }
            at += one.len();
            let end = small(at);
            if end > at && is_digit(at) {
                // `IPv` and `6` are one word.
                let last = words.pop().map_or(0, str::len);
                words.push(&name[at - last..end]);
                at = end;
            }
            continue;
        }
        let mut end = at;
        while is_upper(end) {
            end += 1;
        }
        end = match end - at {
            0 | 1 => small(end.max(at + 1)),
            _ if is_digit(end) => small(end),
            // `ARNs`: the plural of an acronym.
            _ if bytes.get(end) == Some(&b's') && !is_lower(end + 1) && !is_digit(end + 1) => {
                end + 1
            }
            // The last capital letter begins the next word.
            _ if is_lower(end) => end - 1,
            _ => end,
        };
        words.push(&name[at..end]);
        at = end;
    }
    words
}

/// A name in the spelling of fields in documents: `SSEKMSKeyId` becomes `sseKmsKeyId`.
pub(crate) fn lower_camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for word in words(name) {
        let mut word = word.to_ascii_lowercase();
        if !camel.is_empty() {
            word[..1].make_ascii_uppercase();
        }
        camel.push_str(&word);
    }
    camel
}

/// The name of a type in the spelling of documents: `AWS::ApiGateway::RestApi` becomes
/// `aws/api-gateway/rest-api`.
pub(crate) fn type_name(original: &str) -> String {
    let kebab = |(at, segment): (usize, &str)| {
        split(segment, if at == 1 { SERVICES } else { NAMES })
            .join("-")
            .to_ascii_lowercase()
    };
    original
        .split("::")
        .enumerate()
        .map(kebab)
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields() {
        for (original, camel) in [
            ("BucketName", "bucketName"),
            ("VPCId", "vpcId"),
            ("DBInstanceArn", "dbInstanceArn"),
            ("SSEKMSKeyId", "sseKmsKeyId"),
            ("SecurityGroupIDs", "securityGroupIds"),
            ("AllowedOAuthFlows", "allowedOAuthFlows"),
            ("IPv6CidrBlock", "ipv6CidrBlock"),
            ("Ipv6CidrBlock", "ipv6CidrBlock"),
            ("EC2SecurityGroupId", "ec2SecurityGroupId"),
            ("S3BucketARN", "s3BucketArn"),
            ("M2tsSettings", "m2tsSettings"),
            ("IoTSiteWise", "iotSiteWise"),
            ("DynamoDBv2Action", "dynamoDbV2Action"),
            ("ETag", "eTag"),
            ("VCpuCount", "vCpuCount"),
            ("destinationCidr", "destinationCidr"),
            ("ARN", "arn"),
            ("A", "a"),
        ] {
            assert_eq!(lower_camel(original), camel);
        }
    }

    #[test]
    fn names_of_types() {
        for (original, name) in [
            ("AWS::S3::Bucket", "aws/s3/bucket"),
            ("AWS::DynamoDB::Table", "aws/dynamodb/table"),
            ("AWS::ApiGateway::RestApi", "aws/api-gateway/rest-api"),
            ("AWS::ApiGatewayV2::VpcLink", "aws/api-gateway-v2/vpc-link"),
            (
                "AWS::EC2::VPCGatewayAttachment",
                "aws/ec2/vpc-gateway-attachment",
            ),
            (
                "AWS::EC2::VPCDHCPOptionsAssociation",
                "aws/ec2/vpc-dhcp-options-association",
            ),
            ("AWS::RDS::DBInstance", "aws/rds/db-instance"),
            ("AWS::WAFv2::WebACL", "aws/wafv2/web-acl"),
            (
                "AWS::ElasticLoadBalancingV2::LoadBalancer",
                "aws/elastic-load-balancing-v2/load-balancer",
            ),
            (
                "AWS::CloudFront::CloudFrontOriginAccessIdentity",
                "aws/cloudfront/cloudfront-origin-access-identity",
            ),
            (
                "AWS::IoTSiteWise::AssetModel",
                "aws/iot-sitewise/asset-model",
            ),
            ("AWS::SecretsManager::Secret", "aws/secrets-manager/secret"),
        ] {
            assert_eq!(type_name(original), name);
        }
    }
}
