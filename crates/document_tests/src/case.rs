//! A test file as data.

use blueprint::{Map, Name, Value};
use diag::{Span, Spanned};

/// The cases of a file.
#[derive(Clone, Debug, Default)]
pub struct TestFile {
    /// The path of the document, relative to the folder of the test file; `None` if the name of the
    /// test file says it.
    pub document: Option<Spanned<Name>>,
    /// The cases, in the order of the file.
    pub cases: Vec<TestCase>,
}

/// A case: one or more operations on a new instance.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// The name.
    pub name: Spanned<Name>,
    /// The name of the instance; `None` for that of the document.
    pub instance: Option<Spanned<Name>>,
    /// What providers answer.
    pub answers: Vec<RehearsedAnswer>,
    /// The steps, at least one.
    pub steps: Vec<TestStep>,
}

/// What a provider answers about a resource, or about all resources or data sources of a type.
#[derive(Clone, Debug)]
pub struct RehearsedAnswer {
    /// The address of a resource, or the name of a type.
    pub about: Spanned<Name>,
    /// The fields of the answer, as a map.
    pub fields: Value,
}

/// A step: changes from outside, then a plan, then its deployment.
#[derive(Clone, Debug)]
pub struct TestStep {
    /// The place of the step.
    pub span: Span,
    /// The inputs of the document: those of the file, the case and the step.
    pub inputs: Map,
    /// Paths of environment files, relative to the folder of the test file.
    pub environments: Vec<Spanned<Name>>,
    /// The changes from outside that happen before the plan.
    pub outside: Vec<ExternalChange>,
    /// The actions that the plan must have.
    pub actions: Vec<ExpectedActions>,
    /// The resources that a look for drift must find changed.
    pub drifted: Option<ExpectedAddresses>,
    /// The resources that a look for drift must find deleted.
    pub vanished: Option<ExpectedAddresses>,
    /// Fields of specs.
    pub specs: Vec<ExpectedFields>,
    /// Exported values.
    pub exports: Vec<ExpectedValue>,
    /// Expressions that must be true.
    pub assertions: Vec<Assertion>,
    /// The mistake for which the document must be refused.
    pub refused: Option<ExpectedRefusal>,
}

impl TestStep {
    /// Whether the step looks for drift.
    pub fn looks_for_drift(&self) -> bool {
        self.drifted.is_some() || self.vanished.is_some()
    }
}

/// A change of an object that `cyan` does not make.
#[derive(Clone, Debug)]
pub struct ExternalChange {
    /// The resource.
    pub address: Spanned<Name>,
    /// The new values of fields; `None` if the object is deleted.
    pub fields: Option<Map>,
}

/// What a plan does with a resource, in the words of a test file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// A new object.
    Create,
    /// A change in place.
    Update,
    /// A new object in place of the old one.
    Replace,
    /// The object is deleted.
    Delete,
    /// Nothing.
    Unchanged,
}

impl StepAction {
    /// All actions, in the order of the documentation.
    pub const ALL: [StepAction; 5] = [
        StepAction::Create,
        StepAction::Update,
        StepAction::Replace,
        StepAction::Delete,
        StepAction::Unchanged,
    ];

    /// The key in a test file.
    pub fn key(self) -> &'static str {
        match self {
            StepAction::Create => "create",
            StepAction::Update => "update",
            StepAction::Replace => "replace",
            StepAction::Delete => "delete",
            StepAction::Unchanged => "unchanged",
        }
    }

    /// The action as a participle, for messages.
    pub(crate) fn participle(self) -> &'static str {
        match self {
            StepAction::Create => "created",
            StepAction::Update => "updated",
            StepAction::Replace => "replaced",
            StepAction::Delete => "deleted",
            StepAction::Unchanged => "unchanged",
        }
    }
}

/// All resources with one action.
#[derive(Clone, Debug)]
pub struct ExpectedActions {
    /// The action.
    pub action: StepAction,
    /// The resources.
    pub resources: ExpectedAddresses,
}

/// A complete list of addresses.
#[derive(Clone, Debug)]
pub struct ExpectedAddresses {
    /// The place of the list's key.
    pub key: Span,
    /// The addresses.
    pub addresses: Vec<Spanned<Name>>,
}

/// Values in the spec of a resource.
#[derive(Clone, Debug)]
pub struct ExpectedFields {
    /// The resource.
    pub address: Spanned<Name>,
    /// The fields. Others may have any value.
    pub fields: Vec<ExpectedValue>,
}

/// A named value.
#[derive(Clone, Debug)]
pub struct ExpectedValue {
    /// The name.
    pub name: Spanned<Name>,
    /// The place of the value.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// An expression that must be true, or have a value.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The place of the expression.
    pub span: Span,
    /// The expression as YAML, as in the file. Its first line begins with the indentation of its
    /// place, so that all lines fit together.
    pub yaml: Box<str>,
    /// The number of bytes of `yaml` before the expression.
    pub indentation: u32,
    /// The decoded text, if the expression is a scalar.
    pub text: Option<Box<str>>,
    /// The value that it must have; `None` if it must be true.
    pub expected: Option<Spanned<Value>>,
}

/// The mistake for which a document must be refused. Both parts must fit.
#[derive(Clone, Debug)]
pub struct ExpectedRefusal {
    /// The place of the key.
    pub key: Span,
    /// The code of the diagnostic; `None` for any.
    pub code: Option<Spanned<Name>>,
    /// A part of the message; `None` for any.
    pub message: Option<Spanned<Name>>,
}
