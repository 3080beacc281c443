//! Names of types in documents: the namespace and the provider's type without its prefix.

use blueprint::Name;

/// The names of one provider's types in documents: `random_password` is `random/password`, and
/// `http` of the provider `http` is `http/http`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeNames {
    namespace: Name,
    prefix: String,
}

impl TypeNames {
    /// Returns the names of a provider in a namespace. `provider` is the provider's own name, with
    /// which its types begin.
    pub fn new(namespace: impl Into<Name>, provider: &str) -> TypeNames {
        TypeNames {
            namespace: namespace.into(),
            prefix: format!("{provider}_"),
        }
    }

    /// The namespace.
    pub fn namespace(&self) -> &Name {
        &self.namespace
    }

    /// The name in documents of a type of the protocol.
    pub fn in_documents(&self, type_name: &str) -> Name {
        let token = type_name
            .strip_prefix(self.prefix.as_str())
            .filter(|token| !token.is_empty())
            .unwrap_or(type_name);
        format!("{}/{token}", self.namespace).into()
    }

    /// The type of the protocol for a name in a document, if `exists` accepts it. The name may also
    /// have the whole type after the slash; the short form takes precedence.
    pub fn in_protocol(&self, name: &str, exists: impl Fn(&str) -> bool) -> Option<Name> {
        let token = name
            .strip_prefix(self.namespace.as_ref())?
            .strip_prefix('/')?;
        let long = format!("{}{token}", self.prefix);
        [long.as_str(), token]
            .into_iter()
            .find(|name| exists(name))
            .map(Name::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_without_its_prefix_or_whole() {
        let names = TypeNames::new("tf-random", "random");
        let exists =
            |name: &str| ["random_password", "random_random_pet", "random_pet"].contains(&name);
        assert_eq!(
            names.in_documents("random_password").as_ref(),
            "tf-random/password"
        );
        for name in ["tf-random/password", "tf-random/random_password"] {
            assert_eq!(
                names.in_protocol(name, exists).as_deref(),
                Some("random_password")
            );
        }
        // The short name of one type is the whole name of another.
        assert_eq!(
            names.in_documents("random_random_pet").as_ref(),
            "tf-random/random_pet"
        );
        assert_eq!(
            names.in_protocol("tf-random/random_pet", exists).as_deref(),
            Some("random_random_pet")
        );
        assert_eq!(names.in_protocol("tf-random/nothing", exists), None);
        assert_eq!(names.in_protocol("random/password", exists), None);
    }

    #[test]
    fn a_type_that_is_called_like_its_provider_keeps_its_name() {
        let names = TypeNames::new("http", "http");
        assert_eq!(names.in_documents("http").as_ref(), "http/http");
        assert_eq!(
            names
                .in_protocol("http/http", |name| name == "http")
                .as_deref(),
            Some("http")
        );
    }
}
