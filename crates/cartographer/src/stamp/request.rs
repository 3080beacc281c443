//! What is stamped, and what can become of it.

use std::ops::Range;

use blueprint::{FieldPath, Map, Value};
use jsonpath::FailureClass;

use crate::compat::Compat;
use crate::context::TemplateContext;
use crate::inputs::AbsentInput;

/// Evaluates templates of ytt.
pub trait YttTemplates {
    /// The documents that a template gives. Each top-level key of `values` is a data value. The
    /// error says why there are none.
    fn documents(&self, template: &str, values: &Value) -> Result<Vec<Value>, YttMistake>;
}

/// A template of ytt that cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YttMistake {
    /// What is wrong, as a lower-case phrase.
    pub message: String,
    /// The 1-based line of the template, if it is known.
    pub line: Option<usize>,
}

/// Whether a stamped object names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerReference {
    /// It does: the cluster deletes the object with its owner.
    Written,
    /// It does not.
    Left,
}

/// What is stamped.
#[derive(Clone, Copy)]
pub struct StampRequest<'a> {
    /// The template, as a whole manifest.
    pub template: &'a Value,
    /// What its tags read.
    pub context: &'a TemplateContext,
    /// The owner, as a whole manifest.
    pub owner: &'a Value,
    /// The labels that the object gets.
    pub labels: &'a Map,
    /// Whether the object names its owner.
    pub owner_reference: OwnerReference,
    /// Whose behaviour counts.
    pub compat: Compat,
    /// What evaluates a template of ytt.
    pub ytt: &'a dyn YttTemplates,
}

/// A stamped object.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// The object. Parts that are not known yet are unknown, and so can be the whole.
    pub object: Value,
    /// Where the result depends on a difference to upstream.
    pub notes: Vec<StampNote>,
}

/// Where a result depends on a difference to upstream (decisions/cartographer#the-setting-compat).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StampNote {
    /// The value of the label with this key is longer than a label may be.
    LongLabel(String),
    /// The template gives more than one document; only the first is stamped.
    ExtraDocument,
}

/// Why nothing is stamped.
#[derive(Clone, Debug, PartialEq)]
pub struct StampFailure {
    /// The class.
    pub class: StampFailureClass,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
    /// The value inside of `spec.template` that it is about; empty for the whole.
    pub path: FieldPath,
    /// The bytes of the string at that path that are wrong: the path of a tag, or a part of it.
    pub inside: Option<Range<usize>>,
    /// The line of a ytt template, if it is known.
    pub line: Option<usize>,
    /// The inputs that are declared and have no value yet, if the failure may be due to them: the
    /// resource waits for them. Upstream fails, so there are none where its behaviour counts.
    pub waits_for: Vec<AbsentInput>,
}

/// The classes of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFailureClass {
    /// The path of a tag.
    Path(FailureClass),
    /// A tag inside of text is null.
    NullInText,
    /// The object is in another namespace than its owner.
    Namespace,
    /// The template gives something that is no object.
    NotAnObject,
    /// There is neither a simple template nor one of ytt.
    NoTemplate,
    /// The template of ytt cannot be evaluated.
    Ytt,
    /// The template of ytt gives more than one document.
    ExtraDocument,
    /// The template is too deep.
    TooDeep,
}

impl StampFailureClass {
    /// Whether a further input can make the difference.
    pub(super) fn can_wait(self) -> bool {
        match self {
            StampFailureClass::Path(class) => !matches!(
                class,
                FailureClass::Empty | FailureClass::Parse | FailureClass::SeveralQueries
            ),
            StampFailureClass::NullInText | StampFailureClass::Ytt => true,
            _ => false,
        }
    }
}

impl StampFailure {
    /// A failure without a place.
    pub(super) fn new(class: StampFailureClass, message: impl Into<String>) -> StampFailure {
        StampFailure {
            class,
            message: message.into(),
            path: FieldPath(Vec::new()),
            inside: None,
            line: None,
            waits_for: Vec::new(),
        }
    }
}
