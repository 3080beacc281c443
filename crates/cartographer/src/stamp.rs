//! Stamping: an object from a template and a context (decisions/cartographer#stamping).
//!
//! Not here: the evaluation of ytt, which the caller passes in; what becomes of the object.

mod object;
mod request;
mod simple;

use blueprint::Value;

pub use object::{LabelSubject, label_value, run_labels, stamped_labels};
pub use request::{
    OwnerReference, StampFailure, StampFailureClass, StampNote, StampRequest, Stamped, YttMistake,
    YttTemplates,
};
pub use simple::evaluate;

/// Stamps an object. The failures are in the order of the template, at least one.
pub fn stamp(request: &StampRequest<'_>) -> Result<Stamped, Vec<StampFailure>> {
    stamped(request).map_err(|mut failures| {
        let absent = request.context.absent();
        if !request.compat.is_upstream() {
            for failure in failures
                .iter_mut()
                .filter(|failure| failure.class.can_wait())
            {
                failure.waits_for = absent.to_vec();
            }
        }
        failures
    })
}

fn stamped(request: &StampRequest<'_>) -> Result<Stamped, Vec<StampFailure>> {
    let spec = request.template.get("spec").unwrap_or(&Value::Null);
    let present = |key: &str| spec.get(key).filter(|value| !value.is_null());
    let mut notes = Vec::new();
    let object = if let Some(template) = present("template") {
        simple::evaluate(template, request.context)?
    } else if let Some(ytt) = present("ytt") {
        from_ytt(ytt, request, &mut notes).map_err(|failure| vec![failure])?
    } else {
        let message = "the template has neither `template` nor `ytt`";
        return Err(vec![StampFailure::new(
            StampFailureClass::NoTemplate,
            message,
        )]);
    };
    let object = object::complete(object, request, &mut notes).map_err(|failure| vec![failure])?;
    Ok(Stamped { object, notes })
}

/// The first document of a ytt template. No document is an empty object.
fn from_ytt(
    template: &Value,
    request: &StampRequest<'_>,
    notes: &mut Vec<StampNote>,
) -> Result<Value, StampFailure> {
    if template.is_unknown() {
        return Ok(template.as_unknown());
    }
    let Some(text) = template.as_text().filter(|text| !text.is_empty()) else {
        let message = "the template has neither `template` nor `ytt`";
        return Err(StampFailure::new(StampFailureClass::NoTemplate, message));
    };
    let documents = request.ytt.documents(text, &request.context.serialised());
    let documents = documents.map_err(|mistake| StampFailure {
        line: mistake.line,
        ..StampFailure::new(StampFailureClass::Ytt, mistake.message)
    })?;
    if documents.len() > 1 {
        if !request.compat.is_upstream() {
            let message = format!("the template gives {} documents", documents.len());
            return Err(StampFailure::new(StampFailureClass::ExtraDocument, message));
        }
        notes.push(StampNote::ExtraDocument);
    }
    let secret = template.split_secret().1;
    Ok(match documents.into_iter().next() {
        None | Some(Value::Null) => Value::Map(Default::default()),
        Some(document) => document.tainted(secret),
    })
}

#[cfg(test)]
mod tests;
