//! Data sources and functions.

use blueprint::{IndexMap, Name, Value};
use terraform_wire::{ParameterSchema, ValueType, conform, conform_to};

use crate::client::{HOST, accept, read, write};
use crate::messages::{
    CallAnswer, CallMessage, NoticesAnswer, ReadDataAnswer, ReadDataMessage, ValidateTypeMessage,
};
use crate::version::Method;
use crate::{AnswerWithWarnings, CallFailure, Client, Malformed, marks};

/// The result of a function call.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// The value. It is unknown if an argument is unknown and the function does not take unknown
    /// arguments.
    Value(Value),
    /// The function failed.
    Failed(FunctionFailure),
}

/// The failure of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFailure {
    /// The message of the provider.
    pub text: String,
    /// The index of the argument at fault.
    pub argument: Option<usize>,
}

impl Client {
    /// Validates a configuration of a data source. Parts of it may be unknown.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if it is not valid, and the failures of the call.
    pub async fn validate_data(
        &self,
        type_name: &str,
        config: &Value,
    ) -> Result<AnswerWithWarnings<()>, CallFailure> {
        let schema = self.data_source(type_name)?;
        let config = write(&conform(&schema.block, config), &schema.block.ty(), &[])?;
        let request = ValidateTypeMessage {
            type_name: type_name.into(),
            config: Some(config),
            host: None,
        };
        let answer: NoticesAnswer = self.ask(Method::VALIDATE_DATA, request).await?;
        Ok(AnswerWithWarnings {
            value: (),
            warnings: accept(answer.notices)?,
        })
    }

    /// Reads a data source. Its configuration must be known.
    ///
    /// # Errors
    /// [`CallFailure::Rejected`] if it cannot be read, and the failures of the call.
    pub async fn read_data(
        &self,
        type_name: &str,
        config: &Value,
    ) -> Result<AnswerWithWarnings<Value>, CallFailure> {
        let schema = self.data_source(type_name)?;
        let (ty, config) = (schema.block.ty(), conform(&schema.block, config));
        let request = ReadDataMessage {
            type_name: type_name.into(),
            config: Some(write(&config, &ty, &[])?),
            meta: self.meta(),
            host: Some(HOST),
        };
        let answer: ReadDataAnswer = self.ask(Method::READ_DATA, request).await?;
        let warnings = accept(answer.notices)?;
        self.check_not_deferred(Method::READ_DATA, answer.deferred)?;
        let fault = |problem| self.malformed(Method::READ_DATA, problem);
        let (value, _) = read(answer.state.as_ref(), &ty, "state").map_err(fault)?;
        if value.is_null() {
            return Err(fault(Malformed::Null("state")));
        }
        let value = conform(&schema.block, &value);
        self.check_known(Method::READ_DATA, &value)?;
        Ok(AnswerWithWarnings {
            value: schema
                .block
                .mark_sensitive(&marks::copy_secret_marks(&config, &value)),
            warnings,
        })
    }

    fn data_source(&self, type_name: &str) -> Result<&terraform_wire::TypeSchema, CallFailure> {
        let found = self.schemas().provider.data_sources.get(type_name);
        found
            .map(AsRef::as_ref)
            .ok_or_else(|| CallFailure::NoSuchType {
                kind: "data source",
                name: type_name.into(),
            })
    }

    /// Calls a function. The process need not be configured. The result is secret if an argument is
    /// secret.
    ///
    /// # Errors
    /// [`CallFailure::NoSuchType`] if there is no such function, [`CallFailure::Unfit`] if an
    /// argument has another type, and the failures of the call.
    pub async fn call_function(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<Returned, CallFailure> {
        let functions: &IndexMap<Name, _> = &self.schemas().provider.functions;
        let Some(function) = functions.get(name) else {
            return Err(CallFailure::NoSuchType {
                kind: "function",
                name: name.into(),
            });
        };
        let secret = arguments.iter().any(Value::has_secret);
        let failed =
            |text: String, argument| Ok(Returned::Failed(FunctionFailure { text, argument }));
        let (least, most) = (
            function.parameters.len(),
            function
                .variadic
                .is_none()
                .then_some(function.parameters.len()),
        );
        if arguments.len() < least || most.is_some_and(|most| arguments.len() > most) {
            return failed(
                format!("takes {least} arguments, found {}", arguments.len()),
                None,
            );
        }
        let parameters = function
            .parameters
            .iter()
            .chain(function.variadic.iter().cycle());
        let pairs: Vec<(&Value, &ParameterSchema)> = arguments.iter().zip(parameters).collect();
        for (at, (argument, parameter)) in pairs.iter().enumerate() {
            if argument.is_null() && !parameter.takes_null {
                return failed(format!("`{}` must not be null", parameter.name), Some(at));
            }
        }
        if pairs
            .iter()
            .any(|(argument, parameter)| argument.has_unknown() && !parameter.takes_unknown)
        {
            return Ok(Returned::Value(function.returns.unknown().tainted(secret)));
        }
        let written = pairs
            .iter()
            .map(|(argument, parameter)| argument_data(argument, &parameter.ty));
        let request = CallMessage {
            name: name.into(),
            arguments: written.collect::<Result<_, CallFailure>>()?,
        };
        let answer: CallAnswer = self.ask(Method::CALL, request).await?;
        if let Some(problem) = answer.problem {
            let argument = problem
                .argument
                .and_then(|at| usize::try_from(at).ok())
                .filter(|at| *at < arguments.len());
            return failed(problem.text, argument);
        }
        let fault = |problem| self.malformed(Method::CALL, problem);
        let Some(result) = answer.result else {
            return Err(fault(Malformed::Missing("result")));
        };
        let (value, _) = read(Some(&result), &function.returns, "result").map_err(fault)?;
        Ok(Returned::Value(value.tainted(secret)))
    }
}

fn argument_data(argument: &Value, ty: &ValueType) -> Result<crate::messages::Data, CallFailure> {
    write(&conform_to(ty, argument), ty, &[])
}
