//! Which function a call means, and calling it.
//!
//! yaql's rule: of the functions of a name those are kept whose parameters the arguments can be given to, as far as that is seen
//! without evaluating them. They must agree on which arguments are evaluated; then these are, and the function is taken whose
//! parameters fit the values, the narrowest if there are several.

use std::rc::Rc;

use blueprint::Name;

use crate::failure::{Halt, Step};
use crate::functions::{self, Arguments, Function, Given, Run};
use crate::model::{Body, Datum, Lambda, Machine, Scope};
use crate::signature::{Kind, Parameter, Place};
use crate::tree::{NodeId, NodeKind, Variable};
use crate::words;

/// One argument.
#[derive(Clone)]
enum Argument {
    Node(NodeId),
    Value(Datum),
    LeftOut,
}

/// Arguments in order, and those with names.
#[derive(Default)]
struct Shape {
    positional: Vec<Argument>,
    named: Vec<(Name, Argument)>,
}

/// Which parameter takes each argument, by its place in the list of parameters.
struct Mapping {
    positional: Vec<usize>,
    named: Vec<usize>,
}

/// Which arguments are not evaluated: one bit each, the last for all from there on.
type Lazy = (u128, u128);

fn bit(at: usize) -> u128 {
    1 << at.min(127)
}

/// The words for a call that goes wrong: about a function, or about a method of a receiver.
struct Words<'a> {
    name: &'a str,
    receiver: Option<&'a Datum>,
}

impl Words<'_> {
    fn receiver(&self) -> Option<String> {
        self.receiver.map(|receiver| {
            let mut text = words::text(receiver);
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
            Some(receiver) => Halt::unknown(format!("Unknown method \"{name}\" for receiver {receiver}")),
        };
        halt.with_help(functions::help(name, self.receiver.is_some()))
    }

    fn no_match(&self) -> Box<Halt> {
        let name = self.name;
        let halt = match self.receiver() {
            None => Halt::no_match(format!("No function \"{name}\" matches supplied arguments")),
            Some(receiver) => {
                Halt::no_match(format!("No method \"{name}\" for receiver {receiver} matches supplied arguments"))
            }
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
    /// What a function, or a method of a receiver, gives.
    pub(crate) fn call(
        &mut self,
        name: &str,
        overloads: &'static [&'static Function],
        receiver: Option<Datum>,
        arguments: Arguments<'_>,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Step<Datum> {
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

    /// The function that a call means, and what it is given. Apart from the call itself, for which so little is left on the
    /// stack: calls may be nested deeply.
    fn prepare(
        &mut self,
        name: &str,
        overloads: &'static [&'static Function],
        receiver: Option<Datum>,
        arguments: Arguments<'_>,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Step<(Run, Given)> {
        let words = Words { name, receiver: receiver.as_ref() };
        let Some(first) = overloads.first() else { return Err(words.unknown()) };
        let mut shape = self.shape(first.takes_rules, receiver.clone(), arguments)?;
        let (candidates, lazy) = self.candidates(overloads, &shape, &words)?;
        self.evaluate_arguments(&mut shape, lazy, scope)?;
        let (function, mapping) = self.choose(candidates, &shape, &words)?;
        Ok((function.run, self.give(function, &mapping, shape, scope, ordinal)?))
    }

    /// The function whose parameters fit the values, the narrowest if there are several.
    fn choose(
        &self,
        candidates: Vec<(&'static Function, Mapping)>,
        shape: &Shape,
        words: &Words<'_>,
    ) -> Step<(&'static Function, Mapping)> {
        let mut winner: Option<(&Function, Mapping)> = None;
        for (function, mapping) in candidates {
            if !self.accepts(function, &mapping, shape) {
                continue;
            }
            if let Some((held, held_mapping)) = &winner {
                if is_narrower(held, held_mapping, function, &mapping) {
                    continue;
                }
                if !is_narrower(function, &mapping, held, held_mapping) {
                    return Err(words.ambiguous());
                }
            }
            winner = Some((function, mapping));
        }
        winner.ok_or_else(|| words.no_match())
    }

    /// Arguments in order and by name; a receiver is the first.
    fn shape(&self, takes_rules: bool, receiver: Option<Datum>, arguments: Arguments<'_>) -> Step<Shape> {
        let mut shape = Shape::default();
        shape.positional.extend(receiver.map(Argument::Value));
        match arguments {
            Arguments::Values(positional, named) => {
                if takes_rules && !named.is_empty() {
                    return Err(Halt::failed(format!("Invalid argument {}", named[0].0)));
                }
                shape.positional.extend(positional.into_iter().map(Argument::Value));
                shape.named.extend(named.into_iter().map(|(name, value)| (name, Argument::Value(value))));
            }
            Arguments::Written(nodes) => {
                for node in nodes {
                    let Some(id) = *node else {
                        shape.positional.push(Argument::LeftOut);
                        continue;
                    };
                    let NodeKind::Rule(source, destination) = &self.tree.node(id).kind else {
                        shape.positional.push(Argument::Node(id));
                        continue;
                    };
                    if takes_rules {
                        shape.positional.push(Argument::Node(id));
                        continue;
                    }
                    let source = self.tree.node(*source);
                    let NodeKind::Word(name) = &source.kind else {
                        return Err(Halt::failed("Cannot convert mapping to keyword argument").at(&source.span));
                    };
                    let argument = Argument::Node(*destination);
                    match shape.named.iter_mut().find(|(known, _)| known == name) {
                        Some((_, held)) => *held = argument,
                        None => shape.named.push((name.clone(), argument)),
                    }
                }
            }
        }
        Ok(shape)
    }

    /// The functions that can be given these arguments, and which of these they leave alone.
    fn candidates(
        &self,
        overloads: &'static [&'static Function],
        shape: &Shape,
        words: &Words<'_>,
    ) -> Step<(Vec<(&'static Function, Mapping)>, Lazy)> {
        let mut found = Vec::new();
        let mut agreed: Option<Lazy> = None;
        for function in overloads {
            let Some(mapping) = self.map(function, shape) else { continue };
            let bits = |places: &[usize]| {
                let lazy = places.iter().enumerate().filter(|(_, place)| function.parameters[**place].kind.is_lazy());
                lazy.fold(0, |all, (at, _)| all | bit(at))
            };
            let lazy = (bits(&mapping.positional), bits(&mapping.named));
            if agreed.is_some_and(|agreed| agreed != lazy) {
                return Err(words.ambiguous());
            }
            agreed = Some(lazy);
            found.push((*function, mapping));
        }
        match agreed {
            Some(lazy) => Ok((found, lazy)),
            None => Err(words.no_match()),
        }
    }

    /// Which parameter would take which argument; `None` if they do not go together.
    fn map(&self, function: &Function, shape: &Shape) -> Option<Mapping> {
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
            if parameter.place != Place::One {
                continue;
            }
            let by_name = shape.named.iter().position(|(name, _)| **name == *parameter.name);
            match (shape.positional.get(at), by_name) {
                (Some(Argument::Node(_) | Argument::Value(_)), Some(_)) => return None,
                (Some(Argument::Node(_) | Argument::Value(_)), None) => positional[at] = Some(place),
                (_, Some(by_name)) => named[by_name] = Some(place),
                (_, None) if parameter.default.is_none() => return None,
                (Some(Argument::LeftOut), None) => positional[at] = Some(place),
                (None, None) => {}
            }
            at += 1;
        }
        let rest = parameters.iter().position(|parameter| parameter.place == Place::Rest);
        let further = parameters.iter().position(|parameter| parameter.place == Place::Named);
        let mut mapping =
            Mapping { positional: Vec::with_capacity(positional.len()), named: Vec::with_capacity(named.len()) };
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

    /// The same where no argument has a name, which is nearly always: then each goes to the parameter at its place.
    fn map_in_order(&self, function: &Function, shape: &Shape) -> Option<Mapping> {
        let parameters = &function.parameters;
        let singles = parameters.iter().take_while(|parameter| parameter.place == Place::One).count();
        let rest = parameters.get(singles).filter(|parameter| parameter.place == Place::Rest).map(|_| singles);
        let place_of = |at: usize| if at < singles { Some(at) } else { rest };
        for (at, argument) in shape.positional.iter().enumerate() {
            if !self.may_fit(&parameters[place_of(at)?], argument) {
                return None;
            }
        }
        let missing = parameters.get(shape.positional.len()..singles).unwrap_or_default();
        if missing.iter().any(|parameter| parameter.default.is_none()) {
            return None;
        }
        let positional = (0..shape.positional.len()).filter_map(place_of).collect();
        Some(Mapping { positional, named: Vec::new() })
    }

    /// Whether an argument can fit, as far as that is seen without evaluating it.
    fn may_fit(&self, parameter: &Parameter, argument: &Argument) -> bool {
        match argument {
            Argument::LeftOut => {
                parameter.default.is_some()
                    || (parameter.place == Place::Rest && matches!(parameter.kind, Kind::Any | Kind::Lambda))
            }
            Argument::Value(value) => parameter.fits(value),
            Argument::Node(id) => match (&self.tree.node(*id).kind, parameter.kind) {
                (_, Kind::Lambda) => true,
                (NodeKind::Rule(..), Kind::LazyRule) => true,
                (_, Kind::LazyRule) => false,
                (NodeKind::Constant(constant), _) => parameter.fits(&constant.value()),
                (NodeKind::Word(word), _) => parameter.fits(&Datum::Text(word.clone())),
                _ => true,
            },
        }
    }

    fn evaluate_arguments(&mut self, shape: &mut Shape, lazy: Lazy, scope: &Rc<Scope>) -> Step<()> {
        for (at, argument) in shape.positional.iter_mut().enumerate() {
            if let Argument::Node(id) = argument
                && lazy.0 & bit(at) == 0
            {
                *argument = Argument::Value(self.evaluate(*id, scope)?);
            }
        }
        for (at, (_, argument)) in shape.named.iter_mut().enumerate() {
            if let Argument::Node(id) = argument
                && lazy.1 & bit(at) == 0
            {
                *argument = Argument::Value(self.evaluate(*id, scope)?);
            }
        }
        Ok(())
    }

    /// Whether the values fit.
    fn accepts(&self, function: &Function, mapping: &Mapping, shape: &Shape) -> bool {
        let mut positional = mapping.positional.iter().zip(&shape.positional);
        let mut named = mapping.named.iter().zip(shape.named.iter().map(|(_, argument)| argument));
        positional.all(|(place, argument)| self.may_fit(&function.parameters[*place], argument))
            && named.all(|(place, argument)| self.may_fit(&function.parameters[*place], argument))
    }

    /// The arguments as the function takes them, in the order of its parameters.
    fn give(
        &mut self,
        function: &Function,
        mapping: &Mapping,
        shape: Shape,
        scope: &Rc<Scope>,
        ordinal: Option<u32>,
    ) -> Step<Given> {
        let mut given = Given::new(scope.clone(), ordinal, function.parameters.len());
        let mut taken = vec![false; function.parameters.len()];
        let mut converted = Vec::with_capacity(shape.positional.len() + shape.named.len());
        for (place, argument) in mapping.positional.iter().zip(shape.positional) {
            match (argument, function.parameters[*place].place) {
                (Argument::LeftOut, Place::Rest) => converted.push((*place, None, Argument::Value(Datum::Absent))),
                (Argument::LeftOut, _) => {}
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
                (Place::Rest, _) => given.rest.push(value),
                (Place::Named, Some(name)) => given.named.push((name, value)),
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

    /// An argument as a parameter takes it, within the limits.
    fn convert(&mut self, parameter: &Parameter, argument: Argument, scope: &Rc<Scope>) -> Step<Datum> {
        let lambda = |argument| match argument {
            Argument::Node(id) => Datum::Lambda(Rc::new(Lambda::Written(id, scope.clone()))),
            Argument::Value(Datum::Lambda(lambda)) => Datum::Lambda(lambda),
            Argument::Value(Datum::Null) | Argument::LeftOut => Datum::Null,
            Argument::Value(value) => Datum::Lambda(Rc::new(Lambda::Always(value))),
        };
        if parameter.kind == Kind::Lambda {
            return Ok(lambda(argument));
        }
        let value = match argument {
            Argument::Value(value) => value,
            Argument::LeftOut => Datum::Null,
            Argument::Node(id) => match self.tree.node(id).kind {
                NodeKind::Rule(source, destination) => {
                    let sides = (lambda(Argument::Node(source)), lambda(Argument::Node(destination)));
                    return Ok(Datum::Rule(Rc::new(sides)));
                }
                _ => Datum::Null,
            },
        };
        self.measure(&value)?;
        match parameter.kind {
            Kind::Iterable | Kind::Ordered if !matches!(value, Datum::Null) => self.limited(value),
            _ => Ok(value),
        }
    }

    /// What a function gives that the expression itself defines.
    fn call_defined(
        &mut self,
        name: &str,
        overloads: &'static [&'static Function],
        arguments: Arguments<'_>,
        scope: &Rc<Scope>,
        (place, body): (Rc<Scope>, Body),
    ) -> Step<Datum> {
        self.budget.enter_call()?;
        let variables = self.prepare_defined(name, overloads, arguments, scope)?;
        let value = match body {
            Body::Always(value) => value,
            Body::Written(node) => self.evaluate(node, &Scope::inside(&place, variables))?,
        };
        self.measure(&value)?;
        self.budget.leave_call();
        Ok(value)
    }

    /// The variables that a function sees that the expression itself defines: all of its arguments, evaluated.
    fn prepare_defined(
        &mut self,
        name: &str,
        overloads: &'static [&'static Function],
        arguments: Arguments<'_>,
        scope: &Rc<Scope>,
    ) -> Step<Vec<(Variable, Datum)>> {
        let words = Words { name, receiver: None };
        if overloads.first().is_some_and(|function| function.takes_rules) {
            return Err(words.ambiguous());
        }
        let mut shape = self.shape(false, None, arguments)?;
        // A function of the same name behind it must agree about what is evaluated.
        if !overloads.is_empty()
            && let Ok((_, lazy)) = self.candidates(overloads, &shape, &words)
            && lazy != (0, 0)
        {
            return Err(words.ambiguous());
        }
        self.evaluate_arguments(&mut shape, (0, 0), scope)?;
        let mut variables = Vec::with_capacity(shape.positional.len() + shape.named.len());
        let unnamed = (1..).map(Variable::Number).zip(shape.positional);
        let named = shape.named.into_iter().map(|(name, argument)| (Variable::of(&name), argument));
        for (variable, argument) in unnamed.chain(named) {
            let Argument::Value(value) = argument else { return Err(words.no_match()) };
            self.measure(&value)?;
            variables.push((variable, value));
        }
        Ok(variables)
    }
}

/// Whether the parameters of one function are narrower for these arguments than those of another: one at least, and none wider.
fn is_narrower(function: &Function, mapping: &Mapping, other: &Function, other_mapping: &Mapping) -> bool {
    let positional = mapping.positional.iter().zip(&other_mapping.positional);
    let named = mapping.named.iter().zip(&other_mapping.named);
    let mut narrower = false;
    for (one, another) in positional.chain(named) {
        let (one, another) = (function.parameters[*one].kind, other.parameters[*another].kind);
        if another.is_narrower_than(one) {
            return false;
        }
        narrower |= one.is_narrower_than(another);
    }
    narrower
}
