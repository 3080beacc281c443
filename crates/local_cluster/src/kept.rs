//! An object as it is kept: parsed while it is new, and as text afterwards.
//!
//! Parsed JSON takes about ten times the memory of its text. Most objects are read soon after they
//! were written, by watches and by who writes them next, and then seldom.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value as Json;

/// The deepest nesting that is kept as text; a parser goes to 128.
const DEEPEST: usize = 100;

/// A kept object. All who hold it see the same form.
#[derive(Debug)]
pub(crate) struct KeptObject(Mutex<KeptForm>);

#[derive(Debug)]
enum KeptForm {
    Parsed(Arc<Json>),
    /// The text, and the object as somebody may still hold it.
    Text(Box<str>, Weak<Json>),
}

impl KeptObject {
    /// An object that is kept parsed.
    pub(crate) fn new(object: Arc<Json>) -> Arc<KeptObject> {
        Arc::new(KeptObject(Mutex::new(KeptForm::Parsed(object))))
    }

    /// The object.
    pub(crate) fn object(&self) -> Arc<Json> {
        match &mut *self.form() {
            KeptForm::Parsed(object) => object.clone(),
            KeptForm::Text(text, held) => held.upgrade().unwrap_or_else(|| {
                // `pack` leaves only what is read back as it was.
                let object = Arc::new(serde_json::from_str(text).unwrap_or_default());
                *held = Arc::downgrade(&object);
                object
            }),
        }
    }

    /// Keeps the object as text from now on, if that is exact.
    pub(crate) fn pack(&self) {
        let mut form = self.form();
        if let KeptForm::Parsed(object) = &*form
            && is_exact_as_text(object, DEEPEST)
        {
            let text = object.to_string().into_boxed_str();
            *form = KeptForm::Text(text, Weak::new());
        }
    }

    fn form(&self) -> MutexGuard<'_, KeptForm> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an object is the same after it was written and parsed. A floating-point number may differ
/// in its last digit.
fn is_exact_as_text(value: &Json, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else {
        return false;
    };
    match value {
        Json::Null | Json::Bool(_) | Json::String(_) => true,
        Json::Number(number) => !number.is_f64(),
        Json::Array(items) => items.iter().all(|item| is_exact_as_text(item, below)),
        Json::Object(entries) => entries.values().all(|entry| is_exact_as_text(entry, below)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_text(kept: &KeptObject) -> bool {
        matches!(&*kept.form(), KeptForm::Text(..))
    }

    #[test]
    fn packed_object_is_equal_in_the_same_order() {
        let object = json!({"b": [1, -2, null, true], "a": {"text": "\u{0}ä\"", "empty": {}}});
        let kept = KeptObject::new(Arc::new(object.clone()));
        kept.pack();
        assert!(is_text(&kept));
        assert_eq!(kept.object().to_string(), object.to_string());
    }

    #[test]
    fn what_text_may_change_stays_parsed() {
        let mut deep = json!(1);
        for _ in 0..DEEPEST {
            deep = json!([deep]);
        }
        for object in [json!({"ratio": 0.1}), deep] {
            let kept = KeptObject::new(Arc::new(object.clone()));
            kept.pack();
            assert!(!is_text(&kept));
            assert_eq!(*kept.object(), object);
        }
    }
}
