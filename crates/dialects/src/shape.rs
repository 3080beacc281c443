//! The sections and keys of a dialect, as data.

/// A dialect's sections and keys as data: drives unknown-key errors, completion, schemas, the reference page.
pub struct Shape {
    /// The document's top level first, then the sections that its keys lead to.
    pub sections: &'static [&'static Section],
}

/// A mapping with fixed keys: the top level, or a definition in a section.
pub struct Section {
    /// Its name for people: `resource`, `data source`.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [SectionKey],
}

/// One key of a section.
pub struct SectionKey {
    /// The key.
    pub name: &'static str,
    /// Must be there.
    pub required: bool,
    /// One sentence for people.
    pub docs: &'static str,
    /// The section that its value is, or whose definitions its entries are; empty if it is a plain value.
    pub section: &'static str,
    /// Whether its entries are definitions of the section, under names of the document's own.
    pub definitions: bool,
    /// The only values that it may have, besides names of providers' types where it can be one; empty if any value may
    /// be.
    pub values: &'static [&'static str],
    /// How it relates to the types of providers.
    pub offer: Offer,
    /// The form of its value.
    pub form: KeyForm,
    /// Whether its value, or the values in it, may hold substitutions.
    pub substitutions: bool,
    /// The version of the language that brought it; empty if every version has it.
    pub since: &'static str,
    /// Details of its value beyond the form, for schemas.
    pub detail: Detail,
}

/// Details of a key's value beyond its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing more is known.
    Nothing,
    /// True or false, without quotes.
    Boolean,
    /// A text that is not empty.
    Filled,
    /// One substitution and nothing else.
    Substitution,
    /// A text without substitutions, or a list of them.
    Texts,
    /// A map from names to texts, without substitutions.
    FixedTexts,
    /// A map from names to scalars.
    Scalars,
    /// A scalar or a list of scalars.
    ScalarList,
    /// A literal of the type in the neighbouring key `type`.
    Literal,
    /// A list of such literals.
    Literals,
    /// A value of the type in the neighbouring key `type`, or a text that gives one.
    Typed,
    /// The path of a reference, without `${`.
    Path,
    /// The only key of its section that is written.
    Alone,
}

/// How a key relates to the types of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Nothing,
    /// It names a resource type.
    ResourceType,
    /// It names a data source type.
    DataSourceType,
    /// It names a type of variables.
    VariableType,
    /// It holds the fields of the resource type that its neighbour names.
    Spec,
    /// It holds filters on fields of the data source type that its neighbour names.
    Filter,
}

/// The form of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// A scalar that is text.
    Text,
    /// A scalar whose kind is decided elsewhere.
    Scalar,
    /// A map.
    Map,
    /// A list.
    List,
    /// A scalar or a list of them.
    ScalarOrList,
    /// A scalar or a map.
    ScalarOrMap,
    /// A map or a list of maps.
    MapOrList,
    /// Anything.
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

    /// Whether a scalar, a list, a map may stand there.
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
    /// An optional key of every version, without substitutions.
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

    /// The same key, with details of its value.
    pub const fn detail(self, detail: Detail) -> SectionKey {
        SectionKey { detail, ..self }
    }

    /// The same key, required.
    pub const fn required(self) -> SectionKey {
        SectionKey { required: true, ..self }
    }

    /// The same key, holding a section.
    pub const fn section(self, section: &'static str) -> SectionKey {
        SectionKey { section, ..self }
    }

    /// The same key, holding definitions of a section.
    pub const fn definitions(self, section: &'static str) -> SectionKey {
        SectionKey { section, definitions: true, ..self }
    }

    /// The same key, with one of these values.
    pub const fn one_of(self, values: &'static [&'static str]) -> SectionKey {
        SectionKey { values, ..self }
    }

    /// The same key, about something of a provider's.
    pub const fn offer(self, offer: Offer) -> SectionKey {
        SectionKey { offer, ..self }
    }

    /// The same key, open to substitutions.
    pub const fn substitutions(self) -> SectionKey {
        SectionKey { substitutions: true, ..self }
    }

    /// The same key, brought by a version.
    pub const fn since(self, since: &'static str) -> SectionKey {
        SectionKey { since, ..self }
    }
}

impl Section {
    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&SectionKey> {
        self.keys.iter().find(|key| key.name == name)
    }
}
