//! Whole templates.

use blueprint::Value;

use crate::evaluate::{MissingKeys, evaluate};
use crate::failure::{ParseMistake, PathFailure};
use crate::item::Item;
use crate::parse;
use crate::shape::ValueShape;
use crate::syntax::TemplatePart;

/// A template of client-go: text, queries in braces, `{range ..}` up to `{end}`, quoted strings.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTemplate {
    parts: Vec<TemplatePart>,
}

impl PathTemplate {
    /// Parses a template. The error is the first mistake.
    pub fn parse(text: &str) -> Result<PathTemplate, ParseMistake> {
        Ok(PathTemplate {
            parts: parse::template(text)?,
        })
    }

    /// The results of each text and query, ranges unrolled. A step into an unknown value gives an
    /// unknown value. The error is the first step that fails.
    pub fn results(
        &self,
        document: &Value,
        missing: MissingKeys,
    ) -> Result<Vec<Vec<Value>>, PathFailure> {
        let results = self.items(document, &ValueShape::Data, missing)?;
        Ok(results
            .iter()
            .map(|items| items.iter().map(Item::value).collect())
            .collect())
    }

    /// The results as the template prints them: those of a query with blanks between them. If a
    /// part of a result is unknown, the text is unknown; if one is secret, the text is secret. The
    /// error is the first step that fails.
    pub fn text(&self, document: &Value, missing: MissingKeys) -> Result<Value, PathFailure> {
        let results = self.items(document, &ValueShape::Data, missing)?;
        let values = Value::list(results.iter().flatten().map(Item::value));
        if values.has_unknown() {
            return Ok(values.as_unknown().tainted(values.has_secret()));
        }
        let mut text = String::new();
        for items in &results {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                text.push_str(&item.text()?);
            }
        }
        Ok(Value::from(text).tainted(values.has_secret()))
    }

    pub(crate) fn items(
        &self,
        document: &Value,
        shape: &'static ValueShape,
        missing: MissingKeys,
    ) -> Result<Vec<Vec<Item>>, PathFailure> {
        evaluate(&self.parts, Item::document(document, shape), missing)
    }
}
