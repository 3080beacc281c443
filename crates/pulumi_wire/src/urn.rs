//! The names of resources for plugins (URNs): `urn:pulumi:<stack>::<project>::<type>::<name>`.

use std::fmt;

/// A URN of a resource without a parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urn<'a> {
    /// The name of the stack.
    pub stack: &'a str,
    /// The name of the project.
    pub project: &'a str,
    /// The token of the type.
    pub type_name: &'a str,
    /// The name of the resource. `::` in it is written as `--`, because plugins split a URN at
    /// `::`.
    pub name: &'a str,
}

impl fmt::Display for Urn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |text: &str| text.replace("::", "--");
        let (stack, project) = (part(self.stack), part(self.project));
        write!(
            f,
            "urn:pulumi:{stack}::{project}::{}::{}",
            self.type_name,
            part(self.name)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urn_has_four_parts() {
        let urn = Urn {
            stack: "dev",
            project: "shop",
            type_name: "aws:s3/bucket:Bucket",
            name: "a::b/c",
        };
        assert_eq!(
            urn.to_string(),
            "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::a--b/c"
        );
    }
}
