//! Calls: checks arguments, propagates unknown and secret ones, runs callbacks, and asks for
//! external data.

use std::sync::Arc;

use blueprint::{CallExpr, Expr, ExprKind, Function, Type, Value};
use diag::{Diagnostic, Span};

use super::access::{access, out_of_range};
use super::fault::{At, Fault, too_large};
use super::limits::{bytes, size};
use super::machine::{
    CallSite, DEPTH, FunctionBody, Machine, SuppliedArguments, function_as_value, is_omitted,
    unknown_of,
};
use crate::arguments::{Arguments, CallConfiguration};
use crate::codes;
use crate::convert::{ValueOrigin, convert_type};
use crate::function::{FunctionDef, Parameter, Purity, Returns};
use crate::probe::refused_regardless;
use crate::scope::{Ask, EvaluationStop};

/// The number of inspected bytes of arguments that count as one created byte.
const INSPECTED_PER_CREATED_BYTE: usize = 16;

/// Creates a function value of the called function with these arguments bound.
pub(crate) fn bind<'a>(
    _: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    Ok(Value::Function(Arc::new(Function {
        name: site.function.into(),
        bound: arguments,
    })))
}

/// The fault of a known argument beside unknown ones, if the call fails whatever these are.
fn refused_regardless_of_unknown(
    run: fn(&[Value], &mut Vec<Fault>) -> Result<Value, Fault>,
    values: &[Value],
) -> Option<Fault> {
    let is_known = |value: &Value| !value.has_unknown();
    if values.iter().all(is_known) || !values.iter().any(is_known) {
        return None;
    }
    let about_known = |fault: &Fault| {
        let of_argument = matches!(
            fault.code.name,
            "argument-type" | "argument-range" | "argument-format"
        );
        of_argument && matches!(fault.at, At::Argument(at) if values.get(at).is_some_and(is_known))
    };
    refused_regardless(
        values,
        |probe| run(probe, &mut Vec::new()),
        about_known,
        |one, other| one.code.name == other.code.name && one.message == other.message,
    )
}

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, span: Span, call: &'a CallExpr) -> Result<Value, EvaluationStop> {
        let functions = self.functions;
        let Some(def) = functions.get(&call.function) else {
            return Err(codes::UNKNOWN_FUNCTION
                .new(format!("there is no function `{}`", call.function))
                .label(call.name_span, "unknown function")
                .help_nearest(&call.function, functions.names())
                .into());
        };
        let site = CallSite {
            call: span,
            name: call.name_span,
            function: &call.function,
            written: Some(call),
            item: None,
        };
        self.invoke(def, &site, SuppliedArguments::Written(&call.arguments))
    }

    fn invoke(
        &mut self,
        def: &'a FunctionDef,
        site: &CallSite<'a>,
        arguments: SuppliedArguments<'a>,
    ) -> Result<Value, EvaluationStop> {
        self.enter_level(site.call)?;
        let result = self.run_function(def, site, arguments);
        self.depth -= 1;
        result
    }

    fn run_function(
        &mut self,
        def: &'a FunctionDef,
        site: &CallSite<'a>,
        arguments: SuppliedArguments<'a>,
    ) -> Result<Value, EvaluationStop> {
        let count = arguments.len();
        if count < def.min_arguments || def.max_arguments().is_some_and(|most| count > most) {
            let fault = Fault::new(&codes::ARGUMENT_COUNT, At::Name, count_message(def, count))
                .label(def.signature());
            return Err(self.fail(site, fault, None));
        }
        if let Some(native) = &def.native {
            return self.native(native.as_ref(), def, site, &arguments);
        }
        let body = match &def.purity {
            Purity::Provider { .. } => None,
            _ => (self.bodies)(&def.name),
        };
        if let Some(FunctionBody::Lazy(run)) = body {
            return run(self, def, site, &arguments);
        }
        let mut values = Vec::with_capacity(count);
        let mut asks = None;
        for at in 0..count {
            match self.argument(def, site, &arguments, at) {
                Ok(value) => values.push(value),
                // Later arguments are evaluated too, so that their questions are asked together.
                Err(ask @ EvaluationStop::Ask(_)) => asks = Some(ask),
                Err(stop) => return Err(asks.unwrap_or(stop)),
            }
        }
        if let Some(ask) = asks {
            return Err(ask);
        }
        self.accepts(site, &values)?;
        if def.none_propagates && values.iter().any(Value::is_null) {
            let secret = values
                .iter()
                .any(|value| value.is_null() && value.has_secret());
            return Ok(Value::Null.tainted(secret));
        }
        match body {
            Some(FunctionBody::Open(run)) => {
                run(self, site, values).and_then(|value| self.check_size_and_charge(site, value))
            }
            Some(FunctionBody::Plain(run)) => {
                if let Some(fault) = refused_regardless_of_unknown(run, &values) {
                    let secret = values.iter().any(Value::has_secret);
                    return Err(self.fail(site, conceal_fault(fault, secret), None));
                }
                self.plain(def, site, values, |_, values, warnings| {
                    Ok(run(values, warnings))
                })
            }
            Some(FunctionBody::Lazy(_)) => Err(EvaluationStop::Reported),
            None => {
                let Purity::Provider { namespace, name } = &def.purity else {
                    return Err(codes::UNKNOWN_FUNCTION
                        .new(format!("the function `{}` cannot be carried out", def.name))
                        .label(site.name, "there is no such function")
                        .into());
                };
                // The question keeps the secret marks, so that the answer is stored like its
                // arguments.
                let secret = values.iter().any(Value::has_secret);
                let arguments = values.clone();
                self.plain(def, site, values, |machine, _, _| {
                    let ask = Ask::Provider {
                        namespace: namespace.clone(),
                        function: name.clone(),
                        arguments: Arguments::Positional(arguments),
                        configuration: CallConfiguration::Default,
                    };
                    Ok(Ok(machine.ask_hiding_messages(site, ask, secret)?))
                })
            }
        }
    }

    /// Calls a function of a dialect. A refusal is placed at the end of its path in the written
    /// arguments.
    fn native(
        &mut self,
        native: &dyn crate::Native,
        def: &'a FunctionDef,
        site: &CallSite<'a>,
        arguments: &SuppliedArguments<'a>,
    ) -> Result<Value, EvaluationStop> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut asks = None;
        for at in 0..arguments.len() {
            if asks.is_none() && native.skips_next_argument(&values) {
                values.push(Value::Null);
                continue;
            }
            match self.argument(def, site, arguments, at) {
                Ok(value) if is_omitted(&value) && native.drops_omitted_arguments() => {}
                Ok(value) if is_omitted(&value) => values.push(Value::Null),
                Ok(value) => values.push(value),
                Err(ask @ EvaluationStop::Ask(_)) => asks = Some(ask),
                Err(stop) => return Err(asks.unwrap_or(stop)),
            }
        }
        if let Some(ask) = asks {
            return Err(ask);
        }
        if native.returns_part_of_arguments() && native.accepts_partial_arguments(&values) {
            return native
                .call(&values)
                .map_err(|refusal| refusal_diagnostic(site, refusal, false).into());
        }
        self.accepts(site, &values)?;
        let secret = values.iter().any(Value::has_secret);
        let unknown = values.iter().any(Value::has_unknown);
        let opens = (secret || unknown) && native.accepts_partial_arguments(&values);
        if unknown && let Some(refusal) = native.refusal_regardless(&values) {
            return Err(refusal_diagnostic(site, refusal, secret).into());
        }
        if unknown && !opens {
            let ty = match &def.returns {
                Returns::Type(ty) if *ty != Type::Any => Some(ty.clone()),
                _ => None,
            };
            return Ok(unknown_of(ty, &values).tainted(secret));
        }
        if secret && !opens {
            values
                .iter_mut()
                .for_each(|value| *value = value.revealed());
        }
        if let Some(name) = native.selected_local(&values) {
            let head = blueprint::ReferenceHead::Local(name);
            let local = blueprint::Ref {
                head,
                head_span: site.call,
                path: Vec::new(),
            };
            return Ok(self.scope.read(&local)?.value.tainted(secret));
        }
        let mut work = 0;
        let result = native.call_counted(&values, &mut work);
        self.charge_bytes(site.call, work)?;
        match result {
            Ok(value) if opens => self.check_size_and_charge(site, value),
            Ok(value) => self
                .check_size_and_charge(site, value)
                .map(|value| value.tainted(secret)),
            Err(refusal) => {
                // A refusal counts too: the arguments and the message may be large.
                let largest = self.value_limit();
                let given = values
                    .iter()
                    .map(|value| size(value, largest).unwrap_or(largest));
                self.charge_bytes(site.call, given.fold(0, usize::saturating_add))?;
                Err(refusal_diagnostic(site, refusal, secret).into())
            }
        }
    }

    /// Runs a function on plain data. An unknown part makes the result unknown, a secret part makes
    /// it secret (decisions/blueprint#unknown-values, decisions/blueprint#secret-values).
    fn plain(
        &mut self,
        def: &FunctionDef,
        site: &CallSite<'a>,
        mut values: Vec<Value>,
        run: impl FnOnce(
            &mut Self,
            &[Value],
            &mut Vec<Fault>,
        ) -> Result<Result<Value, Fault>, EvaluationStop>,
    ) -> Result<Value, EvaluationStop> {
        let secret = values.iter().any(Value::has_secret);
        if values.iter().any(Value::has_unknown) {
            let ty = match &def.returns {
                Returns::Rule(rule) => rule(&values.iter().map(Type::of).collect::<Vec<_>>()),
                fixed => fixed.ty(),
            };
            let ty = if ty == Type::Any { None } else { Some(ty) };
            return Ok(unknown_of(ty, &values).tainted(secret));
        }
        if secret {
            values
                .iter_mut()
                .for_each(|value| *value = value.revealed());
        }
        let mut warnings = Vec::new();
        let result = run(self, &values, &mut warnings)?;
        for warning in warnings {
            let warning = self.fault_diagnostic(site, conceal_fault(warning, secret), None);
            self.found.push(warning);
        }
        match result {
            Ok(value) => self
                .check_size_and_charge(site, value)
                .map(|value| value.tainted(secret)),
            Err(fault) => Err(self.fail(site, conceal_fault(fault, secret), None)),
        }
    }

    /// Evaluates an argument and checks its kind. An absent element that a guarding parameter reads
    /// directly is `none` (decisions/blueprint#absent-elements).
    pub(crate) fn argument(
        &mut self,
        def: &'a FunctionDef,
        site: &CallSite<'a>,
        arguments: &SuppliedArguments<'a>,
        at: usize,
    ) -> Result<Value, EvaluationStop> {
        let parameter = def.parameter(at);
        let value = match arguments {
            SuppliedArguments::Given(values) => values.get(at).cloned().unwrap_or_default(),
            SuppliedArguments::Written(written) => {
                let Some(argument) = written.get(at) else {
                    return Ok(Value::Null);
                };
                let guards = parameter.is_some_and(|parameter| parameter.absent_as_none);
                if guards {
                    self.eval_absent_as_none(&argument.value)?
                } else {
                    self.eval(&argument.value)?
                }
            }
        };
        if let Some(parameter) = parameter.filter(|_| !is_omitted(&value)) {
            self.check_kind(def, site, parameter, at, &value)?;
        }
        Ok(value)
    }

    fn eval_absent_as_none(&mut self, expr: &'a Expr) -> Result<Value, EvaluationStop> {
        // A link with an absent end counts as absent, like a reference.
        let is_link = |expr: &Expr| matches!(&expr.kind, ExprKind::Call(call) if call.function.as_ref() == "link");
        let result = match &expr.kind {
            ExprKind::Ref(_) => self.eval(expr),
            ExprKind::Access(inner, path) if is_link(inner) => {
                self.eval(inner).and_then(|value| access(value, path))
            }
            ExprKind::Access(inner, path) => {
                let value = self.eval(inner)?;
                access(value, path)
            }
            _ if is_link(expr) => self.eval(expr),
            _ => return self.eval(expr),
        };
        match result {
            Err(EvaluationStop::Absent(_)) => Ok(Value::Null),
            result => result,
        }
    }

    /// Evaluates an argument that may not be needed, only to ask its questions early. Other results
    /// and warnings are discarded.
    pub(crate) fn prefetch(
        &mut self,
        def: &'a FunctionDef,
        site: &CallSite<'a>,
        arguments: &SuppliedArguments<'a>,
        at: usize,
    ) -> Result<(), EvaluationStop> {
        let warnings = self.found.len();
        let result = self.argument(def, site, arguments, at);
        let mut kept = 0;
        self.found.retain(|_| {
            kept += 1;
            kept <= warnings
        });
        match result {
            Err(ask @ EvaluationStop::Ask(_)) => Err(ask),
            _ => Ok(()),
        }
    }

    fn check_kind(
        &mut self,
        def: &FunctionDef,
        site: &CallSite<'a>,
        parameter: &Parameter,
        at: usize,
        value: &Value,
    ) -> Result<(), EvaluationStop> {
        let place = site.place(At::Argument(at));
        if let Value::Function(function) = value.unmarked() {
            if parameter.ty == Type::Function {
                return Ok(());
            }
            return Err(function_as_value(&function.name, place).into());
        }
        if accepts(&parameter.ty, value) {
            return Ok(());
        }
        let needed = parameter.ty.to_string();
        let found = match value.unmarked() {
            Value::Unknown(unknown) => unknown
                .ty
                .as_ref()
                .map_or_else(|| "any".into(), Type::to_string),
            other => other.kind_word().to_string(),
        };
        let mut fault = Fault::new(
            &codes::ARGUMENT_TYPE,
            At::Argument(at),
            format!(
                "`{}` of `{}` must be {needed}, found {found}",
                parameter.name, def.name
            ),
        )
        .label(format!("of kind {found}"));
        if parameter.ty == Type::Function {
            fault = fault
                .help("pass a function such as `to_upper` or `getattr(\"id\")`, without quotes");
        } else if matches!(def.name.as_ref(), "sha256" | "sha1" | "md5") {
            fault = fault.help("use `jsonencode` first");
        }
        Err(self.fail(site, fault, None))
    }

    /// Calls a function value for an item. Errors are placed at the argument `parameter` and name
    /// the item.
    pub(crate) fn callback(
        &mut self,
        site: &CallSite<'a>,
        parameter: usize,
        function: &Function,
        arguments: Vec<Value>,
        item: usize,
    ) -> Result<Value, EvaluationStop> {
        let place = site.place(At::Argument(parameter));
        self.enter_level(place)?;
        let result = self.apply(place, function, arguments, item);
        self.depth -= 1;
        result
    }

    fn apply(
        &mut self,
        place: Span,
        function: &Function,
        mut arguments: Vec<Value>,
        item: usize,
    ) -> Result<Value, EvaluationStop> {
        let given = !function.bound.is_empty();
        if given && is_composition(&function.name) {
            self.enter_level(place)?;
            let mut order: Vec<&Value> = function.bound.iter().collect();
            if function.name.as_ref() == "compose" {
                order.reverse();
            }
            for value in order {
                let Value::Function(inner) = value.unmarked() else {
                    return Err(EvaluationStop::Reported);
                };
                arguments = vec![self.apply(place, inner, arguments, item)?];
            }
            self.depth -= 1;
            return Ok(arguments.pop().unwrap_or_default());
        }
        if given && matches!(function.name.as_ref(), "getattr" | "getelem") {
            return self.call_accessor(place, function, arguments, item);
        }
        let functions = self.functions;
        let name = function
            .name
            .strip_suffix("_g")
            .filter(|_| given)
            .unwrap_or(&function.name);
        let Some(def) = functions.get(name) else {
            return Err(codes::UNKNOWN_FUNCTION
                .new(format!("there is no function `{name}`"))
                .label(place, "unknown function")
                .into());
        };
        arguments.extend(function.bound.iter().cloned());
        if def.takes_index
            && def
                .max_arguments()
                .is_some_and(|most| most > arguments.len())
        {
            arguments.push(Value::Int(item as i64));
        }
        let site = CallSite {
            call: place,
            name: place,
            function: &def.name,
            written: None,
            item: Some(item),
        };
        let count = arguments.len();
        if count < def.min_arguments || def.max_arguments().is_some_and(|most| count > most) {
            let fault = Fault::new(
                &codes::CALLBACK_TYPE,
                At::Call,
                format!("`{name}` cannot be called with {count} arguments"),
            )
            .label(def.signature());
            return Err(self.fail(&site, fault, None));
        }
        self.invoke(def, &site, SuppliedArguments::Given(arguments))
    }

    /// Calls a function value of `getattr` or `getelem`.
    fn call_accessor(
        &mut self,
        place: Span,
        function: &Function,
        arguments: Vec<Value>,
        item: usize,
    ) -> Result<Value, EvaluationStop> {
        let site = CallSite {
            call: place,
            name: place,
            function: "",
            written: None,
            item: Some(item),
        };
        let (Some(wanted), [value]) = (function.bound.first(), arguments.as_slice()) else {
            let message = format!("`{}` gives a function of one argument", function.name);
            return Err(self.fail(
                &site,
                Fault::new(&codes::CALLBACK_TYPE, At::Call, message),
                None,
            ));
        };
        let (bare, mut secret) = value.split_secret();
        secret |= wanted.has_secret();
        if bare.is_null() {
            return Ok(Value::Null.tainted(secret));
        }
        if bare.is_unknown() || wanted.is_unknown() {
            return Ok(unknown_of(None, &[value.clone(), wanted.clone()]).tainted(secret));
        }
        let result = if let Some(name) = wanted.as_text() {
            let Some(entries) = bare.as_map() else {
                return Err(self.fail(&site, kind_fault("getattr", "a map", bare), None));
            };
            let message = || format!("there is no attribute `{name}`");
            entries.get(name).cloned().ok_or_else(|| {
                Fault::new(&codes::MISSING_ATTRIBUTE, At::Call, message()).label("finds nothing")
            })
        } else {
            let Some(items) = bare.as_list() else {
                return Err(self.fail(&site, kind_fault("getelem", "an array", bare), None));
            };
            let at = wanted.as_int().unwrap_or(0);
            match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                Some(value) => Ok(value.clone()),
                None => {
                    let mut diagnostic = out_of_range(i128::from(at), items.len(), place);
                    if secret {
                        diagnostic.message = in_secret(diagnostic.code);
                        diagnostic
                            .labels
                            .iter_mut()
                            .for_each(|label| label.text = "finds nothing".into());
                    }
                    return Err(with_item_index(diagnostic, Some(item)).into());
                }
            }
        };
        match result {
            Ok(value) => Ok(value.tainted(secret)),
            Err(fault) => Err(self.fail(&site, conceal_fault(fault, secret), None)),
        }
    }

    /// The parameters and the result of a function value, as far as its definition states them.
    pub(crate) fn signature(&self, value: &Value) -> Option<(Vec<Type>, Type)> {
        let Value::Function(function) = value.unmarked() else {
            return None;
        };
        let def = self.functions.get(&function.name)?;
        if !function.bound.is_empty() {
            return def
                .returned_function
                .as_ref()
                .map(|gives| (gives.parameters.clone(), gives.returns.clone()));
        }
        let parameters = def
            .parameters
            .iter()
            .chain(&def.rest)
            .map(|parameter| parameter.ty.clone())
            .collect();
        Some((parameters, def.returns.ty()))
    }

    /// The function of a package with a name, as far as the scope knows it.
    pub(crate) fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        self.scope.package_function(name)
    }

    /// Returns the answer to a question, or records the question and stops.
    pub(crate) fn ask(&mut self, site: &CallSite<'a>, ask: Ask) -> Result<Value, EvaluationStop> {
        match self.scope.answer(&ask) {
            None => {
                self.asked.push(ask);
                Err(EvaluationStop::Ask(Vec::new()))
            }
            Some(Ok(value)) => Ok(value),
            Some(Err(failure)) => {
                let diagnostic = failure
                    .code
                    .new(failure.message)
                    .label(site.call, "asked for here");
                let diagnostic = failure.notes.into_iter().fold(diagnostic, Diagnostic::note);
                Err(with_item_index(diagnostic, site.item).into())
            }
        }
    }

    /// Like [`Machine::ask`]. If an argument is secret, messages of the source are hidden, because
    /// they may quote it (decisions/blueprint#secret-values).
    pub(crate) fn ask_hiding_messages(
        &mut self,
        site: &CallSite<'a>,
        ask: Ask,
        secret: bool,
    ) -> Result<Value, EvaluationStop> {
        self.ask(site, ask).map_err(|stop| match stop {
            EvaluationStop::Failed(mut diagnostic) if secret => {
                diagnostic.message = in_secret(diagnostic.code);
                diagnostic.notes.clear();
                EvaluationStop::Failed(diagnostic)
            }
            other => other,
        })
    }

    pub(crate) fn ask_memoised(
        &mut self,
        site: &CallSite<'a>,
        arguments: Vec<Value>,
    ) -> Result<Value, EvaluationStop> {
        let ask = Ask::Memoised {
            path: self.place(),
            nth: self.number(site.written),
            fingerprint: self.fingerprint(),
            function: site.function.into(),
            arguments,
        };
        self.ask(site, ask)
    }

    pub(crate) fn link(&mut self, a: &str, b: &str) -> Result<Value, EvaluationStop> {
        self.scope.link(a, b)
    }

    /// The error for a function value in an argument that needs data.
    pub(crate) fn refuse_function(
        &self,
        site: &CallSite<'a>,
        at: usize,
        function: &Function,
    ) -> EvaluationStop {
        function_as_value(&function.name, site.place(At::Argument(at))).into()
    }

    /// Refuses arguments that are together larger than the limit of one value, because shared parts
    /// may be written many times.
    fn accepts(&mut self, site: &CallSite<'a>, values: &[Value]) -> Result<(), EvaluationStop> {
        let largest = self.value_limit();
        let mut left = largest;
        for value in values {
            let Some(taken) = size(value, left) else {
                self.charge_bytes(site.call, largest)?;
                return Err(codes::VALUE_TOO_LARGE
                    .new(format!(
                        "`{}` is given more than {} or more than {DEPTH} levels",
                        site.function,
                        bytes(largest)
                    ))
                    .label(site.call, "its arguments grow beyond the limit")
                    .help("make them from less, or raise `value-bytes` under `[documents]` in `cyan.toml`")
                    .into());
            };
            left -= taken;
        }
        self.charge_bytes(site.call, (largest - left) / INSPECTED_PER_CREATED_BYTE)
    }

    /// Checks the size of a result and counts it (decisions/blueprint#limits-of-evaluation).
    pub(crate) fn check_size_and_charge(
        &mut self,
        site: &CallSite<'a>,
        value: Value,
    ) -> Result<Value, EvaluationStop> {
        let largest = self.value_limit();
        let taken = size(&value, largest);
        self.charge_bytes(site.call, taken.unwrap_or(largest))?;
        if taken.is_some() {
            Ok(value)
        } else {
            Err(self.fail(site, too_large(&bytes(largest)), None))
        }
    }

    /// Turns a fault into a stop, with an optional second label.
    pub(crate) fn fail(
        &mut self,
        site: &CallSite<'_>,
        fault: Fault,
        other: Option<(At, String)>,
    ) -> EvaluationStop {
        self.fault_diagnostic(site, fault, other).into()
    }

    fn fault_diagnostic(
        &self,
        site: &CallSite<'_>,
        fault: Fault,
        other: Option<(At, String)>,
    ) -> Diagnostic {
        let mut diagnostic = fault
            .code
            .new(fault.message)
            .label(site.place(fault.at), fault.label);
        if let Some((at, text)) = other {
            diagnostic = diagnostic.label(site.place(at), text);
        }
        if let Some(help) = fault.help {
            diagnostic = diagnostic.help(help);
        }
        with_item_index(diagnostic, site.item)
    }
}

/// Adds the index of the item to the message.
fn with_item_index(mut diagnostic: Diagnostic, item: Option<usize>) -> Diagnostic {
    if let Some(item) = item {
        diagnostic.message = format!("{} (item {item})", diagnostic.message);
    }
    diagnostic
}

/// The message about a secret value, which reveals only the code.
fn in_secret(code: &diag::Code) -> String {
    format!("{}, in a secret value", code.summary)
}

/// Removes texts that may quote the arguments, if one is secret
/// (decisions/blueprint#secret-values).
pub(crate) fn conceal_fault(mut fault: Fault, secret: bool) -> Fault {
    if secret {
        fault.message = in_secret(fault.code);
        fault.label = String::new();
    }
    fault
}

fn kind_fault(function: &str, needed: &str, found: &Value) -> Fault {
    let kind = found.kind_word();
    Fault::new(
        &codes::ARGUMENT_TYPE,
        At::Call,
        format!("`{function}` needs {needed}, found one of kind {kind}"),
    )
    .label(format!("is given a value of kind {kind}"))
}

fn count_message(def: &FunctionDef, count: usize) -> String {
    let needs = match (def.min_arguments, def.max_arguments()) {
        (0, Some(0)) => "no arguments".to_string(),
        (1, Some(1)) => "one argument".to_string(),
        (least, Some(most)) if least == most => format!("{least} arguments"),
        (least, Some(most)) => format!("{least} to {most} arguments"),
        (1, None) => "at least one argument".to_string(),
        (least, None) => format!("at least {least} arguments"),
    };
    format!("`{}` takes {needs}, found {count}", def.name)
}

/// Whether a parameter of this type accepts a value of this kind. Functions handle `none`
/// themselves.
fn accepts(ty: &Type, value: &Value) -> bool {
    ty.alternatives()
        .iter()
        .any(|ty| match (ty, value.unmarked()) {
            (Type::Any | Type::Error, _) | (_, Value::Null) => true,
            (ty, Value::Unknown(unknown)) => unknown.ty.as_ref().is_none_or(|from| {
                from.alternatives().contains(&Type::Null)
                    || convert_type(from, ty, ValueOrigin::Literal)
            }),
            (Type::Bool, Value::Bool(_))
            | (Type::Int, Value::Int(_))
            | (Type::Float, Value::Float(_) | Value::Decimal(_) | Value::Int(_))
            | (Type::Text, Value::Text(_))
            | (Type::Bytes, Value::Bytes(_))
            | (Type::List(_), Value::List(_) | Value::Set(_))
            | (Type::Map(_) | Type::Object(_), Value::Map(_)) => true,
            _ => false,
        })
}

/// The diagnostic of a refusal, placed at the deepest written argument on its path.
fn refusal_diagnostic(site: &CallSite<'_>, refusal: crate::Refusal, secret: bool) -> Diagnostic {
    let mut steps = refusal.path.iter();
    let mut place = site.call;
    // A name in parentheses is an internal function, which is not shown.
    let named = !site.function.starts_with('(');
    let mut why = if named {
        format!("`{}` gives no value here", site.function)
    } else {
        "it cannot be evaluated".into()
    };
    if let (Some(crate::ValueStep::Index(at)), Some(call)) = (steps.next(), site.written)
        && let Some(argument) = call.arguments.get(*at)
    {
        place = span_at_path(&argument.value, steps.as_slice());
        if named && place != site.call {
            why = format!("`{}` does not take this", site.function);
        }
    }
    if let Some(inside) = refusal.inside {
        place = part_of(place, inside);
    }
    // The message may contain the secret.
    let message = if secret {
        format!("`{}` refuses a secret value", site.function)
    } else {
        refusal.message
    };
    let mut diagnostic = Diagnostic::new(refusal.code, message).label(place, why);
    diagnostic.native_message = refusal.words.filter(|_| !secret);
    diagnostic.help.extend(refusal.help);
    diagnostic
}

/// A sub-range of a place, relative to its start. It has at least one byte unless the place is
/// empty.
pub fn part_of(place: Span, inside: std::ops::Range<u32>) -> Span {
    let start = (place.start + inside.start)
        .min(place.end.saturating_sub(1))
        .max(place.start);
    Span::new(
        place.file,
        start,
        (place.start + inside.end)
            .clamp(start, place.end)
            .max((start + 1).min(place.end)),
    )
}

/// The place of the value at a path in an expression: the place of the innermost written part.
pub fn span_at_path(expr: &Expr, path: &[crate::ValueStep]) -> Span {
    let Some((first, rest)) = path.split_first() else {
        return expr.span;
    };
    match (&expr.kind, first) {
        (ExprKind::List(items), crate::ValueStep::Index(at)) => items
            .get(*at)
            .map_or(expr.span, |item| span_at_path(item, rest)),
        (ExprKind::Map(entries), crate::ValueStep::Key(key)) => entries
            .iter()
            .find(|(name, _)| name.item == *key)
            .map_or(expr.span, |(_, value)| span_at_path(value, rest)),
        _ => expr.span,
    }
}

/// Whether a function value with this name is a composition.
fn is_composition(name: &str) -> bool {
    matches!(name, "compose" | "pipe")
}
