//! The three kinds of entries in the section `resources`, and the types and attributes of groups.

/// The kind of element to which an entry of the section `resources` is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoweredKind {
    /// A resource.
    Resource,
    /// Another document.
    Child,
    /// A group of members: a document that is expanded from its definition.
    Group,
}

/// The types of groups.
pub(super) const GROUPS: [&str; 8] = [
    RESOURCE_GROUP,
    CHAIN,
    SCALING_GROUP,
    STACK,
    "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::SoftwareDeployments",
    "OS::Heat::StructuredDeploymentGroup",
    "OS::Heat::StructuredDeployments",
];

pub(super) const RESOURCE_GROUP: &str = "OS::Heat::ResourceGroup";

pub(super) const CHAIN: &str = "OS::Heat::ResourceChain";

pub(super) const SCALING_GROUP: &str = "OS::Heat::AutoScalingGroup";

pub(super) const STACK: &str = "OS::Heat::Stack";

/// The type of the members of a group of deployments; `None` for other groups. The two short names
/// are older ones.
pub(super) fn deployment_type(kind: &str) -> Option<&'static str> {
    match kind {
        "OS::Heat::SoftwareDeploymentGroup" | "OS::Heat::SoftwareDeployments" => {
            Some("OS::Heat::SoftwareDeployment")
        }
        "OS::Heat::StructuredDeploymentGroup" | "OS::Heat::StructuredDeployments" => {
            Some("OS::Heat::StructuredDeployment")
        }
        _ => None,
    }
}

/// The attribute of a member for an attribute of the group: the group has some in the plural. Any
/// other one is that of the members.
pub(super) fn member_attribute(attribute: &str) -> &str {
    match attribute {
        "deploy_stdouts" => "deploy_stdout",
        "deploy_stderrs" => "deploy_stderr",
        "deploy_status_codes" => "deploy_status_code",
        other => other,
    }
}

/// The attributes of the group itself, not of its members.
pub(super) fn group_attributes(kind: &str) -> &'static [&'static str] {
    match kind {
        RESOURCE_GROUP => &["refs", "refs_map", "removed_rsrc_list"],
        SCALING_GROUP => &["refs", "refs_map", "current_size"],
        // Every attribute is one of the deployments.
        kind if deployment_type(kind).is_some() => &[],
        _ => &["refs"],
    }
}

/// Attributes that take no path. A path after them is ignored.
pub(super) const WITHOUT_PATH: [&str; 3] = ["refs_map", "removed_rsrc_list", "current_size"];

/// The export with all outputs.
pub(super) const ALL: &str = "OS::outputs";

/// Attributes that are followed by the name of a member's attribute.
pub(super) const BY_NAME: [&str; 3] = ["attributes", "outputs", "outputs_list"];

/// The property with the definition of the members, by the type of the group.
pub(super) fn definition_property(kind: &str) -> &'static str {
    match kind {
        RESOURCE_GROUP => "resource_def",
        SCALING_GROUP => "resource",
        CHAIN => "resource_properties",
        _ => "parameters",
    }
}

/// The kind of element that a type without a registry entry is lowered to.
pub(super) fn element_kind(type_name: &str) -> LoweredKind {
    if type_name.ends_with(".yaml") || type_name.ends_with(".template") {
        return LoweredKind::Child;
    }
    if GROUPS.contains(&type_name) {
        return LoweredKind::Group;
    }
    LoweredKind::Resource
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_deployments_has_attributes_in_the_plural() {
        assert_eq!(member_attribute("deploy_stdouts"), "deploy_stdout");
        assert_eq!(member_attribute("result"), "result");
    }
}
