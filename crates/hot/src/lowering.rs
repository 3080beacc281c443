//! The state that the lowering of all sections shares: the names of the template, and the
//! diagnostics so far.

use blueprint::{Expr, IndexMap, Name, Value};
use diag::{Diagnostic, NativeMessage, Severity, Span};
use syntax::Node;

use super::context::{self, TemplateContext};
use super::kinds::LoweredKind;
use super::message_path::{MessagePath, MessageStep};
use super::read::{NodeReader, value_span};
use super::refusal_expressions::refusal_expr_when_read;
use super::version::Version;
use dialect::codes::WRONG_SHAPE;
use dialect::{LoadContext, TypeLookup};

/// The state of lowering a template to a blueprint.
pub(super) struct Lowering {
    pub(super) version: Version,
    pub(super) context: TemplateContext,
    /// What providers offer; `None` if that is unknown.
    offered: Option<TypeLookup>,
    /// Whether another document includes the template.
    pub(super) is_child: bool,
    pub(super) reader: NodeReader,
    /// The source text, if places inside of scalars may be needed.
    pub(super) source: String,
    /// The parameters.
    pub(super) parameters: IndexMap<Name, Span>,
    /// The conditions.
    pub(super) conditions: IndexMap<Name, Span>,
    /// The resources.
    pub(super) resources: IndexMap<Name, LoweredKind>,
    /// The resolved types of resources: a type, or the path of a template.
    pub(super) resolved_types: IndexMap<Name, Name>,
    /// The exports of groups that the template reads, by group.
    pub(super) reads: IndexMap<Name, IndexMap<Name, Span>>,
    /// Whether some reference or condition depends on the inputs.
    pub(super) unsettled: bool,
    /// Whether the current value is in an output, where a missing name fails only this output.
    pub(super) in_output: bool,
    /// Whether the current value is in a branch of `if`, which may never be evaluated.
    pub(super) in_branch: bool,
    /// Whether the template reads metadata or policies of its own resource.
    pub(super) reads_facade: bool,
    /// Whether the current value is in a condition, in which few functions can be called.
    pub(super) in_condition: bool,
    /// Heat's class and path, without a message, for the condition without a name that is being
    /// read.
    pub(super) condition_for: Option<NativeMessage>,
    /// The references to conditions by name, in the order of Heat's evaluation.
    pub(super) condition_uses: Vec<(Name, NativeMessage)>,
    /// Mistakes in named conditions that Heat reports at the first use: the number of the
    /// diagnostic, and the condition.
    pub(super) first_use_mistakes: Vec<(usize, Name)>,
    /// The names of all conditions as a list, created when first needed.
    pub(super) condition_names: Option<Value>,
    /// The cycles of conditions.
    pub(super) cycles: Vec<Vec<Name>>,
    /// The numbers of the diagnostics that Heat does not report while it reads. They do not count
    /// in a resource whose condition is false.
    pub(super) late_diagnostics: Vec<usize>,
    /// The path to the current value, for Heat's messages.
    pub(super) message_path: MessagePath,
}

impl Lowering {
    /// Creates the initial state, without names.
    pub(super) fn new(
        version: Version,
        context: &LoadContext,
        is_child: bool,
        reader: NodeReader,
    ) -> Lowering {
        Lowering {
            version,
            context: context::of(context),
            offered: context.types.clone(),
            is_child,
            reader,
            source: String::new(),
            parameters: IndexMap::default(),
            conditions: IndexMap::default(),
            resources: IndexMap::default(),
            resolved_types: IndexMap::default(),
            reads: IndexMap::default(),
            unsettled: false,
            in_output: false,
            in_condition: false,
            in_branch: false,
            reads_facade: false,
            condition_for: None,
            condition_uses: Vec::new(),
            first_use_mistakes: Vec::new(),
            condition_names: None,
            cycles: Vec::new(),
            late_diagnostics: Vec::new(),
            message_path: MessagePath::default(),
        }
    }

    /// Whether a package offers a function, as `package/token`. Returns `false` if that is unknown.
    /// Reads the catalogue of the package.
    pub(super) fn has_function(&self, name: &str) -> bool {
        let offered = self.offered.as_ref();
        offered.is_some_and(|offered| (offered.has_function)(name))
    }

    /// Reads a value one step further on the path.
    pub(super) fn with_path_step<T>(
        &mut self,
        step: MessageStep,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.message_path.steps.push(step);
        let value = read(self);
        self.message_path.steps.pop();
        value
    }

    /// Reports a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.reader.found.push(diagnostic);
    }

    /// Reports a mistake and returns the expression in error. In a branch of an `if`, the mistake
    /// counts only if the branch is taken.
    pub(super) fn fail(&mut self, diagnostic: Diagnostic, span: Span) -> Expr {
        if self.in_branch {
            let refused = refusal_expr_when_read(&diagnostic);
            self.report(diagnostic.with_severity(Severity::Warning));
            return refused;
        }
        self.report(diagnostic);
        Expr::error(span)
    }

    /// Reports a value of the wrong kind.
    pub(super) fn wrong_shape(
        &mut self,
        what: &str,
        wanted: &str,
        node: &Node,
        words: impl Into<NativeMessage>,
    ) {
        // A broken text was reported already.
        if node.is_missing() {
            return;
        }
        self.report(
            WRONG_SHAPE
                .new(format!("{what} must be {wanted}"))
                .label(value_span(node), format!("this is {}", self.kind_of(node)))
                .with_native_message(words),
        );
    }

    /// The kind of a node's value, for messages.
    pub(super) fn kind_of(&self, node: &Node) -> &'static str {
        match &node.content {
            syntax::Content::Map(_) => "a map",
            syntax::Content::List(_) => "a list",
            syntax::Content::Missing => "nothing",
            syntax::Content::Scalar(scalar) => {
                let tag = node.tag().map(|tag| &*tag.item);
                match super::scalar::typed(scalar, tag) {
                    Some(Value::Null) | None => "nothing",
                    Some(Value::Bool(_)) => "a boolean",
                    Some(Value::Text(_)) => "text",
                    Some(_) => "a number",
                }
            }
        }
    }

    /// Whether a node is null.
    pub(super) fn is_null(&self, node: &Node) -> bool {
        node.as_scalar().is_some() && self.kind_of(node) == "nothing"
    }

    /// The text of a node, if the node is text.
    pub(super) fn text<'t>(&self, node: &'t Node) -> Option<&'t str> {
        (self.kind_of(node) == "text")
            .then(|| node.text())
            .flatten()
    }

    /// A call of one of the dialect's functions on one argument.
    pub(super) fn call(&self, function: &str, name_span: Span, argument: Expr, span: Span) -> Expr {
        let version = Expr::literal(Value::Int(self.version.number()), span);
        Expr::call(function, name_span, vec![argument, version], span)
    }
}
