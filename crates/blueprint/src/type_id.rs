//! Resolved types: the package that a type belongs to, and its token in that package.
//!
//! A type is written as one text, `aws/ec2/vpc` or `OS::Heat::Value`. The text is split once, when
//! a document is lowered or a record is read. All other code reads the package and the token from
//! the [`TypeId`].
//!
//! Not here: the types of a package (`provider`), the type names that a dialect accepts (its
//! crate).

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use crate::map::IndexMap;
use crate::{Name, Names, PackageFamily, Value, wire};

/// A hosted package: a set of types under one name, whose calls a host carries out.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// The family of its host, such as `pulumi`. The program's hosts define the families.
    pub family: Name,
    /// The name in documents: the text before the first `/` or the last `::` of a type.
    pub name: Name,
    /// The version, if a declaration or a catalogue states one.
    pub version: Option<Name>,
    /// The parameters that make a parameterized package from its plugin: a map, or null.
    pub parameters: Value,
}

/// A resolved type. Equality, order and hash are those of its [name](TypeId::name): within a
/// document a package name stands for one package.
///
/// Cloning copies at most two pointers. A type dereferences to its name and is printed and stored
/// as its name.
#[derive(Clone, Debug, Default)]
pub struct TypeId {
    name: Name,
    /// The length of the package's name in bytes.
    package_end: u32,
    /// The byte offset of the token.
    token_start: u32,
    package: Option<Arc<Package>>,
}

impl TypeId {
    /// Splits a name. The package is the text before the first `/`; without a `/`, the text before
    /// the last `::`, as in `OS::Heat::Value`. A name with neither is both the package and the
    /// token.
    ///
    /// The result knows its package only by name: see [`Packages::resolve`].
    pub fn parse(name: impl Into<Name>) -> TypeId {
        let name = name.into();
        let (package_end, token_start) = match name.find('/') {
            Some(at) => (at, at + 1),
            None => name.rfind("::").map_or((name.len(), 0), |at| (at, at + 2)),
        };
        TypeId {
            package_end: package_end as u32,
            token_start: token_start as u32,
            package: None,
            name,
        }
    }

    /// The type with a package, whose name must be the package name of the type.
    pub fn of_package(self, package: Arc<Package>) -> TypeId {
        debug_assert_eq!(self.package_name(), &*package.name);
        TypeId {
            package: Some(package),
            ..self
        }
    }

    /// The type as it is written, stored and printed: the package's name and the token.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Replaces the name by an equal one that `names` holds.
    pub fn share(&mut self, names: &mut Names) {
        self.name = names.share(&self.name);
    }

    /// The name of the package.
    pub fn package_name(&self) -> &str {
        self.name
            .get(..self.package_end as usize)
            .unwrap_or_default()
    }

    /// The text after the package's name: `ec2/vpc` of `aws/ec2/vpc`, `Value` of `OS::Heat::Value`.
    pub fn token(&self) -> &str {
        self.name
            .get(self.token_start as usize..)
            .unwrap_or_default()
    }

    /// The last part of the token, after its last `/` or `::`: `vpc` of `aws/ec2/vpc`.
    pub fn last_part(&self) -> &str {
        let token = self.token();
        let last = token.rsplit('/').next().unwrap_or(token);
        last.rsplit("::").next().unwrap_or(last)
    }

    /// The package, if it is hosted and the type was made by [`Packages::resolve`].
    pub fn package(&self) -> Option<&Arc<Package>> {
        self.package.as_ref()
    }
}

impl Deref for TypeId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

impl AsRef<str> for TypeId {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl Borrow<str> for TypeId {
    fn borrow(&self) -> &str {
        &self.name
    }
}

impl PartialEq for TypeId {
    fn eq(&self, other: &TypeId) -> bool {
        Name::ptr_eq(&self.name, &other.name) || self.name == other.name
    }
}

impl Eq for TypeId {}

impl PartialEq<str> for TypeId {
    fn eq(&self, other: &str) -> bool {
        *self.name == *other
    }
}

impl PartialEq<Name> for TypeId {
    fn eq(&self, other: &Name) -> bool {
        Name::ptr_eq(&self.name, other) || self.name == *other
    }
}

impl PartialOrd for TypeId {
    fn partial_cmp(&self, other: &TypeId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TypeId {
    fn cmp(&self, other: &TypeId) -> Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for TypeId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl From<&str> for TypeId {
    fn from(name: &str) -> TypeId {
        TypeId::parse(name)
    }
}

impl From<String> for TypeId {
    fn from(name: String) -> TypeId {
        TypeId::parse(name)
    }
}

impl From<Name> for TypeId {
    fn from(name: Name) -> TypeId {
        TypeId::parse(name)
    }
}

impl From<&Name> for TypeId {
    fn from(name: &Name) -> TypeId {
        TypeId::parse(name.clone())
    }
}

impl From<TypeId> for Name {
    fn from(id: TypeId) -> Name {
        id.name
    }
}

impl serde::Serialize for TypeId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> serde::Deserialize<'de> for TypeId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TypeId, D::Error> {
        wire::name(deserializer).map(TypeId::parse)
    }
}

/// The hosted packages whose types a document may name: those with a name, and all of some families.
/// All other packages are part of the program.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    hosted: IndexMap<Name, Arc<Package>>,
    families: Vec<PackageFamily>,
}

impl Packages {
    /// The names of the hosted packages that are not of a family.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hosted.keys().map(AsRef::as_ref)
    }

    /// No hosted packages.
    pub fn new() -> Packages {
        Packages::default()
    }

    /// Whether there is no hosted package.
    pub fn is_empty(&self) -> bool {
        self.hosted.is_empty() && self.families.is_empty()
    }

    /// Adds a family. Types of its packages know their package by name only.
    pub fn add_family(&mut self, family: PackageFamily) {
        self.families.push(family);
    }

    /// Whether a name is that of a package of a family.
    pub fn is_of_family(&self, name: &str) -> bool {
        let mut families = self.families.iter();
        families.any(|family| family.package(name).is_some())
    }

    /// Adds a package. If two packages have the same name, the first one stays.
    pub fn add(&mut self, package: Arc<Package>) {
        self.hosted.entry(package.name.clone()).or_insert(package);
    }

    /// The hosted package with a name, if it is not of a family.
    pub fn hosted(&self, name: &str) -> Option<&Arc<Package>> {
        if self.hosted.is_empty() {
            None
        } else {
            self.hosted.get(name)
        }
    }

    /// The token of a written type, if the text before its first `/` names a hosted package.
    pub fn token<'t>(&self, written: &'t str) -> Option<&'t str> {
        if self.is_empty() {
            return None;
        }
        let (name, token) = written.split_once('/')?;
        (self.hosted(name).is_some() || self.is_of_family(name)).then_some(token)
    }

    /// The type with a name, with its package if it is hosted.
    pub fn resolve(&self, name: impl Into<Name>) -> TypeId {
        let mut id = TypeId::parse(name);
        id.package = self.hosted(id.package_name()).cloned();
        id
    }
}

impl FromIterator<Arc<Package>> for Packages {
    fn from_iter<I: IntoIterator<Item = Arc<Package>>>(packages: I) -> Packages {
        let mut all = Packages::new();
        packages.into_iter().for_each(|package| all.add(package));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_ends_at_the_first_slash_or_the_last_pair_of_colons() {
        for (name, package, token, last) in [
            ("local/file", "local", "file", "file"),
            ("aws/ec2/vpc", "aws", "ec2/vpc", "vpc"),
            ("OS::Heat::Value", "OS::Heat", "Value", "Value"),
            (
                "OS::Neutron::LBaaS::Pool",
                "OS::Neutron::LBaaS",
                "Pool",
                "Pool",
            ),
            (
                "kubernetes/networking.k8s.io/Ingress",
                "kubernetes",
                "networking.k8s.io/Ingress",
                "Ingress",
            ),
            (
                "aws/s3/bucket:Bucket",
                "aws",
                "s3/bucket:Bucket",
                "bucket:Bucket",
            ),
            ("x/a::b", "x", "a::b", "b"),
            ("alone", "alone", "alone", "alone"),
            ("", "", "", ""),
        ] {
            let id = TypeId::parse(name);
            assert_eq!(
                (id.package_name(), id.token(), id.last_part()),
                (package, token, last),
                "{name}"
            );
            assert_eq!(id.to_string(), name);
        }
    }

    #[test]
    fn hosted_packages_are_found_by_name() {
        let package = Arc::new(Package {
            family: "pulumi".into(),
            name: "aws".into(),
            version: Some("6.2.0".into()),
            parameters: Value::Null,
        });
        let packages: Packages = [package.clone()].into_iter().collect();
        let id = packages.resolve("aws/s3/bucket:Bucket");
        assert_eq!(id.token(), "s3/bucket:Bucket");
        assert_eq!(id.package(), Some(&package));
        assert_eq!(packages.resolve("local/file").package(), None);
        assert_eq!(packages.token("aws/a b:c"), Some("a b:c"));
        assert!(packages.token("local/file").is_none() && packages.token("aws").is_none());
        assert_eq!(
            id,
            TypeId::parse("aws/s3/bucket:Bucket"),
            "the name decides"
        );
    }

    #[test]
    fn all_packages_of_a_family_are_hosted() {
        let mut packages = Packages::new();
        assert!(packages.is_empty());
        packages.add_family(PackageFamily::new("sky"));
        assert!(!packages.is_empty() && packages.is_of_family("sky:kite"));
        assert_eq!(packages.token("sky:kite/a/b"), Some("a/b"));
        assert_eq!(packages.resolve("sky:kite/a").package(), None);
        for other in ["sky:kite", "sky/kite", "sky:a:b/c", "sea:boat/a"] {
            assert_eq!(packages.token(other), None, "{other}");
        }
    }

    #[test]
    fn a_type_is_stored_as_its_name() {
        let id = TypeId::parse("aws/ec2/vpc");
        let text = serde_json::to_string(&id).expect("a text");
        assert_eq!(text, "\"aws/ec2/vpc\"");
        assert_eq!(serde_json::from_str::<TypeId>(&text).expect("a type"), id);
    }
}
