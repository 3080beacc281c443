//! The form of a table: what becomes of each property, when an object is ready, which refusals clear
//! with time.

use std::time::Duration;

use ::provider::Operation;

use super::names::ObjectKind;
use crate::client::{Service, ServiceRequest};

/// A JSON object.
pub(crate) type JsonMap = serde_json::Map<String, serde_json::Value>;

/// A property of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property {
    /// Its name in templates.
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    /// What the field becomes when the document no longer sets the property.
    pub(crate) unset: Unset,
}

/// What a field becomes when the document no longer sets its property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unset {
    Null,
    /// The empty text.
    Text,
    /// The empty list.
    List,
    True,
    /// It stays as it is: the service has no value for it.
    Kept,
}

/// What a property becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// A field of the object.
    Field {
        /// Its name in the API.
        field: &'static str,
        form: Form,
        reading: Reading,
    },
    /// A map whose entries are fields of the object.
    Spread,
    /// The hooks of the type carry the property out.
    Hook,
    /// The property has no effect on the object.
    Ignored,
}

/// The form of a value in the API.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// As it is written.
    Same,
    /// The id of an object of this kind, which a template names by its id or its name.
    Reference(&'static ObjectKind),
    /// A list with items of this form.
    List(&'static Form),
    /// A list of maps with these properties.
    Each(&'static [Property]),
    /// A map with these properties.
    One(&'static [Property]),
    /// A network in CIDR form. The service cuts the bits of the host.
    Cidr,
    /// A MAC address. The service writes it in lower case.
    Mac,
}

/// Whether a field of the object shows the value of its property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It does: a difference is drift.
    Shown,
    /// It does not, or others than the user change it: the recorded value counts.
    Recorded,
}

impl Property {
    /// The property of a field that others change too, or that the service does not show.
    pub(crate) const fn recorded(self) -> Property {
        match self.target {
            Target::Field { field, form, .. } => Property {
                target: Target::Field {
                    field,
                    form,
                    reading: Reading::Recorded,
                },
                ..self
            },
            Target::Spread | Target::Hook | Target::Ignored => self,
        }
    }

    /// Says what the field becomes when the document no longer sets the property.
    pub(crate) const fn when_unset(self, unset: Unset) -> Property {
        Property { unset, ..self }
    }

    const fn field(name: &'static str, field: &'static str, form: Form) -> Property {
        Property {
            name,
            target: Target::Field {
                field,
                form,
                reading: Reading::Shown,
            },
            unset: Unset::Null,
        }
    }

    const fn without_field(name: &'static str, target: Target) -> Property {
        Property {
            name,
            target,
            unset: Unset::Kept,
        }
    }
}

/// A property that is a field of the same name.
pub(crate) const fn same(name: &'static str) -> Property {
    Property::field(name, name, Form::Same)
}

/// A property that is a field of another name or form.
pub(crate) const fn renamed(name: &'static str, field: &'static str, form: Form) -> Property {
    Property::field(name, field, form)
}

/// A property that names an object.
pub(crate) const fn reference(
    name: &'static str,
    field: &'static str,
    kind: &'static ObjectKind,
) -> Property {
    Property::field(name, field, Form::Reference(kind))
}

/// A property with a list of this form.
pub(crate) const fn list(name: &'static str, form: &'static Form) -> Property {
    Property::field(name, name, Form::List(form))
}

/// A property with a list of maps.
pub(crate) const fn each(name: &'static str, properties: &'static [Property]) -> Property {
    Property::field(name, name, Form::Each(properties))
}

/// A property with a map whose entries are fields of the object.
pub(crate) const fn spread(name: &'static str) -> Property {
    Property::without_field(name, Target::Spread)
}

/// A property that the hooks of its type carry out.
pub(crate) const fn hook(name: &'static str) -> Property {
    Property::without_field(name, Target::Hook)
}

/// A property without an effect on the object.
pub(crate) const fn ignored(name: &'static str) -> Property {
    Property::without_field(name, Target::Ignored)
}

/// How an object shows that it is ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The field with the status; empty if objects of the type have none.
    pub(crate) field: &'static str,
    /// The values of an object that is ready.
    pub(crate) ready: &'static [&'static str],
    /// The values of an object that is broken.
    pub(crate) failed: &'static [&'static str],
    /// The values of a deleted object that the service still shows. It does not exist.
    pub(crate) gone: &'static [&'static str],
    /// The path of the reason, with dots; empty if there is none.
    pub(crate) why: &'static str,
}

impl State {
    /// Objects without a status are ready.
    pub(crate) const NONE: State = State {
        field: "",
        ready: &[],
        failed: &[],
        gone: &[],
        why: "",
    };
}

/// The object below whose path the objects of a type are: a rule is below its policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    /// The property that names the parent. Its id takes the place of `{parent}` in the path.
    pub(crate) property: &'static str,
    pub(crate) kind: &'static ObjectKind,
}

/// How objects of a type are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// By `PUT` with the changed fields.
    Put,
    /// By `PATCH` with the changed fields.
    Patch,
    /// The hooks of the type change them.
    Hook,
    /// Not at all: every change replaces the object.
    Never,
}

impl Update {
    /// The call that changes the object at a path; `None` if it takes others.
    pub(super) fn call(
        self,
        service: Service,
        path: String,
        body: serde_json::Value,
    ) -> Option<ServiceRequest> {
        match self {
            Update::Put => Some(ServiceRequest::put(service, path, body)),
            Update::Patch => Some(ServiceRequest::patch(service, path, body)),
            Update::Hook | Update::Never => None,
        }
    }
}

/// A refusal that clears with time: another object still uses this one, for example.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    /// The operation that is refused.
    pub(crate) operation: Operation,
    pub(crate) status: u16,
    /// The service's name for the refusal; empty for any.
    pub(crate) name: &'static str,
    /// A part of the service's message; empty for any.
    pub(crate) says: &'static str,
    /// The time that it is awaited.
    pub(crate) patience: Duration,
}

impl Busy {
    /// A refusal with any name and message, which is awaited for the usual time.
    pub(crate) const fn of(operation: Operation, status: u16) -> Busy {
        Busy {
            operation,
            status,
            name: "",
            says: "",
            patience: Duration::from_secs(75),
        }
    }

    /// A delete that is refused with a status.
    pub(crate) const fn delete(status: u16) -> Busy {
        Busy::of(Operation::Delete, status)
    }
}
