//! Tokens of types and functions: `aws:s3/bucket:Bucket` is the type
//! `pulumi:aws/s3/bucket:Bucket` of the blueprint (decisions/pulumi#namespaces-of-packages).
//!
//! The package completes a short token: `aws:s3:Bucket` and `random:RandomPet` name a type as well.

use std::borrow::Cow;

use blueprint::Name;

/// The beginning of the namespaces of packages.
const FAMILY: &str = "pulumi:";

/// The beginning of the tokens of providers.
const PROVIDERS: &str = "pulumi:providers:";

/// The beginning of the names of functions that read an object of a type. `pulumi_wire` offers one
/// for each type.
pub(crate) const READ_PREFIX: &str = "(get)";

/// The package that is a part of this program and needs no plugin.
pub(crate) const BUILT_IN: &str = "pulumi";

/// The token, without the package, of the built-in function that reads a recorded resource.
pub(crate) const GET_RESOURCE: &str = "pulumi:getResource";

/// A type token.
#[derive(Debug, PartialEq)]
pub(crate) enum TypeToken<'t> {
    /// The provider of a package.
    Provider {
        /// The package.
        package: &'t str,
    },
    /// A type of a package.
    Packaged {
        /// The package.
        package: &'t str,
        /// The token without the package.
        rest: &'t str,
    },
}

impl<'t> TypeToken<'t> {
    /// Reads a token; `None` if it names no package or no type.
    pub(crate) fn read(token: &'t str) -> Option<TypeToken<'t>> {
        if let Some(package) = token.strip_prefix(PROVIDERS) {
            return is_package(package).then_some(TypeToken::Provider { package });
        }
        let (package, rest) = token.split_once(':')?;
        if !is_package(package) || rest.trim_matches(':').is_empty() {
            return None;
        }
        Some(TypeToken::Packaged { package, rest })
    }
}

/// The namespace of a package.
pub(crate) fn namespace(package: &str) -> Name {
    format!("{FAMILY}{package}").into()
}

/// The name of a type or function of a package.
pub(crate) fn qualified(package: &str, rest: &str) -> Name {
    format!("{FAMILY}{package}/{rest}").into()
}

/// The token of a type of the blueprint: the inverse of [`qualified`] and [`namespace`].
pub(crate) fn token_of(name: &str) -> Cow<'_, str> {
    let Some(packaged) = name.strip_prefix(FAMILY) else {
        return name.into();
    };
    match packaged.split_once('/') {
        Some((package, rest)) => format!("{package}:{rest}").into(),
        None => format!("{PROVIDERS}{packaged}").into(),
    }
}

fn is_package(name: &str) -> bool {
    let is_inner =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_package_and_a_type() {
        for (token, read) in [
            (
                "aws:s3/bucket:Bucket",
                Some(TypeToken::Packaged {
                    package: "aws",
                    rest: "s3/bucket:Bucket",
                }),
            ),
            (
                "random:RandomPet",
                Some(TypeToken::Packaged {
                    package: "random",
                    rest: "RandomPet",
                }),
            ),
            (
                "pulumi:providers:aws",
                Some(TypeToken::Provider { package: "aws" }),
            ),
            (
                "pulumi:pulumi:StackReference",
                Some(TypeToken::Packaged {
                    package: BUILT_IN,
                    rest: "pulumi:StackReference",
                }),
            ),
            ("Thing", None),
            ("aws:", None),
            (":Thing", None),
            ("a/b:Thing", None),
            ("pulumi:providers:", None),
        ] {
            assert_eq!(TypeToken::read(token), read, "{token}");
        }
        assert_eq!(
            &*qualified("aws", "s3/bucket:Bucket"),
            "pulumi:aws/s3/bucket:Bucket"
        );
    }
}
