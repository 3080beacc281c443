//! The names of types in documents: the namespace, `/`, and the token without the name of its
//! package.

use blueprint::Name;

/// Converts between tokens and the names of types in documents: the token `aws:s3/bucket:Bucket` of
/// the package `aws` is `aws/s3/bucket:Bucket` in the namespace `aws`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeTokens {
    namespace: Name,
    prefix: String,
}

impl TypeTokens {
    /// Creates the names of a package in a namespace.
    pub fn new(namespace: impl Into<Name>, package: &str) -> TypeTokens {
        TypeTokens {
            namespace: namespace.into(),
            prefix: format!("{package}:"),
        }
    }

    /// The namespace.
    pub fn namespace(&self) -> &Name {
        &self.namespace
    }

    /// The name of a token in documents.
    pub fn in_documents(&self, token: &str) -> Name {
        let rest = token
            .strip_prefix(self.prefix.as_str())
            .filter(|rest| !rest.is_empty())
            .unwrap_or(token);
        format!("{}/{rest}", self.namespace).into()
    }

    /// The token of a name in a document, resolved by `resolve`. The name may also have the whole
    /// token after the slash; the short form takes precedence.
    pub fn in_protocol(&self, name: &str, resolve: impl Fn(&str) -> Option<Name>) -> Option<Name> {
        let written = name
            .strip_prefix(self.namespace.as_ref())?
            .strip_prefix('/')?;
        resolve(&format!("{}{written}", self.prefix)).or_else(|| resolve(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_without_its_package() {
        let tokens = TypeTokens::new("cloud", "aws");
        let known = ["aws:s3/bucket:Bucket", "other:index:Thing"];
        let resolve = |token: &str| {
            known
                .into_iter()
                .find(|known| *known == token)
                .map(Name::from)
        };
        for token in known {
            let name = tokens.in_documents(token);
            assert_eq!(tokens.in_protocol(&name, resolve).as_deref(), Some(token));
        }
        assert_eq!(&*tokens.in_documents(known[0]), "cloud/s3/bucket:Bucket");
        assert_eq!(
            tokens
                .in_protocol("cloud/aws:s3/bucket:Bucket", resolve)
                .as_deref(),
            Some(known[0])
        );
        assert_eq!(tokens.in_protocol("aws/s3/bucket:Bucket", resolve), None);
        assert_eq!(tokens.in_protocol("cloud/nothing", resolve), None);
    }
}
