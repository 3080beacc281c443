//! Families of packages that documents name as `FAMILY:NAME`, without any configuration.

use crate::Name;

/// The namespaces `FAMILY:NAME` of a family. No provider of the program and no table has such a
/// namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFamily {
    /// The word of the family and a colon.
    prefix: Name,
}

impl PackageFamily {
    /// The namespaces of a family with this word.
    pub fn new(family: &str) -> PackageFamily {
        PackageFamily {
            prefix: format!("{family}:").into(),
        }
    }

    /// The namespace of a package with this name in the family.
    pub fn namespace(&self, package: &str) -> Name {
        format!("{}{package}", self.prefix).into()
    }

    /// The name in the family of the package with a namespace; `None` for any other namespace.
    pub fn package<'n>(&self, namespace: &'n str) -> Option<&'n str> {
        let package = namespace.strip_prefix(self.prefix.as_ref())?;
        is_package_name(package).then_some(package)
    }
}

/// Whether a text can be the name of a package. Such a text is also safe as a part of a file name.
pub fn is_package_name(name: &str) -> bool {
    let is_inner =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_name_can_stand_in_a_type() {
        assert!(
            ["cloud", "tf-random", "a.b_c2"]
                .into_iter()
                .all(is_package_name)
        );
        assert!(
            !["", "a/b", "2x", "a b", "ä", "a::b", "..", "a\\b"]
                .into_iter()
                .any(is_package_name)
        );
    }

    #[test]
    fn a_namespace_of_a_family_names_a_package() {
        let family = PackageFamily::new("sky");
        assert_eq!(family.package("sky:kite"), Some("kite"));
        assert_eq!(family.package(&family.namespace("kite")), Some("kite"));
        for other in ["sky", "sky:", "kite", "sky:a:b", "sky::kite", "sky:../kite"] {
            assert_eq!(family.package(other), None, "{other}");
        }
    }
}
