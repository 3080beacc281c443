//! Resolves the transforms and the type names of resources and data sources.
//!
//! Not here: the rules of a type (`spec`, `data_sources`). A resource of an unknown type is open:
//! it may have any fields, so that one error causes one diagnostic
//! (decisions/blueprint#references-to-fields). Types that only a transform knows are abstract:
//! their resources are checked against the transform's schema, and again after the transform.

use std::sync::Arc;

use blueprint::{IndexMap, Resource, Schema, TypeId};
use diag::{Diagnostic, Spanned};
use dialect::{WordPlace, codes as document};
use provider::{Catalogs, ResourceType, TypeRef, Unavailable};

use super::provider_settings::with_settings;
use super::{Checker, TypeOf, codes};

impl Checker<'_> {
    /// Checks that every listed transform is known (section 4.2).
    pub(super) fn transforms(&mut self) {
        for transform in &self.blueprint.transforms {
            if self.catalogs.transform(&transform.item).is_none() {
                self.unknown_transform = true;
                self.found.push(
                    codes::UNKNOWN_TRANSFORM
                        .new(format!("unknown transform `{}`", transform.item))
                        .label(transform.span, "no provider offers this")
                        .help_nearest(&transform.item, self.catalogs.transform_names()),
                );
            }
        }
    }

    /// The type of each resource, looked up once per name.
    pub(super) fn resource_types(&mut self) {
        let mut seen: IndexMap<&TypeId, TypeOf> = IndexMap::default();
        let blueprint = self.blueprint;
        self.resources.reserve(blueprint.resources.len());
        for resource in blueprint.resources.values() {
            let name = &resource.type_name;
            let found = match seen.get(&name.item) {
                // An unknown type is an error wherever it is written.
                Some(TypeOf::Open) | None => {
                    let written = resource.stands_for.as_ref().map_or(name, |written| written);
                    let found = self.resource_type(name, &written.item);
                    seen.insert(&name.item, found.clone());
                    found
                }
                Some(found) => found.clone(),
            };
            let own = match &found {
                TypeOf::Known(ty) => with_settings(ty, resource, self.catalogs)
                    .or_else(|| with_secret_fields(ty, resource)),
                _ => None,
            };
            self.resources.push(own.map_or(found, TypeOf::Known));
        }
    }

    /// Resolves a type. `written` is the name in the document, which may stand for another type
    /// name.
    fn resource_type(&mut self, name: &Spanned<TypeId>, written: &TypeId) -> TypeOf {
        if name.item.is_empty() {
            return TypeOf::Open;
        }
        let problem = match self.catalogs.resource_type(&name.item) {
            TypeRef::Known(found) => return TypeOf::Known(found),
            _ if is_foreign_name(&name.item) && self.rules.words.explain(WordPlace::Type) => {
                let names = self.catalogs.resource_type_names();
                self.found.push(foreign_type(name, names));
                return TypeOf::Open;
            }
            TypeRef::Unavailable(why) => {
                self.found.push(unavailable(name, &why));
                return TypeOf::Open;
            }
            other => other,
        };
        let abstract_type = self
            .catalogs
            .iter()
            .flat_map(|catalog| catalog.transforms.values())
            .find_map(|transform| {
                transform
                    .abstract_types
                    .get(name.item.name())
                    .map(|found| (&transform.name, found.schema.clone()))
            });
        if let Some((transform, schema)) = abstract_type {
            if self.transformed || self.blueprint.transforms.is_empty() {
                let diagnostic = codes::ABSTRACT_RESOURCE_LEFT
                    .new(format!("nothing turns `{}` into real resources", name.item))
                    .label(
                        name.span,
                        format!("only the transform `{transform}` knows this type"),
                    );
                let listed = self
                    .blueprint
                    .transforms
                    .iter()
                    .any(|listed| listed.item == *transform);
                self.found.push(if listed {
                    diagnostic.note(format!(
                        "`{transform}` has run and left it, or a later transform made it"
                    ))
                } else {
                    diagnostic.help(format!("list the transform: `transform: {transform}`"))
                });
            }
            return TypeOf::Abstract(schema);
        }
        if self.unknown_transform {
            return TypeOf::Open;
        }
        let mut diagnostic = match problem {
            TypeRef::UnknownNamespace if self.rules.naming.types_begin_with_provider() => {
                unknown_provider(name, self.catalogs)
            }
            _ => {
                let diagnostic = codes::UNKNOWN_RESOURCE_TYPE
                    .new(format!("unknown resource type `{}`", name.item))
                    .label(name.span, "no provider offers this");
                match self.catalogs.data_source_type(&name.item) {
                    TypeRef::Known(_) => {
                        diagnostic.help("declare it in `datasources`: it is a type of data source")
                    }
                    _ => {
                        let count = self.catalogs.resource_type_names().count();
                        let names = self.catalogs.resource_type_names();
                        let diagnostic = self.suggest(diagnostic, &name.item, count, names);
                        match self.rules.naming.unknown_type_help(written) {
                            Some(help) if diagnostic.help.is_empty() => diagnostic.help(help),
                            _ => listed_elsewhere(diagnostic, &name.item),
                        }
                    }
                }
            }
        };
        diagnostic.native_message = self
            .rules
            .messages
            .of(&dialect::Mistake::NoType(written))
            .map(Box::new);
        self.found.push(diagnostic);
        TypeOf::Open
    }

    /// Resolves the type of each data source.
    pub(super) fn data_source_types(&mut self) {
        for source in self.blueprint.data_sources.values() {
            let name = &source.type_name;
            let found = match self.catalogs.data_source_type(&name.item) {
                _ if name.item.is_empty() => None,
                TypeRef::Known(found) => Some(found),
                _ if is_foreign_name(&name.item) && self.rules.words.explain(WordPlace::Type) => {
                    let names = self.catalogs.data_source_type_names();
                    self.found.push(foreign_type(name, names));
                    None
                }
                TypeRef::UnknownNamespace => {
                    self.found.push(unknown_provider(name, self.catalogs));
                    None
                }
                TypeRef::Unavailable(why) => {
                    self.found.push(unavailable(name, &why));
                    None
                }
                TypeRef::UnknownType => {
                    let diagnostic = codes::UNKNOWN_DATA_SOURCE_TYPE
                        .new(format!("unknown data source type `{}`", name.item))
                        .label(name.span, "no provider offers this");
                    self.found
                        .push(match self.catalogs.resource_type(&name.item) {
                            TypeRef::Known(_) => diagnostic
                                .help("declare it in `resources`: it is a type of resource"),
                            _ => listed_elsewhere(
                                diagnostic.help_nearest(
                                    &name.item,
                                    self.catalogs.data_source_type_names(),
                                ),
                                &name.item,
                            ),
                        });
                    None
                }
            };
            self.data_sources.push(found);
        }
    }
}

/// The diagnostic for a type of a package whose plugin cannot be used.
pub(super) fn unavailable(name: &Spanned<TypeId>, why: &Unavailable) -> Diagnostic {
    why.diagnostic().label(name.span, "a type of this package")
}

/// The diagnostic for a type whose namespace no provider offers.
pub(super) fn unknown_provider(name: &Spanned<TypeId>, catalogs: &Catalogs) -> Diagnostic {
    let namespace = name.item.package_name();
    codes::UNKNOWN_PROVIDER
        .new(format!("unknown provider `{namespace}`"))
        .label(
            name.span,
            format!("no provider offers types of `{namespace}`"),
        )
        .help_nearest(namespace, catalogs.namespaces())
        .help(OTHER_PROVIDERS)
}

/// Where to find providers, and how to add others.
const OTHER_PROVIDERS: &str = "`cyan types` lists the providers; to add a provider of Terraform or Pulumi, name its plugin under `[plugins]` in `cyan.toml`";

/// Adds the command that lists the types, unless a similar type is suggested.
fn listed_elsewhere(diagnostic: Diagnostic, name: &TypeId) -> Diagnostic {
    match diagnostic.help.is_empty() {
        true => {
            let package = name.package_name();
            diagnostic.help(format!(
                "`cyan types {package}` lists the types of `{package}`"
            ))
        }
        false => diagnostic,
    }
}

/// Whether a name has no provider before a `/` or `::`, as types of other tools: `local_file`,
/// `aws:s3:Bucket`, `file`.
fn is_foreign_name(name: &TypeId) -> bool {
    let name: &str = name.as_ref();
    !name.contains('/') && !name.contains("::")
}

/// The diagnostic for a type in the form of another tool. `names` are the known types.
fn foreign_type<'n>(name: &Spanned<TypeId>, names: impl Iterator<Item = &'n str>) -> Diagnostic {
    let written: &str = name.item.as_ref();
    let plain = |text: &str| -> String {
        let is_mark = |c: &char| !matches!(c, '/' | '_' | '-' | ':' | '.');
        text.chars()
            .filter(is_mark)
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted = plain(written);
    let mut alike: Vec<&str> = Vec::new();
    for known in names {
        let is_alike =
            plain(known) == wanted || known.rsplit('/').next().is_some_and(|last| last == written);
        if is_alike && alike.len() < 3 && !alike.contains(&known) {
            alike.push(known);
        }
    }
    let diagnostic = document::INVALID_NAME
        .new(format!("`{written}` cannot be the name of a type"))
        .label(
            name.span,
            "a type has the form `provider/type`, `provider/service/type` or `Provider::Service::Type`",
        );
    match alike.as_slice() {
        [] => diagnostic
            .help("write the provider's name first, then `/` and the type")
            .help(OTHER_PROVIDERS),
        [one] => diagnostic.fix(
            format!("write `{one}`"),
            vec![(name.span, (*one).to_owned())],
            false,
        ),
        several => {
            let quoted: Vec<String> = several.iter().map(|one| format!("`{one}`")).collect();
            diagnostic.help(format!("did you mean {}?", quoted.join(" or ")))
        }
    }
}

/// The type of a resource with fields that its document calls secret, as sensitive fields; `None` if
/// there are none. Names that the type does not have are ignored.
fn with_secret_fields(ty: &ResourceType, resource: &Resource) -> Option<Arc<ResourceType>> {
    let names = &resource.lifecycle.secret_fields;
    if names.is_empty() {
        return None;
    }
    let mut fields = ty.schema.fields.clone();
    for name in names {
        if let Some(field) = fields.get_mut(name) {
            field.sensitive = true;
        }
    }
    Some(Arc::new(ResourceType {
        schema: Arc::new(Schema {
            fields,
            ..Schema::clone(&ty.schema)
        }),
        ..ty.clone()
    }))
}
