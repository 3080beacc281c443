//! The sections and keys of a dialect, as data.

/// The sections and keys of a dialect as data, for unknown-key errors, completion, schemas, and the
/// reference page.
pub struct Shape {
    /// The sections: the top level first, then the sections of its keys.
    pub sections: &'static [&'static Section],
}

/// A mapping with fixed keys: the top level, or a definition in a section. With the key
/// [`SectionKey::OTHERS`] it may have further keys.
pub struct Section {
    /// The displayed name: `resource`, `data source`.
    pub name: &'static str,
    /// The keys of the section.
    pub keys: &'static [SectionKey],
}

/// One key of a section.
pub struct SectionKey {
    /// The name of the key.
    pub name: &'static str,
    /// Whether the key is required.
    pub required: bool,
    /// A description in one sentence.
    pub docs: &'static str,
    /// The section of the value, or of the definitions in it; empty for a plain value.
    pub section: &'static str,
    /// Whether the value is a map of definitions of the section, with names chosen by the document.
    pub definitions: bool,
    /// The allowed values, in addition to type names of providers if `offer` allows these; empty if
    /// any value is allowed.
    pub values: &'static [&'static str],
    /// The relation to the types of providers.
    pub offer: Offer,
    /// The form of the value.
    pub form: KeyForm,
    /// Whether the value, or the values in it, may contain substitutions.
    pub substitutions: bool,
    /// The version of the language that introduced the key; empty if every version has it.
    pub since: &'static str,
    /// Details of the value in addition to the form, for schemas.
    pub detail: Detail,
}

/// Details of a key's value in addition to its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// No details.
    Nothing,
    /// True or false, without quotes.
    Boolean,
    /// A text that is not empty.
    NonEmptyText,
    /// One substitution and nothing else.
    Substitution,
    /// A text without substitutions, or a list of such texts.
    Texts,
    /// A map from names to texts, without substitutions.
    FixedTexts,
    /// A map from names to scalars.
    Scalars,
    /// A scalar or a list of scalars.
    ScalarList,
    /// A literal of the type in the neighbouring key `type`.
    Literal,
    /// A list of literals of the type in the neighbouring key `type`.
    Literals,
    /// A value of the type in the neighbouring key `type`, or a text that evaluates to one.
    Typed,
    /// The path of a reference, without `${`.
    Path,
    /// A key that must be the only key of its section.
    OnlyKey,
    /// The name of any type: the catalogues need not know it.
    AnyType,
    /// Fields whose values the language converts, or computes with calls in their place.
    ConvertedFields,
}

/// The relation of a key to the types of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// No relation.
    Nothing,
    /// The key names a resource type.
    ResourceType,
    /// The key names a data source type.
    DataSourceType,
    /// The key names a type of variables.
    VariableType,
    /// The key contains the fields of the resource type in the neighbouring key.
    Spec,
    /// The key contains filters on fields of the data source type in the neighbouring key.
    Filter,
}

/// The form of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// A scalar that is text.
    Text,
    /// A scalar of any kind.
    Scalar,
    /// A map.
    Map,
    /// A list.
    List,
    /// A scalar or a list of scalars.
    ScalarOrList,
    /// A scalar or a map.
    ScalarOrMap,
    /// A map or a list of maps.
    MapOrList,
    /// Any form.
    Any,
}

impl KeyForm {
    /// The form in words, for messages: `text`, `a list`.
    pub fn words(self) -> &'static str {
        match self {
            KeyForm::Text => "text",
            KeyForm::Scalar => "a single value",
            KeyForm::Map => "a map",
            KeyForm::List => "a list",
            KeyForm::ScalarOrList => "a single value or a list",
            KeyForm::ScalarOrMap => "a single value or a map",
            KeyForm::MapOrList => "a map or a list",
            KeyForm::Any => "anything",
        }
    }

    /// Whether the form accepts the given kinds of nodes.
    pub fn takes(self, scalar: bool, list: bool, map: bool) -> bool {
        match self {
            KeyForm::Text | KeyForm::Scalar => scalar,
            KeyForm::Map => map,
            KeyForm::List => list,
            KeyForm::ScalarOrList => scalar || list,
            KeyForm::ScalarOrMap => scalar || map,
            KeyForm::MapOrList => map || list,
            KeyForm::Any => true,
        }
    }
}

impl SectionKey {
    /// The name that stands for all keys that a section does not name.
    pub const OTHERS: &str = "*";

    /// Creates an optional key of every version, without substitutions.
    pub const fn new(name: &'static str, form: KeyForm, docs: &'static str) -> SectionKey {
        SectionKey {
            name,
            required: false,
            docs,
            section: "",
            definitions: false,
            values: &[],
            offer: Offer::Nothing,
            form,
            substitutions: false,
            since: "",
            detail: Detail::Nothing,
        }
    }

    /// Returns the key with details of its value.
    pub const fn detail(self, detail: Detail) -> SectionKey {
        SectionKey { detail, ..self }
    }

    /// Returns the key as a required one.
    pub const fn required(self) -> SectionKey {
        SectionKey {
            required: true,
            ..self
        }
    }

    /// Returns the key with a section as value.
    pub const fn section(self, section: &'static str) -> SectionKey {
        SectionKey { section, ..self }
    }

    /// Returns the key with definitions of a section as value.
    pub const fn definitions(self, section: &'static str) -> SectionKey {
        SectionKey {
            section,
            definitions: true,
            ..self
        }
    }

    /// Returns the key with a list of allowed values.
    pub const fn one_of(self, values: &'static [&'static str]) -> SectionKey {
        SectionKey { values, ..self }
    }

    /// Returns the key with a relation to types of providers.
    pub const fn offer(self, offer: Offer) -> SectionKey {
        SectionKey { offer, ..self }
    }

    /// Returns the key with substitutions allowed.
    pub const fn substitutions(self) -> SectionKey {
        SectionKey {
            substitutions: true,
            ..self
        }
    }

    /// Returns the key with the version that introduced it.
    pub const fn since(self, since: &'static str) -> SectionKey {
        SectionKey { since, ..self }
    }
}

impl Section {
    /// The key with a name.
    pub fn key(&self, name: &str) -> Option<&SectionKey> {
        self.keys.iter().find(|key| key.name == name)
    }
}
