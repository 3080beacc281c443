//! Templates, and their rendering.

use std::sync::Arc;

use blueprint::{Map, Value};

use crate::compile::{Compiled, text_template, yaml_template};
use crate::convert::{data_values, is_empty_document, to_value, unknown};
use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, Halted, TemplateFault, fail};
use crate::heap::Heap;
use crate::limits::{RenderLimits, Work};
use crate::mistake::TemplateMistake;
use crate::natives::is_universal;
use crate::node_context::text_value;
use crate::overlay::apply_documents;
use crate::read::read;
use crate::value::StarValue;

/// The largest text of a template in bytes: 4 MiB.
const MAX_BYTES: usize = 4 << 20;

/// A parsed template of YAML. It can be rendered any number of times.
#[derive(Clone, Debug)]
pub struct YttTemplate {
    text: Arc<str>,
    compiled: Arc<Compiled>,
}

impl YttTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// If the text is no YAML, or its code is invalid.
    pub fn parse(text: &str) -> Result<YttTemplate, TemplateMistake> {
        check_size(text)?;
        let compiled = read(text).and_then(|source| yaml_template(&source, is_universal));
        let compiled = compiled.map_err(|mistake| mistake.in_text(text))?;
        Ok(YttTemplate {
            text: text.into(),
            compiled: Arc::new(compiled),
        })
    }

    /// Renders the template with data values: the documents, without empty ones.
    ///
    /// If a condition or loop needs an unknown value, the result is one unknown document that waits
    /// for what the value waits for.
    ///
    /// # Errors
    /// If the code fails, or a limit is reached.
    pub fn render(
        &self,
        values: &Map,
        limits: &RenderLimits,
    ) -> Result<Vec<Value>, TemplateMistake> {
        let result = run(&self.compiled, values, limits, documents);
        match result {
            Err(Halted::Unknown(waits_for)) => Ok(vec![unknown(waits_for)]),
            Err(halt) => Err(mistake(&self.compiled, &self.text, halt)),
            Ok(documents) => Ok(documents),
        }
    }
}

/// A parsed text template: text with code between `(@` and `@)`.
#[derive(Clone, Debug)]
pub struct TextTemplate {
    text: Arc<str>,
    compiled: Arc<Compiled>,
}

impl TextTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// If a bracket is where it must not be, or the code is invalid.
    pub fn parse(text: &str) -> Result<TextTemplate, TemplateMistake> {
        check_size(text)?;
        let compiled = text_template(text, is_universal);
        let compiled = compiled.map_err(|mistake| mistake.in_text(text))?;
        Ok(TextTemplate {
            text: text.into(),
            compiled: Arc::new(compiled),
        })
    }

    /// Renders the template with data values: a text. It is unknown or secret if a part is.
    ///
    /// # Errors
    /// If the code fails, or a limit is reached.
    pub fn render(&self, values: &Map, limits: &RenderLimits) -> Result<Value, TemplateMistake> {
        let result = run(
            &self.compiled,
            values,
            limits,
            |evaluator, root| match root {
                StarValue::Fragment(Some(node)) => {
                    let heap = &evaluator.heap;
                    to_value(heap, &text_value(heap, node)?)
                }
                _ => Ok(Value::text("")),
            },
        );
        match result {
            Err(Halted::Unknown(waits_for)) => Ok(unknown(waits_for)),
            Err(halt) => Err(mistake(&self.compiled, &self.text, halt)),
            Ok(text) => Ok(text),
        }
    }
}

fn check_size(text: &str) -> Result<(), TemplateMistake> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    let words = format!("a template may have {} MiB of text", MAX_BYTES >> 20);
    Err(TemplateMistake::new(1, words))
}

fn run<T>(
    compiled: &Compiled,
    values: &Map,
    limits: &RenderLimits,
    result: impl FnOnce(&mut Evaluator<'_>, &StarValue) -> Evaluated<T>,
) -> Evaluated<T> {
    let heap = Heap::new(Work::new(*limits));
    let data = data_values(&heap, values)?;
    let mut evaluator = Evaluator {
        heap,
        compiled,
        globals: vec![None; compiled.program.globals.len()],
        contexts: Vec::new(),
        root: None,
        data,
    };
    evaluator.run()?;
    if !evaluator.contexts.is_empty() {
        return fail("a function returned before its first node (hint: move the return)");
    }
    let root = evaluator.root.take().unwrap_or(StarValue::None);
    result(&mut evaluator, &root)
}

/// The documents below the root, without empty ones.
fn documents(evaluator: &mut Evaluator<'_>, root: &StarValue) -> Evaluated<Vec<Value>> {
    let StarValue::Fragment(Some(node)) = root else {
        return Ok(Vec::new());
    };
    apply_documents(evaluator, node)?;
    let heap = &evaluator.heap;
    let node = node.borrow();
    let mut documents = Vec::new();
    for item in &node.items {
        let value = item.borrow().value.clone();
        if !is_empty_document(&value) {
            documents.push(to_value(heap, &value)?);
        }
    }
    Ok(documents)
}

fn mistake(compiled: &Compiled, text: &str, halt: Halted) -> TemplateMistake {
    let fault = match halt {
        Halted::Failed(fault) => fault,
        Halted::Limit(mut fault) => {
            fault.message = format!("the template does too much: {}", fault.message);
            fault
        }
        Halted::Unknown(_) => TemplateFault {
            message: "the template needs a value that is not known yet".to_owned(),
            line: None,
        },
    };
    let line = fault.line.map_or(1, |line| compiled.line(line));
    TemplateMistake::new(line, fault.message).in_text(text)
}
