//! `invoke`: calls a function of a package, by name (see [`blueprint::PackageCall`]).
//!
//! The definition of the function comes from the scope. The check reports most mistakes; this code
//! reports those of computed arguments.

use std::sync::Arc;

use blueprint::{INVOKE, Map, PackageCall, Type, Value};
use diag::Spanned;

use super::define::{any_list, any_map, function, returns};
use crate::arguments::{Arguments, CallConfiguration};
use crate::codes;
use crate::convert::{ValueOrigin, convert};
use crate::evaluate::{
    At, CallSite, Fault, FunctionBody, Machine, SuppliedArguments, conceal_fault,
};
use crate::function::{FunctionDef, Parameter, Purity};
use crate::scope::{Ask, EvaluationStop};

pub(super) fn definitions() -> Vec<FunctionDef> {
    vec![
        function(
            INVOKE,
            "The result of a function of a package, such as a plugin: `package/token`, its \
             arguments as a map by name or as a list by position, and the resource of type \
             `cyan/provider` whose configuration it uses.",
            returns(Type::Any),
        )
        .required("function", Type::Text)
        .optional("arguments", Type::union([any_map(), any_list()]))
        .optional("provider", Type::Any)
        .purity(Purity::World)
        .handles_none()
        .not_in_specification()
        .example(r#"invoke("test/test_double", list(21))"#, "42"),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    (name == INVOKE).then_some(FunctionBody::Lazy(invoke))
}

fn invoke<'a>(
    machine: &mut Machine<'a>,
    def: &'a FunctionDef,
    site: &CallSite<'a>,
    supplied: &SuppliedArguments<'a>,
) -> Result<Value, EvaluationStop> {
    let Some(call) = site.written().and_then(PackageCall::of) else {
        let message = "`invoke` cannot be passed as a function";
        let fault = Fault::new(&codes::CALLBACK_TYPE, At::Call, message).label("called here");
        return Err(machine.fail(site, fault, None));
    };
    let Some((name, _)) = call.function() else {
        let message = "`invoke` needs the name of a function as a literal";
        let fault = Fault::new(&codes::ARGUMENT_TYPE, At::Argument(0), message)
            .label("not a literal text")
            .help("write the package and the function, such as `\"shop/index:getItem\"`");
        return Err(machine.fail(site, fault, None));
    };
    let configuration = match (call.provider(), call.provider_name()) {
        (None, _) => CallConfiguration::Inherited,
        (Some(_), Some((name, span))) => {
            CallConfiguration::Declared(Spanned::new(name.clone(), span))
        }
        (Some(_), None) => {
            let message = "the third argument of `invoke` must be a resource";
            let fault = Fault::new(&codes::ARGUMENT_TYPE, At::Argument(2), message)
                .label("this is no resource");
            return Err(machine.fail(site, fault, None));
        }
    };
    let written = match call.arguments() {
        Some(_) => machine.argument(def, site, supplied, 1)?,
        None => Value::Null,
    };
    let secret = written.has_secret();
    let unknown = |function: Option<&FunctionDef>| {
        let mut waits_for = Vec::new();
        written.waits_for(&mut waits_for);
        match function {
            Some(function) => function.returns.unknown(waits_for),
            None => crate::evaluate::unknown_of(None, std::slice::from_ref(&written)),
        }
        .tainted(secret)
    };
    let Some(function) = machine.package_function(name) else {
        return Ok(unknown(None));
    };
    let Purity::Provider {
        namespace,
        name: own_name,
    } = &function.purity
    else {
        return Ok(unknown(None));
    };
    if written.is_unknown() {
        return Ok(unknown(Some(&function)));
    }
    let arguments = gather(name, &function, &written)
        .map_err(|fault| machine.fail(site, conceal_fault(fault, secret), None))?;
    if arguments.has_unknown() {
        return Ok(unknown(Some(&function)));
    }
    let ask = Ask::Provider {
        namespace: namespace.clone(),
        function: own_name.clone(),
        arguments,
        configuration,
    };
    let answer = machine.ask_hiding_messages(site, ask, secret)?;
    machine
        .check_size_and_charge(site, answer)
        .map(|value| value.tainted(secret))
}

/// The arguments in the form that the function takes, each converted to the type of its parameter.
fn gather(name: &str, function: &FunctionDef, written: &Value) -> Result<Arguments, Fault> {
    let (bare, secret) = written.split_secret();
    let fault = |message: String| Fault::new(&codes::ARGUMENT_TYPE, At::Argument(1), message);
    let converted = |parameter: &Parameter, value: &Value| {
        // The provider decides whether null is allowed.
        if value.is_null() {
            return Ok(value.clone());
        }
        match convert(value, &parameter.ty, ValueOrigin::Substitution) {
            Ok(value) => Ok(value.tainted(secret)),
            Err(_) => Err(fault(format!(
                "`{}` of `{name}` must be {}, found {}",
                parameter.name,
                parameter.ty,
                value.kind_word()
            ))),
        }
    };
    if function.named {
        let nothing = Map::default();
        let entries = match bare {
            Value::Null => &nothing,
            Value::Map(entries) => entries.as_ref(),
            _ => {
                return Err(fault(format!("`{name}` takes its arguments by name"))
                    .label(function.signature()));
            }
        };
        let mut all = Map::default();
        for (key, value) in entries.iter() {
            let parameter = function.parameters.iter().find(|one| one.name == *key);
            let Some(parameter) = parameter else {
                let message = format!("`{name}` has no argument `{key}`");
                return Err(Fault::new(&codes::UNKNOWN_FIELD, At::Argument(1), message)
                    .label(function.signature()));
            };
            if !value.is_null() {
                all.insert(key.clone(), converted(parameter, value)?);
            }
        }
        let mut required = function.parameters.iter().filter(|one| !one.optional);
        if let Some(missing) = required.find(|one| !all.contains_key(&one.name)) {
            let message = format!("`{name}` needs the argument `{}`", missing.name);
            return Err(Fault::new(&codes::ARGUMENT_COUNT, At::Argument(1), message)
                .label(function.signature()));
        }
        return Ok(Arguments::Named(Arc::new(all)));
    }
    let items = match bare {
        Value::Null => &[][..],
        _ => bare.as_list().ok_or_else(|| {
            fault(format!("`{name}` takes a list of arguments by position"))
                .label(function.signature())
        })?,
    };
    let count = items.len();
    if count < function.min_arguments || function.max_arguments().is_some_and(|most| count > most) {
        let message = format!("`{name}` does not take {count} arguments");
        return Err(Fault::new(&codes::ARGUMENT_COUNT, At::Argument(1), message)
            .label(function.signature()));
    }
    let all = items
        .iter()
        .enumerate()
        .map(|(at, value)| match function.parameter(at) {
            Some(parameter) => converted(parameter, value),
            None => Ok(value.clone()),
        });
    Ok(Arguments::Positional(all.collect::<Result<_, Fault>>()?))
}
