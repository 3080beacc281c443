//! The function `yaql`: an expression over data (decisions/yaql#the-language).
//!
//! Each expression text is compiled once. Times and random numbers are drawn by the engine, once
//! for each call, and stored (decisions/yaql#now-and-random).

use std::sync::{Mutex, PoisonError};

use blueprint::{Expr, IndexMap, Name, Value};
use diag::Code;
use expr::codes::ARGUMENT_TYPE;
use expr::{Native, Refusal, ValueStep};
use syntax::Node;
use yaql::{
    DrawSite, EvaluationLimits, EvaluationStop, ExternalValue, ExternalValues, Failure,
    FailureKind, Program,
};

use super::codes::{
    YAQL_FAILED, YAQL_LEXICAL, YAQL_LIMIT, YAQL_NO_MATCH, YAQL_SYNTAX, YAQL_UNKNOWN_FUNCTION,
};

/// The number of bytes that a step counts in a document's budget for values.
const BYTES_OF_STEP: usize = 8;

/// The maximum number of compiled expressions in the cache.
const MOST_KEPT: usize = 4096;

/// The implementation of `yaql` for the evaluator. Its arguments are the argument of the call, the
/// version, and, if the expression draws values, a unique text and the time.
#[derive(Debug)]
pub(super) struct Yaql {
    limits: EvaluationLimits,
    compiled: Mutex<IndexMap<Name, Result<Program, Failure>>>,
}

impl Yaql {
    /// Creates an empty cache of compiled expressions.
    pub(super) fn new(limits: EvaluationLimits) -> Yaql {
        Yaql {
            limits,
            compiled: Mutex::default(),
        }
    }

    fn program(&self, text: &Name) -> Result<Program, Failure> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get(text) {
            return known.clone();
        }
        let program = Program::compile(text);
        if compiled.len() < MOST_KEPT {
            compiled.insert(text.clone(), program.clone());
        }
        program
    }
}

impl Native for Yaql {
    fn call(&self, arguments: &[Value]) -> Result<Value, Refusal> {
        self.call_counted(arguments, &mut 0)
    }

    fn call_counted(&self, arguments: &[Value], work: &mut usize) -> Result<Value, Refusal> {
        let argument = arguments.first().unwrap_or(&Value::Null);
        let runs = arguments.get(4).and_then(SourceMap::read);
        form(argument, runs.as_ref())?;
        let expression = match argument.get("expression") {
            Some(Value::Text(text)) => text.clone(),
            _ => return Err(no_expression()),
        };
        let program = self
            .program(&expression)
            .map_err(|failure| refusal(&failure, true, runs.as_ref()))?;
        let data = argument
            .get("data")
            .cloned()
            .unwrap_or_else(|| Value::map::<&str>([]));
        let mut drawing = UniqueDraws {
            seed: arguments
                .get(2)
                .and_then(Value::as_text)
                .unwrap_or_default()
                .to_owned(),
            now: arguments
                .get(3)
                .and_then(Value::as_text)
                .and_then(|text| text.parse().ok()),
        };
        let mut steps = 0;
        let result = program.evaluate_counted(
            &Value::map([("data", data)]),
            &self.limits,
            &mut drawing,
            &mut steps,
        );
        *work += usize::try_from(steps)
            .unwrap_or(usize::MAX)
            .saturating_mul(BYTES_OF_STEP);
        match result {
            Ok(value) => Ok(value),
            Err(EvaluationStop::Failed(failure)) => Err(refusal(&failure, false, runs.as_ref())),
            Err(EvaluationStop::Ask(_)) => Err(Refusal {
                code: &YAQL_FAILED,
                message: "the expression draws something that is not drawn in this place".into(),
                path: vec![ValueStep::Index(0), ValueStep::Key("expression".into())],
                inside: None,
                help: Some("write the expression out, so that it can be seen that it draws".into()),
                words: None,
            }),
        }
    }

    /// A known expression is compiled. It is not evaluated with samples, because it may take long.
    fn refusal_regardless(&self, arguments: &[Value]) -> Option<Refusal> {
        let argument = arguments.first()?;
        let runs = arguments.get(4).and_then(SourceMap::read);
        form(argument, runs.as_ref()).err()
    }

    fn accepts_partial_arguments(&self, _arguments: &[Value]) -> bool {
        false
    }
}

/// The mapping from the text of an expression to its scalar in the source: pairs of a byte position
/// in the text and the offset in the scalar from there on. With it, a mistake can be shown inside
/// of the scalar, also if characters are escaped or folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceMap(Vec<(u32, u32)>);

impl SourceMap {
    /// The mapping for the scalar of a node.
    pub(super) fn of_node(node: &Node, source: &str) -> Option<SourceMap> {
        // The value of an alias is written at its anchor.
        if node.alias().is_some()
            || node.as_scalar().is_none()
            || node.span.end as usize > source.len()
        {
            return None;
        }
        let map = node.text_map(source);
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for at in 0..=map.len() {
            let behind = map.offset(at).checked_sub(node.span.start)?;
            if runs
                .last()
                .is_none_or(|(from, start)| start + (at - from) != behind)
            {
                runs.push((at, behind));
            }
        }
        Some(SourceMap(runs))
    }

    /// The mapping as an argument of a call.
    pub(super) fn written(&self) -> Value {
        Value::list(
            self.0.iter().flat_map(|(at, behind)| {
                [Value::Int(i64::from(*at)), Value::Int(i64::from(*behind))]
            }),
        )
    }

    fn read(value: &Value) -> Option<SourceMap> {
        let number = |value: &Value| value.as_int().and_then(|number| u32::try_from(number).ok());
        let pairs = value.as_list()?.chunks_exact(2);
        Some(SourceMap(
            pairs
                .map(|pair| Some((number(&pair[0])?, number(&pair[1])?)))
                .collect::<Option<_>>()?,
        ))
    }

    fn offset(&self, at: u32) -> Option<u32> {
        let run = self
            .0
            .partition_point(|(from, _)| *from <= at)
            .checked_sub(1)?;
        let (from, behind) = self.0.get(run)?;
        Some(behind + (at - from))
    }

    /// The bytes of the source that correspond to bytes of the text.
    fn of(&self, span: &std::ops::Range<usize>) -> Option<std::ops::Range<u32>> {
        let start = u32::try_from(span.start).ok()?;
        let end = u32::try_from(span.end).ok()?.max(start + 1);
        Some(self.offset(start)?..self.offset(end - 1)? + 1)
    }
}

/// Derives drawn values from a unique text.
struct UniqueDraws {
    seed: String,
    now: Option<i64>,
}

impl ExternalValues for UniqueDraws {
    fn stored_value(&mut self, site: DrawSite, what: ExternalValue) -> Option<Value> {
        match what {
            ExternalValue::Now => Some(Value::Int(self.now?.checked_mul(1_000_000)?)),
            ExternalValue::Random if self.seed.is_empty() => None,
            ExternalValue::Random => {
                let digest = super::naming::digest(
                    &format!("{} {} {}", self.seed, site.call, site.turn),
                    &[],
                );
                let bits = digest[..8]
                    .iter()
                    .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
                // A float between 0 and 1 holds 53 bits.
                Some(Value::Float((bits >> 11) as f64 / (1_u64 << 53) as f64))
            }
        }
    }
}

/// Checks the form of the argument as far as it is literal, and compiles a literal expression.
pub(super) fn form(argument: &Value, runs: Option<&SourceMap>) -> Result<(), Refusal> {
    if argument.is_unknown() {
        return Ok(());
    }
    let Some(entries) = argument.as_map() else {
        return Err(wrong(
            Vec::new(),
            "`yaql` takes a map of an expression and data",
            "Arguments to \"yaql\" must be a map.",
        ));
    };
    if let Some(other) = entries
        .keys()
        .find(|key| !matches!(key.as_ref(), "expression" | "data"))
    {
        let words = &usage();
        let path = vec![ValueStep::Key(other.clone())];
        return Err(wrong(path, &format!("`yaql` takes no `{other}`"), words));
    }
    match entries.get("expression") {
        None => Err(wrong(Vec::new(), "`yaql` needs an expression", &usage())),
        Some(Value::Unknown(_)) => Ok(()),
        Some(value) => match value.as_text() {
            Some(text) => Program::compile(text)
                .map(|_| ())
                .map_err(|failure| refusal(&failure, true, runs)),
            None => Err(no_expression()),
        },
    }
}

/// Whether the expression of an argument may draw values.
pub(super) fn draws(argument: &Expr) -> bool {
    match super::expressions::literal_value(argument).get("expression") {
        Some(value) => value.as_text().is_none_or(|text| {
            ["now", "random", "call"]
                .iter()
                .any(|word| text.contains(word))
        }),
        None => false,
    }
}

/// Heat's description of the syntax.
fn usage() -> String {
    pycompat::repr_text(
        "\"yaql\" syntax should be yaql:\n              expression: $.data.var1.sum()\n              data:\n                \
         var1: [3, 2, 1]",
    )
}

fn no_expression() -> Refusal {
    let words = "The \"expression\" argument to yaql must contain a string.";
    wrong(
        vec![ValueStep::Key("expression".into())],
        "the expression must be text",
        words,
    )
}

fn wrong(mut path: Vec<ValueStep>, message: &str, words: &str) -> Refusal {
    path.insert(0, ValueStep::Index(0));
    Refusal {
        code: &ARGUMENT_TYPE,
        message: message.to_owned(),
        path,
        inside: None,
        help: None,
        words: Some(Box::new(words.into())),
    }
}

fn refusal(failure: &Failure, bad_expression: bool, runs: Option<&SourceMap>) -> Refusal {
    let code: &'static Code = match failure.kind {
        FailureKind::Lexical => &YAQL_LEXICAL,
        FailureKind::Syntax => &YAQL_SYNTAX,
        FailureKind::UnknownFunction => &YAQL_UNKNOWN_FUNCTION,
        FailureKind::NoMatch => &YAQL_NO_MATCH,
        FailureKind::Limit => &YAQL_LIMIT,
        FailureKind::Failed => &YAQL_FAILED,
    };
    let said = match failure.message.as_str() {
        "" => "yaql gives no value".to_owned(),
        message => {
            let mut message = message.trim_end_matches('.').to_owned();
            // A message of ours begins in lower case.
            if let Some(first) = message.chars().next() {
                message.replace_range(..first.len_utf8(), &first.to_lowercase().to_string());
            }
            message
        }
    };
    let words = if bad_expression {
        format!("Bad expression {}.", failure.message)
    } else {
        failure.message.clone()
    };
    Refusal {
        code,
        message: format!("in the yaql expression: {said}"),
        path: vec![ValueStep::Index(0), ValueStep::Key("expression".into())],
        inside: runs.and_then(|runs| runs.of(&failure.span)),
        help: failure.help.clone(),
        words: Some(Box::new(words.into())),
    }
}
