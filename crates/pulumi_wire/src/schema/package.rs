//! The schema of a package as an index: the place of each entry in the text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// The error for a text that is not a package schema.
#[derive(Debug, thiserror::Error)]
#[error("the schema of the plugin cannot be read")]
pub struct SchemaError(#[from] serde_json::Error);

/// The schema of a package.
pub struct PackageSchema {
    text: Arc<str>,
    name: Name,
    version: Option<Name>,
    description: Name,
    config: Option<Range<usize>>,
    provider: Option<Range<usize>>,
    types: SchemaSection,
    resources: SchemaSection,
    functions: SchemaSection,
    /// The tokens of resources by their aliases in lower case, read on first use.
    aliases: OnceLock<HashMap<String, Name>>,
}

/// The entries of a section of the schema, by token.
#[derive(Default)]
pub(crate) struct SchemaSection {
    entries: IndexMap<Name, Range<usize>>,
    /// Tokens by their form in lower case.
    lower: HashMap<String, Name>,
}

#[derive(Deserialize)]
struct Top<'a> {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, borrow)]
    config: Option<&'a RawValue>,
    #[serde(default, borrow)]
    provider: Option<&'a RawValue>,
    #[serde(default, borrow)]
    types: Option<IndexMap<String, &'a RawValue>>,
    #[serde(default, borrow)]
    resources: Option<IndexMap<String, &'a RawValue>>,
    #[serde(default, borrow)]
    functions: Option<IndexMap<String, &'a RawValue>>,
}

impl PackageSchema {
    /// Parses the outline of a schema. Entries are not parsed: an invalid entry has no properties.
    ///
    /// # Errors
    /// If the text is not a JSON object, or its sections are not objects.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<PackageSchema, SchemaError> {
        let text = text.into();
        // Serde would accept a list as the values of the fields in their order.
        if !text.trim_start().starts_with('{') {
            return Err(SchemaError(serde::de::Error::custom("not an object")));
        }
        let top: Top<'_> = serde_json::from_str(&text)?;
        let place = |raw: &RawValue| place(&text, raw);
        let section = |entries: Option<IndexMap<String, &RawValue>>| {
            let mut section = SchemaSection::default();
            for (token, raw) in entries.into_iter().flatten() {
                let token = Name::from(token);
                section
                    .lower
                    .entry(token.to_lowercase())
                    .or_insert_with(|| token.clone());
                section.entries.insert(token, place(raw));
            }
            section
        };
        Ok(PackageSchema {
            name: top.name.into(),
            version: top.version.map(Name::from),
            description: top.description.unwrap_or_default().into(),
            config: top.config.map(place),
            provider: top.provider.map(place),
            types: section(top.types),
            resources: section(top.resources),
            functions: section(top.functions),
            aliases: OnceLock::new(),
            text,
        })
    }

    /// The name of the package, which is the prefix of its tokens.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The version of the package.
    pub fn version(&self) -> Option<&Name> {
        self.version.as_ref()
    }

    /// The description of the package.
    pub fn description(&self) -> &Name {
        &self.description
    }

    /// The tokens of the resource types, in the order of the schema.
    pub fn resource_tokens(&self) -> impl Iterator<Item = &Name> {
        self.resources.entries.keys()
    }

    /// The tokens of the functions, in the order of the schema.
    pub fn function_tokens(&self) -> impl Iterator<Item = &Name> {
        self.functions.entries.keys()
    }

    /// Resolves a token of a resource type: to the token itself, else to one of its longer forms,
    /// else by an alias. Case does not matter.
    pub fn resource_token(&self, token: &str) -> Option<Name> {
        self.resources
            .resolve(token)
            .or_else(|| self.aliases().get(&token.to_lowercase()).cloned())
    }

    /// Resolves a token of a function: to the token itself, else to one of its longer forms. Case
    /// does not matter.
    pub fn function_token(&self, token: &str) -> Option<Name> {
        self.functions.resolve(token)
    }

    pub(crate) fn resource(&self, token: &str) -> Option<Json> {
        self.entry(&self.resources, token)
    }

    pub(crate) fn function(&self, token: &str) -> Option<Json> {
        self.entry(&self.functions, token)
    }

    pub(crate) fn object_type(&self, token: &str) -> Option<Json> {
        self.entry(&self.types, token)
    }

    pub(crate) fn provider(&self) -> Json {
        self.read(self.provider.as_ref())
    }

    pub(crate) fn config(&self) -> Json {
        self.read(self.config.as_ref())
    }

    fn entry(&self, section: &SchemaSection, token: &str) -> Option<Json> {
        Some(self.read(Some(section.entries.get(token)?)))
    }

    fn read(&self, place: Option<&Range<usize>>) -> Json {
        let text = place.and_then(|place| self.text.get(place.clone()));
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or(Json::Null)
    }

    fn aliases(&self) -> &HashMap<String, Name> {
        self.aliases.get_or_init(|| {
            let mut all = HashMap::new();
            for (token, place) in &self.resources.entries {
                let has_aliases = self
                    .text
                    .get(place.clone())
                    .is_some_and(|text| text.contains("\"aliases\""));
                let resource = if has_aliases {
                    self.read(Some(place))
                } else {
                    Json::Null
                };
                for alias in resource["aliases"].as_array().into_iter().flatten() {
                    if let Some(alias) = alias["type"].as_str() {
                        all.entry(alias.to_lowercase())
                            .or_insert_with(|| token.clone());
                    }
                }
            }
            all
        })
    }
}

impl std::fmt::Debug for PackageSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackageSchema")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl SchemaSection {
    fn resolve(&self, token: &str) -> Option<Name> {
        if let Some((token, _)) = self.entries.get_key_value(token) {
            return Some(token.clone());
        }
        forms(&token.to_lowercase())
            .into_iter()
            .find_map(|form| self.lower.get(&form).cloned())
    }
}

/// The forms of a token in lower case: the token itself, with the module `index`, and with the type
/// at the end of its module.
fn forms(token: &str) -> Vec<String> {
    let mut forms = vec![token.to_owned()];
    let parts: Vec<&str> = token.split(':').collect();
    match parts[..] {
        [package, name] => {
            forms.push(format!("{package}:index:{name}"));
            forms.push(format!("{package}:index/{name}:{name}"));
        }
        [package, module, name] => forms.push(format!("{package}:{module}/{name}:{name}")),
        _ => {}
    }
    forms
}

/// The place of a borrowed part in its text.
fn place(text: &str, raw: &RawValue) -> Range<usize> {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + raw.get().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_resolve_in_their_order() {
        let schema = PackageSchema::parse(
            r#"{"name": "x", "version": "1.2.0", "resources": {
                "x:index:Thing": {"aliases": [{"type": "x:old:Thing"}]},
                "x:mod/bucket:Bucket": {}, "x:index/pet:Pet": 7}}"#,
        )
        .unwrap();
        let resolved = |token: &str| schema.resource_token(token).map(|token| token.to_string());
        for (token, found) in [
            ("x:index:Thing", "x:index:Thing"),
            ("x:Thing", "x:index:Thing"),
            ("X:thing", "x:index:Thing"),
            ("x:old:thing", "x:index:Thing"),
            ("x:mod:Bucket", "x:mod/bucket:Bucket"),
            ("x:Pet", "x:index/pet:Pet"),
        ] {
            assert_eq!(resolved(token).as_deref(), Some(found), "{token}");
        }
        for token in ["Thing", "", "x:Nothing", "x:a:b:c", "::"] {
            assert_eq!(resolved(token), None, "{token}");
        }
        assert_eq!(
            schema.resource("x:index/pet:Pet"),
            Some(serde_json::json!(7))
        );
    }

    #[test]
    fn a_text_that_is_no_schema_is_refused() {
        for text in ["", "[]", "{\"resources\": 3}", "{\"name\": 1}", "{"] {
            assert!(PackageSchema::parse(text).is_err(), "{text}");
        }
        assert!(PackageSchema::parse("{}").is_ok());
    }
}
