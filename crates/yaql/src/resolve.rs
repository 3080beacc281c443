//! The choice of a function for a call, and the call.
//!
//! yaql's rule has three steps. First, the functions with the name are selected whose parameters
//! can take the arguments, without evaluating the arguments. The selected functions must agree on
//! which arguments are evaluated. Then the arguments are evaluated. Finally, the most specific
//! function whose parameters fit the values is chosen.

use std::rc::Rc;

use blueprint::Name;

use crate::failure::{Evaluated, Halt};
use crate::functions::{self, CallArguments, FunctionCode, SuppliedArguments, YaqlFunction};
use crate::model::{Datum, Lambda, LambdaBody, Machine, Scope};
use crate::signature::{Parameter, ParameterPlace, ParameterType};
use crate::text;
use crate::tree::{NodeId, NodeKind, Variable};

/// An argument before the function is chosen.
#[derive(Clone)]
enum ResolvedArgument {
    Node(NodeId),
    Value(Datum),
    LeftOut,
}

/// Positional and named arguments.
#[derive(Default)]
struct ArgumentList {
    positional: Vec<ResolvedArgument>,
    named: Vec<(Name, ResolvedArgument)>,
}

/// The index of the parameter for each argument.
struct Mapping {
    positional: Vec<usize>,
    named: Vec<usize>,
}

/// The arguments that are not evaluated, positional and named, one bit each. The last bit stands
/// for all further arguments.
type Lazy = (u128, u128);

fn bit(at: usize) -> u128 {
    1 << at.min(127)
}

/// The error messages of a call, for a function or for a method of a receiver.
struct CallErrors<'a> {
    name: &'a str,
    receiver: Option<&'a Datum>,
}

impl CallErrors<'_> {
    fn receiver(&self) -> Option<String> {
        self.receiver.map(|receiver| {
            let mut text = text::text(receiver);
            if let Some((at, _)) = text.char_indices().nth(500) {
                text.truncate(at);
                text.push_str("...");
            }
            text
        })
    }

    fn unknown(&self) -> Box<Halt> {
        let name = self.name;
        let halt = match self.receiver() {
            None => Halt::unknown(format!("Unknown function \"{name}\"")),
            Some(receiver) => {
                Halt::unknown(format!("Unknown method \"{name}\" for receiver {receiver}"))
            }
        };
        halt.with_help(functions::help(name, self.receiver.is_some()))
    }

    fn no_match(&self) -> Box<Halt> {
        let name = self.name;
        let halt = match self.receiver() {
            None => Halt::no_match(format!("No function \"{name}\" matches supplied arguments")),
            Some(receiver) => Halt::no_match(format!(
                "No method \"{name}\" for receiver {receiver} matches supplied arguments"
            )),
        };
        halt.with_help(functions::help_for_kinds(name, self.receiver))
    }

    fn ambiguous(&self) -> Box<Halt> {
        let name = self.name;
        Halt::no_match(match self.receiver() {
            None => format!("Ambiguous function \"{name}\""),
            Some(receiver) => format!("Ambiguous method \"{name}\" for receiver {receiver}"),
        })
    }
}

impl Machine<'_> {
    /// Calls a function, or a method of a receiver.
    pub(crate) fn call(
        &mut self,
        name: &str,
        overloads: &'static [&'static YaqlFunction],
        receiver: Option<Datum>,
        arguments: SuppliedArguments<'_>,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Evaluated<Datum> {
        self.step(1)?;
        if scope.defines()
            && receiver.is_none()
            && let Some((place, body)) = scope.defined(name.trim_end_matches('_'))
        {
            return self.call_defined(name, overloads, arguments, scope, (place, body));
        }
        self.budget.enter_call()?;
        let (run, given) = self.prepare(name, overloads, receiver, arguments, scope, ordinal)?;
        let value = run(self, given)?;
        self.measure(&value)?;
        self.budget.leave_call();
        Ok(value)
    }

    /// Chooses the function of a call and evaluates its arguments. This is separate from the call,
    /// so that deeply nested calls need less stack.
    fn prepare(
        &mut self,
        name: &str,
        overloads: &'static [&'static YaqlFunction],
        receiver: Option<Datum>,
        arguments: SuppliedArguments<'_>,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Evaluated<(FunctionCode, CallArguments)> {
        let errors = CallErrors {
            name,
            receiver: receiver.as_ref(),
        };
        let Some(first) = overloads.first() else {
            return Err(errors.unknown());
        };
        let mut shape = self.shape(first.takes_rules, receiver.clone(), arguments)?;
        let (candidates, lazy) = self.candidates(overloads, &shape, &errors)?;
        self.evaluate_arguments(&mut shape, lazy, scope)?;
        let (function, mapping) = self.choose(candidates, &shape, &errors)?;
        Ok((
            function.run,
            self.bind_argument(function, &mapping, shape, scope, ordinal)?,
        ))
    }

    /// Returns the most specific function whose parameters fit the values.
    fn choose(
        &self,
        candidates: Vec<(&'static YaqlFunction, Mapping)>,
        shape: &ArgumentList,
        errors: &CallErrors<'_>,
    ) -> Evaluated<(&'static YaqlFunction, Mapping)> {
        let mut winner: Option<(&YaqlFunction, Mapping)> = None;
        for (function, mapping) in candidates {
            if !self.accepts(function, &mapping, shape) {
                continue;
            }
            if let Some((held, held_mapping)) = &winner {
                if is_narrower(held, held_mapping, function, &mapping) {
                    continue;
                }
                if !is_narrower(function, &mapping, held, held_mapping) {
                    return Err(errors.ambiguous());
                }
            }
            winner = Some((function, mapping));
        }
        winner.ok_or_else(|| errors.no_match())
    }

    /// Splits arguments into positional and named ones; a receiver is the first positional one.
    fn shape(
        &self,
        takes_rules: bool,
        receiver: Option<Datum>,
        arguments: SuppliedArguments<'_>,
    ) -> Evaluated<ArgumentList> {
        let mut shape = ArgumentList::default();
        shape
            .positional
            .extend(receiver.map(ResolvedArgument::Value));
        match arguments {
            SuppliedArguments::Values(positional, named) => {
                if takes_rules && !named.is_empty() {
                    return Err(Halt::failed(format!("Invalid argument {}", named[0].0)));
                }
                shape
                    .positional
                    .extend(positional.into_iter().map(ResolvedArgument::Value));
                shape.named.extend(
                    named
                        .into_iter()
                        .map(|(name, value)| (name, ResolvedArgument::Value(value))),
                );
            }
            SuppliedArguments::Written(nodes) => {
                for node in nodes {
                    let Some(id) = *node else {
                        shape.positional.push(ResolvedArgument::LeftOut);
                        continue;
                    };
                    let NodeKind::Rule(source, destination) = &self.tree.node(id).kind else {
                        shape.positional.push(ResolvedArgument::Node(id));
                        continue;
                    };
                    if takes_rules {
                        shape.positional.push(ResolvedArgument::Node(id));
                        continue;
                    }
                    let source = self.tree.node(*source);
                    let NodeKind::Word(name) = &source.kind else {
                        return Err(Halt::failed("Cannot convert mapping to keyword argument")
                            .at(&source.span));
                    };
                    let argument = ResolvedArgument::Node(*destination);
                    match shape.named.iter_mut().find(|(known, _)| known == name) {
                        Some((_, held)) => *held = argument,
                        None => shape.named.push((name.clone(), argument)),
                    }
                }
            }
        }
        Ok(shape)
    }

    /// Returns the functions that can take the arguments, and the arguments that these functions do
    /// not evaluate.
    fn candidates(
        &self,
        overloads: &'static [&'static YaqlFunction],
        shape: &ArgumentList,
        errors: &CallErrors<'_>,
    ) -> Evaluated<(Vec<(&'static YaqlFunction, Mapping)>, Lazy)> {
        let mut found = Vec::new();
        let mut agreed: Option<Lazy> = None;
        for function in overloads {
            let Some(mapping) = self.map(function, shape) else {
                continue;
            };
            let bits = |places: &[usize]| {
                let lazy = places
                    .iter()
                    .enumerate()
                    .filter(|(_, place)| function.parameters[**place].kind.is_lazy());
                lazy.fold(0, |all, (at, _)| all | bit(at))
            };
            let lazy = (bits(&mapping.positional), bits(&mapping.named));
            if agreed.is_some_and(|agreed| agreed != lazy) {
                return Err(errors.ambiguous());
            }
            agreed = Some(lazy);
            found.push((*function, mapping));
        }
        match agreed {
            Some(lazy) => Ok((found, lazy)),
            None => Err(errors.no_match()),
        }
    }

    /// Returns the parameter for each argument; `None` if the function cannot take the arguments.
    fn map(&self, function: &YaqlFunction, shape: &ArgumentList) -> Option<Mapping> {
        if function.needs_text_format && !self.budget.limits.text_format {
            return None;
        }
        if shape.named.is_empty() {
            return self.map_in_order(function, shape);
        }
        let parameters = &function.parameters;
        let mut positional = vec![None; shape.positional.len()];
        let mut named = vec![None; shape.named.len()];
        let mut at = 0;
        for (place, parameter) in parameters.iter().enumerate() {
            if parameter.place != ParameterPlace::One {
                continue;
            }
            let by_name = shape
                .named
                .iter()
                .position(|(name, _)| **name == *parameter.name);
            match (shape.positional.get(at), by_name) {
                (Some(ResolvedArgument::Node(_) | ResolvedArgument::Value(_)), Some(_)) => {
                    return None;
                }
                (Some(ResolvedArgument::Node(_) | ResolvedArgument::Value(_)), None) => {
                    positional[at] = Some(place)
                }
                (_, Some(by_name)) => named[by_name] = Some(place),
                (_, None) if parameter.default.is_none() => return None,
                (Some(ResolvedArgument::LeftOut), None) => positional[at] = Some(place),
                (None, None) => {}
            }
            at += 1;
        }
        let rest = parameters
            .iter()
            .position(|parameter| parameter.place == ParameterPlace::Rest);
        let further = parameters
            .iter()
            .position(|parameter| parameter.place == ParameterPlace::Named);
        let mut mapping = Mapping {
            positional: Vec::with_capacity(positional.len()),
            named: Vec::with_capacity(named.len()),
        };
        for (place, argument) in positional.into_iter().zip(&shape.positional) {
            let place = place.or(rest)?;
            if !self.may_fit(&parameters[place], argument) {
                return None;
            }
            mapping.positional.push(place);
        }
        for (place, (_, argument)) in named.into_iter().zip(&shape.named) {
            let checked = place.is_none();
            let place = place.or(further)?;
            if checked && !self.may_fit(&parameters[place], argument) {
                return None;
            }
            mapping.named.push(place);
        }
        Some(mapping)
    }

    /// Returns the parameter for each argument if no argument is named, which is the usual case:
    /// each argument belongs to the parameter at its index.
    fn map_in_order(&self, function: &YaqlFunction, shape: &ArgumentList) -> Option<Mapping> {
        let parameters = &function.parameters;
        let singles = parameters
            .iter()
            .take_while(|parameter| parameter.place == ParameterPlace::One)
            .count();
        let rest = parameters
            .get(singles)
            .filter(|parameter| parameter.place == ParameterPlace::Rest)
            .map(|_| singles);
        let place_of = |at: usize| if at < singles { Some(at) } else { rest };
        for (at, argument) in shape.positional.iter().enumerate() {
            if !self.may_fit(&parameters[place_of(at)?], argument) {
                return None;
            }
        }
        let missing = parameters
            .get(shape.positional.len()..singles)
            .unwrap_or_default();
        if missing.iter().any(|parameter| parameter.default.is_none()) {
            return None;
        }
        let positional = (0..shape.positional.len()).filter_map(place_of).collect();
        Some(Mapping {
            positional,
            named: Vec::new(),
        })
    }

    /// Whether an argument can fit a parameter, without evaluating it.
    fn may_fit(&self, parameter: &Parameter, argument: &ResolvedArgument) -> bool {
        match argument {
            ResolvedArgument::LeftOut => {
                parameter.default.is_some()
                    || (parameter.place == ParameterPlace::Rest
                        && matches!(parameter.kind, ParameterType::Any | ParameterType::Lambda))
            }
            ResolvedArgument::Value(value) => parameter.fits(value),
            ResolvedArgument::Node(id) => match (&self.tree.node(*id).kind, parameter.kind) {
                (_, ParameterType::Lambda) => true,
                (NodeKind::Rule(..), ParameterType::LazyRule) => true,
                (_, ParameterType::LazyRule) => false,
                (NodeKind::Constant(constant), _) => parameter.fits(&constant.value()),
                (NodeKind::Word(word), _) => parameter.fits(&Datum::Text(word.clone())),
                _ => true,
            },
        }
    }

    fn evaluate_arguments(
        &mut self,
        shape: &mut ArgumentList,
        lazy: Lazy,
        scope: &Rc<Scope>,
    ) -> Evaluated<()> {
        for (at, argument) in shape.positional.iter_mut().enumerate() {
            if let ResolvedArgument::Node(id) = argument
                && lazy.0 & bit(at) == 0
            {
                *argument = ResolvedArgument::Value(self.evaluate(*id, scope)?);
            }
        }
        for (at, (_, argument)) in shape.named.iter_mut().enumerate() {
            if let ResolvedArgument::Node(id) = argument
                && lazy.1 & bit(at) == 0
            {
                *argument = ResolvedArgument::Value(self.evaluate(*id, scope)?);
            }
        }
        Ok(())
    }

    /// Whether the evaluated arguments fit the parameters.
    fn accepts(&self, function: &YaqlFunction, mapping: &Mapping, shape: &ArgumentList) -> bool {
        let mut positional = mapping.positional.iter().zip(&shape.positional);
        let mut named = mapping
            .named
            .iter()
            .zip(shape.named.iter().map(|(_, argument)| argument));
        positional.all(|(place, argument)| self.may_fit(&function.parameters[*place], argument))
            && named.all(|(place, argument)| self.may_fit(&function.parameters[*place], argument))
    }

    /// Puts the arguments in the order of the parameters.
    fn bind_argument(
        &mut self,
        function: &YaqlFunction,
        mapping: &Mapping,
        shape: ArgumentList,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Evaluated<CallArguments> {
        let mut given = CallArguments::new(scope.clone(), ordinal, function.parameters.len());
        let mut taken = vec![false; function.parameters.len()];
        let mut converted = Vec::with_capacity(shape.positional.len() + shape.named.len());
        for (place, argument) in mapping.positional.iter().zip(shape.positional) {
            match (argument, function.parameters[*place].place) {
                (ResolvedArgument::LeftOut, ParameterPlace::Rest) => {
                    converted.push((*place, None, ResolvedArgument::Value(Datum::Absent)))
                }
                (ResolvedArgument::LeftOut, _) => {}
                (argument, _) => converted.push((*place, None, argument)),
            }
        }
        for (place, (name, argument)) in mapping.named.iter().zip(shape.named) {
            converted.push((*place, Some(name), argument));
        }
        converted.sort_by_key(|(place, ..)| *place);
        for (place, name, argument) in converted {
            let parameter = &function.parameters[place];
            let value = self.convert(parameter, argument, scope)?;
            match (parameter.place, name) {
                (ParameterPlace::Rest, _) => given.rest.push(value),
                (ParameterPlace::Named, Some(name)) => given.named.push((name, value)),
                _ => given.slots[place] = value,
            }
            taken[place] = true;
        }
        for (place, parameter) in function.parameters.iter().enumerate() {
            if let Some(default) = parameter.default.filter(|_| !taken[place]) {
                given.slots[place] = default.value();
            }
        }
        Ok(given)
    }

    /// Converts an argument for its parameter. Fails if the argument exceeds the limits.
    fn convert(
        &mut self,
        parameter: &Parameter,
        argument: ResolvedArgument,
        scope: &Rc<Scope>,
    ) -> Evaluated<Datum> {
        let lambda = |argument| match argument {
            ResolvedArgument::Node(id) => {
                Datum::Lambda(Rc::new(Lambda::Written(id, scope.clone())))
            }
            ResolvedArgument::Value(Datum::Lambda(lambda)) => Datum::Lambda(lambda),
            ResolvedArgument::Value(Datum::Null) | ResolvedArgument::LeftOut => Datum::Null,
            ResolvedArgument::Value(value) => Datum::Lambda(Rc::new(Lambda::Always(value))),
        };
        if parameter.kind == ParameterType::Lambda {
            return Ok(lambda(argument));
        }
        let value = match argument {
            ResolvedArgument::Value(value) => value,
            ResolvedArgument::LeftOut => Datum::Null,
            ResolvedArgument::Node(id) => match self.tree.node(id).kind {
                NodeKind::Rule(source, destination) => {
                    let sides = (
                        lambda(ResolvedArgument::Node(source)),
                        lambda(ResolvedArgument::Node(destination)),
                    );
                    return Ok(Datum::Rule(Rc::new(sides)));
                }
                _ => Datum::Null,
            },
        };
        self.measure(&value)?;
        match parameter.kind {
            ParameterType::Iterable | ParameterType::Ordered if !matches!(value, Datum::Null) => {
                self.limited(value)
            }
            _ => Ok(value),
        }
    }

    /// Calls a function that the expression defines.
    fn call_defined(
        &mut self,
        name: &str,
        overloads: &'static [&'static YaqlFunction],
        arguments: SuppliedArguments<'_>,
        scope: &Rc<Scope>,
        (place, body): (Rc<Scope>, LambdaBody),
    ) -> Evaluated<Datum> {
        self.budget.enter_call()?;
        let variables = self.prepare_defined(name, overloads, arguments, scope)?;
        let value = match body {
            LambdaBody::Always(value) => value,
            LambdaBody::Written(node) => self.evaluate(node, &Scope::inside(&place, variables))?,
        };
        self.measure(&value)?;
        self.budget.leave_call();
        Ok(value)
    }

    /// Returns the variables of a function that the expression defines: all of its arguments,
    /// evaluated.
    fn prepare_defined(
        &mut self,
        name: &str,
        overloads: &'static [&'static YaqlFunction],
        arguments: SuppliedArguments<'_>,
        scope: &Rc<Scope>,
    ) -> Evaluated<Vec<(Variable, Datum)>> {
        let errors = CallErrors {
            name,
            receiver: None,
        };
        if overloads
            .first()
            .is_some_and(|function| function.takes_rules)
        {
            return Err(errors.ambiguous());
        }
        let mut shape = self.shape(false, None, arguments)?;
        // A built-in function with the same name must evaluate all of its arguments too.
        if !overloads.is_empty()
            && let Ok((_, lazy)) = self.candidates(overloads, &shape, &errors)
            && lazy != (0, 0)
        {
            return Err(errors.ambiguous());
        }
        self.evaluate_arguments(&mut shape, (0, 0), scope)?;
        let mut variables = Vec::with_capacity(shape.positional.len() + shape.named.len());
        let unnamed = (1..).map(Variable::Number).zip(shape.positional);
        let named = shape
            .named
            .into_iter()
            .map(|(name, argument)| (Variable::of(&name), argument));
        for (variable, argument) in unnamed.chain(named) {
            let ResolvedArgument::Value(value) = argument else {
                return Err(errors.no_match());
            };
            self.measure(&value)?;
            variables.push((variable, value));
        }
        Ok(variables)
    }
}

/// Whether one function is more specific than another for these arguments: at least one parameter
/// is narrower and none is wider.
fn is_narrower(
    function: &YaqlFunction,
    mapping: &Mapping,
    other: &YaqlFunction,
    other_mapping: &Mapping,
) -> bool {
    let positional = mapping.positional.iter().zip(&other_mapping.positional);
    let named = mapping.named.iter().zip(&other_mapping.named);
    let mut narrower = false;
    for (one, another) in positional.chain(named) {
        let (one, another) = (
            function.parameters[*one].kind,
            other.parameters[*another].kind,
        );
        if another.is_narrower_than(one) {
            return false;
        }
        narrower |= one.is_narrower_than(another);
    }
    narrower
}
