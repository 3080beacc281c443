//! The former URNs of a resource: those that its aliases state, those of the former types of its
//! schema, and those that follow from the former URNs of its parent (decisions/pulumi#aliases).

use blueprint::{FormerIdentity, FormerParent, Name};
use dialect::rules::FormerNames;

/// The type of the root of every stack. It is left out of the URNs of its children.
const STACK_TYPE: &str = "pulumi:pulumi:Stack";

/// The parts of a URN.
#[derive(Clone, Copy)]
struct UrnParts<'a> {
    stack: &'a str,
    project: &'a str,
    /// The types of the parents and its own, joined by `$`.
    types: &'a str,
    name: &'a str,
}

impl<'a> UrnParts<'a> {
    fn read(urn: &'a str) -> Option<UrnParts<'a>> {
        let mut parts = urn.strip_prefix("urn:pulumi:")?.splitn(4, "::");
        Some(UrnParts {
            stack: parts.next()?,
            project: parts.next()?,
            types: parts.next()?,
            name: parts.next()?,
        })
    }

    fn own_type(&self) -> &'a str {
        self.types
            .rsplit_once('$')
            .map_or(self.types, |(_, own)| own)
    }

    /// The types of the parents; `None` below the stack.
    fn types_above(&self) -> Option<&'a str> {
        self.types.rsplit_once('$').map(|(above, _)| above)
    }

    /// Its types as those of a parent; `None` for the stack.
    fn types_as_parent(&self) -> Option<&'a str> {
        Some(self.types).filter(|types| *types != STACK_TYPE)
    }
}

fn urn(stack: &str, project: &str, above: Option<&str>, own: &str, name: &str) -> Name {
    let types = match above {
        Some(above) => format!("{above}${own}"),
        None => own.to_owned(),
    };
    format!("urn:pulumi:{stack}::{project}::{types}::{name}").into()
}

/// A type as URNs have it: a token of two parts has the module `index`.
fn full_type(token: &str) -> Name {
    match token.split(':').collect::<Vec<_>>().as_slice() {
        [package, name] => format!("{package}:index:{name}").into(),
        _ => token.into(),
    }
}

/// The former URNs of a resource, without repetition.
pub(crate) fn former_urns(names: &FormerNames<'_>) -> Vec<Name> {
    let Some(now) = UrnParts::read(names.urn) else {
        return Vec::new();
    };
    let mut all: Vec<Name> = Vec::new();
    let mut own_pairs: Vec<(Name, Name)> = vec![(now.own_type().into(), names.name.into())];
    for (identity, parent) in names.stated {
        let FormerIdentity {
            urn: whole,
            name,
            type_name,
            instance,
            project,
            ..
        } = identity;
        if let Some(whole) = whole {
            all.push(whole.clone());
            continue;
        }
        let own = type_name
            .as_deref()
            .map_or(now.own_type().into(), full_type);
        let name = name.clone().unwrap_or_else(|| names.name.into());
        let above = match &identity.parent {
            FormerParent::Same => now.types_above(),
            FormerParent::None => None,
            FormerParent::Resource(_) | FormerParent::Urn(_) => {
                let parent = parent.as_deref().and_then(UrnParts::read);
                parent.and_then(|parent| parent.types_as_parent())
            }
        };
        let stack = instance.as_deref().unwrap_or(now.stack);
        let project = project.as_deref().unwrap_or(now.project);
        all.push(urn(stack, project, above, &own, &name));
        own_pairs.push((own, name));
    }
    for former in names.types {
        let own = full_type(former);
        all.push(urn(
            now.stack,
            now.project,
            now.types_above(),
            &own,
            now.name,
        ));
        own_pairs.push((own, names.name.into()));
    }
    if let Some((parent_name, parent_urns)) = names.parent {
        for parent in parent_urns.iter().filter_map(|urn| UrnParts::read(urn)) {
            for (own, name) in &own_pairs {
                let name = inherited_name(name, parent_name, parent.name);
                let above = parent.types_as_parent();
                all.push(urn(parent.stack, parent.project, above, own, &name));
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|one| **one != *names.urn && seen.insert(one.clone()));
    all
}

/// The name of a child under the former name of its parent. A name that begins with the name of the
/// parent began with the parent's former name.
fn inherited_name(name: &str, parent: &str, former_parent: &str) -> Name {
    match name.strip_prefix(parent) {
        Some(rest) if parent != former_parent => format!("{former_parent}{rest}").into(),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(change: impl FnOnce(&mut FormerIdentity)) -> FormerIdentity {
        let mut identity = FormerIdentity::default();
        change(&mut identity);
        identity
    }

    fn of(
        now: &str,
        stated: &[(&FormerIdentity, Option<Name>)],
        types: &[Name],
        parent: Option<(&str, &[Name])>,
    ) -> Vec<String> {
        let names = FormerNames {
            urn: now,
            name: now.rsplit("::").next().unwrap(),
            parent,
            stated,
            types,
        };
        former_urns(&names)
            .iter()
            .map(|urn| urn.to_string())
            .collect()
    }

    #[test]
    fn parts_that_an_alias_leaves_out_are_as_they_are_now() {
        let now = "urn:pulumi:dev::shop::a:index:P$a:index:T::new";
        let parent: Name = "urn:pulumi:dev::shop::a:index:Q::q".into();
        for (stated, above, expected) in [
            (
                identity(|one| one.name = Some("old".into())),
                None,
                "urn:pulumi:dev::shop::a:index:P$a:index:T::old",
            ),
            (
                identity(|one| one.type_name = Some("a:Old".into())),
                None,
                "urn:pulumi:dev::shop::a:index:P$a:index:Old::new",
            ),
            (
                identity(|one| one.parent = FormerParent::None),
                None,
                "urn:pulumi:dev::shop::a:index:T::new",
            ),
            (
                identity(|one| one.parent = FormerParent::Urn(parent.clone())),
                Some(parent.clone()),
                "urn:pulumi:dev::shop::a:index:Q$a:index:T::new",
            ),
            (
                identity(|one| {
                    one.instance = Some("test".into());
                    one.project = Some("store".into());
                }),
                None,
                "urn:pulumi:test::store::a:index:P$a:index:T::new",
            ),
        ] {
            assert_eq!(of(now, &[(&stated, above)], &[], None), [expected]);
        }
    }

    #[test]
    fn children_inherit_the_former_urns_of_their_parent() {
        let now = "urn:pulumi:dev::shop::a:index:P$a:index:T::q-kid";
        let former: [Name; 1] = ["urn:pulumi:dev::shop::a:index:P::p".into()];
        assert_eq!(
            of(now, &[], &[], Some(("q", &former))),
            ["urn:pulumi:dev::shop::a:index:P$a:index:T::p-kid"]
        );
    }

    #[test]
    fn a_former_type_of_the_schema_is_an_alias() {
        let now = "urn:pulumi:dev::shop::a:index:T::x";
        assert_eq!(
            of(now, &[], &["a:index:Old".into()], None),
            ["urn:pulumi:dev::shop::a:index:Old::x"]
        );
    }
}
