//! A fault of an object, and the place in the object where it is.

use std::collections::BTreeSet;
use std::ops::Range;

use blueprint::{FieldPath, Name, PathStep, Value};

/// What is wrong with one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The class.
    pub class: FaultClass,
    /// The part of the object. It may lead to a field that is missing.
    pub path: FieldPath,
    /// The bytes inside the text at that path, if only a part of it is wrong.
    pub inside: Option<Range<u32>>,
    /// What is wrong, as a lower-case phrase with names in backticks. It repeats no secret.
    pub message: String,
    /// What to do, as an imperative.
    pub help: Option<String>,
}

macro_rules! classes {
    ($($(#[$about:meta])* $variant:ident $name:literal $level:ident,)*) => {
        /// The classes of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultClass {
            $($(#[$about])* $variant,)*
        }

        impl FaultClass {
            /// All classes.
            pub const ALL: &[FaultClass] = &[$(FaultClass::$variant),*];

            /// The name, in lower case with hyphens.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(FaultClass::$variant => $name,)*
                }
            }

            /// How much a fault of the class matters.
            pub fn level(self) -> FaultLevel {
                match self {
                    $(FaultClass::$variant => FaultLevel::$level,)*
                }
            }
        }
    };
}

/// How much a fault matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultLevel {
    /// Upstream rejects the object.
    Rejected,
    /// Upstream accepts the object, and it never works.
    Error,
    /// The object means something else upstream (decisions/cartographer#the-setting-compat).
    Lint,
    /// Probably a mistake. It is none if an object that is not at hand makes it right.
    Hint,
}

classes! {
    /// A blueprint without a selector.
    SelectorMissing "selector-missing" Rejected,
    /// A part of a label selector that Kubernetes refuses.
    LabelSelector "label-selector" Rejected,
    /// An operator of a field requirement that does not exist.
    FieldOperator "field-operator" Rejected,
    /// A field requirement without values that needs some, or the other way round.
    FieldValues "field-values" Rejected,
    /// A key of a field requirement that is not allowed or cannot be read.
    FieldPath "field-path" Rejected,
    /// A key of a field requirement that starts with the owner, which upstream refuses.
    SelectorOwnerPrefix "selector-owner-prefix" Lint,
    /// A parameter of a blueprint with both or none of `value` and `default`.
    Param "param" Rejected,
    /// Two resources with one name.
    DuplicateResource "duplicate-resource" Rejected,
    /// Two options of a resource with one template name.
    DuplicateOption "duplicate-option" Rejected,
    /// Two options of a resource with equal selectors.
    DuplicateOptionSelector "duplicate-option-selector" Rejected,
    /// An option with both or none of `name` and `passThrough`.
    OptionShape "option-shape" Rejected,
    /// An option whose selector is empty.
    OptionSelectorEmpty "option-selector-empty" Rejected,
    /// A resource with one option only.
    SingleOption "single-option" Rejected,
    /// A resource with several options that pass an input through.
    SeveralPassThrough "several-pass-through" Rejected,
    /// A resource with both or none of a template name and options.
    TemplateRef "template-ref" Rejected,
    /// An option that passes through an input that the resource does not have.
    PassThroughUnknown "pass-through-unknown" Rejected,
    /// An option that passes an input through where the kind of template allows none.
    PassThroughKind "pass-through-kind" Rejected,
    /// An input from a resource that does not exist.
    InputUnknown "input-unknown" Rejected,
    /// An input from a resource with another kind of template.
    InputKind "input-kind" Rejected,
    /// A deployment input that is missing or not allowed, or configs beside it.
    Deployment "deployment" Rejected,
    /// A template with both or none of `template` and `ytt`.
    TemplateOrYtt "template-or-ytt" Rejected,
    /// A template that is no object with a kind.
    TemplateNotAnObject "template-not-an-object" Rejected,
    /// A template that states a namespace.
    TemplateNamespace "template-namespace" Rejected,
    /// A health rule that is none, or more than one, or a side of it without a matcher.
    HealthRule "health-rule" Rejected,
    /// A retention policy of a mutable template.
    Retention "retention" Rejected,
    /// A deployment template with both or none of the ways to observe its object.
    Observed "observed" Rejected,
    /// A run template without `spec`.
    RunTemplateSpec "run-template-spec" Rejected,
    /// Resources that need each other (decisions/cartographer#order-of-resources).
    InputCycle "input-cycle" Error,
    /// A resource that needs itself (decisions/cartographer#order-of-resources).
    SelfReference "self-reference" Error,
    /// An input from a resource further down the list (decisions/cartographer#order-of-resources).
    InputAfterUse "input-after-use" Lint,
    /// An input of a delivery from a resource that does not exist or does not fit.
    UnknownInput "unknown-input" Lint,
    /// Two inputs of one sort with one name.
    DuplicateInput "duplicate-input" Lint,
    /// A retention policy of a mutable template that upstream does not find.
    RetentionOnMutable "retention-on-mutable" Lint,
    /// A field requirement that an unset field fulfils (decisions/cartographer#selection).
    ZeroValueExists "zero-value-exists" Lint,
    /// A key of a field requirement that is accepted and cannot be evaluated.
    SelectorKey "selector-key" Lint,
    /// A path in a template that cannot be read.
    PathSyntax "path-syntax" Error,
    /// A tag that names nothing of the context.
    ContextKey "context-key" Error,
    /// A tag that names an input that the resource does not have.
    ContextInput "context-input" Error,
    /// A path to an output that the stamped kind does not have.
    OutputPath "output-path" Error,
    /// A name that does not fit the lifecycle of a template.
    GenerateName "generate-name" Error,
    /// Several blueprints or options that match an owner equally well.
    SelectorTie "selector-tie" Error,
    /// An owner for which no option of a resource matches.
    NoOption "no-option" Error,
    /// A template that is not among the objects.
    UnknownTemplate "unknown-template" Hint,
    /// A template that no object uses.
    UnusedTemplate "unused-template" Hint,
    /// A parameter that is read and that nothing declares.
    UndeclaredParam "undeclared-param" Hint,
    /// A parameter of an owner that nothing declares or reads.
    UnusedParam "unused-param" Hint,
    /// An owner that no blueprint matches.
    NoBlueprint "no-blueprint" Hint,
}

/// A part of an object, or the place of a part that is missing.
#[derive(Clone, Debug)]
pub(crate) struct ObjectPlace<'a> {
    value: Option<&'a Value>,
    /// Its path.
    pub(crate) path: FieldPath,
    is_secret: bool,
}

impl<'a> ObjectPlace<'a> {
    /// The whole object.
    pub(crate) fn root(object: &'a Value) -> ObjectPlace<'a> {
        ObjectPlace {
            value: Some(object),
            path: FieldPath::default(),
            is_secret: false,
        }
    }

    fn child(&self, value: Option<&'a Value>, step: PathStep) -> ObjectPlace<'a> {
        let is_secret = self.is_secret || matches!(self.value, Some(Value::Secret(_)));
        ObjectPlace {
            value,
            path: self.path.join(step),
            is_secret,
        }
    }

    /// A field. Every field of an unknown value is unknown.
    pub(crate) fn field(&self, name: &str) -> ObjectPlace<'a> {
        let value = match self.value {
            Some(value) if value.is_unknown() => Some(value),
            Some(value) => value.get(name),
            None => None,
        };
        self.child(value, PathStep::Field(name.into()))
    }

    /// The items of a list; none for anything else.
    pub(crate) fn items(&self) -> Vec<ObjectPlace<'a>> {
        let items = self.value.and_then(Value::as_list).unwrap_or_default();
        let place = |(at, item)| self.child(Some(item), PathStep::Index(at as u64));
        items.iter().enumerate().map(place).collect()
    }

    /// The names of the items of a list; `None` if one is not known yet.
    pub(crate) fn known_names(&self) -> Option<BTreeSet<&'a str>> {
        let names = self.items().into_iter().map(|item| item.field("name"));
        let names: Vec<ObjectPlace<'a>> = names.collect();
        let is_open = self.is_unknown() || names.iter().any(ObjectPlace::is_unknown);
        (!is_open).then(|| names.iter().filter_map(ObjectPlace::text).collect())
    }

    /// The entries of a map, each with its key; none for anything else.
    pub(crate) fn entries(&self) -> Vec<(&'a Name, ObjectPlace<'a>)> {
        let entries = self.value.and_then(Value::as_map).into_iter();
        let place = |(key, entry): (&'a Name, _)| {
            (key, self.child(Some(entry), PathStep::Key(key.clone())))
        };
        entries.flat_map(|map| map.iter()).map(place).collect()
    }

    /// The value, if there is one that is not null.
    pub(crate) fn value(&self) -> Option<&'a Value> {
        self.value.filter(|value| !value.is_null())
    }

    /// Whether the field exists and is not null. An unknown value counts as set.
    pub(crate) fn is_set(&self) -> bool {
        self.value().is_some()
    }

    /// Whether the value itself is unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        self.value.is_some_and(Value::is_unknown)
    }

    /// The text; an empty one if the field is missing or null, `None` for anything else.
    pub(crate) fn text(&self) -> Option<&'a str> {
        match self.value() {
            None => Some(""),
            Some(value) => value.as_text(),
        }
    }

    /// Whether the field is missing, null, or an empty text, list or map.
    pub(crate) fn is_empty(&self) -> bool {
        match self.value().map(Value::unmarked) {
            None => true,
            Some(Value::Text(text)) => text.is_empty(),
            Some(Value::List(items) | Value::Set(items)) => items.is_empty(),
            Some(Value::Map(entries)) => entries.is_empty(),
            Some(_) => false,
        }
    }

    /// Whether the value is, or is in, a secret.
    pub(crate) fn is_secret(&self) -> bool {
        self.is_secret || matches!(self.value, Some(Value::Secret(_)))
    }

    /// The text in backticks; other words for a secret, and for what is no text.
    pub(crate) fn quoted(&self) -> String {
        match self.text() {
            Some(text) => self.quoted_part(text),
            None => "(not a text)".to_owned(),
        }
    }

    /// A part of the text, or a key around the value, in backticks; other words for a secret.
    pub(crate) fn quoted_part(&self, part: &str) -> String {
        match self.is_secret() {
            true => "(secret)".to_owned(),
            false => format!("`{part}`"),
        }
    }

    /// What a parser says about the text, after a colon; nothing for a secret.
    pub(crate) fn reason(&self, message: &str) -> String {
        match self.is_secret() {
            true => String::new(),
            false => format!(": {message}"),
        }
    }

    /// A fault here.
    pub(crate) fn fault(&self, class: FaultClass, message: impl Into<String>) -> Fault {
        Fault {
            class,
            path: self.path.clone(),
            inside: None,
            message: message.into(),
            help: None,
        }
    }
}

impl Fault {
    /// The fault with an advice.
    pub(crate) fn helped(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}
