//! Paths the way that Cartographer evaluates them.

use blueprint::Value;

use crate::evaluate::MissingKeys;
use crate::failure::{FailureClass, ParseMistake, PathFailure};
use crate::item::Item;
use crate::shape::ValueShape;
use crate::template::PathTemplate;

/// A path with exactly one result: `x` and `.x` mean `{.x}`, and missing keys are allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    template: PathTemplate,
}

impl Path {
    /// Parses a path. The error is the first mistake, with its place in the text as it is given.
    pub fn parse(text: &str) -> Result<Path, ParseMistake> {
        if text.is_empty() {
            return Err(ParseMistake {
                class: FailureClass::Empty,
                message: "the path is empty".to_owned(),
                span: 0..0,
            });
        }
        let before = if text.starts_with("{.") {
            ""
        } else if text.starts_with('.') {
            "{"
        } else {
            "{."
        };
        let after = if text.ends_with('}') { "" } else { "}" };
        let template = PathTemplate::parse(&format!("{before}{text}{after}"))
            .map_err(|mistake| mistake.moved(0..text.len(), before.len()))?;
        Ok(Path { template })
    }

    /// The one result in a document. It is unknown if a step leads into an unknown value, or if the
    /// number of results depends on one. No result, several results and several queries are
    /// failures, as are steps that do not fit the document.
    pub fn find(&self, document: &Value) -> Result<Value, PathFailure> {
        self.find_in(document, &ValueShape::Data)
    }

    /// The same in a document with a shape. The result is in its printed form.
    pub fn find_in(
        &self,
        document: &Value,
        shape: &'static ValueShape,
    ) -> Result<Value, PathFailure> {
        let results = self.template.items(document, shape, MissingKeys::Allowed)?;
        if results.len() > 1 {
            return Err(PathFailure::new(
                FailureClass::SeveralQueries,
                "the path is more than one query",
            ));
        }
        match results.first().map_or([].as_slice(), Vec::as_slice) {
            [] => Err(PathFailure::new(
                FailureClass::Missing,
                "the path has no result",
            )),
            [item] => Ok(item.value()),
            items => several(items),
        }
    }
}

/// Several results are a failure, unless it may still turn out that there are fewer.
fn several(items: &[Item]) -> Result<Value, PathFailure> {
    let unknown = |item: &&Item| matches!(item, Item::Beyond(_));
    if items.iter().filter(unknown).count() + 1 < items.len() {
        return Err(PathFailure::new(
            FailureClass::Many,
            "the path has more than one result",
        ));
    }
    let values = Value::list(items.iter().map(Item::value));
    Ok(values.as_unknown().tainted(values.has_secret()))
}

#[cfg(test)]
mod tests;
