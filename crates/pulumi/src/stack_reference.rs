//! References to other stacks: the resource `pulumi:pulumi:StackReference`, and the function
//! `fn::stackReference` that does the same (decisions/pulumi#references-to-stacks).
//!
//! Both are reads: the built-in package `pulumi` finds the stack.
//!
//! Not here: the lowering of the resource (`existing`) and of the call (`expressions`).

use std::collections::HashSet;

use blueprint::{Expr, ExprKind, Name, Value};
use diag::{Diagnostics, Span, Spanned};
use expr::codes::ARGUMENT_TYPE;
use syntax::{Content, Node};

use crate::access::{self, TextPiece};
use crate::lowering::{NamedKind, ProgramLowering};
use crate::read::{node_kind, text, value_span};
use crate::tokens::{BUILT_IN, READ_PREFIX, TypeToken};

/// The token of the type without its package.
const TYPE: &str = "pulumi:StackReference";

/// Whether a token names the type.
pub(crate) fn is_stack_reference(token: &str) -> bool {
    match TypeToken::read(token) {
        Some(TypeToken::Packaged { package, rest }) if package == BUILT_IN => {
            rest == TYPE || rest == "StackReference"
        }
        _ => false,
    }
}

/// The function that reads a stack.
pub(crate) fn reading_function() -> String {
    format!("{BUILT_IN}:{READ_PREFIX}{TYPE}")
}

impl ProgramLowering<'_> {
    /// The arguments of the function that reads a stack, for a resource with the name `logical`.
    pub(crate) fn stack_arguments(&self, stack: Expr, logical: &Name, span: Span) -> Expr {
        let key = |name: &str| Spanned::new(Name::from(name), span);
        let fixed = |text: &Name| Expr::literal(Value::Text(text.clone()), span);
        let arguments = vec![
            (key("id"), stack),
            (key("name"), fixed(logical)),
            (key("project"), fixed(&self.project)),
        ];
        Expr::new(ExprKind::Map(arguments), span)
    }

    /// Reports a name that is no text, or that depends on a resource: a plan reads the stack. Returns
    /// `None` then.
    pub(crate) fn refuse_late_name(&mut self, node: &Node) -> Option<()> {
        let place = value_span(node);
        if text(node).is_none() {
            let kind = node_kind(node);
            let mistake = ARGUMENT_TYPE
                .new(format!(
                    "the name of a stack must be a string, found {kind}"
                ))
                .label(place, kind);
            self.found.push(mistake);
            return None;
        }
        let Some(resource) = self.resource_in(node, &mut HashSet::new()) else {
            return Some(());
        };
        self.found.push(
            ARGUMENT_TYPE
                .new("the name of a stack must be known before the deployment")
                .label(place, format!("depends on the resource `{resource}`"))
                .help("write the name, or take it from the configuration"),
        );
        None
    }

    /// A managed resource that a value depends on, also through variables. `passed` has the variables
    /// on the way.
    fn resource_in(&self, node: &Node, passed: &mut HashSet<Name>) -> Option<Name> {
        match &node.content {
            Content::Missing => None,
            Content::List(items) => items.iter().find_map(|one| self.resource_in(one, passed)),
            Content::Map(entries) => {
                let mut values = entries.iter().map(|entry| &entry.value);
                values.find_map(|one| self.resource_in(one, passed))
            }
            Content::Scalar(_) => {
                let map = node.text_map(self.source);
                // The lowering of the text reports its mistakes.
                let pieces = access::pieces(text(node)?, &map, &mut Diagnostics::default());
                let roots = pieces.iter().filter_map(|piece| match piece {
                    TextPiece::Access(access, _) => Some(access.root.item.as_str()),
                    _ => None,
                });
                roots.into_iter().find_map(|root| {
                    let (name, element) = self.names.get_key_value(root)?;
                    match element.kind {
                        NamedKind::Resource | NamedKind::Provider => Some(name.clone()),
                        NamedKind::Variable if passed.insert(name.clone()) => {
                            self.resource_in(self.variables.get(name)?, passed)
                        }
                        NamedKind::Variable | NamedKind::Config | NamedKind::Read => None,
                    }
                })
            }
        }
    }
}
