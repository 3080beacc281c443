//! Gives the arguments of a call to the parameters of a function.

use blueprint::Name;

use crate::ast::StarParameterKind;
use crate::halt::{Evaluated, fail};
use crate::heap::{DictEntries, Heap};
use crate::value::{FunctionValue, StarKey, StarValue};

/// The arguments of a call.
#[derive(Default)]
pub(crate) struct StarArguments {
    pub(crate) items: Vec<StarValue>,
    pub(crate) named: Vec<(Name, StarValue)>,
}

/// The values of the parameters, in their order; `None` for the others.
///
/// # Errors
/// If arguments are missing, left, or given twice.
pub(crate) fn bind(
    heap: &Heap,
    function: &FunctionValue,
    arguments: StarArguments,
) -> Evaluated<Vec<Option<StarValue>>> {
    let code = &function.code;
    let name = &code.name;
    let parameters = &code.parameters;
    if parameters.is_empty() {
        let given = arguments.items.len() + arguments.named.len();
        return match given {
            0 => Ok(Vec::new()),
            _ => fail(format!(
                "function {name} accepts no arguments ({given} given)"
            )),
        };
    }
    let kind_at = |at: usize| &parameters[at].kind;
    let positional = parameters
        .iter()
        .take_while(|own| {
            matches!(
                own.kind,
                StarParameterKind::Required | StarParameterKind::Optional(_)
            )
        })
        .count();
    let mut values: Vec<Option<StarValue>> = vec![None; parameters.len()];
    let given = arguments.items.len();
    let mut items = arguments.items.into_iter();
    for value in values.iter_mut().take(positional) {
        *value = items.next();
    }
    let rest: Vec<StarValue> = items.collect();
    let items_at =
        (0..parameters.len()).find(|at| matches!(kind_at(*at), StarParameterKind::Items));
    match items_at {
        Some(at) => values[at] = Some(heap.tuple(rest)?),
        None if !rest.is_empty() => {
            let has_optional = parameters[..positional]
                .iter()
                .any(|own| matches!(own.kind, StarParameterKind::Optional(_)));
            let most = if has_optional { "at most " } else { "" };
            let plural = if positional == 1 { "" } else { "s" };
            return fail(format!(
                "function {name} accepts {most}{positional} positional argument{plural} \
                 ({given} given)"
            ));
        }
        None => {}
    }
    let mut entries = DictEntries::default();
    let entries_at =
        (0..parameters.len()).find(|at| matches!(kind_at(*at), StarParameterKind::Entries));
    for (key, value) in arguments.named {
        let place = parameters.iter().position(|own| {
            own.name == key
                && matches!(
                    own.kind,
                    StarParameterKind::Required | StarParameterKind::Optional(_)
                )
        });
        let is_repeated = match place {
            Some(at) => values[at].replace(value).is_some(),
            None if entries_at.is_none() => {
                return fail(format!(
                    "function {name} got an unexpected keyword argument \"{key}\""
                ));
            }
            None => {
                let own = StarKey::Text(key.clone());
                let entry = (StarValue::Text(key.clone()), value);
                entries.insert(own, entry).is_some()
            }
        };
        if is_repeated {
            return fail(format!(
                "function {name} got multiple values for parameter \"{key}\""
            ));
        }
    }
    if let Some(at) = entries_at {
        values[at] = Some(heap.dict(entries)?);
    }
    let mut missing: Vec<&str> = Vec::new();
    for (at, value) in values.iter_mut().enumerate() {
        if value.is_none() {
            match kind_at(at) {
                StarParameterKind::Required => missing.push(&parameters[at].name),
                StarParameterKind::Optional(_) => {
                    *value = function.defaults.get(at).cloned().flatten();
                }
                _ => {}
            }
        }
    }
    if !missing.is_empty() {
        let plural = if missing.len() > 1 { "s" } else { "" };
        return fail(format!(
            "function {name} missing {} argument{plural} ({})",
            missing.len(),
            missing.join(", ")
        ));
    }
    Ok(values)
}
