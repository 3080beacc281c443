//! What does the same as a type of Heat that only Heat itself can carry out, for error messages.

/// What to use in place of a type that nothing here manages, as a phrase that follows `instead`.
/// `None` if nothing does the same.
pub(crate) fn instead(type_name: &str) -> Option<&'static str> {
    let (namespace, name) = type_name.rsplit_once("::")?;
    Some(match (namespace, name) {
        (_, "ScalingPolicy") => {
            "change `desired_capacity` of the group, and deploy again: nothing here receives signals \
             after a deploy"
        }
        ("OS::Heat", "InstanceGroup") | ("AWS::AutoScaling", _) => {
            "use `OS::Heat::AutoScalingGroup` or `OS::Heat::ResourceGroup` with `OS::Nova::Server`"
        }
        ("OS::Heat", "HARestarter") => "deploy again: a plan finds servers that are broken or gone",
        ("OS::Heat", "AccessPolicy") | ("AWS::IAM", _) => {
            "give guests an application credential, or the URL of an \
             `OS::Heat::WaitConditionHandle` if they only send signals"
        }
        ("OS::Aodh" | "OS::Monasca", _) if name.contains("Alarm") => {
            "let the alarm run `cyan deploy` with other inputs: nothing here receives signals after a \
             deploy"
        }
        ("AWS::CloudFormation", "Stack") => "use `OS::Heat::Stack` or a nested template",
        ("AWS::EC2", "EIP") => "use `OS::Neutron::FloatingIP`",
        ("AWS::EC2", "EIPAssociation") => "use `OS::Neutron::FloatingIPAssociation`",
        ("AWS::EC2", "Instance") => "use `OS::Nova::Server`",
        ("AWS::EC2", "InternetGateway" | "VPCGatewayAttachment") => {
            "use `OS::Neutron::Router` with `external_gateway_info`"
        }
        ("AWS::EC2", "NetworkInterface") => "use `OS::Neutron::Port`",
        ("AWS::EC2", "RouteTable") => "use `OS::Neutron::Router`",
        ("AWS::EC2", "SubnetRouteTableAssociation") => "use `OS::Neutron::RouterInterface`",
        ("AWS::EC2", "SecurityGroup") => "use `OS::Neutron::SecurityGroup`",
        ("AWS::EC2", "Subnet") => "use `OS::Neutron::Subnet`",
        ("AWS::EC2", "VPC") => "use `OS::Neutron::Net` and `OS::Neutron::Router`",
        ("AWS::EC2", "Volume") => "use `OS::Cinder::Volume`",
        ("AWS::EC2", "VolumeAttachment") => "use `OS::Cinder::VolumeAttachment`",
        ("AWS::ElasticLoadBalancing", _) => {
            "use `OS::Octavia::LoadBalancer` with a listener and a pool"
        }
        ("AWS::S3", "Bucket") => "use `OS::Swift::Container`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_types::{CATALOG, resource_type};
    use crate::types::handler;

    #[test]
    fn each_type_of_cloud_formation_is_managed_or_replaced() {
        let names = CATALOG.resource_type_names();
        let mut checked = 0;
        for name in names.filter(|name| name.starts_with("AWS::")) {
            let is_managed = handler(name).is_some();
            assert!(is_managed || instead(name).is_some(), "{name}");
            checked += 1;
        }
        assert_eq!(checked, 23);
    }

    #[test]
    fn types_that_are_only_described_say_what_replaces_them() {
        let ty = resource_type("OS::Heat::ScalingPolicy");
        let instead = ty.and_then(|ty| ty.instead.clone());
        assert!(instead.is_some_and(|text| text.contains("desired_capacity")));
        assert_eq!(super::instead("OS::Heat::Value"), None);
        assert_eq!(super::instead("OS::Nova::Server"), None);
    }
}
