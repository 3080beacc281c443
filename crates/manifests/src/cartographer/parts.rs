//! What the objects of a document become.

use blueprint::{Expr, IndexMap, Local, Name, Resource, Type};
use diag::{Diagnostics, Span};
use dialect::codes::NAME_COLLISION;

/// What the objects of a document become.
#[derive(Default)]
pub(super) struct LoweredParts {
    /// The resources by name.
    pub(super) resources: IndexMap<Name, Resource>,
    /// The outputs of resources by name.
    pub(super) locals: IndexMap<Name, Local>,
    /// The mistakes.
    pub(super) found: Diagnostics,
}

impl LoweredParts {
    /// Adds a resource. Reports a name that is taken.
    pub(super) fn add(&mut self, name: Name, resource: Resource) {
        if let Some(first) = self.resources.get(&name) {
            self.found.push(
                NAME_COLLISION
                    .new(format!("`{name}` is declared twice"))
                    .label(resource.span, "declared again")
                    .label(first.span, "first declared here")
                    .help("remove one of them"),
            );
            return;
        }
        self.resources.insert(name, resource);
    }

    /// Adds the output of a resource.
    pub(super) fn add_output(&mut self, name: Name, span: Span, value: Expr) {
        let local = Local {
            span,
            ty: Type::Any,
            value,
            secret: false,
            description: None,
        };
        self.locals.insert(name, local);
    }
}
