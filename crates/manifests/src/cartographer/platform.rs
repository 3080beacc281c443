//! The objects of Cartographer in a document: its platform, its owners and its runnables.

use blueprint::{Expr, IndexMap, Name, Value};
use cartographer::kinds::{CartoKind, GROUP, KindFamily};
use diag::{Diagnostics, Span};

use dialect::codes::NAME_COLLISION;

use super::codes::UNKNOWN_KIND;
use super::written::value_of;
use crate::objects::DeclaredObject;

/// An object of Cartographer.
pub(super) struct CartoObject {
    /// The kind.
    pub(super) kind: CartoKind,
    /// The namespace, as it is written.
    pub(super) namespace: Option<Name>,
    /// The name.
    pub(super) name: Name,
    /// The place of the name.
    pub(super) span: Span,
    /// The manifest, with the places of its parts.
    pub(super) written: Expr,
    /// The manifest as data.
    pub(super) value: Value,
    /// Whether it is declared outside of the document.
    pub(super) is_outside: bool,
}

impl CartoObject {
    /// The object for people: `Workload/dev/petclinic`.
    pub(super) fn shown(&self) -> String {
        let kind = self.kind.name();
        match &self.namespace {
            Some(namespace) => format!("{kind}/{namespace}/{}", self.name),
            None => format!("{kind}/{}", self.name),
        }
    }
}

/// All objects of Cartographer in a document.
#[derive(Default)]
pub(super) struct Platform {
    /// The blueprints, in their order.
    pub(super) blueprints: Vec<CartoObject>,
    /// The templates by kind and name.
    pub(super) templates: IndexMap<(CartoKind, Name), CartoObject>,
    /// The owners, in their order.
    pub(super) owners: Vec<CartoObject>,
    /// The runnables, in their order.
    pub(super) runnables: Vec<CartoObject>,
    /// The places of the objects by their names for people.
    places: IndexMap<String, Span>,
}

impl Platform {
    /// Takes the objects of Cartographer out of all objects of a document. Returns the others.
    pub(super) fn take(
        objects: Vec<DeclaredObject>,
        found: &mut Diagnostics,
    ) -> (Platform, Vec<DeclaredObject>) {
        let mut platform = Platform::default();
        let mut others = Vec::new();
        for object in objects {
            if *object.identity.kind.item.group == *GROUP {
                platform.add(object, found);
            } else {
                others.push(object);
            }
        }
        (platform, others)
    }

    /// Adds the chains and templates among objects that are declared elsewhere, unless the document
    /// declares an object of the same name. Their own mistakes are reported where they are declared.
    pub(super) fn extend(&mut self, objects: Vec<DeclaredObject>) {
        let mut elsewhere = Platform {
            places: self.places.clone(),
            ..Platform::default()
        };
        for object in objects {
            if *object.identity.kind.item.group == *GROUP {
                elsewhere.add(object, &mut Diagnostics::new());
            }
        }
        let templates = elsewhere.templates.values_mut();
        for object in elsewhere.blueprints.iter_mut().chain(templates) {
            object.is_outside = true;
        }
        self.blueprints.append(&mut elsewhere.blueprints);
        self.templates.extend(elsewhere.templates);
    }

    fn add(&mut self, object: DeclaredObject, found: &mut Diagnostics) {
        let DeclaredObject { identity, resource } = object;
        let value = value_of(&resource.spec);
        let Some(kind) = CartoKind::of(&value) else {
            let kind = &identity.kind;
            found.push(
                UNKNOWN_KIND
                    .new(format!("Cartographer has no kind `{}`", kind.item.kind))
                    .label(kind.span, "not one of `carto.run/v1alpha1`"),
            );
            return;
        };
        let object = CartoObject {
            kind,
            namespace: identity.namespace,
            name: identity.name.item,
            span: identity.name.span,
            written: resource.spec,
            value,
            is_outside: false,
        };
        if let Some(first) = self.places.get(&object.shown()) {
            found.push(
                NAME_COLLISION
                    .new(format!("`{}` is declared twice", object.shown()))
                    .label(object.span, "declared again")
                    .label(*first, "first declared here")
                    .help("remove one of them"),
            );
            return;
        }
        self.places.insert(object.shown(), object.span);
        match kind.family() {
            KindFamily::Blueprint => self.blueprints.push(object),
            KindFamily::Owner => self.owners.push(object),
            KindFamily::Runnable => self.runnables.push(object),
            KindFamily::Template | KindFamily::RunTemplate => {
                self.templates.insert((kind, object.name.clone()), object);
            }
        }
    }

    /// All objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = &CartoObject> {
        let lists = [&self.blueprints, &self.owners, &self.runnables];
        let listed = lists.into_iter().flat_map(|list| list.iter());
        listed.chain(self.templates.values())
    }
}
