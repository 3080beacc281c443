//! Checks the names of provider configurations in resources, data sources and includes.
//!
//! Not here: the inheritance of configurations (`documents::providers`).

use blueprint::{Child, Name, PROVIDER_TYPE, Resource};
use diag::{Diagnostic, Spanned};

use super::{Checker, codes};

impl<'a> Checker<'a> {
    /// Checks every reference to a configuration.
    pub(super) fn provider_names(&mut self) {
        let blueprint = self.blueprint;
        for (own, resource) in &blueprint.resources {
            let Some(name) = resource.provider.as_deref() else {
                continue;
            };
            if name.item == *own {
                self.found.push(no_configuration(
                    name,
                    "a configuration is not managed by itself".to_owned(),
                ));
            } else {
                self.provider_for(name, resource.type_name.item.package_name(), "resource");
            }
        }
        for source in blueprint.data_sources.values() {
            if let Some(name) = source.provider.as_deref() {
                self.provider_for(name, source.type_name.item.package_name(), "data source");
            }
        }
        for child in blueprint
            .children
            .values()
            .filter(|child| !child.providers.is_empty())
        {
            self.providers_of_child(child);
        }
    }

    /// Checks the configurations that an include passes to its child: at most one for each
    /// provider.
    fn providers_of_child(&mut self, child: &Child) {
        let mut known: Vec<(&str, &Spanned<Name>)> = Vec::new();
        for name in &child.providers {
            let Some(declared) = self.provider_resource(name) else {
                continue;
            };
            let Some(namespace) = declared.configured_namespace() else {
                self.found.push(
                    codes::PROVIDER_NAME
                        .new(format!(
                            "`{}` does not say which provider it configures",
                            name.item
                        ))
                        .label(
                            name.span,
                            "a child inherits a configuration by its namespace",
                        )
                        .help(format!("write out the `namespace` of `{}`", name.item)),
                );
                continue;
            };
            let namespace = self.catalogs.names().key(namespace);
            match known.iter().find(|(of, _)| *of == namespace) {
                Some((_, first)) if first.item != name.item => self.found.push(
                    codes::PROVIDER_NAME
                        .new(format!("two configurations of `{namespace}` are handed down"))
                        .label(name.span, "the second one")
                        .label(first.span, "the first one")
                        .help(
                            "name one of them; a resource of the child can choose another one that the child declares",
                        ),
                ),
                Some(_) => {}
                None => known.push((namespace, name)),
            }
        }
    }

    pub(super) fn provider_for(&mut self, name: &Spanned<Name>, own: &str, what: &str) {
        let namespace = self
            .provider_resource(name)
            .and_then(Resource::configured_namespace);
        let names = self.catalogs.names();
        let is_other = |namespace: &&str| !own.is_empty() && !names.are_same(namespace, own);
        if let Some(namespace) = namespace.filter(is_other) {
            self.found.push(
                codes::PROVIDER_NAME
                    .new(format!("`{}` configures another provider", name.item))
                    .label(
                        name.span,
                        format!("it configures `{namespace}`, and this {what} belongs to `{own}`"),
                    )
                    .help(format!(
                        "name a configuration whose `namespace` is `{}`",
                        names.key(own)
                    )),
            );
        }
    }

    /// The resource of this name, if it declares one configuration of a provider. Reports any other
    /// resource.
    fn provider_resource(&mut self, name: &Spanned<Name>) -> Option<&'a Resource> {
        self.declared_resource(name);
        let blueprint = self.blueprint;
        let declared = blueprint.resources.get(&name.item)?;
        let problem = if declared.type_name.item.as_ref() != PROVIDER_TYPE {
            format!("`{}` is of type `{}`", name.item, declared.type_name.item)
        } else if declared.each.is_some() {
            format!("`{}` names several configurations", name.item)
        } else {
            return Some(declared);
        };
        self.found.push(no_configuration(name, problem));
        None
    }
}

fn no_configuration(name: &Spanned<Name>, problem: String) -> Diagnostic {
    codes::PROVIDER_NAME
        .new(format!("`{}` is no configuration of a provider", name.item))
        .label(name.span, problem)
        .help(format!(
            "name a resource of type `{PROVIDER_TYPE}` without `each`"
        ))
}
