//! All functions, as a table: what each is called, what it takes, what it does, in words and by an example.
//!
//! Operators, properties and the brackets of lists and maps are functions too, under names that no expression can write.

mod branching;
mod comparison;
mod contexts;
mod formatting;
mod lists;
mod maps;
mod numbers;
mod queries;
mod regex;
mod reshaping;
mod selecting;
mod sequences;
mod sets;
mod text;
mod time;
mod written;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use blueprint::Name;

use crate::datum::{Datum, Map};
use crate::drawing::Draw;
use crate::failure::{Halt, Step};
use crate::machine::Machine;
use crate::scope::{Lambda, Scope};
use crate::signature::{self, Parameter};
use crate::stream::{Cursor, Stream};

/// How a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `f(x)`.
    Plain,
    /// `x.f()`.
    Method,
    /// Either way.
    Both,
    /// By an operator or brackets.
    Operator,
    /// `x.name`.
    Property,
}

/// A function.
pub struct Function {
    /// What it is called; of operators and properties what is written for them.
    pub name: &'static str,
    /// How it may be called.
    pub how: How,
    /// What it takes, a receiver first.
    pub parameters: Vec<Parameter>,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// An expression that shows it, and its value as JSON.
    pub example: (&'static str, &'static str),
    /// Whether `a => b` is a pair to it and no argument with a name.
    pub takes_rules: bool,
    /// Whether it is there only where [`crate::Limits::text_format`] says so.
    pub needs_text_format: bool,
    pub(crate) run: Run,
}

/// What a function does.
pub(crate) type Run = fn(&mut Machine<'_>, Given) -> Step<Datum>;

/// A row of the table as it is written.
struct Row {
    name: &'static str,
    how: How,
    signature: &'static str,
    run: Run,
    takes_rules: bool,
    needs_text_format: bool,
    summary: &'static str,
    example: (&'static str, &'static str),
}

const fn row(name: &'static str, how: How, signature: &'static str, run: Run) -> Row {
    Row { name, how, signature, run, takes_rules: false, needs_text_format: false, summary: "", example: ("", "") }
}

const fn plain(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Plain, signature, run)
}

const fn method(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Method, signature, run)
}

const fn both(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Both, signature, run)
}

const fn operator(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Operator, signature, run)
}

const fn property(name: &'static str, signature: &'static str, run: Run) -> Row {
    row(name, How::Property, signature, run)
}

impl Row {
    const fn taking_rules(mut self) -> Row {
        self.takes_rules = true;
        self
    }

    const fn needing_text_format(mut self) -> Row {
        self.needs_text_format = true;
        self
    }

    /// What it does, and an example with its value.
    const fn says(mut self, summary: &'static str, expression: &'static str, value: &'static str) -> Row {
        self.summary = summary;
        self.example = (expression, value);
        self
    }
}

const TABLES: [&[Row]; 15] = [
    branching::ROWS,
    comparison::ROWS,
    contexts::ROWS,
    formatting::ROWS,
    lists::ROWS,
    maps::ROWS,
    numbers::ROWS,
    queries::ROWS,
    regex::ROWS,
    reshaping::ROWS,
    selecting::ROWS,
    sequences::ROWS,
    sets::ROWS,
    text::ROWS,
    time::ROWS,
];

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let rows = TABLES.into_iter().flatten();
    rows.map(|row| Function {
        name: row.name,
        how: row.how,
        parameters: signature::parse(row.signature).unwrap_or_default(),
        summary: row.summary,
        example: row.example,
        takes_rules: row.takes_rules,
        needs_text_format: row.needs_text_format,
        run: row.run,
    })
    .collect()
});

static BY_NAME: LazyLock<HashMap<&'static str, Overloads>> = LazyLock::new(|| {
    let mut plain: HashMap<&'static str, Vec<&'static Function>> = HashMap::new();
    let mut methods: HashMap<&'static str, Vec<&'static Function>> = HashMap::new();
    for function in FUNCTIONS.iter() {
        if function.how != How::Method {
            plain.entry(function.name).or_default().push(function);
        }
        if matches!(function.how, How::Method | How::Both) {
            methods.entry(function.name).or_default().push(function);
        }
    }
    let mut all: HashMap<&'static str, Overloads> = HashMap::new();
    for (name, functions) in plain {
        all.entry(name).or_default().plain = Vec::leak(functions);
    }
    for (name, functions) in methods {
        all.entry(name).or_default().method = Vec::leak(functions);
    }
    all
});

/// Every function, each kind of arguments that a name takes being one, in the order of the table.
pub fn functions() -> &'static [Function] {
    &FUNCTIONS
}

/// The functions of a name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Overloads {
    /// What it means plainly.
    pub(crate) plain: &'static [&'static Function],
    /// What it means as a method.
    pub(crate) method: &'static [&'static Function],
}

impl std::fmt::Debug for Overloads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} and {} functions", self.plain.len(), self.method.len())
    }
}

/// What a name stands for; underscores at its end do not count.
pub(crate) fn overloads(name: &str) -> Overloads {
    BY_NAME.get(name.trim_end_matches('_')).copied().unwrap_or_default()
}

/// What a function draws.
pub(crate) fn draws(name: &str) -> Option<Draw> {
    match name {
        "now" => Some(Draw::Now),
        "random" => Some(Draw::Random),
        _ => None,
    }
}

/// What to do about a name that means nothing as it was called.
pub(crate) fn help(name: &str, as_method: bool) -> Option<String> {
    let known = overloads(name);
    if as_method && !known.plain.is_empty() {
        return Some(format!("call it plainly: `{name}(..)`"));
    }
    if !as_method && !known.method.is_empty() {
        return Some(format!("call it as a method: `x.{name}(..)`"));
    }
    let lower = name.to_lowercase();
    let near = FUNCTIONS.iter().find(|function| function.name != name && function.name.to_lowercase() == lower)?;
    Some(format!("write `{}`", near.name))
}

/// What to do about a name that takes other arguments.
pub(crate) fn help_for_kinds(name: &str, receiver: Option<&Datum>) -> Option<String> {
    let text = matches!(receiver, Some(Datum::Text(_)));
    (name == "format" && text).then(|| "put texts together with `+` or `concat(..)`, numbers through `str(..)`".into())
}

/// The arguments of a call, as its function takes them.
pub(crate) struct Given {
    /// One for each parameter.
    pub(crate) slots: Vec<Datum>,
    /// Further ones without a name.
    pub(crate) rest: Vec<Datum>,
    /// Further ones with a name.
    pub(crate) named: Vec<(Name, Datum)>,
    /// The place of the call.
    pub(crate) scope: Rc<Scope>,
    /// The how-manieth call of the expression it is, if it is written there.
    pub(crate) ordinal: Option<u32>,
}

impl Given {
    pub(crate) fn new(scope: Rc<Scope>, ordinal: Option<u32>, count: usize) -> Given {
        Given { slots: vec![Datum::Null; count], rest: Vec::new(), named: Vec::new(), scope, ordinal }
    }

    /// The argument of a parameter; null the second time.
    fn take(&mut self, at: usize) -> Datum {
        self.slots.get_mut(at).map(std::mem::take).unwrap_or_default()
    }

    /// Two arguments.
    fn pair(&mut self) -> (Datum, Datum) {
        (self.take(0), self.take(1))
    }

    /// An integer, the nearest one that fits.
    fn int(&self, at: usize) -> i64 {
        self.slots.get(at).and_then(Datum::index).unwrap_or(0)
    }

    /// An integer that must be one of 64 bits.
    fn small(&self, at: usize) -> Step<i64> {
        match self.slots.get(at) {
            Some(Datum::Big(_)) => Err(Halt::failed("Python int too large to convert to C ssize_t")),
            _ => Ok(self.int(at)),
        }
    }

    /// A boolean.
    fn flag(&self, at: usize) -> bool {
        matches!(self.slots.get(at), Some(Datum::Bool(true)))
    }

    /// A text; empty for null.
    fn text(&mut self, at: usize) -> Name {
        match self.take(at) {
            Datum::Text(text) => text,
            _ => "".into(),
        }
    }

    /// A text, or nothing for null.
    fn text_or_null(&mut self, at: usize) -> Option<Name> {
        match self.take(at) {
            Datum::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An argument that is called.
    fn lambda(&mut self, at: usize) -> Option<Rc<Lambda>> {
        match self.take(at) {
            Datum::Lambda(lambda) => Some(lambda),
            _ => None,
        }
    }

    /// A map; an empty one for anything else.
    fn map(&mut self, at: usize) -> Rc<Map> {
        match self.take(at) {
            Datum::Map(map) => map,
            _ => Rc::new(Map { entries: Default::default(), frozen: true, extent: Default::default() }),
        }
    }

    /// The items of an argument.
    fn items(&mut self, at: usize) -> Cursor {
        Cursor::of(self.take(at))
    }

    /// How deeply the arguments are nested: a sequence that holds them is one level deeper.
    fn depth(&self) -> u32 {
        let all = self.slots.iter().chain(&self.rest).chain(self.named.iter().map(|(_, value)| value));
        all.map(Datum::depth).max().unwrap_or(0)
    }
}

/// A lazy sequence that holds values of a depth.
fn stream(depth: u32, next: impl FnMut(&mut Machine<'_>) -> Step<Option<Datum>> + 'static) -> Step<Datum> {
    Ok(Datum::Stream(Stream::new(depth, next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_function() {
        for row in TABLES.into_iter().flatten() {
            assert!(signature::parse(row.signature).is_some(), "{}: {}", row.name, row.signature);
            let places = signature::parse(row.signature).unwrap_or_default().into_iter().map(|one| one.place);
            assert!(places.is_sorted_by_key(|place| place as u8), "{}: {}", row.name, row.signature);
            assert!(row.summary.ends_with('.'), "{}: {}", row.name, row.summary);
            assert!(!row.example.0.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn the_functions_of_a_name_agree_about_rules() {
        for overloads in BY_NAME.values() {
            for functions in [overloads.plain, overloads.method] {
                assert!(
                    functions.iter().all(|one| one.takes_rules == functions[0].takes_rules),
                    "{}",
                    functions[0].name
                );
            }
        }
    }

    #[test]
    fn every_example_gives_what_it_says() {
        for function in functions() {
            let (expression, value) = function.example;
            let expected = python::parse_json(value).unwrap_or_else(|error| panic!("{expression}: {error:?}"));
            let data = blueprint::Value::map([("data", blueprint::Value::Null)]);
            let limits = crate::Limits { text_format: function.needs_text_format, ..crate::Limits::default() };
            let found = crate::Program::compile(expression)
                .map_err(crate::Stop::Failed)
                .and_then(|program| program.evaluate(&data, &limits, &mut Drawn));
            match found {
                Ok(found) => assert_eq!(found, expected, "{expression}"),
                Err(stop) => panic!("{expression}: {stop:?}"),
            }
        }
    }

    struct Drawn;

    impl crate::Drawing for Drawn {
        fn drawn(&mut self, _: crate::Site, what: Draw) -> Option<blueprint::Value> {
            Some(match what {
                Draw::Now => blueprint::Value::Int(1_577_934_245_000_000),
                Draw::Random => blueprint::Value::Float(0.5),
            })
        }
    }
}
