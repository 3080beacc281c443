//! The schema of a package as an index: the place of each entry in the text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use blueprint::Name;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::outline::{SchemaOutline, SchemaText, SectionPlaces};

/// The error for a text that is not a package schema.
#[derive(Debug, thiserror::Error)]
#[error("the schema of the plugin cannot be read")]
pub struct SchemaError(#[from] serde_json::Error);

/// The schema of a package.
pub struct PackageSchema {
    text: Box<dyn SchemaText>,
    outline: SchemaOutline,
    /// Tokens of resources and of functions by their form in lower case.
    resources: HashMap<String, Name>,
    functions: HashMap<String, Name>,
    /// The tokens of resources by their aliases in lower case, read on first use.
    aliases: OnceLock<HashMap<String, Name>>,
}

/// An outline as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredOutline {
    outline: SchemaOutline,
    aliases: HashMap<String, Name>,
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
        let outline = SchemaOutline::of(&text)?;
        Ok(PackageSchema::of(outline, Box::new(text), OnceLock::new()))
    }

    /// The schema of a text whose outline was stored ([`PackageSchema::outline`]). `None` if this is no
    /// outline.
    pub fn of_outline(outline: &str, text: Box<dyn SchemaText>) -> Option<PackageSchema> {
        let StoredOutline { outline, aliases } = serde_json::from_str(outline).ok()?;
        Some(PackageSchema::of(outline, text, OnceLock::from(aliases)))
    }

    fn of(
        outline: SchemaOutline,
        text: Box<dyn SchemaText>,
        aliases: OnceLock<HashMap<String, Name>>,
    ) -> PackageSchema {
        PackageSchema {
            resources: lower(&outline.resources),
            functions: lower(&outline.functions),
            outline,
            text,
            aliases,
        }
    }

    /// The outline of the schema, to be stored.
    pub fn outline(&self) -> String {
        let stored = StoredOutline {
            outline: self.outline.clone(),
            aliases: self.aliases().clone(),
        };
        // Names, numbers and maps of names are always JSON.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// The name of the package, which is the prefix of its tokens.
    pub fn name(&self) -> &Name {
        &self.outline.name
    }

    /// The version of the package.
    pub fn version(&self) -> Option<&Name> {
        self.outline.version.as_ref()
    }

    /// The description of the package.
    pub fn description(&self) -> &Name {
        &self.outline.description
    }

    /// The tokens of the resource types, in the order of the schema.
    pub fn resource_tokens(&self) -> impl Iterator<Item = &Name> {
        self.outline.resources.keys()
    }

    /// The tokens of the functions, in the order of the schema.
    pub fn function_tokens(&self) -> impl Iterator<Item = &Name> {
        self.outline.functions.keys()
    }

    /// Resolves a token of a resource type: to the token itself, else to one of its longer forms,
    /// else by an alias. Case does not matter.
    pub fn resource_token(&self, token: &str) -> Option<Name> {
        resolve(&self.outline.resources, &self.resources, token)
            .or_else(|| self.aliases().get(&token.to_lowercase()).cloned())
    }

    /// Resolves a token of a function: to the token itself, else to one of its longer forms. Case
    /// does not matter.
    pub fn function_token(&self, token: &str) -> Option<Name> {
        resolve(&self.outline.functions, &self.functions, token)
    }

    pub(crate) fn resource(&self, token: &str) -> Option<Json> {
        self.entry(&self.outline.resources, token)
    }

    pub(crate) fn function(&self, token: &str) -> Option<Json> {
        self.entry(&self.outline.functions, token)
    }

    pub(crate) fn object_type(&self, token: &str) -> Option<Json> {
        self.entry(&self.outline.types, token)
    }

    pub(crate) fn provider(&self) -> Json {
        self.read(self.outline.provider.as_ref())
    }

    pub(crate) fn config(&self) -> Json {
        self.read(self.outline.config.as_ref())
    }

    fn entry(&self, section: &SectionPlaces, token: &str) -> Option<Json> {
        Some(self.read(Some(section.get(token)?)))
    }

    fn read(&self, place: Option<&Range<usize>>) -> Json {
        let text = place.and_then(|place| self.text.part(place.clone()));
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or(Json::Null)
    }

    fn aliases(&self) -> &HashMap<String, Name> {
        self.aliases.get_or_init(|| {
            let mut all = HashMap::new();
            for (token, place) in &self.outline.resources {
                let text = self.text.part(place.clone());
                let with_aliases = text.filter(|text| text.contains("\"aliases\""));
                let resource = with_aliases.and_then(|text| serde_json::from_str(&text).ok());
                let resource: Json = resource.unwrap_or_default();
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
            .field("name", &self.outline.name)
            .field("version", &self.outline.version)
            .finish_non_exhaustive()
    }
}

/// The tokens of a section by their form in lower case.
fn lower(section: &SectionPlaces) -> HashMap<String, Name> {
    let mut lower = HashMap::with_capacity(section.len());
    for token in section.keys() {
        let one = lower.entry(token.to_lowercase());
        one.or_insert_with(|| token.clone());
    }
    lower
}

fn resolve(section: &SectionPlaces, lower: &HashMap<String, Name>, token: &str) -> Option<Name> {
    if let Some((token, _)) = section.get_key_value(token) {
        return Some(token.clone());
    }
    let forms = forms(&token.to_lowercase());
    forms.iter().find_map(|form| lower.get(form).cloned())
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
    fn a_stored_outline_reads_entries_from_the_text() {
        let text = r#"{"name": "x", "version": "1.2.0", "description": "d", "config": {"variables": {}},
            "provider": {"a": 1}, "types": {"x:index:T": {"b": "\u00e9é"}},
            "resources": {"x:index:Thing": {"aliases": [{"type": "x:old:Thing"}]}},
            "functions": {"x:index:get": {"c": 2}}}"#;
        let whole = PackageSchema::parse(text).unwrap();
        let text: Arc<str> = text.into();
        let again = PackageSchema::of_outline(&whole.outline(), Box::new(text)).unwrap();
        assert_eq!(again.outline, whole.outline);
        for schema in [&whole, &again] {
            assert_eq!(&**schema.name(), "x");
            assert_eq!(schema.version().map(AsRef::as_ref), Some("1.2.0"));
            assert_eq!(
                schema.resource_token("x:old:THING").as_deref(),
                Some("x:index:Thing")
            );
            assert_eq!(
                schema.object_type("x:index:T"),
                Some(serde_json::json!({"b": "éé"}))
            );
            assert_eq!(schema.provider(), serde_json::json!({"a": 1}));
            assert_eq!(
                schema.function("x:index:get"),
                Some(serde_json::json!({"c": 2}))
            );
        }
        let nothing: Arc<str> = "".into();
        assert!(PackageSchema::of_outline("{}", Box::new(nothing)).is_none());
    }

    #[test]
    fn a_text_that_is_no_schema_is_refused() {
        for text in ["", "[]", "{\"resources\": 3}", "{\"name\": 1}", "{"] {
            assert!(PackageSchema::parse(text).is_err(), "{text}");
        }
        assert!(PackageSchema::parse("{}").is_ok());
    }
}
